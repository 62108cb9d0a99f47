package protocol

import (
	"bytes"
	"slices"
	"time"

	"toolscope/stream"
)

// Out is where a Decoder says what it reads. It makes the events of one exchange, numbers its turns
// from 0 and knows which are open. It copies the bytes it is given.
type Out struct {
	emit     func(stream.Event)
	of       *Out // the Out that this is a lane of, or nil
	turns    int32
	open     []*Turn // in the order they began
	last     *Turn
	reported reportedOnce
	text     stream.Arena      // of deltas and the wire's forms of them, until the timeline has copied them
	froms    []stream.WireForm // the block that the next form goes into
	buf      []byte
	now      time.Duration
}

// NewOut is an Out whose events go to emit, which stamps At and Frame.
func NewOut(emit func(stream.Event)) *Out { return &Out{emit: emit, now: stream.NoTime} }

// To has the events go to emit from now on.
func (o *Out) To(emit func(stream.Event)) { o.emit = emit }

// Nested is an Out for a decoder that reads one part of the exchange. Its turns are turns of o too,
// numbered among them. Each of its events goes to o as edit returns it.
func (o *Out) Nested(edit func(stream.Event) stream.Event) *Out {
	lane := NewOut(func(e stream.Event) { o.emit(edit(e)) })
	lane.of = o
	return lane
}

// Current is the turn that is open, the latest one if several are, nil if none is.
func (o *Out) Current() *Turn {
	if n := len(o.open); n > 0 {
		return o.open[n-1]
	}
	return nil
}

// Last is the turn that was opened last, nil before the first.
func (o *Out) Last() *Turn { return o.last }

// Open begins a turn.
func (o *Out) Open(info stream.Opening) *Turn {
	t := o.OpenSilently()
	t.ID, t.Model = info.ID, info.Model
	t.emit(stream.Event{Kind: stream.TurnOpen, What: &info})
	return t
}

// OpenSilently opens a turn without an event, where nothing on the wire begins one. It appears in the
// session with the first event about it.
func (o *Out) OpenSilently() *Turn {
	t := &Turn{out: o, open: true}
	o.addTurn(t)
	return t
}

// Unknown tells of an event whose type, what, this version does not know.
func (o *Out) Unknown(what string) {
	o.emit(stream.Event{Kind: stream.Unknown, Turn: o.Current().Number(), Text: what})
}

// Heartbeat tells of a frame that says nothing.
func (o *Out) Heartbeat() { o.emit(stream.Event{Kind: stream.Heartbeat, Turn: o.Current().Number()}) }

// Stamp says when the frame being decoded was made, as the time since the first frame, in a
// protocol that stamps its frames. It is used where the source of the bytes has no times.
func (o *Out) Stamp(at time.Duration) { o.now = at }

// LastStamp is the latest Stamp, stream.NoTime before the first.
func (o *Out) LastStamp() time.Duration { return o.now }

// Find makes a finding about the turn that was opened last; before the first, about none.
func (o *Out) Find(d *stream.Diagnosis, format string, args ...any) {
	o.emitFinding(o.last.Number(), d, format, args)
}

// Once is Find, but only the first time d is found in the exchange.
func (o *Out) Once(d *stream.Diagnosis, format string, args ...any) {
	if o.reported.isFirst(d) {
		o.Find(d, format, args...)
	}
}

func (o *Out) emitFinding(turn int32, d *stream.Diagnosis, format string, args []any) {
	f := d.Finding(format, args...)
	o.emit(stream.Event{Kind: stream.Found, Turn: turn, Slot: stream.NoSlot, What: &f})
}

// CheckName compares the name that the framing gives an event with the type in its body. The body
// counts: gateways drop and change the name. A missing name is reported only if named, that is, if
// the framing has names at all.
func (o *Out) CheckName(name, kind []byte, named bool) {
	switch {
	case bytes.Equal(name, kind):
	case len(name) > 0:
		o.Once(EventNameMismatch, "the event is named %q, its body says %q", name, kind)
	case named:
		o.Once(EventNameMissing, "events have no event: line; clients that dispatch on the name see nothing")
	}
}

// holdText is a copy of a value's text, which the timeline copies in its turn: a string's content, the
// bytes of anything else, and "" where the value is null or not there.
func (o *Out) holdText(v Raw) string {
	if !v.IsPresent() {
		return ""
	}
	if o.buf = v.Append(o.buf[:0]); len(o.buf) > longText {
		return string(o.buf)
	}
	return o.text.StringOf(o.buf)
}

// longText is a text that is no delta of many: it is let go with its event.
const longText = 16 << 10

// Release lets go of the buffers, which an Out that is told no more needs no more.
func (o *Out) Release() { o.text, o.froms, o.buf = stream.Arena{}, nil, nil }

// originOf is the payload of a delta that has the wire's own form from; nil where from is empty.
func (o *Out) originOf(from []byte) stream.Payload {
	if len(from) == 0 {
		return nil
	}
	if len(o.froms) == cap(o.froms) {
		o.froms = make([]stream.WireForm, 0, min(max(2*cap(o.froms), 4), 256))
	}
	o.froms = append(o.froms, stream.WireForm{Wire: o.text.StringOf(from)})
	return &o.froms[len(o.froms)-1]
}

// addTurn numbers a turn that begins.
func (o *Out) addTurn(t *Turn) {
	if o.of != nil {
		o.of.addTurn(t)
	} else {
		t.number = o.turns
		o.turns++
	}
	o.open = append(o.open, t)
	o.last = t
}

// removeTurn says that a turn is over.
func (o *Out) removeTurn(t *Turn) {
	if o.of != nil {
		o.of.removeTurn(t)
	}
	if i := slices.Index(o.open, t); i >= 0 {
		o.open = slices.Delete(o.open, i, i+1)
	}
}
