package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// askedExchange is an exchange in a capture that a question is about.
type askedExchange struct {
	at      int // time of the request in milliseconds
	agent   string
	url     string // default: Anthropic Messages
	request string
	status  int      // default: 200
	pieces  []string // of the response
	every   int      // time between pieces in milliseconds
	lost    bool     // the network cut the connection off
}

// askedServer returns the capture of an MCP server, with a call at the given time in milliseconds.
func askedServer(at int, call, result string) string {
	line := func(at int, side, message string) string {
		text, _ := json.Marshal(message + "\n")
		return fmt.Sprintf(`{"t":%d,"x":1,%s"d":%s}`+"\n", at, ifElse(side == "", "", `"side":"`+side+`",`), text)
	}
	return `{"toolscope":1,"created":"2026-03-01T12:00:00Z","by":"toolscope mcp"}` + "\n" + `{"t":0,"x":1,"side":"request","head":{"method":"STDIO","url":"mcp:everything","start":"2026-03-01T12:00:00Z"}}` + "\n" +
		line(1, "request", `{"jsonrpc":"2.0","id":0,"method":"tools/list","params":{}}`) +
		line(2, "", `{"jsonrpc":"2.0","id":0,"result":{"tools":[{"name":"get-sum","inputSchema":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}}}},{"name":"echo","inputSchema":{"type":"object","properties":{"message":{"type":"string"}}}}]}}`) +
		line(at, "request", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+call+`}`) +
		line(at+9, "", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"`+result+`"}]}}`) +
		`{"t":9000,"x":1,"end":"eof","by":"provider"}` + "\n"
}

// askedCapture returns a capture with the given exchanges.
func askedCapture(all []askedExchange) string {
	var b strings.Builder
	line := func(v map[string]any) {
		text, _ := json.Marshal(v)
		b.Write(append(text, '\n'))
	}
	b.WriteString(`{"toolscope":1,"created":"2026-03-01T12:00:00Z"}` + "\n")
	for i, x := range all {
		header := map[string][]string{"User-Agent": {"claude-cli/2.1.332 (external, cli)"}, "X-Claude-Code-Session-Id": {"5e551011"}}
		if x.agent != "" {
			header["X-Claude-Code-Agent-Id"] = []string{x.agent}
		}
		if x.url == "" {
			x.url = "https://api.anthropic.com/v1/messages"
		}
		if x.status == 0 {
			x.status = 200
		}
		kind := "application/json"
		if len(x.pieces) > 0 && !strings.HasPrefix(x.pieces[0], "{") {
			kind = "text/event-stream"
		}
		line(map[string]any{"t": x.at, "x": i + 1, "side": "request", "head": map[string]any{"method": "POST", "url": x.url, "header": header, "start": time.Date(2026, 3, 1, 12, 0, 0, x.at*1e6, time.UTC)}, "d": x.request, "end": "eof"})
		line(map[string]any{"t": x.at + 5, "x": i + 1, "head": map[string]any{"status": x.status, "header": map[string][]string{"Content-Type": {kind}}}})
		at := x.at + 10
		for _, piece := range x.pieces {
			line(map[string]any{"t": at, "x": i + 1, "d": piece})
			at += x.every
		}
		end := map[string]any{"t": at, "x": i + 1, "end": "eof", "by": "provider"}
		if x.lost {
			end = map[string]any{"t": at, "x": i + 1, "end": "cut", "why": "the connection was reset", "by": "network"}
		}
		line(end)
	}
	return b.String()
}

// anthropicPieces returns a response with one call, or with text if the tool is "". Without a stop reason, the
// response ends inside the arguments.
func anthropicPieces(id, tool, args, stop string) []string {
	quoted, _ := json.Marshal(args)
	text := sseEvent("message_start", `"message":{"id":"msg_`+id+`","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"usage":{"input_tokens":10,"output_tokens":1}}`)
	if tool == "" {
		text += sseEvent("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`) + sseEvent("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":`+string(quoted)+`}`)
	} else {
		text += sseEvent("content_block_start", `"index":0,"content_block":{"type":"tool_use","id":"`+id+`","name":"`+tool+`","input":{}}`) + sseEvent("content_block_delta", `"index":0,"delta":{"type":"input_json_delta","partial_json":`+string(quoted)+`}`)
	}
	if stop != "" {
		text += sseEvent("content_block_stop", `"index":0`) + sseEvent("message_delta", `"delta":{"stop_reason":"`+stop+`","stop_sequence":null},"usage":{"output_tokens":9}`) + sseEvent("message_stop", "")
	}
	return []string{text}
}

func sseEvent(kind, fields string) string {
	if fields != "" {
		fields = "," + fields
	}
	return "event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + fields + "}\n\n"
}

