package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"toolscope/capture"
	"toolscope/capture/fault"
	"toolscope/stream/count"
)

// These are the reasons to cut an exchange that don't come from the upstream. The first one is net/http's own.
var (
	errClientGone = context.Canceled
	errClosed     = errors.New("the proxy was closed")
	errIdle       = errors.New("no data passed for too long")
)

// quiet drops the log of ReverseProxy, because the records contain the same facts.
var quiet = log.New(io.Discard, "", 0)

// farewell is the time that a client has to read the rest after its exchange is cut.
const farewell = 250 * time.Millisecond

// clientGone returns the text for the end of an exchange whose client left after n bytes of the response.
func clientGone(n int64) string { return "the client disconnected after " + count.Of(n, "byte") }

// exchange is a request that is being forwarded, and its response.
type exchange struct {
	p      *Proxy
	number int
	client *http.Request
	w      http.ResponseWriter
	target *target

	ctx      context.Context // cancelled when the exchange is cut; its cause is the reason for the cut
	cancel   context.CancelCauseFunc
	detach   func() bool // unregisters the exchange, so that closing the proxy no longer cuts it
	relax    func() bool // prevents a cut from setting the write deadline
	idle     *time.Timer
	sent     *upload          // nil without a body
	resent   bool             // the request was sent again, on a new connection
	received *bodyTap         // nil before the response
	upgraded *upgraded        // set after the switch to a WebSocket
	failure  error            // why there is no response
	answer   *Refusal         // the proxy's own answer instead of a response
	cause    capture.Party    // the party that caused the proxy's own answer
	faults   []fault.Fault    // faults for this response
	faulted  *faultedResponse // nil without faults
	messages *messagesURL     // nil if no URL in the response may be replaced
	gate     *breakableWriter // nil if no fault or breakpoint can break the connection
	watch    Watch            // decides whether the response is held; nil without breakpoints
	held     *heldBody        // nil if the response can't be held

	mu   sync.Mutex // records arrive from both sides
	over bool
}

// beginExchange starts an exchange and records the request's head.
func (p *Proxy) beginExchange(w http.ResponseWriter, r *http.Request, to *target) *exchange {
	x := &exchange{p: p, number: int(p.numbers.Add(1)), client: r, w: w, target: to}
	p.live.Add(1)
	if p.options.Watch != nil && !fault.IsAside(r) {
		x.watch = p.options.Watch()
	}
	x.ctx, x.cancel = ClientContext(r)
	x.detach = context.AfterFunc(p.closing, func() { x.cancel(errClosed) })
	x.relax = context.AfterFunc(x.ctx, func() { // a client that doesn't read must not block the end of the exchange
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(farewell))
	})
	x.idle = time.AfterFunc(p.limits.Idle, func() { x.cancel(errIdle) })
	head := capture.Head{Method: r.Method, URL: to.text, Header: r.Header.Clone(), Start: p.options.Now()}
	if p.options.Token != "" {
		head.Header.Del("Proxy-Authorization")
	}
	x.putRecord(capture.Record{Side: capture.Request, At: p.recordTime(), Head: &head, Note: extensionNote(r)})
	return x
}

// putRecord adds the exchange's number to a record and passes the record on, unless the exchange has ended.
func (x *exchange) putRecord(r capture.Record) {
	r.Exchange = x.number
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.over {
		x.p.options.Record(r)
	}
	x.over = x.over || r.End != ""
	if x.watch != nil && (r.Side == capture.Request || r.Head != nil) {
		x.watch.See(r)
	}
}

// noteActivity restarts the idle timer and returns the time for a record.
func (x *exchange) noteActivity() time.Duration {
	x.idle.Reset(x.p.limits.Idle)
	return x.p.recordTime()
}

func (x *exchange) forwardRequest(r *http.Request) {
	// An upstream may respond before the end of the request. The response must not wait for that end.
	_ = http.NewResponseController(x.w).EnableFullDuplex()
	to := &sender{x: x, single: r.Close || r.ContentLength > maxKeptBytes}
	to.trace.GotConn = func(info httptrace.GotConnInfo) { to.reused.Store(info.Reused) }
	to.trace.GotFirstResponseByte = func() { to.answered.Store(true) }
	forwarder := httputil.ReverseProxy{
		Rewrite:        x.rewriteRequest,
		Transport:      to,
		FlushInterval:  -1,
		BufferPool:     &x.p.buffers,
		ModifyResponse: x.recordResponse,
		ErrorHandler:   x.answerFailure,
		ErrorLog:       quiet,
	}
	w := x.w
	if r.Header.Get("Expect") != "" {
		w = oneContinue{w}
	}
	if x.p.faults != nil || x.watch != nil {
		x.gate = &breakableWriter{ResponseWriter: w}
		w = x.gate
	}
	forwarder.ServeHTTP(w, r.WithContext(httptrace.WithClientTrace(x.ctx, &to.trace)))
}

