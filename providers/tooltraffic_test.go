package providers

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/providers/mcp"
	"toolscope/stream"
)

// connection is a connection between an editor (>) and an agent (<) with one call.
const connection = `> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
> {"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"ls","kind":"execute","rawInput":{"command":"ls","cwd":"/w"}}}}
< {"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"call_1"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}}
> {"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed","rawOutput":"a.txt"}}}
< {"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}
`

// connectionRecords returns the records of a connection. The function cut cuts a message into chunks.
func connectionRecords(text string, cut func(string) []string) (all []stream.Record) {
	all = append(all, stream.Record{Exchange: 7, Request: true, Note: `argv: ["agent"]`, Head: &stream.Head{Method: "STDIO", URL: "acp:lab"}})
	for line := range strings.Lines(text) {
		for _, p := range cut(line[2:]) {
			all = append(all, stream.Record{Exchange: 7, Request: line[0] == '>', Data: []byte(p)})
		}
	}
	return append(all, stream.Record{Exchange: 7, Note: "stderr: bye"}, stream.Record{Exchange: 7, End: true})
}

func inspectRecords(all ...stream.Record) *Inspector {
	in := new(Inspector)
	for _, r := range all {
		in.Write(r)
	}
	in.Close()
	return in
}

func oneChunk(line string) []string { return []string{line} }

// TestAgentConnection checks that the messages of both sides are read in order, wherever they are cut into chunks.
func TestAgentConnection(t *testing.T) {
	want := []string{"complete end_turn  NO_MODEL_WORDS", `  sealed object complete: {"command":"ls","cwd":"/w"}  PERMISSION_GIVEN`}
	for range 20 {
		in := inspectRecords(connectionRecords(connection, func(line string) []string {
			at := rand.IntN(len(line))
			return []string{line[:at], line[at:]}
		})...)
		if got := outline(in.Session()); !slices.Equal(got, want) {
			t.Fatalf("%q", got)
		}
		if len(in.Session().Findings) > 0 {
			t.Fatalf("notes about the process became findings: %v", in.Session().Findings)
		}
	}
	in := inspectRecords(connectionRecords(connection, oneChunk)...)
	x := in.Exchange(7)
	sides := map[bool]string{}
	for line := range strings.Lines(connection) {
		sides[line[0] == '>'] += line[2:]
	}
	if got := string(x.Request.Bytes(0, x.Request.Size())); got != sides[true] {
		t.Errorf("the editor's bytes: %q", got)
	}
	if got := string(x.Response.Bytes(0, x.Response.Size())); got != sides[false] {
		t.Errorf("the agent's bytes: %q", got)
	}
}

