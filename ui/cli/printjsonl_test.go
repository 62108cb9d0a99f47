package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
)

// TestWaitingLines checks that a line is written when the state changes, repeatedly while the response is stalled,
// and once at the end.
func TestWaitingLines(t *testing.T) {
	var out bytes.Buffer
	in, began := new(providers.Inspector), time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	w := &waitingLines{to: &jsonPrinter{lineWriter: lineWriter{to: &out}, prices: price.Embedded()}, file: "proxy", last: map[int]waitingLine{}}
	receive := func(seconds int, r stream.Record) {
		r.Exchange, r.At = 1, time.Duration(seconds)*time.Second
		in.Write(r)
	}
	look := func(seconds int, want string) {
		t.Helper()
		out.Reset()
		w.writeDue(in, began.Add(time.Duration(seconds)*time.Second))
		_ = w.to.flush()
		if got := strings.TrimSpace(out.String()); got != want {
			t.Errorf("at %d s:\n%s, not\n%s", seconds, got, want)
		}
	}
	head := &stream.Head{Method: "POST", URL: "https://api.anthropic.com/v1/messages", Start: began}
	receive(0, stream.Record{Request: true, Head: head, Data: []byte(`{"model":"m","messages":[{"role":"user","content":"go"}]}`)})
	look(1, `{"type":"waiting","file":"proxy","exchange":1,"on":"provider","state":"thinking","since_ms":1000}`)
	look(60, "")
	sse := &stream.Head{Status: 200, Header: map[string][]string{"Content-Type": {"text/event-stream"}}}
	receive(61, stream.Record{Head: sse, Data: []byte("data: " + `{"type":"message_start","message":{"id":"msg_1","role":"assistant","model":"m","content":[],"usage":{}}}` +
		"\n\ndata: " + `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_n","name":"ls","input":{}}}` +
		"\n\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"dir\":"}}` + "\n\n")})
	about := `{"type":"waiting","file":"proxy","exchange":1,"turn":1,"call":1,"session":"conversation-1","agent":"main","on":"provider",`
	look(62, about+`"state":"arguments","since_ms":1000}`)
	look(63, "")
	look(66, about+`"state":"silent","since_ms":5000}`)
	look(90, "")
	look(92, about+`"state":"silent","since_ms":31000,"stalled":true}`)
	look(93, "")
	look(122, about+`"state":"silent","since_ms":61000,"stalled":true}`)
	receive(123, stream.Record{End: true})
	look(124, `{"type":"waiting","file":"proxy","exchange":1,"turn":1,"session":"conversation-1","agent":"main","on":"client","state":"client"}`)
	look(125, "")
}

// TestPrintJQ checks that --jq runs on each call's arguments or, with --format jsonl, on each line. Text that is not
// JSON must cause only a note. A failing expression must make the run fail.
func TestPrintJQ(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args      []string
		out, says string
		code      int
	}{
		{[]string{"--jq", ".city"}, "\"Oslo\"\n", "", 0},
		{[]string{"--jq", ".city, 1"}, "\"Oslo\"\n1\n", "", 0},
		{[]string{"--format", "jsonl", "--jq", "[.type, .call, .status]"}, "[\"call\",1,\"complete\"]\n[\"turn\",null,null]\n", "", 0},
		{[]string{"--jq", ".city[]"}, "", "turn 1 call 1: cannot iterate over: string", 1},
		{[]string{"--jq", ".city ["}, "", "--jq .city [: at byte 8: unexpected EOF", 2},
		{[]string{"--jq", "\"\u202e\""}, "\"\\u202e\"\n", "", 0},
	} {
		out := command(t, []byte(anthropicAnswer), append(append([]string{"print"}, c.args...), "-")...)
		if out.stdout != c.out || out.code != c.code || !strings.Contains(out.stderr, c.says) || c.says == "" && out.stderr != "" {
			t.Errorf("%q: %+v", c.args, out)
		}
	}
	cut := strings.Replace(anthropicAnswer, `\"}"`, `"`, 1)
	if out := command(t, []byte(cut), "print", "--jq", ".", "-"); out.code != 0 || !strings.Contains(out.stderr, "not JSON: the text ends too early") {
		t.Errorf("%+v", out)
	}
}
