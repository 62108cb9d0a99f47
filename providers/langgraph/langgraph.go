// Package langgraph decodes the event stream of LangGraph's server in the modes messages and messages-tuple.
//
// Wire facts are from @langchain/langgraph-sdk 1.15.0 and @langchain/langgraph 1.7.3. A turn is one message of a
// model, identified by the id of the message. Several turns may be open at once. In the mode messages-tuple, each
// event contains a chunk of a message, with deltas of the arguments by index. In the mode messages, each event
// contains the message as received so far. The server parses incomplete arguments leniently, so a prefix of the
// arguments looks complete until messages/complete arrives.
package langgraph

import (
	"cmp"
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// Protocol returns LangGraph's protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:          "langgraph",
		Title:         "LangGraph server",
		Sniff:         sniffFrame,
		Findings:      []*stream.Diagnosis{argumentsGuessed},
		ParallelTurns: true,
		New: func(o *protocol.Out) protocol.Decoder {
			return &decoder{Out: o, byID: map[string]*message{}, caller: map[string]*protocol.Turn{}}
		},
		Quiet: []string{"metadata", "messages/metadata", "values*", "updates*", "custom*", "tasks*", "checkpoints*", "debug*", "events*", "feedback", "heartbeat"},
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	event, _, _ := strings.Cut(string(e.Event), "|")
	data := json.Value(e.Data)
	switch event {
	case "messages":
		if n := 0; data.Kind() == '[' {
			for part := range data.Elements() {
				if n++; n == 2 && part.Get("langgraph_node").IsPresent() {
					return protocol.SniffScore{Points: protocol.Sure, Why: "a message with its langgraph_node"}
				}
			}
		}
	case "messages/partial", "messages/complete", "messages/metadata":
		return protocol.SniffScore{Points: protocol.Sure, Why: "event name " + event}
	case "metadata":
		if data.Get("run_id").IsString() {
			return protocol.SniffScore{Points: protocol.Strong, Why: "run metadata"}
		}
	}
	return protocol.SniffScore{}
}

var argumentsGuessed = &stream.Diagnosis{
	Code: "ARGS_GUESSED", Severity: stream.Info, By: stream.Gateway,
	Meaning: "LangChain parsed incomplete arguments and closed their open brackets. The arguments so far are LangChain's guess, not the model's text.",
	Advice:  "Don't run the call before messages/complete arrives, or use the stream mode messages-tuple.",
}

// place identifies the run of a node that sent a message. A graph runs the nodes of one step at the same time, and
// all of them end before the next step.
type place struct {
	namespace string // the runs of nodes from the outermost graph to this one, separated by |
	step      int32  // number of the step in the innermost graph; 0 if unknown
}

func (p place) parentGraph() string {
	return p.namespace[:max(0, strings.LastIndexByte(p.namespace, '|'))]
}

// message is one message of a model, with its turn.
type message struct {
	*protocol.Turn
	place
	text int // number of text bytes read so far, in the mode messages
}

// decoder reads one run.
type decoder struct {
	*protocol.Out
	byID     map[string]*message
	inChunks []*message                // messages that arrive in chunks and may be open
	caller   map[string]*protocol.Turn // turn of each call, by the call's id
}

// Frame reads one event.
func (d *decoder) Frame(f stream.Frame) error {
	data := json.Value(f.Data)
	check := data.Scan()
	check.Value()
	if err := check.End(); err != nil {
		return err
	}
	event, graph, _ := strings.Cut(string(f.Event), "|")
	switch event {
	case "messages":
		parts := slices.Collect(data.Elements()) // a chunk and its metadata
		p := place{namespace: graph}
		if len(parts) > 1 {
			p.namespace = cmp.Or(parts[1].Get("langgraph_checkpoint_ns").Text(), graph)
			p.step = parts[1].Get("langgraph_step").Int32()
		}
		if len(parts) > 0 {
			d.readChunk(parts[0], p)
		}
	case "messages/partial", "messages/complete":
		for m := range data.Elements() {
			d.readWhole(m, event == "messages/complete")
		}
	case "error":
		t := d.Current()
		if t == nil {
			t = d.Open(stream.Opening{})
		}
		t.Fail(data.Get("error").Text(), data.Get("message").Text())
	case "end":
		for t := d.Current(); t != nil; t = d.Current() {
			sealCalls(t)
			t.End()
		}
	default:
		d.Unknown(event)
	}
	return nil
}

func sealCalls(t *protocol.Turn) {
	for _, c := range t.OpenCalls() {
		c.Seal()
	}
}

// ensureMessage returns the message that has the id of m. If the message is new, it opens a turn.
func (d *decoder) ensureMessage(m json.Value) *message {
	id := m.Get("id").Text()
	if d.byID[id] == nil {
		meta := m.Get("response_metadata")
		d.byID[id] = &message{Turn: d.Open(stream.Opening{ID: id, Model: meta.Get("model_name").Text()})}
	}
	return d.byID[id]
}

