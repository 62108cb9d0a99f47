package ui

import (
	"strings"
	"testing"

	"toolscope/stream"
)

// returned returns a screen with two turns, the first of which has two calls. The request of the second turn, and a
// request without a response, send the calls back.
func returned(t *testing.T, w, h int, change ...func(*Options)) *rig {
	a := new(anthropic).open("msg_1").call("toolu_1", "first", `{"a":1}`).seal().call("toolu_2", "second", `{"b":`).seal()
	b := &anthropic{exchange: 1}
	s := newScreen(t, w, h, change...).feed(a.stop("tool_use").records...).feed(b.open("msg_2").text("done").stop("end_turn").records...)
	back := func(slot int32, exchange int, as, policies string, result stream.Code, code string) stream.Event {
		more := &stream.SentBackReport{Exchange: exchange, Policies: policies}
		if code != "" {
			more.Finding = (&stream.Diagnosis{Code: code, Severity: stream.Error}).Finding("it is gone")
		}
		return stream.Event{Kind: stream.SentBack, Turn: 0, Slot: slot, Frame: 3, At: 900e6, Text: as, Code: result, What: more}
	}
	s.in.Timeline.Append(
		back(1, 1, "intact", "", stream.ResultOK, ""),
		back(2, 1, "emptied", "empty,preserve", stream.ResultFailed, "ARGS_REPLACED_BY_EMPTY"),
		back(2, 7, "dropped", "drop", 0, ""),
	)
	return s.feed(ping).end()
}

// TestSentBack checks that the outcome of a call in later requests is shown with the call, and with its turn.
func TestSentBack(t *testing.T) {
	s := returned(t, 290, 45).press("gj")
	s.shows("sent back emptied, then dropped", "returned an error", "WHEN IT WAS SENT BACK")
	s.press("3z").shows(
		"∅ emptied  in the request of turn 2, as policies empty, preserve do; its result is an error",
		"∅ dropped  in request 7 (without a response), as policy drop does; without a result",
		"request of turn 2 ",
	).press("zk")
	s.press("1k").shows("sent back intact", "= intact  in the request of turn 2; with its result").press("h2")
	s.shows("sent back    in the request of turn 2").hides("WHEN IT WAS SENT BACK")
}

// TestSentBackInWire checks that the event from a later request is not a frame of the response.
func TestSentBackInWire(t *testing.T) {
	s := returned(t, 140, 40).press("gj4zG")
	row := s.row("sent back")
	if strings.Contains(row, "#") || !strings.Contains(row, "∅ dropped in request 7") || strings.Contains(row, "call 2") {
		t.Errorf("%q", row)
	}
	s.press("<enter>").shows("── no frame here: see request 7 (without a response)").hides("record", "content_block")
	s.press("k").shows("── no frame here: see the request of turn 2").press("k").shows("record")
	s.press("<enter>1k").hides("emptied in").press("h4G").shows("call 1 = intact", "call 2 ∅ emptied", "call 2 ∅ dropped")
	if rows := s.press("/emptied<enter>").search.hits; len(rows) != 1 {
		t.Errorf("found in rows %v", rows)
	}
}

// row returns the last row of the frame that contains the text.
func (s *rig) row(text string) (found string) {
	for _, row := range s.rows() {
		if strings.Contains(row, text) {
			found = row
		}
	}
	return found
}

// TestSentBackOpens checks that o shows how a request sent back the selected call, or the turn's first call that was
// sent back. Closing the view goes back.
func TestSentBackOpens(t *testing.T) {
	for _, c := range []struct{ keys, says string }{
		{"go", "Sent back  first  turn 1 → request of turn 2"},
		{"gjo", "Sent back  second  turn 1 → request of turn 2, 1 of 2"},
		{"gjo<tab>", "Sent back  second  turn 1 → request 7 (without a response), 2 of 2"},
		{"gjo", "the request can't be read"},
		{"gho", "Sent back  first"},
		{"gh2o", "Sent back  first"},
		{"Go", "no captured request sent the call back"},
	} {
		before := returned(t, 120, 40).press(c.keys[:strings.Index(c.keys, "o")])
		where := before.where()
		s := returned(t, 120, 40).press(c.keys).shows(c.says)
		if strings.HasPrefix(c.says, "Sent back") {
			s.press("<esc>").hides(c.says)
		}
		if s.where() != where {
			t.Errorf("%s: %s, was %s", c.keys, s.where(), where)
		}
	}
	newScreen(t, 80, 24).press("o").shows("no captured request")
}

