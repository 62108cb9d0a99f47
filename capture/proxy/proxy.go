// Package proxy is a reverse proxy that records what passes: it stands between a client and the
// providers it was told of, and whoever runs it gets every exchange as capture.Records.
//
//	client ─▶ admit ─▶ route ─▶ httputil.ReverseProxy ─▶ upstream
//	          (may it?)              │ taps: what was read, and when
//	                                 ▼
//	                          Options.Record
//
// Words. A route sends the requests under a path prefix to one upstream; there are no others. A tap
// reads a body for somebody and hands over what that one has passed on.
//
// What always holds:
//   - What is not allowed is refused before anything is dialled, with a status code and a line that
//     says why.
//   - Bodies pass byte by byte as they came, and at once. So do header fields, but for those that
//     RFC 9110 §7.6.1 makes the business of one connection, for Host, which becomes the upstream's,
//     and for the order and the case of the names, which net/http does not keep. Nothing is added.
//     Where faults are asked for, what the client gets is bent by them; the records are not. An
//     answer that somebody wants held passes later than it came, as the records say.
//   - Recording never holds up the traffic: whoever is given the records has a box for them that
//     nobody waits for.
//   - A side that breaks off is broken off on the other side too, never ended cleanly.
//   - Records hold secrets as they were sent. Whoever takes them redacts before they reach a disk
//     or a screen.
package proxy

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"log"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"toolscope/capture"
	"toolscope/capture/fault"
	"toolscope/capture/hostguard"
)

// Options says what a proxy is to do. Routes and Record are required.
type Options struct {
	Routes []Route
	Record func(capture.Record) // called from many goroutines, of one exchange in order; must not wait

	// Refused is told of each request that is not admitted: the status it is answered with, and
	// why. Its records, without its body, are an exchange. It is called from the request's own goroutine. It may be nil.
	Refused func(status int, why string)

	// Advise is what a request that no route takes is told to do, if anything: "put /openai before
	// it". It may be nil.
	Advise func(*http.Request) string

	Faults []fault.Fault // what the client is given is bent so; what the provider sent is recorded

	// Watch makes what decides whether an answer is held, one for each; nil holds none. HoldTime is for
	// how long at most; 0 is 5 minutes.
	Watch    func() Watch
	HoldTime time.Duration

	Began  time.Time        // what the records' times count from; zero is when the proxy was made
	Now    func() time.Time // nil is time.Now
	Limits Limits

	Public  bool     // listen on any address, not only on the loopback; wants a Token
	Token   string   // when set, every request has to show it: see [Proxy]
	Origins []string // what a browser may say its page's origin is, besides those of the loopback

	Roots *x509.CertPool // the authorities that upstreams' certificates are checked by; nil is the system's
	Log   *log.Logger    // what net/http has to say of clients and of bugs; nil drops it

	dial  func(ctx context.Context, network, address string) (net.Conn, error) // nil is a net.Dialer
	alive time.Duration                                                        // between words that have a client wait; 0 is 5 s
}

// Route sends the requests whose path begins with Prefix, which is cut off, to Upstream. "/" takes
// what no other does.
type Route struct {
	Prefix   string   // "/anthropic": whole segments
	Field    string   // of the header: the route is for requests that have it; "" for all
	Upstream *url.URL // http or https, and a host; the path, if any, goes before what is left of the request's
}

// Limits bounds what may happen. Zero values are the defaults.
type Limits struct {
	HeaderBytes int           // of a request's or a response's head: 1 MiB
	HeaderTime  time.Duration // in which a request's head must have come: 10 s
	Idle        time.Duration // in which nothing passes, in either direction, after which an exchange is cut: 10 min
}

const (
	headerBytes = 1 << 20
	headerTime  = 10 * time.Second
	idleTime    = 10 * time.Minute

	keepAlive = 2 * time.Minute // a client's connection may be without a request for so long
)

