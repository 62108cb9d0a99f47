package panes

import "toolscope/stream"

// Newest returns what to follow: the latest call that still streams, else the latest call, else the latest
// turn. Background requests are followed only if there is nothing else, and hidden turns never.
func Newest(s *stream.Session, sieve *TurnFilter) stream.Ref {
	if sieve.Active() {
		return newestOf(sieve.newestShown(s))
	}
	return newestRef(s.Turns)
}

func newestRef(turns []*stream.Turn) stream.Ref {
	var last *stream.Turn
	for i := len(turns) - 1; i >= 0 && (last == nil || i >= len(turns)-maxOpenTurns); i-- {
		t := turns[i]
		if isBackground(t) {
			if len(turns)-i < maxTurnsScanned {
				continue
			}
		}
		if last == nil {
			last = t
		}
		for j := len(t.Calls) - 1; j >= 0 && j >= len(t.Calls)-64; j-- {
			if t.Calls[j].MayGrow() {
				return t.Calls[j].Ref()
			}
		}
	}
	switch n := len(turns); {
	case n == 0:
		return stream.NoRef
	case last == nil:
		last = turns[n-1]
	}
	return newestOf(last)
}

// newestOf returns the latest call of a turn, or the turn.
func newestOf(t *stream.Turn) stream.Ref {
	switch {
	case t == nil:
		return stream.NoRef
	case len(t.Calls) > 0:
		return t.Calls[len(t.Calls)-1].Ref()
	}
	return t.Ref()
}

// How many of the latest turns are checked.
const (
	maxOpenTurns    = 8
	maxTurnsScanned = 256
)
