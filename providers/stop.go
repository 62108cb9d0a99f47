package providers

import (
	"errors"
	"time"

	"toolscope/stream"
)

// An ExchangeOffset is the position of a moment in an exchange: the number of bytes of its request and of its
// response, with codings decoded.
type ExchangeOffset struct {
	RequestBytes, ResponseBytes int64
	Answered                    bool // the head of the response had arrived
	Ended                       bool
}

// Offsets returns the offsets of a view's moment, by exchange: after the frames of its events. An exchange
// that is missing had not begun.
func (v *View) Offsets() map[int]ExchangeOffset {
	all := map[int]ExchangeOffset{}
	for _, x := range v.Exchanges() {
		all[x.Number] = ExchangeOffset{x.Request.Size(), x.Response.Size(), x.Head.Status != 0 || x.Response.Size() > 0, x.Ended}
	}
	v.in.toolTraffic().stopsAt(all, int32(v.ArrivedEvents()))
	return all
}

var errRecordsDropped = errors.New("turns were evicted from memory: use toolscope cut, which reads the file again")

// EachRecord passes all records to to, in order. It fails if anything was evicted or dropped.
func (v *View) EachRecord(to func(stream.Record)) error {
	if v.in.log.closed {
		return errRecordsDropped
	}
	v.in.log.eachRecord(v.in, to)
	return nil
}

// EventsAt returns the number of events of all turns up to the last event of t that is not later than at.
// It counts at least the first event of t.
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

// AfterEvent returns how many events there were after event n and its findings, which follow it.
func (v *View) AfterEvent(n int) int {
	e := v.EventPrefix(n, 0)
	for n++; n < v.ArrivedEvents(); n++ {
		if next := v.EventPrefix(n, 0); next.Kind != stream.Found || next.Turn != e.Turn || next.Frame != e.Frame {
			break
		}
	}
	return n
}
