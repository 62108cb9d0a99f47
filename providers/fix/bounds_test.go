package fix_test

import (
	"strings"
	"testing"

	"toolscope/providers/fix"
)

// TestEmptyMessage checks that an empty message that can't be removed is reported.
func TestEmptyMessage(t *testing.T) {
	for _, content := range []string{`""`, `[]`, `[{"type":"text","text":""}]`} {
		_, read := readerOf(t, "anthropic")
		r := correct(t, []byte(`{"messages":[{"role":"user","content":`+content+`}]}`), fix.Body, read)
		if len(r.Faults) != len(r.Left)+len(r.Corrections) || len(r.Faults) == 0 && content == `""` {
			t.Errorf("%s: %d faults, %d corrections, left: %+v", content, len(r.Faults), len(r.Corrections), r.Left)
		}
	}
}

// TestEscapedKeys checks that only the field is removed, even if its key contains escapes, and that everything before
// the field is unchanged.
func TestEscapedKeys(t *testing.T) {
	call := func(key, id string) string {
		return `{"type":"function_call",` + key + `:"fc_1","call_id":"` + id + `","name":"t","arguments":"{}"},` +
			`{"type":"function_call_output","call_id":"` + id + `","output":"kept ` + id + `"}`
	}
	mark := func(key, text string) string {
		return `{"type":"text","text":"` + text + `",` + key + `:{"type":"ephemeral"}}`
	}
	marks := strings.Repeat(`,`+mark(`"cache_control"`, "more"), 4)
	for _, test := range []struct{ target, body, removed string }{
		{"openai-responses", `{"input":[{"role":"user","content":"a"},` + call(`"id"`, "c1") + `,` + call(`"\u0069d"`, "c2") + `]}`, `"\u0069d":"fc_1",`},
		{"openai-responses", `{"input":[{"role":"user","content":"a"},` + call(`"\u0069d"`, "c1") + `,` + call(`"i\u0064" `, "c2") + `]}`, `"i\u0064" :"fc_1",`},
		{"anthropic", `{"system":[` + mark(`"cache_control"`, "system") + `],"messages":[{"role":"user","content":[` + mark(`"cache\u005fcontrol"`, "first") +
			marks + `]}]}`, `,"cache\u005fcontrol":{"type":"ephemeral"}},{"type":"text","text":"more","cache_control":{"type":"ephemeral"}`},
	} {
		_, read := readerOf(t, test.target)
		r := correct(t, []byte(test.body), fix.Body, read)
		want := strings.Replace(test.body, test.removed, "", 1)
		if test.target == "anthropic" { // two marks are removed, and the text of their blocks stays
			want = strings.Replace(test.body, test.removed, `},{"type":"text","text":"more"`, 1)
		}
		if string(r.Text) != want || len(r.Left) > 0 {
			t.Errorf("corrected:\n%s\nwant:\n%s\nleft: %+v", r.Text, want, r.Left)
		}
	}
}

// TestRenamedTools checks that a tool is renamed everywhere in the request, and that no two tools get the same name.
func TestRenamedTools(t *testing.T) {
	call := func(id, name string) string {
		return `{"role":"assistant","tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":"{}"}}]},{"role":"tool","tool_call_id":"` + id + `","content":"ok"}`
	}
	long := strings.Repeat("a", 63)
	for _, test := range []struct{ target, body string }{
		{"openai-chat", `{"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"a.b","description":"a.b"}}],"tool_choice":{"type":"function","function":{"name":"a.b"}}}`},
		{"openai-chat", `{"messages":[{"role":"user","content":"hi"},` + call("c1", "a.b") + `],"functions":[{"name":"a.b"}],"function_call":{"name":"a.b"}}`},
		{"anthropic", `{"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"a.b","input_schema":{"properties":{"name":{"const":"x"}}}}],"tool_choice":{"type":"tool","name":"a.b"}}`},
		{"gemini", `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"tools":[{"functionDeclarations":[{"name":"a b"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["a b"]}}}`},
	} {
		_, read := readerOf(t, test.target)
		r := correct(t, []byte(test.body), fix.Body, read)
		want := strings.NewReplacer(`"name":"a.b"`, `"name":"a_b"`, `"a b"`, `"a_b"`).Replace(test.body)
		if string(r.Text) != want || len(r.Left) > 0 {
			t.Errorf("corrected:\n%s\nwant:\n%s", r.Text, want)
		}
	}
	for _, names := range [][2]string{{"a.b", "a/b"}, {"a.b", "a_b"}, {long + ".", long + "_"}} {
		_, read := readerOf(t, "openai-chat")
		r := correct(t, []byte(`{"messages":[{"role":"user","content":"hi"},`+call("c1", names[0])+`,{"role":"user","content":"on"},`+call("c2", names[1])+`]}`), fix.Body, read)
		again, err := read(r.Text)
		if err != nil || len(r.Left) > 0 || again.Messages[1].Parts[0].Name == again.Messages[4].Parts[0].Name {
			t.Errorf("%q: %v, left: %v\n%s", names, err, r.Left, r.Text)
		}
	}
}

// TestManyFaults checks that repeated ids and surplus cache marks need one correction for each fault.
func TestManyFaults(t *testing.T) {
	_, read := readerOf(t, "anthropic")
	pair := `,{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"t","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"r"}]}`
	r := correct(t, []byte(`{"messages":[{"role":"user","content":"a"}`+strings.Repeat(pair, 40)+`]}`), fix.Body, read)
	if len(r.Faults) != 39 || len(r.Corrections) != 39 || len(r.Left) > 0 {
		t.Errorf("%d faults, %d corrections, left: %v", len(r.Faults), len(r.Corrections), r.Left)
	}
	mark := `{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}`
	r = correct(t, []byte(`{"messages":[{"role":"user","content":[`+mark+strings.Repeat(","+mark, 19)+`]}]}`), fix.Body, read)
	if len(r.Corrections) != 1 || len(r.Changes) != 16 || len(r.Left) > 0 {
		t.Errorf("%d corrections, %d changes, left: %v", len(r.Corrections), len(r.Changes), r.Left)
	}
	_, read = readerOf(t, "openai-chat")
	r = correct(t, []byte(`{"messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":null,"type":"function","function":{"name":"t","arguments":"{}"}}]},{"role":"user","content":"b"}]}`), fix.Body, read)
	if len(r.Corrections) > 0 || len(r.Left) == 0 {
		t.Errorf("a result was added for a call without an id: %s", r.Text)
	}
}
