package fleet

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"toolscope/capture"
)

const (
	headsBefore = 10 * time.Minute // a view begins so much earlier, to find where exchanges begin
	backBy      = 3 * time.Minute  // and so much before what it read last, where the hub forgot that
	silence     = 30 * time.Second // without a sign of a host: it is said to be silent
	mostPulled  = 128              // messages that wait here
)

// A View reads the captures of a hub as one source.
type View struct {
	link   *link
	stream jetstream.Stream
	quiet  time.Duration // without a sign, after which a host is silent
	of     Address
	opened time.Time
	since  time.Time // by the hub's clock: exchanges of which nothing is newer are not wanted
	until  uint64    // the last message that is wanted; 0 for no end

	feeds  capture.Feeds
	flows  map[string]*flow // by subject
	order  []*flow          // as they were seen first
	early  map[int][]capture.Record
	read   mark // the message that was read last
	made   int64
	jumped uint64 // messages that are still to come of a jump, see jump
	recs   []capture.Record
	took   int64 // bytes of captures that were read

	mu    sync.Mutex
	state State
	hosts map[string]*Host
	heard map[string]time.Time // of captures, by their id
	rate  meter
}

// mark is a message: after a hub forgot some, another one may have its number.
type mark struct {
	seq     uint64
	subject string
	at      time.Time
}

// flow is one capture.
type flow struct {
	origin
	subject string
	feed    *capture.Feed
	next    int64 // offset of what comes next
	silent  bool
	broken  bool // it cannot be read any further
}

// Open connects to a hub. It fails where nobody answers.
func Open(ctx context.Context, of Address, auth Auth) (*View, error) {
	v := &View{of: of, quiet: silence, opened: time.Now(), flows: map[string]*flow{}, early: map[int][]capture.Record{}, hosts: map[string]*Host{}, heard: map[string]time.Time{}}
	var err error
	if v.link, err = dial(of.Server, auth, false, func() {}, func(error) {}); err != nil {
		return nil, err
	}
	fail := func(err error) (*View, error) {
		v.link.Close()
		return nil, fmt.Errorf("hub %s: %w", of.Server, err)
	}
	e, err := v.link.extent(ctx)
	if errors.Is(err, nats.ErrNoResponders) {
		err = errors.New("it has no JetStream, or does not let us ask")
	}
	if err != nil {
		return fail(err)
	}
	if v.stream, err = v.link.js.Stream(ctx, StreamName); err != nil {
		return fail(plainReason(err))
	}
	if !of.Until.IsZero() {
		v.until = max(1, e.last)
	}
	if !of.All {
		v.since = v.opened.Add(-of.Since)
	}
	if _, err := v.link.Subscribe(wanted(healthKind, of.Host, of.Agent), v.health); err != nil {
		return fail(err)
	}
	return v, nil
}

