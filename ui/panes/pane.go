// Package panes implements the panes of the screen: the list of turns and calls, the arguments of a call as a
// document, its frames, its findings, the summary of a turn, and sheets of finished texts.
//
// Each Pane has one file, and one line in the program's table of panes. It calls the program through a Host.
// The Context has the data that all panes share.
//
// A pane reads new data in Extend, once per batch, and draws one row at a time. It keeps its subject as a
// Ref; pointers to turns and calls are valid until the next Extend.
package panes

import (
	"slices"
	"time"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/filter"
	"toolscope/ui/screen"
)

// Pane is a part of the screen. Each has one file, and one line in the program's table of panes. The program
// adds a number key, zoom, search, a footer and help. Tab cycles through the shown panes. A pane that shares
// its column is included only after its number has been pressed.
//
// A pane embeds PaneRows. It implements Extend, Draw and Keys, and any other methods that it needs. The
// program calls Extend once for each batch, key or resize, and then Draw for each row of a frame. Modes are
// called in the same way.
type Pane interface {
	// Extend reads new data, for w × h cells. For a pane that is not on the screen, w is the width of the
	// screen and h is 0.
	Extend(s *Context, w, h int)
	// Draw draws row y. The first row is the title.
	Draw(p *screen.Pen, y int, focused bool)
	// Keys returns the current keys of the pane, in the order of the hints in the footer. A key without an
	// action is a hint for one of the program's keys, if the program has such a key.
	Keys() []screen.Binding

	// Spot returns the spot at the cursor. All other panes highlight its bytes.
	Spot() Spot
	// Point highlights bytes of the selected call's arguments and shows the first of them. An empty span
	// removes the highlight.
	Point(Span)
	// Spans returns the extent of a highlight that is larger than the view.
	Spans(*screen.Pen) display.Text
	// Find marks the matches of query, and removes all marks if query is empty. It returns the matches as
	// places for GoTo, in ascending order. A slow search begins at from, which is 0 at first. If it runs out
	// of time, it stops and returns the position at which to continue. Otherwise it returns AllFound.
	Find(query string, from int, time func() bool) (hits []int, next int)
	GoTo(hit int)
	Cursor() int // the cursor's position, in the same form as the places that Find returns
	// Follow sets whether the cursor follows new data at the end.
	Follow(on bool)
	// Back closes the open part of the pane, if there is one, before esc leaves the pane.
	Back() (closed bool)
	// Roll scrolls the view without moving the cursor. Click moves the cursor to row y of Draw, and reports
	// whether it was already there.
	Roll(rows int)
	Click(x, y int) (again bool)
	Visible() (first, last, of int)

	// Label returns the tab's entry in the row of names, which is also the pane's title. WantedRows returns the
	// number of rows of the content, without the title. The pane gets that height, up to half of its column.
	Label() Label
	WantedRows() int
}

// AllFound is the position that Find returns after a complete search.
const AllFound = -1

// Spot is the value or sentence at the cursor of a pane. Its functions are nil if there is no value or sentence.
type Spot struct {
	Span     Span // the argument bytes
	Value    func() (path string, value, raw []byte)
	Sentence func() []byte // about the row, for a report
	What     display.Text  // names the sentence, for example "a report on this rule"
}

// PaneRows is the base of panes: rows with a cursor. A pane overrides the methods that don't suit it.
type PaneRows struct {
	screen.Window
	host Host
	row  func(row int) string // returns the text of a row, for the search
}

// NewRows returns the base of a pane. The function row returns the text of a row, for the search.
func NewRows(h Host, row func(row int) string) PaneRows { return PaneRows{host: h, row: row} }

// Spot returns an empty spot.
func (*PaneRows) Spot() Spot { return Spot{} }

// Point has no effect, because the rows show no arguments.
func (*PaneRows) Point(Span) {}

// Spans returns nothing, because nothing is highlighted.
func (*PaneRows) Spans(*screen.Pen) display.Text { return display.Text{} }

// Find returns the rows that contain query.
func (r *PaneRows) Find(query string, _ int, _ func() bool) (rows []int, next int) {
	n := newTextQuery(query)
	for row := 0; query != "" && row < r.Rows; row++ {
		if containsQuery(n, r.row(row)) {
			rows = append(rows, row)
		}
	}
	return rows, AllFound
}

// GoTo selects a row.
func (r *PaneRows) GoTo(row int) { r.MoveTo(row) }

// Cursor returns the row of the cursor.
func (r *PaneRows) Cursor() int { return r.At }

// Follow has no effect. A pane whose cursor follows new data overrides it.
func (*PaneRows) Follow(bool) {}

// Back does nothing, because no part of the pane can be open.
func (*PaneRows) Back() (closed bool) { return false }

