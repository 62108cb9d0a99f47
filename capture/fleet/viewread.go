package fleet

import (
	"context"
	"time"
)

// Read is the message of which everything was passed on last, and when the hub got it; 0 before that.
func (v *View) Read() (seq uint64, at time.Time) {
	if m := v.delivered.Load(); m != nil {
		return m.seq, m.at
	}
	return 0, time.Time{}
}

// AwaitRead waits until what the hub has now was passed on, or ctx ends.
func (v *View) AwaitRead(ctx context.Context) {
	e, err := v.askExtent(ctx)
	for err == nil && ctx.Err() == nil && e.first <= e.last {
		if seq, _ := v.Read(); seq >= e.last {
			return
		}
		sleepFor(ctx, 10*time.Millisecond)
	}
}
