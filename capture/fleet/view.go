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
	headsBefore       = 10 * time.Minute // a view begins so much earlier, to find where exchanges begin
	backBy            = 3 * time.Minute  // and so much before what it read last, where the hub forgot that
	silence           = 30 * time.Second // without a sign of a host: it is said to be silent
	stood             = 5 * time.Second  // between two looks at the hosts: we stood still, not they
	maxPulledMessages = 1024             // messages that are asked for at once
	pulledBytes       = 16 << 20         // and their bytes, unless a message may have more: such a one would never come
	pullTime          = 10 * time.Second // how long the hub waits for those
	lookTime          = time.Second      // how often it is looked whether something is the matter
	maxQuietLooks     = 10               // looks without a message, after which the hub is asked whether there is one
	minQuietLooks     = 2                // the same, where there is an end to be found
	patience          = 30 * time.Second // without an answer of the hub, where there is an end: it is not reached any more
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

	quiet        time.Duration // without a sign, after which a host is silent
	look         time.Duration
	maxPullBytes int // bytes that are asked for at once
	minPullBytes int // and that at least, so that any message comes
	pull         time.Duration
	patience     time.Duration

	feeds     capture.Feeds
	captures  map[string]*captureState // by subject
	order     []*captureState          // as they were seen first
	past      recentKeys[string, int64]
	early     earlyRecords
	read      messageMark                 // the message that was read last
	passed    uint64                      // the last message of which it is known what became of it and of those before it; 0 if nothing is
	holes     time.Time                   // when numbers were left out last of which no message was lost
	waits     uint64                      // messages that the hub had to send then
	pruned    time.Time                   // when what is over was forgotten last
	jumped    uint64                      // messages that are still to come of a jump, see jump
	delivered atomic.Pointer[messageMark] // the message of which everything was passed on last
	recs      []capture.Record
	bytesRead int64        // bytes of captures that were read
	moved     time.Time    // when the last message was read
	index     *indexReader // where only some calls are wanted
	closed    atomic.Bool

	mu          sync.Mutex
	state       State
	summed      time.Time // when state was last made of what the machines do
	clock       clock
	made        int64     // the connection that is read from
	listening   time.Time // since when nothing kept us from hearing signs, as far as was known when
	looked      time.Time // it was looked for that last
	machines    map[string]*machine
	lastReports map[subjectParts]*lastReport
	rate        rateMeter
}

// messageMark is a message: after a hub forgot some, another one may have its number.
type messageMark struct {
	seq     uint64
	subject string
	at      time.Time
}

// Open connects to a hub. It fails where nobody answers.
func Open(ctx context.Context, of Address, auth Credentials) (*View, error) {
	return openView(ctx, of, auth)
}

// openView is Open with options of the connection.
func openView(ctx context.Context, of Address, auth Credentials, more ...nats.Option) (*View, error) {
	return openViewAt(ctx, of, auth, time.Now, more...)
}

// openViewAt is open with a clock.
func openViewAt(ctx context.Context, of Address, auth Credentials, now func() time.Time, more ...nats.Option) (*View, error) {
	v := &View{
		of: of, now: now, quiet: silence, look: lookTime, pull: pullTime, maxPullBytes: pulledBytes, patience: patience,
		captures: map[string]*captureState{}, machines: map[string]*machine{}, lastReports: map[subjectParts]*lastReport{},
	}
	var err error
	if v.link, err = dialHub(of.Server, auth, false, func() {}, v.setTrouble, more...); err != nil {
		return nil, err
	}
	v.minPullBytes = int(v.link.MaxPayload()) + 64<<10 // with what a message has beside its bytes
	if err := v.queryHub(ctx); err != nil {
		v.link.Close()
		return nil, fmt.Errorf("hub %s: %w", of.Server, err)
	}
	return v, nil
}

// Server is the hub that is read.
func (v *View) Server() string { return v.of.Server }

// queryHub asks the hub what there is of what is wanted.
func (v *View) queryHub(ctx context.Context) (err error) {
	if v.of.IsIndexed() {
		if v.index, err = newIndexReader(ctx, v.link); err != nil {
			return err
		}
	}
	e, err := v.askExtent(ctx)
	if err != nil {
		return plainReason(err)
	}
	if v.stream, err = v.link.js.Stream(ctx, v.streamName()); err != nil {
		return plainReason(err)
	}
	v.mu.Lock()
	now := v.clock.hubs
	v.mu.Unlock()
	if v.since, v.until, err = v.of.timeRange(now); err != nil {
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
	_, err = v.link.Subscribe(subjectFilter(healthKind, v.of.Host, v.of.Agent), v.onHeartbeat)
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
				if start, err = v.nextConsumer(ctx); err != nil {
					v.setTrouble(err)
					sleepFor(ctx, time.Second/4)
				}
			}
			if start != nil {
				more := false
				if more, start = v.readConsumer(ctx, *start, yield); !more {
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

func sleepFor(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// readConsumer reads what a consumer brings. It reports false at the end; next is another consumer to go
// on with, nil if that has to be found out.
func (v *View) readConsumer(ctx context.Context, config jetstream.ConsumerConfig, yield func(capture.Record, error) bool) (more bool, next *jetstream.ConsumerConfig) {
	made, cancel := context.WithTimeout(ctx, answerTimeout)
	consumer, err := v.stream.CreateConsumer(made, config)
	cancel()
	if err != nil {
		v.setTrouble(err)
		sleepFor(ctx, time.Second/4)
		return true, nil
	}
	info := consumer.CachedInfo()
	defer v.deleteConsumer(info.Name)
	switch {
	case info.NumPending == 0 && v.last > 0:
		return false, v.endOpen(yield)
	case info.NumPending == 0:
		v.setTrouble(nil)
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(maxPulledMessages, max(v.maxPullBytes, v.minPullBytes)), jetstream.PullExpiry(v.pull), jetstream.PullHeartbeat(v.pull*3/10))
	if err != nil {
		v.setTrouble(err)
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
	var still quietCount
	at := uint64(1) // what the consumer's next message is numbered
	for looked := v.now(); ; {
		msg, err := messages.Next(jetstream.NextMaxWait(v.look))
		switch {
		case ctx.Err() != nil:
			return false, nil
		case v.link.made.Load() != v.made:
			return true, nil
		case errors.Is(err, nats.ErrTimeout):
			switch v.onQuiet(ctx, &still, consumer, at-1) {
			case atEnd:
				return false, v.endOpen(yield)
			case broken:
				return true, nil
			}
		case err != nil:
			v.setTrouble(err)
			return true, nil
		default:
			still = quietCount{}
			meta, err := msg.Metadata()
			if err != nil || meta.Sequence.Consumer != at {
				return true, nil // one was lost on the way
			}
			at++
			if more, next := v.handleMessage(ctx, msg, meta, yield); !more || next != nil {
				return more, next
			}
		}
		if now := v.now(); now.Sub(looked) >= v.look {
			if now.Sub(looked) > stood {
				v.onStall(ctx)
			}
			looked = now
			if !v.lookForSilent(now, yield) {
				return false, nil
			}
		}
	}
}

// deleteConsumer has the hub forget a consumer now, and not when it is not used for a while.
func (v *View) deleteConsumer(consumer string) {
	if v.link.IsConnected() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = v.stream.DeleteConsumer(ctx, consumer)
	}
}
