package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// talk writes a capture with chats and returns its path. Each chat has the user's text, the host, the model,
// and the arguments of its one call, or "" for no call.
func talk(t *testing.T, name string, chats ...[4]string) string {
	lines := []string{`{"toolscope":1}`}
	for i, c := range chats {
		ask := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":%q}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"days":{"type":"integer"}}}}}]}`, c[2], c[0])
		answer := chat(fmt.Sprintf(`{"id":"c","object":"chat.completion.chunk","model":%q,"choices":[{"index":0,"delta":{"content":"x"}}]}`, c[2]), finishChunk, "[DONE]")
		if c[3] != "" {
			answer = chat(toolChunk(c[3]), finishChunk, "[DONE]")
		}
		lines = append(lines,
			fmt.Sprintf(`{"x":%d,"side":"request","head":{"method":"POST","url":"https://%s/v1/chat/completions"},"d":%s,"end":"eof"}`, i+1, c[1], quoted(ask)),
			fmt.Sprintf(`{"x":%d,"head":{"status":200,"header":{"Content-Type":["text/event-stream"]}},"d":%s,"end":"eof"}`, i+1, quoted(string(answer))))
	}
	return saved(t, name, strings.Join(lines, "\n")+"\n")
}

// TestDiffCodes checks that the exit codes have the same meanings as diff's, and that differences are
// printed.
func TestDiffCodes(t *testing.T) {
	lima := [4]string{"Lima?", "one.example", "m", `{"city":"Lima","days":5}`}
	same := lima
	same[3] = `{"days": 5.0, "city": "Lima"}`
	other := lima
	other[3] = `{"city":"Lima","days":"5"}`
	oslo := [4]string{"Oslo?", "one.example", "m", `{"city":"Oslo","days":5}`}
	words := [4]string{"Rome?", "one.example", "m", ""}
	a := talk(t, "a.tsc", lima, oslo)
	for _, c := range []struct {
		code int
		says string // text on standard output, or else on standard error
		args []string
	}{
		{0, "Both agree.", []string{a, a}},
		{0, "≈  5.0", []string{talk(t, "l.tsc", lima), talk(t, "s.tsc", same)}},
		{1, "1 field differs, 1 breaks the schema: o.tsc wrote .days as a string.", []string{talk(t, "l.tsc", lima), talk(t, "o.tsc", other)}},
		{1, "≠  \"5\"  ! want integer", []string{a, talk(t, "o.tsc", oslo, other)}}, // matched by request
		{1, "turn 1  m · 0 calls\n  not compared", []string{a, talk(t, "w.tsc", words, lima, oslo)}},
		{1, "wrote .city as \"Oslo\"", []string{talk(t, "l.tsc", lima), talk(t, "p.tsc", oslo)}}, // single turns match
		{0, "All 3 agree.", []string{a, a, a}},
		{0, "Both agree.", []string{a, a, "--turn", "2"}},
		{2, "--turn 3: ", []string{a, a, "--turn", "3"}},
		{2, "--turn 0", []string{a, a, "--turn", "0"}},
		{2, "needs two or more FILEs", []string{a}},
		{2, "one of text, jsonl", []string{a, a, "--format", "xml"}},
		{2, "missing", []string{a, filepath.Join(t.TempDir(), "missing")}},
		{2, "nothing recognised", []string{a, saved(t, "none.txt", "no stream of a model\n")}},
	} {
		got := command(t, nil, append([]string{"diff"}, c.args...)...)
		if got.code != c.code || !strings.Contains(got.stdout+got.stderr, c.says) {
			t.Errorf("%q: exit %d, want %d and %q\n%s%s", c.args, got.code, c.code, c.says, got.stdout, got.stderr)
		}
	}
}

// TestDiffJSON checks the objects for matching turns and for a turn without a match.
func TestDiffJSON(t *testing.T) {
	a := talk(t, "a.tsc", [4]string{"Lima?", "one.example", "m", `{"city":"Lima","days":5}`}, [4]string{"Oslo?", "one.example", "m", `{}`})
	b := talk(t, "b.tsc", [4]string{"Lima?", "two.example", "vendor/m", `{"city":"Lima","days":"5","x":[1]}`}, [4]string{"Rome?", "one.example", "m", ""})
	got := command(t, nil, "diff", "--format", "json", a, b)
	var lines []map[string]any
	for line := range strings.Lines(got.stdout) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err, line)
		}
		lines = append(lines, o)
	}
	if got.code != 1 || len(lines) != 3 || lines[0]["type"] != "diff" || lines[1]["type"] != "alone" || lines[2]["type"] != "alone" {
		t.Fatalf("exit %d: %s", got.code, got.stdout)
	}
	for _, want := range []string{
		`"equal":false`, `"differs":{"calls":0,"states":0,"types":1,"absent":1,"values":0,"break_schema":1}`,
		`{"path":"/city","is":["own","same"],"values":["Lima",null]}`,
		`{"path":"/days","is":["own","differs"],"values":[5,"5"],"findings":[[],["SCHEMA_WRONG_TYPE"]]}`,
		`{"path":"/x","is":["absent","differs"],"values":[null,[1]]}`, `"other_way":{"host":"two.example","same_request":true`,
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("no %s in\n%s", want, got.stdout)
		}
	}
}
