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
	stood       = 5 * time.Second  // between two looks at the hosts: we stood still, not they
	mostPulled  = 1024             // messages that are asked for at once
	pulledBytes = 16 << 20         // and their bytes, unless a message may have more: such a one would never come
	pullTime    = 10 * time.Second // how long the hub waits for those
	lookTime    = time.Second      // how often it is looked whether something is the matter
	mostStill   = 10               // looks without a message, after which the hub is asked whether there is one
	fewStill    = 2                // the same, where there is an end to be found
	patience    = 30 * time.Second // without an answer of the hub, where there is an end: it is not reached any more
)

// A View reads the captures of a hub as one source.
type View struct {
	link   *link
	stream jetstream.Stream
	of     Address
	now    func() time.Time // our clock
	opened time.Time        // by it: before that nobody was heard
	since  time.Time        // by the hub's clock: exchanges of which nothing is newer are not wanted
	until  time.Time        // by the same: messages behind it are not wanted; zero for no such time
	begins time.Time        // by the same: what began later has to be there from its beginning
	last   uint64           // the last message that is wanted; 0 for no end

	quiet    time.Duration // without a sign, after which a host is silent
	look     time.Duration
	most     int // bytes that are asked for at once
	least    int // and that at least, so that any message comes
	pull     time.Duration
	patience time.Duration

	feeds  capture.Feeds
	flows  map[string]*flow // by subject
	order  []*flow          // as they were seen first
	past   recent[string, int64]
	early  early
	read   mark                 // the message that was read last
	passed uint64               // the last message of which it is known what became of it and of those before it; 0 if nothing is
	holes  time.Time            // when numbers were left out last of which no message was lost
	waits  uint64               // messages that the hub had to send then
	pruned time.Time            // when what is over was forgotten last
	jumped uint64               // messages that are still to come of a jump, see jump
	given  atomic.Pointer[mark] // the message of which everything was passed on last
	recs   []capture.Record
	took   int64     // bytes of captures that were read
	moved  time.Time // when the last message was read
	some   *some     // where only some calls are wanted
	closed atomic.Bool

	mu        sync.Mutex
	state     State
	summed    time.Time // when state was last made of what the machines do
	clock     clock
	made      int64     // the connection that is read from
	listening time.Time // since when nothing kept us from hearing signs, as far as was known when
	looked    time.Time // it was looked for that last
	machines  map[string]*machine
	told      map[origin]*told
	rate      meter
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
	return openAt(ctx, of, auth, time.Now, more...)
}

// openAt is open with a clock.
func openAt(ctx context.Context, of Address, auth Auth, now func() time.Time, more ...nats.Option) (*View, error) {
	v := &View{
		of: of, now: now, quiet: silence, look: lookTime, pull: pullTime, most: pulledBytes, patience: patience,
		flows: map[string]*flow{}, machines: map[string]*machine{}, told: map[origin]*told{},
	}
	var err error
	if v.link, err = dial(of.Server, auth, false, func() {}, v.trouble, more...); err != nil {
		return nil, err
	}
	v.least = int(v.link.MaxPayload()) + 64<<10 // with what a message has beside its bytes
	if err := v.begin(ctx); err != nil {
		v.link.Close()
		return nil, fmt.Errorf("hub %s: %w", of.Server, err)
	}
	return v, nil
}

// Server is the hub that is read.
func (v *View) Server() string { return v.of.Server }

// begin asks the hub what there is of what is wanted.
func (v *View) begin(ctx context.Context) (err error) {
	if v.of.IsIndexed() {
		if v.some, err = newSome(ctx, v.link); err != nil {
			return err
		}
	}
	e, err := v.extent(ctx)
	if err != nil {
		return plainReason(err)
	}
	if v.stream, err = v.link.js.Stream(ctx, v.name()); err != nil {
		return plainReason(err)
	}
	v.mu.Lock()
	now := v.clock.hubs
	v.mu.Unlock()
	if v.since, v.until, err = v.of.times(now); err != nil {
		return err
	}
	if !v.of.Until.IsZero() {
		v.last = max(1, e.last)
	}
	if v.of.Until.isNow() {
		v.until = time.Time{} // the last message says it, whatever the clock was set to since
	}
	if !v.of.All {
		v.begins = v.since.Add(-headsBefore)
	}
	if e.first > 1 && e.firstAt.After(v.begins) {
		v.begins = e.firstAt // before that the hub let go of what there was
	}
	v.opened = v.now()
	_, err = v.link.Subscribe(wanted(healthKind, v.of.Host, v.of.Agent), v.health)
	return err
}

