package fleet

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// pendingRequests are those that wait for an answer. What a hub does not let us send it does not answer, but
// says so to the connection: who waits is told then.
type pendingRequests struct {
	deaf atomic.Pointer[deniedError] // why no answer comes: the hub does not let us hear them

	mu  sync.Mutex
	all map[*nats.Msg]context.CancelCauseFunc
}

// isDenied reports whether the hub does not let us do that.
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

// noteDenial takes what the hub says of something that it does not let us do, and reports whether it is
// that: the connection has no trouble then.
func (l *link) noteDenial(err error) bool {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return false
	}
	_, rest, _ := strings.Cut(err.Error(), `"`)
	subject, _, _ := strings.Cut(rest, `"`)
	l.asked.mu.Lock()
	defer l.asked.mu.Unlock()
	if strings.HasPrefix(subject, l.inbox) {
		d := &deniedError{"hear its answers, at " + l.inbox + ": " + l.whose}
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

// whatOf is what a message of that subject does.
func whatOf(subject string) string {
	if o, is := originOf(subject); is {
		return "publish as " + o.host
	}
	if o, _, is := callOriginOf(subject); is {
		return "tell of calls as " + o.host
	}
	return "ask for what it has: " + subject
}
