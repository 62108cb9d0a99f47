package panes

import (
	"sort"

	"toolscope/stream"
)

// lane is the one that is drawn in row y of the strip, -1 where none is.
func (s *Strip) lane(y int) int {
	if row := y - stripHead; row >= 0 && row < min(len(s.all), s.lanes) {
		return row
	}
	return -1
}

// CallAt is the call whose name is drawn there, in a strip of w cells; or its turn, which has none.
func (s *Strip) CallAt(x, y, w int) (of stream.Ref, ok bool) {
	if name, _ := beside(w); x >= name || s.lane(y) < 0 {
		return of, false
	}
	return stream.Ref{Turn: s.At.Turn, Call: s.all[s.lane(y)].number}, true
}

// MomentAt is how many events there were at the end of the time that a cell of the axis or of a lane
// stands for. Beside them it is the first or the last of the cells.
func (s *Strip) MomentAt(x, y, w int) (n int, ok bool) {
	if s.At.Live == nil || y != stripHead-1 && s.lane(y) < 0 {
		return 0, false
	}
	t := s.turn()
	if t == nil {
		return 0, false
	}
	name, _ := beside(w)
	until := s.axis.from(max(0, min(x-name, s.axis.cells-1)) + 1)
	first, last := int(t.OpenedBy), lastOf(s.At.Live, t)
	n = first + sort.Search(last+1-first, func(i int) bool { return s.axis.at(first+i) >= until })
	return s.At.Live.After(max(n-1, first)), true
}
