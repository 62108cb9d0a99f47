package mock

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"toolscope/capture/fault"
	"toolscope/capture/websocket"
)

// socketIdle is how long a client of a WebSocket may send nothing.
const socketIdle = 30 * time.Minute

// A socket is a WebSocket that a client has opened to the mock.
type socket struct {
	p     *Provider
	r     *http.Request
	conn  net.Conn
	write sync.Mutex // pongs are sent between messages
	ctx   context.Context
}

// serveSocket opens a WebSocket and answers each message with the recorded response to a similar one.
// first is an exchange of the recorded WebSocket.
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
	header.Set("Upgrade", websocket.Protocol)
	header.Set("Connection", "Upgrade")
	header.Set("Sec-Websocket-Accept", websocket.AcceptKey(s.r.Header.Get("Sec-Websocket-Key")))
	res := http.Response{StatusCode: http.StatusSwitchingProtocols, ProtoMajor: 1, ProtoMinor: 1, Header: header}
	if err := res.Write(s.conn); err != nil {
		return err
	}
	return s.answerMessage(nil)
}

// serveMessages answers messages until the client has no more or the connection is to break. It reads
// on while it answers one, to notice a client that goes away.
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
	reader := websocket.Reader{Control: func(opcode byte, payload []byte) {
		switch opcode {
		case websocket.OpPing:
			_ = s.sendFrame(websocket.OpPong, payload)
		case websocket.OpClose:
			_ = s.sendFrame(websocket.OpClose, payload)
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
	_, err := s.conn.Write(websocket.AppendFrame(nil, opcode, payload))
	return err
}

// answerMessage sends the recorded response to a similar message; nil stands for the time before the
// first message. An error means that the connection is to break.
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
	if asked.wantsResponse() {
		faults = s.p.faults.ForNext()
	}
	b := fault.NewMessages(faults)
	list := s.p.injectFaults(e, b, e.Chunks)
	sent := s.p.writeChunks(s.ctx, began, list, func(data []byte) error { return s.sendFrame(websocket.OpText, data) })
	if !sent || b.BreaksHere() || e.Cut {
		return http.ErrAbortHandler
	}
	return nil
}

// wantsResponse reports whether a message requests a response of a model.
func (a *requestFacts) wantsResponse() bool { return a.known && a.generate != "false" }

// chooseMessage finds the exchange that answers a WebSocket message. Messages before the first request
// are sent each time.
func (p *Provider) chooseMessage(r *http.Request, message []byte, a *requestFacts) (e *servedExchange, again bool) {
	return p.chooseAmong(func(e *servedExchange) int {
		if !e.Socket || (e.Asked == nil) != (message == nil) {
			return 0
		}
		return e.pathFit(r.Method, r.URL)
	}, r.URL.RawQuery, a, message != nil)
}
