// Package proxy is a recording reverse proxy between clients and a fixed set of providers. It passes every
// exchange to its caller as a sequence of capture.Records.
//
//	client ─▶ admit ─▶ route ─▶ httputil.ReverseProxy ─▶ upstream
//	          (allowed?)             │ taps: bytes and times
//	                                 ▼
//	                          Options.Record
//
// Terms: A route sends the requests under a path prefix to one upstream. Requests without a route are
// refused. A tap reads a body that is being forwarded, and records the forwarded bytes.
//
// Invariants:
//   - A request that is not allowed is refused before anything is dialled, with a status code and a line
//     that gives the reason.
//   - Bodies are forwarded unchanged, each byte when it arrives. Header fields are forwarded unchanged too,
//     except those that apply only to one connection (RFC 9110 §7.6.1), WebSocket extensions, and Host,
//     which becomes the upstream's. The order and case of the names may change, because net/http doesn't
//     keep them. Nothing is added, except a mark if the upstream is on this machine and may be a toolscope
//     server. With faults or breakpoints, a request asks for an uncompressed response. An MCP server's URL
//     for messages may be replaced with the proxy's. Faults change the client's response, never the
//     records. A held response is forwarded later than it arrived, and the records note this.
//   - Recording never delays the traffic: Options.Record must return without waiting.
//   - If one side breaks off inside a body, the proxy breaks off the other side too. It never ends that
//     side cleanly.
//   - Records contain secrets as they were sent. The caller redacts the records before they reach a disk or
//     a screen.
package proxy

import (
	"bytes"
	"cmp"
	"context"
	"crypto/subtle"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toolscope/capture"
	"toolscope/capture/fault"
)

// Options configures a proxy. Record is required. [Proxy.Serve] needs Routes.
type Options struct {
	Routes []Route
	Record func(capture.Record) // called from many goroutines, but in order within an exchange; must not wait

	// Refused is called for each refused request with the status and the reason, in the request's own goroutine. The
	// request is also recorded as an exchange, without its body. Refused may be nil.
	Refused func(status int, why string)

	// Advise returns advice for a request without a route, e.g. "put /openai before it", or "" if there is none.
	// Advise may be nil.
	Advise func(*http.Request) string

	Faults []fault.Fault // faults that are injected into the client's responses; the records have the original bytes

	// Watch returns the Watch that decides whether a response is held. If it is nil, no response is held. HoldTime is
	// the maximum duration of a hold; 0 means 5 minutes.
	Watch    func() Watch
	HoldTime time.Duration

	Began  time.Time        // start of the records' times; if zero, the time when the proxy was created
	Now    func() time.Time // nil is time.Now
	Limits Limits

	Public  bool     // allow listening on any address, not only the loopback; needs a Token
	Token   string   // if set, every request must have it: see [Proxy]
	Origins []string // additional web origins that may send requests; loopback origins always may

	Roots *x509.CertPool // authorities for upstreams' certificates; nil means the system's
	Log   *log.Logger    // log of net/http about clients and bugs; if nil, it is dropped

	// Dial connects to upstreams. If it is nil, a dialer is used that refuses names with link-local or metadata
	// addresses.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	alive time.Duration // time between keep-alives; 0 means 5 s
}

// Route sends requests whose path begins with Prefix to Upstream, with the prefix removed. The prefix "/" matches all
// requests that no other route matches.
type Route struct {
	Prefix   string   // complete segments, e.g. "/anthropic"
	Field    string   // a header field that a request must have; "" if none is required
	Upstream *url.URL // http or https, and a host; its path, if any, comes before the path of the request
}

// Limits are the limits of requests and exchanges. A zero value means the default.
type Limits struct {
	HeaderBytes int           // maximum size of the head of a request or a response; default 1 MiB
	HeaderTime  time.Duration // maximum time for a request's head to arrive; default 10 s
	Idle        time.Duration // an exchange is cut after this time without data in either direction; default 10 min
}

const (
	headerBytes = 1 << 20
	headerTime  = 10 * time.Second
	idleTime    = 10 * time.Minute

	keepAlive = 2 * time.Minute // maximum time that a client's connection may be idle between requests
)

func (l Limits) orDefaults() Limits {
	return Limits{cmp.Or(l.HeaderBytes, headerBytes), cmp.Or(l.HeaderTime, headerTime), cmp.Or(l.Idle, idleTime)}
}

// Stats counts a proxy's requests.
type Stats struct {
	Requests int64  // number of requests that were forwarded, or answered by a fault
	Live     int64  // number of these requests that are still open
	Refused  int64  // number of requests that were refused
	Refusal  string // why the last of them was refused
}

