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

// maxEarlyBytes is how many bytes are kept of exchanges that have no record in the requested time yet.
const maxEarlyBytes = 256 << 20

// earlyRecords holds records of exchanges from before the requested time. They are passed on once their
// exchange has a record within it.
type earlyRecords struct {
	of    map[int]*earlyExchange
	order []int // exchanges, in the order they began; some may be gone
	bytes int64
}

type earlyExchange struct {
	recs  []capture.Record
	bytes int64
	shed  int64 // bytes that were dropped
}

// recordCost is the memory of a record without its bytes.
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

// dropData drops an exchange's bytes and keeps its heads.
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

// dropExchange drops an exchange, and reports whether it was there.
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

// takeRecords removes and returns the records of an exchange.
func (e *earlyRecords) takeRecords(exchange int) []capture.Record {
	h := e.of[exchange]
	if h == nil {
		return nil
	}
	recs := h.recs
	if h.shed > 0 {
		recs = append(recs, capture.Record{
			Exchange: exchange, At: capture.NoTime, Lost: h.shed,
			Note: fmt.Sprintf("joined midway: the part before the requested time, %s, is too large to keep", count.Of(h.shed, "byte")),
		})
	}
	e.dropExchange(exchange)
	return recs
}

// handleMessage reads a message. It reports false at the end. next is another consumer to continue with.
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

// lastReport is the state of notes about a capture.
type lastReport struct {
	pace backoff.Backoff
	more int // notes left out since the last one
}

// Intervals of notes about one capture. If trouble goes on, the interval doubles up to the maximum. Notes
// that are left out are counted.
const (
	minNoteInterval = time.Second
	maxNoteInterval = 5 * time.Minute
)

// addNote adds a note about the source.
func (v *View) addNote(text string) {
	v.recs = append(v.recs, capture.Record{Exchange: 1, At: capture.NoTime, Note: text})
}

// addCaptureNote adds a note about a capture, unless the last one is too recent.
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
		text += fmt.Sprintf(" (%s left out before this)", count.Of(t.more, "note"))
	}
	t.more = 0
	v.addNote(text)
}

// deliverRead delivers the records that were read.
func (v *View) deliverRead(yield func(capture.Record, error) bool, wanted bool) bool {
	ok := v.deliverRecords(yield, v.recs, wanted)
	clear(v.recs)
	v.recs = v.recs[:0]
	return ok
}

// deliverRecords passes records on. Records from before the requested time wait for a later one of their
// exchange.
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

// deliverEnds passes on the ends that the view itself gives to exchanges. It drops exchanges without records
// in the requested time.
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

// endOpen ends the open exchanges at the end of the view.
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
