package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// How long after the last one a connection is tried again: twice as long each time, and as much again
// by chance, so that not all machines come at once when their hub is back.
const (
	againFirst = 250 * time.Millisecond
	againMost  = 10 * time.Second
	againView  = 2 * time.Second // at most, where somebody looks at a screen
	steady     = time.Second     // a connection that held for so long has it begin anew
)

// link is a connection to a hub, which is made again as often as it breaks.
//
// While the library connects it holds what it would need to answer anything, be it for seconds.
// Whether there is a connection is kept here, so that who asks never waits.
type link struct {
	*nats.Conn
	js    jetstream.JetStream
	up    atomic.Bool
	made  atomic.Int64 // how often it was made
	tries atomic.Int64 // to make one, since the last that was steady
	since atomic.Int64 // when it was made, in nanoseconds
	most  time.Duration
	renew func() // is told when it was made again
	reach *reach
	asked requests
	inbox string // what answers begin with
	whose string // the question to who cannot hear them
	conn  atomic.Pointer[nats.Conn]
	broke func(error)   // is told of what keeps it from being made
	now   chan struct{} // has the next try be made
}

// dial begins to connect. patient does not wait for that, and goes on trying.
func dial(server string, auth Auth, patient bool, renew func(), failed func(error), more ...nats.Option) (*link, error) {
	l := &link{renew: renew, reach: &reach{}, most: againView, now: make(chan struct{}, 1)}
	if patient {
		l.most = againMost
	}
	l.reach.ctx, l.reach.stop = context.WithCancel(context.Background())
	l.reach.later.Store(patient)
	l.inbox = cmp.Or(auth.inbox, strings.TrimSuffix(nats.InboxPrefix, "."))
	l.whose = either(auth.inbox == "", "is it the key of who views?", "is that its name for this machine?")
	l.broke = func(err error) {
		if !errors.Is(err, errLater) && !l.denied(err) && l.reach.ctx.Err() == nil { // that we end it is no trouble
			failed(err)
		}
	}
	o := []nats.Option{
		nats.Name("toolscope"), nats.MaxReconnects(-1), nats.CustomReconnectDelay(l.delay), nats.Timeout(wait), nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2),
		nats.RetryOnFailedConnect(patient), nats.IgnoreAuthErrorAbort(), nats.SetCustomDialer(l.reach), nats.SkipHostLookup(),
		nats.FlusherTimeout(wait), // nobody else can do anything while one writes
		nats.ReconnectBufSize(-1), // what was not sent is asked for again; nothing leaves late
		nats.ConnectHandler(func(*nats.Conn) { l.connected() }),
		nats.ReconnectHandler(func(*nats.Conn) { l.connected() }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { l.broke(err) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { l.disconnected(); l.broke(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { l.broke(err) }),
	}
	who, err := auth.options()
	if err != nil {
		return nil, err
	}
	conn, err := nats.Connect(server, append(append(o, who...), more...)...)
	if err != nil {
		return nil, fmt.Errorf("hub %s: %w", server, plainReason(err))
	}
	l.reach.later.Store(false)
	l.Conn = conn
	l.conn.Store(conn)
	if !patient {
		l.up.Store(true)
	}
	l.js, err = jetstream.New(conn)
	return l, err
}

func (l *link) disconnected() {
	l.up.Store(false)
	if time.Since(time.Unix(0, l.since.Load())) > steady {
		l.tries.Store(0)
	}
}

func (l *link) connected() {
	l.asked.deaf.Store(nil)
	l.since.Store(time.Now().UnixNano())
	l.up.Store(true)
	l.made.Add(1)
	l.renew()
}

// pause is how long to wait before the next try.
func (l *link) pause() time.Duration {
	d := min(againFirst<<min(l.tries.Add(1)-1, 10), l.most)
	return d + rand.N(d)
}

// delay waits before the next try: not at all before the first one. It waits by itself, as the library
// whose wait is cut short never waits again.
func (l *link) delay(int) time.Duration {
	if !l.reach.tried.Load() {
		return 0
	}
	if conn := l.conn.Load(); conn != nil && conn.LastError() != nil { // whom a hub turns away the library does not tell
		l.broke(conn.LastError())
	}
	timer := time.NewTimer(l.pause())
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.now:
	case <-l.reach.ctx.Done():
		return l.most // the library's own wait ends with the connection
	}
	return 0
}

// hurry has the next try be made now. It does not wait for it.
func (l *link) hurry() {
	select {
	case l.now <- struct{}{}:
	default: // it is
	}
}

// IsConnected reports whether there is a connection.
func (l *link) IsConnected() bool { return l.up.Load() }

// Close ends the connection, and every try to make one.
func (l *link) Close() {
	if !l.IsConnected() {
		l.reach.stop()
	}
	l.Conn.Close()
	l.reach.stop()
}

// errLater is what the library is told of a connection that is not to be waited for: it goes on
// trying by itself then.
var errLater = errors.New("it is tried in a moment")

// reach makes connections until it is stopped, which ends those too that are being made.
type reach struct {
	ctx   context.Context
	stop  context.CancelFunc
	later atomic.Bool // tries fail at once
	tried atomic.Bool

	forget func() bool // that the last one is to be closed; the library makes one at a time
}

// Dial makes a connection.
func (r *reach) Dial(network, address string) (net.Conn, error) {
	if r.later.Load() {
		return nil, errLater
	}
	r.tried.Store(true)
	d := net.Dialer{Timeout: wait}
	conn, err := d.DialContext(r.ctx, network, address)
	if err != nil {
		return nil, err
	}
	if r.forget != nil {
		r.forget()
	}
	r.forget = context.AfterFunc(r.ctx, func() { conn.Close() })
	return whole{conn}, nil
}

// whole is a connection that has ended when a write failed: what is sent next would be taken for the rest of
// what was not.
type whole struct{ net.Conn }

func (w whole) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	if err != nil {
		w.Close()
	}
	return n, err
}
