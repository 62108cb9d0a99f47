package proxy

import (
	"fmt"
	"strings"
	"sync"

	"toolscope/capture"
	"toolscope/capture/bend"
	"toolscope/capture/websocket"
)

// bentSocket bends the answers that come on a WebSocket: each is the messages from the one that
// asks for it to the one that ends it.
type bentSocket struct {
	x      *exchange
	from   func(p []byte) (int, error) // the upstream, as it is recorded
	note   func(string)                // puts words beside what was read last
	buffer []byte
	asks   websocket.Reader // what the client says
	says   websocket.Reader // what the upstream says
	ready  []bentFrame
	broke  bool // a fault broke the connection

	mu     sync.Mutex // the client asks while the upstream speaks
	faults []bend.Fault
	bender *bend.Injector // of the answer that comes; nil where nothing is bent
	begun  bool           // a message of it has come
	told   []string
}

// bentFrame is a frame for the client.
type bentFrame struct {
	piece  bend.OutChunk // but for its data
	data   []byte
	breaks bool // the connection breaks behind it
}

func newBentSocket(x *exchange, from func(p []byte) (int, error), note func(string)) *bentSocket {
	s := &bentSocket{x: x, from: from, note: note, buffer: make([]byte, copyBytes)}
	s.says.Control = func(opcode byte, payload []byte) {
		s.ready = append(s.ready, bentFrame{data: websocket.AppendFrame(nil, opcode, payload)})
	}
	return s
}

// asked takes what the client sends, before it is sent on.
func (s *bentSocket) asked(p []byte) {
	s.asks.Write(p, func(message []byte, _ uint64) {
		if !bend.IsRequest(message) {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.end()
		if s.faults = s.x.p.faults.ForNext(); len(s.faults) > 0 {
			s.bender, s.begun = bend.NewMessages(s.faults), false
		}
	})
}

func (s *bentSocket) Read(p []byte) (int, error) {
	for len(s.ready) == 0 {
		if s.broke {
			return 0, errBroken
		}
		n, err := s.from(s.buffer)
		s.says.Write(s.buffer[:n], s.bend)
		switch {
		case s.says.Broken != "":
			return 0, fmt.Errorf("what the upstream says cannot be bent: %s", s.says.Broken)
		case err != nil && len(s.ready) == 0:
			return 0, err
		}
	}
	next := &s.ready[0]
	if !bend.Sleep(s.x.ctx, next.piece.Pause) {
		return 0, s.x.ctx.Err()
	}
	next.piece.Pause = 0
	n := copy(p, next.data)
	if next.data = next.data[n:]; len(next.data) == 0 {
		s.broke = next.breaks
		s.ready = s.ready[1:]
		if s.broke {
			s.ready = nil
		}
	}
	return n, nil
}

// bend makes frames of a message of the upstream's.
func (s *bentSocket) bend(message []byte, _ uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bender == nil {
		s.ready = append(s.ready, bentFrame{data: websocket.AppendFrame(nil, s.says.Kind, message)})
		return
	}
	if !s.begun {
		s.begun = true
		s.note(bentNote(s.faults))
	}
	bender, kind := s.bender, s.says.Kind
	s.add(kind, bender.Write(message, 0))
	if bend.IsFinal(message) {
		s.end()
	}
	if bender.BreaksHere() {
		s.ready = append(s.ready, bentFrame{breaks: true})
	}
}

func (s *bentSocket) add(kind byte, list []bend.OutChunk) {
	for _, p := range list {
		s.ready = append(s.ready, bentFrame{piece: p, data: websocket.AppendFrame(nil, kind, p.Data)})
	}
}

// end ends the answer that came.
func (s *bentSocket) end() {
	if s.bender == nil {
		return
	}
	last, unfit := s.bender.Close()
	s.add(websocket.OpText, last)
	s.bender = nil
	for _, u := range unfit {
		s.x.p.faults.GiveBack(u.Fault)
		s.told = append(s.told, fmt.Sprintf("--fault %s changed nothing: %s", u.Fault, u.Why))
	}
}

// words is what the client was given.
func (s *bentSocket) words() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	told := s.told
	if s.broke {
		told = append(told, "the client's connection was broken")
	}
	if len(told) == 0 {
		return ""
	}
	return capture.FaultedNote + ": " + strings.Join(told, "; ")
}