// Source reads what is wanted, once. It ends with ctx, or where the address says so; with an error where
// there is an end and the hub is not there any more to tell it.
func (v *View) Source(ctx context.Context) capture.Source {
	return func(yield func(capture.Record, error) bool) {
		defer func() {
			v.closed.Store(true)
			v.link.Close()
		}()
		v.moved = v.now() // others may have been read first
		v.mu.Lock()
		v.listening = v.now()
		v.mu.Unlock()
		var start *jetstream.ConsumerConfig
		for ctx.Err() == nil {
			if start == nil {
				var err error
				if start, err = v.resume(ctx); err != nil {
					v.trouble(err)
					pause(ctx, time.Second/4)
				}
			}
			if start != nil {
				more := false
				if more, start = v.follow(ctx, *start, yield); !more {
					return
				}
			}
			if err := v.lostPatience(); err != nil && ctx.Err() == nil {
				yield(capture.Record{}, err)
				return
			}
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
		v.trouble(err)
		pause(ctx, time.Second/4)
		return true, nil
	}
	info := consumer.CachedInfo()
	defer v.forget(info.Name)
	switch {
	case info.NumPending == 0 && v.last > 0:
		return false, v.close(yield)
	case info.NumPending == 0:
		v.trouble(nil)
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(mostPulled, max(v.most, v.least)), jetstream.PullExpiry(v.pull), jetstream.PullHeartbeat(v.pull*3/10))
	if err != nil {
		v.trouble(err)
		return true, nil
	}
	defer messages.Stop()
	defer context.AfterFunc(ctx, messages.Stop)()
	if v.jumped = 0; config.DeliverPolicy == jetstream.DeliverLastPerSubjectPolicy {
		v.jumped = info.NumPending
	} else if v.passed == 0 {
		v.passed = info.Delivered.Stream
	}
	return v.readAll(ctx, consumer, messages, yield)
}

// readAll reads the messages of a consumer. It reports what follow does.
func (v *View) readAll(ctx context.Context, consumer jetstream.Consumer, messages jetstream.MessagesContext, yield func(capture.Record, error) bool) (more bool, next *jetstream.ConsumerConfig) {
	var still stillness
	at := uint64(1) // what the consumer's next message is numbered
	for looked := v.now(); ; {
		msg, err := messages.Next(jetstream.NextMaxWait(v.look))
		switch {
		case ctx.Err() != nil:
			return false, nil
		case v.link.made.Load() != v.made:
			return true, nil
		case errors.Is(err, nats.ErrTimeout):
			switch v.still(ctx, &still, consumer, at-1) {
			case atEnd:
				return false, v.close(yield)
			case broken:
				return true, nil
			}
		case err != nil:
			v.trouble(err)
			return true, nil
		default:
			still = stillness{}
			meta, err := msg.Metadata()
			if err != nil || meta.Sequence.Consumer != at {
				return true, nil // one was lost on the way
			}
			at++
			if more, next := v.take(ctx, msg, meta, yield); !more || next != nil {
				return more, next
			}
		}
		if now := v.now(); now.Sub(looked) >= v.look {
			if now.Sub(looked) > stood {
				v.listen(ctx)
			}
			looked = now
			if !v.lookForSilent(now, yield) {
				return false, nil
			}
		}
	}
}

// forget has the hub forget a consumer now, and not when it is not used for a while.
func (v *View) forget(consumer string) {
	if v.link.IsConnected() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = v.stream.DeleteConsumer(ctx, consumer)
	}
}
