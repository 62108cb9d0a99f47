package providers

import (
	"errors"
	"time"

	"toolscope/stream"
)

// A ExchangeOffset is where a moment is in what came of an exchange: behind so many bytes of its request and of
// its response, with codings undone.
type ExchangeOffset struct {
	RequestBytes, ResponseBytes int64
	Answered                    bool // the head of the response had come
	Ended                       bool
}

// Offsets are where the moment of a view is, by exchange: behind the frames that its events tell of. Of
// those that are missing nothing had come.
func (v *View) Offsets() map[int]ExchangeOffset {
	all := map[int]ExchangeOffset{}
	for _, x := range v.Exchanges() {
		all[x.Number] = ExchangeOffset{x.Request.Size(), x.Response.Size(), x.Head.Status != 0 || x.Response.Size() > 0, x.Ended}
	}
	v.in.executed.stopsAt(all, int32(v.ArrivedEvents()))
	return all
}

var errRecordsDropped = errors.New("turns were let go of: toolscope cut reads the file again")

// EachRecord gives to all that came, in its order, as long as nothing was let go of.
func (v *View) EachRecord(to func(stream.Record)) error {
	if v.in.log.closed {
		return errRecordsDropped
	}
	v.in.log.eachRecord(v.in, to)
	return nil
}

// EventsAt is how many events there were at a time, as those of a turn tell.
func (v *View) EventsAt(t *stream.Turn, at time.Duration) int {
	n := int(t.OpenedBy) + 1
	for e := range v.EventsOf(t, int(t.OpenedBy)) {
		if v.EventPrefix(e, 0).At > at {
			break
		}
		n = e + 1
	}
	return n
}

// AfterEvent is how many events there were when all was told that event n brought: what was found in it
// follows it.
func (v *View) AfterEvent(n int) int {
	e := v.EventPrefix(n, 0)
	for n++; n < v.ArrivedEvents(); n++ {
		if next := v.EventPrefix(n, 0); next.Kind != stream.Found || next.Turn != e.Turn || next.Frame != e.Frame {
			break
		}
	}
	return n
}
