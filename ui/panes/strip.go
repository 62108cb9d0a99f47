package panes

import (
	"slices"
	"sort"
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

// callCells returns the lane of a call.
func (s *TimeStrip) callCells(t *stream.Turn, c *stream.Call, p *screen.Pen) []laneCell {
	cells := make([]laneCell, s.axis.cells)
	stops := callMarkers(s.At.Live, t, c)
	began := s.axis.cellOf(s.axis.positionOf(int(c.OpenedBy)))
	over := len(cells) - 1
	if end, ok := endEventOf(s.At.Live, t, c); ok {
		over = s.axis.cellOf(s.axis.positionOf(end))
	}
	for i := began; i <= over; i++ {
		cells[i] = laneCell{p.Glyph.Idle, screen.Muted}
	}
	s.markResponse(cells, t, p)
	if first, ok := firstByte(c); ok {
		s.fillCells(cells[:over+1], s.axis.cellOf(s.axis.positionOf(first)), c, p)
		if n, ok := s.actionableEvent(t, c); ok && n >= first {
			cells[s.axis.cellOf(s.axis.positionOf(n))] = laneCell{p.Glyph.Usable, screen.Plain}
		}
	}
	for _, grave := range []bool{false, true} { // a finding above info covers the start of a state
		for _, stop := range stops {
			at := &cells[s.axis.cellOf(s.axis.positionOf(stop.Event))]
			switch {
			case stop.Kind == MarkerState && !grave:
				*at = laneCell{p.Glyph.Status[stop.State], screen.StatusRoles[stop.State]}
			case stop.Kind == MarkerFinding && grave && stop.Found > stream.Info && at.sign != p.Glyph.Status[c.Status()]:
				*at = laneCell{display.Lit("!"), screen.SeverityRoles[stop.Found]}
			}
		}
	}
	for _, stop := range stops {
		if stop.Kind == MarkerRun { // findings never hide a tool run
			cells[s.axis.cellOf(s.axis.positionOf(stop.Event))] = laneCell{ranSign, screen.Accent}
		}
	}
	return cells
}

// ranSign marks a tool run.
var ranSign = display.Lit("R")

// markResponse marks the response itself: its head, its first token, and its end. Marks of a call cover
// these.
func (s *TimeStrip) markResponse(cells []laneCell, t *stream.Turn, p *screen.Pen) {
	if !s.axis.timed {
		return
	}
	for _, mark := range []struct {
		sign display.Text
		at   time.Duration
	}{{p.Glyph.Headers, s.since.Headers}, {p.Glyph.Token, s.since.FirstToken}, {p.Glyph.End, s.since.End}} {
		if mark.at >= 0 {
			cells[s.axis.cellOf(int64(s.since.From+mark.at))] = laneCell{mark.sign, screen.Muted}
		}
	}
}

// fillCells fills the cells from the first byte on: bytes arrived in it or around it without a long
// silence, or silence.
func (s *TimeStrip) fillCells(cells []laneCell, from int, c *stream.Call, p *screen.Pen) {
	n := c.Deltas()
	at := func(i int) int64 { return s.axis.positionOf(int(c.DeltaEvent(i))) }
	last := at(n - 1)
	long := 3 * (last - at(0)) / int64(max(1, n-1))
	if s.axis.timed {
		long = min(long, int64(providers.StallAfter)-1)
	}
	if two := s.axis.cellStart(2) - s.axis.cellStart(0); long < two {
		long = two
	}
	for k := from; k < len(cells); k++ {
		start := s.axis.cellStart(k)
		i := sort.Search(n, func(i int) bool { return at(i) >= start })
		silent := i == n || i > 0 && at(i)-at(i-1) > long && s.axis.cellOf(at(i)) != k
		if cells[k] = (laneCell{p.Glyph.Coming, screen.Plain}); silent && s.axis.cellOf(last) != k {
			cells[k] = laneCell{p.Glyph.Silent, screen.Muted}
		}
	}
	if s.axis.timed {
		s.writeStalls(cells, from, n, at, p)
	}
}

// writeStalls writes the length of long silences into them, if there is room.
func (s *TimeStrip) writeStalls(cells []laneCell, from, deltas int, at func(int) int64, p *screen.Pen) {
	for k := from; k < len(cells); {
		end := k
		for end < len(cells) && cells[end].sign == p.Glyph.Silent {
			end++
		}
		if end == k {
			k++
			continue
		}
		i := sort.Search(deltas, func(i int) bool { return at(i) >= s.axis.cellStart(k) })
		if i > 0 && i < deltas {
			if d := time.Duration(at(i) - at(i-1)); d >= providers.StallAfter {
				writeStall(cells[k:end], screen.Time(d).Between(" ", " "))
			}
		}
		k = end
	}
}

// writeStall writes the length of a silence into its middle.
func writeStall(cells []laneCell, long display.Text) {
	room := len(cells) - long.Width()
	if room < 2 {
		return
	}
	for i, r := range long.String() {
		cells[room/2+i] = laneCell{display.Clean(string(r)), screen.Caution}
	}
}

// actionableEvent returns the event that brought the last required key. Long calls are not searched.
func (s *TimeStrip) actionableEvent(t *stream.Turn, c *stream.Call) (event int, ok bool) {
	if isLong(c) {
		return 0, false
	}
	return s.At.Live.Actionable(t, c)
}

// turnCells returns the lane of a turn without calls.
func (s *TimeStrip) turnCells(t *stream.Turn, p *screen.Pen) []laneCell {
	cells := make([]laneCell, s.axis.cells)
	first := len(cells)
	for n := range s.At.Live.EventsOf(t, int(t.OpenedBy)) {
		if kind, _ := s.At.Live.Subject(n); kind == stream.TextDelta || kind == stream.ThinkDelta {
			first = s.axis.cellOf(s.axis.positionOf(n))
			break
		}
	}
	for i := range cells {
		cells[i] = laneCell{p.Glyph.Idle, screen.Muted}
		if i >= first {
			cells[i] = laneCell{p.Glyph.Coming, screen.Plain}
		}
	}
	began := s.axis.cellOf(s.axis.zero)
	clear(cells[:began])
	s.markResponse(cells, t, p)
	cells[began] = laneCell{p.Glyph.Status[stream.Waiting], screen.StatusRoles[stream.Waiting]}
	if first < len(cells) {
		cells[first] = laneCell{p.Glyph.Status[stream.Streaming], screen.StatusRoles[stream.Streaming]}
	}
	if st, role, _ := screen.TurnLook(t); t.Closed() {
		cells[len(cells)-1] = laneCell{p.Glyph.Status[st], role}
	}
	return cells
}

// laneAt returns the lane drawn in row y of the strip, or -1.
func (s *TimeStrip) laneAt(y int) int {
	if row := y - stripHead; row >= 0 && row < min(len(s.all), s.lanes) {
		return row
	}
	return -1
}

// CallAt returns the call or turn whose name is drawn in row y at cell x, in a strip of w cells.
func (s *TimeStrip) CallAt(x, y, w int) (of stream.Ref, ok bool) {
	if name, _ := sideCells(w); x >= name || s.laneAt(y) < 0 {
		return of, false
	}
	return stream.Ref{Turn: s.At.Turn, Call: s.all[s.laneAt(y)].number}, true
}

// MomentAt returns the number of events up to the end of a cell's time span on the axis or a lane. A place
// left or right of the cells counts as the first or the last cell.
func (s *TimeStrip) MomentAt(x, y, w int) (n int, ok bool) {
	if s.At.Live == nil || y != stripHead-1 && s.laneAt(y) < 0 {
		return 0, false
	}
	t := s.liveTurn()
	if t == nil {
		return 0, false
	}
	name, _ := sideCells(w)
	until := s.axis.cellStart(max(0, min(x-name, s.axis.cells-1)) + 1)
	first, last := int(t.OpenedBy), lastEventOf(s.At.Live, t)
	n = first + sort.Search(last+1-first, func(i int) bool { return s.axis.positionOf(first+i) >= until })
	return s.At.Live.AfterEvent(max(n-1, first)), true
}
