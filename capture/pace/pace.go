// Package pace is how often something is said that happens again and again.
package pace

import "time"

// A Pace lets something be said at once, and each time twice as seldom as the time before: first after
// First, at last once in Most. When nothing happened for longer than Most it is as if nothing had been said.
type Pace struct {
	First, Most time.Duration
	Said        time.Time // last

	happened time.Time // last, be it said or not
	wait     time.Duration
}

// May takes that it happens now. It reports whether it may be said now, and takes that it is then.
func (p *Pace) May(now time.Time) bool {
	if !p.Due(now) {
		return false
	}
	p.Said, p.wait = now, min(max(2*p.wait, p.First), p.Most)
	return true
}

// Due takes that it happens now, and is not said yet. It reports whether it might be.
func (p *Pace) Due(now time.Time) bool {
	if now.Sub(p.happened) > p.Most {
		p.wait = 0
	}
	p.happened = now
	return now.Sub(p.Said) >= p.wait
}
