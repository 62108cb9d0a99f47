package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"toolscope/capture"
	"toolscope/stream/count"
)

const (
	headsBefore       = 10 * time.Minute // how far before the requested start a view begins, to find the beginnings of exchanges
	backBy            = 3 * time.Minute  // how far before its last message a view resumes, if the hub lost that message
	silence           = 30 * time.Second // time without a sign of life after which a machine is silent
	stood             = 5 * time.Second  // if the time between two checks of the machines is longer, this process was suspended
	maxPulledMessages = 1024             // number of messages that are requested at once
	pulledBytes       = 16 << 20         // maximum size of these messages in bytes; raised if a single message may be larger, because that message would never arrive otherwise
	pullTime          = 10 * time.Second // maximum time that the hub may take to send these messages
	lookTime          = time.Second      // interval of the checks
	maxQuietLooks     = 10               // number of checks without a message before the hub is asked for its state
	minQuietLooks     = 2                // the same number for a view with an end
	patience          = 30 * time.Second // time without a message after which a view with an end returns an error
)

// A View reads the captures of a hub as one source.
type View struct {
	link   *link
	stream jetstream.Stream
	of     Address
	now    func() time.Time // our clock
	opened time.Time        // time, by our clock, from which signs of life are received
	since  time.Time        // requested start, by the hub's clock: exchanges without newer records are skipped
	until  time.Time        // requested end, by the hub's clock: later messages are skipped; zero for no end
	begins time.Time        // time, by the hub's clock: captures that began after it must be complete
	last   uint64           // number of the last message to read; 0 for no end

	quiet        time.Duration // see silence
	look         time.Duration
	maxPullBytes int // maximum number of bytes that are requested at once
	minPullBytes int // minimum number of bytes that are requested at once, so that any message fits
	pull         time.Duration
	patience     time.Duration

	feeds     capture.Feeds
	captures  map[string]*captureState // by subject
	order     []*captureState          // the captures, in the order of their first messages
	past      recentKeys[string, int64]
	early     earlyRecords
	read      messageMark                 // the last message that was read
	passed    uint64                      // all messages up to this number are accounted for; 0 if it is unknown
	holes     time.Time                   // time when message numbers were last skipped without a loss
	waits     uint64                      // number of messages that the hub still had to send after the last one read
	pruned    time.Time                   // time of the last run of pruneStale
	jumped    uint64                      // number of messages still to come after a jump; see isOverrun
	delivered atomic.Pointer[messageMark] // the last message whose records were passed on
	recs      []capture.Record
	bytesRead int64        // number of bytes of captures that were read
	moved     time.Time    // time when the last message was read
	index     *indexReader // set if only some calls are read
	closed    atomic.Bool

	mu          sync.Mutex
	state       State
	summed      time.Time // time of the last run of summariseMachines
	clock       clock
	made        int64     // number of the connection that the view reads from
	listening   time.Time // time since which we can receive signs of life
	looked      time.Time // time of the last run of lookForSilent
	machines    map[string]*machine
	lastReports map[subjectParts]*lastReport
	rate        rateMeter
}

// messageMark identifies a message. Its number is not enough: after a hub has lost messages, it may give the number
// to another message.
type messageMark struct {
	seq     uint64
	subject string
	at      time.Time
}

// Open connects to a hub. It fails if no hub answers.
func Open(ctx context.Context, of Address, auth Credentials) (*View, error) {
	return openView(ctx, of, auth)
}

// openView is like Open, with additional options for the connection.
func openView(ctx context.Context, of Address, auth Credentials, more ...nats.Option) (*View, error) {
	return openViewAt(ctx, of, auth, time.Now, more...)
}

