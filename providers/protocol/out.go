package protocol

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// Out receives the content that a Decoder reads, and makes the events of one exchange. It numbers the turns
// from 0 and keeps a list of open turns. It copies the bytes that it receives.
type Out struct {
	Interrupted bool // for Close: the exchange ended before the response ended
	Refused     bool // the text of a response is in a field for refusals

	emit     func(stream.Event)
	of       *Out // the outer Out of a nested one, or nil
	turns    int32
	open     []*Turn // open turns, in the order in which they began
	last     *Turn
	reported reportedOnce
	text     stream.Arena      // text and wire forms of deltas, until the timeline has copied them
	froms    []stream.WireForm // block for the next wire forms
	buf      []byte
	now      time.Duration
}

// NewOut returns an Out that passes its events to emit, which sets At and Frame.
func NewOut(emit func(stream.Event)) *Out { return &Out{emit: emit, now: stream.NoTime} }

// To passes all further events to emit.
func (o *Out) To(emit func(stream.Event)) { o.emit = emit }

// Nested returns an Out for a decoder that reads one part of the exchange. Its turns are also turns of o,
// with the same numbers. The function edit changes each event of the nested Out before o emits it.
func (o *Out) Nested(edit func(stream.Event) stream.Event) *Out {
	nested := NewOut(func(e stream.Event) { o.emit(edit(e)) })
	nested.of = o
	return nested
}

// Current returns the open turn. If several turns are open, it returns the latest one; if none is open, it
// returns nil.
func (o *Out) Current() *Turn {
	if n := len(o.open); n > 0 {
		return o.open[n-1]
	}
	return nil
}

// Last returns the turn that was opened last, or nil before the first turn.
func (o *Out) Last() *Turn { return o.last }

// Open begins a turn.
func (o *Out) Open(info stream.Opening) *Turn {
	t := o.OpenSilently()
	t.ID, t.Model = info.ID, info.Model
	t.emit(stream.Event{Kind: stream.TurnOpen, What: &info})
	return t
}

// OpenSilently begins a turn without an event, for a turn that has no beginning on the wire. The turn appears
// in the session with its first event.
func (o *Out) OpenSilently() *Turn {
	t := &Turn{out: o, open: true}
	o.addTurn(t)
	return t
}

// Unknown reports an event of an unknown type, with the name of the type.
func (o *Out) Unknown(what string) {
	o.emit(stream.Event{Kind: stream.Unknown, Turn: o.Current().Number(), Text: what})
}

// Heartbeat reports a frame without content.
func (o *Out) Heartbeat() { o.emit(stream.Event{Kind: stream.Heartbeat, Turn: o.Current().Number()}) }

// Stamp sets the time of the current frame, counted from the first frame, for protocols with time stamps in their
// frames. This time is used only if the source of the bytes has no times.
func (o *Out) Stamp(at time.Duration) { o.now = at }

// LastStamp returns the latest time from Stamp, or stream.NoTime before the first Stamp.
func (o *Out) LastStamp() time.Duration { return o.now }

// Find reports a finding about the turn that was opened last. Before the first turn, the finding belongs to
// no turn.
func (o *Out) Find(d *stream.Diagnosis, format string, args ...any) {
	o.emitFinding(o.last.Number(), d, format, args)
}

// Once does the same as Find, but only for the first finding with the diagnosis d in the exchange.
func (o *Out) Once(d *stream.Diagnosis, format string, args ...any) {
	if o.reported.isFirst(d) {
		o.Find(d, format, args...)
	}
}

func (o *Out) emitFinding(turn int32, d *stream.Diagnosis, format string, args []any) {
	f := d.Finding(format, args...)
	o.emit(stream.Event{Kind: stream.Found, Turn: turn, Slot: stream.NoSlot, What: &f})
}

// CheckName compares the event name in the framing with the type in the body. The type has priority, because gateways
// drop and change the name. A missing name is reported only if named is set, which means that the framing has names.
func (o *Out) CheckName(name, kind []byte, named bool) {
	switch {
	case bytes.Equal(name, kind):
	case len(name) > 0:
		o.Once(EventNameMismatch, "the event is named %q, but the type in its body is %q", stream.Fact(name), stream.Fact(kind))
	case named:
		o.Once(EventNameMissing, "the events have no \"event:\" line; clients that handle events by name ignore such events")
	}
}

