package proxy

import (
	"bytes"
	"cmp"

	"toolscope/capture/websocket"
)

// heldSocket is the upstream's end of a WebSocket whose messages may be held. Messages pass unchanged,
// in the same frames. A Ping or a Pong passes while messages are held, so that both ends know that the
// other is there; it may come between any two frames (RFC 6455 §5.4). A Close is the last frame of an
// end, and waits for its turn.
type heldSocket struct {
	*heldBody
	up     *upgraded
	reader websocket.Reader
	came   []byte // bytes that were not split yet
	from   int64  // offset of came in all bytes
	open   []byte // frames of the open message, without control frames that passed
	raw    bool   // the bytes can't be split into messages
}

// socketPlea keeps a WebSocket client waiting. Its library answers a Ping (§5.5.2); the program doesn't
// see it.
var socketPlea = clientKeepAlive{
	string(websocket.AppendFrame(nil, websocket.OpPing, []byte("toolscope"))),
	"pings from toolscope; the provider got the pongs",
}

// newHeldSocket returns a heldSocket that holds messages of the upstream when the exchange's watch asks
// for it.
func newHeldSocket(u *upgraded) *heldSocket {
	s := &heldSocket{heldBody: u.x.newHeldBody(u, u), up: u}
	s.plea, s.alive = socketPlea, cmp.Or(u.x.p.options.alive, aliveTime)
	s.reader.Control = func(opcode byte, _ []byte) {
		s.open = append(s.open, s.upTo(s.reader.Start)...)
		s.addEvent(heldEvent{data: s.upTo(s.reader.End), past: opcode != websocket.OpClose})
	}
	s.startReading(s.splitMessages)
	return s
}

// upTo removes the bytes before an offset and returns them.
func (s *heldSocket) upTo(end int64) []byte {
	n := end - s.from
	taken := bytes.Clone(s.came[:n])
	s.came, s.from = s.came[n:], end
	return taken
}

// splitMessages splits bytes into messages. From the first bytes that can't be split, everything passes
// and nothing is held.
func (s *heldSocket) splitMessages(p []byte, ended bool) {
	s.came = append(s.came, p...)
	if !s.raw {
		s.reader.Write(p, func(message []byte, _ uint64) {
			s.addEvent(heldEvent{data: append(s.open, s.upTo(s.reader.End)...), says: message})
			s.open = nil
		})
	}
	if !s.raw && (s.reader.Broken != "" || s.reader.Length > websocket.MaxMessage) {
		s.raw = true
		s.giveUp("resumed: later messages can't be read")
	}
	if rest := append(s.open, s.came...); len(rest) > 0 && (s.raw || ended) {
		s.addEvent(heldEvent{data: rest})
		s.open, s.came = nil, nil
	}
}

// giveUp resumes the response and holds nothing any more.
func (s *heldSocket) giveUp(how string) {
	s.free = true
	if s.why != "" {
		s.resumeResponse(how)
	}
}

func (s *heldSocket) Write(p []byte) (int, error) { return s.up.Write(p) }

// CloseWrite passes on that the client has closed its side, and resumes: such a client doesn't wait for
// more.
func (s *heldSocket) CloseWrite() error {
	if err := s.up.CloseWrite(); err != nil {
		return err
	}
	s.mu.Lock()
	s.giveUp("resumed, because the client closed its side")
	s.mu.Unlock()
	wakeReader(s.wake)
	return nil
}
