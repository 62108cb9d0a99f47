// Package mock is the mock provider: an http.Handler that answers with captured responses and, if
// asked, injects faults.
//
//	capture.Source ─▶ Read ─▶ Exchange ─▶ choose ─▶ fault.Injector ─▶ output chunks, each flushed
//
// Terms. An [Exchange] is one recorded request and its response. A bare exchange has no request, such
// as a body that curl -N saved.
//
// Invariants:
//   - Without faults, the bytes of a body are sent as recorded, chunk by chunk, and a response that
//     was cut off is cut off again.
//   - Nothing is random: the same requests in the same order get the same responses.
//   - Captures are not trusted: none of them makes the handler panic, except to break a connection.
package mock

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolscope/capture"
	"toolscope/capture/fault"
	"toolscope/stream/count"
)

// Options holds the exchanges to serve, and the settings.
type Options struct {
	Exchanges []Exchange
	Speed     float64       // multiple of the recorded speed; 0 sends at once
	Faults    []fault.Fault // from [fault.ParseFaults]

	// Decode, if set, undoes the codings that a header names. If it is nil, encoded responses are served
	// encoded, and encoded requests are matched by path only.
	Decode func(h http.Header, coded []byte) ([]byte, error)

	// OnResponse, if set, is called for every request before its response begins. OnUnusedFault, if
	// set, is called once for each fault that changes nothing in an exchange. Both may be called from
	// several goroutines.
	OnResponse    func(Response)
	OnUnusedFault func(f fault.Fault, x *Exchange, why string)
}

// Response describes the response to a request.
type Response struct {
	Method, Path string    // method and path of the request
	Status       int       // status of the response
	Exchange     *Exchange // the exchange that is sent; nil if none fits
	Reused       bool      // all exchanges that fit were used, so one is sent again
	Fault        string    // the fault that is sent instead of the exchange
}

// Provider answers requests from recorded exchanges. It chooses the exchange whose request is most similar: by path,
// then by model and tools, then by the conversation so far. Equally similar exchanges are used once each, in the order
// of the capture; then the last one is used again.
type Provider struct {
	options Options
	faults  *fault.Set
	mu      sync.Mutex
	entries []*servedExchange
}

// who is the name of this server in error messages.
const who = "toolscope serve"

// New returns a provider.
func New(o Options) *Provider {
	p := &Provider{options: o, faults: fault.NewSet(o.Faults)}
	for i := range o.Exchanges {
		x := &o.Exchanges[i]
		p.entries = append(p.entries, &servedExchange{Exchange: x, asked: readAsked(x.Asked), unfit: map[string]bool{}})
	}
	return p
}

// ServeHTTP answers one request. It panics with http.ErrAbortHandler to break the connection, either because the
// recorded one broke or because a fault requires it.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	coded, _ := io.ReadAll(r.Body) // net/http notices that the client has gone only after the whole body is read
	asked := readAsked(p.decodeBody(r.Header, coded))
	e, again := p.chooseExchange(r, &asked, false)
	var refusal *fault.Fault
	if e != nil && !fault.IsAside(r) { // requests that no exchange fits, or that no model answers, are not counted
		refusal = p.faults.Refusal()
	}
	if e != nil && refusal == nil && !e.Socket {
		e, again = p.chooseExchange(r, &asked, true)
	}
	a := Response{Method: r.Method, Path: r.URL.Path, Status: http.StatusOK, Reused: again}
	if e != nil {
		a.Exchange, a.Status = e.Exchange, e.statusCode()
	}
	answer := func() { p.writeBody(w, r, e) }
	switch {
	case e == nil && r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		answer = func() {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			fmt.Fprintf(w, "toolscope serve: %d recorded exchanges\n\n", len(p.entries))
			for _, e := range p.entries {
				fmt.Fprintf(w, "%s  %s  (%s)\n", e.describeRequest(), e.About(), quoteUnsafe(e.File))
			}
			for _, f := range p.faults.All() {
				fmt.Fprintf(w, "fault: %s\n", f)
			}
		}
	case e == nil:
		a.Status = http.StatusNotFound
		answer = func() { p.notFound(w, r) }
	case refusal != nil:
		a.Status, a.Fault, a.Reused = refusal.Status(), refusal.String(), false
		var start []byte
		if e.URL == "" { // only the body shows its provider
			start = e.startBytes()
		}
		answer = func() { refusal.Refuse(w, who, r.URL.Path, start) }
	case e.Socket:
		a.Reused = false
		answer = func() { p.serveSocket(w, r, e) }
	}
	p.reportResponse(a)
	answer()
}

func (p *Provider) reportResponse(a Response) {
	if p.options.OnResponse != nil {
		p.options.OnResponse(a)
	}
}

