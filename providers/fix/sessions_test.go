package fix_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/providers/fix"
	"toolscope/providers/requestrules"
)

// codexLine returns an entry of a Codex session that contains an item.
func codexLine(item string) string {
	return `{"timestamp":"2026-11-22T23:45:36.493Z","type":"response_item","payload":` + item + `}` + "\n"
}

// These are items of a Codex session.
var (
	codexAsk      = codexLine(`{"type":"message","role":"user","content":[{"type":"input_text","text":"list"}]}`)
	codexCall     = codexLine(`{"type":"function_call","id":"fc_1","call_id":"call_k1","name":"ls","arguments":"{}"}`)
	codexResult   = codexLine(`{"type":"function_call_output","call_id":"call_k1","output":"a"}`)
	codexOther    = codexLine(`{"type":"function_call_output","call_id":"call_k1","output":"b"}`)
	codexReason   = codexLine(`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"Zm9v"}`)
	codexNote     = `{"timestamp":"2026-11-22T23:45:36.672Z","type":"event_msg","payload":{"type":"token_count","info":null}}` + "\n"
	codexSnapshot = codexLine(`{"type":"ghost_snapshot","ghost_commit":{}}`)
)

// claudeEntry returns an entry of a Claude Code session.
func claudeEntry(uuid, parent, kind, message string) string {
	parent = strings.ReplaceAll(`"`+parent+`"`, `""`, "null")
	return `{"parentUuid":` + parent + `,"isSidechain":false,"type":"` + kind + `","message":` + message + `,"uuid":"` + uuid + `","sessionId":"s1"}` + "\n"
}

func claudeSays(uuid, parent, id, block string) string {
	return claudeEntry(uuid, parent, "assistant", `{"id":"`+id+`","type":"message","role":"assistant","model":"m","content":[`+block+`]}`)
}

