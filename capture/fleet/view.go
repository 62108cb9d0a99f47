package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"toolscope/capture"
)

const (
	headsBefore = 10 * time.Minute // a view begins so much earlier, to find where exchanges begin
	backBy      = 3 * time.Minute  // and so much before what it read last, where the hub forgot that
	silence     = 30 * time.Second // without a sign of a host: it is said to be silent
	mostPulled  = 1024             // messages that are asked for at once
	pulledBytes = 16 << 20         // and their bytes: one that has more never comes, so it is beyond mostSpan
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
	read   mark                 // the message that was read last
	passed atomic.Pointer[mark] // the one of which everything was passed on last
	made   int64
	jumped uint64 // messages that are still to come of a jump, see jump
	recs   []capture.Record
	took   int64 // bytes of captures that were read
	some   *some // where only some calls are wanted

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

// Open connects to a hub. It fails where nobody answers.
func Open(ctx context.Context, of Address, auth Auth) (*View, error) { return open(ctx, of, auth) }

// open is Open with options of the connection.
func open(ctx context.Context, of Address, auth Auth, more ...nats.Option) (*View, error) {
	v := &View{of: of, quiet: silence, opened: time.Now(), flows: map[string]*flow{}, early: map[int][]capture.Record{}, hosts: map[string]*Host{}, heard: map[string]time.Time{}}
	var err error
	if v.link, err = dial(of.Server, auth, false, func() {}, func(error) {}, more...); err != nil {
		return nil, err
	}
	fail := func(err error) (*View, error) {
		v.link.Close()
		return nil, fmt.Errorf("hub %s: %w", of.Server, err)
	}
	if of.IsIndexed() {
		if v.some, err = newSome(ctx, v.link); err != nil {
			return fail(err)
		}
	}
	e, err := v.extent(ctx)
	if err != nil {
		return fail(plainReason(err))
	}
	if v.stream, err = v.link.js.Stream(ctx, v.name()); err != nil {
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
	messages, err := consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(mostPulled, pulledBytes), jetstream.PullExpiry(10*time.Second), jetstream.PullHeartbeat(3*time.Second))
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
			if more, next := v.take(ctx, msg, meta, yield); !more || next != nil {
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
func (v *View) take(ctx context.Context, msg jetstream.Msg, meta *jetstream.MsgMetadata, yield func(capture.Record, error) bool) (more bool, next *jetstream.ConsumerConfig) {
	before, missing, ok := v.read.seq, false, true
	v.read = mark{meta.Sequence.Stream, msg.Subject(), meta.Timestamp}
	if v.some != nil {
		ok = v.takeCall(ctx, msg, yield)
	} else {
		missing = v.feed(msg, meta)
	}
	v.count(msg, meta)
	ok = ok && v.pass(yield, !meta.Timestamp.Before(v.since))
	passed := v.read
	v.passed.Store(&passed)
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

// say adds a note about the source.
func (v *View) say(text string) {
	v.recs = append(v.recs, capture.Record{Exchange: 1, At: capture.NoTime, Note: text})
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
	recs = v.some.close(recs)
	v.deliver(yield, recs, true)
	return nil
}
