package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"toolscope/capture"
	"toolscope/capture/fault"
	"toolscope/stream/count"
)

// errBroken means that a fault broke the client's connection.
var errBroken = errors.New("a fault broke the client's connection")

// answerFor answers a request with a fault. The upstream doesn't get the request.
func (x *exchange) answerFor(f *fault.Fault, r *http.Request) {
	body := &bodyTap{x: x, side: capture.Request, body: r.Body}
	_, _ = io.Copy(io.Discard, body)
	body.handOver()
	x.answer, x.cause = Refuse(f.Status(), "--fault %s", f), capture.Toolscope
	text := f.Refuse(x.w, self, r.URL.Path, nil)
	at := x.p.recordTime()
	head := capture.Head{Status: f.Status(), Header: x.w.Header().Clone(), Start: x.p.options.Now()}
	x.putRecord(capture.Record{At: at, Head: &head, By: capture.Toolscope, Note: capture.OwnAnswer + x.answer.Why})
	x.putRecord(capture.Record{At: at, Data: text})
}

// injectIntoBody injects the faults into the body of a successful response, and returns a note about them.
// For any other response, it puts the faults back into the set and returns "".
func (x *exchange) injectIntoBody(res *http.Response) (note string) {
	if len(x.faults) == 0 {
		return ""
	}
	if res.StatusCode != http.StatusOK {
		for _, f := range x.faults {
			x.p.faults.GiveBack(f)
		}
		return ""
	}
	coding := strings.ToLower(res.Header.Get("Content-Encoding"))
	x.faulted = &faultedResponse{x: x, from: x.received, injector: fault.New(x.faults, res.Header, coding != "" && coding != "identity"), buffer: make([]byte, copyBytes)}
	res.Header.Del("Content-Length")
	res.ContentLength = -1
	res.Body = faultedBody{x.faulted, res.Body}
	return faultsNote(x.faults)
}

// faultsNote returns the note for a response whose faults have not taken effect yet.
func faultsNote(faults []fault.Fault) string {
	var words []string
	for _, f := range faults {
		words = append(words, "--fault "+f.String())
	}
	return fmt.Sprintf("%s (%s): toolscope shows the provider's response; the client gets a faulty response", capture.FaultedNote, strings.Join(words, " "))
}

// faultedResponse is a response into which faults are injected while it is forwarded.
type faultedResponse struct {
	x        *exchange
	from     *bodyTap
	injector *fault.Injector
	buffer   []byte
	ready    []fault.OutChunk
	given    int64 // number of bytes that the client got
	broke    bool  // a fault broke the connection
	unused   []fault.Unused
	err      error // the error with which the provider's body ended
}

type faultedBody struct {
	*faultedResponse
	io.Closer
}

func (b *faultedResponse) Read(p []byte) (int, error) {
	for len(b.ready) == 0 {
		switch {
		case b.injector.BreaksHere():
			return 0, b.breakOff()
		case b.err != nil:
			return 0, b.err
		}
		b.injectFaults(b.from.Read(b.buffer))
	}
	next := &b.ready[0]
	if !fault.Sleep(b.x.ctx, next.Pause) {
		return 0, context.Cause(b.x.ctx)
	}
	next.Pause = 0
	n := copy(p, next.Data)
	if next.Data = next.Data[n:]; len(next.Data) == 0 {
		b.ready = b.ready[1:]
	}
	b.given += int64(n)
	return n, nil
}

// injectFaults injects the faults into the first n bytes of the buffer. If err is not nil, it also ends the body.
func (b *faultedResponse) injectFaults(n int, err error) {
	b.ready = append(b.ready, b.injector.Write(bytes.Clone(b.buffer[:n]), 0)...)
	if err == nil {
		return
	}
	b.err = err
	last, unfit := b.injector.Close()
	b.ready = append(b.ready, last...)
	b.unused = append(b.unused, unfit...)
	for _, u := range unfit {
		b.x.p.faults.GiveBack(u.Fault)
	}
}

// breakOff breaks the client's connection. It reads the rest of the provider's response for the capture.
func (b *faultedResponse) breakOff() error {
	b.broke = true
	b.x.gate.breakConnection()
	b.from.handOver()
	b.from.note = fmt.Sprintf("%s: the client got %s, and then its connection was broken", capture.FaultedNote, count.Of(b.given, "byte"))
	for b.err == nil {
		b.injectFaults(b.from.Read(b.buffer))
	}
	b.from.handOver()
	return errBroken
}

// faultNote describes how many bytes the client got, and the faults that changed nothing.
func (b *faultedResponse) faultNote() string {
	var words []string
	for _, u := range b.unused {
		words = append(words, fmt.Sprintf("--fault %s changed nothing: %s", u.Fault, u.Why))
	}
	switch {
	case b.broke && b.from.note != "": // no later record carries this note
		words = append([]string{b.from.note}, words...)
	case !b.broke && len(b.unused) < len(b.x.faults):
		words = append([]string{fmt.Sprintf("%s: the client got %s instead of %d", capture.FaultedNote, count.Of(b.given, "byte"), b.from.bodyBytes())}, words...)
	}
	return strings.Join(words, "; ")
}

