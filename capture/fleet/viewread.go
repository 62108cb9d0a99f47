package fleet

import (
	"context"
	"time"
)

// Read returns the number of the last message whose records were all passed on, and when the hub got it; 0
// before the first.
func (v *View) Read() (seq uint64, at time.Time) {
	if m := v.delivered.Load(); m != nil {
		return m.seq, m.at
	}
	return 0, time.Time{}
}

// AwaitRead waits until everything that the hub has now was passed on, or ctx ends.
func (v *View) AwaitRead(ctx context.Context) {
	e, err := v.askExtent(ctx)
	for err == nil && ctx.Err() == nil && e.first <= e.last {
		if seq, _ := v.Read(); seq >= e.last {
			return
		}
		sleepFor(ctx, 10*time.Millisecond)
	}
}
