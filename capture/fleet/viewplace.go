package fleet

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// name is that of the stream that is followed.
func (v *View) name() string {
	if v.some != nil {
		return IndexName
	}
	return StreamName
}

// extent asks for its state.
func (v *View) extent(ctx context.Context) (extent, error) {
	if v.some != nil {
		return v.link.extentOf(ctx, IndexName, errNoIndex)
	}
	return v.link.extent(ctx)
}

// consumer is what every one of ours has.
func (v *View) consumer() jetstream.ConsumerConfig {
	subjects := wanted(bytesKind, v.of.Host, v.of.Agent)
	if v.some != nil {
		subjects = wantedCalls(&v.of)
	}
	return jetstream.ConsumerConfig{
		FilterSubject: subjects, AckPolicy: jetstream.AckNonePolicy,
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
	case v.read.seq == 0 && v.some != nil: // a line says all of a call
		return v.from(v.since), nil
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
	e, err := v.extent(ctx)
	if err != nil {
		return nil, err
	}
	if e.first > v.read.seq { // it had its time
		return &c, nil
	}
	return v.from(v.read.at.Add(-backBy)), nil
}

// overrun reports whether the hub lets go of messages before they are read: it would go on like
// that, so the view jumps to the last message of each capture. What is missing shows in those.
func (v *View) overrun(read uint64) bool {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	e, err := v.extent(ctx)
	return err == nil && e.first > read+1
}
