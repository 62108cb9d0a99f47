package panes

import "toolscope/stream"

// WorstSeverities caches the worst severity of the findings of each call and turn. The lists only grow,
// and a broken stream makes them long, so each finding is read once.
type WorstSeverities map[stream.Ref]grade

type grade struct {
	seen  int
	worst stream.Severity
}

// maxAlarmOwners is the size of the cache. When it is full, the lists are read again.
const maxAlarmOwners = 1 << 14

// Of returns the worst severity in the list of a call or turn, and whether it is above info.
func (a WorstSeverities) Of(owner stream.Ref, list []stream.Finding) (worst stream.Severity, above bool) {
	if len(list) == 0 {
		return stream.Info, false
	}
	g, known := a[owner]
	if !known && len(a) >= maxAlarmOwners {
		clear(a)
	}
	for _, f := range list[min(g.seen, len(list)):] {
		g.worst = max(g.worst, f.Severity)
	}
	g.seen = len(list)
	a[owner] = g
	return g.worst, g.worst > stream.Info
}
