package bedrock

import (
	"toolscope/providers/dialect"
	"toolscope/stream"
)

// decoder reads one exchange. Between messages turn is the one that ended last.
type decoder struct {
	*dialect.Out
	ev      event
	turn    *dialect.Turn
	stopped bool // messageStop has come
	counted bool // metadata has come
}

func newDecoder(o *dialect.Out) dialect.Decoder {
	d := &decoder{Out: o}
	d.ev.bind()
	return d
}

// Frame reads one event, a whole body or an error.
func (d *decoder) Frame(f stream.Frame) error {
	if err := d.ev.shape.Read(f.Data); err != nil {
		return err
	}
	switch name := d.ev.name(f.Event); name {
	case "messageStart":
		d.messageStart()
	case "contentBlockStart":
		d.blockStart(d.during("contentBlockStart"), d.ev.index.Slot())
	case "contentBlockDelta":
		d.blockDelta(d.during("contentBlockDelta"), d.ev.index.Slot())
	case "contentBlockStop": // text blocks often have no start, so a stop alone is no deviation
		if c := d.during("contentBlockStop").CallIn(d.ev.index.Slot()); c != nil && !c.Sealed {
			c.Seal()
		}
	case "messageStop":
		d.messageStop()
	case "metadata":
		d.metadata()
	case "":
		d.nameless(f.Data)
	default:
		d.Unknown(name)
	}
	return nil
}

// nameless takes what is no event: a whole body, or an error instead of one.
func (d *decoder) nameless(data dialect.Raw) {
	switch {
	case d.ev.output.Kind() == '{':
		d.body()
	case d.ev.message.IsString():
		if !d.turn.IsOpen() {
			d.begin()
		}
		d.turn.Fail(d.ev.errType.Text(), d.ev.message.Text())
	default: // it goes by its first member
		s := data.Scan()
		s.Object()
		d.Unknown(string(s.Key()))
	}
}

// Close says that the bytes have ended: without messageStop that is a cut.
func (d *decoder) Close() {
	if d.stopped {
		d.end()
	}
	d.cut()
}

func (d *decoder) cut() { d.turn.Cut("the stream ended without messageStop") }

// end ends the turn after messageStop.
func (d *decoder) end() {
	if d.turn.IsOpen() && !d.counted {
		d.turn.Find(stream.NoTerminator.As(stream.Info), "messageStop came, but no metadata after it: usage is missing")
	}
	d.turn.End()
}

func (d *decoder) messageStart() {
	switch {
	case d.stopped:
		d.end()
	case d.turn.IsOpen():
		d.turn.Find(dialect.MessageRestarted, "a second message began before this one ended: a retry was spliced into one body")
		d.cut()
	}
	d.begin()
}

// begin opens a turn. Neither events nor a body say of which model.
func (d *decoder) begin() *dialect.Turn {
	d.stopped, d.counted = false, false
	d.turn = d.Open(stream.Opening{})
	return d.turn
}

// during is the open turn; an event that came before its messageStart opens one.
func (d *decoder) during(event string) *dialect.Turn {
	if !d.turn.IsOpen() {
		d.begin().Find(stream.ProtocolViolation, "%s came before messageStart", event)
	}
	return d.turn
}

func (d *decoder) blockStart(t *dialect.Turn, slot int32) {
	s := d.ev.start.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "toolUse":
			use := s.Value()
			c := callOpen(t, slot, use)
			if input := use.Get("input"); input.Given() && !input.Empty() && !input.EmptyObject() {
				argsDelta(c, input) // no version of the protocol sends it; if one does, nothing is lost
			}
		case "toolResult":
			answer(t, s.Value())
		case "text", "image", "reasoningContent":
		default:
			d.Unknown("content block " + string(s.Key()))
		}
	}
}

func callOpen(t *dialect.Turn, slot int32, use dialect.Raw) *dialect.Call {
	info := stream.CallInfo{ID: use.Get("toolUseId").Text(), Name: use.Get("name").Text(), Kind: "function"}
	if use.Get("type").Is(serverToolUse) {
		info.Kind, info.Server = "server", true
	}
	return t.OpenCall(slot, info)
}

// answer takes the result of a call that the provider ran.
func answer(t *dialect.Turn, result dialect.Raw) {
	t.Answer(result.Get("toolUseId").Text(), "", result.Get("status").Is("error"))
}

func (d *decoder) blockDelta(t *dialect.Turn, slot int32) {
	delta := &d.ev.delta
	if delta.input.Given() {
		argsDelta(t.Call(slot), delta.input)
	}
	t.Text(delta.text)
	think(t, slot, delta.thinking, delta.signature, delta.redacted)
	if !delta.known() {
		d.Unknown("delta " + string(delta.other))
	}
}

// argsDelta takes a fragment of a call's arguments: a string that is a piece of JSON.
func argsDelta(c *dialect.Call, fragment dialect.Raw) {
	if !fragment.IsString() {
		c.Once(dialect.ArgsObject,
			"the arguments are a JSON value, not a string with JSON in it: clients that expect a string fail")
	}
	c.Args(fragment)
}

// think takes reasoning, its signature, and what of it only the provider can read, as far as they
// are there.
func think(t *dialect.Turn, block int32, text, signature, redacted dialect.Raw) {
	t.Think(block, text)
	t.Sign(block, signature)
	t.Signed(redacted, "", stream.SignedHidden)
}

// messageStop takes the stop reason. The turn stays open for the metadata, unless that came first.
func (d *decoder) messageStop() {
	if !d.turn.IsOpen() && d.stopped {
		d.Heartbeat() // once more
		return
	}
	finish(d.during("messageStop"), d.ev.stopReason)
	if d.stopped = true; d.counted {
		d.end()
	}
}

// metadata takes usage. It is normally the last event, and may come once more.
func (d *decoder) metadata() {
	if !d.stopped {
		d.during("metadata")
	}
	d.tell(d.turn)
	if d.counted = true; d.stopped {
		d.end()
	}
}

// finish takes a stop reason, unless it is null or absent.
func finish(t *dialect.Turn, stopReason dialect.Raw) {
	reason := stopReason.Text()
	if reason != "" && t.Stop(reason, &endings) == stream.FinishRefused {
		t.Find(stream.ProviderError, "%s", refusals[reason])
	}
}

// refusals say what a stop reason that refuses the response means.
var refusals = map[string]string{
	"guardrail_intervened":   "a guardrail stopped the response",
	"content_filtered":       "the content filter stopped the response",
	"malformed_model_output": "the model's output was malformed and is not to be used",
	"malformed_tool_use":     "the model's tool call was malformed and is not to be run",
}
