package panes

import (
	"toolscope/providers"
	"toolscope/stream"
)

// NextAlarm returns the next turn or call with findings above info. After the last one it continues at the
// first.
func (l *List) NextAlarm() stream.Ref {
	all := l.rows.turnCount()
	if all == 0 {
		return stream.NoRef
	}
	h, t, row := l.rows.rowTarget(l.At)
	if h == nil {
		h = l.rows.machines[0]
	}
	i := max(0, indexIn(h.turns, t))
	if t == nil {
		row = -1
	}
	for n := 0; n <= all; n++ {
		if i >= len(h.turns) {
			h, i = l.rows.nextTurn(h, i)
		}
		from, to := 0, len(h.turns[i].Calls)
		if n == 0 {
			from = row + 1
		}
		if n == all {
			to = min(row, to)
		}
		if of := l.alarmIn(h.turns[i], from, to); of != stream.NoRef {
			return of
		}
		if n < all {
			h, i = l.rows.nextTurn(h, i)
		}
	}
	return stream.NoRef
}

// alarmIn returns the first of some rows of a turn with findings above info.
func (l *List) alarmIn(t *stream.Turn, from, to int) stream.Ref {
	for n := from; n <= to && !l.rows.plain.isHidden(t); n++ {
		owner, found := t.Ref(), t.Findings
		if n > 0 {
			owner, found = t.Calls[n-1].Ref(), t.Calls[n-1].Findings
		}
		_, above := l.scene.Alarms.Of(owner, found)
		if above || n > 0 && wentWrong(t.Calls[n-1]) {
			return owner
		}
	}
	return stream.NoRef
}

// RowOf returns the row of a turn or call, or of its folded machine.
func (l *List) RowOf(s *stream.Session, r stream.Ref) int {
	t, c := s.Find(r)
	n := 0
	if c != nil {
		n = c.Number
	}
	return max(0, l.rows.rowOf(l.scene.View, t, n))
}

// RefAt returns the turn or call of a row; for a machine its newest turn.
func (l *List) RefAt(_ *stream.Session, row int) stream.Ref {
	h, t, n := l.rows.rowTarget(row)
	switch {
	case t != nil && n > 0 && n <= len(t.Calls):
		return t.Calls[n-1].Ref()
	case t != nil:
		return t.Ref()
	case h != nil:
		return newestOf(h.newestTurn(&l.rows.plain))
	}
	return stream.NoRef
}

// Newest returns the newest turn or call, for following. With several machines it is that of the
// selection's machine.
func (l *List) Newest(v *providers.View, sieve *TurnFilter, chosen stream.Ref) stream.Ref {
	s := v.Session()
	if h, _ := l.rows.find(v, s.Turn(chosen.Turn)); h != nil && len(l.rows.machines) > 1 && !sieve.Active() {
		return newestRef(h.turns)
	}
	return Newest(s, sieve)
}
