// Package bend makes an answer go wrong on purpose while it passes: for a mock provider, whose
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
package bend

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"time"
)

// A Bender bends the body of one answer. The zero value is not ready: see [New].
type Bender struct {
	hint    framing // by the header, where the bytes do not tell yet
	whole   bool    // a fault needs a JSON text as one event
	packed  bool    // the bytes are compressed
	known   bool    // the framing is
	framing framing
	ends    ends
	event   event  // so far
	start   []byte // of the body, while the framing is not known
	chunk   int
	stages  []stage
	pause   time.Duration // before each event
	split   bool          // each byte is written by itself
	apart   bool          // each event is written whole, and by itself
	broken  bool          // the connection is to break behind what was returned
	out     []Piece
}

// A stage is what one fault does to the events of a body.
type stage struct {
	fault Fault
	event func(e event, emit func(event))
	close func(emit func(event)) (why string) // nothing changed; called once, behind the last event
}

// Piece is bytes that are written at once.
type Piece struct {
	Chunk int           // of which they are a part; several pieces of one chunk came at once
	After time.Duration // as the chunk's
	Pause time.Duration // before it, at any speed
	Data  []byte
}

// event is the bytes of one event, or of one chunk where the body has no events.
type event struct {
	parts []part
	full  bool // it carries something: it is not just a comment or an empty line
}

// part is the bytes that an event has from one chunk.
type part struct {
	chunk int
	after time.Duration
	data  []byte
}

// Unfit is a fault that changed nothing about an answer, and why.
type Unfit struct {
	Fault Fault
	Why   string
}

// New makes a bender for the body of an answer with that header. packed says that its bytes are
// compressed, so that nothing can be found in them.
func New(faults []Fault, header http.Header, packed bool) *Bender {
	b := &Bender{hint: hinted(header), packed: packed}
	return b.with(faults)
}

// NewCutter makes a bender that changes nothing: each piece it returns is one event, whole, or one
// chunk of a body that has none.
func NewCutter(header http.Header, packed bool) *Bender {
	return &Bender{hint: hinted(header), packed: packed, apart: true}
}

// NewMessages makes a bender that is given whole messages, one at a time, as a WebSocket has them.
func NewMessages(faults []Fault) *Bender {
	b := &Bender{known: true, framing: messages, ends: wholeChunks{}}
	return b.with(faults)
}

func (b *Bender) with(faults []Fault) *Bender {
	for _, f := range inOrder(faults) {
		if f.kind.bend != nil {
			f.kind.bend(b, f)
		}
	}
	return b
}

// inOrder is the faults in the order in which they take effect.
func inOrder(faults []Fault) []Fault {
	sorted := slices.Clone(faults)
	slices.SortStableFunc(sorted, func(a, b Fault) int { return cmp.Compare(a.order(), b.order()) })
	return sorted
}

func (b *Bender) add(f Fault, event func(event, func(event)), close func(func(event)) string) {
	b.stages = append(b.stages, stage{f, event, close})
}

// Broken reports whether the connection is to break behind what was returned so far. What is
// written then changes nothing any more.
func (b *Bender) Broken() bool { return b.broken }

// Write takes a chunk of the body, which must not change any more, and returns what of it and of
// those before is to be sent now.
func (b *Bender) Write(p []byte, after time.Duration) []Piece {
	if len(p) == 0 {
		return nil
	}
	chunk := part{b.chunk, after, p}
	b.chunk++
	if !b.known {
		if b.start = append(b.start, p...); !b.look(false) {
			b.event.parts = append(b.event.parts, chunk)
			return nil
		}
		b.start = nil
		waited := append(b.event.parts, chunk)
		b.event = event{}
		for _, one := range waited {
			b.cut(one)
		}
		return b.take()
	}
	b.cut(chunk)
	return b.take()
}

// Close ends the body. unfit is the faults that changed nothing about it.
func (b *Bender) Close() (last []Piece, unfit []Unfit) {
	if !b.known {
		b.look(true)
		waited := b.event.parts
		b.event = event{}
		for _, one := range waited {
			b.cut(one)
		}
	}
	if len(b.event.parts) > 0 {
		b.endEvent()
	}
	for i, s := range b.stages {
		if why := s.close(func(e event) { b.pass(i+1, e) }); why != "" {
			unfit = append(unfit, Unfit{s.fault, why})
		}
	}
	return b.take(), unfit
}

// look tells how the body is framed, if what came of it is enough for that.
func (b *Bender) look(ended bool) bool {
	f, ok := sniff(b.start, b.packed, b.hint, ended)
	if ok {
		b.known, b.framing, b.ends = true, f, endsOf(f, b.whole)
	}
	return ok
}

// cut makes events of a chunk.
func (b *Bender) cut(chunk part) {
	for p := chunk.data; len(p) > 0; {
		n, ended := b.ends.next(p)
		b.event.parts = append(b.event.parts, part{chunk.chunk, chunk.after, p[:n]})
		p = p[n:]
		if ended {
			b.endEvent()
		}
	}
}

func (b *Bender) endEvent() {
	e := b.event
	e.full = carries(b.framing, e.data())
	b.event = event{}
	b.pass(0, e)
}

// pass hands an event to stage n, or to the client behind the last one.
func (b *Bender) pass(n int, e event) {
	switch {
	case n < len(b.stages):
		b.stages[n].event(e, func(e event) { b.pass(n+1, e) })
	case !b.broken:
		b.send(e)
	}
}

func (b *Bender) send(e event) {
	pause := b.pause
	if !e.full {
		pause = 0
	}
	if b.apart {
		e = e.with(e.data())
	}
	for _, p := range e.parts {
		step := len(p.data)
		if b.split {
			step = 1
		}
		for data := range slices.Chunk(p.data, max(1, step)) {
			b.out = append(b.out, Piece{p.chunk, p.after, pause, data})
			pause = 0
		}
	}
}

func (b *Bender) take() []Piece {
	out := b.out
	b.out = nil
	return b.Joined(out)
}

// Joined is pieces, with those made one that came at once and between which nobody waits.
func (b *Bender) Joined(list []Piece) []Piece {
	if b.split || b.apart {
		return list
	}
	var out []Piece
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

// streams reports whether the body is a stream of events.
func (b *Bender) streams() bool { return b.framing >= jsonLines }

func (e event) data() []byte {
	if len(e.parts) == 1 {
		return e.parts[0].data
	}
	var all []byte
	for _, p := range e.parts {
		all = append(all, p.data...)
	}
	return all
}

// with is the event with other bytes. They arrive whole, when the last of the event's bytes did.
func (e event) with(p []byte) event {
	last := e.parts[len(e.parts)-1]
	last.data = p
	return event{[]part{last}, e.full}
}
