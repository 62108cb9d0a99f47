package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// refusedSession returns a conversation in which the client drops a call and keeps its result. The provider
// refuses the third request, and the client sends it again.
func refusedSession(testing.TB) (records []stream.Record) {
	call := `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_01Lost","name":"read_log","input":{"lines":20}}]}`
	result := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01Lost","content":"20 lines"}]}`
	user := func(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }
	answer := func(block, finish string) string {
		return `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[` + block + `],"stop_reason":"` + finish + `","usage":{"input_tokens":10,"output_tokens":20}}`
	}
	refused := "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_01Lost\"}}"
	broken := user("why does it fail?") + "," + result + "," + user("go on")
	for i, x := range []struct {
		messages, answer string
		status           int
	}{
		{user("why does it fail?"), answer(`{"type":"tool_use","id":"toolu_01Lost","name":"read_log","input":{"lines":20}}`, "tool_use"), 200},
		{user("why does it fail?") + "," + call + "," + result, answer(`{"type":"text","text":"A test is red."}`, "end_turn"), 200},
		{broken, refused, 400}, {broken, refused, 400},
	} {
		put := func(r stream.Record) {
			r.Exchange, r.At = i+1, time.Duration(len(records))*100*time.Millisecond
			records = append(records, r)
		}
		put(stream.Record{Request: true, Head: &stream.Head{Method: "POST", URL: "https://api.anthropic.com/v1/messages", Header: map[string][]string{"User-Agent": {"claude-cli/2.1.330 (external, cli)"}, "X-Claude-Code-Session-Id": {"s1"}}}})
		put(stream.Record{Request: true, Data: []byte(`{"model":"claude-sonnet-4-5","messages":[` + x.messages + `],"tools":[{"name":"read_log","input_schema":{"type":"object"}}]}`)})
		put(stream.Record{Head: &stream.Head{Status: x.status, Header: map[string][]string{"Content-Type": {"application/json"}}}})
		put(stream.Record{Data: []byte(x.answer)})
		put(stream.Record{End: true})
	}
	return records
}

// TestRefusal checks that a refused turn shows the provider's words, the place in the request, and the origin
// of the block. The callout names the client, and the first request with the defect.
func TestRefusal(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {140, 40}, {250, 60}} {
		s := newScreen(t, size[0], size[1], func(o *Options) { o.Static = true }).feed(refusedSession(t)...).end().press("!2")
		s.shows("The provider refused messages[1].content[0]: tool_result", "request refused  turn 3 · POST /v1/messages", "⊖ refused 400", "cause  your client", "since  From turn 3 on, the call or its result is missing.",
			"1 the provider's message", "unexpected `tool_use_id`", "2 place in the request", "messages[1].content[0], byte ", "!! 1   user      tool_result toolu_01Lost")
		s.press("z").shows("3 origin", "turn 1     !! read_log", "turn 2     request: the call and its result are there",
			"turn 3     request: only the result is there")
		checkFrame(t, s)
	}
	s := newScreen(t, 40, 10).feed(refusedSession(t)...).end().press("G")
	checkFrame(t, s)
}

// TestRefusalIsInert checks that no text from a refusal or a request reaches the terminal unchanged.
func TestRefusalIsInert(t *testing.T) {
	records := refusedSession(t)
	for i := range records {
		text := strings.ReplaceAll(string(records[i].Data), "toolu_01Lost", `toolu_01Lost\u001b]0;owned\u0007`)
		records[i].Data = []byte(strings.ReplaceAll(text, "read_log", `read\u001b[31m`))
	}
	s := newScreen(t, 140, 40, colourless).feed(records...).end().press("!")
	if frame := s.View(); strings.Contains(frame, "\x1b]") || strings.Contains(frame, "\x1b[31m") {
		t.Errorf("%q", frame)
	}
}
