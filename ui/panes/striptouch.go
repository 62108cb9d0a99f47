package panes

import (
	"sort"

	"toolscope/stream"
)

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
