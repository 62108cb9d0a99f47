// Package modes implements the views that cover the panes. While a mode is open, it controls the keyboard,
// the body of the screen and the footer.
//
// Each mode has one file, and one line in the program's list of entries. The mode accesses the program only
// through Host, and the program accesses the mode only through Mode. Anything else that a mode needs is an
// argument of its entry.
package modes

import (
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// Host is the interface through which modes call the program. Its methods may only be called on the screen's
// goroutine. Modes are called on that goroutine.
type Host interface {
	// View returns the current view.
	View() *providers.View
	// Chosen returns the selected turn or call. Choose selects another turn or call, and stops following new traffic.
	Chosen() stream.Ref
	Choose(stream.Ref)
	// Open opens a mode above the caller. The caller is shown again when that mode closes.
	Open(Mode)
	// Close closes the top mode.
	Close()
	// Say shows a notice in the footer until the next key.
	Say(display.Text)
	// Do runs work in the background for an open mode. If work returns a function, that function runs on the
	// screen's goroutine, unless the mode has closed in the meantime.
	Do(work func() (then func()))
}

// Mode is called like a pane: Extend once for each batch, key or resize, and then Draw for each row of a frame. It is
// called only while it is the top mode. While a mode is open, the panes don't follow new traffic.
type Mode interface {
	// Keys returns the current keys, the most useful first. The footer shows as many hints as fit.
	Keys() []screen.Binding
	// Extend reads new data, for a body of w × h cells.
	Extend(v *providers.View, w, h int)
	// Draw draws row y of the body.
	Draw(p *screen.Pen, y int)
}

// InputMode is a mode with a text input. While the input is open, unbound keys go to it.
type InputMode interface {
	Mode
	Typing() *screen.Input // nil if there is no input
}

// Clickable is a mode that supports the mouse. Roll scrolls the view without moving the cursor. Click moves the
// cursor to row y of Draw, and reports whether it was already there.
type Clickable interface {
	Roll(rows int)
	Click(x, y int) (again bool)
}

// Entry describes how to open a mode. It has the key that opens the mode from the panes, and a function that returns
// the mode or the reason why it can't open.
type Entry struct {
	screen.Binding
	New func(Host) (Mode, display.Text)
}

// MaxSyncBytes is the maximum size of content that a mode prepares at once. Larger content is prepared with
// Host.Do, one job at a time.
const MaxSyncBytes = 16 << 10

// Tall is the minimum height of a body that has room for titles and stacked parts.
const Tall = 16

// OverlayMode is a mode that covers only the lower part of the screen. The upper part stays visible and keeps
// updating. Row 0 is the first row of the mode, not of the screen. Its hints are in the footer.
type OverlayMode interface {
	Mode
	WantedRows(h int) int // rows wanted in a body of h rows
}

// WideOverlay is an overlay that covers the whole width of the screen.
type WideOverlay interface {
	OverlayMode
	IsWide() bool
}

// OverlayWidth is the maximum width of an overlay, in cells.
const OverlayWidth = 60

// DrawInputRow draws the first row of an overlay that has an input: a label, the input, and a note such as
// the number of matches.
func DrawInputRow(p *screen.Pen, what display.Text, line *screen.Input, note display.Text) {
	p.Text(screen.Accent, what.Between(" ", " "))
	keep := 0
	if note.Width()+minLine < p.Left {
		keep = note.Width() + 1
	}
	p.Left -= keep
	line.Draw(p)
	p.Left += keep
	p.Right(screen.Muted, screen.Bare, note.Between("", " "))
	p.Fill(screen.Bare)
}

const minLine = 8 // minimum number of cells for the input; with less room, the note is dropped

// Reader is a page that shows text, highlighted by content type.
type Reader struct {
	panes.TextReader
	host  Host
	ink   func() *screen.Paints
	draw  display.Drawer
	title display.Text
}

// NewReader returns a page for a decoded string. The function ink returns the current paints.
func NewReader(h Host, of panes.Literal, ink func() *screen.Paints, draw display.Drawer) *Reader {
	return &Reader{panes.NewTextReader(of.Text, of.Hint), h, ink, draw, draw.Clean(of.Path)}
}

// Keys returns the keys that close and scroll the page.
func (r *Reader) Keys() []screen.Binding {
	keys := []screen.Binding{screen.Key("esc q", "close", "close", r.host.Close)}
	return append(keys, r.CursorKeys("scroll", r.MoveTo)...)
}

// Extend lays out the text. It highlights the text the first time, and again when the theme changes.
func (r *Reader) Extend(_ *providers.View, w, h int) {
	r.Head = 1
	r.LayOut(w, max(1, h-1), r.draw)
	r.Colour(r.ink(), r.host.Do)
}

// Draw draws row y. The first row is the title.
func (r *Reader) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	if y > 0 {
		r.TextReader.Draw(p, y-1, display.Text{}, screen.Plain)
		return
	}
	p.Text(screen.Muted, display.Lit(" Opened  "))
	p.TextOn(screen.Accent, screen.Bare, r.title)
	p.Right(screen.Muted, screen.Bare, p.Format(" %s, %s ", r.Kind(), screen.Plural(r.Lines(), "line")))
}
