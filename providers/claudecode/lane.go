package claudecode

import (
	"strconv"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// A lane is the main agent or one sub-agent. It has a decoder of the inner
// protocol, whose turns have other numbers here.
type lane struct {
	of      *decoder
	parent  string // id of the call that started the sub-agent, "" for the main agent
	out     *dialect.Out
	decoder dialect.Decoder
	turns   []int32 // numbers of the inner decoder's turns
	last    int32   // the latest of them, or stream.NoTurn
	slots   map[int32]*call

	// A message that came whole, in assistant lines, and may go on.
	whole   bool
	message string // its id
	next    int    // index of its next block
	ending  []byte // stop reason and usage so far, as members of message_delta
	partial bool   // the usage is that of the message's beginning

	onEvent func(stream.Event)
}

// extraBlock is the index of the first block that is added to a streamed message
// because only an assistant line has it.
const extraBlock = 1 << 21

func (d *decoder) newLane(parent string) *lane {
	l := &lane{of: d, parent: parent, last: stream.NoTurn}
	l.onEvent = l.take
	l.reset()
	return l
}

// reset prepares the lane for another request.
func (l *lane) reset() {
	l.out = dialect.NewOut(l.onEvent)
	l.decoder, l.turns, l.slots = l.of.inner(l.out), nil, map[int32]*call{}
	l.whole = false
}

// feed has the inner decoder read one event.
func (l *lane) feed(kind []byte, event []byte) error {
	return l.decoder.Frame(stream.Frame{Kind: stream.FrameData, Event: kind, Data: event})
}

// take passes an event of the inner decoder on.
func (l *lane) take(e stream.Event) {
	if e.Turn != stream.NoTurn {
		for int(e.Turn) >= len(l.turns) {
			l.turns = append(l.turns, l.of.begin(l))
		}
		e.Turn = l.turns[e.Turn]
	}
	switch e.Kind {
	case stream.TurnOpen:
		more := *e.More
		more.Parent = l.parent
		if more.Model == "" {
			more.Model = l.of.model
		}
		e.More = &more
	case stream.CallOpen:
		e.More = l.open(e)
	case stream.Args:
		if k := l.slots[e.Slot]; k != nil {
			k.args.Add(e.Text)
		}
	case stream.Failure:
		l.of.failed = e.Turn + 1
	case stream.TurnClose:
		if l.whole && e.Text != "" {
			e.Text = "the lines ended without a result: Claude Code was stopped, or the model was to go on"
		}
	}
	l.of.emit(e)
}

// open remembers a call, and says which call its agent works for.
func (l *lane) open(e stream.Event) *stream.Detail {
	more := *e.More
	if more.Parent == "" {
		more.Parent = l.parent
	}
	k := &call{turn: e.Turn, slot: e.Slot}
	l.slots[e.Slot] = k
	if more.ID != "" {
		l.of.calls[more.ID] = k
	}
	return &more
}

// isOpen reports whether a message has begun and not ended.
func (l *lane) isOpen() bool { return l.out.Turn() != stream.NoTurn }

// add gives the inner decoder a content block of a message that came whole.
func (l *lane) add(message, block dialect.Raw) error {
	id := message.Get("id").Text()
	if l.whole && (id == "" || l.message == id) || l.isOpen() && !l.whole {
		return l.addBlock(block)
	}
	if err := l.endWhole(); err != nil {
		return err
	}
	var start []byte
	for _, name := range [...]string{"id", "model", "usage"} {
		start = appendMember(start, name, message.Get(name))
	}
	if err := l.event("message_start", appendMember(nil, "message", object(start))); err != nil {
		return err
	}
	l.whole, l.message, l.next, l.ending, l.partial = true, id, 0, nil, false
	return l.addBlock(block)
}

func (l *lane) addBlock(block dialect.Raw) error {
	index := l.next
	if !l.whole {
		index += extraBlock
	}
	l.next++
	at := appendMember(nil, "index", strconv.AppendInt(nil, int64(index), 10))
	if err := l.event("content_block_start", appendMember(at, "content_block", block)); err != nil {
		return err
	}
	// An input without members is a placeholder where a block starts, and a value
	// where it is whole.
	if input := block.Get("input"); input.EmptyObject() {
		delta := object(appendMember(appendMember(nil, "type", []byte(`"input_json_delta"`)), "partial_json", strconv.AppendQuote(nil, string(input))))
		if err := l.event("content_block_delta", appendMember(at, "delta", delta)); err != nil {
			return err
		}
	}
	return l.event("content_block_stop", at)
}

// stop remembers what an assistant line says of the end of its message.
func (l *lane) stop(message dialect.Raw) {
	reason := message.Get("stop_reason")
	delta := object(appendMember(appendMember(nil, "stop_reason", reason), "stop_details", message.Get("stop_details")))
	l.ending = appendMember(appendMember(nil, "delta", delta), "usage", message.Get("usage"))
	l.partial = !reason.Given() && message.Get("usage").Given()
}

// endWhole ends a message that came whole.
func (l *lane) endWhole() error {
	if !l.whole {
		return nil
	}
	if err := l.event("message_delta", l.ending); err != nil {
		return err
	}
	if l.partial {
		l.of.once(usagePartial, "assistant lines tell the usage as it was when their message began: the output is too low, only the result line has the sum")
	}
	err := l.event("message_stop", nil)
	l.whole = false
	return err
}

// event feeds an event that is not on the wire, made of these members.
func (l *lane) event(kind string, members []byte) error {
	name := append(append([]byte{'"'}, kind...), '"')
	return l.feed([]byte(kind), object(append(appendMember(nil, "type", name), members...)))
}

// appendMember appends a member and a comma, unless there is no value.
func appendMember(dst []byte, name string, value []byte) []byte {
	if len(value) == 0 {
		return dst
	}
	dst = append(append(append(dst, '"'), name...), `":`...)
	return append(append(dst, value...), ',')
}

// object is the object of members as appendMember wrote them.
func object(members []byte) []byte {
	if n := len(members); n > 0 {
		members = members[:n-1]
	}
	return append(append([]byte{'{'}, members...), '}')
}
