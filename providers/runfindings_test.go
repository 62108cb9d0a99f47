package providers

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// findingsOf returns all findings with the given code, about turns and calls.
func findingsOf(in *Inspector, code string) (found []stream.Finding) {
	for _, t := range in.Session().Turns {
		all := t.Findings
		for _, c := range t.Calls {
			all = append(all[:len(all):len(all)], c.Findings...)
		}
		for _, f := range all {
			if f.Code == code {
				found = append(found, f)
			}
		}
	}
	return found
}

// TestResults checks that a client's sentence in place of a result is found, and also media as text. Results that
// only quote a sentence or media must not be found.
func TestResults(t *testing.T) {
	png := base64.StdEncoding.EncodeToString(append([]byte("\x89PNG\r\n\x1a\n\x00\x00"), make([]byte, 1200)...))
	for _, test := range []struct{ result, code, want string }{
		{"[Tool result missing due to internal error]", "RESULT_MADE_UP", "claude-code"},
		{"No result provided", "RESULT_MADE_UP", "pi"},
		{"Tool execution aborted", "RESULT_MADE_UP", "opencode"},
		{"[Tool execution was interrupted]", "RESULT_MADE_UP", "opencode"},
		{"[openclaw] missing tool result in session history; inserted synthetic error result for transcript repair.", "RESULT_MADE_UP", "openclaw"},
		{"12: return \"No result provided\"", "RESULT_MADE_UP", ""},
		{"No result provided by the index, but 3 files match", "RESULT_MADE_UP", ""},
		{"Tool execution aborted\nat step 4 of 9", "RESULT_MADE_UP", ""},
		{"The user doesn't want to proceed with this tool use.", "RESULT_MADE_UP", ""},
		{png, "MEDIA_AS_TEXT", "a PNG picture"},
		{`{"kind":"image","data":"` + png + `"}`, "MEDIA_AS_TEXT", "a PNG picture"},
		{"data:image/png;base64," + png, "MEDIA_AS_TEXT", "a PNG picture"},
		{png[:400], "MEDIA_AS_TEXT", ""},
		{"<svg>" + strings.Repeat("<path d='M 1 2'/>", 200) + png, "MEDIA_AS_TEXT", ""},
		{strings.Repeat("QUJD", 400) + "/9j/" + strings.Repeat("QUJD", 400), "MEDIA_AS_TEXT", ""},
		{strings.Repeat("a log line without any picture\n", 100), "MEDIA_AS_TEXT", ""},
	} {
		got := ""
		for _, f := range playSteps(test.code, []toolStep{{call: "shot", args: `{"x":1}`, result: test.result}}) {
			got += f.Detail.Fields[0].Value.(string)
		}
		if got != test.want {
			t.Errorf("%.60q: %q, want %q", test.result, got, test.want)
		}
		outcome := ToolOutcome(&stream.SentBackCall{ResultCode: stream.ResultFailed, Result: stream.Result{Text: test.result}})
		if madeUp := test.code == "RESULT_MADE_UP" && test.want != ""; madeUp != (outcome == 0) {
			t.Errorf("%.60q: the tool's outcome is %d", test.result, outcome)
		}
	}
}

