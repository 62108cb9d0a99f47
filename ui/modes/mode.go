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
	"toolscope/ui/panes"
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

// Clickable is a mode that supports the mouse. Roll moves the view, not the cursor. Click moves the cursor to row
// y of Draw, and reports whether it was already there.
type Clickable interface {
	Roll(rows int)
	Click(x, y int) (again bool)
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

// upDownHint adds the hint for the up and down keys to the binding of up.
func upDownHint(up screen.Binding, word string, draw display.Drawer) screen.Binding {
	if word != "" {
		return up.Hinted(word).Show("up down")
	}
	return up.Hinted(screen.NameKeys([]string{"down"}, draw).String())
}

// OverlayMode is a mode that covers only the lower part of the screen. The upper part stays visible and
// keeps updating. Rows of the mode count from its own first row. Its hints are in the footer.
type OverlayMode interface {
	Mode
	WantedRows(h int) int // rows in a body of h rows
}

// WideOverlay is an overlay that covers the whole width of the screen.
type WideOverlay interface {
	OverlayMode
	IsWide() bool
}

// OverlayWidth is the maximum width of an overlay, in cells.
const OverlayWidth = 60

// DrawInputRow draws the first row of an overlay with an input: its label, the input, and a note such as
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

const minLine = 8 // cells of the input below which the note is dropped

// DrawChoiceRow draws a selectable row: its text, and on the right the key or command with the same
// effect.
func DrawChoiceRow(p *screen.Pen, chosen bool, what, how display.Text) {
	g, mark := screen.Bare, display.Lit(" ")
	if chosen {
		g, mark = screen.Selected, p.Glyph.Mark
	}
	p.TextOn(screen.Accent, g, mark)
	room := p.Left - how.Width() - 1
	if how.Width() > p.Left/2 {
		how = p.Truncate(how, p.Left/2)
		room = p.Left - how.Width() - 1
	}
	p.TextOn(screen.Plain, g, p.Pad(p.Truncate(what, room-1), room))
	p.TextOn(screen.Accent, g, how)
	p.Fill(g)
}

// Reader shows a text on a page of its own, with highlighting for its content type.
type Reader struct {
	panes.TextReader
	host  Host
	ink   func() *screen.Paints
	draw  display.Drawer
	title display.Text
}

// NewReader opens a text; ink returns the current paints.
func NewReader(h Host, of panes.Literal, ink func() *screen.Paints, draw display.Drawer) *Reader {
	return &Reader{panes.NewTextReader(of.Text, of.Hint), h, ink, draw, draw.Clean(of.Path)}
}

// Keys returns the keys that close and scroll it.
func (r *Reader) Keys() []screen.Binding {
	keys := []screen.Binding{screen.Key("esc q", "close", "close", r.host.Close)}
	return append(keys, r.CursorKeys("scroll", r.MoveTo)...)
}

// Extend lays out the text, and highlights it at first and when the theme changes.
func (r *Reader) Extend(_ *providers.View, w, h int) {
	r.Head = 1
	r.LayOut(w, max(1, h-1), r.draw)
	r.Colour(r.ink(), r.host.Do)
}

// Draw draws row y: the first is the title.
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
