package providers

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/stream"
)

// severitiesOf returns the severity and the party of each finding with a code.
func severitiesOf(in *Inspector, code string) string {
	var all []string
	for _, f := range findingsOf(in, code) {
		all = append(all, f.Severity.String()+" "+f.By.String())
	}
	return strings.Join(all, ", ")
}

// TestTextCallOfTargets checks that a call in the text or in the reasoning is found in the responses of each target, and
// that a call in the arguments of a call, or in a quotation, is not.
func TestTextCallOfTargets(t *testing.T) {
	const written = `<tool_call>{"name":"ls","arguments":{"part":1}}</tool_call>`
	for i := range requestForms {
		f := &requestForms[i]
		request := f.write([]wireMessage{{parts: []wirePart{{text: "list it"}}}}).request("", "ls", "write")
		for _, test := range []struct {
			name, want string
			parts      []wirePart
		}{
			{"text", "warn provider", []wirePart{{text: "I look.\n" + written}}},
			{"reasoning", "warn provider", []wirePart{{kind: reasoningPart, text: "I look.\n" + written, signature: "QUJD"}, {text: "Well."}}},
			{"another tool", "", []wirePart{{text: strings.Replace(written, `"ls"`, `"cat"`, 1)}}},
			{"quoted", "", []wirePart{{text: "It writes `" + written + "`"}}},
			{"a block", "", []wirePart{{text: "It writes:\n\n```\n" + written + "\n```"}}},
			{"arguments", "", []wirePart{{kind: callPart, id: f.ids(0, 1), name: "write", text: `{"text":` + quote(written) + `}`}}},
			{"more text", "", []wirePart{{text: written + "\nis what it writes"}}},
		} {
			if test.name == "reasoning" && (f.name == "responses" || f.name == "mistral") {
				continue // their form of reasoning has no text
			}
			in, _ := play(f.other, asked{request, f.response(test.parts...), 200})
			if got := severitiesOf(in, "TEXT_TOOLCALL"); got != test.want {
				t.Errorf("%s, %s: %q, want %q", f.name, test.name, got, test.want)
			}
		}
	}
}

