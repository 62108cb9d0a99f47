package proxy

import (
	"bytes"
	"cmp"

	"toolscope/capture/websocket"
)

// heldSocket is the upstream's end of a WebSocket whose messages may be held. They pass as they came,
// in the same frames. A Ping or a Pong goes past what is held, so that both ends know that the other is
// there: it may stand between any two frames (RFC 6455 §5.4). A Close is the last that an end says, and
// waits for its turn.
type heldSocket struct {
	*heldBody
	up     *upgraded
	reader websocket.Reader
	came   []byte // and was not cut yet
	from   int64  // where that begins, of all bytes
	open   []byte // frames of the message that has not ended, but for those that went past
	raw    bool   // no messages can be made of what comes
}

// socketPlea has a client wait that has a WebSocket: it answers a Ping (§5.5.2), and no program sees it.
var socketPlea = clientKeepAlive{
	string(websocket.AppendFrame(nil, websocket.OpPing, []byte("toolscope"))),
	"pings, which are toolscope's; the provider was sent the pongs",
}

// newHeldSocket has messages of the upstream's held when the exchange's watch says so.
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

// upTo takes off the bytes up to a place.
func (s *heldSocket) upTo(end int64) []byte {
	n := end - s.from
	taken := bytes.Clone(s.came[:n])
	s.came, s.from = s.came[n:], end
	return taken
}

// splitMessages takes messages off what comes. From where none can be made, all passes and nothing is held.
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
		s.giveUp("was let go: what came then cannot be looked at")
	}
	if rest := append(s.open, s.came...); len(rest) > 0 && (s.raw || ended) {
		s.addEvent(heldEvent{data: rest})
		s.open, s.came = nil, nil
	}
}

// giveUp holds nothing any more.
func (s *heldSocket) giveUp(how string) {
	s.free = true
	if s.why != "" {
		s.resumeResponse(how)
	}
}

func (s *heldSocket) Write(p []byte) (int, error) { return s.up.Write(p) }

// CloseWrite passes on that the client has closed its side. Who said so does not wait for more.
func (s *heldSocket) CloseWrite() error {
	if err := s.up.CloseWrite(); err != nil {
		return err
	}
	s.mu.Lock()
	s.giveUp("was let go, for the client had closed its side")
	s.mu.Unlock()
	wakeReader(s.wake)
	return nil
}
