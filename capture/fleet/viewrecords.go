package fleet

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"toolscope/capture"
	"toolscope/stream/count"
)

// captureState is the state of one capture.
type captureState struct {
	subjectParts
	subject string
	feed    *capture.Feed
	next    int64 // offset of the next byte
	silent  bool
	broken  bool // whether the capture can't be read any further
}

// feedMessage reads the records of a message. It reports whether bytes before the message were lost.
func (v *View) feedMessage(msg jetstream.Msg, meta *jetstream.MsgMetadata, wanted bool) (missing bool) {
	o, ok := originOf(msg.Subject())
	if !ok || o.version != version {
		v.reportNewer(msg.Subject())
		return false
	}
	f := v.captureFor(o, msg.Subject())
	f.silent = false
	if f.broken {
		return false
	}
	s, err := parseSpan(msg.Headers().Get(headSpan))
	var data []byte
	if err == nil {
		data, err = decompress(msg.Headers().Get(headEnc), msg.Data(), s)
	}
	if err != nil {
		v.reportInvalid(f.subjectParts, err)
		return false
	}
	switch {
	case s.to <= f.next:
		return false // a repeated message
	case s.from < f.next:
		data = data[f.next-s.from:]
	case s.from > f.next:
		missing = v.noteGap(f, s.from-f.next, msg, meta, wanted)
	}
	f.next = s.to
	v.bytesRead += int64(len(data))
	recs, err := f.feed.Write(v.recs, data)
	v.recs = recs
	if err != nil {
		f.broken = true
		v.reportInvalid(f.subjectParts, err)
	}
	return missing
}

// reportNewer counts and reports a message of a newer version.
func (v *View) reportNewer(subject string) {
	v.mu.Lock()
	v.state.Newer++
	first := v.state.Newer == 1
	v.mu.Unlock()
	if first {
		v.addNote("a message from another toolscope version: " + subject)
	}
}

// captureFor returns the capture of a subject. If the capture was dropped, it continues at its last offset.
func (v *View) captureFor(o subjectParts, subject string) *captureState {
	f := v.captures[subject]
	if f == nil {
		next, _ := v.past.get(subject)
		f = &captureState{subjectParts: o, subject: subject, next: next, feed: v.feeds.OpenAt(machineOf(o), v.runKey(o), next)}
		v.captures[subject] = f
		v.order = append(v.order, f)
	}
	return f
}

// machineOf returns the machine of a capture.
func machineOf(o subjectParts) capture.Machine { return capture.Machine{Host: o.host, Agent: o.agent} }

// runKey returns a key that is unique for a capture, even with several hubs.
func (v *View) runKey(o subjectParts) string {
	return v.of.Server + " " + captureSubject(bytesKind, o.host, o.agent, o.id)
}

// noteGap records that bytes are missing. It reports whether they were lost. Bytes missing at the start of a capture
// don't count as lost if the capture is older than the view. Losses before the requested time are not counted.
func (v *View) noteGap(f *captureState, n int64, msg jetstream.Msg, meta *jetstream.MsgMetadata, wanted bool) (lost bool) {
	created, err := time.Parse(time.RFC3339Nano, msg.Headers().Get(headCreated))
	inView := err == nil && !created.IsZero() && created.Add(-skewOf(msg.Headers(), meta.Timestamp)).After(v.begins) // by the hub's clock
	lost = f.next > 0 || inView
	why := "never arrived: the hub deleted them or never received them"
	v.recs = f.feed.AddGap(v.recs, n, why)
	if lost && wanted {
		v.countLost(f.subjectParts, n, why)
	}
	return lost
}

// countLost counts and reports bytes that never arrived. The note ends with the reason, which is the parameter why.
func (v *View) countLost(of subjectParts, n int64, why string) {
	v.mu.Lock()
	v.state.Lost += min(n, math.MaxInt64-v.state.Lost)
	v.state.Gaps++
	v.mu.Unlock()
	v.addCaptureNote(of, fmt.Sprintf("gap: %d bytes of %s/%s %s", n, of.host, of.agent, why))
}

// skewOf returns how far a machine's clock is ahead of the hub's clock, or 0 if a message doesn't show it.
func skewOf(h nats.Header, at time.Time) time.Duration {
	sent, err := strconv.ParseInt(h.Get(headSent), 10, 64)
	if err != nil {
		return 0
	}
	return time.UnixMilli(sent).Sub(at)
}

// reportInvalid counts an invalid message. Its bytes become a gap when the next message arrives.
func (v *View) reportInvalid(of subjectParts, err error) {
	v.mu.Lock()
	v.state.Invalid++
	v.mu.Unlock()
	v.addCaptureNote(of, fmt.Sprintf("%s/%s: invalid message: %v", of.host, of.agent, err))
}

