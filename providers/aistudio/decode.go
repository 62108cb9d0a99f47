package aistudio

import (
	"fmt"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// decoder reads one exchange, which is one turn, number 0.
type decoder struct {
	dialect.OneTurn
	id      string
	finish  []string // of each choice, "" until it comes
	blocked bool     // the prompt was: no candidate will come
	mused   bool     // the last thing that came is a thought without a signature
	usage   stream.Usage
	chunks  int
	slots   int32 // calls opened
	calls   map[callKey]*call

	parser parser
	args   reading
	naive  []byte
	text   stream.Arena
	buf    []byte
}

func (d *decoder) Decode(f stream.Frame, emit func(stream.Event)) error {
	v, err := d.parser.parse(stripPrefix(f.Data))
	if err != nil {
		return err
	}
	d.take(v, nesting, emit)
	return nil
}

// take reads what a frame holds: a chunk, an error, or a list of them.
func (d *decoder) take(v value, lists int, emit func(stream.Event)) {
	switch shapeOf(v, lists) {
	case anError:
		d.fail(v, emit)
	case aChunk:
		d.chunk(v, emit)
	case aCandidate:
		d.ensure(nil, emit)
		d.chunks++
		d.candidate(v, 0, emit)
	case aList:
		for e := range v.all() {
			if !isEmpty(e) {
				d.take(e, lists-1, emit)
			}
		}
	case nothing:
		emit(stream.Event{Kind: stream.Heartbeat, Turn: d.Turn()})
	default:
		d.stranger(v.raw(), emit)
	}
}

// stranger takes what is none of the protocol's messages, of which a Google
// front end's error is known.
func (d *decoder) stranger(raw dialect.Raw, emit func(stream.Event)) {
	if err := raw.Get("error"); err.Get("message").IsString() {
		d.ensure(nil, emit)
		emit(stream.Event{Kind: stream.Failure, Text: err.Get("message").Text(),
			More: &stream.Detail{ID: err.Get("status").Text()}})
		return
	}
	emit(stream.Event{Kind: stream.Unknown, Turn: d.Turn(), Text: "no message of this protocol"})
}

// ensure opens the turn, or takes the id that a later chunk tells.
func (d *decoder) ensure(id dialect.Raw, emit func(stream.Event)) {
	kind := stream.TurnMeta
	if !d.Open {
		kind = stream.TurnOpen
	} else if !id.IsString() || id.Empty() || id.Is(d.id) {
		return
	}
	d.Open, d.id = true, id.Text()
	emit(stream.Event{Kind: kind, More: &stream.Detail{ID: d.id}})
}

func (d *decoder) chunk(v value, emit func(stream.Event)) {
	d.ensure(v.at(7).raw(), emit)
	d.chunks++
	choice := int32(0)
	for e := range v.at(0).all() {
		d.candidate(e, choice, emit)
		choice++
	}
	d.tellBlocked(v.at(1), emit)
	d.tellUsage(v.at(2), emit)
}

func (d *decoder) candidate(v value, choice int32, emit func(stream.Event)) {
	for int(choice) >= len(d.finish) {
		d.finish = append(d.finish, "")
	}
	for p := range v.at(0).at(0).all() {
		d.part(p, choice, emit)
	}
	if reason := v.at(1); reason.isNumber() {
		d.tellFinish(choice, reason.raw(), v.at(3), emit)
	}
}

// tellFinish takes a finish reason, which later chunks may repeat.
func (d *decoder) tellFinish(choice int32, reason dialect.Raw, message value, emit func(stream.Event)) {
	n, _ := reason.Int()
	if n == 0 || d.finish[choice] == string(reason) {
		return
	}
	d.finish[choice] = string(reason)
	if n == malformedCall {
		d.attempt(choice, message, emit)
	}
	r, known := reasonOf(n)
	emit(stream.Event{Kind: stream.Finish, Slot: choice, Text: string(reason), Code: r.code,
		More: &stream.Detail{Name: r.word}})
	why := fmt.Sprintf("finish reason %s is %s", reason, r.word)
	if text := message.raw().Text(); text != "" {
		why += ": " + text
	}
	switch {
	case !known:
		d.Diagnose(emit, dialect.FinishUnknown, "%s", why)
	case r.code == stream.FinishRefused:
		d.Diagnose(emit, stream.ProviderError, "%s", why)
	case r.code == stream.FinishCut:
		d.Diagnose(emit, finishNumber, "%s", why)
	}
}

// tellBlocked takes the word on a prompt that was refused.
func (d *decoder) tellBlocked(feedback value, emit func(stream.Event)) {
	reason := feedback.at(0)
	n, ok := reason.raw().Int()
	if !ok || n == 0 || d.blocked {
		return
	}
	d.blocked = true
	emit(stream.Event{Kind: stream.Finish, Slot: stream.AllChoices, Text: string(reason.raw()), Code: stream.FinishRefused})
	d.Diagnose(emit, stream.ProviderError, "the prompt was blocked: %s", nameOf(n, blockReasons))
}

// tellUsage brings usage to the normal form: reasoning is not in the visible output.
func (d *decoder) tellUsage(v value, emit func(stream.Event)) {
	visible, reasoning := v.at(1).count(), v.at(9).count()
	u := stream.Usage{
		Input: v.at(0).count(), CacheRead: v.at(3).count(), Reasoning: reasoning,
		Output: stream.Count{N: visible.N + reasoning.N, Told: visible.Told || reasoning.Told},
	}
	if u == (stream.Usage{}) || u == d.usage {
		return
	}
	d.usage = u
	emit(stream.Event{Kind: stream.UsageEvent, More: &stream.Detail{Usage: u}})
}

// fail takes a google.rpc.Status.
func (d *decoder) fail(v value, emit func(stream.Event)) {
	d.ensure(nil, emit)
	code, _ := v.at(0).raw().Int()
	emit(stream.Event{Kind: stream.Failure, Text: v.at(1).raw().Text(), More: &stream.Detail{ID: nameOf(code, errorCodes)}})
}

// Close says that the bytes have ended. Whether the outer arrays were closed is
// the framing's to know; a response without a finish reason was cut in any case.
func (d *decoder) Close(emit func(stream.Event)) {
	if !d.Open {
		return
	}
	d.Open = false
	e := stream.Event{Kind: stream.TurnClose, Code: stream.CloseEnd}
	if !d.finished() {
		e.Code, e.Text = stream.CloseCut, "the bytes ended before a finish reason"
	}
	emit(e)
}

func (d *decoder) finished() bool {
	for _, reason := range d.finish {
		if reason == "" {
			return d.blocked
		}
	}
	return d.blocked || len(d.finish) > 0
}
