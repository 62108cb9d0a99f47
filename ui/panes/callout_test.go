package panes

import (
	"testing"

	"github.com/muesli/termenv"

	"toolscope/themes"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// TestFittingBeginning checks that a sentence that is too long ends where one of its parts ends, and never in the
// middle of a word.
func TestFittingBeginning(t *testing.T) {
	p := screen.NewPen(themes.Default(true), termenv.Ascii, display.Drawer{}, false)
	const long = "The call was sent back changed: long numbers were rounded (policies one, two and three)."
	for _, c := range []struct {
		text       string
		room, most int
		want       string
	}{
		{long, 70, 1, "The call was sent back changed: long numbers were rounded."},
		{long, 40, 1, "The call was sent back changed."},
		{long, 40, 2, "The call was sent back changed: long numbers were rounded."},
		{long, 20, 1, ""},
		{"No part of this text is a sentence of its own", 20, 1, ""},
		{"Short: a long rest that does not fit at all", 30, 1, ""},
	} {
		got, ok := fittingBeginning(&p, c.text, c.room, c.most)
		if ok != (c.want != "") || ok && got.String() != c.want {
			t.Errorf("%d cells: %q, %v", c.room, got, ok)
		}
	}
}
