package report

import (
	"encoding/json"
	"strings"
	"testing"
)

func events(data ...string) []byte {
	return []byte("data: " + strings.Join(data, "\n\ndata: ") + "\n\n")
}

// TestRepro checks that a repro replaces the contents of a stream and keeps its form.
func TestRepro(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"words of the protocol stay", `{"type":"message","role":"assistant","finish_reason":"tool_calls","index":12}`,
			`{"type":"message","role":"assistant","finish_reason":"tool_calls","index":12}`},
		{"what is no word goes, whatever it is called", `{"type":"call my boss, please"}`, `{"type":"xxxx xx xxxx, xxxxxx"}`},
		{"equal names stay equal, others others", `{"id":"toolu_Zed1","name":"ask","parent":"ask","by":"asp"}`,
			`{"id":"toolu_Aaa1","name":"aaa","parent":"aaa","by":"aab"}`},
		{"arguments lose their keys too", `{"input":{"secret":"Ann","n":[10.5,-0,true,null]}}`, `{"input":{"aaaaaa":"Aaa","b":[11.1,-0,true,null]}}`},
		{"times", `{"created":1700000000,"max":17}`, `{"created":1111111111,"max":17}`},
		{"a string that is open", `{"text":"Ann was`, `{"text":"Xxx xxx`},
		{"what is no JSON", `{"input":{"a":Ann,}`, `{"input":{"a":Xxx,}`},
		{"escapes", `{"text":"\u0041\n\"\ud83d\ude80\ud83d é日🚀\q"}`, `{"text":"\u0058\n\"\ud83d\ude00\ud83d àぁ😀\q"}`},
		{"a call in the text", `{"text":"Ann <tool_call>x"}`, `{"text":"Xxx <tool_call>x"}`},
		{"a page in place of JSON", `<html>Bad Gateway</html>`, `<xxxx>Xxx Xxxxxxx</xxxx>`},
		{"the end", `[DONE]`, `[DONE]`},
	} {
		b := Body{Bytes: events(c.in), Events: true}
		b.Ends = []int{len(b.Bytes)}
		if got := string(b.Repro()); got != string(events(c.want)) {
			t.Errorf("%s: got %q", c.name, got)
		}
	}
}

// TestReproPieces checks that the placeholders of deltas, joined together, equal the placeholder of the complete text.
func TestReproPieces(t *testing.T) {
	const args = `{"city":"Oslo","cit":"Os`
	chunk := func(piece string) string {
		lit, _ := json.Marshal(piece)
		return `{"partial_json":` + string(lit) + `}`
	}
	b := Body{Events: true, Calls: []Args{{Text: []byte(args)}}}
	start := 0
	for i, end := range []int{1, 4, 11, 12, len(args)} {
		b.Bytes = append(b.Bytes, events(chunk(args[start:end]))...)
		b.Ends = append(b.Ends, len(b.Bytes))
		b.Calls[0].Deltas = append(b.Calls[0].Deltas, Delta{start, end, i})
		start = end
	}
	var whole strings.Builder
	for _, line := range strings.Split(string(b.Repro()), "\n\n") {
		var chunk struct {
			Piece string `json:"partial_json"`
		}
		if line != "" && json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &chunk) != nil {
			t.Fatalf("%q", line)
		}
		whole.WriteString(chunk.Piece)
	}
	if got := whole.String(); got != `{"aaaa":"Aaaa","aaa":"Aa` {
		t.Errorf("got %s", got)
	}
}

func FuzzRepro(f *testing.F) {
	f.Add([]byte("data: {\"a\":\"\\ud83d\\u00\n\n: x\r\rdata:[1,\"\\"), true)
	f.Add([]byte(`[{"bytes":"eyJhIjoxfQ=="},{"jsonPath":"$.a[0]"}]`), false)
	f.Fuzz(func(t *testing.T, body []byte, isEvents bool) {
		b := Body{Bytes: body, Events: isEvents, Calls: []Args{{Text: body, Deltas: []Delta{{0, len(body), 0}}}}}
		if got := b.Repro(); len(got) != len(body) {
			t.Errorf("%d bytes became %d", len(body), len(got))
		}
	})
}