// Proxy is an http.Handler that forwards and records requests. Use it with [Proxy.Serve] or in your own
// server, which must then limit the size of a request's head and the time for it.
//
// If the proxy has a token, every request must contain it. The token can be the first segment of the path
// ("/TOKEN/anthropic/v1/messages"), which works with any client that accepts a base URL. It can also be in
// the field "Proxy-Authorization: Bearer TOKEN". The token is neither forwarded nor recorded.
type Proxy struct {
	options   Options
	limits    Limits
	routes    []route
	mark      string // identifies this proxy among toolscope's servers
	transport *http.Transport
	single    *http.Transport // makes a new connection for each request
	buffers   buffers
	faults    *fault.Set // nil without faults
	log       *log.Logger

	upstreams upstreamConns

	closing context.Context // done when Close begins
	close   context.CancelCauseFunc

	mu        sync.Mutex // protects watched and closed, so that no request is accepted while Close waits
	closed    bool
	watched   map[int]*heldBody // by exchange
	exchanges sync.WaitGroup

	numbers, live, refused atomic.Int64 // numbers counts the exchanges so far, including refused ones
	refusal                atomic.Value // string
}

// New returns a proxy. It doesn't check whether the upstreams can be reached.
func New(o Options) (*Proxy, error) {
	if o.Record == nil {
		return nil, errors.New("proxy: Options.Record is missing")
	}
	if o.Public && o.Token == "" {
		return nil, errors.New("proxy: listening on addresses other than the loopback needs a token")
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
	p := &Proxy{options: o, limits: o.Limits.orDefaults(), routes: routes, mark: NewMark(), log: o.Log, watched: map[int]*heldBody{}}
	if p.log == nil {
		p.log = quiet
	}
	if len(o.Faults) > 0 {
		p.faults = fault.NewSet(o.Faults)
	}
	if o.Dial == nil {
		o.Dial = dialGuard{}.dialChecked
	}
	o.Dial = p.upstreams.trackDial(o.Dial)
	p.options.Dial = o.Dial
	p.transport, p.single = newTransport(o, p.limits), newTransport(o, p.limits)
	p.single.DisableKeepAlives = true
	p.closing, p.close = context.WithCancelCause(context.Background())
	return p, nil
}

// Stats returns the current counts.
func (p *Proxy) Stats() Stats {
	s := Stats{Requests: p.numbers.Load() - p.refused.Load(), Live: p.live.Load(), Refused: p.refused.Load()}
	s.Refusal, _ = p.refusal.Load().(string)
	return s
}

// Close cuts the open exchanges. It returns when all of them have ended and every record has been passed on. If ctx
// ends first, Close returns the error of ctx.
func (p *Proxy) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.close(errClosed)
	ended := make(chan struct{})
	go func() {
		p.exchanges.Wait()
		p.transport.CloseIdleConnections()
		p.upstreams.closeAll()
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
		writeRefusal(w, Refuse(http.StatusServiceUnavailable, "the proxy is closed"))
		return
	}
	defer p.exchanges.Done()
	passed := TakeMarks(r.Header)
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
	if p.faults != nil && !fault.IsAside(r) {
		if f := p.faults.Refusal(); f != nil {
			x.answerFor(f, r)
			return
		}
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

// Serve answers requests on l until ctx is done or the proxy is closed. It then cuts the open exchanges, closes l and
// returns nil. It refuses a listener that other machines can reach, unless the proxy is public.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	return p.serveRoutes(ctx, l, p.routes)
}

// ServeOnly is like Serve, for a listener whose requests all go to one upstream with their paths unchanged. It is
// needed for a server that writes its own paths in its responses, because a client resolves such paths against the
// listener's address.
func (p *Proxy) ServeOnly(ctx context.Context, l net.Listener, upstream *url.URL) error {
	routes, err := newRoutes([]Route{{Prefix: "/", Upstream: upstream}})
	if err != nil {
		l.Close()
		return err
	}
	return p.serveRoutes(context.WithValue(ctx, onlyKey{}, true), l, routes)
}

// ServeDecrypted is like Serve, for connections whose TLS the caller has decrypted. Their clients meant to connect to
// the upstream itself. So each request must name the upstream's host, and needs no token. The rules for web pages
// don't apply, because the caller decides who may connect.
func (p *Proxy) ServeDecrypted(ctx context.Context, l net.Listener, upstream *url.URL) error {
	routes, err := newRoutes([]Route{{Prefix: "/", Upstream: upstream}})
	if err != nil {
		l.Close()
		return err
	}
	return p.serveRoutes(context.WithValue(ctx, decryptedKey{}, upstream), l, routes)
}

// Dial connects to a host that is not an upstream, with the same checks.
func (p *Proxy) Dial(ctx context.Context, host, port string) (net.Conn, error) {
	if err := CheckHost(host); err != nil {
		return nil, err
	}
	return p.options.Dial(ctx, "tcp", net.JoinHostPort(host, port))
}

// CheckHost returns an error for an address of a metadata service, for its name, and for a number, because some systems
// read a number as an address.
func CheckHost(host string) error {
	if _, err := netip.ParseAddr(host); err == nil {
		return checkAddress(host, net.JoinHostPort(host, "0"))
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	_, notNumber := strconv.ParseUint(name[strings.LastIndex(name, ".")+1:], 0, 64)
	if notNumber == nil || name == "metadata.google.internal" {
		return fmt.Errorf("%q is not the name or address of a host that may be reached: %w", host, errForbidden)
	}
	return nil
}

type (
	routesKey    struct{} // the routes of a listener
	onlyKey      struct{} // the listener has a single upstream
	decryptedKey struct{} // the upstream to which the client of a decrypted connection connects
)

func (p *Proxy) serveRoutes(ctx context.Context, l net.Listener, routes []route) error {
	if len(routes) == 0 {
		l.Close()
		return errors.New("proxy: there are no routes")
	}
	if !p.options.Public && !isLocal(l.Addr()) {
		l.Close()
		return fmt.Errorf("proxy: other machines can reach %s: listen on 127.0.0.1, or allow other machines and set a token", l.Addr())
	}
	base, stop := context.WithCancelCause(context.WithValue(context.WithoutCancel(ctx), routesKey{}, routes))
	defer stop(errClosed)
	server := &http.Server{
		Handler:           p,
		ReadHeaderTimeout: p.limits.HeaderTime,
		MaxHeaderBytes:    p.limits.HeaderBytes,
		IdleTimeout:       keepAlive,
		Protocols:         HTTPProtocols(),
		ErrorLog:          p.log,
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, headKey{}, c) },
		ConnState: func(c net.Conn, state http.ConnState) {
			if state == http.StateIdle {
				c.(*headWatch).expectHead()
			}
		},
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(watchedListener{l}) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
	case <-p.closing.Done():
	}
	stop(errClosed) // stop before the connections close, so that errClosed is the reason for the cuts
	server.Close()
	if err == nil {
		err = <-ended
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("proxy: stopped listening: %w", err)
}

func isLocal(a net.Addr) bool {
	switch a := a.(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return false
}

// A headWatch searches the bytes of each request's head for a Content-Length next to a Transfer-Encoding.
// net/http removes such a Content-Length silently, as RFC 9112 §6.3 allows. The forwarded request gets its
// own framing, so the two fields can't be used for request smuggling. But a client that sends both is faulty
// or malicious.
//
// A headWatch reads the first bytes of the connection, and the first bytes after each idle time, up to an
// empty line. It doesn't see a request that was sent before the previous response.
type headWatch struct {
	net.Conn
	mu     sync.Mutex
	inBody bool
	line   []byte // the beginning of an unfinished line
	length bool
}

const lengthField = "content-length:"

type headKey struct{}

type watchedListener struct{ net.Listener }

func (l watchedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &headWatch{Conn: c}, nil
}

func (c *headWatch) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	for rest, complete := p[:n], true; complete && !c.inBody; {
		var line []byte
		if line, rest, complete = bytes.Cut(rest, []byte("\n")); len(c.line) < len(lengthField) {
			c.line = append(c.line, line[:min(len(line), len(lengthField))]...)
		}
		if !complete {
			break
		}
		c.inBody = len(bytes.TrimSuffix(c.line, []byte("\r"))) == 0
		c.length = c.length || bytes.HasPrefix(bytes.ToLower(c.line), []byte(lengthField))
		c.line = c.line[:0]
	}
	return n, err
}

func (c *headWatch) expectHead() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inBody, c.length, c.line = false, false, c.line[:0]
}