// Source reads what is wanted, once. It ends with ctx, or where the address says so.
func (v *View) Source(ctx context.Context) capture.Source {
	return func(yield func(capture.Record, error) bool) {
		defer v.link.Close()
		var start *jetstream.ConsumerConfig
		for ctx.Err() == nil {
			if start == nil {
				var err error
				if start, err = v.resume(ctx); err != nil {
					pause(ctx, time.Second/4)
					continue
				}
			}
			more, next := v.follow(ctx, *start, yield)
			if !more {
				return
			}
			start = next
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// consumer is what every one of ours has.
func (v *View) consumer() jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		FilterSubject: wanted(bytesKind, v.of.Host, v.of.Agent), AckPolicy: jetstream.AckNonePolicy,
		MemoryStorage: true, Replicas: 1, InactiveThreshold: 5 * time.Minute,
	}
}

// from is a consumer that begins at a time of the hub.
func (v *View) from(at time.Time) *jetstream.ConsumerConfig {
	c := v.consumer()
	c.DeliverPolicy, c.OptStartTime = jetstream.DeliverByStartTimePolicy, &at
	return &c
}

// resume is where to go on, which is behind the message that was read last. A hub that has another
// one in its place, or none, has forgotten some: it is read again from a while before that, and the
// offsets tell what of that is known.
func (v *View) resume(ctx context.Context) (*jetstream.ConsumerConfig, error) {
	v.made = v.link.made.Load()
	c := v.consumer()
	switch {
	case v.read.seq == 0 && v.of.All:
		c.DeliverPolicy = jetstream.DeliverAllPolicy
		return &c, nil
	case v.read.seq == 0:
		return v.from(v.since.Add(-headsBefore)), nil
	}
	c.DeliverPolicy, c.OptStartSeq = jetstream.DeliverByStartSequencePolicy, v.read.seq+1
	msg, err := v.stream.GetMsg(ctx, v.read.seq)
	switch {
	case err == nil && msg.Subject == v.read.subject && msg.Time.Equal(v.read.at):
		return &c, nil
	case err == nil:
		return v.from(v.read.at.Add(-backBy)), nil
	case !errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, err
	}
	e, err := v.link.extent(ctx)
	if err != nil {
		return nil, err
	}
	if e.first > v.read.seq { // it had its time
		return &c, nil
	}
	return v.from(v.read.at.Add(-backBy)), nil
}

// follow reads what a consumer brings. It reports false at the end; next is another consumer to go
// on with, nil if that has to be found out.
func (v *View) follow(ctx context.Context, config jetstream.ConsumerConfig, yield func(capture.Record, error) bool) (more bool, next *jetstream.ConsumerConfig) {
	made, cancel := context.WithTimeout(ctx, wait)
	consumer, err := v.stream.CreateConsumer(made, config)
	cancel()
	if err != nil {
		pause(ctx, time.Second/4)
		return true, nil
	}
	defer func() {
		if v.link.IsConnected() {
			forget, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_ = v.stream.DeleteConsumer(forget, consumer.CachedInfo().Name) // else the hub does, later
		}
	}()
	if v.until > 0 && consumer.CachedInfo().NumPending == 0 {
		return false, v.close(yield)
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(mostPulled), jetstream.PullExpiry(10*time.Second), jetstream.PullHeartbeat(3*time.Second))
	if err != nil {
		return true, nil
	}
	defer messages.Stop()
	defer context.AfterFunc(ctx, messages.Stop)()
	if v.jumped = 0; config.DeliverPolicy == jetstream.DeliverLastPerSubjectPolicy {
		v.jumped = consumer.CachedInfo().NumPending
	}
	at := uint64(1) // what the consumer's next message is numbered
	for looked := time.Now(); ; {
		msg, err := messages.Next(jetstream.NextMaxWait(time.Second))
		switch {
		case ctx.Err() != nil:
			return false, nil
		case v.link.made.Load() != v.made:
			return true, nil
		case errors.Is(err, nats.ErrTimeout):
		case err != nil:
			return true, nil
		}
		if err == nil {
			meta, err := msg.Metadata()
			if err != nil || meta.Sequence.Consumer != at {
				return true, nil // one was lost on the way
			}
			at++
			if more, next := v.take(msg, meta, yield); !more || next != nil {
				return more, next
			}
		}
		if now := time.Now(); now.Sub(looked) > time.Second {
			looked = now
			if !v.lookForSilent(now, yield) {
				return false, nil
			}
		}
	}
}

// take reads a message. It reports false at the end; next is another consumer to go on with.
func (v *View) take(msg jetstream.Msg, meta *jetstream.MsgMetadata, yield func(capture.Record, error) bool) (more bool, next *jetstream.ConsumerConfig) {
	before := v.read.seq
	v.read = mark{meta.Sequence.Stream, msg.Subject(), meta.Timestamp}
	missing := v.feed(msg, meta)
	v.count(msg, meta)
	ok := v.deliver(yield, v.recs, !meta.Timestamp.Before(v.since))
	clear(v.recs)
	v.recs = v.recs[:0]
	switch {
	case !ok:
		return false, nil
	case v.until > 0 && (meta.Sequence.Stream >= v.until || meta.NumPending == 0):
		return false, v.close(yield)
	case v.jumped > 0:
		v.jumped--
	case missing && v.until == 0 && v.overrun(before):
		c := v.consumer()
		c.DeliverPolicy = jetstream.DeliverLastPerSubjectPolicy
		return true, &c
	}
	return true, nil
}

// overrun reports whether the hub lets go of messages before they are read: it would go on like
// that, so the view jumps to the last message of each capture. What is missing shows in those.
func (v *View) overrun(read uint64) bool {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	e, err := v.link.extent(ctx)
	return err == nil && e.first > read+1
}

// feed makes records of a message. It reports whether something before it is missing.
func (v *View) feed(msg jetstream.Msg, meta *jetstream.MsgMetadata) (missing bool) {
	o, ok := originOf(msg.Subject())
	if !ok || o.version != version {
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.state.Newer++; v.state.Newer == 1 {
			v.say("of another version of toolscope: " + msg.Subject())
		}
		return false
	}
	f := v.flow(o, msg.Subject())
	f.silent = false
	if f.broken {
		return false
	}
	s, err := parseSpan(msg.Headers().Get(headSpan))
	var data []byte
	if err == nil {
		data, err = unpack(msg.Headers().Get(headEnc), msg.Data(), s)
	}
	if err != nil {
		v.spoilt(f, err)
		return false
	}
	switch {
	case s.to <= f.next:
		return false // a message that was there before
	case s.from < f.next:
		data = data[f.next-s.from:]
	case s.from > f.next:
		missing = v.miss(f, s.from-f.next, msg, meta)
	}
	f.next = s.to
	v.took += int64(len(data))
	recs, err := f.feed.Write(v.recs, data)
	v.recs = recs
	if err != nil {
		f.broken = true
		v.spoilt(f, err)
	}
	return missing
}

// flow is the capture of a subject.
func (v *View) flow(o origin, subject string) *flow {
	f := v.flows[subject]
	if f == nil {
		f = &flow{origin: o, subject: subject, feed: v.feeds.New(o.host + "/" + o.agent)}
		v.flows[subject] = f
		v.order = append(v.order, f)
	}
	return f
}

// miss takes that bytes are missing. Before the first ones of a capture that is no loss, if they
// were there before we looked.
func (v *View) miss(f *flow, n int64, msg jetstream.Msg, meta *jetstream.MsgMetadata) (lost bool) {
	lost = f.next > 0 || v.began(msg, meta)
	why := "never came: the hub let go of them, or did not get them"
	v.recs = f.feed.Miss(v.recs, n, why)
	if !lost {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.state.Lost += n
	v.state.Gaps++
	v.say(fmt.Sprintf("gap: %d bytes of %s/%s %s", n, f.host, f.agent, why))
	return true
}

// began reports whether a capture began, by the hub's clock, when we were to see it.
func (v *View) began(msg jetstream.Msg, meta *jetstream.MsgMetadata) bool {
	created, err := time.Parse(time.RFC3339Nano, msg.Headers().Get(headCreated))
	if err != nil || created.IsZero() {
		return false
	}
	return v.of.All || created.Add(-skewOf(msg.Headers(), meta.Timestamp)).After(v.since.Add(-headsBefore))
}

// skewOf is by how much a host's clock is ahead of the hub's.
func skewOf(h nats.Header, at time.Time) time.Duration {
	sent, err := strconv.ParseInt(h.Get(headSent), 10, 64)
	if err != nil {
		return 0
	}
	return time.UnixMilli(sent).Sub(at)
}

// spoilt takes a message that makes no sense. What it should have brought is a gap, when the next
// one comes.
func (v *View) spoilt(f *flow, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.state.Spoilt++
	v.say(fmt.Sprintf("%s/%s: a message makes no sense: %v", f.host, f.agent, err))
}

// say adds a note about the source.
func (v *View) say(text string) {
	v.recs = append(v.recs, capture.Record{Exchange: 1, At: capture.NoTime, Note: text})
}

// deliver passes records on. Those of before the time that is wanted wait until something of their
// exchange is new.
func (v *View) deliver(yield func(capture.Record, error) bool, recs []capture.Record, wanted bool) bool {
	for _, r := range recs {
		switch {
		case !wanted && !r.OfSource() && r.End != "":
			delete(v.early, r.Exchange)
			continue
		case !wanted && !r.OfSource():
			v.early[r.Exchange] = append(v.early[r.Exchange], r)
			continue
		case !r.OfSource() && len(v.early) > 0:
			for _, held := range v.early[r.Exchange] {
				if !yield(held, nil) {
					return false
				}
			}
			delete(v.early, r.Exchange)
		}
		if !yield(r, nil) {
			return false
		}
	}
	return true
}

// close ends what is open because all that was wanted was read.
func (v *View) close(yield func(capture.Record, error) bool) *jetstream.ConsumerConfig {
	clear(v.early) // nothing of those is new
	var recs []capture.Record
	for _, f := range v.order {
		recs = f.feed.Close(recs)
	}
	v.deliver(yield, recs, true)
	return nil
}
