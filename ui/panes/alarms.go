package panes

import "toolscope/stream"

// WorstSeverities are the gravest severities of lists of findings by whose they are. The lists only grow,
// and a broken stream makes them long: each finding is looked at once.
type WorstSeverities map[stream.Ref]grade

type grade struct {
	seen  int
	worst stream.Severity
}

// maxAlarmOwners is how many owners are remembered. A list is looked at again then.
const maxAlarmOwners = 1 << 14

// Of is the gravest severity in the list of a call or turn, and whether it is above info.
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
