package fleet

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"toolscope/capture"
	"toolscope/capture/pace"
	"toolscope/stream/count"
)

// mostEarly is how many bytes are kept of exchanges of which nothing is new yet.
const mostEarly = 256 << 20

// early is what was read of exchanges before the time that is wanted. It is passed on once something of
// them is new.
type early struct {
	of    map[int]*held
	order []int // of them, as they began; some may be gone
	bytes int64
}

type held struct {
	recs  []capture.Record
	bytes int64
	shed  int64 // bytes that are not kept any more
}

// recordCost is what a record takes beside its bytes.
const recordCost = 256

func (e *early) add(r capture.Record) {
	h := e.of[r.Exchange]
	if h == nil {
		h = &held{}
		if e.of == nil {
			e.of = map[int]*held{}
		}
		e.of[r.Exchange] = h
		e.order = append(e.order, r.Exchange)
	}
	n := int64(len(r.Data)) + recordCost
	if h.shed > 0 && r.Head == nil {
		h.shed += int64(len(r.Data))
		return
	}
	h.recs = append(h.recs, r)
	h.bytes, e.bytes = h.bytes+n, e.bytes+n
	for e.bytes > mostEarly && len(e.order) > 0 {
		oldest := e.of[e.order[0]]
		if e.order = e.order[1:]; oldest != nil {
			e.shed(oldest)
		}
	}
}

// shed keeps of an exchange what is known from outside its bytes.
func (e *early) shed(h *held) {
	e.bytes -= h.bytes
	h.bytes = 0
	for _, r := range h.recs {
		h.shed += int64(len(r.Data))
	}
	h.shed = max(1, h.shed)
	h.recs = slices.DeleteFunc(h.recs, func(r capture.Record) bool { return r.Head == nil })
	for i := range h.recs {
		h.recs[i].Data = nil
	}
}

// drop forgets an exchange, and reports whether something of it was kept.
func (e *early) drop(exchange int) bool {
	h := e.of[exchange]
	if h == nil {
		return false
	}
	e.bytes -= h.bytes
	delete(e.of, exchange)
	if len(e.of) == 0 {
		e.order = nil
	} else if len(e.order) > 2*len(e.of)+mostPulled {
		e.order = slices.DeleteFunc(e.order, func(x int) bool { return e.of[x] == nil })
	}
	return true
}

// take is what was kept of an exchange.
func (e *early) take(exchange int) []capture.Record {
	h := e.of[exchange]
	if h == nil {
		return nil
	}
	recs := h.recs
	if h.shed > 0 {
		recs = append(recs, capture.Record{
			Exchange: exchange, At: capture.NoTime, Lost: h.shed,
			Note: fmt.Sprintf("joined midway: what came before the time that is wanted, %s, is more than is kept", count.Of(h.shed, "byte")),
		})
	}
	e.drop(exchange)
	return recs
}

// take reads a message. It reports false at the end; next is another consumer to go on with.
func (v *View) take(ctx context.Context, msg jetstream.Msg, meta *jetstream.MsgMetadata, yield func(capture.Record, error) bool) (more bool, next *jetstream.ConsumerConfig) {
	before, missing, ok, wanted := v.read.seq, false, true, !meta.Timestamp.Before(v.since)
	skipped := v.skip(ctx, meta.Sequence.Stream)
	if v.last > 0 && meta.Sequence.Stream > v.last || !v.until.IsZero() && meta.Timestamp.After(v.until) {
		return false, v.close(yield)
	}
	v.read, v.waits = mark{meta.Sequence.Stream, msg.Subject(), meta.Timestamp}, meta.NumPending
	if v.some != nil {
		ok = v.takeCall(ctx, msg, meta.Timestamp, yield)
	} else {
		missing = v.feed(msg, meta, wanted)
	}
	v.count(msg, meta)
	ok = ok && v.pass(yield, wanted)
	v.moved = v.now()
	given := v.read
	v.given.Store(&given)
	switch {
	case !ok:
		return false, nil
	case v.last > 0 && (meta.Sequence.Stream >= v.last || meta.NumPending == 0):
		return false, v.close(yield)
	case v.jumped > 0:
		v.jumped--
	case (missing || skipped) && v.last == 0 && v.overrun(ctx, before, meta):
		c := v.consumer()
		c.DeliverPolicy = jetstream.DeliverLastPerSubjectPolicy
		return true, &c
	}
	return true, nil
}

// told is what was said last of a capture.
type told struct {
	pace pace.Backoff
	more int // that was not said since
}

// Something is said of one capture once in sayEvery; of one that goes wrong all the time twice as seldom
// each time, down to once in saySeldom. All of it is counted.
const (
	sayEvery  = time.Second
	saySeldom = 5 * time.Minute
)

// say adds a note about the source.
func (v *View) say(text string) {
	v.recs = append(v.recs, capture.Record{Exchange: 1, At: capture.NoTime, Note: text})
}

// sayOf adds a note about a capture, if the last one was not just now.
func (v *View) sayOf(of origin, text string) {
	t, now := v.told[of], v.now()
	if t == nil {
		t = &told{pace: pace.Backoff{First: sayEvery, Max: saySeldom}}
		v.told[of] = t
	}
	if !t.pace.Allow(now) {
		t.more++
		return
	}
	if t.more > 0 {
		text += fmt.Sprintf(" (before this %s of it left out)", count.Of(t.more, "note"))
	}
	t.more = 0
	v.say(text)
}

// pass delivers what was read.
func (v *View) pass(yield func(capture.Record, error) bool, wanted bool) bool {
	ok := v.deliver(yield, v.recs, wanted)
	clear(v.recs)
	v.recs = v.recs[:0]
	return ok
}

// deliver passes records on. Those of before the time that is wanted wait until something of their
// exchange is new.
func (v *View) deliver(yield func(capture.Record, error) bool, recs []capture.Record, wanted bool) bool {
	for _, r := range recs {
		switch {
		case !wanted && !r.OfSource() && r.End != "":
			v.early.drop(r.Exchange)
			continue
		case !wanted && !r.OfSource():
			v.early.add(r)
			continue
		case !r.OfSource() && len(v.early.of) > 0:
			for _, held := range v.early.take(r.Exchange) {
				if !yield(held, nil) {
					return false
				}
			}
		}
		if !yield(r, nil) {
			return false
		}
	}
	return true
}

// end passes on that exchanges end because of us. Those of which nothing was new are nobody's concern.
func (v *View) end(yield func(capture.Record, error) bool, recs []capture.Record) bool {
	recs = slices.DeleteFunc(recs, func(r capture.Record) bool {
		_, is := v.early.of[r.Exchange]
		if is = is && !r.OfSource(); is && r.End != "" {
			v.early.drop(r.Exchange)
		}
		return is
	})
	return v.deliver(yield, recs, true)
}

// close ends what is open because all that was wanted was read.
func (v *View) close(yield func(capture.Record, error) bool) *jetstream.ConsumerConfig {
	var recs []capture.Record
	for _, f := range v.order {
		recs = f.feed.Close(recs)
	}
	recs = v.some.close(recs)
	if v.pass(yield, true) {
		v.end(yield, recs)
	}
	return nil
}
