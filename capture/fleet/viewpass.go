package fleet

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"toolscope/capture"
	"toolscope/capture/backoff"
	"toolscope/stream/count"
)

// maxEarlyBytes is how many bytes are kept of exchanges of which nothing is new yet.
const maxEarlyBytes = 256 << 20

// earlyRecords is what was read of exchanges before the time that is wanted. It is passed on once something of
// them is new.
type earlyRecords struct {
	of    map[int]*earlyExchange
	order []int // of them, as they began; some may be gone
	bytes int64
}

type earlyExchange struct {
	recs  []capture.Record
	bytes int64
	shed  int64 // bytes that are not kept any more
}

// recordCost is what a record takes beside its bytes.
const recordCost = 256

func (e *earlyRecords) add(r capture.Record) {
	h := e.of[r.Exchange]
	if h == nil {
		h = &earlyExchange{}
		if e.of == nil {
			e.of = map[int]*earlyExchange{}
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
	for e.bytes > maxEarlyBytes && len(e.order) > 0 {
		oldest := e.of[e.order[0]]
		if e.order = e.order[1:]; oldest != nil {
			e.dropData(oldest)
		}
	}
}

// dropData keeps of an exchange what is known from outside its bytes.
func (e *earlyRecords) dropData(h *earlyExchange) {
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

// dropExchange forgets an exchange, and reports whether something of it was kept.
func (e *earlyRecords) dropExchange(exchange int) bool {
	h := e.of[exchange]
	if h == nil {
		return false
	}
	e.bytes -= h.bytes
	delete(e.of, exchange)
	if len(e.of) == 0 {
		e.order = nil
	} else if len(e.order) > 2*len(e.of)+maxPulledMessages {
		e.order = slices.DeleteFunc(e.order, func(x int) bool { return e.of[x] == nil })
	}
	return true
}

// takeRecords is what was kept of an exchange.
func (e *earlyRecords) takeRecords(exchange int) []capture.Record {
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
	e.dropExchange(exchange)
	return recs
}

// handleMessage reads a message. It reports false at the end; next is another consumer to go on with.
func (v *View) handleMessage(ctx context.Context, msg jetstream.Msg, meta *jetstream.MsgMetadata, yield func(capture.Record, error) bool) (more bool, next *jetstream.ConsumerConfig) {
	before, missing, ok, wanted := v.read.seq, false, true, !meta.Timestamp.Before(v.since)
	skipped := v.onSequence(ctx, meta.Sequence.Stream)
	if v.last > 0 && meta.Sequence.Stream > v.last || !v.until.IsZero() && meta.Timestamp.After(v.until) {
		return false, v.endOpen(yield)
	}
	v.read, v.waits = messageMark{meta.Sequence.Stream, msg.Subject(), meta.Timestamp}, meta.NumPending
	if v.index != nil {
		ok = v.takeCall(ctx, msg, meta.Timestamp, yield)
	} else {
		missing = v.feedMessage(msg, meta, wanted)
	}
	v.countMessage(msg, meta)
	ok = ok && v.deliverRead(yield, wanted)
	v.moved = v.now()
	given := v.read
	v.delivered.Store(&given)
	switch {
	case !ok:
		return false, nil
	case v.last > 0 && (meta.Sequence.Stream >= v.last || meta.NumPending == 0):
		return false, v.endOpen(yield)
	case v.jumped > 0:
		v.jumped--
	case (missing || skipped) && v.last == 0 && v.isOverrun(ctx, before, meta):
		c := v.consumerConfig()
		c.DeliverPolicy = jetstream.DeliverLastPerSubjectPolicy
		return true, &c
	}
	return true, nil
}

// lastReport is what was said last of a capture.
type lastReport struct {
	pace backoff.Backoff
	more int // that was not said since
}

// Something is said of one capture once in sayEvery; of one that goes wrong all the time twice as seldom
// each time, down to once in saySeldom. All of it is counted.
const (
	minNoteInterval = time.Second
	maxNoteInterval = 5 * time.Minute
)

// addNote adds a note about the source.
func (v *View) addNote(text string) {
	v.recs = append(v.recs, capture.Record{Exchange: 1, At: capture.NoTime, Note: text})
}

// addCaptureNote adds a note about a capture, if the last one was not just now.
func (v *View) addCaptureNote(of subjectParts, text string) {
	t, now := v.lastReports[of], v.now()
	if t == nil {
		t = &lastReport{pace: backoff.Backoff{First: minNoteInterval, Max: maxNoteInterval}}
		v.lastReports[of] = t
	}
	if !t.pace.Allow(now) {
		t.more++
		return
	}
	if t.more > 0 {
		text += fmt.Sprintf(" (before this %s of it left out)", count.Of(t.more, "note"))
	}
	t.more = 0
	v.addNote(text)
}

// deliverRead delivers what was read.
func (v *View) deliverRead(yield func(capture.Record, error) bool, wanted bool) bool {
	ok := v.deliverRecords(yield, v.recs, wanted)
	clear(v.recs)
	v.recs = v.recs[:0]
	return ok
}

// deliverRecords passes records on. Those of before the time that is wanted wait until something of their
// exchange is new.
func (v *View) deliverRecords(yield func(capture.Record, error) bool, recs []capture.Record, wanted bool) bool {
	for _, r := range recs {
		switch {
		case !wanted && !r.OfSource() && r.End != "":
			v.early.dropExchange(r.Exchange)
			continue
		case !wanted && !r.OfSource():
			v.early.add(r)
			continue
		case !r.OfSource() && len(v.early.of) > 0:
			for _, held := range v.early.takeRecords(r.Exchange) {
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

// deliverEnds passes on that exchanges end because of us. Those of which nothing was new are nobody's concern.
func (v *View) deliverEnds(yield func(capture.Record, error) bool, recs []capture.Record) bool {
	recs = slices.DeleteFunc(recs, func(r capture.Record) bool {
		_, is := v.early.of[r.Exchange]
		if is = is && !r.OfSource(); is && r.End != "" {
			v.early.dropExchange(r.Exchange)
		}
		return is
	})
	return v.deliverRecords(yield, recs, true)
}

// endOpen ends what is open because all that was wanted was read.
func (v *View) endOpen(yield func(capture.Record, error) bool) *jetstream.ConsumerConfig {
	var recs []capture.Record
	for _, f := range v.order {
		recs = f.feed.Close(recs)
	}
	recs = v.index.endOpen(recs)
	if v.deliverRead(yield, true) {
		v.deliverEnds(yield, recs)
	}
	return nil
}
