package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"toolscope/stream/count"
)

// streamName returns the name of the stream that is followed.
func (v *View) streamName() string {
	if v.index != nil {
		return IndexName
	}
	return StreamName
}

// askExtent requests the stream's state, and adjusts the clock to the hub's.
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

// consumerConfig returns the settings that all our consumers share.
func (v *View) consumerConfig() jetstream.ConsumerConfig {
	subjects := subjectFilter(bytesKind, v.of.Host, v.of.Agent)
	if v.index != nil {
		subjects = wantedCalls(&v.of)
	}
	return jetstream.ConsumerConfig{
		FilterSubject: subjects, AckPolicy: jetstream.AckNonePolicy,
		MemoryStorage: true, Replicas: 1, InactiveThreshold: 5 * time.Minute,
	}
}

// readsAll reports whether the view reads all captures: then message numbers show what is missing.
func (v *View) readsAll() bool { return v.index == nil && v.of.Host == "" && v.of.Agent == "" }

// consumerFrom returns a consumer that begins at a time of the hub.
func (v *View) consumerFrom(at time.Time) *jetstream.ConsumerConfig {
	c := v.consumerConfig()
	c.DeliverPolicy, c.OptStartTime = jetstream.DeliverByStartTimePolicy, &at
	return &c
}

// nextConsumer returns where to continue: after the last message that was read. A hub that has another
// message with that number, or none, has lost some. It is then read again from a while before, and offsets
// show which bytes are already known.
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
	case v.read.seq == 0 && v.last > max(1, e.last): // the hub came back with fewer messages
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
	case err != nil && e.first > v.read.seq: // it expired
		v.countExpired(e)
		return &c, nil
	}
	v.onReset(e)
	return v.consumerFrom(v.read.at.Add(-backBy)), nil
}

// firstConsumer returns where to begin.
func (v *View) firstConsumer() *jetstream.ConsumerConfig {
	switch {
	case v.of.All:
		c := v.consumerConfig()
		c.DeliverPolicy = jetstream.DeliverAllPolicy
		return &c
	case v.index != nil: // a line has everything about a call
		return v.consumerFrom(v.since)
	}
	return v.consumerFrom(v.since.Add(-headsBefore))
}

// onReset handles a hub that lost messages. Senders send again what they still have, and a view without an
// end reads it. A view with an end can't know how much is still to come.
func (v *View) onReset(e streamExtent) {
	if v.passed = 0; v.last == 0 {
		return
	}
	v.last = max(1, e.last)
	v.mu.Lock()
	v.state.Resets++
	v.mu.Unlock()
	v.addNote("gap: the hub lost messages; not all of those that were sent to it again are shown")
}

// onSequence notes the number of the next message. It reports whether the hub deleted some before it.
func (v *View) onSequence(ctx context.Context, seq uint64) (lost bool) {
	now := v.now()
	if v.readsAll() && v.passed > 0 && seq > v.passed+1 && v.jumped == 0 && now.Sub(v.holes) > time.Second {
		if e, err := v.askExtent(ctx); err == nil {
			e.first = min(e.first, seq)
			if lost = v.countExpired(e); !lost {
				v.holes = now // the numbers belong to messages of another kind
			}
		}
	}
	v.passed = seq
	return lost
}

// countExpired counts messages that the hub deleted before they were read. Missing bytes of a capture are
// also counted if it continues; otherwise this count is the only sign. A view of some captures or calls
// can't know which messages were its own: it counts at most as many as were still to come.
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

func textIf(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// isOverrun reports whether the hub deletes messages before they are read. That would go on, so the view
// then jumps to the last message of each capture. The captures show what is missing.
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

// What to do with a consumer that brings no messages.
const (
	asItIs = iota
	atEnd  // the end of the view
	broken // there should be messages, or the hub doesn't know the consumer: a new one is needed
)

// quietCount counts checks without a message.
type quietCount struct{ looks, doubts int }

// onQuiet handles a check without a message, after had messages of the consumer. It asks the hub from time to
// time, because a consumer that the hub has deleted, e.g. after five minutes without use, stays silent.
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
		v.onCaughtUp(ctx)
		return asItIs
	}
	if s.doubts++; s.doubts < 2 {
		return asItIs
	}
	v.setTrouble(errors.New("it has messages but sends none"))
	return broken
}

// onCaughtUp handles a hub that has no more messages for the view. If it still had some after the last
// message, it has deleted them.
func (v *View) onCaughtUp(ctx context.Context) {
	if v.waits == 0 {
		return
	}
	if e, err := v.askExtent(ctx); err == nil {
		if v.jumped == 0 { // after a jump the captures show the skipped bytes
			v.countExpired(e)
		}
		v.waits = 0
	}
}

// onIdle updates the lag while no message arrives.
func (v *View) onIdle() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.state.Lag = 0; v.waits > 0 {
		v.state.Lag = max(0, v.now().Sub(v.clock.toLocal(v.read.at)))
	}
}

// onStall handles a pause in which this process stood still and received nothing.
func (v *View) onStall(ctx context.Context) {
	_, _ = v.askExtent(ctx) // our clock may have stood still, or been set
	v.mu.Lock()
	defer v.mu.Unlock()
	v.listening = v.now()
}

// setTrouble sets why the view can't read, nil if it can. A missing answer doesn't replace an earlier reason:
// the hub reports a denied request separately and never answers it.
func (v *View) setTrouble(err error) {
	text := ""
	if err != nil {
		text, _, _ = strings.Cut(plainReason(err).Error(), "\n")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if errors.Is(err, context.DeadlineExceeded) {
		text = cmp.Or(v.state.Trouble, "it does not answer")
	}
	v.state.Trouble = text
}

// lostPatience returns an error if a view with an end has waited too long for it.
func (v *View) lostPatience() error {
	if v.last == 0 || v.now().Sub(v.moved) <= v.patience {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	why := v.state.Trouble
	if why == "" {
		why = "it no longer sends anything"
	}
	return fmt.Errorf("hub %s: not read to its end: %s", v.of.Server, why)
}
