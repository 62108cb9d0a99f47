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

// Delays before a connection is tried again: twice as long each time, plus up to as much again at random,
// so that not all machines connect at once when their hub is back.
const (
	minRedialDelay     = 250 * time.Millisecond
	maxRedialDelay     = 10 * time.Second
	maxViewRedialDelay = 2 * time.Second // maximum for a view, where a user waits
	steady             = time.Second     // a connection that lasted this long resets the delay
)

// link is a connection to a hub that is made again whenever it breaks.
//
// While the library connects, it holds its locks, possibly for seconds. So link keeps its own flag for
// whether there is a connection, and reading it never waits.
type link struct {
	*nats.Conn
	js        jetstream.JetStream
	up        atomic.Bool
	made      atomic.Int64 // number of connections so far
	tries     atomic.Int64 // tries since the last steady connection
	since     atomic.Int64 // when it was made, in Unix nanoseconds
	maxRedial time.Duration
	renew     func() // called after each connection
	dialer    *dialer
	asked     pendingRequests
	inbox     string // subject prefix of answers
	whose     string // hint if we may not receive answers
	conn      atomic.Pointer[nats.Conn]
	broke     func(error)   // called with errors of the connection
	now       chan struct{} // ends the wait for the next try
}

// dialHub begins to connect. With patient, it doesn't wait for the connection, and keeps trying.
func dialHub(server string, auth Credentials, patient bool, renew func(), failed func(error), more ...nats.Option) (*link, error) {
	l := &link{renew: renew, dialer: &dialer{}, maxRedial: maxViewRedialDelay, now: make(chan struct{}, 1)}
	if patient {
		l.maxRedial = maxRedialDelay
	}
	l.dialer.ctx, l.dialer.stop = context.WithCancel(context.Background())
	l.dialer.later.Store(patient)
	l.inbox = cmp.Or(auth.inbox, strings.TrimSuffix(nats.InboxPrefix, "."))
	l.whose = textIf(auth.inbox == "", "is this a viewer's key?", "does the hub know this machine by this name?")
	l.broke = func(err error) {
		if !errors.Is(err, errLater) && !l.noteDenial(err) && l.dialer.ctx.Err() == nil { // closing it ourselves is not an error
			failed(err)
		}
	}
	o := []nats.Option{
		nats.Name("toolscope"), nats.MaxReconnects(-1), nats.CustomReconnectDelay(l.waitRetry), nats.Timeout(answerTimeout), nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2),
		nats.RetryOnFailedConnect(patient), nats.IgnoreAuthErrorAbort(), nats.SetCustomDialer(l.dialer), nats.SkipHostLookup(),
		nats.FlusherTimeout(answerTimeout), // a write blocks all others
		nats.ReconnectBufSize(-1),          // no buffer: senders ask the hub and send again
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

// retryDelay returns how long to wait before the next try.
func (l *link) retryDelay() time.Duration {
	d := min(minRedialDelay<<min(l.tries.Add(1)-1, 10), l.maxRedial)
	return d + rand.N(d)
}

// waitRetry waits before the next try, but not before the first. It doesn't use the library's own wait,
// because after one that was cut short the library never waits again.
func (l *link) waitRetry(int) time.Duration {
	if !l.dialer.tried.Load() {
		return 0
	}
	if conn := l.conn.Load(); conn != nil && conn.LastError() != nil { // the library doesn't report it if the hub refuses us
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

// retryNow starts the next try now. It doesn't wait for it.
func (l *link) retryNow() {
	select {
	case l.now <- struct{}{}:
	default: // already requested
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

// errLater is the library's error for a connection that must not be waited for. The library then keeps
// trying in the background.
var errLater = errors.New("the connection is made later")

// dialer makes connections until it is stopped. Stopping also ends connections that are being made.
type dialer struct {
	ctx   context.Context
	stop  context.CancelFunc
	later atomic.Bool // tries fail at once
	tried atomic.Bool

	forget func() bool // stops the closing of the last one; the library makes one at a time
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

// failFastConn closes the connection after a failed write. Otherwise the hub would take the next bytes for
// the rest of the failed ones.
type failFastConn struct{ net.Conn }

func (w failFastConn) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	if err != nil {
		w.Close()
	}
	return n, err
}