// TestBudget checks that a response that a limit cut off during its reasoning has a separate finding. A response with
// a call or a text must not have this finding.
func TestBudget(t *testing.T) {
	thought := fmt.Sprintf(`{"type":"thinking","thinking":%q,"signature":"QUJD"}`, strings.Repeat("first one, then two. ", 40))
	for _, test := range []struct{ name, stop, blocks, want string }{
		{"only reasoning", "max_tokens", thought, "1"},
		{"a word of text", "max_tokens", thought + `,{"type":"text","text":"So"}`, "1"},
		{"it ended", "end_turn", thought, ""},
		{"a text", "max_tokens", thought + `,{"type":"text","text":"` + strings.Repeat("the answer is long ", 12) + `"}`, ""},
		{"a call", "max_tokens", thought + "," + portsCall, ""},
		{"no reasoning", "max_tokens", `{"type":"text","text":""}`, ""},
	} {
		in, _ := play(ownHost, asked{portsRequest(portsAsk), portsAnswer(test.stop, test.blocks), 200})
		got := ""
		for range findingsOf(in, "BUDGET_TO_THINKING") {
			got += "1"
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	body := `{"id":"c","object":"chat.completion","model":"r","choices":[{"index":0,"finish_reason":"length","message":{"role":"assistant","content":""}}],` +
		`"usage":{"prompt_tokens":9,"completion_tokens":500,"completion_tokens_details":{"reasoning_tokens":%d}}}`
	for tokens, want := range map[int]int{500: 1, 455: 1, 300: 0} {
		in, _ := play("https://llm.example/v1/chat/completions", asked{`{"model":"r","messages":[{"role":"user","content":"why?"}]}`, fmt.Sprintf(body, tokens), 200})
		if found := findingsOf(in, "BUDGET_TO_THINKING"); len(found) != want {
			t.Errorf("%d reasoning tokens: %d findings, want %d", tokens, len(found), want)
		}
	}
}

// timedEvent is an SSE event with its time in milliseconds.
type timedEvent struct {
	at   int
	data string
}

// endReasons are the reasons for the end of an exchange, by the party that ended it.
var endReasons = map[stream.Party]string{stream.Client: "the client disconnected"}

// playTimed reads one response of Anthropic, with times.
func playTimed(in *Inspector, exchange int, party stream.Party, events []timedEvent) {
	in.Write(stream.Record{Exchange: exchange, Request: true, Data: []byte(portsRequest(portsAsk)), Head: &stream.Head{Method: "POST", URL: ownHost}})
	in.Write(stream.Record{Exchange: exchange, Head: &stream.Head{Status: 200, Header: map[string][]string{"Content-Type": {"text/event-stream"}}}})
	last := time.Duration(0)
	for _, e := range events {
		data := e.data
		if strings.HasPrefix(data, "{") {
			data = "data: " + data
		}
		last = time.Duration(e.at) * time.Millisecond
		in.Write(stream.Record{Exchange: exchange, At: last, Data: []byte(data + "\n\n")})
	}
	in.Write(stream.Record{Exchange: exchange, At: last, End: true, By: party.String(), Why: endReasons[party]})
}

// TestStalled checks that a long silence inside a call is a stall, with or without pings. A slow response is
// not a stall.
func TestStalled(t *testing.T) {
	const (
		start   = `{"type":"message_start","message":{"id":"msg_1","role":"assistant","model":"m","content":[],"usage":{}}}`
		call    = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_n","name":"netstat","input":{}}}`
		half    = `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"all\":"}}`
		rest    = `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"true}"}}`
		stop    = `{"type":"content_block_stop","index":0}`
		finish  = `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}`
		end     = `{"type":"message_stop"}`
		think   = `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`
		thought = `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"so "}}`
		ping    = `{"type":"ping"}`
		comment = `: keepalive`
	)
	for _, test := range []struct {
		name   string
		by     stream.Party
		events []timedEvent
		want   string // severity, milliseconds, number of pings
	}{
		{"pings, then it goes on", 0, []timedEvent{{0, start}, {9, call}, {20, half}, {20000, ping}, {40000, comment}, {41020, rest}, {41030, stop}, {41040, finish}, {41050, end}}, "info 41000 2"},
		{"comments to the end", 0, []timedEvent{{0, start}, {9, call}, {20, half}, {30000, comment}, {60020, comment}}, "warn 60000 2"},
		{"the client goes", stream.Client, []timedEvent{{0, start}, {9, call}, {20, half}, {35020, comment}}, "warn 35000 1"},
		{"before the seal", 0, []timedEvent{{0, start}, {9, call}, {20, half}, {30, rest}, {50030, stop}, {50040, finish}, {50050, end}}, "info 50000 0"},

		{"20 s inside a call", 0, []timedEvent{{0, start}, {9, call}, {20, half}, {20020, rest}, {20030, stop}, {20040, finish}, {20050, end}}, ""},
		{"before the first token", 0, []timedEvent{{0, start}, {40000, ping}, {90000, call}, {90001, half}, {90002, rest}, {90003, stop}, {90004, finish}, {90005, end}}, ""},
		{"reasoning before any call", 0, []timedEvent{{0, start}, {1, think}, {2, thought}, {90000, thought}, {180000, thought}, {180001, stop}, {180002, finish}, {180003, end}}, ""},
		{"after the finish reason", 0, []timedEvent{{0, start}, {9, call}, {20, half}, {30, rest}, {31, stop}, {32, finish}, {90000, comment}, {90001, end}}, ""},
	} {
		in := new(Inspector)
		playTimed(in, 1, test.by, test.events)
		got := ""
		for _, f := range findingsOf(in, "STALLED") {
			got += fmt.Sprintf("%s %v %v", f.Severity, f.Detail.Fields[0].Value, f.Detail.Fields[1].Value)
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}

	slow := []timedEvent{{0, start}, {1, call}} // every delta of this model comes late, so late deltas are usual
	for i := range 40 {
		slow = append(slow, timedEvent{25000 * (i + 1), half})
	}
	in := new(Inspector)
	playTimed(in, 1, 0, append(slow, timedEvent{25000*40 + 45000, rest}))
	if found := findingsOf(in, "STALLED"); len(found) != 0 {
		t.Errorf("a slow model: %+v", found)
	}
	quick := []timedEvent{{0, start}, {1, call}}
	for i := range 40 {
		quick = append(quick, timedEvent{200 * (i + 1), half})
	}
	in = new(Inspector)
	playTimed(in, 1, 0, append(quick, timedEvent{200*40 + 25000, comment}))
	found := findingsOf(in, "STALLED")
	if len(found) != 1 || !strings.Contains(found[0].Message, "no byte of the arguments for 25s, with 1 ping; usual gaps are up to") {
		t.Errorf("a quick model: %+v", found)
	}
}

// TestGapBuckets checks that the upper limit of a gap's bucket is greater than the gap.
func TestGapBuckets(t *testing.T) {
	for gap := time.Millisecond; gap < 60*time.Second; gap += gap/7 + time.Millisecond {
		b := bucketOf(gap)
		if gap >= bucketEnd(b) || b > 0 && gap < bucketEnd(b-1) {
			t.Errorf("%v is in bucket %d, from %v to %v", gap, b, bucketEnd(b-1), bucketEnd(b))
		}
	}
}

// TestCacheBreak checks that the finding describes the first difference.
func TestCacheBreak(t *testing.T) {
	const (
		tools  = `[{"name":"netstat","input_schema":{"type":"object"}},{"name":"ping","input_schema":{"type":"object"}}]`
		system = `"You watch ports. It is 07:15:00 on host a."`
	)
	request := func(tools, system, first string) string {
		return `{"model":"claude-opus-4","max_tokens":9,"metadata":{"user_id":"{\"session_id\":\"s1\"}"},"tools":` + tools + `,"system":` + system + `,"messages":[{"role":"user","content":"` + first + `"}` +
			`,{"role":"assistant","content":"ok"},{"role":"user","content":"and now?"}]}`
	}
	usage := func(read, written int) string {
		return fmt.Sprintf(`{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-4","content":[{"type":"text","text":"ok"}],`+
			`"stop_reason":"end_turn","usage":{"input_tokens":5,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d,"output_tokens":1}}`, read, written)
	}
	messages := strings.TrimSuffix(request("", "", "look")[strings.Index(request("", "", "look"), `[{"role"`):], "}")
	rest := map[string]int{
		"a clock": len(system) - 28 + len(messages), "a new tool": len(system) + len(messages),
		"a tool is gone": len(tools) - strings.Index(tools, `{"name":"ping"`) + len(system) + len(messages),
		"a message":      len(messages) - strings.Index(messages, "look") - 4,
	}
	for _, test := range []struct{ name, tools, system, first, path, words string }{
		{"a clock", tools, strings.Replace(system, "15:00", "16:21", 1), "look", "system", `the system prompt changed since the previous request of the conversation: system changed at byte 27 from "07:15:00" to "07:16:21"; 0 of 4000 cached tokens were read`},
		{"the order of tools", `[{"name":"ping","input_schema":{"type":"object"}},{"name":"netstat","input_schema":{"type":"object"}}]`, system, "look", "tools", "the order changed, and ping moved"},
		{"a new tool", strings.Replace(tools, "]", `,{"name":"dig","input_schema":{}}]`, 1), system, "look", "tools", "dig was added"},
		{"a tool is gone", `[{"name":"netstat","input_schema":{"type":"object"}}]`, system, "look", "tools", "ping was removed"},
		{"a schema", strings.Replace(tools, `"type":"object"`, `"type":"object","required":[]`, 1), system, "look", "tools[0].input_schema.required", "was added"},
		{"a message", tools, system, "look there", "messages[0].content", `changed at byte 4 from "look" to "look there"`},
		{"nothing", tools, system, "look", "", ""},
	} {
		in, _ := play(ownHost, asked{request(tools, system, "look"), usage(0, 4000), 200}, asked{request(test.tools, test.system, test.first), usage(0, 4000), 200})
		found := findingsOf(in, "CACHE_BROKEN")
		switch {
		case test.words == "" && len(found) == 0:
		case len(found) != 1 || test.words == "" || !strings.Contains(found[0].Message, test.words) || found[0].Detail.Fields[0].Value != test.path:
			t.Errorf("%s: %+v", test.name, found)
		case rest[test.name] > 0 && found[0].Detail.Value("bytes") != rest[test.name]:
			t.Errorf("%s: %v bytes, not %d", test.name, found[0].Detail.Value("bytes"), rest[test.name])
		}
	}
}
