package fleet

import "time"

// clock converts times of the hub to ours. It knows one moment by both clocks and assumes that both run
// at the same speed from there. Neither has to be right, and ours may be set meanwhile.
type clock struct{ ours, hubs time.Time }

// addSample notes that the hub's clock was at hubs at some time between two times of ours.
func (c *clock) addSample(before, after, hubs time.Time) {
	if hubs.IsZero() { // the hub sent no time
		hubs = after
	}
	c.ours, c.hubs = before.Add(after.Sub(before)/2), hubs
}

// toLocal converts a time of the hub to our clock.
func (c *clock) toLocal(hubs time.Time) time.Time { return c.ours.Add(hubs.Sub(c.hubs)) }