// openViewAt is like openView, with a given clock.
func openViewAt(ctx context.Context, of Address, auth Credentials, now func() time.Time, more ...nats.Option) (*View, error) {
	v := &View{
		of: of, now: now, quiet: silence, look: lookTime, pull: pullTime, maxPullBytes: pulledBytes, patience: patience,
		captures: map[string]*captureState{}, machines: map[string]*machine{}, lastReports: map[subjectParts]*lastReport{},
	}
	var err error
	if v.link, err = dialHub(of.Server, auth, false, func() {}, v.setTrouble, more...); err != nil {
		return nil, err
	}
	v.minPullBytes = int(v.link.MaxPayload()) + 64<<10 // plus room for a message's headers
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
	name := StreamName
	if v.index != nil {
		name = IndexName
	}
	if v.stream, err = v.link.js.Stream(ctx, name); err != nil {
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
		v.until = time.Time{} // the last message decides, even if the clock is changed later
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

// Source reads the data that the view's address selects. It may be called only once. It ends with ctx, or at the end
// of the address's period. A view with an end fails if no message arrives within v.patience.
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

// readConsumer reads the messages of a new consumer. At the end, the result more is false. The result next is the
// config to continue with; if it is nil, nextConsumer must find the config.
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
		return false, v.endOpen(ctx, yield)
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

// readAll reads the messages of a consumer. It has the same results as readConsumer.
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
				return false, v.endOpen(ctx, yield)
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

// deleteConsumer deletes a consumer at the hub. Otherwise the hub would keep it for a while.
func (v *View) deleteConsumer(consumer string) {
	if v.link.IsConnected() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = v.stream.DeleteConsumer(ctx, consumer)
	}
}

// Read returns the number of the last message whose records were all passed on, and the time when the hub got
// it. The result seq is 0 before the first message.
func (v *View) Read() (seq uint64, at time.Time) {
	if m := v.delivered.Load(); m != nil {
		return m.seq, m.at
	}
	return 0, time.Time{}
}

// AwaitRead waits until everything that the hub has now has been passed on, or until ctx ends. If the hub doesn't
// answer, it returns at once.
func (v *View) AwaitRead(ctx context.Context) {
	e, err := v.askExtent(ctx)
	for err == nil && ctx.Err() == nil && e.first <= e.last {
		if seq, _ := v.Read(); seq >= e.last {
			return
		}
		sleepFor(ctx, 10*time.Millisecond)
	}
}

// askExtent requests the state of the stream and records the hub's time in v.clock.
func (v *View) askExtent(ctx context.Context) (e streamExtent, err error) {
	before := v.now()
	if v.index != nil {
		e, err = v.link.extentOf(ctx, IndexName, errNoIndex)
	} else {
		e, err = v.link.capturesExtent(ctx)
	}
	if err == nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.clock.addSample(before, v.now(), e.at)
	}
	return e, err
}

// consumerConfig returns the settings that all consumers of the view share.
func (v *View) consumerConfig() jetstream.ConsumerConfig {
	subjects := subjectFilter(bytesKind, v.of.Host, v.of.Agent)
	if v.index != nil {
		part := strings.Split(subjectFilter(indexKind, v.of.Host, v.of.Agent), ".")
		model, status := "*", "*"
		if v.of.Model != "" {
			model = callToken(v.of.Model)
		}
		if v.of.Status != "" {
			status = callToken(v.of.Status)
		}
		subjects = strings.Join(append(part[:len(part)-1], model, status), ".")
	}
	return jetstream.ConsumerConfig{
		FilterSubject: subjects, AckPolicy: jetstream.AckNonePolicy,
		MemoryStorage: true, Replicas: 1, InactiveThreshold: 5 * time.Minute,
	}
}

// readsAll reports whether the view reads all captures. Only then does a gap in the message numbers mean that
// messages are missing.
func (v *View) readsAll() bool { return v.index == nil && v.of.Host == "" && v.of.Agent == "" }

// consumerFrom returns the config of a consumer that begins at a time by the hub's clock.
func (v *View) consumerFrom(at time.Time) *jetstream.ConsumerConfig {
	c := v.consumerConfig()
	c.DeliverPolicy, c.OptStartTime = jetstream.DeliverByStartTimePolicy, &at
	return &c
}

// nextConsumer returns the config to continue with, after the last message that was read. If the hub has no message
// or another message with that number, it has lost messages. The view then reads again from an earlier time, and the
// offsets show which bytes it has already read.
func (v *View) nextConsumer(ctx context.Context) (*jetstream.ConsumerConfig, error) {
	made := v.link.made.Load()
	e, err := v.askExtent(ctx)
	if err != nil {
		return nil, err
	}
	if v.made != made {
		v.mu.Lock()
		v.made, v.listening = made, v.now()
		v.mu.Unlock()
	}
	c := v.consumerConfig()
	switch {
	case v.read.seq == 0 && v.last > max(1, e.last): // the hub is back with fewer messages
		v.onReset(e)
		fallthrough
	case v.read.seq == 0:
		return v.firstConsumer(), nil
	}
	c.DeliverPolicy, c.OptStartSeq = jetstream.DeliverByStartSequencePolicy, v.read.seq+1
	msg, err := v.stream.GetMsg(ctx, v.read.seq)
	switch {
	case err == nil && msg.Subject == v.read.subject && msg.Time.Equal(v.read.at) && (v.last == 0 || v.last <= max(1, e.last)):
		v.countExpired(e)
		return &c, nil
	case err != nil && !errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, err
	case err != nil && e.first > v.read.seq: // the message has expired
		v.countExpired(e)
		return &c, nil
	}
	v.onReset(e)
	return v.consumerFrom(v.read.at.Add(-backBy)), nil
}

