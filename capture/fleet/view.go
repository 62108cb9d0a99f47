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
	headsBefore       = 10 * time.Minute // how much earlier a view begins, to find the start of exchanges
	backBy            = 3 * time.Minute  // how far before its last message it resumes, if the hub lost that
	silence           = 30 * time.Second // without a sign of life, after which a host is silent
	stood             = 5 * time.Second  // between two checks of the hosts, above which we stood still, not they
	maxPulledMessages = 1024             // messages that are requested at once
	pulledBytes       = 16 << 20         // and their bytes; more if one message may be larger, else it would never come
	pullTime          = 10 * time.Second // how long the hub waits for them
	lookTime          = time.Second      // interval of the checks
	maxQuietLooks     = 10               // checks without a message, after which the hub is asked for its state
	minQuietLooks     = 2                // such checks, if the view has an end
	patience          = 30 * time.Second // without an answer of the hub, after which a view with an end fails
)

// A View reads the captures of a hub as one source.
type View struct {
	link   *link
	stream jetstream.Stream
	of     Address
	now    func() time.Time // our clock
	opened time.Time        // by our clock: from then on signs of life are received
	since  time.Time        // by the hub's clock: exchanges without newer records are skipped
	until  time.Time        // by the hub's clock: later messages are skipped; zero for no limit
	begins time.Time        // by the hub's clock: captures that began later must be complete
	last   uint64           // number of the last message to read; 0 for no end

	quiet        time.Duration // see silence
	look         time.Duration
	maxPullBytes int // bytes that are requested at once
	minPullBytes int // and at least, so that any message fits
	pull         time.Duration
	patience     time.Duration

	feeds     capture.Feeds
	captures  map[string]*captureState // by subject
	order     []*captureState          // in the order of first messages
	past      recentKeys[string, int64]
	early     earlyRecords
	read      messageMark                 // the last message that was read
	passed    uint64                      // all messages up to this number are accounted for; 0 if unknown
	holes     time.Time                   // when numbers were last skipped without a loss
	waits     uint64                      // messages that the hub still had to send after it
	pruned    time.Time                   // when pruneStale last ran
	jumped    uint64                      // messages that are still to come of a jump, see isOverrun
	delivered atomic.Pointer[messageMark] // the last message whose records were passed on
	recs      []capture.Record
	bytesRead int64        // bytes of captures that were read
	moved     time.Time    // when the last message was read
	index     *indexReader // set if only some calls are read
	closed    atomic.Bool

	mu          sync.Mutex
	state       State
	summed      time.Time // when summariseMachines last ran
	clock       clock
	made        int64     // number of the connection that is read from
	listening   time.Time // since when we can receive signs of life, as of looked
	looked      time.Time // when lookForSilent last ran
	machines    map[string]*machine
	lastReports map[subjectParts]*lastReport
	rate        rateMeter
}

// messageMark identifies a message: after a hub lost some, another message may have its number.
type messageMark struct {
	seq     uint64
	subject string
	at      time.Time
}

// Open connects to a hub. It fails if no hub answers.
func Open(ctx context.Context, of Address, auth Credentials) (*View, error) {
	return openView(ctx, of, auth)
}

// openView is Open with options for the connection.
func openView(ctx context.Context, of Address, auth Credentials, more ...nats.Option) (*View, error) {
	return openViewAt(ctx, of, auth, time.Now, more...)
}

// openViewAt is openView with a clock.
func openViewAt(ctx context.Context, of Address, auth Credentials, now func() time.Time, more ...nats.Option) (*View, error) {
	v := &View{
		of: of, now: now, quiet: silence, look: lookTime, pull: pullTime, maxPullBytes: pulledBytes, patience: patience,
		captures: map[string]*captureState{}, machines: map[string]*machine{}, lastReports: map[subjectParts]*lastReport{},
	}
	var err error
	if v.link, err = dialHub(of.Server, auth, false, func() {}, v.setTrouble, more...); err != nil {
		return nil, err
	}
	v.minPullBytes = int(v.link.MaxPayload()) + 64<<10 // with room for a message's headers
	if err := v.queryHub(ctx); err != nil {
		v.link.Close()
		return nil, fmt.Errorf("hub %s: %w", of.Server, err)
	}
	return v, nil
}

// Server returns the address of the hub.
func (v *View) Server() string { return v.of.Server }

// queryHub asks the hub for its state, sets the range to read, and subscribes to signs of life.
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
		v.until = time.Time{} // the last message decides, even if the clock is set
	}
	if !v.of.All {
		v.begins = v.since.Add(-headsBefore)
	}
	if e.first > 1 && e.firstAt.After(v.begins) {
		v.begins = e.firstAt // earlier messages have expired
	}
	v.opened = v.now()
	_, err = v.link.Subscribe(subjectFilter(healthKind, v.of.Host, v.of.Agent), v.onHeartbeat)
	return err
}

// Source reads the data of the view's address, once. It ends with ctx or at the address's end. It fails if
// there is an end and the hub can't be reached any more before it.
func (v *View) Source(ctx context.Context) capture.Source {
	return func(yield func(capture.Record, error) bool) {
		defer func() {
			v.closed.Store(true)
			v.link.Close()
		}()
		v.moved = v.now() // other sources may have been read before
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

// readConsumer reads the messages of a new consumer. It reports false at the end. next is the config to
// continue with, nil if nextConsumer must find it.
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

// readAll reads the messages of a consumer. Its results are those of readConsumer.
func (v *View) readAll(ctx context.Context, consumer jetstream.Consumer, messages jetstream.MessagesContext, yield func(capture.Record, error) bool) (more bool, next *jetstream.ConsumerConfig) {
	var still quietCount
	at := uint64(1) // number of the consumer's next message
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
				return true, nil // a message was lost on the way
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

// deleteConsumer deletes a consumer at the hub, which would otherwise keep it for a while.
func (v *View) deleteConsumer(consumer string) {
	if v.link.IsConnected() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = v.stream.DeleteConsumer(ctx, consumer)
	}
}