// claudeRequest returns a request with a system prompt and with messages after the user's.
func claudeRequest(system, messages string) string {
	if messages != "" {
		messages = "," + messages
	}
	return `{"model":"claude-sonnet-4-5","max_tokens":100,"stream":true,"system":[{"type":"text","text":"` + system + `","cache_control":{"type":"ephemeral"}}],"tools":[{"name":"Bash","input_schema":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}}],` +
		`"messages":[{"role":"user","content":"do it"}` + messages + `]}`
}

// answeredCall returns the messages with a call and its result.
func answeredCall(id, input, result string, failed bool) string {
	return fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"Bash","input":%s}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":%[1]q,"content":%[3]q,"is_error":%v}]}`, id, input, result, failed)
}

// TestAskQuestions checks the answers to an agent's questions. Each question needs at most three answers of at most
// 4,000 bytes. TestAskAnswers has the questions about the demo's captures.
func TestAskQuestions(t *testing.T) {
	done := anthropicPieces("done", "", "All done.", "end_turn")
	cutArgs := `{"command":"echo hello; cat a.txt","description":"run it in the` // 63 bytes
	gemini := "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse"
	geminiRequest := func(more string) string {
		return `{"contents":[{"role":"user","parts":[{"text":"ls"}]}` + more + `],"tools":[{"functionDeclarations":[{"name":"bash","parameters":{"type":"OBJECT","properties":{"command":{"type":"STRING"}}}}]}]}`
	}
	var loop []askedExchange
	for n := range 7 {
		history := ""
		for i := range n {
			history += ifElse(i > 0, ",", "") + answeredCall(fmt.Sprint("toolu_", i), `{"command":"make"}`, "No rule to make target", true)
		}
		loop = append(loop, askedExchange{at: n * 1000, request: claudeRequest("You are.", history), pieces: anthropicPieces(fmt.Sprint("toolu_", n), "Bash", `{"command":"make"}`, "tool_use")})
	}
	chunk := func(delta string) string {
		return `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}` + "\n\n"
	}
	stalled := []string{
		chunk(`{"role":"assistant","tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"write_file","arguments":""}}]}`),
		chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":\"a.md\""}}]}`),
	}
	for range 20 {
		stalled = append(stalled, ": keepalive\n\n")
	}
	usage := func(pieces []string, read, written int) []string {
		return []string{strings.Replace(pieces[0], `"input_tokens":10`, fmt.Sprintf(`"input_tokens":10,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d`, read, written), 1)}
	}
	clock := func(time string) string {
		return "Current time is " + time + ". " + strings.Repeat("You are a coding agent. ", 900)
	}

	sum, early, isSum := anthropicPieces("toolu_1", "mcp__everything__get-sum", `{"a":20,"b":22}`, "tool_use")[0], "", false
	if early, sum, isSum = strings.Cut(sum, "event: content_block_stop"); !isSum {
		t.Fatal("the call has no end")
	}
	const codexTool = `{"type":"function","name":"%s","parameters":{"type":"object","properties":{}}}`
	codexCall := func(id, name, namespace string) []string {
		item := `"id":"fc_` + id + `","type":"function_call","call_id":"` + id + `","name":"` + name + `"` + namespace
		return []string{
			sseEvent("response.created", `"response":{"id":"resp_`+id+`","model":"gpt-5","status":"in_progress","output":[]}`) +
				sseEvent("response.output_item.added", `"output_index":0,"item":{`+item+`,"status":"in_progress","arguments":""}`) +
				sseEvent("response.function_call_arguments.done", `"item_id":"fc_`+id+`","output_index":0,"arguments":"{}"`) +
				sseEvent("response.output_item.done", `"output_index":0,"item":{`+item+`,"status":"completed","arguments":"{}"}`) +
				sseEvent("response.completed", `"response":{"id":"resp_`+id+`","model":"gpt-5","status":"completed","output":[{`+item+`,"status":"completed","arguments":"{}"}]}`),
		}
	}
	codexRequest := `{"model":"gpt-5","stream":true,"input":[{"type":"message","role":"user","content":"go"}],"tools":[` + fmt.Sprintf(codexTool, "date") +
		`,{"type":"namespace","name":"mcp__toolscope","tools":[` + fmt.Sprintf(codexTool, "problems") + `]}]}`
	echo := `{"name":"mcp_everything_echo","parametersJsonSchema":{"type":"object","properties":{"message":{"type":"string"},"wait_for_previous":{"type":"boolean"}}}}`

	for _, c := range []struct {
		run         string
		server      string // capture of an MCP server
		exchanges   []askedExchange
		calls, must string
		not         string
	}{
		{"limited", "", []askedExchange{
			{request: claudeRequest("You are.", ""), status: 429, pieces: []string{`{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`}},
			{at: 2000, request: claudeRequest("You are.", ""), pieces: done},
		}, "problems run=limited;calls run=limited", "PROVIDER_ERROR;rate_limit_error;HTTP 429;limited#1;retried in turn 2", ""},
		{"dropped", "", []askedExchange{{request: claudeRequest("You are.", ""), pieces: anthropicPieces("toolu_1", "Bash", cutArgs, ""), lost: true}},
			"call ref=dropped#1.1", "ARGS_CUT;63 bytes;network;aborted;no result seen", "state=complete"},
		{"replaced", "", []askedExchange{
			{request: claudeRequest("You are.", ""), pieces: anthropicPieces("toolu_1", "Bash", cutArgs, ""), lost: true},
			{at: 2000, request: claudeRequest("You are.", answeredCall("toolu_1", "{}", "no command", true)), pieces: done},
		}, "problems run=replaced;call ref=replaced#1.1", "ARGS_REPLACED_BY_EMPTY;by=client;CONNECTION_LOST;by=network;63 bytes", ""},
		{"subagents", "", []askedExchange{
			{request: claudeRequest("You are.", ""), agent: "ae50738e91d3b26b6", pieces: anthropicPieces("toolu_1", "Bash", `{"command":"echo from-subagent"}`, "tool_use")},
			{at: 100, request: claudeRequest("You are.", ""), agent: "a2b137645ff782241", pieces: anthropicPieces("toolu_2", "Bash", `{"command":"echo from-subagent"}`, "tool_use")},
		}, "calls run=subagents", "agent=ae50738e91d3b26b6;agent=a2b137645ff782241;from-subagent", ""},
		{"badtype", "", []askedExchange{{request: claudeRequest("You are.", ""), pieces: anthropicPieces("toolu_1", "Bash", `{"command":42}`, "tool_use")}},
			"problems run=badtype;call ref=badtype#1.1", "SCHEMA_WRONG_TYPE;/command;number;42", ""},
		{"maximum", "", []askedExchange{
			{request: claudeRequest("You are.", ""), pieces: anthropicPieces("toolu_1", "Bash", `{"command":"echo h`, "max_tokens")},
			{at: 2000, request: claudeRequest("You are.", answeredCall("toolu_1", `{"__unparsedToolInput":"{\"command\":\"echo h"}`, "could not be parsed as JSON", true)), pieces: done},
		}, "call ref=maximum#1.1", "ARGS_CUT;18 bytes;max_tokens", "ARGS_REPAIRED"},
		{"poisoned", "", []askedExchange{{request: claudeRequest("You are.", `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_a","name":"Bash","input":{"command":"ls"}},{"type":"tool_use","id":"toolu_b","name":"Bash","input":{"command":"pwd"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_a","content":"ok"}]}`),
			status: 400, pieces: []string{`{"type":"error","error":{"type":"invalid_request_error","message":"messages.1: ` + "`tool_use` ids were found without `tool_result`" + ` blocks immediately after: toolu_b."}}`}}},
			"problems run=poisoned", "toolu_b;by=client;HTTP 400", "by=provider"},
		{"unsigned", "", []askedExchange{
			{url: gemini, request: geminiRequest(""), pieces: []string{`data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"bash","args":{"command":"ls"}},"thoughtSignature":"QUJDREVG"}]},"finishReason":"STOP"}],"modelVersion":"gemini-3-flash"}` + "\n\n"}},
			{at: 1000, url: gemini, request: geminiRequest(`,{"role":"model","parts":[{"functionCall":{"name":"bash","args":{"command":"ls"}}}]},{"role":"user","parts":[{"functionResponse":{"name":"bash","response":{"output":"a"}}}]}`), status: 400,
				pieces: []string{`{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts.","status":"INVALID_ARGUMENT"}}`}},
		}, "problems run=unsigned", "SIGNATURE_DROPPED;by=client", "intact"},
		{"loop", "", loop, "problems run=loop", "LOOP;6", ""},
		{"stalled", "", []askedExchange{{url: "https://api.openai.com/v1/chat/completions", request: `{"model":"m","stream":true,"messages":[{"role":"user","content":"write it"}]}`, pieces: stalled, every: 2000, lost: true}},
			"problems run=stalled", "STALLED;ping", ""},
		{"servers", askedServer(500, `{"name":"get-sum","arguments":{"a":20,"b":22},"_meta":{"claudecode/toolUseId":"toolu_1"}}`, "The sum is 42"), []askedExchange{
			{request: strings.Replace(claudeRequest("You are.", ""), `"tools":[`, `"tools":[{"name":"mcp__everything__get-sum","input_schema":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}}}},`, 1), pieces: []string{early, "event: content_block_stop" + sum}, every: 1000},
		}, "calls run=servers text=20;call ref=servers#1.1", "get-sum done;42;matched by id;EXEC_EARLY", ""},
		{"drift", askedServer(1500, `{"name":"echo","arguments":{"message":"hi"}}`, "Echo: hi"), []askedExchange{
			{at: 100, url: gemini, request: `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"tools":[{"functionDeclarations":[` + echo + `]}]}`, pieces: []string{`data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"mcp_everything_echo","args":{"message":"hi"}}}]},"finishReason":"STOP"}],"modelVersion":"gemini-3-flash"}` + "\n\n"}},
		}, "problems run=drift severity=info", "TOOL_SCHEMA_DRIFT;wait_for_previous", ""},
		{"codex", "", []askedExchange{
			{url: "https://api.openai.com/v1/responses", request: codexRequest, pieces: codexCall("call_1", "date", "")},
			{at: 1000, url: "https://api.openai.com/v1/responses", request: codexRequest, pieces: codexCall("call_2", "problems", `,"namespace":"mcp__toolscope"`)},
		}, "calls run=codex;problems run=codex", "codex: 1 row;codex#1.1 agent=main date;0 problems in 2 turns, 1 call", "id=call_2"},
		{"shell", `{"toolscope":1,"created":"2026-03-01T12:00:00Z","by":"toolscope mcp"}` + "\n" + `{"t":500,"x":1,"side":"request","head":{"method":"SHELL","url":"shell:Bash","start":"2026-03-01T12:00:00Z"},"d":"ls"}` + "\n" + `{"t":600,"x":1,"end":"eof"}` + "\n", []askedExchange{
			{request: claudeRequest("You are.", ""), pieces: anthropicPieces("toolu_1", "Bash", `{"command":"ls"}`, "tool_use")},
			{at: 1000, request: claudeRequest("You are.", answeredCall("toolu_1", `{"command":"ls"}`, "a.txt", false)), pieces: done},
		}, "calls run=shell", `ran shell: Bash done;received 16 B "{\"command\":\"ls\"}", took 100 ms result "a.txt"`, "returned"},
		{"stdout", strings.Replace(askedServer(1500, `{"name":"echo","arguments":{}}`, "ok"), `{"t":9000`, `{"t":8000,"x":1,"d":"listening on stdio\n"}`+"\n"+`{"t":9000`, 1), []askedExchange{{request: claudeRequest("You are.", ""), pieces: done}},
			"problems run=stdout", "ERROR MCP_STDOUT by=server stdout server=everything;listening on stdio", ""},
		{"unasked", askedServer(1500, `{"name":"echo","arguments":{"message":"hi"}}`, "Echo: hi"), []askedExchange{{request: claudeRequest("You are.", ""), pieces: done}},
			"runs;calls run=unasked.tsc text=HI tool=echo;problems run=unasked.tsc", `0 calls and 1 tool run not matched to a call, 0 errors;unasked: 1 row;unasked ran everything: echo done, not matched to a call, received 16 B "{\"message\":\"hi\"}", returned "Echo: hi", took 9 ms;0 problems in 1 turn, 0 calls and 1 tool run`, ""},
		{"models", "", []askedExchange{
			{request: claudeRequest("You are.", ""), pieces: done},
			{at: 3_600_000, request: claudeRequest("You are.", ""), pieces: []string{strings.ReplaceAll(done[0], "claude-sonnet-4-5", "mystery-9b")}},
			{at: 90_000_000, request: claudeRequest("You are.", ""), agent: "ae50738e91d3b26b6", pieces: []string{strings.ReplaceAll(done[0], "claude-sonnet-4-5", "claude-opus-4-5")}},
			{at: 90_100_000, url: "https://api.anthropic.com/v1/messages/count_tokens", request: `{"model":"claude-sonnet-4-5","messages":[]}`, pieces: []string{`{"input_tokens":9}`}},
		}, "runs;turns run=models sort=cost;turns run=models agent=ae50738e91d3b26b6",
			"claude-sonnet-4-5, mystery-9b, claude-opus-4-5, 3 turns and 1 request without a model's response;$0.00044 plus the unknown cost of 1 turn, requests from 2026-03-01 12:00:00Z to 2026-03-02 13:00:00Z;models: 3 turns and 1 request without a model's response, input=30 output=27;instruction.\nmodels#3 2026-03-02 13:00:00.000Z agent=ae50738e91d3b26b6;first token 10 ms;models#4 2026-03-02 13:01:40.000Z agent=main background purpose=count;models: 1 turn, input=10 output=9", ""},
		{"repeated", "", []askedExchange{
			{request: claudeRequest("You are.", ""), pieces: anthropicPieces("toolu_1", "Bash", `{"command":"ls"}`, "tool_use")},
			{at: 1000, request: claudeRequest("You are.", ""), pieces: anthropicPieces("toolu_1", "Bash", `{"command":"pwd"}`, "tool_use")},
		}, "call ref=toolu_1", "call repeated#1.1;other calls with this id: repeated#2.1", ""},
		{"failing", askedServer(1500, `{"name":"echo","arguments":{"message":"hi"},"_meta":{"claudecode/toolUseId":"toolu_1"}}`, "no"), []askedExchange{
			{request: claudeRequest("You are.", ""), pieces: anthropicPieces("toolu_1", "mcp__everything__echo", `{"message":"hi"}`, "tool_use")},
			{at: 3000, request: claudeRequest("You are.", strings.ReplaceAll(answeredCall("toolu_1", `{"message":"hi"}`, "no", true), `"Bash"`, `"mcp__everything__echo"`)), pieces: done},
		}, "calls run=failing bad=true", `failing: 1 row;returned "no", took 9 ms;error result "no"`, ""},
		{"clock", "", []askedExchange{
			{request: claudeRequest(clock("15:09:20"), ""), pieces: usage(anthropicPieces("toolu_1", "Bash", `{"command":"ls"}`, "tool_use"), 0, 5000)},
			{at: 14_000, request: claudeRequest(clock("15:09:34"), answeredCall("toolu_1", `{"command":"ls"}`, "a.txt", false)), pieces: usage(done, 0, 5100)},
		}, "problems run=clock severity=info", "CACHE_BROKEN;system prompt;by=client;15:09", ""},
	} {
		file := saved(t, c.run+".tsc", askedCapture(c.exchanges))
		if c.server != "" {
			beside := strings.TrimSuffix(file, ".tsc") + ".mcp"
			if err := os.Mkdir(beside, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(beside, "a.tsc"), []byte(c.server), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		calls, all := strings.Split(c.calls, ";"), ""
		for _, call := range calls {
			words := strings.Fields(call)
			out := command(t, nil, append([]string{"ask", words[0], file}, words[1:]...)...)
			if out.code != 0 || len(out.stdout) > 4000 || len(calls) > 3 {
				t.Errorf("%s: exit code %d, %d bytes: %s", call, out.code, len(out.stdout), out.stderr)
			}
			all += out.stdout
		}
		for word := range strings.SplitSeq(c.must, ";") {
			if !strings.Contains(all, word) {
				t.Errorf("%s: no %q in\n%s", c.calls, word, all)
			}
		}
		if c.not != "" && strings.Contains(all, c.not) {
			t.Errorf("%s: has %q:\n%s", c.calls, c.not, all)
		}
	}
}
