package panes

import (
	"slices"
	"time"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Strip is the line of time below the panes while the screen shows a moment: where that is, and a
// lane for each call of its turn, with what has come since, muted. Its lanes are made anew only when
// more of the turn has come.
type Strip struct {
	At    StripAt
	rows  int
	lanes int // of them
	axis  axis
	since providers.Latency // of the turn
	key   stripKey
	all   []bar
	told  []display.Text // how long the chosen call took to become what it is
	tells toldKey
}

// StripAt is what the strip is about.
type StripAt struct {
	Live, Then *providers.View // all there is, and the moment
	Turn       int32
	Chosen     stream.Ref
	Ahead      display.Text // what has come behind the moment, in words
	Less       display.Text // the same in fewer
	Word       display.Text // whether it moves
	Moves      bool
	Ended      bool // what if it ended here
}

// stripKey says what the lanes were made from.
type stripKey struct {
	turn   int32
	events int
	kept   stream.Keeping
	cells  int
}

// toldKey says of what it was told.
type toldKey struct {
	of    stream.Ref
	lanes stripKey
}

// bar is a call on the axis, or with number 0 the turn itself, where it has none.
type bar struct {
	number int32
	cells  []laneCell
}

type laneCell struct {
	sign display.Text
	role screen.Role
}

// The room beside the lanes, in cells, and the rows that a strip has besides them.
const (
	stripWide, stripMid = 72, 50 // from these widths on
	wideName, midName   = 18, 15
	leastName           = 10
	wideWord, midWord   = 18, 9
	leastWord           = 2
	stripHead           = 2  // the moment, the axis
	leastStrip          = 9  // rows of the screen from which there is more than the moment
	tallStrip           = 16 // rows of the screen from which there are several lanes
	legendFrom          = 24 // and the legend
	profileFrom         = 30 // and what took how long
)

// StripRows is how many rows a strip has on a screen of h rows, for a turn of so many calls.
func StripRows(h, calls int) int {
	if h < leastStrip {
		return 1
	}
	lanes, below := stripLanes(h, calls)
	return stripHead + lanes + below
}

// stripLanes is how many lanes a strip has, and how many rows below them.
func stripLanes(h, calls int) (lanes, below int) {
	if h < tallStrip {
		return 1, 0
	}
	for _, from := range []int{legendFrom, profileFrom} {
		if h >= from {
			below++
		}
	}
	return max(1, min(calls, (h-12)/4)), below
}

// beside is how many cells are left and right of the axis.
func beside(w int) (name, word int) {
	switch {
	case w >= stripWide:
		return wideName, wideWord
	case w >= stripMid:
		return midName, midWord
	}
	return leastName, leastWord
}

// Extend takes what has come, for a strip of w cells and so many rows on a screen of h.
func (s *Strip) Extend(at StripAt, w, h int, p *screen.Pen) {
	s.At = at
	t := s.turn()
	if t == nil {
		s.rows, s.all, s.key = 1, nil, stripKey{}
		return
	}
	s.rows = StripRows(h, len(t.Calls))
	s.lanes, _ = stripLanes(h, len(t.Calls))
	name, word := beside(w)
	key := stripKey{t.Number, t.Events, t.Kept, max(1, w-name-word)}
	if key != s.key || s.all == nil {
		s.key, s.axis, s.all = key, axisOf(at.Live, t, key.cells), nil
		s.since = at.Live.Latency(t, nil)
		for _, c := range s.shown(t) {
			s.all = append(s.all, bar{int32(c.Number), s.callCells(t, c, p)})
		}
		if len(t.Calls) == 0 {
			s.all = append(s.all, bar{0, s.turnCells(t, p)})
		}
	} else {
		s.scroll(t, p)
	}
	if h >= profileFrom {
		s.profile(t, p)
	}
}

// Rows is how many rows it has.
func (s *Strip) Rows() int { return s.rows }

// turn is the turn, with all that has come of it; nil where there is none.
func (s *Strip) turn() *stream.Turn {
	t, _ := s.At.Live.Find(stream.Ref{Turn: s.At.Turn})
	return t
}

// shown are the calls that have a lane: those around the chosen one.
func (s *Strip) shown(t *stream.Turn) []*stream.Call {
	n, at := s.lanes, max(0, int(s.At.Chosen.Call)-1)
	from := max(0, min(at-n/2, len(t.Calls)-n))
	return t.Calls[from:min(from+n, len(t.Calls))]
}

// scroll makes the lanes that came into view.
func (s *Strip) scroll(t *stream.Turn, p *screen.Pen) {
	calls := s.shown(t)
	if len(calls) == 0 || len(calls) == len(s.all) && s.all[0].number == int32(calls[0].Number) {
		return
	}
	s.all = nil
	for _, c := range calls {
		s.all = append(s.all, bar{int32(c.Number), s.callCells(t, c, p)})
	}
}

// mostProfiled is of how many tokens and deltas a call may be for its times to be told: some of them
// look at all.
const mostProfiled = 20_000

func isLong(c *stream.Call) bool { return c.Deltas()+c.Lexer().Tokens().Len() > mostProfiled }

// profile tells how long the chosen call took to become what it is: that of all that has come, for it
// is what the lanes are of.
func (s *Strip) profile(t *stream.Turn, p *screen.Pen) {
	key := toldKey{s.At.Chosen, s.key}
	if key == s.tells {
		return
	}
	s.tells = key
	_, c := s.At.Live.Find(s.At.Chosen)
	if s.told = nil; c == nil || isLong(c) {
		return
	}
	l := s.At.Live.Latency(t, c)
	add := func(word string, d time.Duration) {
		if d >= 0 {
			s.told = append(s.told, display.Join(p.Clean(word).Between("  ", " "), screen.Time(d)))
		}
	}
	for _, m := range l.Moments() {
		add(m.Name, m.At)
	}
	lead := display.Lit(" no times are known of this call")
	if len(s.told) > 0 {
		lead = since(&l).Between(" ", ":")
	}
	s.told = slices.Insert(s.told, 0, lead)
	if l.Gap >= 0 {
		add("longest silence", l.Gap)
	}
	if how := l.Manner.String(); how != "" {
		s.told = append(s.told, p.Clean(how).Between("  ", ""))
	}
	if l.Stalls > 0 {
		s.told = append(s.told, screen.Plural(l.Stalls, "stall").Between("  ", ""))
	}
}