// breakableWriter is a ResponseWriter that refuses writes once a fault or a breakpoint has broken the connection. It
// needs a mutex because ReverseProxy flushes the head from another goroutine, at any time.
type breakableWriter struct {
	http.ResponseWriter
	mu     sync.Mutex
	closed bool
}

func (g *breakableWriter) Unwrap() http.ResponseWriter { return g.ResponseWriter }

func (g *breakableWriter) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return 0, errBroken
	}
	return g.ResponseWriter.Write(p)
}

func (g *breakableWriter) FlushError() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return errBroken
	}
	return http.NewResponseController(g.ResponseWriter).Flush()
}

// breakConnection breaks the client's connection and refuses later writes.
func (g *breakableWriter) breakConnection() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	w := http.NewResponseController(g.ResponseWriter)
	if conn, _, err := w.Hijack(); err == nil {
		conn.Close()
		return
	}
	_ = w.SetWriteDeadline(time.Now().Add(-time.Second)) // for an HTTP/2 stream, this resets the stream
}

// faultedSocket injects faults into the responses on a WebSocket. A response consists of the upstream's messages
// after a request message, up to the final one.
type faultedSocket struct {
	x      *exchange
	from   func(p []byte) (int, error) // reads and records the upstream's bytes
	note   func(string)                // adds a note to the bytes that were read last
	buffer []byte
	asks   capture.WebSocketReader // the client's messages
	says   capture.WebSocketReader // the upstream's messages
	ready  []faultedFrame          // frames that Read returns next

	mu       sync.Mutex     // both directions run at the same time
	pending  []faultedFrame // frames after those in ready
	broke    bool           // a fault broke the connection
	faults   []fault.Fault
	injector *fault.Injector // injector for the current response; nil without faults
	begun    bool            // a message of the response has arrived
	notes    []string
}

// faultedFrame is a frame for the client.
type faultedFrame struct {
	piece  fault.OutChunk // without its data
	data   []byte
	breaks bool // the connection breaks after the frame
}

// readClient reads the client's bytes before they are forwarded.
func (s *faultedSocket) readClient(p []byte) {
	s.asks.Write(p, func(message []byte, _ uint64) {
		if !fault.IsRequest(message) {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.endResponse()
		if s.faults = s.x.p.faults.ForNext(); len(s.faults) > 0 {
			s.injector, s.begun = fault.NewMessages(s.faults), false
		}
	})
}

func (s *faultedSocket) Read(p []byte) (int, error) {
	for len(s.ready) == 0 {
		if s.broke { // only Read writes it
			return 0, errBroken
		}
		n, err := s.from(s.buffer)
		s.says.Write(s.buffer[:n], s.injectFaults)
		s.mu.Lock()
		s.ready, s.pending = s.pending, nil
		s.mu.Unlock()
		switch {
		case s.says.Broken != "":
			return 0, fmt.Errorf("can't inject faults into the upstream's messages: %s", s.says.Broken)
		case err != nil && len(s.ready) == 0:
			return 0, err
		}
	}
	next := &s.ready[0]
	if !fault.Sleep(s.x.ctx, next.piece.Pause) {
		return 0, s.x.ctx.Err()
	}
	next.piece.Pause = 0
	n := copy(p, next.data)
	if next.data = next.data[n:]; len(next.data) > 0 {
		return n, nil
	}
	s.ready = s.ready[1:]
	if next.breaks {
		s.ready = nil
		s.mu.Lock()
		s.broke = true
		s.mu.Unlock()
	}
	return n, nil
}

// injectFaults injects the faults into a message of the upstream, and turns the result into frames.
func (s *faultedSocket) injectFaults(message []byte, _ uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.injector == nil {
		s.pending = append(s.pending, faultedFrame{data: capture.AppendWebSocketFrame(nil, s.says.Kind, message)})
		return
	}
	if !s.begun {
		s.begun = true
		s.note(faultsNote(s.faults))
	}
	bender, kind := s.injector, s.says.Kind
	s.addFrames(kind, bender.Write(message, 0))
	if fault.IsFinal(message) {
		s.endResponse()
	}
	if bender.BreaksHere() {
		s.pending = append(s.pending, faultedFrame{breaks: true})
	}
}

func (s *faultedSocket) addFrames(kind byte, list []fault.OutChunk) {
	for _, p := range list {
		s.pending = append(s.pending, faultedFrame{piece: p, data: capture.AppendWebSocketFrame(nil, kind, p.Data)})
	}
}

// endResponse ends the current response.
func (s *faultedSocket) endResponse() {
	if s.injector == nil {
		return
	}
	last, unfit := s.injector.Close()
	s.addFrames(capture.OpText, last)
	s.injector = nil
	for _, u := range unfit {
		s.x.p.faults.GiveBack(u.Fault)
		s.notes = append(s.notes, fmt.Sprintf("--fault %s changed nothing: %s", u.Fault, u.Why))
	}
}

// faultNote describes the faults that changed nothing, and a broken connection. It returns "" if there is
// neither.
func (s *faultedSocket) faultNote() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	told := s.notes
	if s.broke {
		told = append(told, "the client's connection was broken")
	}
	if len(told) == 0 {
		return ""
	}
	return capture.FaultedNote + ": " + strings.Join(told, "; ")
}