// TestAgentConnectionGap checks that, after a gap in the editor's bytes, the rest of the line is not read as a
// message.
func TestAgentConnectionGap(t *testing.T) {
	all := connectionRecords(connection, oneChunk)
	for i := range all {
		if r := &all[i]; strings.Contains(string(r.Data), `"outcome"`) {
			r.Lost, r.Data = 20, r.Data[20:]
		}
	}
	want := []string{"complete end_turn  NO_MODEL_WORDS", `  sealed object complete: {"command":"ls","cwd":"/w"}`}
	if got := outline(inspectRecords(all...).Session()); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestShownCall checks that a shown call with the id of the model's call is treated as the same call.
func TestShownCall(t *testing.T) {
	model := `{"id":"r","object":"chat.completion","model":"lab-3","choices":[{"index":0,"message":{"role":"assistant","tool_calls":[{"id":"ID","type":"function","function":{"name":"shell","arguments":"ARGS"}}]},"finish_reason":"tool_calls"}]}`
	for _, c := range []struct{ id, args, want string }{
		{"call_1", `{\"command\":\"ls\"}`, "the model made the call in turn 1; the agent adds cwd"},
		{"call_1", `{\"cwd\":\"/w\",\"command\":\"ls\"}`, "the model made the call in turn 1; the arguments are the same"},
		{"call_1", `{\"command\":\"rm\"}`, "the model made the call in turn 1; the arguments differ"},
		{"call_2", `{\"command\":\"ls\"}`, ""},
	} {
		body := strings.NewReplacer("ID", c.id, "ARGS", c.args).Replace(model)
		all := append([]stream.Record{{Exchange: 1, Data: []byte(body)}, {Exchange: 1, End: true}}, connectionRecords(connection, oneChunk)...)
		in := inspectRecords(all...)
		turns := in.Session().Turns
		if len(turns) != 2 || len(turns[0].Calls)+len(turns[1].Calls) != 2 {
			t.Fatalf("%q", outline(in.Session()))
		}
		got := ""
		for _, f := range slices.Concat(turns[0].Calls[0].Findings, turns[1].Calls[0].Findings) {
			switch f.Code {
			case "ACP_MODEL_CALL":
				got += f.Message
			case "PERMISSION_GIVEN":
			default:
				t.Errorf("%s %s: %s", c.id, f.Code, f.Message)
			}
		}
		if got != c.want {
			t.Errorf("%s %s: %q", c.id, c.args, got)
		}
	}
}

// TestShownCallInRequest checks that the calls in a request are matched to the model's calls, not to those that an
// agent shows, even if the agent's turn began first. An agent shows calls of several responses in one turn.
func TestShownCallInRequest(t *testing.T) {
	connected := connectionRecords(strings.Replace(connection, `,"cwd":"/w"}`, `},"_meta":{"toolName":"ls"}`, 1), oneChunk)
	request := func(n int) []stream.Record {
		body := `{"messages":[` + asks + `,` + first + made("call_1", "ls", `{"command":"ls"}`) + `]},` + tool("call_1", "ok") + `]}`
		return []stream.Record{
			{Exchange: n, Request: true, Data: []byte(body)}, {Exchange: n, Data: []byte(says("b", "f", `{}`)), Head: &stream.Head{Status: 200}}, {Exchange: n, End: true},
		}
	}
	asked := slices.IndexFunc(connected, func(r stream.Record) bool { return strings.Contains(string(r.Data), "tool_call") })
	in := inspectRecords(slices.Concat(connected[:asked], []stream.Record{
		{Exchange: 1, Request: true, Data: []byte(`{"messages":[` + asks + `]}`)},
		{Exchange: 1, Data: []byte(says("call_1", "ls", `{"command":"ls"}`)), Head: &stream.Head{Status: 200}},
		{Exchange: 1, End: true},
	}, connected[asked:], request(9))...)
	got := map[string]string{}
	for _, turn := range in.Session().Turns[:2] {
		for _, r := range turn.Calls[0].SentBack {
			got[turn.Protocol] += fmt.Sprintf("%d %s %q", r.Exchange, r.Outcome, r.Result.Text)
		}
	}
	if want := map[string]string{"acp": `7 as the client has it "a.txt"`, "openai-chat": `9 intact "ok"`}; !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTerminalText checks that the text that a call wrote to a terminal is the call's result, unless the raw output
// has text.
func TestTerminalText(t *testing.T) {
	const shown = `,"_meta":{"terminal_output":{"terminal_id":"t","data":"file "}}}}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed","content":[{"type":"terminal","terminalId":"t"}]OUTPUT,"_meta":{"terminal_output_delta":{"data":"\u0041"}}}}}
`
	for output, want := range map[string]string{
		``:                              "file A",
		`,"rawOutput":{"exit_code":0}`:  "file A",
		`,"rawOutput":"a.txt"`:          "a.txt",
		`,"rawOutput":{"text":"a.txt"}`: "a.txt",
	} {
		text := strings.Replace(connection, `,"status":"completed","rawOutput":"a.txt"}}}`+"\n", strings.Replace(shown, "OUTPUT", output, 1), 1)
		c := inspectRecords(connectionRecords(text, oneChunk)...).Session().Turns[0].Calls[0]
		if r := c.LatestResult(); r == nil || string(r.Result.Text) != want {
			t.Errorf("%s: %+v, want %q", output, r, want)
		}
	}
}

// TestEditorTerminal checks that the text of a terminal that the editor runs is the result of the call that names it.
func TestEditorTerminal(t *testing.T) {
	const shown = `,"content":[{"type":"terminal","terminalId":"t1"}]}}}
< {"jsonrpc":"2.0","id":1,"method":"terminal/output","params":{"sessionId":"s","terminalId":"t1"}}
> {"jsonrpc":"2.0","id":1,"result":{"output":"a.t","truncated":false}}
< {"jsonrpc":"2.0","id":2,"method":"terminal/output","params":{"sessionId":"s","terminalId":"t1"}}
> {"jsonrpc":"2.0","id":2,"result":{"output":"a.txt","truncated":false,"exitStatus":{"exitCode":0}}}
< {"jsonrpc":"2.0","id":2,"method":"terminal/output","params":{"sessionId":"s","terminalId":"t2"}}
> {"jsonrpc":"2.0","id":2,"result":{"output":"another","truncated":false}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed"}}}
`
	text := strings.Replace(connection, `,"status":"completed","rawOutput":"a.txt"}}}`+"\n", shown, 1)
	in := inspectRecords(connectionRecords(text, oneChunk)...)
	if got := outline(in.Session()); len(got) != 2 || !strings.HasPrefix(got[0], "complete end_turn") {
		t.Errorf("%q", got)
	}
	if r := in.Session().Turns[0].Calls[0].LatestResult(); r == nil || string(r.Result.Text) != "a.txt" {
		t.Errorf("%+v", r)
	}
}

// TestMCPSourceNotes checks notes in the traffic of an MCP server: a note of the reader, for example about a damaged
// line, is about the source. Notes of the proxy about the server's process are not.
func TestMCPSourceNotes(t *testing.T) {
	var in Inspector
	in.Write(stream.Record{Exchange: 1, Request: true, At: stream.NoTime, Head: &stream.Head{Method: mcp.Stdio, URL: "mcp:server"}})
	in.Write(stream.Record{Exchange: 1, Request: true, At: stream.NoTime, Data: []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n")})
	in.Write(stream.Record{Exchange: 1, At: stream.NoTime, Note: "line 2: not a JSON object, left out"})
	for _, note := range []string{"stderr: listening\n", "argv: [\"x\"]", "signal: SIGINT", "input ended", "nobody reads"} {
		in.Write(stream.Record{Exchange: 1, At: stream.NoTime, Note: note})
	}
	in.Write(stream.Record{Exchange: 1, At: stream.NoTime, End: true})
	in.Close()
	if found := in.Session().Findings; len(found) != 1 || found[0].Message != "line 2: not a JSON object, left out" {
		t.Errorf("%v", found)
	}
	if notes := in.Executed().Servers[0].Notes; len(notes) != 1 || notes[0].Text != "listening" {
		t.Errorf("%v", notes)
	}
}

// TestEventStreamServer checks that an event stream with the URL for messages is recognised as an MCP server's,
// however it is cut into chunks, and that the messages to this URL are for the server. Another stream, or another
// response to a GET, is not from a server.
func TestEventStreamServer(t *testing.T) {
	const start = "event: endpoint\ndata: /m?s=1\n\n"
	for _, test := range []struct {
		name, kind, body string
		served           bool
	}{
		{"a server's stream", "text/event-stream", start, true},
		{"without spaces", "text/event-stream;charset=utf-8", "event:endpoint\ndata:/m?s=1\n\n", true},
		{"another stream", "text/event-stream", "event: end\ndata: {}\n\n", false},
		{"a page", "text/html", start, false},
		{"nothing", "text/event-stream", "", false},
	} {
		for cut := range len(test.body) + 1 {
			in := new(Inspector)
			in.Write(stream.Record{Exchange: 1, Request: true, Head: &stream.Head{Method: "GET", URL: "http://h/sse", Header: map[string][]string{"Accept": {"text/event-stream"}}}})
			in.Write(stream.Record{Exchange: 1, At: 1, Head: &stream.Head{Status: 200, Header: map[string][]string{"Content-Type": {test.kind}}}})
			for _, part := range []string{test.body[:cut], test.body[cut:]} {
				in.Write(stream.Record{Exchange: 1, At: 2, Data: []byte(part)})
			}
			in.Write(stream.Record{Exchange: 2, At: time.Second, Request: true, Head: &stream.Head{Method: "POST", URL: "http://h/m?s=1"}})
			in.Write(stream.Record{Exchange: 2, At: time.Second, Request: true, Data: []byte(toolAsk)})
			in.Write(stream.Record{Exchange: 1, At: 2 * time.Second, Data: []byte("data: " + toolAnswer + "\n\n"), End: true})
			in.Write(stream.Record{Exchange: 2, At: 3 * time.Second, Head: &stream.Head{Status: 202}, Data: []byte("Accepted"), End: true})
			in.Close()
			all := in.View().Executed()
			done := len(all) == 1 && all[0].State == mcp.Done && all[0].Text == "3"
			if done != test.served || (len(in.Session().Turns) == 0) != test.served && strings.Contains(test.kind, "stream") {
				t.Errorf("%s, cut at %d: %+v, %d turns", test.name, cut, all, len(in.Session().Turns))
			}
		}
	}
}
