package providers

import (
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// writeEntries writes an exchange of a session file to an inspector: the entries of its request and its response.
func writeEntries(in *Inspector, number int, wrapper, request, response, why string) *Exchange {
	head := func() *stream.Head { return &stream.Head{Wrappers: wrapper, Incremental: true, Reconstructed: true} }
	asks := head()
	asks.Method = "POST"
	in.Write(stream.Record{Exchange: number, Request: true, At: stream.NoTime, Head: asks, Data: []byte(request)})
	if response != "" {
		in.Write(stream.Record{Exchange: number, At: stream.NoTime, Head: head(), Data: []byte(response)})
	}
	in.Write(stream.Record{Exchange: number, At: stream.NoTime, End: true, Why: why})
	return in.Exchange(number)
}

const claudeAsks = `{"type":"user","uuid":"u1","sessionId":"s","message":{"role":"user","content":"list it"}}` + "\n"

const claudeAnswers = `{"type":"assistant","uuid":"u2","sessionId":"s","message":{"id":"m1","model":"claude-sonnet-4-5","content":[{"type":"text","text":"Yes."}],"stop_reason":null,"usage":{"input_tokens":7,"output_tokens":1}}}` + "\n" +
	`{"type":"assistant","uuid":"u3","sessionId":"s","message":{"id":"m1","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"c1","name":"ls","input":{"dir": "."}}],"stop_reason":"tool_use","usage":{"input_tokens":7,"output_tokens":9}}}` + "\n"

// TestClaudeSession checks that entries of a session are read unchanged: the bytes stay, and the request is
// derived from the entries.
func TestClaudeSession(t *testing.T) {
	for _, wrapper := range []string{"claude-code session", "gzip › claude-code session"} {
		in := new(Inspector)
		x := writeEntries(in, 1, wrapper, claudeAsks, claudeAnswers, "")
		turns := in.Session().Turns
		if len(turns) != 1 || len(turns[0].Calls) != 1 {
			t.Fatalf("%d turns", len(turns))
		}
		turn, c := turns[0], turns[0].Calls[0]
		if turn.Protocol != "anthropic" || turn.ID != "m1" || turn.Usage.Output.N != 9 || turn.Phase().String() != "complete" || len(turn.Findings) > 0 {
			t.Errorf("%s %s %+v %v", turn.Protocol, turn.ID, turn.Usage, turn.Findings)
		}
		if string(c.Args()) != `{"dir": "."}` || c.Phase() != stream.PhaseSealed {
			t.Errorf("%s %v", c.Args(), c.Phase())
		}
		if got := string(x.Response.Bytes(0, x.Response.Size())); got != claudeAnswers || x.Response.Frames() != 2 {
			t.Errorf("%d frames: %s", x.Response.Frames(), got)
		}
		messages, _ := x.History()
		if len(messages) != 1 || messages[0].Role != protocol.User || string(messages[0].Parts[0].Text) != "list it" {
			t.Errorf("%+v", messages)
		}
	}
}

// TestClaudeSessionRequest checks that the request that newer versions log is derived from its entries. A message of
// the model has several entries.
func TestClaudeSessionRequest(t *testing.T) {
	asks := `{"type":"api-request","params":{"model":"claude-sonnet-4-5","max_tokens":9}}` + "\n" +
		`{"type":"api-request-shape","shape":{"tools":[{"name":"ls","input_schema":{"type":"object"}}]}}` + "\n" +
		`{"type":"api-request-blob","message":{"role":"user","content":"list it"}}` + "\n" +
		claudeAnswers + `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"a"}]}}` + "\n"
	const want = `{"model":"claude-sonnet-4-5","max_tokens":9,"tools":[{"name":"ls","input_schema":{"type":"object"}}],"messages":[` +
		`{"role":"user","content":"list it"},` +
		`{"role":"assistant","content":[{"type":"text","text":"Yes."},{"type":"tool_use","id":"c1","name":"ls","input":{"dir": "."}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"a"}]}]}`
	x := writeEntries(new(Inspector), 1, "claude-code session", asks, "", "")
	if got := string(x.RequestBody()); got != want {
		t.Errorf("%s", got)
	}
}

// TestClaudeSessionErrors checks that an error in place of a message, and a file that ends inside a message, abort
// the turn.
func TestClaudeSessionErrors(t *testing.T) {
	first, _, _ := strings.Cut(claudeAnswers, "\n")
	for _, test := range []struct{ response, why, failure string }{
		{`{"type":"assistant","isApiErrorMessage":true,"error":"overloaded_error","message":{"content":[{"type":"text","text":"too busy"}]}}`, "", "too busy"},
		{`{"type":"system","subtype":"api_error","error":{"status":529,"error":{"type":"error","error":{"type":"overloaded_error","message":"busy"}}}}`, "", "busy"},
		{`{"type":"system","subtype":"api_error","error":{"message":"529 {\"error\":{\"message\":\"busy too\"}}"}}`, "", "busy too"},
		{`{"type":"system","subtype":"api_error","error":{"message":"no route"}}`, "", "no route"},
		{`{"type":"assistant","isApiErrorMessage":true,"error":"unknown","message":{"content":[{"type":"text","text":"API Error: 529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}"}]}}`, "", "busy"},
		{`{"type":"assistant","isApiErrorMessage":true,"error":"unknown","message":{"content":[{"type":"text","text":"API Error: 500 {oops"}]}}`, "", "API Error: 500 {oops"},
		{first, "the file was cut", ""},
	} {
		in := new(Inspector)
		writeEntries(in, 1, "claude-code session", claudeAsks, test.response+"\n", test.why)
		turn := in.Session().Turns[0]
		if turn.Failure != test.failure || turn.Phase().String() != "aborted" {
			t.Errorf("%s: %q %v", test.response, turn.Failure, turn.Phase())
		}
	}
}

// TestOlderSessionCapture checks that captures by earlier versions, which contain a session as a stream, are still
// read.
func TestOlderSessionCapture(t *testing.T) {
	in := new(Inspector)
	request := `{"messages":[{"role":"user","content":"list it"}]}`
	x := writeEntries(in, 1, "claude-code session", request,
		`event: message_start
data: {"type":"message_start","message":{"id":"m1"}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c1","name":"ls","input":{"a":1}}}

event: message_stop
data: {"type":"message_stop"}

`, "")
	if turns := in.Session().Turns; len(turns) != 1 || len(turns[0].Calls) != 1 || string(x.RequestBody()) != request {
		t.Errorf("%d turns, %s", len(turns), x.RequestBody())
	}
}

const codexAsks = `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"t","base_instructions":{"text":"Be brief."}}}
{"timestamp":"2026-01-01T00:00:01Z","type":"turn_context","payload":{"model":"gpt-5.6"}}
{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"list it"}]}}
`

const codexAnswers = `{"timestamp":"2026-01-01T00:00:02Z","type":"response_item","payload":{"type":"function_call","name":"ls","arguments":"{\"dir\": \".\"","call_id":"c1"}}
{"timestamp":"2026-01-01T00:00:03Z","type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":7,"cached_input_tokens":2,"output_tokens":9,"reasoning_output_tokens":3,"total_tokens":16}}}}
`

// TestCodexSession checks that entries of a rollout are read unchanged. Items in older rollouts have no
// wrapper.
func TestCodexSession(t *testing.T) {
	bare := `{"type":"function_call","name":"ls","arguments":"{\"dir\": \".\"","call_id":"c1"}` + "\n"
	for response, output := range map[string]int64{codexAnswers: 9, bare: 0} {
		in := new(Inspector)
		x := writeEntries(in, 1, "codex rollout", codexAsks, response, "")
		turn := in.Session().Turns[0]
		if turn.Protocol != "openai-responses" || turn.Model != "gpt-5.6" || turn.Usage.Output.N != output || len(turn.Calls) != 1 {
			t.Fatalf("%s %s %+v, %d calls", turn.Protocol, turn.Model, turn.Usage, len(turn.Calls))
		}
		if c := turn.Calls[0]; c.ID != "c1" || string(c.Args()) != `{"dir": "."` || c.Phase() != stream.PhaseSealed {
			t.Errorf("%s %s %v", c.ID, c.Args(), c.Phase())
		}
		const want = `{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"list it"}]}],"model":"gpt-5.6","instructions":"Be brief."}`
		if got := string(x.RequestBody()); got != want {
			t.Errorf("%s", got)
		}
		if got := string(x.Response.Bytes(0, x.Response.Size())); got != response {
			t.Errorf("%s", got)
		}
	}
}

// TestErrorsInSessions checks the findings about errors in sessions, which have no status. Their words may show the status
// and the party at fault.
func TestErrorsInSessions(t *testing.T) {
	for words, want := range map[string]string{
		"Overloaded": "PROVIDER_ERROR provider", "529 Overloaded": "PROVIDER_ERROR provider", "429 Too many requests": "PROVIDER_ERROR provider",
		"401 Incorrect API key": "REQUEST_REFUSED client", "API Error: 400 odd": "REQUEST_REFUSED client", "unexpected status 404 Not Found: a": "REQUEST_REFUSED client",
		"API Error: Stream idle timeout - partial response received": "NO_ANSWER network", "API Error: The response stopped arriving. The response above may be incomplete.": "NO_ANSWER network",
		`{\"error\":{\"message\":\"Unknown parameter: 'a'.\",\"type\":\"invalid_request_error\"}}`: "REQUEST_REFUSED client", `stopped: {\"error\":{\"message\":\"busy\",\"type\":\"server_error\"}}`: "PROVIDER_ERROR provider",
		`[API Error: {\"error\":{\"code\":400,\"message\":\"missing a thought_signature\",\"status\":\"INVALID_ARGUMENT\"}}]`: "REQUEST_REFUSED client", `[API Error: {\"error\":{\"code\":429,\"message\":\"exhausted\",\"status\":\"RESOURCE_EXHAUSTED\"}}]`: "PROVIDER_ERROR provider",
		"Connection error.": "NO_ANSWER network", "Request timed out.": "NO_ANSWER network", "the log has 400 lines": "PROVIDER_ERROR provider", "4001 is no status": "PROVIDER_ERROR provider",
		"Request was aborted.": "CLIENT_GONE client", "API Error: Request was aborted.": "CLIENT_GONE client", "This operation was aborted": "CLIENT_GONE client",
		"The user aborted a request.": "CLIENT_GONE client", "The upstream aborted the stream": "PROVIDER_ERROR provider", "The request was aborted because of a filter": "PROVIDER_ERROR provider",
	} {
		in := new(Inspector)
		writeEntries(in, 1, "pi session", "", `{"type":"message","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"`+words+`"}}`+"\n", "")
		found := in.Session().Turns[0].Findings
		if len(found) != 1 || found[0].Code+" "+found[0].By.String() != want {
			t.Errorf("%s: %+v", words, found)
		}
	}
}

// TestOpencodeErrors checks that the status of an error in a session of opencode shows the party at fault.
func TestOpencodeErrors(t *testing.T) {
	for status, want := range map[string]string{
		`"statusCode":400,`: "REQUEST_REFUSED client", `"statusCode":529,`: "PROVIDER_ERROR provider", `"statusCode":429,`: "PROVIDER_ERROR provider", "": "PROVIDER_ERROR provider",
	} {
		in := new(Inspector)
		writeEntries(in, 1, "opencode session", "", `{"role":"assistant","error":{"name":"APIError","data":{`+status+`"message":"the last message must be the user's"}}}`+"\n", "")
		found := in.Session().Turns[0].Findings
		if len(found) != 1 || found[0].Code+" "+found[0].By.String() != want {
			t.Errorf("%s: %+v", status, found)
		}
	}
}

// TestCodexFailedCalls checks that a result is a failure if an entry before it says that its call failed. The words
// of a result don't show this.
func TestCodexFailedCalls(t *testing.T) {
	const result = `{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Error: no such file"}}` + "\n"
	event := func(kind, outcome string) string {
		return `{"type":"event_msg","payload":{"type":"` + kind + `","call_id":"c1",` + outcome + "}}\n"
	}
	says := func(text string) string { return strings.Replace(result, "Error: no such file", text, 1) }
	for entries, want := range map[string]string{
		result: "", event("mcp_tool_call_end", `"result":{"Err":"timed out"}`) + result: "failed",
		strings.ReplaceAll(event("mcp_tool_call_end", `"result":{"Err":"timed out"}`), "c1", "c2") + result: "",
		says(`Exit code: 1\nWall time: 0.1 seconds\nOutput:\n`):                                             "failed", says(`Exit code: 0\nWall time: 0.1 seconds\nOutput:\n`): "",
		says(`Chunk ID: 0a\nWall time: 0.1 seconds\nProcess exited with code 127\nOutput:\n`):                           "failed",
		says(`Chunk ID: 0a\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nProcess exited with code 1\n`): "",
		says(`{\"output\":\"\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.1}}`):                               "failed",
		says(`{\"output\":\"\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}`):                               "",
		says("unsupported call: ls"): "failed", says("The log has: unsupported call: ls"): "", says(`{\"exit_code\":2}`): "",
	} {
		x := writeEntries(new(Inspector), 1, "codex rollout", entries, codexAnswers, "")
		if got := json.Value(json.FirstElement(json.Value(x.RequestBody()).Get("input"))).Get("status").Text(); got != want {
			t.Errorf("%s: %s", entries, x.RequestBody())
		}
	}
}
