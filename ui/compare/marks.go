package compare

import (
	"slices"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Marks are the turns to be compared, in the order they were marked.
type Marks []stream.Ref

// Toggle marks or unmarks a turn, and returns the message to show.
func (m *Marks) Toggle(turn stream.Ref) display.Text {
	if at := slices.Index(*m, turn); at >= 0 {
		*m = slices.Delete(*m, at, at+1)
		return display.Text{}
	}
	*m = append(*m, turn)
	return screen.Plural(len(*m), "turn").Between("", " marked: = compares")
}
