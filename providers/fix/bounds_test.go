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

// TestEscapedKeys checks that only the field is removed if its key is spelled with escapes, and that everything
// before it stays as it was.
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