// Label returns an empty label.
func (*PaneRows) Label() Label { return Label{} }

// WantedRows returns the number of rows.
func (r *PaneRows) WantedRows() int { return r.Rows }

// keys returns the keys of a pane: its own keys, hints for the program's keys, and the keys that move the
// cursor and go back to the list.
func (r *PaneRows) keys(own []screen.Binding, moves []screen.Binding, end func(), can ...string) []screen.Binding {
	back := []screen.Binding{backKey(r.host)}
	return slices.Concat(screen.Can("help"), own, screen.Can(can...), back, cursorKeys(r.host, moves, end))
}

// Label is a tab's entry in the row of names.
type Label struct {
	Name  display.Text
	Short display.Text // a short name; empty if Name is short
	Count display.Text // the amount of content
	Role  screen.Role  // role of the count: the role of the worst entry
	Empty bool         // the pane is not added below another tab
}

// titleRow is the height of a pane's title.
const titleRow = 1

// Context has the data that all panes show: the view, the selection and display options.
type Context struct {
	View     *providers.View
	News     *Changes
	Chosen   stream.Ref
	Bill     *Costs
	Verdicts *Verdicts
	Sieve    *TurnFilter  // decides which turns are shown
	Marks    []stream.Ref // turns marked for a comparison
	Quiet    bool         // background requests are hidden
	Clock    bool         // clock times are shown, if the source has them
	Follow   bool         // the panes follow new traffic, and more may arrive
	Raw      bool         // arguments are shown raw
	Piled    bool         // panes are stacked: a title is a line across the screen
	Rows     int          // height of the screen without the timeline
	Files    bool         // the turns come from several files
	Agents   bool         // the turns come from several agents
	Large    bool         // the large layout, which has its own title and findings
	Bare     bool         // there is no room for titles: panes that are not tabs begin with their content
	Spaced   bool         // blank rows between the fields of arguments
	Pen      *screen.Pen
	Finding  *stream.Finding                              // the finding at the cursor of the focused pane; nil if there is none
	Now      time.Duration                                // the time of a live source; NoTime if no source is live
	Machines []MachineState                               // the machines that publish the shown traffic, by name
	Capture  func() string                                // returns the path of the capture that records a live source; may be nil
	Typed    func(call stream.Ref) (size int, typed bool) // returns the size of the result that the user typed for a call
}

// Of returns the current selection. It is valid only for the current frame.
func (s *Context) Of() Selection { return SelectionOf(s.View.Session(), s.Chosen) }

// Area is the position of a pane in the layout. If several panes share an area, the one that had the focus
// last is shown.
type Area uint8

const (
	Left Area = iota // the first column
	Main             // the second column
	Side             // a tab: under Main, or at the top of a separate column
	Low              // a tab: under Main, or at the bottom of the separate column
	Places
)

// Host is the interface through which panes call the program.
type Host interface {
	Choose(stream.Ref) // selects a turn or call
	Focus(Area)        // focuses the pane that is shown in an area
	Follow(on bool)    // sets whether the panes follow new traffic
	Moving() bool      // reports whether more traffic may arrive
	Say(display.Text)  // shows a notice in the footer until the next key
	// Do runs work in the background. If work returns a function, that function runs on the screen's
	// goroutine.
	Do(work func() (then func()))
}

// cursorKeys wraps keys that move a cursor, so that moving stops following. The last key moves the cursor to
// the end.
func cursorKeys(h Host, keys []screen.Binding, end func()) []screen.Binding {
	for i := range keys {
		move := keys[i].Do
		keys[i].Do = func() { h.Follow(false); move() }
	}
	last := &keys[len(keys)-1]
	last.Does, last.Do = display.Lit("to the end, and follow"), end
	return keys
}

// backKey returns the key that goes to the first column.
func backKey(h Host) screen.Binding {
	return screen.Key("left h", "", "back to the list", func() { h.Focus(Left) })
}

// FindAll returns the offsets of query in text. A query without capitals ignores the case of A-Z.
func FindAll(text []byte, query string) (at []int) {
	n := filter.NewTextQuery(query)
	for off := range n.All(text) {
		at = append(at, off)
	}
	return at
}

// textQuery is a query with a reusable buffer.
type textQuery struct {
	filter.TextQuery
	room []byte // a buffer for strings
}

func newTextQuery(query string) *textQuery { return &textQuery{TextQuery: filter.NewTextQuery(query)} }

// containsQuery reports whether text contains the query.
func containsQuery[T string | []byte](n *textQuery, text T) bool {
	b, ok := any(text).([]byte)
	if !ok {
		n.room = append(n.room[:0], text...)
		b = n.room
	}
	return n.In(b)
}
