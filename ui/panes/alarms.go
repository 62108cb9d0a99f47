package panes

import "toolscope/stream"

// WorstSeverities caches the worst severity of each call's and turn's findings. Lists of findings only
// grow, and a broken stream makes them long. The cache reads each finding once.
type WorstSeverities map[stream.Ref]grade

type grade struct {
	seen  int
	worst stream.Severity
}

// maxAlarmOwners is the maximum number of calls and turns in the cache. When it is full, it is emptied.
const maxAlarmOwners = 1 << 14

// Of returns the worst severity in a call's or turn's list of findings, and whether it is above info.
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