// oneContinue drops the upstream's "100 Continue". net/http sends its own when the transport begins to read the
// body.
type oneContinue struct{ http.ResponseWriter }

func (w oneContinue) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w oneContinue) WriteHeader(status int) {
	if status != http.StatusContinue {
		w.ResponseWriter.WriteHeader(status)
	}
}

// forwardedFields are header fields that ReverseProxy removes. rewriteRequest restores the client's values.
var forwardedFields = [...]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"}

// rewriteRequest turns the client's request into the request for the upstream.
func (x *exchange) rewriteRequest(pr *httputil.ProxyRequest) {
	out := pr.Out
	out.URL, out.Host = x.target.url, ""
	out.Trailer = pr.In.Trailer // the same map as the client's, because it is filled only when the body has ended
	for _, name := range forwardedFields {
		if v, ok := pr.In.Header[name]; ok {
			out.Header[name] = v
		}
	}
	// A client may switch only to WebSocket. Any other protocol, e.g. h2c, would hide the traffic. Ignoring a request
	// to switch is always allowed.
	if capture.IsWebSocket(out) {
		out.Header.Del(extensionsField)
	} else {
		out.Header.Del("Connection")
		out.Header.Del("Upgrade")
	}
	SetMarks(out.Header, out.URL, x.target.marks)
	// Ask for an uncompressed response if faults will be injected or the response is watched. Calls can't be found in a
	// compressed response.
	if !fault.IsAside(out) && !capture.IsWebSocket(out) {
		if x.p.faults != nil {
			x.faults = x.p.faults.ForNext()
		}
		if len(x.faults) > 0 || x.watch != nil {
			out.Header.Set("Accept-Encoding", "identity")
		}
	}
	if out.Body != nil {
		x.sent = &upload{bodyTap: &bodyTap{x: x, side: capture.Request, body: pr.In.Body}}
		out.Body, _ = x.sent.newReader()
		out.GetBody = x.sent.newReader
	}
}

// recordResponse records the response's head and wraps its body in a bodyTap.
func (x *exchange) recordResponse(res *http.Response) error {
	at := x.noteActivity()
	if res.StatusCode == http.StatusSwitchingProtocols && !strings.EqualFold(res.Header.Get("Upgrade"), capture.WebSocketProtocol) {
		return fmt.Errorf("the upstream switched to the protocol %q", res.Header.Get("Upgrade"))
	}
	// A name without values keeps net/http from adding a field that the upstream did not send.
	for _, name := range []string{"Date", "Content-Type"} {
		if _, ok := res.Header[name]; !ok {
			x.w.Header()[name] = nil
		}
	}
	if x.sent != nil {
		x.sent.handOver() // the upstream has responded, so the bytes read from the client so far had been sent
		x.sent.releaseKept()
	}
	head := capture.Record{At: at, Head: &capture.Head{Status: res.StatusCode, Header: res.Header.Clone(), Start: x.p.options.Now()}}
	if conn, ok := res.Body.(io.ReadWriteCloser); ok && res.StatusCode == http.StatusSwitchingProtocols {
		x.putRecord(head)
		x.upgraded = newUpgraded(x, conn)
		if res.Body = x.upgraded; x.watch != nil {
			res.Body = newHeldSocket(x.upgraded)
		}
		return nil
	}
	x.received = &bodyTap{x: x, body: res.Body}
	res.Body = responseBody{x.received, res.Body}
	x.redirectMessages(res)
	if x.resent {
		head.Note = "the request was sent again: the upstream had closed the idle connection"
	}
	head.Note = capture.JoinNotes(head.Note, x.injectIntoBody(res))
	x.putRecord(head)
	x.holdWatchedResponse(res)
	return nil
}

