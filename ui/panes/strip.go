package panes

import (
	"slices"
	"time"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// TimeStrip is the timeline below the panes, shown while the screen is paused. It has the paused moment,
// and a lane for each call of its turn. Later events are muted. The lanes are rebuilt only when the turn
// grows.
type TimeStrip struct {
	At       StripSubject
	rows     int
	lanes    int // of them
	axis     axis
	since    providers.Latency // of the turn
	key      stripKey
	all      []callLane
	timing   []display.Text // the times of the selected call
	timingOf timingKey
}

// StripSubject is the data that the strip shows.
type StripSubject struct {
	Live, Then *providers.View // the current view, and that of the moment
	Turn       int32
	Chosen     stream.Ref
	Ahead      display.Text // the amount of later traffic, in words
	Less       display.Text // a shorter text of Ahead
	Word       display.Text // whether the moment moves
	Moves      bool
	Ended      bool // shown as if the turn ended here
}

// stripKey identifies the inputs of the lanes.
type stripKey struct {
	turn   int32
	events int
	kept   stream.Retention
	cells  int
}

// timingKey identifies the inputs of the timing.
type timingKey struct {
	of    stream.Ref
	lanes stripKey
}

// callLane is the lane of a call, or with number 0 of a turn without calls.
type callLane struct {
	number int32
	cells  []laneCell
}

type laneCell struct {
	sign display.Text
	role screen.Role
}

// The width next to the lanes, in cells, and the other rows of a strip.
const (
	stripWide, stripMid = 72, 50 // minimum widths
	wideName, midName   = 18, 15
	minNameCells        = 10
	wideWord, midWord   = 18, 9
	minWordCells        = 2
	stripHead           = 2  // the moment, the axis
	minStripRows        = 9  // screen height from which there is more than the moment
	tallStrip           = 16 // screen height from which there are several lanes
	legendFrom          = 24 // and the legend
	profileFrom         = 30 // and the times
)

// StripRows returns the height of a strip on a screen of h rows, for a turn with the given number of
// calls.
func StripRows(h, calls int) int {
	if h < minStripRows {
		return 1
	}
	lanes, below := stripLanes(h, calls)
	return stripHead + lanes + below
}

// stripLanes returns the number of lanes, and of rows below them.
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

// sideCells returns the width left and right of the axis.
func sideCells(w int) (name, word int) {
	switch {
	case w >= stripWide:
		return wideName, wideWord
	case w >= stripMid:
		return midName, midWord
	}
	return minNameCells, minWordCells
}

// Extend reads new data, for a strip of w cells on a screen of h rows.
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

// Rows returns the height of the strip.
func (s *TimeStrip) Rows() int { return s.rows }

// liveTurn returns the turn as it is in the current view, or nil.
func (s *TimeStrip) liveTurn() *stream.Turn {
	t, _ := s.At.Live.Find(stream.Ref{Turn: s.At.Turn})
	return t
}

// shownCalls returns the calls with a lane: those around the selected one.
func (s *TimeStrip) shownCalls(t *stream.Turn) []*stream.Call {
	n, at := s.lanes, max(0, int(s.At.Chosen.Call)-1)
	from := max(0, min(at-n/2, len(t.Calls)-n))
	return t.Calls[from:min(from+n, len(t.Calls))]
}

// updateLanes builds the lanes that became visible.
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

// maxProfileSize is the maximum number of tokens and deltas of a call whose times are shown: some times
// need all of them.
const maxProfileSize = 20_000

func isLong(c *stream.Call) bool { return c.Deltas()+c.Lexer().Tokens().Len() > maxProfileSize }

// updateTiming updates the times of the selected call. Like the lanes, they include data after the moment.
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
