package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// answerTimeout is how long a hub may take to answer.
const answerTimeout = 5 * time.Second

// streamExtent is the state of a stream.
type streamExtent struct {
	first, last uint64
	created     time.Time
	firstAt     time.Time // when its first message arrived
	at          time.Time // the hub's clock at that moment
}

// askJetStream sends a request to JetStream's API and parses the answer.
func (l *link) askJetStream(ctx context.Context, subject string, body, answer any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	msg, err := l.request(ctx, &nats.Msg{Subject: subject, Data: data})
	if errors.Is(err, nats.ErrNoResponders) {
		return errNoJetStream
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(msg.Data, answer)
}

// apiError is an error of JetStream's API.
type apiError struct {
	Code        int    `json:"code"`
	ErrCode     int    `json:"err_code"`
	Description string `json:"description"`
}

const codeNoStream = 10059

// capturesExtent requests the state of the stream of captures.
func (l *link) capturesExtent(ctx context.Context) (e streamExtent, err error) {
	return l.extentOf(ctx, StreamName, errNoStream)
}

// extentOf requests the state of a stream. It returns none if the stream doesn't exist.
func (l *link) extentOf(ctx context.Context, stream string, none error) (e streamExtent, err error) {
	var answer struct {
		Error   *apiError `json:"error"`
		Created time.Time `json:"created"`
		At      time.Time `json:"ts"`
		State   struct {
			First   uint64    `json:"first_seq"`
			FirstAt time.Time `json:"first_ts"`
			Last    uint64    `json:"last_seq"`
		} `json:"state"`
	}
	if err := l.askJetStream(ctx, "$JS.API.STREAM.INFO."+stream, struct{}{}, &answer); err != nil {
		return e, err
	}
	switch {
	case answer.Error == nil:
	case answer.Error.ErrCode == codeNoStream:
		return e, none
	default:
		return e, errors.New(answer.Error.Description)
	}
	return streamExtent{answer.State.First, answer.State.Last, answer.Created, answer.State.FirstAt, answer.At}, nil
}

// lastMessage requests the number and the byte range of a subject's last message. seq is 0 if there is
// none.
func (l *link) lastMessage(ctx context.Context, subject string) (seq uint64, s byteRange, err error) {
	msg, err := l.request(ctx, &nats.Msg{Subject: "$JS.API.DIRECT.GET." + StreamName + "." + subject})
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		if _, err := l.capturesExtent(ctx); err != nil {
			return 0, s, err
		}
		return 0, s, errNotDirect
	case err != nil:
		return 0, s, err
	case msg.Header.Get("Status") == "404":
		return 0, s, nil
	case msg.Header.Get("Status") != "":
		return 0, s, errors.New(msg.Header.Get("Description"))
	}
	if s, err = parseSpan(msg.Header.Get(headSpan)); err != nil {
		return 0, s, err
	}
	_, err = fmt.Sscan(msg.Header.Get(jetstream.SequenceHeader), &seq)
	return seq, s, err
}

// publishError is the reason why a hub refused a message.
type publishError struct{ why string }

func (r *publishError) Error() string { return r.why }

// publish sends a message and waits until the hub has it. The message may name the number of the message
// that must be before it; a hub with another one refuses it.
func (l *link) publish(ctx context.Context, msg *nats.Msg) (seq uint64, err error) {
	back, err := l.request(ctx, msg)
	if errors.Is(err, nats.ErrNoResponders) {
		return 0, l.whyNoResponder(ctx, msg.Subject)
	}
	if err != nil {
		return 0, err
	}
	var ack struct {
		Error *apiError `json:"error"`
		Seq   uint64    `json:"seq"`
	}
	if err := json.Unmarshal(back.Data, &ack); err != nil {
		return 0, fmt.Errorf("the hub's answer: %w", err)
	}
	if ack.Error != nil {
		return 0, &publishError{ack.Error.Description}
	}
	return ack.Seq, nil
}

// whyNoResponder returns why the hub has no receiver for a subject.
func (l *link) whyNoResponder(ctx context.Context, subject string) error {
	if _, _, is := callOriginOf(subject); !is {
		if _, err := l.capturesExtent(ctx); err != nil {
			return err
		}
		return errNoLeader
	}
	_, err := l.extentOf(ctx, IndexName, errNoIndex)
	switch {
	case err == nil:
		return errNoLeader
	case isDenied(err): // a sender may lack the permission to ask this
		return errIndexAway
	}
	return err
}
