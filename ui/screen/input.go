package screen

import (
	"strings"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"toolscope/ui/display"
)

// Input is a one-line text input. The program passes it the keys that its mode does not bind.
type Input struct {
	Prompt display.Text // text before the input in the footer; empty if the mode draws the input
	Note   display.Text // text after the input in the footer
	Lines  bool         // pasted text keeps its line breaks and tabs
	Edits  int          // number of handled keys; if it is unchanged, the input is unchanged
	line   textinput.Model
}

// A textinput can't contain line breaks and tabs. These private-use characters replace them.
const (
	standsForLine = '\U0010fffd'
	standsForTab  = '\U0010fffc'
)

var (
	toLine   = strings.NewReplacer("\r\n", string(standsForLine), "\n", string(standsForLine), "\r", string(standsForLine), "\t", string(standsForTab))
	fromLine = strings.NewReplacer(string(standsForLine), "\n", string(standsForTab), "\t")
)

// NewInput returns an input with the given value and the cursor at its end. The parameter most is the maximum
// number of characters.
func NewInput(prompt display.Text, value string, most int) *Input {
	in := &Input{Prompt: prompt, line: textinput.New()}
	in.line.CharLimit = most
	in.line.SetValue(toLine.Replace(value))
	in.line.CursorEnd()
	in.line.Focus()
	return in
}

// Key applies a key to the line. If Lines is set, pasted text may contain line breaks.
func (in *Input) Key(k tea.KeyMsg) {
	if in.Lines && k.Type == tea.KeyRunes && k.Paste {
		in.Insert(string(k.Runes))
		return
	}
	in.applyKey(k)
}

func (in *Input) applyKey(k tea.KeyMsg) {
	in.line, _ = in.line.Update(k)
	in.Edits++
}

// Insert inserts text at the cursor.
func (in *Input) Insert(text string) {
	in.applyKey(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(toLine.Replace(strings.ToValidUTF8(text, "")))})
}

// Value returns the typed text.
func (in *Input) Value() string { return fromLine.Replace(in.line.Value()) }

// Cursor returns the byte offset of the cursor in the value.
func (in *Input) Cursor() int {
	return len(fromLine.Replace(string([]rune(in.line.Value())[:in.line.Position()])))
}

// Draw draws the typed text and the cursor.
func (in *Input) Draw(p *Pen) {
	value, at := in.Value(), in.Cursor()
	p.Untrusted(Plain, Bare, value[:at])
	p.Text(Live, p.Glyph.Cursor)
	p.Untrusted(Plain, Bare, value[at:])
}

// Window is the cursor and the visible range of a list, with the movements that all panes share. It doesn't store
// rows, so a list can have any length.
type Window struct {
	Rows   int  // number of rows
	Height int  // number of visible rows
	Top    int  // first visible row
	At     int  // row of the cursor
	Stick  bool // keep the last row in view
	Beyond int  // number of rows after the end of the list; on a small screen, few or none of them are visible
	Head   int  // rows drawn above the first visible row
	adrift bool // Roll moved the view; the cursor may be out of view until its next move
}

// Fit is Resize for a list that is drawn in h rows. The first head rows are not part of the list.
func (w *Window) Fit(rows, head, h int) {
	w.Head = head
	w.Resize(rows, h-head)
}

// Resize sets the total and the visible number of rows.
func (w *Window) Resize(rows, height int) {
	w.Rows, w.Height = rows, max(height, 1)
	if w.Stick { // even if there are fewer rows than before, for example after a step back in time
		w.At = rows - 1 - max(0, w.Beyond-w.Height/3)
		w.Top, w.adrift = w.At-w.Height+1, false
	}
	w.clampView()
}

// clampView keeps the cursor on a row, and keeps this row in view, unless Roll moved the view.
func (w *Window) clampView() {
	w.At = max(0, min(w.At, w.Rows-1))
	if !w.adrift {
		w.Top = min(max(w.Top, w.At-w.Height+1), w.At)
	}
	w.Top = max(0, min(w.Top, w.Rows-w.Height))
}

