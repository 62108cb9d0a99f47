package capture

import "time"

// Backoff allows the first report of an event at once. The next is allowed after First, and each following interval
// is twice as long, up to Max. If the event has not happened for longer than Max, the next report is again allowed at
// once.
type Backoff struct {
	First, Max time.Duration
	LastReport time.Time // time of the last report

	happened time.Time // time of the last event, reported or not
	wait     time.Duration
}

// Allow records an event at the given time. It reports whether the event may be reported. If so, it counts the event
// as reported.
func (p *Backoff) Allow(now time.Time) bool {
	if !p.IsDue(now) {
		return false
	}
	p.LastReport, p.wait = now, min(max(2*p.wait, p.First), p.Max)
	return true
}

// IsDue records an event at the given time. It reports whether the event may be reported, but does not count it as
// reported.
func (p *Backoff) IsDue(now time.Time) bool {
	if now.Sub(p.happened) > p.Max {
		p.wait = 0
	}
	p.happened = now
	return now.Sub(p.LastReport) >= p.wait
}
