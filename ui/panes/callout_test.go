package panes

import (
	"testing"

	"github.com/muesli/termenv"

	"toolscope/themes"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// TestFittingBeginning checks that a sentence that is too long is cut after one of its parts, and never in the middle
// of a word.
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

// TestShortAdvice checks that advice that is too long for its row is cut after a whole part, and that other advice is
// not cut.
func TestShortAdvice(t *testing.T) {
	p := screen.NewPen(themes.Default(true), termenv.Ascii, display.Drawer{}, false)
	for _, x := range []struct {
		advice string
		room   int
		want   string
	}{
		{"Report the error to the model in a tool result.", 60, "Report the error to the model in a tool result."},
		{"Report the error to the model in a tool result.", 30, "Report the error to the model"},
		{"Report the error to the model in a tool result.", 20, "Report the error"},
		{"Don't run the call. Retry it with a larger limit.", 20, "Don't run the call"},
		{"Retransmit everything.", 10, "Retransmit everything."},
		{"In a history, send each call with its result, or leave out both.", 35, "Send each call with its result"},
		{"In a history, send each call with its result, or leave out both.", 20, "Send each call with its result, or leave out both."},
		{"Before you run it, check that it parses.", 40, "Before you run it, check that it parses."},
		{"", 10, ""},
	} {
		if got := shortAdvice(&p, x.advice, x.room).String(); got != x.want {
			t.Errorf("in %d cells: %q, want %q", x.room, got, x.want)
		}
	}
}
