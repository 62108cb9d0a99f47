package fleet

import "time"

// clock turns times of the hub into ours, and ours into its. It rests on one moment that is known on both, and
// from there on time that passes is the same for both: neither has to be right, and ours may be set meanwhile.
type clock struct{ ours, hubs time.Time }

// addSample takes that the hub's clock was at hubs at some time between two of ours.
func (c *clock) addSample(before, after, hubs time.Time) {
	if hubs.IsZero() { // it does not tell
		hubs = after
	}
	c.ours, c.hubs = before.Add(after.Sub(before)/2), hubs
}

// toLocal is a time of the hub by our clock.
func (c *clock) toLocal(hubs time.Time) time.Time { return c.ours.Add(hubs.Sub(c.hubs)) }
