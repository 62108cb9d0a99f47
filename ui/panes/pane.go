package panes

import (
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// A Pane is a part of the screen beside others. It is one file, and one line in the program's table
// of panes: a number key, zoom, search, footer and help come with that. Tab goes round the panes
// that are shown; one that shares its column is among them once its number was pressed.
//
// It is called as a mode is: Extend once a batch, key or resize, then Draw for each row of a frame.
type Pane interface {
	// Extend takes what is new of a scene, for w × h cells. A pane that is not on the screen is as
	// wide as the screen, and has no height.
	Extend(s *Context, w, h int)
	// Draw writes row y into the field; the first is the title.
	Draw(p *screen.Pen, y int, focused bool)
	// Keys are its own now, in the order in which the footer hints at them. One that does nothing
	// here reminds of a key of the program, if the program has it.
	Keys() []screen.Binding
	// Find shows where query is, and no longer with an empty one. It returns the places that GoTo
	// knows, ascending, and where the cursor is among them.
	Find(query string) (hits []int, cursor int)
	GoTo(hit int)
}

// What only some panes do.
type (
	// LinkedPane is a pane that shows bytes of the chosen call's arguments in its way. Those at the
	// cursor of the focused pane are pointed at in all others.
	LinkedPane interface {
		Chosen() Span // at the cursor
		Point(Span)   // lights them, and brings the first into view; an empty span lights none
	}
	// Follower is a pane whose cursor can stay at the end of what arrives.
	Follower interface{ Follow(on bool) }
	// Closer is a pane that has something to close before the program steps back.
	Closer interface{ Back() (closed bool) }
	// ValuePane is a pane whose cursor is at a value: where that is, what a string of it says, and its
	// JSON as it came.
	ValuePane interface {
		ValueAtCursor() (path string, value, raw []byte)
	}
	// PathPane is a pane that knows the way to where its cursor is.
	PathPane interface{ Path() string }
	// SlowSearcher is a pane in which it may take long to find something: it goes on from where it ended,
	// from 0 on, for as long as there is time, and returns where that is, or -1 at its end.
	SlowSearcher interface {
		SearchFrom(query string, from int, time func() bool) (hits []int, next int)
		Cursor() int // among the hits
	}
	// Quotable is a pane that has a sentence on where its cursor is, to be pasted elsewhere; nil for none.
	Quotable interface {
		Quote() (what display.Text, sentence []byte)
	}
	// Clickable is what a mouse can be used on; a mode may be, too. y counts the rows of Draw.
	Clickable interface {
		Roll(rows int)               // moves the view, and not the cursor
		Click(x, y int) (again bool) // puts the cursor on what is there; it was there already
	}
	// SpanPane is a pane that tells how far what is pointed at goes, where that is more than is seen.
	SpanPane interface {
		Spans(*screen.Pen) display.Text
	}
	// Scroller is a pane that knows which of its rows are visible.
	Scroller interface{ Visible() (first, last, of int) }
)

// A Tab is a pane under the document, or beside it, that is opened by its name: the program draws the
// row of names, which is the tab's title, and asks the tab for the rows below that.
type Tab interface {
	Pane
	Label() Label
	// Needs is how many rows what is in it would fill now, without the title. It is tall as that, up
	// to half of its column.
	WantedRows() int
}

// Label is what the row of names says of a tab.
type Label struct {
	Name  display.Text // empty while there is nothing in it: it is not named then, unless it is open
	Short display.Text // the name where there is little room
	Count display.Text // how much is in it
	Role  screen.Role  // of the count: the worst that is in it
}

// titleRow is the row of a pane that is its title.
const titleRow = 1

// Context is what all panes are about.
type Context struct {
	View     *providers.View
	News     *Changes
	Chosen   stream.Ref
	Bill     *Costs
	Alarms   WorstSeverities
	Sieve    *TurnFilter  // which turns are shown
	Marks    []stream.Ref // turns to be compared
	Quiet    bool         // side requests are not shown
	Clock    bool         // times by the clock, where the source has one
	Follow   bool         // the panes go where things happen, and more may come
	Raw      bool         // arguments as they came, not laid out
	Piled    bool         // panes stand one above the other: a title is a line across
	Bare     bool         // there is no room for titles: panes that are no tabs begin with what is in them
	Spaced   bool         // a blank row stands between members of arguments
	Pen      *screen.Pen
	Machines []MachineState                               // the machines that send what is shown; by name
	Typed    func(call stream.Ref) (size int, typed bool) // the result that the user gave a call
}

// Of is what is chosen, as it is now: nothing of it is kept for the next frame.
func (s *Context) Of() Selection { return SelectionOf(s.View.Session(), s.Chosen) }

// Area is where in the layout a pane is. Panes of one place take turns: the one that had the focus
// last is shown.
type Area uint8

const (
	Left Area = iota // the first column
	Main             // the second
	Side             // a tab: under Main, or on top of a column of its own
	Low              // a tab: under Main, or at the bottom of that column
	Places
)

// Host is what a pane may ask of the program.
type Host interface {
	Choose(stream.Ref) // the panes are about it from now on
	Focus(Area)        // the pane that is shown there gets the keyboard
	Follow(on bool)    // whether the panes go where things happen
	Moving() bool      // whether more may come
	Say(display.Text)  // in the footer, until the next key
	// Do has work done beside the screen. What it returns, if anything, then runs on the screen's
	// goroutine.
	Do(work func() (then func()))
}

// cursorKeys are keys that move a cursor, the last to the end. Moving ends following.
func cursorKeys(h Host, keys []screen.Binding, end func()) []screen.Binding {
	for i := range keys {
		move := keys[i].Do
		keys[i].Do = func() { h.Follow(false); move() }
	}
	last := &keys[len(keys)-1]
	last.Does, last.Do = display.Lit("to the end, and follow"), end
	return keys
}

// backKey is the key that leads to the first column.
func backKey(h Host) screen.Binding {
	return screen.Binding{Keys: []string{"left", "h"}, Does: display.Lit("back to the list"), Do: func() { h.Focus(Left) }}
}

// Reminders of keys of the program, which has them or not.
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
	answerHint  = keyHint("a", "a answer")
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