// firstConsumer returns the config of the view's first consumer.
func (v *View) firstConsumer() *jetstream.ConsumerConfig {
	switch {
	case v.of.All:
		c := v.consumerConfig()
		c.DeliverPolicy = jetstream.DeliverAllPolicy
		return &c
	case v.index != nil: // a line contains all data about a call, so no earlier start is needed
		return v.consumerFrom(v.since)
	}
	return v.consumerFrom(v.since.Add(-headsBefore))
}

// onReset adapts the view to a hub that lost messages. Senders send the lost messages again if they still have them.
// A view without an end reads them. A view with an end can't know how many of them are still to come.
func (v *View) onReset(e streamExtent) {
	if v.passed = 0; v.last == 0 {
		return
	}
	v.last = max(1, e.last)
	v.mu.Lock()
	v.state.Resets++
	v.mu.Unlock()
	v.addNote("gap: the hub lost messages; some messages that were sent again are not shown")
}

// onSequence records the number of the next message. It reports whether the hub deleted or lost any messages before
// it. The parameter at is the time when the hub got the next message.
func (v *View) onSequence(ctx context.Context, seq uint64, at time.Time) (lost bool) {
	now := v.now()
	if v.readsAll() && v.passed > 0 && seq > v.passed+1 && v.jumped == 0 && now.Sub(v.holes) > time.Second {
		if e, err := v.askExtent(ctx); err == nil {
			e.first = min(e.first, seq)
			if lost = v.countExpired(e) || v.countUnreadable(ctx, seq-1, at); !lost {
				v.holes = now // the skipped numbers belong to messages of another kind
			}
		}
	}
	v.passed = seq
	return lost
}

// countExpired counts messages that the hub deleted before they were read. Missing bytes of a capture are also
// counted if the capture continues; otherwise this count is the only sign of the loss. A view that reads only some
// captures or calls can't know which of the messages it would have read. It counts at most as many as were still to
// come. countExpired returns true only if the view reads all captures and messages were deleted.
func (v *View) countExpired(e streamExtent) bool {
	if !v.readsAll() && v.waits > 0 && e.first > v.read.seq+1 {
		n := min(v.waits, e.first-v.read.seq-1)
		v.waits = 0
		v.mu.Lock()
		v.state.MaybeMissed += int64(n)
		v.mu.Unlock()
		v.addNote(fmt.Sprintf("gap: the hub deleted messages before they were read: at most %s", count.Of(int64(n), "message")))
	}
	if !v.readsAll() || v.passed == 0 || e.first <= v.passed+1 {
		return false
	}
	n := e.first - v.passed - 1
	v.passed = e.first - 1
	v.mu.Lock()
	v.state.Missed += int64(n)
	v.mu.Unlock()
	v.addNote(fmt.Sprintf("gap: the hub deleted %s before %s read", count.Of(int64(n), "message"), textIf(n == 1, "it was", "they were")))
	return true
}

// maxUnreadable is the maximum number of messages that countUnreadable requests.
const maxUnreadable = 256

// countUnreadable counts the messages that the hub got but no longer has although they have not expired, e.g. because
// a file of its store is damaged. It counts up to the message with the number to, and reports whether there are any.
// The parameter before is the time of the next message; zero if there is none.
func (v *View) countUnreadable(ctx context.Context, to uint64, before time.Time) bool {
	n, seq, some := int64(0), v.passed+1, ""
	for ; seq <= to && seq-v.passed <= maxUnreadable; seq++ {
		_, err := v.stream.GetMsg(ctx, seq)
		var refused *jetstream.APIError
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound) || errors.As(err, &refused):
			n++
		case err != nil:
			return false
		}
	}
	if n == 0 {
		return false
	}
	if seq <= to { // not all of them were requested
		some = "at least "
	}
	v.passed = to
	v.mu.Lock()
	v.state.Missed += n
	v.mu.Unlock()
	var when []string
	if !v.read.at.IsZero() {
		when = append(when, "after "+v.read.at.UTC().Format(time.RFC3339))
	}
	if !before.IsZero() {
		when = append(when, "before "+before.UTC().Format(time.RFC3339))
	}
	text := fmt.Sprintf("gap: the hub can no longer read %s%s", some, count.Of(n, "message"))
	if len(when) > 0 {
		text += " that arrived " + strings.Join(when, " and ")
	}
	v.addNote(text)
	return true
}

