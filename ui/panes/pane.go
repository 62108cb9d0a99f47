// Package panes implements the panes of the screen: the list of turns and calls, the arguments of a call
// as a document, its frames, its findings, the summary of a turn, and sheets of finished texts.
//
// A Pane is one file, and one line in the program's table. It calls the program through a Host; the
// Context holds what all panes show.
//
// A pane reads new data in Extend, once a batch, and draws one row at a time. It keeps its subject as a
// Ref; pointers to turns and calls are valid until the next Extend.
package panes

import (
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// A Pane is a part of the screen. It is one file, and one line in the program's table of panes. The
// program gives it a number key, zoom, search, footer and help. Tab cycles through the shown panes; a pane
// that shares its column is included after its number was pressed.
//
// It is called like a mode: Extend once for each batch, key or resize, then Draw for each row of a frame.
type Pane interface {
	// Extend reads new data, for w × h cells. A pane that is not on the screen has the width of the
	// screen, and no height.
	Extend(s *Context, w, h int)
	// Draw draws row y into the field; the first is the title.
	Draw(p *screen.Pen, y int, focused bool)
	// Keys returns the current keys of the pane, in the order of the hints in the footer. A key without
	// an action reminds of a key of the program, if the program has it.
	Keys() []screen.Binding
	// Find marks the matches of query, and removes all marks if query is empty. It returns the matches as
	// places for GoTo, in ascending order, and the place of the cursor.
	Find(query string) (hits []int, cursor int)
	GoTo(hit int)
}

// Optional interfaces of panes.
type (
	// LinkedPane is a pane that shows bytes of the selected call's arguments. All other panes highlight
	// the bytes at the cursor of the focused pane.
	LinkedPane interface {
		Chosen() Span // at the cursor
		Point(Span)   // highlights bytes and shows the first; an empty span highlights none
	}
	// Follower is a pane whose cursor can follow new data at the end.
	Follower interface{ Follow(on bool) }
	// Closer is a pane that may have something open, which esc closes before the program goes back.
	Closer interface{ Back() (closed bool) }
	// ValuePane is a pane that knows the value at its cursor: its path, its decoded string, and its JSON
	// as captured.
	ValuePane interface {
		ValueAtCursor() (path string, value, raw []byte)
	}
	// PathPane is a pane that knows the path of its cursor.
	PathPane interface{ Path() string }
	// SlowSearcher is a pane with a slow search. SearchFrom continues at a position, 0 at first, while
	// there is time. It returns the position at which to continue, or -1 at the end.
	SlowSearcher interface {
		SearchFrom(query string, from int, time func() bool) (hits []int, next int)
		Cursor() int // among the matches
	}
	// Quotable is a pane that can describe the row of its cursor in a sentence, for a report. The sentence
	// is nil if there is none.
	Quotable interface {
		Quote() (what display.Text, sentence []byte)
	}
	// Clickable is a pane or mode that supports the mouse. y counts the rows of Draw.
	Clickable interface {
		Roll(rows int)               // moves the view, not the cursor
		Click(x, y int) (again bool) // moves the cursor; again says that it was already there
	}
	// SpanPane is a pane that shows the extent of a highlight which is larger than the view.
	SpanPane interface {
		Spans(*screen.Pen) display.Text
	}
	// Scroller is a pane that knows which of its rows are visible.
	Scroller interface{ Visible() (first, last, of int) }
)

// A Tab is a pane under or next to the document that is opened by its name. The program draws the row of
// names, which is the tab's title, and the tab draws the rows below.
type Tab interface {
	Pane
	Label() Label
	// WantedRows returns the number of rows of the content without the title. The tab gets that height, up
	// to half of its column.
	WantedRows() int
}

// Label is a tab's entry in the row of names.
type Label struct {
	Name  display.Text // empty if the tab has no content; it is then listed only while open
	Short display.Text // a short name
	Count display.Text // the amount of content
	Role  screen.Role  // role of the count: that of the worst entry
}

// titleRow is the height of a pane's title.
const titleRow = 1

// Context has the data that all panes show: the view, the selection, and display options.
type Context struct {
	View     *providers.View
	News     *Changes
	Chosen   stream.Ref
	Bill     *Costs
	Alarms   WorstSeverities
	Sieve    *TurnFilter  // decides which turns are shown
	Marks    []stream.Ref // turns marked for a comparison
	Quiet    bool         // background requests are hidden
	Clock    bool         // clock times, if the source has them
	Follow   bool         // the panes follow new traffic, and more may arrive
	Raw      bool         // arguments are shown raw
	Piled    bool         // panes are stacked: a title is a line across the screen
	Bare     bool         // there is no room for titles: panes that are not tabs begin with their content
	Spaced   bool         // blank rows between the fields of arguments
	Pen      *screen.Pen
	Machines []MachineState                               // the machines that publish shown traffic, by name
	Typed    func(call stream.Ref) (size int, typed bool) // the result of a call that the user typed
}

// Of returns the current selection. It is valid only for the current frame.
func (s *Context) Of() Selection { return SelectionOf(s.View.Session(), s.Chosen) }

// Area is the place of a pane in the layout. If several panes share an area, the last one that had the
// focus is shown.
type Area uint8

const (
	Left Area = iota // the first column
	Main             // the second
	Side             // a tab: under Main, or on top of a column of its own
	Low              // a tab: under Main, or at the bottom of that column
	Places
)

// Host is the interface of the program to its panes.
type Host interface {
	Choose(stream.Ref) // selects a turn or call
	Focus(Area)        // focuses the pane shown there
	Follow(on bool)    // sets whether the panes follow new traffic
	Moving() bool      // reports whether more traffic may arrive
	Say(display.Text)  // shows a notice in the footer until the next key
	// Do runs work in the background. If work returns a function, that runs on the screen's
	// goroutine.
	Do(work func() (then func()))
}

// cursorKeys wraps keys that move a cursor, the last to the end. Moving ends following.
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
	return screen.Binding{Keys: []string{"left", "h"}, Does: display.Lit("back to the list"), Do: func() { h.Focus(Left) }}
}

// These are hints for keys of the program. They are shown if the program has the keys.
var (
	helpHint    = keyHint("?", "? help")
	pauseHint   = keyHint(" ", "space pause")
	stepHint    = keyHint(",", ", . step")
	nextHint    = keyHint("!", "! next finding")
	replayHint  = keyHint("p", "p replay")
	findHint    = keyHint("/", "/ find")
	sentHint    = keyHint("o", "o sent back")
	compareHint = keyHint("=", "= compare")
	markHint    = keyHint("m", "m mark")
	resendHint  = keyHint("R", "R resend")
	answerHint  = keyHint("a", "a result")
	filterHint  = keyHint("f", "f filter")
	copyHint    = keyHint("y", "y copy")
	saveHint    = keyHint("w", "w save")
	streamsHint = keyHint("L", "L streams")
	clockHint   = keyHint("T", "T clock")
	tabHint     = keyHint("tab", "tab pane")
	zoomHint    = keyHint("z", "z zoom")
	allHint     = keyHint(":", ": all")
)

func keyHint(key, hint string) screen.Binding {
	return screen.Binding{Keys: []string{key}, Hint: display.Clean(hint)}
}
