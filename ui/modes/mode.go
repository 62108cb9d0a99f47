// Package modes is what may cover the panes: a mode owns the keyboard, the body of the screen and
// the footer while it is open.
//
// A mode is one file and one line in the program's list of entries. It knows the program only as
// its Host, and the program knows it only as a Mode: what else it needs are arguments of its entry.
package modes

import (
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Host is all that a mode may ask of the program. Its methods are for the goroutine of the screen,
// on which modes are called.
type Host interface {
	// View is what is looked at.
	View() *providers.View
	// Chosen is the turn or call that the panes are about; Choose has them be about another, and no
	// longer follow what arrives.
	Chosen() stream.Ref
	Choose(stream.Ref)
	// Open puts a mode on top of the one that asks: when it closes, that is back.
	Open(Mode)
	// Close closes the mode on top.
	Close()
	// Say shows a word in the footer until the next key.
	Say(display.Text)
	// Do has work done beside the screen, for an open mode. What work returns, if anything, then
	// runs on the screen's goroutine, unless the mode was closed meanwhile.
	Do(work func() (then func()))
}

// Mode is called as a pane is: Extend once a batch, key or resize, then Draw for each row of a
// frame. While it is not on top it is not called. What the panes follow stands still meanwhile.
type Mode interface {
	// Keys are its keys now, the most useful first: as many hints as fit are shown.
	Keys() []screen.Binding
	// Extend takes what is new, for a body of w × h cells.
	Extend(v *providers.View, w, h int)
	// Draw writes row y of the body into the field.
	Draw(p *screen.Pen, y int)
}

// InputMode is a mode in which something may be typed. Keys that it does not bind go to the line then.
type InputMode interface {
	Mode
	Typing() *screen.Input // nil while nothing is typed
}

// Entry is how a mode is opened: its key while browsing, and what makes it, or says why not.
type Entry struct {
	screen.Binding
	New func(Host) (Mode, display.Text)
}

// MaxSyncBytes is the size below which a mode makes at once what it shows: there is nothing to wait for.
// What is bigger it makes with Host.Do, one thing at a time.
const MaxSyncBytes = 16 << 10

// Tall is from how many rows on a body has room for titles, and for parts one above the other.
const Tall = 16
