package ui

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/stream"
)

// requests returns an exchange with the given request, and a call of the tool f.
func requests(body string) []stream.Record {
	a := new(anthropic).open("msg_one")
	a.call("toolu_1", "f", `{"a":1}`).seal()
	asks := stream.Record{Request: true, Data: []byte(body), Head: &stream.Head{Method: "POST", URL: "https://api.anthropic.com/v1/messages"}}
	return append([]stream.Record{asks}, a.records...)
}

// TestRequestTab checks that a request is folded, except for its last message and the call's tool. A search finds
// folded text. If a part of the request is missing, the reason is shown.
func TestRequestTab(t *testing.T) {
	body := `{"model":"claude-x","system":[{"type":"text","text":"be kind"}],"messages":[{"role":"user","content":"first"},{"role":"assistant","content":[{"type":"text","text":"second"}]},{"role":"user","content":[{"type":"text","text":"third"}]}],` +
		`"tools":[{"name":"e","description":"does e","input_schema":{"type":"object"}},{"name":"f","description":"does f","input_schema":{"type":"object","required":["a"]}}]}`
	for _, change := range [][]func(*Options){nil, {ascii}, {colourless}} {
		s := newScreen(t, 100, 60, change...).feed(requests(body)...)
		s.press("6z").shows("POST /v1/messages", "3 messages  2 tools", `"third"`, `"does f"`, `"required": [`, `"model": "claude-x"`).
			hides("first", "second", "be kind", "does e")
		checkFrame(t, s)
		s.press("/does e<enter>").shows(`"does e"`).hides("first")
		s.press("<esc>*").shows("first", "second", "be kind")
		checkFrame(t, s.press("*").hides("first", "third", "does f").resize(40, 10))
	}
	for _, c := range []struct {
		why     string
		records []stream.Record
	}{
		{"no request: the source has only", requests("")[1:]},
		{"the request has no body", requests("")},
		{"toolscope missed bytes", append([]stream.Record{{Request: true, Lost: 9, Data: []byte("{}")}}, requests("")[1:]...)},
	} {
		newScreen(t, 100, 40).feed(c.records...).press("6").shows(c.why)
	}
	newScreen(t, 100, 40).feed(requests(`no JSON at all`)...).press("6").shows("no JSON at all")
}

// TestRequestBig checks that a large body is laid out in another goroutine, and that a note says so until it
// is ready.
func TestRequestBig(t *testing.T) {
	var messages []string
	for n := range 3000 {
		messages = append(messages, fmt.Sprintf(`{"role":"user","content":"message %d %s"}`, n, strings.Repeat("word ", 300)))
	}
	body := `{"model":"m","messages":[` + strings.Join(messages, ",") + `]}`
	s := newScreen(t, 80, 24).feed(requests(body)...)
	if s.press("6").shows("laying out"); s.cmd == nil {
		t.Fatal("nothing is done beside the screen")
	}
	s.finish().press("z").shows("3,000 messages", `"model": "m"`, "user, 2 items").hides("laid out")
	s.press("/message 2999<enter>").shows("message 2999")
	s.press("/message 17 <enter>").shows("message 17 ")
	checkFrame(t, s)
	first := s.request.Top
	if s.resize(90, 24); s.cmd == nil {
		t.Fatal("nothing is done for another width")
	}
	s.shows("message 17 ").finish() // until then, the old layout is shown
	if s.request.Top == 0 && first > 0 {
		t.Error("it is at the top again")
	}
}

// TestRequestNotes checks that hints about the settings are between the head and the body, and that keys for the body
// still reach its rows. A request without hints has no row for them.
func TestRequestNotes(t *testing.T) {
	const hint = "max_tokens is 64000, the model's maximum"
	for _, limit := range []string{"64000", "100"} {
		body := `{"model":"claude-sonnet-4-5","max_tokens":` + limit + `,"messages":[{"role":"user","content":"third"}]}`
		s := newScreen(t, 60, 40).feed(requests(body)...).press("6z").shows(`"max_tokens": `+limit, `"third"`)
		if text := strings.Join(strings.Fields(s.text()), " "); strings.Contains(text, hint) != (limit == "64000") {
			t.Errorf("%s: %s", limit, text)
		}
		checkFrame(t, s)
		s.press("/third<enter>").press("-").hides(`"third"`)
		checkFrame(t, s.resize(40, 10))
	}
}
