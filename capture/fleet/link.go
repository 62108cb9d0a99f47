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
	minRedialDelay     = 250 * time.Millisecond
	maxRedialDelay     = 10 * time.Second
	maxViewRedialDelay = 2 * time.Second // at most, where somebody looks at a screen
	steady             = time.Second     // a connection that held for so long has it begin anew
)

// link is a connection to a hub, which is made again as often as it breaks.
//
// While the library connects it holds what it would need to answer anything, be it for seconds.
// Whether there is a connection is kept here, so that who asks never waits.
type link struct {
	*nats.Conn
	js        jetstream.JetStream
	up        atomic.Bool
	made      atomic.Int64 // how often it was made
	tries     atomic.Int64 // to make one, since the last that was steady
	since     atomic.Int64 // when it was made, in nanoseconds
	maxRedial time.Duration
	renew     func() // is told when it was made again
	dialer    *dialer
	asked     pendingRequests
	inbox     string // what answers begin with
	whose     string // the question to who cannot hear them
	conn      atomic.Pointer[nats.Conn]
	broke     func(error)   // is told of what keeps it from being made
	now       chan struct{} // has the next try be made
}

// dialHub begins to connect. patient does not wait for that, and goes on trying.
func dialHub(server string, auth Credentials, patient bool, renew func(), failed func(error), more ...nats.Option) (*link, error) {
	l := &link{renew: renew, dialer: &dialer{}, maxRedial: maxViewRedialDelay, now: make(chan struct{}, 1)}
	if patient {
		l.maxRedial = maxRedialDelay
	}
	l.dialer.ctx, l.dialer.stop = context.WithCancel(context.Background())
	l.dialer.later.Store(patient)
	l.inbox = cmp.Or(auth.inbox, strings.TrimSuffix(nats.InboxPrefix, "."))
	l.whose = textIf(auth.inbox == "", "is it the key of who views?", "is that its name for this machine?")
	l.broke = func(err error) {
		if !errors.Is(err, errLater) && !l.noteDenial(err) && l.dialer.ctx.Err() == nil { // that we end it is no trouble
			failed(err)
		}
	}
	o := []nats.Option{
		nats.Name("toolscope"), nats.MaxReconnects(-1), nats.CustomReconnectDelay(l.waitRetry), nats.Timeout(answerTimeout), nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2),
		nats.RetryOnFailedConnect(patient), nats.IgnoreAuthErrorAbort(), nats.SetCustomDialer(l.dialer), nats.SkipHostLookup(),
		nats.FlusherTimeout(answerTimeout), // nobody else can do anything while one writes
		nats.ReconnectBufSize(-1),          // what was not sent is asked for again; nothing leaves late
		nats.ConnectHandler(func(*nats.Conn) { l.onConnect() }),
		nats.ReconnectHandler(func(*nats.Conn) { l.onConnect() }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { l.broke(err) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { l.onDisconnect(); l.broke(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { l.broke(err) }),
	}
	who, err := auth.connectOptions()
	if err != nil {
		return nil, err
	}
	conn, err := nats.Connect(server, append(append(o, who...), more...)...)
	if err != nil {
		return nil, fmt.Errorf("hub %s: %w", server, plainReason(err))
	}
	l.dialer.later.Store(false)
	l.Conn = conn
	l.conn.Store(conn)
	if !patient {
		l.up.Store(true)
	}
	l.js, err = jetstream.New(conn)
	return l, err
}

func (l *link) onDisconnect() {
	l.up.Store(false)
	if time.Since(time.Unix(0, l.since.Load())) > steady {
		l.tries.Store(0)
	}
}

func (l *link) onConnect() {
	l.asked.deaf.Store(nil)
	l.since.Store(time.Now().UnixNano())
	l.up.Store(true)
	l.made.Add(1)
	l.renew()
}

// retryDelay is how long to wait before the next try.
func (l *link) retryDelay() time.Duration {
	d := min(minRedialDelay<<min(l.tries.Add(1)-1, 10), l.maxRedial)
	return d + rand.N(d)
}

// waitRetry waits before the next try: not at all before the first one. It waits by itself, as the library
// whose wait is cut short never waits again.
func (l *link) waitRetry(int) time.Duration {
	if !l.dialer.tried.Load() {
		return 0
	}
	if conn := l.conn.Load(); conn != nil && conn.LastError() != nil { // whom a hub turns away the library does not tell
		l.broke(conn.LastError())
	}
	timer := time.NewTimer(l.retryDelay())
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.now:
	case <-l.dialer.ctx.Done():
		return l.maxRedial // the library's own wait ends with the connection
	}
	return 0
}

// retryNow has the next try be made now. It does not wait for it.
func (l *link) retryNow() {
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
		l.dialer.stop()
	}
	l.Conn.Close()
	l.dialer.stop()
}

// errLater is what the library is told of a connection that is not to be waited for: it goes on
// trying by itself then.
var errLater = errors.New("it is tried in a moment")

// dialer makes connections until it is stopped, which ends those too that are being made.
type dialer struct {
	ctx   context.Context
	stop  context.CancelFunc
	later atomic.Bool // tries fail at once
	tried atomic.Bool

	forget func() bool // that the last one is to be closed; the library makes one at a time
}

// Dial makes a connection.
func (r *dialer) Dial(network, address string) (net.Conn, error) {
	if r.later.Load() {
		return nil, errLater
	}
	r.tried.Store(true)
	d := net.Dialer{Timeout: answerTimeout}
	conn, err := d.DialContext(r.ctx, network, address)
	if err != nil {
		return nil, err
	}
	if r.forget != nil {
		r.forget()
	}
	r.forget = context.AfterFunc(r.ctx, func() { conn.Close() })
	return failFastConn{conn}, nil
}

// failFastConn is a connection that has ended when a write failed: what is sent next would be taken for the rest of
// what was not.
type failFastConn struct{ net.Conn }

func (w failFastConn) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	if err != nil {
		w.Close()
	}
	return n, err
}
