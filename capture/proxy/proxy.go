// Package proxy is a recording reverse proxy between clients and a fixed set of providers. It passes
// every exchange to its caller as capture.Records.
//
//	client ─▶ admit ─▶ route ─▶ httputil.ReverseProxy ─▶ upstream
//	          (allowed?)             │ taps: bytes and times
//	                                 ▼
//	                          Options.Record
//
// Terms. A route sends the requests under a path prefix to one upstream; other requests are refused. A
// tap reads a body that is being forwarded and records the bytes that were forwarded.
//
// What always holds:
//   - A request that is not allowed is refused before anything is dialled, with a status code and a
//     line that gives the reason.
//   - Bodies pass unchanged and at once. So do header fields, except the connection's own (RFC 9110
//     §7.6.1) and Host, which becomes the upstream's. The order and case of the names may change:
//     net/http doesn't keep them. Nothing is added, except a mark for an upstream on this machine that
//     may be a toolscope itself. Faults change what the client gets, never the
//     records. A held response passes later than it arrived, and the records note it.
//   - Recording never delays the traffic: Options.Record must return without waiting.
//   - If one side breaks off, the other side is broken off too, never ended cleanly.
//   - Records contain secrets as they were sent. The caller redacts them before they reach a disk or
//     a screen.
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

// Options configures a proxy. Routes and Record are required.
type Options struct {
	Routes []Route
	Record func(capture.Record) // called from many goroutines, in order within an exchange; must not wait

	// Refused is called for each refused request, with the status and the reason, from the request's
	// own goroutine. The request is also recorded as an exchange, without its body. It may be nil.
	Refused func(status int, why string)

	// Advise returns advice for a request without a route, e.g. "put /openai before it", or "". It may
	// be nil.
	Advise func(*http.Request) string

	Faults []fault.Fault // injected into the client's responses; the records hold the originals

	// Watch makes the Watch of a response, which decides whether it is held; nil holds none. HoldTime
	// is the longest hold; 0 is 5 minutes.
	Watch    func() Watch
	HoldTime time.Duration

	Began  time.Time        // start of the records' times; zero is when the proxy was made
	Now    func() time.Time // nil is time.Now
	Limits Limits

	Public  bool     // listen on any address, not only the loopback; needs a Token
	Token   string   // if set, every request must have it: see [Proxy]
	Origins []string // origins of web pages that may send requests, in addition to the loopback's

	Roots *x509.CertPool // authorities for upstreams' certificates; nil is the system's
	Log   *log.Logger    // net/http's log about clients and bugs; nil drops it

	dial  func(ctx context.Context, network, address string) (net.Conn, error) // nil is a net.Dialer
	alive time.Duration                                                        // time between keep-alives; 0 is 5 s
}

// Route sends the requests whose path begins with Prefix to Upstream, without the prefix. "/" takes
// all requests that no other route takes.
type Route struct {
	Prefix   string   // complete segments, e.g. "/anthropic"
	Field    string   // a header field that the requests must have; "" for all requests
	Upstream *url.URL // http or https, and a host; its path, if any, comes before the rest of the request's
}

// Limits are the limits of requests and exchanges. Zero values are the defaults.
type Limits struct {
	HeaderBytes int           // maximum size of a request's or response's head: 1 MiB
	HeaderTime  time.Duration // maximum time for a request's head to arrive: 10 s
	Idle        time.Duration // an exchange is cut after this time without data in either direction: 10 min
}

const (
	headerBytes = 1 << 20
	headerTime  = 10 * time.Second
	idleTime    = 10 * time.Minute

	keepAlive = 2 * time.Minute // how long a client's connection may be without a request
)

func (l Limits) orDefaults() Limits {
	return Limits{cmp.Or(l.HeaderBytes, headerBytes), cmp.Or(l.HeaderTime, headerTime), cmp.Or(l.Idle, idleTime)}
}

// Stats counts a proxy's requests.
type Stats struct {
	Requests int64  // forwarded, or answered for a fault
	Live     int64  // how many of those are still open
	Refused  int64  // requests that were refused
	Refusal  string // why the last of them was refused
}

// Proxy is an http.Handler that forwards and records. Use it with [Proxy.Serve] or in your own server,
// which must then limit the size and the time of a request's head.
//
// With a token, a request must have it as the first segment of its path
// ("/TOKEN/anthropic/v1/messages"), which works with any client that takes a base URL, or as
// "Proxy-Authorization: Bearer TOKEN". The token is neither forwarded nor recorded.
type Proxy struct {
	options   Options
	limits    Limits
	routes    []route
	mark      string // of this proxy, among toolscope's servers
	transport *http.Transport
	single    *http.Transport // for connections with one request
	buffers   buffers
	faults    *fault.Set // nil without faults
	log       *log.Logger

	closing context.Context // done when Close begins
	close   context.CancelCauseFunc

	mu        sync.Mutex // protects watched, and closed, so that no request enters while Close waits
	closed    bool
	watched   map[int]*heldBody // by exchange
	exchanges sync.WaitGroup

	numbers, live, refused atomic.Int64 // numbers counts the exchanges so far, also refused ones
	refusal                atomic.Value // string
}

// New returns a proxy. It doesn't check whether the upstreams can be reached.
func New(o Options) (*Proxy, error) {
	if o.Record == nil {
		return nil, errors.New("proxy: Options.Record is missing")
	}
	if o.Public && o.Token == "" {
		return nil, errors.New("proxy: listening on other addresses than the loopback needs a token")
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
	p := &Proxy{options: o, limits: o.Limits.orDefaults(), routes: routes, mark: hostguard.NewMark(), log: o.Log, watched: map[int]*heldBody{}}
	if p.log == nil {
		p.log = quiet
	}
	if len(o.Faults) > 0 {
		p.faults = fault.NewSet(o.Faults)
	}
	p.transport, p.single = newTransport(o, p.limits), newTransport(o, p.limits)
	p.single.DisableKeepAlives = true
	p.closing, p.close = context.WithCancelCause(context.Background())
	return p, nil
}

// Stats returns the counts so far.
func (p *Proxy) Stats() Stats {
	s := Stats{Requests: p.numbers.Load() - p.refused.Load(), Live: p.live.Load(), Refused: p.refused.Load()}
	s.Refusal, _ = p.refusal.Load().(string)
	return s
}

// Close cuts the open exchanges, and returns when all have ended and every record was passed on. If
// ctx ends first, it returns ctx's error.
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
	passed := hostguard.TakeMarks(r.Header)
	to, no := p.routeRequest(r, passed)
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