// readChunk reads a delta of a message, a complete message, or the result of a call.
func (d *decoder) readChunk(chunk json.Value, p place) {
	kind := chunk.Get("type").Text()
	// End the messages that must be complete when this chunk arrives: other messages of the same run of a node, and those
	// of earlier steps in the same graph.
	id := chunk.Get("id").Text()
	d.inChunks = slices.DeleteFunc(d.inChunks, func(m *message) bool {
		isEarlier := m.namespace == p.namespace || m.parentGraph() == p.parentGraph() && m.step < p.step
		if m.IsOpen() && m.ID != id && isEarlier {
			sealCalls(m.Turn)
			m.End()
		}
		return !m.IsOpen()
	})
	switch {
	case kind == "tool":
		d.readResult(chunk)
		return
	case kind != "AIMessageChunk" && kind != "ai":
		return
	}
	m := d.ensureMessage(chunk)
	if !m.IsOpen() {
		return // a repetition of the complete message
	}
	if m.place = p; !slices.Contains(d.inChunks, m) {
		d.inChunks = append(d.inChunks, m)
	}
	content := chunk.Get("content") // a string or a list of blocks
	if content.IsString() {
		m.AppendText(content)
	}
	for block := range content.Elements() {
		m.AppendText(block.Get("text"))
		m.AppendReasoning(0, block.Get("thinking"))
	}
	for c := range chunk.Get("tool_call_chunks").Elements() {
		slot := c.Get("index").Int32()
		call := m.FindCall(slot)
		if id := c.Get("id"); call == nil || id.HasText() && call.ID != "" && !id.Is(call.ID) {
			call = d.openCall(m, slot, c)
		}
		call.Args(c.Get("args"))
	}
	if kind == "ai" {
		d.readCalls(m, chunk, true)
	}
	d.readEnd(m, chunk)
}

// finishCodes are finish reasons that LangChain passes on from providers other than Google.
var finishCodes = protocol.FinishCodes{
	"stop": stream.FinishDone, "tool_calls": stream.FinishDone, "function_call": stream.FinishDone, // OpenAI
	"end_turn": stream.FinishDone, "tool_use": stream.FinishDone, "stop_sequence": stream.FinishDone, // Anthropic, Bedrock
	"length": stream.FinishCut, "content_filter": stream.FinishCut,
	"max_tokens": stream.FinishCut, "model_context_window_exceeded": stream.FinishCut,
	"error": stream.FinishFailed, // Mistral
}

// readEnd reads the finish reason and the usage of a message. A finish reason makes the message's calls final,
// unless it reports a limit or an error.
func (d *decoder) readEnd(m *message, of json.Value) {
	meta, u := of.Get("response_metadata"), of.Get("usage_metadata")
	if u.IsPresent() {
		m.Usage(stream.Usage{
			Input: protocol.CountOf(u.Get("input_tokens")), Output: protocol.CountOf(u.Get("output_tokens")),
			CacheRead: protocol.CountOf(u.Get("input_token_details").Get("cache_read")),
		})
	}
	word := meta.Get("finish_reason").Text() + meta.Get("stop_reason").Text()
	if word == "" {
		return
	}
	code, known := finishCodes.Of(word)
	if !known {
		code, _ = protocol.GoogleFinishCodes.Of(word)
	}
	if code != stream.FinishCut && code != stream.FinishFailed {
		sealCalls(m.Turn)
	}
	m.Finish(word, code)
}

func (d *decoder) openCall(m *message, slot int32, of json.Value) *protocol.Call {
	id := of.Get("id").Text()
	d.caller[id] = m.Turn
	return m.OpenCall(slot, stream.CallInfo{ID: id, Name: of.Get("name").Text(), Kind: "function"})
}

func (d *decoder) readResult(m json.Value) {
	id := m.Get("tool_call_id").Text()
	if t := cmp.Or(d.caller[id], d.Last()); t != nil {
		t.AddResultContent(id, m.Get("status").Is("error"), m.Get("content"))
	}
}

// readWhole reads a message as received so far, or a complete message.
func (d *decoder) readWhole(m json.Value, complete bool) {
	switch kind := m.Get("type").Text(); {
	case kind == "tool":
		if complete {
			d.readResult(m)
		}
		return
	case kind != "ai" && kind != "AIMessageChunk":
		return
	}
	t := d.ensureMessage(m)
	if !t.IsOpen() {
		return
	}
	if text := m.Get("content").Append(nil); m.Get("content").IsString() && len(text) > t.text {
		t.AppendText(json.AppendQuoted(nil, text[t.text:]))
		t.text = len(text)
	}
	d.readCalls(t, m, complete)
	if complete {
		d.readEnd(t, m)
		t.End()
	}
}

// readCalls reads the calls received so far. For calls that LangChain could not parse, it reads the arguments as
// text.
func (d *decoder) readCalls(t *message, m json.Value, complete bool) {
	n := int32(0)
	for _, list := range []json.Value{m.Get("tool_calls"), m.Get("invalid_tool_calls")} {
		for c := range list.Elements() {
			call, args := t.FindCall(n), c.Get("args")
			if call == nil {
				call = d.openCall(t, n, c)
			}
			n++
			if call.Sealed {
				continue
			}
			text := []byte(args)
			if args.IsString() {
				text = args.Append(nil)
			} else if !complete {
				call.Once(argumentsGuessed, "the arguments were repaired by LangChain")
			}
			call.Rewrite(text, nil)
			if why := c.Get("error"); complete && why.IsPresent() {
				call.Reject(why.Text())
			} else if complete {
				call.Seal()
			}
		}
	}
}

// Close cuts off the open messages, because the stream ended without the event named end.
func (d *decoder) Close() {
	for t := d.Current(); t != nil; t = d.Current() {
		t.Cut("the stream ended without the end event")
	}
}
