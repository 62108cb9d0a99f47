package providers

import (
	"errors"
	"time"

	"toolscope/stream"
)

// A Stop is where a moment is in what came of an exchange: behind so many bytes of its request and of
// its response, with codings undone.
type Stop struct {
	Asked, Bytes int64
	Answered     bool // the head of the response had come
	Ended        bool
}

// Stops are where the moment of a view is, by exchange: behind the frames that its events tell of. Of
// those that are missing nothing had come.
func (v *View) Stops() map[int]Stop {
	all := map[int]Stop{}
	for _, x := range v.Exchanges() {
		all[x.Number] = Stop{x.Request.Size(), x.Response.Size(), x.Head.Status != 0 || x.Response.Size() > 0, x.Ended}
	}
	v.in.executed.stopsAt(all, int32(v.Moment()))
	return all
}

var errGone = errors.New("turns were let go of: toolscope cut reads the file again")

// Came gives to all that came, in its order, as long as nothing was let go of.
func (v *View) Came(to func(stream.Record)) error {
	if v.in.log.closed {
		return errGone
	}
	v.in.log.replay(v.in, to)
	return nil
}

// MomentAt is how many events there were at a time, as those of a turn tell.
func (v *View) MomentAt(t *stream.Turn, at time.Duration) int {
	n := int(t.OpenedBy) + 1
	for e := range v.EventsOf(t, int(t.OpenedBy)) {
		if v.Begin(e, 0).At > at {
			break
		}
		n = e + 1
	}
	return n
}

// After is how many events there were when all was told that event n brought: what was found in it
// follows it.
func (v *View) After(n int) int {
	e := v.Begin(n, 0)
	for n++; n < v.Moment(); n++ {
		if next := v.Begin(n, 0); next.Kind != stream.Found || next.Turn != e.Turn || next.Frame != e.Frame {
			break
		}
	}
	return n
}
