// Package claudecode decodes the output of claude -p --output-format stream-json: one JSON object per line.
// With --include-partial-messages, the lines also contain the events of the model's own stream.
//
// Wire facts are from programs that read these lines, and from the public documentation of the Agent SDK,
// which describes the lines as message types. A turn is one message of the model. The field
// parent_tool_use_id distinguishes the main agent and each sub-agent. Their lines alternate, so several turns
// may be open at once. A stream_event line contains an event of the inner protocol, and each agent has a
// decoder for this protocol. An assistant line repeats one complete content block of a message, and confirms
// the streamed block. If nothing was streamed, the inner decoder reads the events that would have streamed
// the block. So the inner protocol determines the slot of a call, and when the call is final. A user line
// contains the results of tools, and a result line ends the request.
package claudecode

import (
	"cmp"
	"strconv"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// Protocol returns the protocol of Claude Code's stream-json. The parameter inner is the model's own protocol.
func Protocol(inner protocol.Protocol) protocol.Protocol {
	return protocol.Protocol{
		Name:          "claude-code",
		Title:         "Claude Code stream-json",
		Sniff:         sniffFrame,
		Findings:      findings,
		ParallelTurns: true,
		ByAgent:       true,
		Client:        "claude-code",
		Marks:         wireMarks,
		Quiet: []string{
			"system", "tool_progress", "tool_use_summary", "rate_limit_event", "keep_alive", "auth_status", "prompt_suggestion", "control_*",
		},
		New: func(o *protocol.Out) protocol.Decoder {
			d := &decoder{
				Out: o, inner: inner.New,
				byParent: map[string]*agent{}, calls: map[string]*protocol.Call{}, streamed: map[string]bool{},
			}
			d.line.bindShape()
			return d
		},
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	if !e.IsWhole() {
		return protocol.SniffScore{}
	}
	session, uuid, parent, message := e.Get("session_id"), e.Get("uuid"), e.Get("parent_tool_use_id"), e.Get("message")
	ofSession := session.IsString() || parent != nil
	own := uuid.IsString() || parent != nil // other agents have lines with the same type names
	switch kind := e.Get("type").Text(); kind {
	case "stream_event":
		if e.Get("event").Kind() == '{' {
			return protocol.SniffScore{Points: protocol.Sure, Why: "a stream_event line"}
		}
	case "assistant", "user":
		if message.Kind() == '{' && ofSession && (own || isAnthropic(message)) {
			return protocol.SniffScore{Points: protocol.Sure, Why: "a line with a message of the " + kind}
		}
	case "system", "result":
		own = own || e.Get("tools").Kind() == '[' && (e.Get("permissionMode") != nil || e.Get("mcp_servers") != nil) ||
			e.Get("usage").Kind() == '{' || e.Get("num_turns") != nil
		if e.Get("subtype").IsString() && ofSession && own {
			return protocol.SniffScore{Points: protocol.Sure, Why: "a " + kind + " line"}
		}
	case "":
	default:
		if session.IsString() && uuid.IsString() {
			return protocol.SniffScore{Points: protocol.Likely, Why: "a line of a session"}
		}
	}
	return protocol.SniffScore{}
}

// wireMarks describes Claude Code's messages to code that doesn't decode them.
var wireMarks = marks.Protocol{PartKeys: []string{"toolUseResult"}}

// isAnthropic reports whether a message is in Anthropic's protocol, or contains results of its tools.
func isAnthropic(message json.Value) bool {
	if message.Get("id").IsString() || message.Get("model").IsString() {
		return true
	}
	s := message.Get("content").Scan()
	return s.Array() && s.Value().Get("tool_use_id").IsString()
}

// findings are the findings that only this protocol reports.
var findings = []*stream.Diagnosis{
	sessionCost, sessionStopped, usagePartial,
}

var (
	sessionCost = &stream.Diagnosis{
		Code: "SESSION_COST", Severity: stream.Info, By: stream.Client,
		Meaning: "Claude Code reports the cost of the session so far.",
		Advice:  "Nothing. You can compare this cost with the cost of the turns.",
	}
	sessionStopped = &stream.Diagnosis{
		Code: "SESSION_STOPPED", Severity: stream.Warn, By: stream.Client,
		Verdict: "stopped",
		Meaning: "Claude Code ended the session before the model had finished: it reached a limit that was set for it, such as --max-turns, or an error occurred in Claude Code.",
		Advice:  "Raise the limit, or read Claude Code's own messages. The provider is not at fault.",
	}
	usagePartial = &stream.Diagnosis{
		Code: "USAGE_PARTIAL", Severity: stream.Info, By: stream.Client,
		Meaning: "Claude Code reports the usage as it was at the start of each message, so the output token counts are too low.",
		Advice:  `Use the token total in the line of type "result".`,
	}
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
	switch subtype := d.line.subtype.Text(); {
	case strings.HasPrefix(subtype, "error"):
		d.reportStop(subtype)
	case d.line.isError.IsTrue():
		d.reportFailedResult()
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

// reportStop reports that Claude Code itself ended the session, because of a limit or an error in the program. It does
// nothing if another reason was already reported. An error of the provider has another subtype.
func (d *decoder) reportStop(subtype string) {
	words := subtype
	if more := joinElements(d.line.errors); more != "" {
		words += ": " + more
	}
	t := d.Current()
	switch last := d.Last(); {
	case t == nil && last == nil:
		t = d.Open(stream.Opening{Model: d.model})
	case t != nil:
	case d.failed != last && !(d.stopped && subtype == "error_during_execution"):
		last.Find(sessionStopped, "Claude Code ended the session itself: %s", words)
	}
	t.CutByClient("Claude Code ended the session: " + words)
}

// reportFailedResult reports that a request ended with an error, unless its turn has already reported one.
func (d *decoder) reportFailedResult() {
	t := cmp.Or(d.Current(), d.Last())
	if t == nil {
		t = d.Open(stream.Opening{Model: d.model})
		defer t.End()
	}
	d.reportError(t, "", cmp.Or(d.line.result.Text(), joinElements(d.line.errors), "the session ended with an error"))
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

// endOf returns the event with the stop reason and the usage that a message has so far. Claude Code writes null for a
// stop reason that it doesn't know.
func endOf(message json.Value) stream.Frame {
	reason := message.Get("stop_reason")
	if !reason.HasText() {
		reason = nil
	}
	delta := newObject(newMember("stop_reason", reason), newMember("stop_details", message.Get("stop_details")))
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
