package modes

import "toolscope/ui/display"

// Command is what is done by a word that is typed behind ":". What also has a key needs none: the
// palette has the keys of the place that one is in.
type Command struct {
	Word string           // what is typed, without blanks
	Arg  display.Text     // what is typed behind it, as people are told; empty for nothing
	Does display.Text     // in the palette
	Run  func(arg string) // arg is without blanks at its ends
}
