package claudecode

import (
	"cmp"
	"strconv"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// agent is the main agent or one sub-agent, with a decoder for the inner protocol.
type agent struct {
	of      *decoder
	parent  string // id of the call that started the sub-agent; "" for the main agent
	out     *protocol.Out
	decoder protocol.Decoder

	// State of a message that was not streamed. Its complete blocks arrive in assistant lines.
	unstreamed bool
	message    string       // id of the message
	next       int          // index of the next block
	partial    bool         // whether the usage is from the beginning of the message
	ran        bool         // whether a tool that the message called has returned
	ending     stream.Frame // the message_delta with its stop reason and usage so far
}

// extraBlock is added to the index of a block that only an assistant line contains, when the block is added to a
// streamed message.
const extraBlock = 1 << 21

// reset prepares the agent for another request.
func (l *agent) reset() { l.decoder, l.unstreamed = l.of.inner(l.out), false }

// editEvent adds the agent's data to an event of the inner decoder. It also records calls and errors.
func (l *agent) editEvent(e stream.Event) stream.Event {
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
		if l.unstreamed && e.Text != "" && e.What == nil {
			e.Text = "the lines ended without a result: Claude Code was stopped, or the model was about to continue"
		}
	}
	return e
}

// isOpen reports whether a message has begun and not ended.
func (l *agent) isOpen() bool { return l.out.Current() != nil }

// addBlock passes a complete content block of a message to the inner decoder.
func (l *agent) addBlock(message, block json.Value) {
	id := message.Get("id")
	if goesOn := l.unstreamed && (!id.HasText() || id.Is(l.message)) || l.isOpen() && !l.unstreamed; !goesOn {
		l.endMessage()
		feedFrame(l.decoder, startOf(message))
		l.unstreamed, l.message, l.next, l.ran = true, id.Text(), 0, false
	}
	index := l.next
	if !l.unstreamed {
		index += extraBlock
	}
	l.next++
	feedBlock(l.decoder, index, block)
}

// feedBlock passes a complete content block to a decoder of the inner protocol.
func feedBlock(to protocol.Decoder, index int, block json.Value) {
	at := newMember("index", strconv.AppendInt(nil, int64(index), 10))
	args := argsOf(block.Get("input"))
	if args != nil {
		block = json.ReplaceMembers(block, newMember("input", []byte("{}")))
	}
	feedFrame(to, newEvent("content_block_start", at, newMember("content_block", block)))
	if args != nil {
		feedFrame(to, newEvent("content_block_delta", at, newMember("delta", newObject(
			newMember("type", []byte(`"input_json_delta"`)), newMember("partial_json", args)))))
	}
	feedFrame(to, newEvent("content_block_stop", at))
}

// argsOf returns the arguments for a delta, as a JSON string, if they can't be in the start of a block: there, an
// empty object would count as a placeholder. It also does so for arguments that Claude Code wrapped because they were
// not JSON. For all other arguments, it returns nil.
func argsOf(input json.Value) []byte {
	if raw := unparsedArguments(input); raw != nil {
		return raw
	}
	if input.EmptyObject() {
		return json.AppendQuoted(nil, input)
	}
	return nil
}

// unparsedArguments returns the text of arguments that Claude Code could not parse, as far as Claude Code kept it. If
// Claude Code could parse the arguments, the result is nil.
func unparsedArguments(input json.Value) json.Value {
	if raw := input.Get("__unparsedToolInput").Get("raw"); raw.IsString() {
		return raw
	}
	return nil
}

// startOf returns the event that begins a message.
func startOf(message json.Value) stream.Frame {
	return newEvent("message_start", newMember("message", newObject(
		newMember("id", message.Get("id")), newMember("model", message.Get("model")), newMember("usage", message.Get("usage")))))
}

// endOf returns the event with the stop reason and the usage that a message has so far.
func endOf(message json.Value) stream.Frame {
	delta := newObject(newMember("stop_reason", message.Get("stop_reason")), newMember("stop_details", message.Get("stop_details")))
	return newEvent("message_delta", newMember("delta", delta), newMember("usage", message.Get("usage")))
}

// endMessage ends the open message if it was not streamed.
func (l *agent) endMessage() {
	if !l.unstreamed {
		return
	}
	feedFrame(l.decoder, l.ending)
	if l.partial {
		l.of.Once(usagePartial, "assistant lines contain the usage from the start of their message, so the output token counts are too low; only the result line contains the total")
	}
	feedFrame(l.decoder, newEvent("message_stop"))
	l.unstreamed = false
}

// interrupted is the text of the line that Claude Code writes if the user interrupts a response.
const interrupted = "[Request interrupted by user]"

// interruptMessage ends the open message, because the user interrupted it. A message with a stop reason is complete, and so
// is a message that was not streamed and whose tool returned.
func (l *agent) interruptMessage() {
	l.of.stopped = true
	complete := l.unstreamed && (l.ran || json.Value(l.ending.Data).Get("delta").Get("stop_reason").IsPresent())
	if t := l.out.Current(); t != nil && !complete {
		if l.unstreamed {
			feedFrame(l.decoder, l.ending)
		}
		t.CutByClient("the user interrupted the request")
		l.reset()
	}
}

// feedFrame passes an event that was not sent over the wire to a decoder of the inner protocol. This can't fail,
// because the event consists of JSON that was already read.
func feedFrame(to protocol.Decoder, f stream.Frame) { _ = to.Frame(f) }

// newEvent returns an event with the given fields.
func newEvent(kind string, members ...json.Member) stream.Frame {
	data := newObject(append(members, newMember("type", json.AppendQuoted(nil, []byte(kind))))...)
	return stream.Frame{Kind: stream.FrameData, Event: []byte(kind), Data: data}
}

func newMember(name string, value []byte) json.Member {
	return json.Member{Name: name, Value: value}
}

// newObject returns an object with the fields that have a value.
func newObject(members ...json.Member) []byte { return json.ReplaceMembers(nil, members...) }