// answerFailure answers instead of the upstream, if the client is still there.
func (x *exchange) answerFailure(w http.ResponseWriter, _ *http.Request, err error) {
	x.failure = err
	cause := x.cutCause()
	sent := x.sentError()
	switch {
	case cause == errIdle:
		x.cause = capture.Toolscope
		x.answer = Refuse(http.StatusGatewayTimeout, "%s does not answer: %s", x.target.url.Host, x.idleWords())
	case cause != nil:
		panic(http.ErrAbortHandler)
	case sent != nil:
		_, why, _ := capture.EndOf(sent)
		x.cause = capture.Client
		x.answer = Refuse(http.StatusBadRequest, "the request's body was cut off: %s", why)
	default:
		x.cause = capture.Network
		if err == errStale || isOwnLimit(err) {
			x.cause = capture.Toolscope
		}
		x.answer = Refuse(http.StatusBadGateway, "no response from %s: %s", x.target.url.Host, capture.FailureText(err))
	}
	clear(w.Header())
	writeRefusal(w, x.answer)
	at, text := x.p.recordTime(), x.answer.Words(self)
	head := capture.Head{Status: x.answer.Status, Header: w.Header().Clone(), Start: x.p.options.Now()}
	x.putRecord(capture.Record{At: at, Head: &head, By: capture.Toolscope, Note: capture.OwnAnswer + x.answer.Why})
	x.putRecord(capture.Record{At: at, Data: []byte(text)})
}

// sentError returns the error that occurred while the request's body was read, or nil.
func (x *exchange) sentError() error {
	if x.sent == nil {
		return nil
	}
	if err := x.sent.endError(); err != io.EOF {
		return err
	}
	return nil
}

func (x *exchange) idleWords() string {
	return fmt.Sprintf("no data passed for %v, which is the limit", x.p.limits.Idle)
}

// finish ends the exchange, even after a panic with http.ErrAbortHandler.
func (x *exchange) finish() {
	if x.sent != nil {
		x.sent.over.Store(true)
		x.sent.handOver()
	}
	if x.received != nil {
		x.received.handOver()
	}
	last := x.endRecord()
	if x.upgraded != nil {
		last = x.upgraded.finish(last)
	}
	if x.faulted != nil {
		last.Note = x.faulted.faultNote()
	}
	if x.held != nil {
		last.Note = joinWords(last.Note, x.held.keepAliveNote())
	}
	if x.messages != nil {
		last.Note = joinWords(last.Note, x.messages.note)
	}
	last.At = x.p.recordTime()
	x.putRecord(last)
	x.idle.Stop()
	x.detach()
	x.relax()
	x.cancel(nil)
	x.p.live.Add(-1)
}

// endRecord returns a record with the reason for the end of the exchange and the party that ended it. If the proxy
// itself answered, the party is the one that caused the answer.
func (x *exchange) endRecord() capture.Record {
	cause := x.cutCause()
	err := x.failure
	if x.received != nil {
		err = x.received.endError()
	}
	ours := err == nil || cause != nil && (errors.Is(err, cause) || errors.Is(err, context.Canceled))
	switch {
	case x.answer != nil:
		return capture.Record{End: capture.EndEOF, Why: x.answer.Why, By: x.cause}
	case err == io.EOF:
		return capture.Record{End: capture.EndEOF, By: capture.Provider}
	case x.held.wasAborted():
		return capture.Record{End: capture.EndCut, Why: errLeft.Error(), By: capture.Toolscope}
	case x.isBroken() && (cause == nil || cause == errClientGone):
		return capture.Record{End: capture.EndCut, Why: errBroken.Error(), By: capture.Toolscope}
	case !ours && x.sentError() == nil:
		end, why, by := capture.EndOf(err)
		return capture.Record{End: end, Why: why, By: by}
	case cause == errIdle:
		return capture.Record{End: capture.EndCut, Why: x.idleWords(), By: capture.Toolscope}
	case cause != nil && cause != errClientGone:
		return capture.Record{End: capture.EndCut, Why: cause.Error(), By: capture.Toolscope}
	}
	arrived := int64(0)
	switch {
	case x.upgraded != nil:
		arrived = x.upgraded.upstreamBytes()
	case x.received != nil:
		arrived = x.received.bodyBytes()
	}
	return capture.Record{End: capture.EndCut, Why: clientGone(arrived), By: capture.Client}
}

// cutCause returns the reason for cutting the exchange, or nil if the exchange isn't cut.
func (x *exchange) cutCause() error {
	if x.client.Context().Err() != nil && !IsHalfClosed(x.client) { // x.ctx might not be cancelled yet
		x.cancel(context.Cause(x.client.Context()))
	}
	return context.Cause(x.ctx)
}

// isBroken reports whether a fault broke the client's connection.
func (x *exchange) isBroken() bool {
	return x.faulted != nil && x.faulted.broke || x.upgraded != nil && x.upgraded.faulted != nil && x.upgraded.faulted.broke
}