// TestBudgetSet checks, in several protocols, that a response that a limit cut off has the finding only if it
// contains little more than reasoning.
func TestBudgetSet(t *testing.T) {
	long, short := strings.Repeat("first one, then two. ", 40), "So"
	answer := strings.Repeat("the answer is long ", 12)
	thinking := func(text string) string {
		return `{"type":"thinking","thinking":` + quote(text) + `,"signature":"QUJD"}`
	}
	anthropic := func(stop string, blocks ...string) asked {
		return asked{portsRequest(portsAsk), portsAnswer(stop, blocks...), 200}
	}
	text := func(s string) string { return `{"type":"text","text":` + quote(s) + `}` }
	chat := func(finish, reasoning, content, calls string, reasoned, all int) asked {
		m := `{"role":"assistant","content":` + quote(content)
		if reasoning != "" {
			m += `,"reasoning_content":` + quote(reasoning)
		}
		if calls != "" {
			m += `,"tool_calls":[` + calls + `]`
		}
		usage := ""
		if all > 0 {
			usage = fmt.Sprintf(`,"usage":{"prompt_tokens":9,"completion_tokens":%d,"completion_tokens_details":{"reasoning_tokens":%d}}`, all, reasoned)
		}
		return asked{`{"model":"r","messages":[{"role":"user","content":"why?"}]}`,
			`{"id":"c","object":"chat.completion","model":"r","choices":[{"index":0,"finish_reason":"` + finish + `","message":` + m + `}}]` + usage + `}`, 200}
	}
	call := `{"id":"call_1","type":"function","function":{"name":"ls","arguments":"{\"dir\":\"src\"}"}}`
	gemini := func(finish, parts string, thoughts, candidates int) asked {
		return asked{`{"contents":[{"role":"user","parts":[{"text":"why?"}]}]}`, fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[%s]},"finishReason":%q,"index":0}],`+
			`"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":%d,"thoughtsTokenCount":%d,"totalTokenCount":%d},"modelVersion":"m","responseId":"r"}`, parts, finish, candidates, thoughts, 9+candidates+thoughts), 200}
	}
	responses := func(status, reason, output string, reasoned, all int) asked {
		details := ""
		if reason != "" {
			details = `,"incomplete_details":{"reason":"` + reason + `"}`
		}
		return asked{`{"model":"m","input":"why?"}`, fmt.Sprintf(`{"object":"response","id":"resp_1","model":"m","output":[%s],"status":%q%s,"usage":{"input_tokens":9,"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":%d}}}`,
			output, status, details, all, reasoned), 200}
	}
	item := `{"type":"reasoning","id":"rs_1","summary":[]}`
	message := func(s string) string {
		return `{"type":"message","id":"msg_1","role":"assistant","status":"incomplete","content":[{"type":"output_text","text":` + quote(s) + `}]}`
	}
	const chatURL, geminiURL, responsesURL = "https://llm.example/v1/chat/completions", "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent", "https://api.openai.com/v1/responses"
	thought, part := `{"text":`+quote(long)+`,"thought":true}`, func(s string) string { return `{"text":` + quote(s) + `}` }
	counts := map[bool]int{}
	for _, test := range []struct {
		name, url string
		exchange  asked
		want      bool
	}{
		{"Anthropic, only reasoning", ownHost, anthropic("max_tokens", thinking(long)), true},
		{"Anthropic, a word", ownHost, anthropic("max_tokens", thinking(long), text(short)), true},
		{"Anthropic, an empty text", ownHost, anthropic("max_tokens", thinking(long), text("")), true},
		{"Anthropic, two blocks of reasoning", ownHost, anthropic("max_tokens", thinking(long), thinking(long)), true},
		{"Anthropic, the context is full", ownHost, anthropic("model_context_window_exceeded", thinking(long)), true},
		{"Chat, only reasoning", chatURL, chat("length", long, "", "", 0, 0), true},
		{"Chat, hidden reasoning", chatURL, chat("length", "", "", "", 500, 500), true},
		{"Chat, nearly all", chatURL, chat("length", "", "So", "", 497, 500), true},
		{"Chat, reasoning and tokens", chatURL, chat("length", long, "", "", 480, 500), true},
		{"Responses", responsesURL, responses("incomplete", "max_output_tokens", item, 4096, 4096), true},
		{"Responses, a word", responsesURL, responses("incomplete", "max_output_tokens", item+","+message(short), 4090, 4096), true},
		{"Gemini, hidden thoughts", geminiURL, gemini("MAX_TOKENS", "", 900, 0), true},
		{"Gemini, thoughts", geminiURL, gemini("MAX_TOKENS", thought, 900, 0), true},

		{"Anthropic, a full text", ownHost, anthropic("max_tokens", thinking(long), text(answer)), false},
		{"Anthropic, only text", ownHost, anthropic("max_tokens", text(answer)), false},
		{"Anthropic, no text", ownHost, anthropic("max_tokens", text("")), false},
		{"Anthropic, a call", ownHost, anthropic("max_tokens", thinking(long), portsCall), false},
		{"Anthropic, the end", ownHost, anthropic("end_turn", thinking(long)), false},
		{"Anthropic, a stop sequence", ownHost, anthropic("stop_sequence", thinking(long)), false},
		{"Anthropic, a tool", ownHost, anthropic("tool_use", thinking(long), portsCall), false},
		{"Anthropic, a refusal", ownHost, anthropic("refusal", thinking(long)), false},
		{"Anthropic, a pause", ownHost, anthropic("pause_turn", thinking(long)), false},
		{"Anthropic, short reasoning", ownHost, anthropic("max_tokens", thinking("so"), text("The answer is")), false},
		{"Chat, a text", chatURL, chat("length", long, answer, "", 0, 0), false},
		{"Chat, the end", chatURL, chat("stop", long, "", "", 0, 0), false},
		{"Chat, a filter", chatURL, chat("content_filter", long, "", "", 0, 0), false},
		{"Chat, half", chatURL, chat("length", "", "So", "", 300, 500), false},
		{"Chat, no reasoning tokens", chatURL, chat("length", "", "So", "", 0, 500), false},
		{"Chat, nothing", chatURL, chat("length", "", "", "", 0, 0), false},
		{"Chat, a call", chatURL, chat("tool_calls", long, "", call, 480, 500), false},
		{"Responses, a text", responsesURL, responses("incomplete", "max_output_tokens", item+","+message(answer), 4000, 4096), false},
		{"Responses, the end", responsesURL, responses("completed", "", item, 4096, 4096), false},
		{"Responses, a filter", responsesURL, responses("incomplete", "content_filter", item, 4096, 4096), false},
		{"Responses, half", responsesURL, responses("incomplete", "max_output_tokens", item, 2000, 4096), false},
		{"Gemini, a text", geminiURL, gemini("MAX_TOKENS", thought+","+part(answer), 900, 90), false},
		{"Gemini, the end", geminiURL, gemini("STOP", thought, 900, 0), false},
		{"Gemini, safety", geminiURL, gemini("SAFETY", thought, 900, 0), false},
		{"Gemini, half", geminiURL, gemini("MAX_TOKENS", part("So"), 300, 300), false},
		{"Gemini, a call", geminiURL, gemini("MAX_TOKENS", thought+`,{"functionCall":{"name":"ls","args":{}}}`, 900, 9), false},
	} {
		counts[test.want]++
		in, _ := play(test.url, test.exchange)
		if got := severitiesOf(in, "BUDGET_TO_THINKING"); got != map[bool]string{true: "warn model"}[test.want] {
			t.Errorf("%s: %q", test.name, got)
		}
	}
	t.Log(counts)
}

// TestMadeUpSet checks that a client's sentence in place of a result is found in the history of each target, and that
// a tool's result that contains such a sentence is not reported.
func TestMadeUpSet(t *testing.T) {
	counts := map[bool]int{}
	for i := range requestForms {
		f := &requestForms[i]
		check := func(result string, want bool) {
			counts[want]++
			call := wirePart{kind: callPart, id: f.ids(0, 1), name: "cat", text: `{"file":"src/results.go"}`}
			question := wireMessage{parts: []wirePart{{text: "what is in it?"}}}
			last := f.write([]wireMessage{question, {model: true, parts: []wirePart{call}}, {parts: []wirePart{{kind: resultPart, id: call.id, name: "cat", text: result}}}})
			in, _ := play(f.own, asked{f.write([]wireMessage{question}).request("", "cat"), f.response(call), 200}, asked{last.request("", "cat"), f.response(wirePart{text: "I see."}), 200})
			if got := severitiesOf(in, "RESULT_MADE_UP"); got != map[bool]string{true: "info client"}[want] {
				t.Errorf("%s, %q: %q", f.name, result, got)
			}
		}
		for _, s := range madeUpResults {
			sentence := s.words
			if s.more {
				sentence += " synthetic error result for transcript repair."
			}
			check(sentence, true)
			for _, quoted := range []string{
				"12\t\t{\"" + sentence + "\", \"a client\"},", "src/results.go:12: " + sentence, "The tool said:\n" + sentence, `{"result":` + quote(sentence) + `}`, "> " + sentence,
				sentence + "\n" + strings.Repeat("1\tand the rest of a file\n", 12), "\"" + sentence + "\"", "- " + sentence + "\n+ done", "`" + sentence + "`", "// " + sentence,
			} {
				check(quoted, false)
			}
		}
		for _, words := range []string{
			"", "No results", "No result", "No result found for the query", "The tool execution was aborted by the user", "Tool execution aborted: disk full", "Interrupted by user",
			"The user doesn't want to proceed with this tool use. The tool use was rejected.", "Error: aborted", "[Tool result cleared]", "Permission denied", "(no output)",
		} {
			check(words, false)
		}
	}
	if counts[true] < 20 || counts[false] < 50 {
		t.Error(counts)
	}
	t.Log(counts)
}

// TestCacheBreakSet checks that the finding names the place of the first difference between two requests, to the
// byte, and both texts.
func TestCacheBreakSet(t *testing.T) {
	const before = `{"model":"claude-opus-4","max_tokens":9,"metadata":{"user_id":"{\"session_id\":\"s1\"}"},"tools":[{"name":"ls","description":"lists files","input_schema":{"type":"object","properties":{"dir":{"type":"string"}}}},` +
		`{"name":"cat","description":"shows a file","input_schema":{"type":"object"}}],"system":[{"type":"text","text":"Be brief. Today is 2026-02-03."},{"type":"text","text":"The branch is main."}],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"which files?"}]},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":{"dir":"src","all":true}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a.go\nb.go"}]},{"role":"assistant","content":"Two: ä and ö."},{"role":"user","content":"and now?"}]}`
	response := func(read int) string {
		return fmt.Sprintf(`{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-4","content":[{"type":"text","text":"ok"}],`+
			`"stop_reason":"end_turn","usage":{"input_tokens":5,"cache_read_input_tokens":%d,"cache_creation_input_tokens":4000,"output_tokens":1}}`, read)
	}
	tests := []struct{ name, old, new, path, was, is, words string }{
		{"a date", "2026-02-03", "2026-02-04", "system[0].text", "2026-02-03.", "2026-02-04.", "at byte 28 "},
		{"a branch", "is main", "is mine", "system[1].text", "main.", "mine.", "at byte 15 "},
		{"a line more", "Be brief.", "Be brief. Be kind.", "system[0].text", "Today", "Be", "at byte 10 "},
		{"a description", "lists files", "lists folders", "tools[0].description", "files", "folders", "at byte 7 "},
		{"a type", `{"type":"string"}`, `{"type":"number"}`, "tools[0].input_schema.properties.dir.type", "string", "number", "at byte 0 "},
		{"a property", `{"dir":{"type":"string"}}`, `{"dir":{"type":"string"},"all":{"type":"boolean"}}`, "tools[0].input_schema.properties.all", "", "", "was added"},
		{"a tool gone", `,{"name":"cat","description":"shows a file","input_schema":{"type":"object"}}`, "", "tools", "", "", "cat was removed"},
		{"a tool renamed", `"name":"cat"`, `"name":"head"`, "tools", "", "", "head was added"},
		{"a result", `a.go\nb.go`, `a.go\nc.go`, "messages[2].content[0].content", "b.go", "c.go", "at byte 5 "},
		{"a result cleared", `a.go\nb.go`, `[cleared]`, "messages[2].content[0].content", "a.go", "[cleared]", "at byte 0 "},
		{"an id", `"toolu_1","name"`, `"toolu_2","name"`, "messages[1].content[0].id", "toolu_1", "toolu_2", "at byte 6 "},
		{"arguments", `"all":true`, `"all":false`, "messages[1].content[0].input.all", "true", "false", "from true to false"},
		{"an argument gone", `,"all":true`, ``, "messages[1].content[0].input.all", "", "", "was removed"},
		{"a letter of two bytes", "ä and", "ü and", "messages[3].content", "ä", "ü", "at byte 5 "},
		{"a question", "which files?", "which folders?", "messages[0].content[0].text", "files?", "folders?", "at byte 7 "},
		{"a reminder more", `{"type":"text","text":"which files?"}`, `{"type":"text","text":"which files?"},{"type":"text","text":"Be careful."}`, "messages[0].content[1]", "", "", "was added"},
	}
	for _, test := range tests {
		after := strings.Replace(before, test.old, test.new, 1)
		if after == before {
			t.Fatal(test.name)
		}
		in, _ := play(ownHost, asked{before, response(0), 200}, asked{after, response(0), 200})
		found := findingsOf(in, "CACHE_BROKEN")
		if len(found) != 1 {
			t.Errorf("%s: %+v", test.name, found)
			continue
		}
		f := found[0]
		got := fmt.Sprintf("%s %v %v %v %v", f.Severity, f.By, f.Detail.Value("path"), f.Detail.Value("was"), f.Detail.Value("is"))
		if want := fmt.Sprintf("info client %s %s %s", test.path, test.was, test.is); got != want || !strings.Contains(f.Message, test.words) {
			t.Errorf("%s: %q, want %q and %q in %q", test.name, got, want, test.words, f.Message)
		}
	}
	for name, after := range map[string]string{
		"nothing": before, "white space": strings.ReplaceAll(before, `,"`, `, "`), "a cache mark": strings.Replace(before, `"text":"The branch is main."`, `"text":"The branch is main.","cache_control":{"type":"ephemeral"}`, 1),
		"the limit": strings.Replace(before, `"max_tokens":9`, `"max_tokens":99`, 1), "a question more": strings.TrimSuffix(before, "]}") + `,{"role":"assistant","content":"ok"},{"role":"user","content":"why?"}]}`,
	} {
		in, _ := play(ownHost, asked{before, response(0), 200}, asked{after, response(4000), 200})
		if found := findingsOf(in, "CACHE_BROKEN"); len(found) > 0 {
			t.Errorf("%s: %s", name, found[0].Message)
		}
	}
}