// writeBody sends the body of an exchange, with the faults injected.
func (p *Provider) writeBody(w http.ResponseWriter, r *http.Request, e *servedExchange) {
	began := time.Now()
	var faults []fault.Fault
	if !fault.IsAside(r) && e.statusCode() < http.StatusBadRequest {
		faults = p.faults.ForNext()
	}
	x := p.decodeExchange(r, e.Exchange, len(faults) > 0)
	b := fault.New(faults, http.Header{}, x.isEncoded())
	list := p.injectFaults(e, b, x.Chunks)
	until := func(after time.Duration) bool {
		return fault.Sleep(r.Context(), time.Until(began.Add(p.atSpeed(after))))
	}
	if !until(x.HeadAfter) || x.isUnanswered() {
		panic(http.ErrAbortHandler)
	}
	copyHeader(w.Header(), x)
	w.WriteHeader(x.statusCode())
	flush := http.NewResponseController(w).Flush
	_ = flush()
	if !p.writeChunks(r.Context(), began, list, func(data []byte) error {
		_, err := w.Write(data)
		_ = flush()
		return err
	}) {
		return
	}
	if b.BreaksHere() {
		panic(http.ErrAbortHandler)
	}
	for _, chunk := range list {
		began = began.Add(chunk.Pause)
	}
	if !until(x.EndAfter) {
		return
	}
	if x.Cut {
		panic(http.ErrAbortHandler)
	}
}

// injectFaults injects the faults into chunks, and reports faults that change nothing.
func (p *Provider) injectFaults(e *servedExchange, b *fault.Injector, chunks []Chunk) []fault.OutChunk {
	var list []fault.OutChunk
	for _, c := range chunks {
		list = append(list, b.Write(c.Data, c.After)...)
	}
	last, unfit := b.Close()
	for _, u := range unfit {
		p.faults.GiveBack(u.Fault)
		p.mu.Lock()
		said := e.unfit[u.Fault.String()]
		e.unfit[u.Fault.String()] = true
		p.mu.Unlock()
		if !said && p.options.OnUnusedFault != nil {
			p.options.OnUnusedFault(u.Fault, e.Exchange, u.Why)
		}
	}
	return b.Joined(append(list, last...))
}

// writeChunks writes each output chunk at its time. It returns false if the client is gone.
func (p *Provider) writeChunks(ctx context.Context, began time.Time, list []fault.OutChunk, write func([]byte) error) bool {
	for _, next := range list {
		if !fault.Sleep(ctx, next.Pause) {
			return false
		}
		began = began.Add(next.Pause)
		if !fault.Sleep(ctx, time.Until(began.Add(p.atSpeed(next.After)))) || write(next.Data) != nil {
			return false
		}
	}
	return true
}

// atSpeed converts a recorded time to the provider's speed.
func (p *Provider) atSpeed(after time.Duration) time.Duration {
	if p.options.Speed <= 0 {
		return 0
	}
	return time.Duration(min(float64(after)/p.options.Speed, math.MaxInt64/4))
}

// notFound answers 404 and names the known paths.
func (p *Provider) notFound(w http.ResponseWriter, r *http.Request) {
	var paths []string
	for _, e := range p.entries {
		if line := e.describeRequest(); !slices.Contains(paths, line) {
			paths = append(paths, line)
		}
	}
	const most = 20
	if n := len(paths) - most; n > 0 {
		paths = append(paths[:most], fmt.Sprintf("%d more", n))
	}
	message := fmt.Sprintf("no recorded exchange matches %s %s; the recorded exchanges are: %s", quoteUnsafe(r.Method), escapePath(r.URL.Path), strings.Join(paths, ", "))
	fault.Error(w, http.StatusNotFound, "not_found_error", message)
}

// describeRequest describes the requests that the exchange answers, in text that is safe to print.
func (x *Exchange) describeRequest() string {
	switch {
	case x.URL == "":
		return "any POST"
	case x.Socket:
		return "WebSocket " + escapePath(x.Path())
	case x.Method == "":
		return "any method " + escapePath(x.Path())
	}
	return quoteUnsafe(x.Method) + " " + escapePath(x.Path())
}

// About describes the response in a few words.
func (x *Exchange) About() string {
	switch {
	case x.isUnanswered():
		return "no response"
	case x.Socket:
		return "WebSocket, " + count.Of(len(x.Chunks), "message")
	}
	words := fmt.Sprintf("%d, %s", x.statusCode(), count.Of(len(x.Chunks), "chunk"))
	if x.EndAfter > 0 {
		words += fmt.Sprintf(" in %.1f s", x.EndAfter.Seconds())
	}
	if x.Cut {
		words += ", cut off"
	}
	return words
}