// MoveTo moves the cursor to a row.
func (w *Window) MoveTo(row int) {
	w.Stick, w.adrift = false, w.adrift && row == w.At
	w.At = row
	w.clampView()
}

// RowAt returns the list row that is drawn in row y of the pane, or -1.
func (w *Window) RowAt(y int) int {
	if y -= w.Head; y < 0 || y >= w.Height || w.Top+y >= w.Rows {
		return -1
	}
	return w.Top + y
}

// Roll scrolls the view without moving the cursor.
func (w *Window) Roll(rows int) {
	w.Stick, w.adrift = false, true
	w.Top = max(0, min(w.Top+rows, w.Rows-w.Height))
}

// Click moves the cursor to the list row that is drawn in row y. It reports whether the cursor was already there.
func (w *Window) Click(_, y int) (again bool) {
	row := w.RowAt(y)
	if row < 0 {
		return false
	}
	again = row == w.At
	w.MoveTo(row)
	return again
}

// Scroll scrolls the view of a list without a cursor.
func (w *Window) Scroll(top int) {
	w.Stick, w.adrift = false, false
	w.Top = max(0, min(top, w.Rows-w.Height))
	w.At = w.Top
}

// Center moves the cursor to a row, and scrolls so that this row is in the middle.
func (w *Window) Center(row int) {
	w.MoveTo(row)
	w.Top = w.At - w.Height/2
	w.clampView()
}

// End moves the cursor to the last row, and keeps it there when rows are added.
func (w *Window) End() {
	w.MoveTo(w.Rows - 1)
	w.Stick = true
}

// Visible returns the first and the last visible row, counted from 1, and the total number of rows.
func (w *Window) Visible() (first, last, of int) {
	return w.Top + 1, min(w.Top+w.Height, w.Rows), w.Rows
}

// ScrollInfo formats the visible range and the total, with a sign if there are more rows below. It is empty if all
// rows are visible.
func (p *Pen) ScrollInfo(first, last, of int) display.Text {
	return p.scrollText(first, last, of, Count(of).Between(" of ", ""))
}

// ScrollRows is ScrollInfo without the total.
func (p *Pen) ScrollRows(first, last, of int) display.Text {
	return p.scrollText(first, last, of, display.Text{})
}

func (p *Pen) scrollText(first, last, of int, all display.Text) display.Text {
	switch {
	case first <= 1 && last >= of:
		return display.Text{}
	case last < first:
		last = first
	}
	text := display.Join(Count(first), p.Glyph.Dash, Count(last), all)
	if last < of {
		text = display.Join(text, display.Lit(" "), p.Glyph.Below)
	}
	return text
}

// CursorKeys returns the bindings that move the cursor. Each binding calls the function to with the new row. The last
// binding moves to the end. The footer shows hint after the keys j and k, unless hint is empty.
func (w *Window) CursorKeys(hint string, to func(row int)) []Binding {
	return w.moveKeys(hint, &w.At, to)
}

// ScrollKeys returns the bindings that move the view of a list without a cursor.
func (w *Window) ScrollKeys(hint string) []Binding { return w.moveKeys(hint, &w.Top, w.Scroll) }

func (w *Window) moveKeys(hint string, at *int, to func(row int)) []Binding {
	by := func(rows int) func() { return func() { to(*at + rows) } }
	page := func(by int) func() { return func() { to(*at + by*max(1, w.Height-1)) } }
	down := Key("down j", hint, "down", by(1))
	if hint != "" {
		down = down.Show("j k")
	}
	return []Binding{
		Key("up k", "", "up", by(-1)), down, Key("pgup ctrl+u ctrl+b", "", "a page up", page(-1)), Key("pgdown ctrl+d ctrl+f", "", "a page down", page(1)),
		Key("g home", "", "to the start", func() { to(0) }), Key("G end", "", "to the end", func() { to(w.Rows - 1) }),
	}
}