func (l Limits) orDefaults() Limits {
	return Limits{cmp.Or(l.HeaderBytes, headerBytes), cmp.Or(l.HeaderTime, headerTime), cmp.Or(l.Idle, idleTime)}
}

// Stats is what a proxy has done so far.
type Stats struct {
	Requests int64  // admitted
	Live     int64  // of those, still going on
	Refused  int64  // requests that were not admitted
	Refusal  string // why the last of them was not
}

// Proxy is the http.Handler that forwards and records. It is used with [Proxy.Serve], or in a
// server of one's own; that one then has to see to the limits of a request's head and to its time.
//
// With a token, a request shows it as the first segment of its path
// ("/TOKEN/anthropic/v1/messages"), which any client that takes a base URL can do, or as
// "Proxy-Authorization: Bearer TOKEN". Neither is passed on or recorded.
type Proxy struct {
	options   Options
	limits    Limits
	routes    []route
	transport *http.Transport
	buffers   buffers
	faults    *fault.Set // nil without any
	log       *log.Logger

	closing context.Context // done when Close begins
	close   context.CancelCauseFunc

	mu        sync.Mutex // protects closed, so that nobody enters while Close waits, and watched
	closed    bool
	watched   map[int]*heldBody // by exchange
	exchanges sync.WaitGroup

	numbers, live, refused atomic.Int64 // numbers: exchanges so far, the refused ones too
	refusal                atomic.Value // string
}

// New makes a proxy. It does not look whether the upstreams are there.
func New(o Options) (*Proxy, error) {
	if o.Record == nil {
		return nil, errors.New("proxy: nobody takes the records")
	}
	if o.Public && o.Token == "" {
		return nil, errors.New("proxy: to listen on other addresses than the loopback's needs a token")
	}
	routes, err := newRoutes(o.Routes)
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Began.IsZero() {
		o.Began = o.Now()
	}
	p := &Proxy{options: o, limits: o.Limits.orDefaults(), routes: routes, log: o.Log, watched: map[int]*heldBody{}}
	if p.log == nil {
		p.log = quiet
	}
	if len(o.Faults) > 0 {
		p.faults = fault.NewSet(o.Faults)
	}
	p.transport = newTransport(o, p.limits)
	p.closing, p.close = context.WithCancelCause(context.Background())
	return p, nil
}

// Stats is what the proxy has done so far.
func (p *Proxy) Stats() Stats {
	s := Stats{Requests: p.numbers.Load() - p.refused.Load(), Live: p.live.Load(), Refused: p.refused.Load()}
	s.Refusal, _ = p.refusal.Load().(string)
	return s
}

// Close cuts what is going on, and returns when all of it has ended and every record was handed
// over. The error is ctx's, when it is done before.
func (p *Proxy) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.close(errClosed)
	ended := make(chan struct{})
	go func() {
		p.exchanges.Wait()
		p.transport.CloseIdleConnections()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ServeHTTP refuses a request, or forwards it and records the exchange.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.tryEnter() {
		writeRefusal(w, hostguard.Refuse(http.StatusServiceUnavailable, "the proxy is closed"))
		return
	}
	defer p.exchanges.Done()
	to, no := p.routeRequest(r)
	if no != nil {
		p.refused.Add(1)
		p.refusal.Store(no.Why)
		if p.options.Refused != nil {
			p.options.Refused(no.Status, no.Why)
		}
		p.recordRefusal(r, no)
		writeRefusal(w, no)
		return
	}
	x := p.beginExchange(w, r, to)
	defer x.finish()
	if f := p.answerFault(r); f != nil {
		x.answerFor(f, r)
		return
	}
	x.forwardRequest(r)
}

func (p *Proxy) tryEnter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.exchanges.Add(1)
	}
	return !p.closed
}

func (p *Proxy) recordTime() time.Duration { return max(0, p.options.Now().Sub(p.options.Began)) }
