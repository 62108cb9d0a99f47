package ui

import (
	"strings"
	"testing"

	"toolscope/stream"
)

// returned is a screen with a turn of two calls, a turn after it, and what the request of that turn
// and one without a response made of the calls.
func returned(t *testing.T, w, h int, change ...func(*Options)) *rig {
	a := new(anthropic).open("msg_1").call("toolu_1", "first", `{"a":1}`).seal().call("toolu_2", "second", `{"b":`).seal()
	b := &anthropic{exchange: 1}
	s := newScreen(t, w, h, change...).feed(a.stop("tool_use").records...).feed(b.open("msg_2").text("done").stop("end_turn").records...)
	back := func(slot int32, exchange int, as, policies string, result stream.Code, code string) stream.Event {
		more := &stream.Resent{Exchange: exchange, Policies: policies}
		if code != "" {
			more.Finding = (&stream.Diagnosis{Code: code, Severity: stream.Error}).Finding("it is gone")
		}
		return stream.Event{Kind: stream.SentBack, Turn: 0, Slot: slot, Frame: 3, At: 900e6, Text: as, Code: result, What: more}
	}
	s.in.Timeline.Append(
		back(1, 1, "intact", "", stream.AnswerOK, ""),
		back(2, 1, "emptied", "empty,preserve", stream.AnswerFailed, "ARGS_REPLACED_BY_EMPTY"),
		back(2, 7, "dropped", "drop", 0, ""),
	)
	return s.feed(ping).end()
}

// TestSentBack: what later requests made of a call is told where the call is, and where its turn
// is.
func TestSentBack(t *testing.T) {
	s := returned(t, 250, 45).press("gjj")
	s.shows("sent back emptied, then dropped", "its answer is an error", "WHEN IT WAS SENT BACK")
	s.press("4z").shows(
		"∅ emptied  in the request of turn 2, as policies empty, preserve do; its result is an error",
		"∅ dropped  in request 7 (without a response), as policy drop does; without a result",
		"ARGS_REPLACED_BY_EMPTY  the request of turn 2",
	).press("zk")
	s.press("1k").shows("sent back intact", "= intact  in the request of turn 2; with its result").press("k2")
	s.shows("sent back    in the request of turn 2").hides("WHEN IT WAS SENT BACK")
}

// TestSentBackInWire: what a later request tells is no frame of the response.
func TestSentBackInWire(t *testing.T) {
	s := returned(t, 140, 40).press("gjj3zG")
	row := s.row("sent back")
	if strings.Contains(row, "#") || !strings.Contains(row, "∅ dropped in request 7") || strings.Contains(row, "call 2") {
		t.Errorf("%q", row)
	}
	s.press("<enter>").shows("── no frame here: request 7 (without a response) has it").hides("record", "content_block")
	s.press("k").shows("── no frame here: the request of turn 2 has it").press("k").shows("record")
	s.press("<enter>1k").hides("emptied in").press("k3G").shows("call 1 = intact", "call 2 ∅ emptied", "call 2 ∅ dropped")
	if rows := s.press("/emptied<enter>").search.hits; len(rows) != 1 {
		t.Errorf("found in rows %v", rows)
	}
}

// row is the last row of the frame that has some text.
func (s *rig) row(text string) (found string) {
	for _, row := range s.rows() {
		if strings.Contains(row, text) {
			found = row
		}
	}
	return found
}

// TestOnward goes to the turn whose request has the call.
func TestOnward(t *testing.T) {
	for _, c := range []struct{ keys, want, says string }{
		{"gjo", "list: turn 2", "turn 2: its request has it"},
		{"gjjo", "list: turn 2", "turn 2: its request has it"},
		{"go", "list: turn 2", "turn 2: its request has it"},
		{"gj2o", "list: turn 2", "turn 2: its request has it"},
		{"Go", "list: turn 2", "no request that is known sent it back"},
	} {
		s := returned(t, 120, 40).press(c.keys).shows(c.says)
		if got := strings.TrimSuffix(s.where(), ", follows"); got != c.want {
			t.Errorf("%s: %s, want %s", c.keys, got, c.want)
		}
	}
	newScreen(t, 80, 24).press("o").shows("no request that is known")

	s := returned(t, 120, 40).press("gjj4")
	for s.findings.Request() == nil {
		s.press("j")
	}
	if s.press("<enter>"); s.where() != "list: turn 2" {
		t.Error(s.where())
	}
	s = returned(t, 120, 40).press("gjj4")
	for r := s.findings.Request(); r == nil || r.Exchange != 7; r = s.findings.Request() {
		s.press("j")
	}
	if s.press("<enter>").shows("request 7 (without a response)"); s.focus != s.findings {
		t.Error(s.where())
	}
}

// TestSentBackFinding: a finding that a later request showed leads to what told it, not to a frame.
func TestSentBackFinding(t *testing.T) {
	s := returned(t, 120, 40).press("gjj4")
	for f, _ := s.findings.Chosen(); f.Code != "ARGS_REPLACED_BY_EMPTY"; f, _ = s.findings.Chosen() {
		s.press("j")
	}
	if s.press("<enter>").shows("no frame here: the request of turn 2 has it"); s.focus != s.wire {
		t.Error(s.where())
	}
}

// TestSentBackFrames: the frames are right at every size and without Unicode.
func TestSentBackFrames(t *testing.T) {
	for _, size := range sizes {
		for _, change := range [][]func(*Options){nil, {ascii, colourless}} {
			s := returned(t, size[0], size[1], change...)
			for _, keys := range []string{"gjj", "4", "jjjjjjj", "G", "3G", "<enter>", "1g2", "o", "1gjp"} {
				checkFrame(t, s.press(keys))
			}
		}
	}
}
