// Package fault injects faults into a response while it passes: for a mock provider, which has the
// response from a capture, and for a proxy, which gets it at that moment.
//
//	chunks ─▶ events ─▶ stage ─▶ stage ─▶ output chunks, each written at once
//
// Terms. A [Fault] is one error on purpose. An event is a server-sent event with data, a line of
// JSON, a binary message, a WebSocket message, or a chunk of a body that has none of these. A stage
// applies one fault to the events, one after another. An [OutChunk] is bytes that are written at
// once.
//
// What always holds:
//   - An event passes as soon as it ends, and a chunk of a body without events as soon as it
//     arrives, unless a fault needs to see what follows.
//   - Bytes that no fault changes pass unchanged.
//   - Bodies are not trusted: no body makes an injector panic.
package fault

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"time"
)

// An Injector injects faults into the body of one response. The zero value is not ready for use:
// see [New].
type Injector struct {
	hint    framing // from the header, until the bytes show the framing
	whole   bool    // a fault needs a JSON text as one event
	packed  bool    // the bytes are compressed
	known   bool    // the framing is known
	framing framing
	ends    eventSplitter
	event   bodyEvent // the open event, so far
	start   []byte    // of the body, until the framing is known
	chunk   int
	stages  []faultStage
	pause   time.Duration // before each event
	split   bool          // each byte is its own output chunk
	apart   bool          // each event is its own output chunk
	broken  bool          // the connection breaks after the bytes returned so far
	out     []OutChunk
}

// A faultStage applies one fault to the events of a body.
type faultStage struct {
	fault Fault
	event func(e bodyEvent, emit func(bodyEvent))
	close func(emit func(bodyEvent)) (why string) // called once, after the last event; why is set if the fault changed nothing
}

// OutChunk is bytes that are written at once. A chunk of the body may become several of them.
type OutChunk struct {
	Chunk int           // number of the chunk that the bytes came in
	After time.Duration // time of that chunk
	Pause time.Duration // wait before writing, at any speed
	Data  []byte
}

// bodyEvent is the bytes of one event, or of one chunk if the body has no events.
type bodyEvent struct {
	parts []eventPart
	full  bool // it has data: it is not just a comment or an empty line
}

// eventPart is the bytes of an event that came in one chunk.
type eventPart struct {
	chunk int
	after time.Duration
	data  []byte
}

// Unused is a fault that changed nothing in a response, and why.
type Unused struct {
	Fault Fault
	Why   string
}

// New returns an injector for the body of a response with that header. packed means that the body
// is compressed, so nothing can be found in it.
func New(faults []Fault, header http.Header, packed bool) *Injector {
	b := &Injector{hint: framingOfHeader(header), packed: packed}
	return b.withFaults(faults)
}

// NewCutter returns an injector that changes nothing. Each output chunk is one complete event, or
// one chunk of a body without events.
func NewCutter(header http.Header, packed bool) *Injector {
	return &Injector{hint: framingOfHeader(header), packed: packed, apart: true}
}

// NewMessages returns an injector for WebSocket messages. Each Write takes one complete message.
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

// inOrder returns the faults in the order in which they take effect.
func inOrder(faults []Fault) []Fault {
	sorted := slices.Clone(faults)
	slices.SortStableFunc(sorted, func(a, b Fault) int { return cmp.Compare(a.orderIndex(), b.orderIndex()) })
	return sorted
}

func (b *Injector) addStage(f Fault, event func(bodyEvent, func(bodyEvent)), close func(func(bodyEvent)) string) {
	b.stages = append(b.stages, faultStage{f, event, close})
}

// BreaksHere reports whether the connection is to break after the bytes returned so far. Later
// writes return nothing.
func (b *Injector) BreaksHere() bool { return b.broken }

// Write takes a chunk of the body and returns the bytes that are to be sent now, from this chunk and
// earlier ones. It keeps p, which must not change afterwards.
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

// Close ends the body. unfit lists the faults that changed nothing in it.
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

// detectFraming sets the framing if the bytes so far show it, and reports whether they do.
func (b *Injector) detectFraming(ended bool) bool {
	f, ok := sniffFraming(b.start, b.packed, b.hint, ended)
	if ok {
		b.known, b.framing, b.ends = true, f, endsOf(f, b.whole)
	}
	return ok
}

// splitEvents splits a chunk into events.
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

// sendThrough passes an event to stage n, or to the output after the last stage.
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

// Joined joins output chunks that came in one chunk and have no pause between them.
func (b *Injector) Joined(list []OutChunk) []OutChunk {
	if b.split || b.apart {
		return list
	}
	var out []OutChunk
	own := false // out's last data is a copy, safe to append to
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

// withData returns the event with other bytes. All of them have the time of the event's last chunk.
func (e bodyEvent) withData(p []byte) bodyEvent {
	last := e.parts[len(e.parts)-1]
	last.data = p
	return bodyEvent{[]eventPart{last}, e.full}
}
