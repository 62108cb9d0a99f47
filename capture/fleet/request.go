package fleet

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// pendingRequests are the requests that wait for an answer. The hub doesn't answer a request that it denies;
// it reports the denial on the connection, and the waiting request then fails.
type pendingRequests struct {
	deaf atomic.Pointer[deniedError] // set if the hub denies us its answers

	mu  sync.Mutex
	all map[*nats.Msg]context.CancelCauseFunc
}

// isDenied reports whether an error is a denied permission.
func isDenied(err error) bool {
	var d *deniedError
	return errors.As(err, &d)
}

// request sends a message and waits for the answer.
func (l *link) request(ctx context.Context, msg *nats.Msg) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	ctx, deny := context.WithCancelCause(ctx)
	defer deny(nil)
	l.asked.mu.Lock()
	if l.asked.all == nil {
		l.asked.all = map[*nats.Msg]context.CancelCauseFunc{}
	}
	l.asked.all[msg] = deny
	l.asked.mu.Unlock()
	defer func() {
		l.asked.mu.Lock()
		defer l.asked.mu.Unlock()
		delete(l.asked.all, msg)
	}()
	if d := l.asked.deaf.Load(); d != nil {
		return nil, d
	}
	back, err := l.RequestMsgWithContext(ctx, msg)
	if err != nil && isDenied(context.Cause(ctx)) {
		err = context.Cause(ctx)
	}
	return back, err
}

// noteDenial reports whether an error of the connection is a denied permission. If so, it fails the
// requests that are denied; the connection itself is fine.
func (l *link) noteDenial(err error) bool {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return false
	}
	_, rest, _ := strings.Cut(err.Error(), `"`)
	subject, _, _ := strings.Cut(rest, `"`)
	l.asked.mu.Lock()
	defer l.asked.mu.Unlock()
	if strings.HasPrefix(subject, l.inbox) {
		d := &deniedError{"receive its answers at " + l.inbox + ": " + l.whose}
		l.asked.deaf.Store(d)
		for _, deny := range l.asked.all {
			deny(d)
		}
		return true
	}
	for msg, deny := range l.asked.all {
		if msg.Subject == subject {
			deny(&deniedError{whatOf(subject)})
		}
	}
	return true
}

// whatOf describes what a message to a subject does.
func whatOf(subject string) string {
	if o, is := originOf(subject); is {
		return "publish as " + o.host
	}
	if o, _, is := callOriginOf(subject); is {
		return "index calls as " + o.host
	}
	return "send the request " + subject
}
