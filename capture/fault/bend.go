// Package fault makes an answer go wrong on purpose while it passes: for a mock provider, whose
// answers were recorded, and for a proxy, whose answers are just coming.
//
//	chunks ─▶ events ─▶ stage ─▶ stage ─▶ pieces, each written at once
//
// Words. A [Fault] is one thing that goes wrong. An event is a server-sent event with data, a line
// of JSON, a binary message, a message of a WebSocket, or a chunk of a body that has none of these.
// A stage is what one fault does to the events, one after another. A piece is bytes that are
// written at once.
//
// What always holds:
//   - An event passes when its end has come, and so do the bytes of a body without events, unless a
//     fault has to see what follows.
//   - Bytes that no fault changes pass as they came.
//   - Bodies are not trusted: none of them makes a bender panic.
package fault

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"time"
)

// A Injector bends the body of one answer. The zero value is not ready: see [New].
type Injector struct {
	hint    framing // by the header, where the bytes do not tell yet
	whole   bool    // a fault needs a JSON text as one event
	packed  bool    // the bytes are compressed
	known   bool    // the framing is
	framing framing
	ends    eventSplitter
	event   bodyEvent // so far
	start   []byte    // of the body, while the framing is not known
	chunk   int
	stages  []faultStage
	pause   time.Duration // before each event
	split   bool          // each byte is written by itself
	apart   bool          // each event is written whole, and by itself
	broken  bool          // the connection is to break behind what was returned
	out     []OutChunk
}

// A faultStage is what one fault does to the events of a body.
type faultStage struct {
	fault Fault
	event func(e bodyEvent, emit func(bodyEvent))
	close func(emit func(bodyEvent)) (why string) // nothing changed; called once, behind the last event
}

// OutChunk is bytes that are written at once.
type OutChunk struct {
	Chunk int           // of which they are a part; several pieces of one chunk came at once
	After time.Duration // as the chunk's
	Pause time.Duration // before it, at any speed
	Data  []byte
}

// bodyEvent is the bytes of one event, or of one chunk where the body has no events.
type bodyEvent struct {
	parts []eventPart
	full  bool // it carries something: it is not just a comment or an empty line
}

// eventPart is the bytes that an event has from one chunk.
type eventPart struct {
	chunk int
	after time.Duration
	data  []byte
}

// Unused is a fault that changed nothing about an answer, and why.
type Unused struct {
	Fault Fault
	Why   string
}

// New makes a bender for the body of an answer with that header. packed says that its bytes are
// compressed, so that nothing can be found in them.
func New(faults []Fault, header http.Header, packed bool) *Injector {
	b := &Injector{hint: framingOfHeader(header), packed: packed}
	return b.withFaults(faults)
}

// NewCutter makes a bender that changes nothing: each piece it returns is one event, whole, or one
// chunk of a body that has none.
func NewCutter(header http.Header, packed bool) *Injector {
	return &Injector{hint: framingOfHeader(header), packed: packed, apart: true}
}

// NewMessages makes a bender that is given whole messages, one at a time, as a WebSocket has them.
func NewMessages(faults []Fault) *Injector {
	b := &Injector{known: true, framing: messages, ends: chunkSplitter{}}
	return b.withFaults(faults)
}

func (b *Injector) withFaults(faults []Fault) *Injector {
	for _, f := range inOrder(faults) {
		if f.kind.setUp != nil {
			f.kind.setUp(b, f)
		}
	}
	return b
}

// inOrder is the faults in the order in which they take effect.
func inOrder(faults []Fault) []Fault {
	sorted := slices.Clone(faults)
	slices.SortStableFunc(sorted, func(a, b Fault) int { return cmp.Compare(a.orderIndex(), b.orderIndex()) })
	return sorted
}

func (b *Injector) addStage(f Fault, event func(bodyEvent, func(bodyEvent)), close func(func(bodyEvent)) string) {
	b.stages = append(b.stages, faultStage{f, event, close})
}

// BreaksHere reports whether the connection is to break behind what was returned so far. What is
// written then changes nothing any more.
func (b *Injector) BreaksHere() bool { return b.broken }