func claudeResult(uuid, parent, id string) string {
	return claudeEntry(uuid, parent, "user", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"`+id+`","content":"a"}]}`)
}

func claudeUse(id, input string) string {
	return `{"type":"tool_use","id":"` + id + `","name":"Bash","input":` + input + `}`
}

// TestSessions checks the corrections of session files. The old and the new text of each change are separated by
// " -> ".
func TestSessions(t *testing.T) {
	ask := claudeEntry("u1", "", "user", `{"role":"user","content":"list"}`)
	codex := func(lines ...string) string { return strings.Join(lines, "") }
	for _, test := range []struct {
		name, text string
		form       *fix.Form
		faults     string // rules, with an asterisk if the client corrects the fault
		want       []string
	}{
		{"a legal session", codex(codexAsk, codexCall, codexNote, codexResult), fix.Codex, "", nil},
		{"an open call at the end", codex(codexAsk, codexCall), fix.Codex, "", nil},
		{"a call without a result", codex(codexAsk, codexCall, codexAsk), fix.Codex, "call-answered*", nil},
		{"a result without a call", codex(codexAsk, codexResult, codexNote), fix.Codex, "result-has-call*", nil},
		{"a result before its call", codex(codexAsk, codexResult, codexNote, codexCall, codexNote), fix.Codex,
			"result-has-call", []string{codexResult + " -> ", " -> " + codexResult}},
		{"a result before its call, which has no line end", codex(codexAsk, codexResult, strings.TrimSpace(codexCall)), fix.Codex,
			"result-has-call", []string{codexResult + " -> ", " -> \n" + strings.TrimSpace(codexResult)}},
		{"two results", codex(codexAsk, codexCall, codexResult, codexNote, codexOther), fix.Codex, "result-once", []string{codexOther + " -> "}},
		{"a long id", codex(codexAsk, strings.ReplaceAll(codexCall+codexResult, "call_k1", strings.Repeat("k", 65))), fix.Codex, "id-legal",
			[]string{`"` + strings.Repeat("k", 65) + `" -> "` + strings.Repeat("k", 64) + `"`, `"` + strings.Repeat("k", 65) + `" -> "` + strings.Repeat("k", 64) + `"`}},
		{"an illegal name", codex(codexAsk, strings.ReplaceAll(codexCall, `"ls"`, `"l s"`), codexResult), fix.Codex, "name-legal", []string{`"l s" -> "l_s"`}},
		{"reasoning alone", codex(codexAsk, codexReason, codexAsk), fix.Codex, "reasoning-alone", []string{codexReason + " -> "}},
		{"an item that is not sent", codex(codexAsk, codexReason, codexSnapshot, codexCall, codexResult), fix.Codex, "", nil},
		{"a compacted history", codex(codexResult, `{"timestamp":"2026-11-22T23:45:36.672Z","type":"compacted","payload":{"message":"","replacement_history":[{"type":"reasoning","id":"rs_9","summary":[]},{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}]}}`+"\n"), fix.Codex,
			"reasoning-alone", []string{`{"type":"reasoning","id":"rs_9","summary":[]}, -> `}},

		{"an error message of the client", ask + strings.Replace(claudeSays("a1", "u1", "m1", `{"type":"text","text":""}`), `"isSidechain":false`, `"isSidechain":false,"isApiErrorMessage":true`, 1) +
			claudeEntry("u2", "a1", "user", `{"role":"user","content":"again"}`), fix.ClaudeCode, "", nil},
		{"a second result off the path, after a result", ask + claudeSays("a1", "u1", "m1", claudeUse("t1", "{}")) + claudeResult("r1", "a1", "t1") +
			strings.Replace(claudeResult("r2", "r1", "t1"), `"a"`, `"b"`, 1) + claudeSays("a2", "r1", "m2", `{"type":"text","text":"ok"}`), fix.ClaudeCode, "", nil},
		{"parallel blocks off the path", ask + claudeSays("a1", "u1", "m1", claudeUse("t1", "{}")) + claudeSays("a2", "a1", "m1", claudeUse("t2", "{}")) +
			claudeResult("r1", "a1", "t1") + claudeResult("r2", "a2", "t2") + claudeSays("a3", "r2", "m2", `{"type":"text","text":"ok"}`), fix.ClaudeCode, "", nil},
		{"a branch that was left", ask + claudeSays("a1", "u1", "m1", claudeUse("t 1", "{}")) + claudeEntry("u2", "u1", "user", `{"role":"user","content":"again"}`), fix.ClaudeCode, "", nil},
		{"before a compaction", ask + claudeSays("a1", "u1", "m1", claudeUse("t 1", "{}")) + `{"parentUuid":null,"logicalParentUuid":"a1","type":"system","subtype":"compact_boundary","uuid":"c1","sessionId":"s1"}` + "\n" +
			claudeEntry("u2", "c1", "user", `{"role":"user","content":"again"}`), fix.ClaudeCode, "", nil},
		{"an illegal id", ask + claudeSays("a1", "u1", "m1", claudeUse("t.1", "{}")) + claudeResult("r1", "a1", "t.1"), fix.ClaudeCode, "id-legal",
			[]string{`"t.1" -> "t_1"`, `"t.1" -> "t_1"`}},
		{"arguments in a string", ask + claudeSays("a1", "u1", "m1", claudeUse("t1", `"{\"command\":\"ls\"}"`)) + claudeResult("r1", "a1", "t1"), fix.ClaudeCode, "arguments-object",
			[]string{`"{\"command\":\"ls\"}" -> {"command":"ls"}`}},
		{"arguments that are null", ask + claudeSays("a1", "u1", "m1", claudeUse("t1", `null`)) + claudeResult("r1", "a1", "t1"), fix.ClaudeCode, "arguments-object", []string{`null -> {}`}},
		{"an empty text", ask + claudeSays("a1", "u1", "m1", `{"type":"text","text":""}`), fix.ClaudeCode, "content-empty", []string{`"" -> "(no content)"`}},
		{"a call without a result in Claude Code", ask + claudeSays("a1", "u1", "m1", claudeUse("t1", "{}")) + claudeEntry("u2", "a1", "user", `{"role":"user","content":"again"}`), fix.ClaudeCode, "call-answered*", nil},
	} {
		target := "openai-responses"
		if test.form == fix.ClaudeCode {
			target = "anthropic"
		}
		_, read := readerOf(t, target)
		r := correct(t, []byte(test.text), test.form, read)
		var faults, got []string
		for _, f := range r.Faults {
			mark := ""
			if f.Client != "" {
				mark = "*"
			}
			faults = append(faults, f.Rule+mark)
		}
		for _, c := range r.Changes {
			got = append(got, test.text[c.Start:c.End]+" -> "+string(c.Text))
		}
		if strings.Join(faults, " ") != test.faults || strings.Join(got, "|") != strings.Join(test.want, "|") || len(r.Left) > 0 {
			t.Errorf("%s: faults %q, want %q; left %v; changes\n%s\nwant\n%s", test.name, faults, test.faults, r.Left, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
	}
}

// TestNotes checks the facts about a session file that no correction changes.
func TestNotes(t *testing.T) {
	_, read := readerOf(t, "anthropic")
	text := claudeEntry("u1", "", "user", `{"role":"user","content":"list"}`) + "{damaged\nnot JSON\n" + claudeEntry("u2", "gone", "user", `{"role":"user","content":"again"}`)
	r := correct(t, []byte(text), fix.ClaudeCode, read)
	if r.Damaged != 2 || r.FirstDamaged != 2 || r.Torn != 4 || r.Items != 1 {
		t.Errorf("%+v, %d messages", r.Notes, r.Items)
	}
}

// TestBodies checks corrections of request bodies in forms that the generated histories don't have.
func TestBodies(t *testing.T) {
	const (
		use        = `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]}`
		toolResult = `{"type":"tool_result","tool_use_id":"t1","content":"x"}`
		textB      = `{"type":"text","text":"b"}`
		textC      = `{"type":"text","text":"c"}`
	)
	for _, test := range []struct{ name, target, text, want string }{
		{"the next message is a string", "anthropic", `{"messages":[{"role":"user","content":"a"},` + use + `,{"role":"user","content":"and \u00e9?"}]}`,
			`{"messages":[{"role":"user","content":"a"},` + use + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"[interrupted: no result was recorded]","is_error":true},{"type":"text","text":"and \u00e9?"}]}]}`},
		{"the declared tool", "openai-chat", `{"tools":[{"type":"function","function":{"name":"l s","parameters":{"properties":{"name":{"const":"l s"}}}}}],"messages":[{"role":"user","content":"l s"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}]}`,
			`{"tools":[{"type":"function","function":{"name":"l_s","parameters":{"properties":{"name":{"const":"l s"}}}}}],"messages":[{"role":"user","content":"l s"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}]}`},
		{"white space at the end", "anthropic", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b \n"}]}`,
			`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`},
		{"five cache marks", "anthropic", `{"messages":[` + strings.Repeat(`{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]},`, 4) + `{"role":"user","content":[{"type":"text","text":"b", "cache_control" : {"type":"ephemeral"}}]}]}`,
			`{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]},` + strings.Repeat(`{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]},`, 3) + `{"role":"user","content":[{"type":"text","text":"b", "cache_control" : {"type":"ephemeral"}}]}]}`},
		{"arguments as an object", "openai-chat", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":{"dir": "a\"b"}}}]},{"role":"tool","tool_call_id":"c1","content":"x"}]}`,
			`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"dir\": \"a\\\"b\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}]}`},
		{"arguments of an item as an object", "openai-responses", `{"input":[{"role":"user","content":"a"},{"type":"function_call","call_id":"c1","name":"ls","arguments":{"dir": "a\"b"}},{"type":"function_call_output","call_id":"c1","output":"x"}]}`,
			`{"input":[{"role":"user","content":"a"},{"type":"function_call","call_id":"c1","name":"ls","arguments":"{\"dir\": \"a\\\"b\"}"},{"type":"function_call_output","call_id":"c1","output":"x"}]}`},
		{"the action of a shell", "openai-responses", `{"input":[{"role":"user","content":"a"},{"type":"local_shell_call","id":"lsh_1","call_id":"c1","status":"completed","action":{"type":"exec","command":["ls"]}},{"type":"local_shell_call_output","call_id":"c1","output":"x"}]}`, ""},
		{"an indented history", "openai-chat", "{\n  \"messages\": [\n    {\"role\":\"user\",\"content\":\"a\"},\n    {\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"x\"}\n  ]\n}\n",
			"{\n  \"messages\": [\n    {\"role\":\"user\",\"content\":\"a\"}\n  ]\n}\n"},
		{"a custom tool", "openai-responses", `{"input":[{"role":"user","content":"a"},{"type":"custom_tool_call","call_id":"c1","name":"sh","input":"ls"},{"role":"user","content":"b"}]}`,
			`{"input":[{"role":"user","content":"a"},{"type":"custom_tool_call","call_id":"c1","name":"sh","input":"ls"},{"type":"custom_tool_call_output","call_id":"c1","output":"[interrupted: no result was recorded]"},{"role":"user","content":"b"}]}`},
		{"two items with one id", "openai-responses", `{"input":[{"role":"user","content":"a"},{"type":"function_call","id":"fc_1","call_id":"c1","name":"ls","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"x"},{"type":"function_call","id":"fc_1","call_id":"c2","name":"ls","arguments":"{}"},{"type":"function_call_output","call_id":"c2","output":"x"}]}`,
			`{"input":[{"role":"user","content":"a"},{"type":"function_call","id":"fc_1","call_id":"c1","name":"ls","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"x"},{"type":"function_call","call_id":"c2","name":"ls","arguments":"{}"},{"type":"function_call_output","call_id":"c2","output":"x"}]}`},
		{"a call twice, byte for byte", "anthropic", `{"messages":[{"role":"user","content":"a"},` + use + "," + use + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}]}`,
			`{"messages":[{"role":"user","content":"a"},` + use + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}]}`},
		{"a call twice, with other arguments", "anthropic", `{"messages":[{"role":"user","content":"a"},` + use + "," + strings.Replace(use, `{}`, `{"d":1}`, 1) + `,{"role":"user","content":[` + toolResult + `]}]}`,
			`{"messages":[{"role":"user","content":"a"},` + use + "," + strings.NewReplacer(`{}`, `{"d":1}`, `"t1"`, `"t1_2"`).Replace(use) +
				`,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1_2","content":"[interrupted: no result was recorded]","is_error":true},` + toolResult + `]}]}`},
		{"two texts before a result", "anthropic", `{"messages":[{"role":"user","content":"a"},` + use + `,{"role":"user","content":[` + textB + "," + textC + "," + toolResult + `]}]}`,
			`{"messages":[{"role":"user","content":"a"},` + use + `,{"role":"user","content":[` + toolResult + "," + textB + "," + textC + `]}]}`},
		{"a result between texts", "anthropic", `{"messages":[{"role":"user","content":"a"},` + use + `,{"role":"user","content":[` + textB + "," + toolResult + "," + textC + `]}]}`,
			`{"messages":[{"role":"user","content":"a"},` + use + `,{"role":"user","content":[` + toolResult + "," + textB + "," + textC + `]}]}`},
		{"a block with only a cache mark", "anthropic", `{"messages":[{"role":"user","content":[{"cache_control":{"type":"ephemeral"}}` + strings.Repeat(`,{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}`, 4) + `]}]}`,
			`{"messages":[{"role":"user","content":[{}` + strings.Repeat(`,{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}`, 4) + `]}]}`},
		{"results without calls, with a message between them", "openai-chat", `{"messages":[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"c1","content":"x"},{"role":"assistant","content":"b"},{"role":"tool","tool_call_id":"c2","content":"y"}]}`,
			`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`},
		{"Gemini, a result before its call", "gemini", `{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"x"}}}]},{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]},{"role":"user","parts":[{"text":"b"}]}]}`,
			`{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"x"}}}]},{"role":"user","parts":[{"text":"b"}]}]}`},
		{"Gemini, calls after text", "gemini", `{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"}]},{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}},{"functionCall":{"name":"cat","args":{}}}]}]}`,
			`{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"},{"functionCall":{"name":"ls","args":{}}},{"functionCall":{"name":"cat","args":{}}}]}]}`},
		{"the provider keeps the call", "openai-responses", `{"previous_response_id":"resp_1","input":[{"type":"function_call_output","call_id":"c1","output":"x"}]}`, ""},
		{"a tool of the provider", "anthropic", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}]},{"role":"user","content":"b"}]}`, ""},
		{"Gemini without ids", "gemini", `{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}},{"functionCall":{"name":"cat","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"cat","response":{"output":"x"}}}]}]}`,
			`{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}},{"functionCall":{"name":"cat","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"error":"[interrupted: no result was recorded]"}}},{"functionResponse":{"name":"cat","response":{"output":"x"}}}]}]}`},
	} {
		if test.want == "" {
			test.want = test.text
		}
		_, read := readerOf(t, test.target)
		if r := correct(t, []byte(test.text), fix.Body, read); string(r.Text) != test.want || len(r.Left) > 0 {
			t.Errorf("%s: left %v\n got %s\nwant %s", test.name, r.Left, r.Text, test.want)
		}
		guess := func(body []byte) (*requestrules.Request, error) { return providers.ReadRequest(body, nil) }
		if r := correct(t, []byte(test.text), fix.Body, guess); string(r.Text) != test.want && test.name != "arguments as an object" { // Ollama accepts it
			t.Errorf("%s, guessed as %s:\n got %s\nwant %s", test.name, r.Target.Name, r.Text, test.want)
		}
	}
}

