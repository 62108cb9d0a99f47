package panes

import (
	"sort"
	"time"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

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
