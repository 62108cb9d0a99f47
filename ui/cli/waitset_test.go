package cli

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
)

// upstreamURLs lists the URLs of the scripted upstreams, by protocol.
var upstreamURLs = map[string]string{
	"anthropic": "https://api.anthropic.com/v1/messages", "chat": "https://llm.example/v1/chat/completions",
	"responses": "https://api.openai.com/v1/responses", "gemini": "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse",
	"socket": "wss://llm.example/v1/responses", "aisdk": "https://app.example/api/chat", "agents": "https://api.anthropic.com/v1/sessions/s/events/stream",
}

// upstreamFrames lists the frames that an upstream sends, by protocol.
var upstreamFrames = map[string]map[string]string{
	"anthropic": {
		"start":  `{"type":"message_start","message":{"id":"msg_1","role":"assistant","model":"m","content":[],"usage":{}}}`,
		"think":  `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"so "}}`,
		"text":   `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"so "}}`,
		"call":   `{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}}`,
		"args":   `{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"dir\":"}}`,
		"rest":   `{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"1}"}}`,
		"seal":   `{"type":"content_block_stop","index":2}`,
		"finish": `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}`,
		"close":  `{"type":"message_stop"}`, "ping": `{"type":"ping"}`,
	},
	"chat": {
		"start":  `{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`,
		"think":  `{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"reasoning_content":"so "},"finish_reason":null}]}`,
		"text":   `{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"so "},"finish_reason":null}]}`,
		"call":   `{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"ls","arguments":""}}]},"finish_reason":null}]}`,
		"args":   `{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"dir\":"}}]},"finish_reason":null}]}`,
		"rest":   `{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]},"finish_reason":null}]}`,
		"finish": `{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
		"close":  `[DONE]`,
	},
	"responses": responsesFrames, "socket": responsesFrames,
	"aisdk": {
		"start": `{"type":"start","messageId":"m1"}`, "call": `{"type":"tool-input-available","toolCallId":"c1","toolName":"ls","input":{"dir":1}}`,
		"approval": `{"type":"tool-approval-request","approvalId":"a1","toolCallId":"c1"}`, "approved": `{"type":"tool-approval-response","approvalId":"a1","approved":true}`,
		"close": `{"type":"finish"}`,
	},
	"agents": {
		"call":   `{"type":"agent.tool_use","id":"e1","name":"bash","input":{"command":"ls"},"processed_at":"2026-05-04T09:00:00Z"}`,
		"custom": `{"type":"agent.custom_tool_use","id":"e1","name":"ls","input":{"dir":1},"processed_at":"2026-05-04T09:00:00Z"}`,
		"close":  `{"type":"session.status_idle","id":"e2","stop_reason":{"type":"requires_action","event_ids":["e1"]},"processed_at":"2026-05-04T09:00:03Z"}`,
	},
	"gemini": {
		"think":  `{"candidates":[{"content":{"role":"model","parts":[{"text":"so ","thought":true}]},"index":0}],"modelVersion":"m","responseId":"r"}`,
		"text":   `{"candidates":[{"content":{"role":"model","parts":[{"text":"so "}]},"index":0}],"modelVersion":"m","responseId":"r"}`,
		"call":   `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"ls","args":{"dir":1}}}]},"index":0}],"modelVersion":"m","responseId":"r"}`,
		"finish": `{"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP","index":0}],"modelVersion":"m","responseId":"r"}`,
	},
}

var responsesFrames = map[string]string{
	"start":    `{"type":"response.created","response":{"id":"resp_1","model":"m","status":"in_progress"}}`,
	"think":    `{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"so "}`,
	"text":     `{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"so "}`,
	"call":     `{"type":"response.output_item.added","output_index":2,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"ls","arguments":""}}`,
	"args":     `{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":2,"delta":"{\"dir\":"}`,
	"rest":     `{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":2,"delta":"1}"}`,
	"seal":     `{"type":"response.output_item.done","output_index":2,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"ls","arguments":"{\"dir\":1}","status":"completed"}}`,
	"approval": `{"type":"response.output_item.done","output_index":2,"item":{"id":"mcpr_1","type":"mcp_approval_request","name":"ls","server_label":"files","arguments":"{}"}}`,

	"finish": `{"type":"response.completed","response":{"id":"resp_1","model":"m","status":"completed","output":[],"usage":{"input_tokens":1,"output_tokens":1}}}`,
	"ping":   `{"type":"keepalive","sequence_number":9}`,
}