// TestFaults checks the line, path and message of each fault, and the line of each correction.
func TestFaults(t *testing.T) {
	for _, test := range []struct {
		name, target, text string
		form               *fix.Form
		want               []string
	}{
		{"two calls of a message", "openai-responses", `{"input":[{"role":"user","content":"a"},` + "\n" +
			`{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"},` + "\n" + `{"type":"function_call","call_id":"c2","name":"cat","arguments":"{}"},{"role":"user","content":"b"}]}`, fix.Body,
			[]string{"2 input[1]: c1 (ls)", "3 input[2]: c2 (cat)", "corrected in 3"}},
		{"a declared tool", "openai-chat", `{"messages":[{"role":"user","content":"a"}],` + "\n" + `"tools":[{"type":"function","function":{"name":"l s"}}]}`, fix.Body,
			[]string{"2 tools[0].function.name: l s", "corrected in 2"}},
		{"a second result", "openai-responses", codexAsk + codexCall + codexResult + codexNote + codexOther, fix.Codex,
			[]string{"5 payload: call_k1", "corrected in 5"}},
	} {
		_, read := readerOf(t, test.target)
		r := correct(t, []byte(test.text), test.form, read)
		var got []string
		for _, f := range r.Faults {
			_, place, _ := strings.Cut(f.Message.Text, ": ")
			got = append(got, fmt.Sprintf("%d %s: %s", f.Line, f.Path, place))
		}
		for _, c := range r.Corrections {
			got = append(got, fmt.Sprintf("corrected in %d", c.Line))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// TestUncorrectable checks that reasoning without a signature stays if the model still needs it, and that damaged
// bodies cause errors.
func TestUncorrectable(t *testing.T) {
	_, read := readerOf(t, "anthropic")
	thought := func(signature string) string {
		return `{"type":"thinking","thinking":"x"` + signature + `}`
	}
	use := `{"type":"tool_use","id":"t1","name":"ls","input":{}}`
	text := `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[` + thought(`,"signature":"QUJD"`) + `,` + thought("") + `,` + use + `]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}]}`
	if r := correct(t, []byte(text), fix.Body, read); len(r.Left) != 1 || r.Left[0].Rule != "thinking-unsigned" || len(r.Changes) > 0 {
		t.Errorf("left %v, changes %v", r.Left, r.Changes)
	}
	for text, want := range map[string]string{
		`{"messages":[{"role":"user"`: "complete JSON",
		`{"a":1}`:                     "no messages",
		``:                            "complete JSON",
	} {
		guess := func(body []byte) (*requestrules.Request, error) { return providers.ReadRequest(body, nil) }
		if _, err := fix.Correct([]byte(text), fix.Body, guess); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
