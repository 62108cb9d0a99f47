package claudecode

import (
	"cmp"
	"strconv"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// A lane is the main agent or one sub-agent. It has a decoder of the inner protocol.
type lane struct {
	of      *decoder
	parent  string // id of the call that started the sub-agent, "" for the main agent
	out     *dialect.Out
	decoder dialect.Decoder

	// A message that came whole, in assistant lines, and may go on.
	whole   bool
	message string       // its id
	next    int          // index of its next block
	partial bool         // its usage is that of its beginning
	ending  stream.Frame // the message_delta with its stop reason and usage so far
}

// extraBlock is the index of the first block that is added to a streamed message because only an
// assistant line has it.
const extraBlock = 1 << 21

func newLane(d *decoder, parent string) *lane {
	l := &lane{of: d, parent: parent}
	l.out = d.Lane(l.edit)
	l.reset()
	return l
}

// reset prepares the lane for another request.
func (l *lane) reset() { l.decoder, l.whole = l.of.inner(l.out), false }

// edit adds to what the inner decoder says what only the lane knows, and remembers calls and
// errors.
func (l *lane) edit(e stream.Event) stream.Event {
	switch e.Kind {
	case stream.TurnOpen:
		opening := stream.PayloadOf[stream.Opening](e)
		opening.Parent, opening.Model = l.parent, cmp.Or(opening.Model, l.of.model)
		e.What = &opening
	case stream.CallOpen:
		info := stream.PayloadOf[stream.CallInfo](e)
		info.Parent = cmp.Or(info.Parent, l.parent)
		e.What = &info
		c := l.out.Last().Call(e.Slot)
		c.Keep()
		if c.ID != "" {
			l.of.calls[c.ID] = c
		}
	case stream.Failure:
		l.of.failed = l.out.Last()
	case stream.TurnClose:
		if l.whole && e.Text != "" {
			e.Text = "the lines ended without a result: Claude Code was stopped, or the model was to go on"
		}
	}
	return e
}

// isOpen reports whether a message has begun and not ended.
func (l *lane) isOpen() bool { return l.out.Current() != nil }

// add gives the inner decoder a content block of a message that came whole.
func (l *lane) add(message, block dialect.Raw) {
	id := message.Get("id")
	if goesOn := l.whole && (!id.HasText() || id.Is(l.message)) || l.isOpen() && !l.whole; !goesOn {
		l.endWhole()
		l.feed(event("message_start", member("message", object(
			member("id", id), member("model", message.Get("model")), member("usage", message.Get("usage"))))))
		l.whole, l.message, l.next = true, id.Text(), 0
	}
	index := l.next
	if !l.whole {
		index += extraBlock
	}
	l.next++
	at := member("index", strconv.AppendInt(nil, int64(index), 10))
	args := argsOf(block.Get("input"))
	if args != nil {
		block = dialect.Rewrite(block, member("input", []byte("{}")))
	}
	l.feed(event("content_block_start", at, member("content_block", block)))
	if args != nil {
		l.feed(event("content_block_delta", at, member("delta", object(
			member("type", []byte(`"input_json_delta"`)), member("partial_json", args)))))
	}
	l.feed(event("content_block_stop", at))
}

// argsOf is, as a string, the arguments of a call that its block cannot bring: an input without
// members is a placeholder where a block starts, and what was not JSON is wrapped.
func argsOf(input dialect.Raw) []byte {
	if raw := unparsed(input); raw != nil {
		return raw
	}
	if input.EmptyObject() {
		return dialect.AppendString(nil, input)
	}
	return nil
}

// unparsed is the text of arguments that Claude Code could not parse, as far as it keeps that; nil
// if it could.
func unparsed(input dialect.Raw) dialect.Raw {
	if raw := input.Get("__unparsedToolInput").Get("raw"); raw.IsString() {
		return raw
	}
	return nil
}

// stop remembers what an assistant line says of the end of its message.
func (l *lane) stop(message dialect.Raw) {
	reason, usage := message.Get("stop_reason"), message.Get("usage")
	delta := object(member("stop_reason", reason), member("stop_details", message.Get("stop_details")))
	l.ending = event("message_delta", member("delta", delta), member("usage", usage))
	l.partial = !reason.Given() && usage.Given()
}

// endWhole ends a message that came whole.
func (l *lane) endWhole() {
	if !l.whole {
		return
	}
	l.feed(l.ending)
	if l.partial {
		l.of.Once(usagePartial, "assistant lines tell the usage as it was when their message began: the output is too low, only the result line has the sum")
	}
	l.feed(event("message_stop"))
	l.whole = false
}

// feed has the inner decoder read an event that is not on the wire. That cannot fail: the event is
// made of what was read.
func (l *lane) feed(f stream.Frame) { _ = l.decoder.Frame(f) }

// event is one with these members.
func event(kind string, members ...dialect.Member) stream.Frame {
	data := object(append(members, member("type", dialect.AppendString(nil, []byte(kind))))...)
	return stream.Frame{Kind: stream.FrameData, Event: []byte(kind), Data: data}
}

func member(name string, value []byte) dialect.Member {
	return dialect.Member{Name: name, Value: value}
}

// object is one with those of the members that have a value.
func object(members ...dialect.Member) []byte { return dialect.Rewrite(nil, members...) }