// CloseWrite closes the write side. net/http calls it after a refusal. An upgraded connection calls it when one side
// has ended.
func (c *headWatch) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// hadLength reports whether the head of the request had a Content-Length, even if net/http removed it.
func hadLength(r *http.Request) bool {
	c, ok := r.Context().Value(headKey{}).(*headWatch)
	if !ok {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.length
}

// self is the name of the proxy in its own responses.
const self = "toolscope proxy"

// writeRefusal answers the request instead of the upstream.
func writeRefusal(w http.ResponseWriter, no *Refusal) {
	if no.Status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
	}
	no.Write(w, self)
}

// recordRefusal records a refused request as an exchange that the proxy answered itself. It doesn't read the body.
func (p *Proxy) recordRefusal(r *http.Request, no *Refusal) {
	number, at := int(p.numbers.Add(1)), p.recordTime()
	header := r.Header.Clone()
	header.Del("Proxy-Authorization")
	put := func(rec capture.Record) {
		rec.Exchange, rec.At = number, at
		p.options.Record(rec)
	}
	path := cmp.Or(rawPath(r), r.RequestURI)
	if p.options.Token != "" { // the first segment may be a token, right or wrong
		_, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		path = "/…/" + rest
	}
	scheme := "http"
	if r.Context().Value(decryptedKey{}) != nil {
		scheme = "https"
	}
	head := capture.Head{Method: r.Method, URL: scheme + "://" + r.Host + path, Header: header, Start: p.options.Now()}
	put(capture.Record{Side: capture.Request, Head: &head})
	put(capture.Record{
		By: capture.Toolscope, Note: capture.OwnAnswer + no.Why,
		Head: &capture.Head{Status: no.Status, Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, Start: p.options.Now()},
	})
	put(capture.Record{Data: []byte(no.Words(self))})
	put(capture.Record{End: capture.EndEOF, Why: capture.Refused + no.Why, By: capture.Toolscope})
}

