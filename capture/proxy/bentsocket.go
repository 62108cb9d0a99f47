package proxy

import (
	"fmt"
	"strings"
	"sync"

	"toolscope/capture"
	"toolscope/capture/fault"
	"toolscope/capture/websocket"
)

// faultedSocket injects faults into the responses on a WebSocket. A response is the upstream's messages
// after a request message, up to the final one.
type faultedSocket struct {
	x      *exchange
	from   func(p []byte) (int, error) // reads and records the upstream's bytes
	note   func(string)                // adds a note to the bytes read last
	buffer []byte
	asks   websocket.Reader // the client's messages
	says   websocket.Reader // the upstream's messages
	ready  []faultedFrame
	broke  bool // a fault broke the connection

	mu       sync.Mutex // both directions run at the same time
	faults   []fault.Fault
	injector *fault.Injector // for the current response; nil without faults
	begun    bool            // a message of the response has arrived
	notes    []string
}

// faultedFrame is a frame for the client.
type faultedFrame struct {
	piece  fault.OutChunk // without its data
	data   []byte
	breaks bool // the connection breaks after it
}

func newFaultedSocket(x *exchange, from func(p []byte) (int, error), note func(string)) *faultedSocket {
	s := &faultedSocket{x: x, from: from, note: note, buffer: make([]byte, copyBytes)}
	s.says.Control = func(opcode byte, payload []byte) {
		s.ready = append(s.ready, faultedFrame{data: websocket.AppendFrame(nil, opcode, payload)})
	}
	return s
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
		if s.broke {
			return 0, errBroken
		}
		n, err := s.from(s.buffer)
		s.says.Write(s.buffer[:n], s.injectFaults)
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
	if next.data = next.data[n:]; len(next.data) == 0 {
		s.broke = next.breaks
		s.ready = s.ready[1:]
		if s.broke {
			s.ready = nil
		}
	}
	return n, nil
}

// injectFaults turns a message of the upstream into frames, with the faults injected.
func (s *faultedSocket) injectFaults(message []byte, _ uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.injector == nil {
		s.ready = append(s.ready, faultedFrame{data: websocket.AppendFrame(nil, s.says.Kind, message)})
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
		s.ready = append(s.ready, faultedFrame{breaks: true})
	}
}

func (s *faultedSocket) addFrames(kind byte, list []fault.OutChunk) {
	for _, p := range list {
		s.ready = append(s.ready, faultedFrame{piece: p, data: websocket.AppendFrame(nil, kind, p.Data)})
	}
}

// endResponse ends the current response.
func (s *faultedSocket) endResponse() {
	if s.injector == nil {
		return
	}
	last, unfit := s.injector.Close()
	s.addFrames(websocket.OpText, last)
	s.injector = nil
	for _, u := range unfit {
		s.x.p.faults.GiveBack(u.Fault)
		s.notes = append(s.notes, fmt.Sprintf("--fault %s changed nothing: %s", u.Fault, u.Why))
	}
}

// faultNote describes what the client got.
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