func textIf(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// isOverrun reports whether the hub deletes messages before they are read, and counts the deleted messages. The hub
// would continue to delete them, so the view then jumps to the last message of each capture. Gaps in the captures
// then show the missing bytes.
func (v *View) isOverrun(ctx context.Context, before uint64, meta *jetstream.MsgMetadata) bool {
	if meta.NumPending == 0 || before == 0 {
		return false
	}
	e, err := v.askExtent(ctx)
	if err != nil || e.first <= before+1 || meta.Sequence.Stream > e.first+(e.last-e.first)/4 {
		return false
	}
	v.countExpired(e)
	return true
}

// These are the ways to continue with a consumer that sends no messages.
const (
	asItIs = iota
	atEnd  // the view is at its end
	broken // a new consumer is needed, because messages are missing or the hub doesn't know the consumer
)

// quietCount counts checks without a message.
type quietCount struct{ looks, doubts int }

// onQuiet decides how to continue after a check without a message. The parameter had is the number of messages that
// the consumer has sent so far. onQuiet asks the hub for its state from time to time, because a consumer that the hub
// has deleted sends nothing. For example, a hub deletes a consumer after five minutes without use.
func (v *View) onQuiet(ctx context.Context, s *quietCount, consumer jetstream.Consumer, had uint64) int {
	v.onIdle()
	s.looks++
	if s.looks < maxQuietLooks && (s.looks < minQuietLooks || v.last == 0) && s.doubts == 0 {
		return asItIs
	}
	s.looks = 0
	asked, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	info, err := consumer.Info(asked)
	if err != nil {
		v.setTrouble(err)
		return broken
	}
	switch waits := info.NumPending > 0 || info.Delivered.Consumer > had; {
	case !waits && v.last > 0:
		if e, err := v.askExtent(ctx); err == nil {
			e.first = min(e.first, v.last+1)
			v.countExpired(e)
		}
		return atEnd
	case !waits:
		v.setTrouble(nil)
		s.doubts = 0
		// If the hub had more messages for the view when the last one was read, it has deleted them.
		if v.waits != 0 {
			if e, err := v.askExtent(ctx); err == nil {
				if v.jumped == 0 { // after a jump, the captures show the skipped bytes
					v.countExpired(e)
				}
				v.waits = 0
			}
		}
		return asItIs
	}
	if s.doubts++; s.doubts < 2 {
		return asItIs
	}
	v.setTrouble(errors.New("the hub has messages but sends none"))
	return broken
}

// onIdle updates the lag while no message arrives.
func (v *View) onIdle() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.state.Lag = 0; v.waits > 0 {
		v.state.Lag = max(0, v.now().Sub(v.clock.toLocal(v.read.at)))
	}
}

// onStall is called after a pause in which this process was suspended and received nothing. It requests the hub's
// time again and restarts the period in which signs of life are expected.
func (v *View) onStall(ctx context.Context) {
	_, _ = v.askExtent(ctx) // our clock may have been stopped or set
	v.mu.Lock()
	defer v.mu.Unlock()
	v.listening = v.now()
}

// setTrouble sets the reason why the view can't read, or nil if it can. A timeout doesn't replace an earlier reason:
// the hub reports a denied request separately, and then the request also times out.
func (v *View) setTrouble(err error) {
	text := ""
	if err != nil {
		text, _, _ = strings.Cut(plainReason(err).Error(), "\n")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if errors.Is(err, context.DeadlineExceeded) {
		text = cmp.Or(v.state.Trouble, "the hub does not answer")
	}
	v.state.Trouble = text
}

// lostPatience returns an error if a view with an end has waited too long for messages.
func (v *View) lostPatience() error {
	if v.last == 0 || v.now().Sub(v.moved) <= v.patience {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	why := v.state.Trouble
	if why == "" {
		why = "the hub no longer sends data"
	}
	return fmt.Errorf("hub %s: reading stopped before the end: %s", v.of.Server, why)
}