// maxEarlyBytes is the maximum number of bytes that are kept of exchanges without a record in the requested
// time.
const maxEarlyBytes = 256 << 20

// earlyRecords keeps records of exchanges from before the requested time. They are passed on once their exchange has
// a record within that time.
type earlyRecords struct {
	of    map[int]*earlyExchange
	order []int // exchanges in the order in which they began; some may be dropped
	bytes int64
}

type earlyExchange struct {
	recs  []capture.Record
	bytes int64
	shed  int64 // number of bytes that were dropped
}

// recordCost is the memory that a record needs in addition to its bytes.
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
			// Drop the exchange's bytes and keep its heads.
			e.bytes -= oldest.bytes
			oldest.bytes = 0
			for _, r := range oldest.recs {
				oldest.shed += int64(len(r.Data))
			}
			oldest.shed = max(1, oldest.shed)
			oldest.recs = slices.DeleteFunc(oldest.recs, func(r capture.Record) bool { return r.Head == nil })
			for i := range oldest.recs {
				oldest.recs[i].Data = nil
			}
		}
	}
}

// dropExchange drops an exchange, if it is there.
func (e *earlyRecords) dropExchange(exchange int) {
	h := e.of[exchange]
	if h == nil {
		return
	}
	e.bytes -= h.bytes
	delete(e.of, exchange)
	if len(e.of) == 0 {
		e.order = nil
	} else if len(e.order) > 2*len(e.of)+maxPulledMessages {
		e.order = slices.DeleteFunc(e.order, func(x int) bool { return e.of[x] == nil })
	}
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

// handleMessage reads a message. At the end, the result more is false. If the result next is not nil, reading
// continues with another consumer.
func (v *View) handleMessage(ctx context.Context, msg jetstream.Msg, meta *jetstream.MsgMetadata, yield func(capture.Record, error) bool) (more bool, next *jetstream.ConsumerConfig) {
	before, missing, ok, wanted := v.read.seq, false, true, !meta.Timestamp.Before(v.since)
	skipped := v.onSequence(ctx, meta.Sequence.Stream, meta.Timestamp)
	if v.last > 0 && meta.Sequence.Stream > v.last || !v.until.IsZero() && meta.Timestamp.After(v.until) {
		return false, v.endOpen(ctx, yield)
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
		return false, v.endOpen(ctx, yield)
	case v.jumped > 0:
		v.jumped--
	case (missing || skipped) && v.last == 0 && v.isOverrun(ctx, before, meta):
		c := v.consumerConfig()
		c.DeliverPolicy = jetstream.DeliverLastPerSubjectPolicy
		return true, &c
	}
	return true, nil
}

// lastReport is the state of the notes about a capture.
type lastReport struct {
	pace capture.Backoff
	more int // number of notes left out since the last one
}

// These are the intervals between notes about one capture. While trouble continues, the interval doubles up to the
// maximum. Notes that are left out are counted.
const (
	minNoteInterval = time.Second
	maxNoteInterval = 5 * time.Minute
)

// addNote adds a note about the source.
func (v *View) addNote(text string) {
	v.recs = append(v.recs, capture.Record{Exchange: 1, At: capture.NoTime, Note: text})
}

// addCaptureNote adds a note about a capture, unless the previous one is too recent.
func (v *View) addCaptureNote(of subjectParts, text string) {
	t, now := v.lastReports[of], v.now()
	if t == nil {
		t = &lastReport{pace: capture.Backoff{First: minNoteInterval, Max: maxNoteInterval}}
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

// deliverRead delivers the records that were read. It returns false if yield returned false.
func (v *View) deliverRead(yield func(capture.Record, error) bool, wanted bool) bool {
	ok := v.deliverRecords(yield, v.recs, wanted)
	clear(v.recs)
	v.recs = v.recs[:0]
	return ok
}

// deliverRecords passes records on. Records from before the requested time wait until their exchange has a record
// within the requested time. If the exchange ends first, they are dropped. The result is false if yield returned
// false.
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

// deliverEnds passes on the ends that the view itself adds to exchanges. It drops exchanges without records in
// the requested time. It returns false if yield returned false.
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

// endOpen ends the open exchanges at the end of the view. It always returns a nil config, because no consumer
// follows.
func (v *View) endOpen(ctx context.Context, yield func(capture.Record, error) bool) *jetstream.ConsumerConfig {
	// Count the messages at the end of the view's range that the hub can no longer read.
	if v.last != 0 && v.until.IsZero() && v.readsAll() {
		if e, err := v.askExtent(ctx); err == nil && e.first > 0 && v.passed > 0 {
			v.passed = max(v.passed, e.first-1)
			v.countUnreadable(ctx, min(v.last, e.last), time.Time{})
		}
	}
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

// These constants set how long state is kept. Afterwards, only the last offset of each capture is kept, in
// case the capture continues.
const (
	keepOver   = 10 * time.Minute // after the last read of a capture without open exchanges
	keepSilent = time.Hour        // after the last read of a machine that gave signs of life and did not end normally
	pruneEvery = time.Minute
)

// lookForSilent ends the open exchanges of captures whose senders have given no sign of life for v.quiet. It
// also passes on the records that were read, and drops old state. It returns false if yield returned false.
func (v *View) lookForSilent(now time.Time, yield func(capture.Record, error) bool) bool {
	if !v.deliverRead(yield, true) {
		return false
	}
	if v.last > 0 {
		return true // a view with an end doesn't wait for more data from a machine
	}
	var recs []capture.Record
	v.mu.Lock()
	v.looked = now
	if v.couldHear(now) { // otherwise our connection may be the cause of the silence
		recs = v.cutSilent(now)
	}
	if now.Sub(v.pruned) > pruneEvery {
		v.pruned = now
		v.pruneStale(now)
	}
	v.mu.Unlock()
	return v.deliverEnds(yield, recs)
}

// cutSilent ends the open exchanges of silent captures.
func (v *View) cutSilent(now time.Time) (recs []capture.Record) {
	if v.state.Lag > v.quiet {
		return nil // unread data may be waiting
	}
	for _, f := range v.order {
		m := v.machines[f.host]
		if f.silent || m == nil || m.of[f.id] != nil && now.Sub(m.of[f.id].heard) < v.quiet {
			continue
		}
		if f.silent = true; f.feed.CountOpen() > 0 {
			m.owes = true
			recs = f.feed.Cut(recs, v.cutReason(f.subjectParts))
		}
	}
	return v.index.cutSilent(recs, v, now)
}

// cutSilent ends open exchanges whose bytes no longer arrive and whose senders give no sign of life, even if they
// never gave one.
func (s *indexReader) cutSilent(recs []capture.Record, v *View, now time.Time) []capture.Record {
	if s == nil {
		return recs
	}
	s.open = slices.DeleteFunc(s.open, func(f *foundExchange) bool {
		heard := f.read
		if m := v.machines[f.host]; m != nil && m.of[f.id] != nil && m.of[f.id].heard.After(heard) {
			heard = m.of[f.id].heard
		}
		if now.Sub(heard) < v.quiet {
			return false
		}
		recs = f.feed.Cut(recs, v.cutReason(f.subjectParts))
		return true
	})
	return recs
}

// cutReason returns the reason why the open exchanges of a capture are cut.
func (v *View) cutReason(o subjectParts) string {
	return fmt.Sprintf("no sign of %s/%s for %s", o.host, o.agent, v.quiet)
}

// pruneStale drops captures, machines and reports that have been inactive for a long time.
func (v *View) pruneStale(now time.Time) {
	v.order = slices.DeleteFunc(v.order, func(f *captureState) bool {
		if m := v.machines[f.host]; m != nil && m.of[f.id] != nil && now.Sub(m.of[f.id].read) < keepOver || f.broken || !f.feed.Idle() {
			return false
		}
		v.past.add(f.subject, f.next)
		delete(v.captures, f.subject)
		return true
	})
	for name, m := range v.machines {
		m.Ended = m.hasEnded()
		for id, s := range m.of {
			if now.Sub(s.read) >= keepOver {
				m.Spooled -= s.spooled
				delete(m.of, id)
			}
		}
		if len(m.of) == 0 && (m.Ended || !m.alive || now.Sub(m.read) > keepSilent) {
			delete(v.machines, name)
		}
	}
	for of, t := range v.lastReports {
		if now.Sub(t.pace.LastReport) > keepOver {
			delete(v.lastReports, of)
		}
	}
}

// rateMeter measures a rate per second over the last few seconds.
type rateMeter struct {
	second int64
	counts [4]int
}

func (m *rateMeter) add(now time.Time, n int) {
	m.advance(now)
	m.counts[m.second%int64(len(m.counts))] += n
}

func (m *rateMeter) advance(now time.Time) {
	second := now.Unix()
	for s := max(m.second+1, second-int64(len(m.counts))+1); s <= second; s++ {
		m.counts[s%int64(len(m.counts))] = 0
	}
	m.second = max(m.second, second)
}

// perSecond returns the rate over the complete seconds.
func (m *rateMeter) perSecond(now time.Time) float64 {
	m.advance(now)
	sum := 0
	for i, n := range m.counts {
		if int64(i) != m.second%int64(len(m.counts)) {
			sum += n
		}
	}
	return float64(sum) / float64(len(m.counts)-1)
}