// sender sends one request to its upstream.
//
// The proxy keeps connections open for later requests. An upstream may close such a connection just when the
// proxy sends a request on it. Without the proxy, the client would have had its own connection and would have
// got a response. The request is therefore sent again, once, on a new connection. net/http does the same for
// requests that are safe to repeat, and browsers do it for all requests. A request that can't be sent again
// gets a new connection from the start.
type sender struct {
	x        *exchange
	single   bool // use a new connection, and don't keep it open
	trace    httptrace.ClientTrace
	reused   atomic.Bool // the connection was used before
	answered atomic.Bool // the first byte of the response has arrived
}

// RoundTrip implements http.RoundTripper.
func (s *sender) RoundTrip(req *http.Request) (*http.Response, error) {
	p := s.x.p
	if s.single {
		return p.single.RoundTrip(req)
	}
	res, err := p.transport.RoundTrip(req)
	if err == nil || !s.wasStale(req, err) {
		return res, err
	}
	again := *req // a RoundTripper must not change the request that it gets
	if req.GetBody != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return nil, errStale
		}
	}
	s.x.resent = true
	return p.single.RoundTrip(&again)
}

// errStale means that the upstream had closed a connection that the proxy had kept open, and that the request can't
// be sent again.
var errStale = errors.New("the upstream had closed the idle connection, and " + errUploadGone.Error())

// wasStale reports whether a request got no response because its connection, which was reused, had ended.
func (s *sender) wasStale(req *http.Request, err error) bool {
	return s.reused.Load() && !s.answered.Load() && req.Context().Err() == nil && s.x.sentError() == nil &&
		!errors.As(err, new(streamError))
}

// isOwnLimit reports whether a connection failed because this process has too many open files.
func isOwnLimit(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// streamError matches net/http's error for one stream of an HTTP/2 connection. After such an error, the connection
// still works: the upstream refused only the request. net/http's type is not exported, but can be converted to a type
// with the same fields.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return "an HTTP/2 stream ended" }

// messagesURL is the body of an event stream whose first event may name the URL for the client's messages. MCP
// servers over HTTP+SSE send such an event. Clients refuse a URL whose origin differs from the origin of the stream.
// If the URL is absolute and has the upstream's address, that address is replaced with the proxy's. The records
// contain the original.
type messagesURL struct {
	io.ReadCloser
	from, to string // "http://host:port" of the upstream and of the proxy
	head     []byte // the beginning of the body, while it may be the event with the URL
	passed   bool   // the event has been read, or the body begins with something else
	err      error  // the error with which the body ended
	note     string
}

// redirectMessages makes the proxy replace the URL in an event stream if the listener has only one upstream.
func (x *exchange) redirectMessages(res *http.Response) {
	isOnly := x.client.Context().Value(onlyKey{}) != nil
	isStream := strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") && res.Header.Get("Content-Encoding") == ""
	if !isOnly || !isStream || x.client.Method != http.MethodGet {
		return
	}
	x.messages = &messagesURL{ReadCloser: res.Body, from: x.target.url.Scheme + "://" + x.target.url.Host, to: "http://" + x.client.Host}
	res.Body = x.messages
	res.Header.Del("Content-Length")
	res.ContentLength = -1
}

// endpointEvent matches an endpoint event that has an absolute URL.
var endpointEvent = regexp.MustCompile(`^(event: ?endpoint\r?\ndata: ?)(https?://[^/\s]+)/[^\n]*\n\r?\n`)

const (
	endpointStart = "event:endpoint" // without spaces
	maxEvent      = 4096             // maximum size of the event in bytes
)

// Read holds back only the event with the URL, until the event is complete.
func (m *messagesURL) Read(p []byte) (int, error) {
	for !m.passed {
		n, err := m.ReadCloser.Read(p)
		m.head, m.err = append(m.head, p[:n]...), err
		text := strings.NewReplacer(" ", "", "\r", "").Replace(string(m.head))
		may := strings.HasPrefix(endpointStart, text) || strings.HasPrefix(text, endpointStart)
		if m.passed = err != nil || !may || strings.Contains(text, "\n\n") || len(m.head) > maxEvent; !m.passed {
			continue
		}
		if at := endpointEvent.FindSubmatchIndex(m.head); at != nil && string(m.head[at[4]:at[5]]) == m.from {
			m.head = []byte(string(m.head[:at[4]]) + m.to + string(m.head[at[5]:]))
			m.note = "the client got the endpoint's address as " + m.to + " instead of " + m.from
		}
	}
	switch {
	case len(m.head) > 0:
		n := copy(p, m.head)
		m.head = m.head[n:]
		return n, nil
	case m.err != nil:
		return 0, m.err
	}
	return m.ReadCloser.Read(p)
}
