package panes

import (
	"slices"
	"time"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// TimeStrip is the line of time below the panes while the screen shows a moment: where that is, and a
// lane for each call of its turn, with what has come since, muted. Its lanes are made anew only when
// more of the turn has come.
type TimeStrip struct {
	At       StripSubject
	rows     int
	lanes    int // of them
	axis     axis
	since    providers.Latency // of the turn
	key      stripKey
	all      []callLane
	timing   []display.Text // how long the chosen call took to become what it is
	timingOf timingKey
}

// StripSubject is what the strip is about.
type StripSubject struct {
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
	kept   stream.Retention
	cells  int
}

// timingKey says of what it was told.
type timingKey struct {
	of    stream.Ref
	lanes stripKey
}

// callLane is a call on the axis, or with number 0 the turn itself, where it has none.
type callLane struct {
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
	minNameCells        = 10
	wideWord, midWord   = 18, 9
	minWordCells        = 2
	stripHead           = 2  // the moment, the axis
	minStripRows        = 9  // rows of the screen from which there is more than the moment
	tallStrip           = 16 // rows of the screen from which there are several lanes
	legendFrom          = 24 // and the legend
	profileFrom         = 30 // and what took how long
)

// StripRows is how many rows a strip has on a screen of h rows, for a turn of so many calls.
func StripRows(h, calls int) int {
	if h < minStripRows {
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

// sideCells is how many cells are left and right of the axis.
func sideCells(w int) (name, word int) {
	switch {
	case w >= stripWide:
		return wideName, wideWord
	case w >= stripMid:
		return midName, midWord
	}
	return minNameCells, minWordCells
}

// Extend takes what has come, for a strip of w cells and so many rows on a screen of h.
func (s *TimeStrip) Extend(at StripSubject, w, h int, p *screen.Pen) {
	s.At = at
	t := s.liveTurn()
	if t == nil {
		s.rows, s.all, s.key = 1, nil, stripKey{}
		return
	}
	s.rows = StripRows(h, len(t.Calls))
	s.lanes, _ = stripLanes(h, len(t.Calls))
	name, word := sideCells(w)
	key := stripKey{t.Number, t.Events, t.Retention, max(1, w-name-word)}
	if key != s.key || s.all == nil {
		s.key, s.axis, s.all = key, axisOf(at.Live, t, key.cells), nil
		s.since = at.Live.Latency(t, nil)
		for _, c := range s.shownCalls(t) {
			s.all = append(s.all, callLane{int32(c.Number), s.callCells(t, c, p)})
		}
		if len(t.Calls) == 0 {
			s.all = append(s.all, callLane{0, s.turnCells(t, p)})
		}
	} else {
		s.updateLanes(t, p)
	}
	if h >= profileFrom {
		s.updateTiming(t, p)
	}
}

// Rows is how many rows it has.
func (s *TimeStrip) Rows() int { return s.rows }

// liveTurn is the turn, with all that has come of it; nil where there is none.
func (s *TimeStrip) liveTurn() *stream.Turn {
	t, _ := s.At.Live.Find(stream.Ref{Turn: s.At.Turn})
	return t
}

// shownCalls are the calls that have a lane: those around the chosen one.
func (s *TimeStrip) shownCalls(t *stream.Turn) []*stream.Call {
	n, at := s.lanes, max(0, int(s.At.Chosen.Call)-1)
	from := max(0, min(at-n/2, len(t.Calls)-n))
	return t.Calls[from:min(from+n, len(t.Calls))]
}

// updateLanes makes the lanes that came into view.
func (s *TimeStrip) updateLanes(t *stream.Turn, p *screen.Pen) {
	calls := s.shownCalls(t)
	if len(calls) == 0 || len(calls) == len(s.all) && s.all[0].number == int32(calls[0].Number) {
		return
	}
	s.all = nil
	for _, c := range calls {
		s.all = append(s.all, callLane{int32(c.Number), s.callCells(t, c, p)})
	}
}

// maxProfileSize is of how many tokens and deltas a call may be for its times to be told: some of them
// look at all.
const maxProfileSize = 20_000

func isLong(c *stream.Call) bool { return c.Deltas()+c.Lexer().Tokens().Len() > maxProfileSize }

// updateTiming tells how long the chosen call took to become what it is: that of all that has come, for it
// is what the lanes are of.
func (s *TimeStrip) updateTiming(t *stream.Turn, p *screen.Pen) {
	key := timingKey{s.At.Chosen, s.key}
	if key == s.timingOf {
		return
	}
	s.timingOf = key
	_, c := s.At.Live.Find(s.At.Chosen)
	if s.timing = nil; c == nil || isLong(c) {
		return
	}
	l := s.At.Live.Latency(t, c)
	add := func(word string, d time.Duration) {
		if d >= 0 {
			s.timing = append(s.timing, display.Join(p.Clean(word).Between("  ", " "), screen.Time(d)))
		}
	}
	for _, m := range l.TimePoints() {
		add(m.Name, m.At)
	}
	lead := display.Lit(" no known times for this call")
	if len(s.timing) > 0 {
		lead = sinceText(&l).Between(" ", ":")
	}
	s.timing = slices.Insert(s.timing, 0, lead)
	if l.Gap >= 0 {
		add("longest silence", l.Gap)
	}
	if how := l.Arrival.String(); how != "" {
		s.timing = append(s.timing, p.Clean(how).Between("  ", ""))
	}
	if l.Stalls > 0 {
		s.timing = append(s.timing, screen.Plural(l.Stalls, "stall").Between("  ", ""))
	}
}