// holdText returns a value's text: the content of a string, the bytes of any other value, or "" for null and
// missing values. The timeline makes its own copy of the text.
func (o *Out) holdText(v json.Value) string {
	if !v.IsPresent() {
		return ""
	}
	switch {
	case len(v) > longText && v.IsString():
		return string(v.Append(nil))
	case len(v) > longText:
		return string(v)
	}
	if word := v.Word(); word != nil {
		return o.text.StringOf(word)
	}
	o.buf = v.Append(o.buf[:0])
	return o.text.StringOf(o.buf)
}

// longText is the length on the wire above which a text is not stored in the arena. Such a text is freed with
// its event.
const longText = 16 << 10

// Release frees the buffers of an Out that receives no more content.
func (o *Out) Release() { o.text, o.froms, o.buf = stream.Arena{}, nil, nil }

// originOf returns the event payload with the wire form of a delta.
func (o *Out) originOf(from []byte) stream.Payload {
	if len(o.froms) == cap(o.froms) {
		o.froms = make([]stream.WireForm, 0, min(max(2*cap(o.froms), 4), 256))
	}
	o.froms = append(o.froms, stream.WireForm{Wire: o.text.StringOf(from)})
	return &o.froms[len(o.froms)-1]
}

// addTurn numbers a new turn and adds it to the open turns.
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

// removeTurn removes a turn from the open turns.
func (o *Out) removeTurn(t *Turn) {
	if o.of != nil {
		o.of.removeTurn(t)
	}
	if i := slices.Index(o.open, t); i >= 0 {
		o.open = slices.Delete(o.open, i, i+1)
	}
}

// IsError reports whether an error field contains an error. Without an error, some servers write an empty object, an
// empty string or false.
func IsError(err json.Value) bool {
	return err.IsPresent() && !err.EmptyObject() && !err.Empty() && !err.Is("") && string(err) != "false"
}

// ErrorOf returns the type and the message of an error in the form that most protocols use. If there is no
// message, it returns the complete error as the message.
func ErrorOf(err json.Value) (id, message string) {
	if message = err.Get("message").Text(); message == "" {
		message = string(err)
	}
	return err.Get("type").Text(), message
}

// ValidationWords returns the problems in a list that FastAPI sends as the detail of an error, for example
// "messages[2].content: Field required". Each problem has a place and a message. It returns "" if the value is not such
// a list.
func ValidationWords(detail json.Value) string {
	var words []string
	for problem := range detail.Elements() {
		said := problem.Get("msg").Text()
		if said == "" {
			continue
		}
		place := ""
		for step := range problem.Get("loc").Elements() {
			switch text := step.Text(); {
			case !step.IsString():
				place += "[" + string(step) + "]"
			case place == "" && text == "body":
			case place == "":
				place = text
			default:
				place += "." + text
			}
		}
		if place != "" {
			said = place + ": " + said
		}
		words = append(words, said)
	}
	if others := len(words) - maxProblems; others > 0 {
		words = append(words[:maxProblems], "and "+count.Of(others, "other"))
	}
	return strings.Join(words, "; ")
}

// maxProblems is the maximum number of problems that are quoted from an error.
const maxProblems = 3

// GoogleErrorOf returns the status and the message of an error in the form of Google's APIs
// (google.rpc.Status). If there is no status, it returns the code; if there is no message, it returns the
// complete error as the message.
func GoogleErrorOf(err json.Value) (id, message string) {
	if message = err.Get("message").Text(); message == "" {
		message = string(err.Append(nil))
	}
	if id = err.Get("status").Text(); id == "" {
		if code := err.Get("code"); code.IsPresent() {
			id = string(code.Append(nil))
		}
	}
	return id, message
}

// CountOf returns a value as a token count. If the value is not an integer, the count is marked as not reported.
func CountOf(v json.Value) stream.Count {
	n, ok := v.Int()
	return stream.Count{N: n, Reported: ok}
}

// PositiveCount returns a value as a token count. Unless the value is greater than zero, the count is marked as not
// reported, because some providers always send a count of 0.
func PositiveCount(v json.Value) (n stream.Count) {
	if c := CountOf(v); c.N > 0 {
		n = c
	}
	return n
}

// Clip returns at most the first 200 bytes of a value, for quoting in a message.
func Clip(v json.Value) string { return stream.Clip(v, 0, 200) }