// Write takes a chunk of the body, which must not change any more, and returns what of it and of
// those before is to be sent now.
func (b *Injector) Write(p []byte, after time.Duration) []OutChunk {
	if len(p) == 0 {
		return nil
	}
	chunk := eventPart{b.chunk, after, p}
	b.chunk++
	if !b.known {
		if b.start = append(b.start, p...); !b.detectFraming(false) {
			b.event.parts = append(b.event.parts, chunk)
			return nil
		}
		b.start = nil
		waited := append(b.event.parts, chunk)
		b.event = bodyEvent{}
		for _, one := range waited {
			b.splitEvents(one)
		}
		return b.takeOutput()
	}
	b.splitEvents(chunk)
	return b.takeOutput()
}

// Close ends the body. unfit is the faults that changed nothing about it.
func (b *Injector) Close() (last []OutChunk, unfit []Unused) {
	if !b.known {
		b.detectFraming(true)
		waited := b.event.parts
		b.event = bodyEvent{}
		for _, one := range waited {
			b.splitEvents(one)
		}
	}
	if len(b.event.parts) > 0 {
		b.endEvent()
	}
	for i, s := range b.stages {
		if why := s.close(func(e bodyEvent) { b.sendThrough(i+1, e) }); why != "" {
			unfit = append(unfit, Unused{s.fault, why})
		}
	}
	return b.takeOutput(), unfit
}

// detectFraming tells how the body is framed, if what came of it is enough for that.
func (b *Injector) detectFraming(ended bool) bool {
	f, ok := sniffFraming(b.start, b.packed, b.hint, ended)
	if ok {
		b.known, b.framing, b.ends = true, f, endsOf(f, b.whole)
	}
	return ok
}

// splitEvents makes events of a chunk.
func (b *Injector) splitEvents(chunk eventPart) {
	for p := chunk.data; len(p) > 0; {
		n, ended := b.ends.next(p)
		b.event.parts = append(b.event.parts, eventPart{chunk.chunk, chunk.after, p[:n]})
		p = p[n:]
		if ended {
			b.endEvent()
		}
	}
}

func (b *Injector) endEvent() {
	e := b.event
	e.full = hasData(b.framing, e.allData())
	b.event = bodyEvent{}
	b.sendThrough(0, e)
}

// sendThrough hands an event to stage n, or to the client behind the last one.
func (b *Injector) sendThrough(n int, e bodyEvent) {
	switch {
	case n < len(b.stages):
		b.stages[n].event(e, func(e bodyEvent) { b.sendThrough(n+1, e) })
	case !b.broken:
		b.emitEvent(e)
	}
}

func (b *Injector) emitEvent(e bodyEvent) {
	pause := b.pause
	if !e.full {
		pause = 0
	}
	if b.apart {
		e = e.withData(e.allData())
	}
	for _, p := range e.parts {
		step := len(p.data)
		if b.split {
			step = 1
		}
		for data := range slices.Chunk(p.data, max(1, step)) {
			b.out = append(b.out, OutChunk{p.chunk, p.after, pause, data})
			pause = 0
		}
	}
}

func (b *Injector) takeOutput() []OutChunk {
	out := b.out
	b.out = nil
	return b.Joined(out)
}

// Joined is pieces, with those made one that came at once and between which nobody waits.
func (b *Injector) Joined(list []OutChunk) []OutChunk {
	if b.split || b.apart {
		return list
	}
	var out []OutChunk
	own := false // the latest one's bytes are no others'
	for _, p := range list {
		if n := len(out) - 1; n >= 0 && out[n].Chunk == p.Chunk && p.Pause == 0 && b.framing != messages {
			if !own {
				out[n].Data, own = bytes.Clone(out[n].Data), true
			}
			out[n].Data = append(out[n].Data, p.Data...)
			continue
		}
		out, own = append(out, p), false
	}
	return out
}

// hasEvents reports whether the body is a stream of events.
func (b *Injector) hasEvents() bool { return b.framing >= jsonLines }

func (e bodyEvent) allData() []byte {
	if len(e.parts) == 1 {
		return e.parts[0].data
	}
	var all []byte
	for _, p := range e.parts {
		all = append(all, p.data...)
	}
	return all
}

// withData is the event with other bytes. They arrive whole, when the last of the event's bytes did.
func (e bodyEvent) withData(p []byte) bodyEvent {
	last := e.parts[len(e.parts)-1]
	last.data = p
	return bodyEvent{[]eventPart{last}, e.full}
}