// escapePath escapes a path as in a URL. The result is ASCII that is safe to print.
func escapePath(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// quoteUnsafe quotes text that is not safe to print unquoted.
func quoteUnsafe(text string) string {
	if quoted := strconv.QuoteToASCII(text); quoted != `"`+text+`"` {
		return quoted
	}
	return text
}

// socketIdle is the maximum time for which a WebSocket client may send nothing.
const socketIdle = 30 * time.Minute

// A socket is a WebSocket that a client has opened to the mock.
type socket struct {
	p     *Provider
	r     *http.Request
	conn  net.Conn
	write sync.Mutex // protects writes, because pongs are sent between messages
	ctx   context.Context
}

// serveSocket opens a WebSocket and answers each message with the recorded response to a similar one. The
// parameter first is an exchange of the recorded WebSocket.
func (p *Provider) serveSocket(w http.ResponseWriter, r *http.Request, first *servedExchange) {
	conn, in, err := http.NewResponseController(w).Hijack()
	if err != nil {
		fault.Error(w, http.StatusNotImplemented, "not_implemented", "a WebSocket needs HTTP/1.1")
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Time{})
	ctx, cancel := context.WithCancel(context.Background()) // the request's own context doesn't end with a hijacked connection
	defer cancel()
	s := &socket{p: p, r: r, conn: conn, ctx: ctx}
	if s.sendHandshake(first) == nil {
		s.serveMessages(in.Reader, cancel)
	}
}

// sendHandshake ends the handshake and sends the provider's messages before the first request.
func (s *socket) sendHandshake(first *servedExchange) error {
	header := http.Header{}
	copyHeader(header, &Exchange{Header: first.Header})
	for _, name := range []string{"Sec-Websocket-Extensions", "Content-Type", "Content-Encoding"} {
		header.Del(name)
	}
	header.Set("Upgrade", capture.WebSocketProtocol)
	header.Set("Connection", "Upgrade")
	header.Set("Sec-Websocket-Accept", capture.WebSocketAcceptKey(s.r.Header.Get("Sec-Websocket-Key")))
	res := http.Response{StatusCode: http.StatusSwitchingProtocols, ProtoMajor: 1, ProtoMinor: 1, Header: header}
	if err := res.Write(s.conn); err != nil {
		return err
	}
	return s.answerMessage(nil)
}

// serveMessages answers messages until the client sends no more or the connection is to break. It continues
// reading while it answers a message, so that it notices when the client disconnects.
func (s *socket) serveMessages(in *bufio.Reader, cancel func()) {
	asked := make(chan []byte, 16)
	go func() {
		defer cancel()
		defer close(asked)
		s.readMessages(in, asked)
	}()
	for message := range asked {
		if s.answerMessage(message) != nil {
			return
		}
	}
}

// readMessages sends the client's messages to a channel. It answers a Ping with a Pong and a Close with
// a Close.
func (s *socket) readMessages(in *bufio.Reader, to chan<- []byte) {
	reader := capture.WebSocketReader{Control: func(opcode byte, payload []byte) {
		switch opcode {
		case capture.OpPing:
			_ = s.sendFrame(capture.OpPong, payload)
		case capture.OpClose:
			_ = s.sendFrame(capture.OpClose, payload)
		}
	}}
	buffer := make([]byte, 32<<10)
	for !reader.Closed && reader.Broken == "" {
		_ = s.conn.SetReadDeadline(time.Now().Add(socketIdle))
		n, err := in.Read(buffer)
		reader.Write(buffer[:n], func(message []byte, _ uint64) {
			select {
			case to <- message:
			case <-s.ctx.Done():
			}
		})
		if err != nil {
			return
		}
	}
}

func (s *socket) sendFrame(opcode byte, payload []byte) error {
	s.write.Lock()
	defer s.write.Unlock()
	_, err := s.conn.Write(capture.AppendWebSocketFrame(nil, opcode, payload))
	return err
}

// answerMessage sends the recorded response to a similar message. The parameter message is nil before the first
// message. An error means that the connection is to break.
func (s *socket) answerMessage(message []byte) error {
	began := time.Now()
	asked := readAsked(message)
	e, again := s.p.chooseMessage(s.r, message, &asked)
	if e == nil || len(e.Chunks) == 0 && message == nil {
		return nil
	}
	if message != nil {
		s.p.reportResponse(Response{Method: "message to", Path: s.r.URL.Path, Status: http.StatusOK, Exchange: e.Exchange, Reused: again})
	}
	var faults []fault.Fault
	if asked.known && asked.generate != "false" { // otherwise the message asks for no response from a model
		faults = s.p.faults.ForNext()
	}
	b := fault.NewMessages(faults)
	list := s.p.injectFaults(e, b, e.Chunks)
	sent := s.p.writeChunks(s.ctx, began, list, func(data []byte) error { return s.sendFrame(capture.OpText, data) })
	if !sent || b.BreaksHere() || e.Cut {
		return http.ErrAbortHandler
	}
	return nil
}

// chooseMessage finds the exchange that answers a WebSocket message. The messages before the first request are sent
// on every connection.
func (p *Provider) chooseMessage(r *http.Request, message []byte, a *requestFacts) (e *servedExchange, again bool) {
	return p.chooseAmong(func(e *servedExchange) int {
		if !e.Socket || (e.Asked == nil) != (message == nil) {
			return 0
		}
		return e.pathFit(r.Method, r.URL)
	}, r.URL.RawQuery, a, message != nil)
}