// TestFramesIgnoredSet checks that frames about tools, and many unknown frames, are reported in each protocol, and
// that pings and a single unknown frame are not.
func TestFramesIgnoredSet(t *testing.T) {
	for _, f := range thinkingForms {
		whole := func(more ...string) (frames []string) {
			frames = append(frames, f.begin...)
			frames = append(frames, f.text...)
			frames = append(frames, more...)
			return append(frames, f.end...)
		}
		for _, test := range []struct {
			name, want string
			frames     []string
		}{
			{"complete", "", whole()}, {"one unknown frame", "", whole(`{"type":"brand_new"}`)}, {"a ping", "", whole(f.ping...)}, {"pings", "", whole(f.ping[0], f.ping[0], f.ping[0], f.ping[0], f.ping[0], f.ping[0])},
			{"a tool", "warn toolscope", whole(`{"type":"tool_call_preview","name":"ls"}`)}, {"a key about a call", "warn toolscope", whole(`{"type":"brand_new","call_id":"c"}`)},
			{"another key", "warn toolscope", whole(`{"type":"brand_new","functionCall":{}}`)}, {"many", "warn toolscope", whole(slicesOf(`{"type":"brand_new"}`, 9)...)},
		} {
			in := new(Inspector)
			in.Write(stream.Record{Exchange: 1, Request: true, Data: []byte(f.request), Head: &stream.Head{Method: "POST", URL: f.url}})
			in.Write(stream.Record{Exchange: 1, Head: &stream.Head{Status: 200, Header: map[string][]string{"Content-Type": {"text/event-stream"}}}})
			for _, frame := range test.frames {
				if !strings.HasPrefix(frame, ":") {
					frame = "data: " + frame
				}
				in.Write(stream.Record{Exchange: 1, Data: []byte(frame + "\n\n")})
			}
			in.Write(stream.Record{Exchange: 1, End: true})
			if got := severitiesOf(in, "FRAMES_IGNORED"); got != test.want {
				t.Errorf("%s, %s: %q, want %q", f.url, test.name, got, test.want)
			}
		}
	}
}

// slicesOf returns n equal strings.
func slicesOf(s string, n int) (all []string) {
	for range n {
		all = append(all, s)
	}
	return all
}
