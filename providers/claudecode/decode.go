package claudecode

import (
	"cmp"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// decoder reads one exchange.
type decoder struct {
	*protocol.Out
	line     line
	inner    func(*protocol.Out) protocol.Decoder
	agents   []*agent // in the order in which they began
	byParent map[string]*agent
	calls    map[string]*protocol.Call // calls of all agents, by id
	streamed map[string]bool           // ids of messages that arrived as stream events
	failed   *protocol.Turn            // the latest turn for which an error was reported
	model    string                    // model named in the line that starts the session
	begun    bool                      // whether lines have arrived after the last result
	stopped  bool                      // the user interrupted the request
}

// Frame reads one line.
func (d *decoder) Frame(f stream.Frame) error {
	l := &d.line
	if err := l.shape.Read(f.Data); err != nil {
		return err
	}
	switch string(l.kind.OrDefault(nil)) {
	case "stream_event":
		return d.readStreamEvent(d.ensureAgent(l.parent))
	case "assistant":
		d.begun = true
		d.readMessage(d.ensureAgent(l.parent), l.message)
	case "user":
		d.begun = true
		d.reportResults(d.ensureAgent(l.parent))
	case "result":
		d.endRequest()
	case "system":
		if !l.subtype.Is("init") {
			d.reportUnknown()
			break
		}
		d.begun, d.model = true, l.model.Text()
	default:
		d.reportUnknown()
	}
	return nil
}

// reportUnknown reports a line of a type that the decoder doesn't read.
func (d *decoder) reportUnknown() {
	name := d.line.kind.Text()
	if d.line.subtype.IsString() {
		name += " " + d.line.subtype.Text()
	}
	d.Unknown(name)
}

// ensureAgent returns the agent that was started by the call with the id parent. If the id is missing, it returns the
// main agent. It adds the agent if it is new.
func (d *decoder) ensureAgent(parent json.Value) *agent {
	l := d.byParent[string(parent.OrDefault(nil))]
	if l == nil {
		l = &agent{of: d, parent: parent.Text()}
		l.out = d.Nested(l.editEvent)
		l.reset()
		d.byParent[l.parent] = l
		d.agents = append(d.agents, l)
	}
	return l
}

// readStreamEvent passes an event of the inner protocol to the agent's decoder. The event's type becomes its
// name, as in server-sent events.
func (d *decoder) readStreamEvent(l *agent) error {
	event, kind := d.line.event, d.line.eventKind.OrDefault(nil)
	if string(kind) == "message_start" {
		l.endMessage()
		l.next = 0
		if id := event.Get("message").Get("id").Text(); id != "" {
			d.streamed[id] = true
		}
	}
	d.begun = true
	return l.decoder.Frame(stream.Frame{Kind: stream.FrameData, Event: kind, Data: event})
}

// readMessage reads a message of the model, or one block of a message, which confirms the streamed content.
func (d *decoder) readMessage(l *agent, message json.Value) {
	streamed := d.streamed[message.Get("id").Text()] || l.isOpen() && !l.unstreamed
	if text := message.Get("content"); text.IsString() && !streamed {
		l.addBlock(message, newObject(newMember("type", []byte(`"text"`)), newMember("text", text)))
	}
	blocks := message.Get("content").Scan()
	for ok := blocks.Array(); ok; ok = blocks.Element() {
		block := blocks.Value()
		input, c := block.Get("input"), d.calls[block.Get("id").Text()]
		switch {
		case input != nil && c != nil:
			// Compare the input that Claude Code runs with the arguments that the model wrote. Claude Code corrects the
			// inputs of some tools.
			if c.Bytes == 0 && input.EmptyObject() || c.Matches(input) || unparsedArguments(input) != nil {
				continue
			}
			c.Find(protocol.DoneMismatch.WithSeverity(stream.Info).WithCause(stream.Client),
				"Claude Code runs the call with arguments that differ from the model's; toolscope shows the model's arguments: %s", protocol.Clip(input))
		case streamed && input == nil:
		default:
			l.addBlock(message, block)
		}
	}
	if l.unstreamed {
		l.ending = endOf(message) // for the end of the message
		l.partial = !message.Get("stop_reason").IsPresent() && message.Get("usage").IsPresent()
	}
	if t := l.out.Last(); t != nil && d.line.err.IsString() {
		d.reportError(t, d.line.err.Text(), textOf(message.Get("content")))
	}
}

// textOf returns the text in a message's content: the string, or the texts of its blocks on separate lines.
func textOf(content json.Value) string {
	if content.IsString() {
		return content.Text()
	}
	var parts []string
	blocks := content.Scan()
	for ok := blocks.Array(); ok; ok = blocks.Element() {
		if text := blocks.Value().Get("text").Text(); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n")
}

// reportResults reports the results of tools. Newer versions run a tool while its message is still streaming, so a
// result doesn't end the message.
func (d *decoder) reportResults(l *agent) {
	if textOf(d.line.message.Get("content")) == interrupted && d.line.message.Get("content").Kind() == '[' {
		l.interruptMessage()
	}
	if l.unstreamed && l.message == "" {
		l.endMessage()
	}
	blocks := d.line.message.Get("content").Scan()
	for ok := blocks.Array(); ok; ok = blocks.Element() {
		block := blocks.Value()
		if !block.Get("type").Is("tool_result") {
			continue
		}
		id := block.Get("tool_use_id").Text()
		if sub := d.byParent[id]; sub != nil && sub != l { // the sub-agent has ended
			sub.endMessage()
		}
		if c := d.calls[id]; c != nil {
			failed := block.Get("is_error").IsTrue()
			c.Turn().AddResultContent(id, failed, block.Get("content"))
			l.ran = l.ran || !failed
		} else {
			l.out.Find(protocol.OrphanResult, "a result belongs to a call that is not in these lines")
		}
	}
}

// reportError reports the first error of a turn.
func (d *decoder) reportError(t *protocol.Turn, id, message string) {
	if d.failed != t {
		d.failed = t
		t.Fail(id, message)
	}
}

// Close cuts off the open turns, because no result line has arrived. If no turn is open, it reports lines that ended
// between two messages or before the first one.
func (d *decoder) Close() {
	open := d.closeAgents()
	switch {
	case !d.begun || open:
	case d.Last() == nil:
		d.Open(stream.Opening{Model: d.model}).Cut("the lines ended before the first message")
	default:
		d.Find(stream.NoTerminator.WithSeverity(stream.Warn).WithCause(stream.UnknownParty),
			"the lines ended without a result, between two messages")
	}
	d.begun = false
}

// closeAgents closes the decoders of all agents, and reports whether a message was open.
func (d *decoder) closeAgents() (open bool) {
	for _, l := range d.agents {
		if l.isOpen() {
			open = true
			l.decoder.Close()
		}
	}
	return open
}

// line is one line as it was sent.
type line struct {
	shape *json.Shape

	kind, subtype           json.Value
	event, eventKind        json.Value
	message, parent         json.Value
	model, err              json.Value
	isError, result, errors json.Value
	cost, denials           json.Value
}

// bindShape binds the fields of l to its shape.
func (l *line) bindShape() {
	l.shape = json.ShapeOf(
		json.Field("type", &l.kind),
		json.Object("event", json.Field("type", &l.eventKind)).Into(&l.event),
		json.Field("parent_tool_use_id", &l.parent),
		json.Field("message", &l.message),
		json.Field("subtype", &l.subtype),
		json.Field("model", &l.model),
		json.Field("error", &l.err),
		json.Field("is_error", &l.isError),
		json.Field("result", &l.result),
		json.Field("errors", &l.errors),
		json.Field("total_cost_usd", &l.cost),
		json.Field("permission_denials", &l.denials))
}

// endRequest ends a request. Another request may follow. The usage in the result line is the sum over all turns,
// which have already reported their own usage.
func (d *decoder) endRequest() {
	for _, l := range d.agents {
		l.endMessage()
	}
	d.begun = false
	denials := d.line.denials.Scan()
	for ok := denials.Array(); ok; ok = denials.Element() {
		if c := d.calls[denials.Value().Get("tool_use_id").Text()]; c != nil {
			c.Find(protocol.CallDenied, "Claude Code had no permission to run the call")
		}
	}
	subtype := d.line.subtype.Text()
	if (d.line.isError.IsTrue() || strings.HasPrefix(subtype, "error")) && !(d.stopped && subtype == "error_during_execution") {
		d.reportFailedResult(subtype)
	}
	d.stopped = false
	d.closeAgents()
	for _, l := range d.agents {
		l.reset()
	}
	if cost, ok := d.line.cost.Float(); ok {
		d.Find(sessionCost, "Claude Code reports a session cost of $%.4f so far", cost)
	}
}

// reportFailedResult reports that a request ended with an error, unless its turn has already reported one.
func (d *decoder) reportFailedResult(subtype string) {
	t := cmp.Or(d.Current(), d.Last())
	if t == nil {
		t = d.Open(stream.Opening{Model: d.model})
		defer t.End()
	}
	if subtype == "success" { // this code means only that the session itself ended
		subtype = ""
	}
	d.reportError(t, subtype, cmp.Or(d.line.result.Text(), joinElements(d.line.errors), "the session ended with an error"))
}

// joinElements returns the elements of a list as text, separated by semicolons.
func joinElements(list json.Value) string {
	var all []string
	each := list.Scan()
	for ok := each.Array(); ok; ok = each.Element() {
		all = append(all, string(each.Value().Append(nil)))
	}
	return strings.Join(all, "; ")
}
