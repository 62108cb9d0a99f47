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

// streamName is that of the stream that is followed.
func (v *View) streamName() string {
	if v.index != nil {
		return IndexName
	}
	return StreamName
}

// askExtent asks for its state, and learns what the hub's clock says.
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

// consumerConfig is what every one of ours has.
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

// readsAll reports whether every message of captures is wanted: then their numbers tell what is missing.
func (v *View) readsAll() bool { return v.index == nil && v.of.Host == "" && v.of.Agent == "" }

// consumerFrom is a consumer that begins at a time of the hub.
func (v *View) consumerFrom(at time.Time) *jetstream.ConsumerConfig {
	c := v.consumerConfig()
	c.DeliverPolicy, c.OptStartTime = jetstream.DeliverByStartTimePolicy, &at
	return &c
}

// nextConsumer is where to go on, which is behind the message that was read last. A hub that has another
// one in its place, or none, has forgotten some: it is read again from a while before that, and the
// offsets tell what of that is known.
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
	case v.read.seq == 0 && v.last > max(1, e.last): // the hub came back with less
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
	case err != nil && e.first > v.read.seq: // it had its time
		v.countExpired(e)
		return &c, nil
	}
	v.onReset(e)
	return v.consumerFrom(v.read.at.Add(-backBy)), nil
}

// firstConsumer is where to begin.
func (v *View) firstConsumer() *jetstream.ConsumerConfig {
	switch {
	case v.of.All:
		c := v.consumerConfig()
		c.DeliverPolicy = jetstream.DeliverAllPolicy
		return &c
	case v.index != nil: // a line says all of a call
		return v.consumerFrom(v.since)
	}
	return v.consumerFrom(v.since.Add(-headsBefore))
}

// onReset takes that the hub forgot messages that it had. Senders tell it again what they still have, which
// who reads on will see; who ends does not know how much of that is still to come.
func (v *View) onReset(e streamExtent) {
	if v.passed = 0; v.last == 0 {
		return
	}
	v.last = max(1, e.last)
	v.mu.Lock()
	v.state.Resets++
	v.mu.Unlock()
	v.addNote("gap: the hub forgot messages that it had; what was sent to it again is not all here")
}

// onSequence takes that the next message is of some number. It reports whether the hub let go of some before it.
func (v *View) onSequence(ctx context.Context, seq uint64) (lost bool) {
	now := v.now()
	if v.readsAll() && v.passed > 0 && seq > v.passed+1 && v.jumped == 0 && now.Sub(v.holes) > time.Second {
		if e, err := v.askExtent(ctx); err == nil {
			e.first = min(e.first, seq)
			if lost = v.countExpired(e); !lost {
				v.holes = now // there are messages of another kind, which have numbers too
			}
		}
	}
	v.passed = seq
	return lost
}

// countExpired counts messages that the hub let go of before they were read. Bytes of captures that go on are
// counted where they do; of one that does not nothing else tells. Of some captures of many, and of some calls,
// nobody knows how many of the messages were theirs, but for how many were still to come.
func (v *View) countExpired(e streamExtent) bool {
	if !v.readsAll() && v.waits > 0 && e.first > v.read.seq+1 {
		n := min(v.waits, e.first-v.read.seq-1)
		v.waits = 0
		v.mu.Lock()
		v.state.MaybeMissed += int64(n)
		v.mu.Unlock()
		v.addNote(fmt.Sprintf("gap: the hub let go of messages before they were read: at most %s", count.Of(int64(n), "message")))
	}
	if !v.readsAll() || v.passed == 0 || e.first <= v.passed+1 {
		return false
	}
	n := e.first - v.passed - 1
	v.passed = e.first - 1
	v.mu.Lock()
	v.state.Missed += int64(n)
	v.mu.Unlock()
	v.addNote(fmt.Sprintf("gap: the hub let go of %s before %s read", count.Of(int64(n), "message"), textIf(n == 1, "it was", "they were")))
	return true
}

func textIf(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// isOverrun reports whether the hub lets go of messages before they are read: it would go on like
// that, so the view jumps to the last message of each capture. What is missing shows in those.
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

// What becomes of a consumer that brings nothing.
const (
	asItIs = iota
	atEnd  // there is nothing more that is wanted
	broken // there should be messages, or the hub knows nothing of it: another one has to be made
)

// quietCount is that no message comes.
type quietCount struct{ looks, doubts int }

// onQuiet takes that no message came for a look, behind so many of the consumer. It asks the hub from time
// to time: a consumer that it forgot, as one that nobody read from for five minutes, is silent for ever.
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
	v.setTrouble(errors.New("it has messages for us and sends none"))
	return broken
}

// onCaughtUp takes that the hub has nothing more that is wanted. Where it had when the last message was read, it let go
// of that.
func (v *View) onCaughtUp(ctx context.Context) {
	if v.waits == 0 {
		return
	}
	if e, err := v.askExtent(ctx); err == nil {
		if v.jumped == 0 { // else what is passed over shows in the captures
			v.countExpired(e)
		}
		v.waits = 0
	}
}

// onIdle takes that nothing is read just now.
func (v *View) onIdle() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.state.Lag = 0; v.waits > 0 {
		v.state.Lag = max(0, v.now().Sub(v.clock.toLocal(v.read.at)))
	}
}

// onStall takes that nothing was heard for a while because of us.
func (v *View) onStall(ctx context.Context) {
	_, _ = v.askExtent(ctx) // our clock may have stood still, or been set
	v.mu.Lock()
	defer v.mu.Unlock()
	v.listening = v.now()
}

// setTrouble takes what keeps the view from reading; nil where nothing does. That no answer comes says less than
// what was known: what one may not ask is told apart from the answer, which never comes.
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

// lostPatience is why a view with an end does not come to it.
func (v *View) lostPatience() error {
	if v.last == 0 || v.now().Sub(v.moved) <= v.patience {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	why := v.state.Trouble
	if why == "" {
		why = "nothing comes of it any more"
	}
	return fmt.Errorf("hub %s: it is not read to the end: %s", v.of.Server, why)
}