const callOfTool = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ls","arguments":{"dir":1}}}`

const upstreamRequest = `{"model":"m","messages":[{"role":"user","content":"go"}]}`

// upstreamRecords returns the records of an action: of the client, of toolscope, or of the upstream.
func upstreamRecords(t *testing.T, protocol, action string, second int) []stream.Record {
	start := upstreamStart.Add(time.Duration(second) * time.Second)
	request := map[string]string{"gemini": `{"contents":[{"role":"user","parts":[{"text":"go"}]}]}`,
		"responses": `{"model":"m","input":"go"}`, "socket": `{"type":"response.create","model":"m","input":[]}` + "\n"}[protocol]
	if request == "" {
		request = upstreamRequest
	}
	sent := &stream.Head{Method: "POST", URL: upstreamURLs[protocol], Start: start, Header: map[string][]string{"Content-Length": {strconv.Itoa(len(request))}}}
	switch action {
	case "ask":
		return []stream.Record{{Request: true, Head: sent, Data: []byte(request)}}
	case "ask half":
		return []stream.Record{{Request: true, Head: sent, Data: []byte(request[:9])}}
	case "ask rest":
		return []stream.Record{{Request: true, Data: []byte(request[9:])}}
	case "connect":
		return []stream.Record{{Request: true, Head: &stream.Head{Method: "GET", URL: upstreamURLs[protocol], Start: start}},
			{Head: &stream.Head{Status: 101, Header: map[string][]string{"Upgrade": {"websocket"}}}}}
	case "send":
		return []stream.Record{{Request: true, Data: []byte(request)}}
	case "head":
		return []stream.Record{{Head: &stream.Head{Status: 200, Header: map[string][]string{"Content-Type": {"text/event-stream"}}}}}
	case "run tool", "list tools", "post tool", "ask client":
		data := map[string]string{"run tool": callOfTool, "post tool": callOfTool, "list tools": `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, "ask client": `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{}}`}[action]
		r := stream.Record{Request: action != "ask client", Head: &stream.Head{Method: "STDIO", URL: "mcp:files", Start: start}, Data: []byte(data + "\n")}
		if action == "post tool" {
			r.Head = &stream.Head{Method: "POST", URL: "https://mcp.example/mcp", Start: start, Header: map[string][]string{"Mcp-Session-Id": {"s"}, "Content-Length": {strconv.Itoa(len(data) + 1)}}}
		} else if !r.Request {
			r.Head = nil
		}
		return []stream.Record{r}
	case "tool result":
		return []stream.Record{{Data: []byte(`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"done"}]}}` + "\n")}}
	case "JSON head":
		return []stream.Record{{Head: &stream.Head{Status: 200, Header: map[string][]string{"Content-Type": {"application/json"}}}}}
	case "JSON":
		return []stream.Record{{Data: []byte(`{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"so"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`)}}
	case "overloaded":
		return []stream.Record{{Head: &stream.Head{Status: 529, Header: map[string][]string{"Content-Type": {"application/json"}}},
			Data: []byte(`{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`), End: true}}
	case "hold":
		return []stream.Record{{Note: "held by toolscope: a call; the client has 90 bytes of this response, and waits"}}
	case "resume":
		return []stream.Record{{Note: "held by toolscope: the client waited 9s after byte 90; then the response resumed"}}
	case "comment":
		return []stream.Record{{Data: []byte(": keepalive\n\n")}}
	case "arrival":
		return []stream.Record{{}}
	case "end":
		return []stream.Record{{End: true}}
	case "cut":
		return []stream.Record{{End: true, By: "network", Why: "connection reset by peer"}}
	case "leave":
		return []stream.Record{{End: true, By: "client", Why: "the client disconnected"}}
	}
	var records []stream.Record
	for name := range strings.SplitSeq(action, "+") {
		frame := upstreamFrames[protocol][name]
		switch {
		case frame == "":
			t.Fatalf("%s has no %q", protocol, name)
		case protocol == "socket":
			frame += "\n"
		default:
			frame = "data: " + frame + "\n\n"
		}
		records = append(records, stream.Record{Data: []byte(frame)})
	}
	return records
}

var upstreamStart = time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)

// An upstreamAction is an action at a second, in an exchange. If every is above 0, it is the interval at which the action
// is repeated.
type upstreamAction struct {
	at, exchange  int
	action        string
	every, repeat int
}

// waitScripts lists exchanges with the label of each second, in the form "label seconds": the party for which the
// exchange waits, the state, and ! for a stall. The exchanges begin at second 0, and have no label before their start.
var waitScripts = []struct {
	name, protocol string
	actions        []upstreamAction
	labels         []string // by exchange
}{
	{"late headers", "chat", []upstreamAction{{0, 1, "ask", 0, 0}, {45, 1, "head", 0, 0}, {47, 1, "start", 0, 0}, {50, 1, "text", 1, 4}, {54, 1, "finish+close", 0, 0}, {54, 1, "end", 0, 0}},
		[]string{"provider thinking 50, provider text 4, client 5"}},
	{"a minute and a half of thinking", "anthropic", []upstreamAction{{0, 1, "ask", 0, 0}, {1, 1, "head", 0, 0}, {2, 1, "start", 0, 0}, {3, 1, "think", 2, 45}, {93, 1, "call+args", 0, 0}, {94, 1, "rest+seal+finish+close", 0, 0}, {95, 1, "end", 0, 0}},
		[]string{"provider thinking 93, provider arguments 1, client 3"}},
	{"thinking without a delta, with pings", "anthropic", []upstreamAction{{0, 1, "ask", 0, 0}, {0, 1, "head", 0, 0}, {1, 1, "start", 0, 0}, {10, 1, "ping", 10, 14}, {152, 1, "text", 1, 3}, {155, 1, "finish+close", 0, 0}, {155, 1, "end", 0, 0}},
		[]string{"provider thinking 152, provider text 3, client 2"}},
	{"a gateway's comments before the first token", "chat", []upstreamAction{{0, 1, "ask", 0, 0}, {1, 1, "head", 0, 0}, {2, 1, "comment", 5, 8}, {42, 1, "start+text", 0, 0}, {43, 1, "finish+close", 0, 0}, {43, 1, "end", 0, 0}},
		[]string{"provider thinking 42, provider text 1, client 1"}},
	{"pings in a text", "anthropic", []upstreamAction{{0, 1, "ask", 0, 0}, {0, 1, "head", 0, 0}, {1, 1, "start+text", 0, 0}, {5, 1, "ping", 10, 4}, {40, 1, "text", 0, 0}, {41, 1, "finish+close", 0, 0}, {41, 1, "end", 0, 0}},
		[]string{"provider thinking 1, provider text 3, provider silent 1, provider kept_alive 35, provider text 1, client 2"}},
	{"the provider stops in an argument", "responses", []upstreamAction{{0, 1, "ask", 0, 0}, {1, 1, "head", 0, 0}, {1, 1, "start", 0, 0}, {4, 1, "call+args", 0, 0}, {60, 1, "cut", 0, 0}},
		[]string{"provider thinking 4, provider arguments 3, provider silent 27, provider silent! 26, client 3"}},
	{"it stops in an argument, with pings", "anthropic", []upstreamAction{{0, 1, "ask", 0, 0}, {1, 1, "head", 0, 0}, {1, 1, "start", 0, 0}, {4, 1, "call+args", 0, 0}, {14, 1, "ping", 10, 5}, {60, 1, "rest+seal+finish+close", 0, 0}, {60, 1, "end", 0, 0}},
		[]string{"provider thinking 4, provider arguments 3, provider silent 7, provider kept_alive 20, provider kept_alive! 26, client 2"}},
	{"pings stop", "anthropic", []upstreamAction{{0, 1, "ask", 0, 0}, {0, 1, "head", 0, 0}, {0, 1, "start", 0, 0}, {2, 1, "call+args", 0, 0}, {4, 1, "ping", 0, 0}, {80, 1, "leave", 0, 0}},
		[]string{"provider thinking 2, provider arguments 3, provider kept_alive 27, provider kept_alive! 2, provider silent! 46, client 1"}},
	{"held at a breakpoint", "anthropic", []upstreamAction{{0, 1, "ask", 0, 0}, {0, 1, "head", 0, 0}, {1, 1, "start+call", 0, 0}, {2, 1, "hold", 0, 0}, {90, 1, "resume", 0, 0}, {91, 1, "args", 0, 0}, {92, 1, "rest+seal+finish+close", 0, 0}, {92, 1, "end", 0, 0}},
		[]string{"provider thinking 1, provider arguments 1, toolscope held 88, provider silent! 1, provider arguments 1, client 2"}},
	{"a tool of 30 seconds", "chat", []upstreamAction{{0, 1, "ask", 0, 0}, {1, 1, "head", 0, 0}, {1, 1, "start+call+args+rest+finish+close", 0, 0}, {1, 1, "end", 0, 0}, {31, 2, "ask", 0, 0}, {33, 2, "head", 0, 0}, {33, 2, "start+text", 0, 0}, {34, 2, "finish+close", 0, 0}, {34, 2, "end", 0, 0}},
		[]string{"provider thinking 1, client 35", "31, provider thinking 2, provider text 1, client 2"}},
	{"a tool that is seen to run", "chat", []upstreamAction{{0, 1, "ask", 0, 0}, {1, 1, "head", 0, 0}, {1, 1, "start+call+args+rest+finish+close", 0, 0}, {1, 1, "end", 0, 0}, {3, 2, "run tool", 0, 0}, {33, 2, "tool result", 0, 0}},
		[]string{"provider thinking 1, client 35", "3, tool ls 30, client 5"}},
	{"a tool over HTTP, and its server disconnects", "chat", []upstreamAction{{0, 1, "ask", 0, 0}, {1, 1, "head", 0, 0}, {1, 1, "start+call+args+rest+finish+close", 0, 0}, {1, 1, "end", 0, 0}, {3, 2, "post tool", 0, 0}, {9, 2, "cut", 0, 0}},
		[]string{"provider thinking 1, client 9", "3, tool ls 6, client 4"}},
	{"a list of tools, and a server that asks", "chat", []upstreamAction{{0, 1, "ask", 0, 0}, {1, 1, "head", 0, 0}, {1, 1, "start+call+args+rest+finish+close", 0, 0}, {1, 1, "end", 0, 0}, {3, 2, "list tools", 0, 0}, {9, 2, "ask client", 0, 0}},
		[]string{"provider thinking 1, client 15", "15"}},
	{"a tool that ends between two checks", "chat", []upstreamAction{{0, 1, "ask", 0, 0}, {1, 1, "head", 0, 0}, {1, 1, "start+call+args+rest+finish+close", 0, 0}, {1, 1, "end", 0, 0}, {3, 2, "run tool", 0, 0}, {3, 2, "tool result", 0, 0}},
		[]string{"provider thinking 1, client 9", "9"}},
	{"a call that needs approval", "aisdk", []upstreamAction{{0, 1, "ask", 0, 0}, {1, 1, "head", 0, 0}, {1, 1, "start+call+approval+close", 0, 0}, {2, 1, "end", 0, 0}},
		[]string{"provider thinking 1, provider arguments 1, client approval 8"}},
	{"a call that was approved", "aisdk", []upstreamAction{{0, 1, "ask", 0, 0}, {1, 1, "head", 0, 0}, {1, 1, "start+call+approval+approved+close", 0, 0}, {2, 1, "end", 0, 0}},
		[]string{"provider thinking 1, provider arguments 1, client 8"}},
	{"OpenAI's own MCP server needs approval", "responses", []upstreamAction{{0, 1, "ask", 0, 0}, {1, 1, "head", 0, 0}, {1, 1, "start+approval+finish", 0, 0}, {1, 1, "end", 0, 0}},
		[]string{"provider thinking 1, client approval 9"}},
	{"an agent waits for permission", "agents", []upstreamAction{{0, 1, "ask", 0, 0}, {1, 1, "head", 0, 0}, {1, 1, "call", 0, 0}, {3, 1, "close", 0, 0}, {20, 1, "end", 0, 0}},
		[]string{"provider thinking 1, provider arguments 2, client approval 22"}},
	{"an agent waits for the client's tool", "agents", []upstreamAction{{0, 1, "ask", 0, 0}, {1, 1, "head", 0, 0}, {1, 1, "custom", 0, 0}, {3, 1, "close", 0, 0}, {20, 1, "end", 0, 0}},
		[]string{"provider thinking 1, provider arguments 2, client 22"}},
	{"the connection is cut", "gemini", []upstreamAction{{0, 1, "ask", 0, 0}, {2, 1, "head", 0, 0}, {2, 1, "text", 1, 3}, {6, 1, "cut", 0, 0}},
		[]string{"provider thinking 2, provider text 4, client 4"}},
	{"a slow request", "anthropic", []upstreamAction{{0, 1, "ask half", 0, 0}, {20, 1, "ask rest", 0, 0}, {25, 1, "head", 0, 0}, {25, 1, "start+text", 0, 0}, {26, 1, "finish+close", 0, 0}, {26, 1, "end", 0, 0}},
		[]string{"client sending 20, provider thinking 5, provider text 1, client 1"}},
	{"a response in one piece", "anthropic", []upstreamAction{{0, 1, "ask", 0, 0}, {30, 1, "JSON head", 0, 0}, {31, 1, "JSON", 0, 0}, {31, 1, "end", 0, 0}},
		[]string{"provider thinking 31, client 3"}},
	{"overloaded, and asked again", "anthropic", []upstreamAction{{0, 1, "ask", 0, 0}, {2, 1, "overloaded", 0, 0}, {6, 2, "ask", 0, 0}, {8, 2, "head", 0, 0}, {8, 2, "start+text", 0, 0}, {9, 2, "finish+close", 0, 0}, {9, 2, "end", 0, 0}},
		[]string{"provider thinking 2, client 9", "6, provider thinking 2, provider text 1, client 2"}},
	{"two agents at once", "anthropic", []upstreamAction{{0, 1, "ask", 0, 0}, {1, 2, "ask", 0, 0}, {2, 1, "head", 0, 0}, {2, 1, "start+text", 1, 0}, {4, 2, "head", 0, 0}, {4, 2, "start+call+args", 0, 0}, {6, 2, "rest+seal+finish+close", 0, 0}, {6, 2, "end", 0, 0}, {9, 1, "finish+close", 0, 0}, {9, 1, "end", 0, 0}},
		[]string{"provider thinking 2, provider text 3, provider silent 4, client 2", "1, provider thinking 3, provider arguments 2, client 4"}},
	{"Gemini sends a whole call, then thinks", "gemini", []upstreamAction{{0, 1, "ask", 0, 0}, {1, 1, "head", 0, 0}, {1, 1, "think", 0, 0}, {2, 1, "call", 0, 0}, {20, 1, "think", 0, 0}, {21, 1, "finish", 0, 0}, {21, 1, "end", 0, 0}},
		[]string{"provider thinking 2, provider arguments 3, provider silent 15, provider thinking 1, client 2"}},
	{"the connection stays open after the end", "anthropic", []upstreamAction{{0, 1, "ask", 0, 0}, {1, 1, "head", 0, 0}, {1, 1, "start+text", 0, 0}, {2, 1, "finish+close", 0, 0}, {40, 1, "end", 0, 0}},
		[]string{"provider thinking 1, provider text 1, client 40"}},
	{"a WebSocket with two responses", "socket", []upstreamAction{{0, 1, "connect", 0, 0}, {5, 1, "send", 0, 0}, {8, 1, "start+call+args", 0, 0}, {9, 1, "rest+seal+finish", 0, 0}, {40, 1, "send", 0, 0}, {45, 1, "start+text", 0, 0}, {50, 1, "arrival", 0, 0}, {52, 1, "text", 0, 0}, {53, 1, "finish", 0, 0}, {60, 1, "end", 0, 0}},
		[]string{"5, provider thinking 3, provider arguments 1, client 31, provider thinking 5, provider text 3, provider silent 2, provider kept_alive 2, provider text 1, client 10"}},
}

// secondLabels returns the label of each second. A number without a label is the number of seconds before the first one.
func secondLabels(t *testing.T, text string) (labels []string) {
	for run := range strings.SplitSeq(text, ", ") {
		fields := strings.Fields(run)
		n, err := strconv.Atoi(fields[len(fields)-1])
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			labels = append(labels, strings.Join(fields[:len(fields)-1], " "))
		}
	}
	return labels
}

// TestWaitScripts checks, for each second of scripted exchanges, the party for which an exchange waits, and the
// state, as reported in the proxy's lines.
func TestWaitScripts(t *testing.T) {
	seconds := 0
	for _, s := range waitScripts {
		var out bytes.Buffer
		in := new(providers.Inspector)
		lines := &waitingLines{to: &jsonPrinter{lineWriter: lineWriter{to: &out}, prices: price.Embedded()}, file: "proxy", last: map[int]waitingLine{}}
		var want [][]string
		last := 0
		for _, labels := range s.labels {
			want = append(want, secondLabels(t, labels))
			last = max(last, len(want[len(want)-1]))
		}
		got := make([]string, len(s.labels))
		for second := range last {
			for _, a := range s.actions {
				if n := second - a.at; n == 0 || a.every > 0 && n > 0 && n%a.every == 0 && n/a.every < a.repeat {
					for _, r := range upstreamRecords(t, s.protocol, a.action, second) {
						r.Exchange, r.At = a.exchange, time.Duration(second)*time.Second
						in.Write(r)
					}
				}
			}
			out.Reset()
			lines.writeDue(in, upstreamStart.Add(time.Duration(second)*time.Second+500*time.Millisecond))
			_ = lines.to.flush()
			for line := range strings.Lines(out.String()) {
				var l struct {
					Exchange        int
					On, State, Tool string
					Since           int `json:"since_ms"`
					Stalled         bool
				}
				if err := stdjson.Unmarshal([]byte(line), &l); err != nil {
					t.Fatal(err)
				}
				label := strings.NewReplacer("client client", "client", "tool tool", "tool "+l.Tool).Replace(l.On + " " + l.State)
				if l.Stalled {
					label += "!"
				} else if most := map[string]int{"silent": 3500, "kept_alive": 10500}[l.State]; l.Since > max(500, most) && got[l.Exchange-1] != "toolscope held" {
					t.Errorf("%s, second %d: %s for %d ms", s.name, second, label, l.Since)
				}
				got[l.Exchange-1] = label
			}
			for i := range want {
				if second >= len(want[i]) {
					continue
				}
				if seconds++; got[i] != want[i][second] {
					t.Errorf("%s, exchange %d, second %d: %q, want %q", s.name, i+1, second, got[i], want[i][second])
				}
			}
		}
	}
	t.Log(fmt.Sprint(len(waitScripts), " scripts, ", seconds, " seconds"))
}
