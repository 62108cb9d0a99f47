package dialect

import (
	"bytes"
	"slices"
	"time"

	"toolscope/stream"
)

// Out is where a Decoder says what it reads. It makes the events, numbers the turns of the exchange
// from 0 and knows which are open. Bytes it is given are copied: the decoder's buffers stay its
// own.
type Out struct {
	emit  func(stream.Event)
	of    *Out // what it is a lane of, or nil
	turns int32
	open  []*Turn // in the order they began
	last  *Turn
	said  told
	text  stream.Arena
	froms []stream.Origin // a block of them, filled one by one
	buf   []byte
	now   time.Duration
}

// NewOut is an Out whose events go to emit, which stamps At and Frame.
func NewOut(emit func(stream.Event)) *Out { return &Out{emit: emit, now: stream.NoTime} }

// To has the events go to emit from now on.
func (o *Out) To(emit func(stream.Event)) { o.emit = emit }

// Lane is an Out for a decoder that reads a part of the exchange. Its turns are turns of o: they
// have their numbers among those, and o knows which are open. What it says is passed on as edit has
// it.
func (o *Out) Lane(edit func(stream.Event) stream.Event) *Out {
	lane := NewOut(func(e stream.Event) { o.emit(edit(e)) })
	lane.of = o
	return lane
}

// Current is the turn that is open, the latest if several are, nil if none is.
func (o *Out) Current() *Turn {
	if n := len(o.open); n > 0 {
		return o.open[n-1]
	}
	return nil
}

// Turn is the number of the current turn, or stream.NoTurn.
func (o *Out) Turn() int32 { return o.Current().Number() }

// Last is the turn that was opened last, nil before the first.
func (o *Out) Last() *Turn { return o.last }

// Open begins a turn.
func (o *Out) Open(info stream.Opening) *Turn {
	t := o.Presume()
	t.ID, t.Model = info.ID, info.Model
	t.emit(stream.Event{Kind: stream.TurnOpen, What: &info})
	return t
}

// Presume is a turn that nothing on the wire begins: it is open, and shown once anything is told of
// it.
func (o *Out) Presume() *Turn {
	t := &Turn{out: o, open: true}
	o.opened(t)
	return t
}

// Unknown tells of an event of a type that this version does not know.
func (o *Out) Unknown(what string) {
	o.emit(stream.Event{Kind: stream.Unknown, Turn: o.Turn(), Text: what})
}

// Heartbeat tells of a frame that says nothing.
func (o *Out) Heartbeat() { o.emit(stream.Event{Kind: stream.Heartbeat, Turn: o.Turn()}) }

// Stamp says when the frame being decoded was made, since the first one, in a protocol that stamps
// its frames. It counts where the source of the bytes has no times.
func (o *Out) Stamp(at time.Duration) { o.now = at }

// Now is the latest Stamp, stream.NoTime before the first.
func (o *Out) Now() time.Duration { return o.now }

// Find makes a finding about the turn that was opened last; before the first, about none.
func (o *Out) Find(d *stream.Diagnosis, format string, args ...any) {
	o.find(o.last.Number(), d, format, args)
}

// Once is Find, unless that was found in the exchange before.
func (o *Out) Once(d *stream.Diagnosis, format string, args ...any) {
	if o.said.first(d) {
		o.Find(d, format, args...)
	}
}

func (o *Out) find(turn int32, d *stream.Diagnosis, format string, args []any) {
	f := d.Finding(format, args...)
	o.emit(stream.Event{Kind: stream.Found, Turn: turn, Slot: stream.NoSlot, What: &f})
}

// CheckName compares the name that the framing gives an event with the type in its body, which is
// what counts: gateways drop and change the name. Where there is none, that is told if named, that
// is if a client could have gone by it.
func (o *Out) CheckName(name, kind []byte, named bool) {
	switch {
	case bytes.Equal(name, kind):
	case len(name) > 0:
		o.Once(EventNameMismatch, "the event is named %q, its body says %q", name, kind)
	case named:
		o.Once(EventNameMissing, "events have no event: line; clients that dispatch on the name see nothing")
	}
}

// hold is the text of a value in memory of its own: of a string its content, of anything else its
// bytes, of null and of what is not there nothing.
func (o *Out) hold(v Raw) string {
	if !v.Given() {
		return ""
	}
	o.buf = v.Append(o.buf[:0])
	return o.text.Hold(o.buf)
}

// origin is the payload of a delta whose text was derived: the wire's own form of it, if any.
func (o *Out) origin(from []byte) stream.Payload {
	if len(from) == 0 {
		return nil
	}
	if len(o.froms) == cap(o.froms) {
		o.froms = make([]stream.Origin, 0, min(max(2*cap(o.froms), 4), 32))
	}
	o.froms = append(o.froms, stream.Origin{Wire: o.text.Hold(from)})
	return &o.froms[len(o.froms)-1]
}

// opened numbers a turn that begins.
func (o *Out) opened(t *Turn) {
	if o.of != nil {
		o.of.opened(t)
	} else {
		t.number = o.turns
		o.turns++
	}
	o.open = append(o.open, t)
	o.last = t
}

// closed says that a turn is over.
func (o *Out) closed(t *Turn) {
	if o.of != nil {
		o.of.closed(t)
	}
	if i := slices.Index(o.open, t); i >= 0 {
		o.open = slices.Delete(o.open, i, i+1)
	}
}
