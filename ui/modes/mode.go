// Package modes implements the views that cover the panes. While a mode is open, it owns the keyboard,
// the body of the screen and the footer.
//
// A mode is one file and one line in the program's list of entries. It knows the program only as
// its Host, and the program knows it only as a Mode. Anything else it needs is an argument of its entry.
package modes

import (
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Host is the interface of the program to its modes. Its methods may only be called on the screen's
// goroutine, on which modes are called.
type Host interface {
	// View returns the current view.
	View() *providers.View
	// Chosen returns the selected turn or call. Choose selects another one, and stops following new
	// traffic.
	Chosen() stream.Ref
	Choose(stream.Ref)
	// Open opens a mode above the caller. The caller is shown again when that mode closes.
	Open(Mode)
	// Close closes the top mode.
	Close()
	// Say shows a notice in the footer until the next key.
	Say(display.Text)
	// Do runs work in the background for an open mode. If work returns a function, that function runs on
	// the screen's goroutine, unless the mode was closed meanwhile.
	Do(work func() (then func()))
}

// Mode is called like a pane: Extend once for each batch, key or resize, then Draw for each row of a
// frame. It is called only while it is on top. The panes don't follow new traffic meanwhile.
type Mode interface {
	// Keys returns the current keys, the most useful first. The footer shows as many hints as fit.
	Keys() []screen.Binding
	// Extend reads new data, for a body of w × h cells.
	Extend(v *providers.View, w, h int)
	// Draw draws row y of the body into the field.
	Draw(p *screen.Pen, y int)
}

// InputMode is a mode with a text input. While the input is open, unbound keys go to it.
type InputMode interface {
	Mode
	Typing() *screen.Input // nil while there is no input
}

// Entry opens a mode. It has the mode's key while browsing, and a function that returns the mode or the
// reason why it can't open.
type Entry struct {
	screen.Binding
	New func(Host) (Mode, display.Text)
}

// MaxSyncBytes is the size up to which a mode prepares its content at once. Larger content is prepared
// with Host.Do, one job at a time.
const MaxSyncBytes = 16 << 10

// Tall is the minimum height of a body with titles and stacked parts.
const Tall = 16
