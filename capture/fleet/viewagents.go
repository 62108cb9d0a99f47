package fleet

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// An Agent is an agent that publishes captures from a machine.
type Agent struct {
	Host, Name string
	Bytes      int64     // size of its captures
	Latest     time.Time // time when the hub got its latest data, by the hub's clock
}

// Agents lists the agents with data in the address's period. It reads only the headers of each capture's last
// message, and then closes the view.
func (v *View) Agents(ctx context.Context) ([]Agent, error) {
	defer v.closed.Store(true)
	defer v.link.Close()
	config := v.consumerConfig()
	config.DeliverPolicy, config.HeadersOnly = jetstream.DeliverLastPerSubjectPolicy, true
	consumer, err := v.stream.CreateConsumer(ctx, config)
	if err != nil {
		return nil, plainReason(err)
	}
	info := consumer.CachedInfo()
	defer v.deleteConsumer(info.Name)
	all := map[[2]string]Agent{}
	for left := int(info.NumPending); left > 0; {
		batch, err := consumer.Fetch(min(left, maxPulledMessages), jetstream.FetchMaxWait(answerTimeout))
		if err != nil {
			return nil, plainReason(err)
		}
		before := left
		for msg := range batch.Messages() {
			left--
			meta, err := msg.Metadata()
			o, ok := originOf(msg.Subject())
			if err != nil || !ok || o.version != version || meta.Timestamp.Before(v.since) || !v.until.IsZero() && meta.Timestamp.After(v.until) {
				continue
			}
			span, _ := parseSpan(msg.Headers().Get(headSpan)) // an invalid message has no size
			a := all[[2]string{o.host, o.agent}]
			a.Host, a.Name, a.Bytes = o.host, o.agent, a.Bytes+span.to
			if meta.Timestamp.After(a.Latest) {
				a.Latest = meta.Timestamp
			}
			all[[2]string{o.host, o.agent}] = a
		}
		if err := batch.Error(); err != nil {
			return nil, plainReason(err)
		}
		if left == before {
			return nil, errors.New("the hub does not send its messages")
		}
	}
	var list []Agent
	for _, a := range all {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b Agent) int {
		return cmp.Or(b.Latest.Compare(a.Latest), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Name, b.Name))
	})
	return list, nil
}
