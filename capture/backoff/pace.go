// Package backoff is how often something is said that happens again and again.
package backoff

import "time"

// A Backoff lets something be said at once, and each time twice as seldom as the time before: first after
// First, at last once in Most. When nothing happened for longer than Most it is as if nothing had been said.
type Backoff struct {
	First, Max time.Duration
	LastReport time.Time // last

	happened time.Time // last, be it said or not
	wait     time.Duration
}

// Allow takes that it happens now. It reports whether it may be said now, and takes that it is then.
func (p *Backoff) Allow(now time.Time) bool {
	if !p.IsDue(now) {
		return false
	}
	p.LastReport, p.wait = now, min(max(2*p.wait, p.First), p.Max)
	return true
}

// IsDue takes that it happens now, and is not said yet. It reports whether it might be.
func (p *Backoff) IsDue(now time.Time) bool {
	if now.Sub(p.happened) > p.Max {
		p.wait = 0
	}
	p.happened = now
	return now.Sub(p.LastReport) >= p.wait
}
