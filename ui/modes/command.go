package modes

import "toolscope/ui/display"

// Command is an action that is typed as a word after ":". Actions with a key need no command, because the
// palette also lists the keys of the current view.
type Command struct {
	Word string           // the command, without blanks
	Arg  display.Text     // the placeholder of its argument; empty for none
	Does display.Text     // the description in the palette
	Run  func(arg string) // arg is trimmed
}