// routeRequest returns the target of a request, or a refusal. The parameter passed contains the marks of the servers
// that the request has passed. A public proxy accepts any host name, because its token keeps strangers out.
func (p *Proxy) routeRequest(r *http.Request, passed []string) (*target, *Refusal) {
	switch {
	case r.Method == http.MethodConnect:
		return nil, Refuse(http.StatusMethodNotAllowed, "CONNECT is refused: this proxy forwards only to its own upstreams")
	case len(r.TransferEncoding) > 0 && hadLength(r):
		return nil, Refuse(http.StatusBadRequest, "a request with both Content-Length and Transfer-Encoding is refused: its length is ambiguous")
	}
	path, no := p.checkClient(r)
	if no != nil {
		return nil, no
	}
	routes, ok := r.Context().Value(routesKey{}).([]route)
	if !ok {
		routes = p.routes
	}
	to := findRoute(routes, r.URL, path, r.Header)
	if to == nil {
		if p.options.Advise != nil {
			if advice := p.options.Advise(r); advice != "" {
				return nil, Refuse(http.StatusNotFound, "no provider in the path: %s", advice)
			}
		}
		return nil, Refuse(http.StatusNotFound, "no upstream for the path %q: use one of %s", path, routePrefixes(routes))
	}
	if isOwn(r, to.url) {
		return nil, Refuse(http.StatusLoopDetected, "the upstream %s is this proxy itself", to.url.Host)
	}
	if slices.Contains(passed, p.mark) {
		return nil, Refuse(http.StatusLoopDetected, "the upstream %s leads back to this proxy", to.url.Host)
	}
	to.marks = append(passed, p.mark)
	return to, nil
}

// checkClient returns the path of a request that is allowed, without the token, or else a refusal.
func (p *Proxy) checkClient(r *http.Request) (path string, no *Refusal) {
	if meant, ok := r.Context().Value(decryptedKey{}).(*url.URL); ok {
		host, _ := splitHost(r.Host)
		if !strings.EqualFold(strings.TrimSuffix(host, "."), meant.Hostname()) {
			return "", Refuse(http.StatusMisdirectedRequest, "the Host %q is refused: this connection leads to %s", r.Host, meant.Hostname())
		}
		return rawPath(r), nil
	}
	if path, no = p.checkToken(r); no != nil {
		return "", no
	}
	rules := GuardRules{Public: p.options.Public, Origins: p.options.Origins, Purpose: "this proxy forwards only to its own upstreams"}
	return path, rules.Check(r)
}

// isOwn reports whether u leads to this proxy, e.g. because a base URL was set twice. A request to such a URL would
// loop forever.
func isOwn(r *http.Request, u *url.URL) bool {
	host, port := LocalAddress(r)
	to := u.Port()
	if to == "" {
		to = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return port != "" && port == to && (u.Hostname() == host || IsLoopback(host) && IsLoopback(u.Hostname()))
}

// checkToken returns the request's path without the token, or a refusal if the request doesn't have the token.
func (p *Proxy) checkToken(r *http.Request) (string, *Refusal) {
	path := rawPath(r)
	if p.options.Token == "" {
		return path, nil
	}
	if shown, ok := strings.CutPrefix(r.Header.Get("Proxy-Authorization"), "Bearer "); ok && p.isToken(shown) {
		return path, nil
	}
	if segment, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/"); p.isToken(segment) {
		return "/" + rest, nil
	}
	return "", Refuse(http.StatusUnauthorized, "the token is missing: put the token first in the path, or in Proxy-Authorization")
}

func (p *Proxy) isToken(s string) bool {
	return subtle.ConstantTimeCompare([]byte(s), []byte(p.options.Token)) == 1
}