// TestSentBackShows checks that the view shows what the model wrote, what the request carried and where, the clients
// that send calls back in this way, and the provider's response.
func TestSentBackShows(t *testing.T) {
	s := newScreen(t, 90, 24).feed(demo(t, "history")...).press("gjjjo")
	s.shows("Sent back  write_file  turn 3 → request of turn 4", "≠ double-encoded ━━", "cause  the client  as double-encode; accepted (seen, HTTP 200)")
	s.shows("── the model wrote  57 B", "─── the request carried  71 B, body byte 939", `│≠ "{\"path\":`, "≠ The client encoded the arguments again")
	s.press("<enter>").shows("the full request, 1,754 B", `"id": "call_demo_h4"`).press("<esc>").shows("the request carried")
	s.press("<esc>ko").shows("∅ emptied", "│≠ {}", "≠ {\"path\"", "∅ {} was sent, not the 55 bytes that the model wrote")
	s.press("<esc>jjo").shows("≠ reformatted ━━", `≠   "budget": 9007199254740993`, `≠   "budget": 9007199254740992`)

	s = newScreen(t, 60, 24).feed(demo(t, "history")...).press("gjjjo") // one below the other
	s.shows("── the model wrote  57 B ─", "── the request carried  71 B, body byte 939 ─").hides("B ─ the request")
}

// TestSentBackTaken checks that the selected side is copied, and that the full request is copied completely.
func TestSentBackTaken(t *testing.T) {
	var copied []byte
	s := newScreen(t, 90, 24, func(o *Options) {
		o.Copy = func(b []byte) (string, error) { copied = b; return "a wire", nil }
	}).feed(demo(t, "history")...).press("gjjo")
	for keys, want := range map[string]string{"hy": `{"path":"cmd/main.go","content":"fmt.Println("hello")"}`, "ly": "{}"} {
		if s.press(keys).settle(); string(copied) != want {
			t.Errorf("%s copies %s", keys, copied)
		}
	}
	if s.press("<enter>y").settle(); !strings.HasPrefix(string(copied), `{"model"`) {
		t.Errorf("copied %.40s", copied)
	}
}

// TestReturnOfFinding checks that a finding about a request leads to that request's turn.
func TestReturnOfFinding(t *testing.T) {
	s := returned(t, 120, 40).press("gj3")
	for s.findings.Request() == nil {
		s.press("j")
	}
	if s.press("<enter>"); s.where() != "list: turn 2" {
		t.Error(s.where())
	}
	s = returned(t, 120, 40).press("gj3")
	for r := s.findings.Request(); r == nil || r.Exchange != 7; r = s.findings.Request() {
		s.press("j")
	}
	if s.press("<enter>").shows("request 7 (without a response)"); s.focus != s.findings {
		t.Error(s.where())
	}
}

// TestSentBackFinding checks that a finding from a later request leads to the event from that request, not to
// a frame.
func TestSentBackFinding(t *testing.T) {
	s := returned(t, 120, 40).press("gj3")
	for f, _ := s.findings.Chosen(); f.Code != "ARGS_REPLACED_BY_EMPTY"; f, _ = s.findings.Chosen() {
		s.press("j")
	}
	if s.press("<enter>").shows("no frame here"); s.focus != s.wire {
		t.Error(s.where())
	}
}

// TestSentBackFrames checks the frames at every size and without Unicode.
func TestSentBackFrames(t *testing.T) {
	for _, size := range sizes {
		for _, change := range [][]func(*Options){nil, {ascii, colourless}} {
			s := returned(t, size[0], size[1], change...)
			for _, keys := range []string{"gjj", "4", "jjjjjjj", "G", "3G", "<enter>", "1g2", "o", "<tab>", "<enter>", "<esc>1gjp"} {
				checkFrame(t, s.press(keys))
			}
			s = newScreen(t, size[0], size[1], change...).feed(demo(t, "history")...)
			for _, keys := range []string{"gjo", "<esc>jjo", "n", "N", "h", "G", "<enter>", "<esc>", "<esc>jjo", "j", "l", "<enter>", "G", "<esc><esc>jo"} {
				checkFrame(t, s.press(keys))
			}
		}
	}
}
