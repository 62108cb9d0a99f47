package ui

import (
	"strings"
	"testing"

	"toolscope/stream"
	"toolscope/ui/screen"
)

// openCallStream returns a stream with a complete call and a call that is still open.
func openCallStream() []stream.Record {
	a := new(anthropic).open("msg_1")
	a.call("toolu_1", "first", `{"a":1}`).seal()
	a.call("toolu_2", "second", `{"b":`)
	return a.records
}

// looks returns a call's row in the list, and the first row of the screen, which has the counts.
func (s *rig) looks(call string) (line, counts string) {
	rows := strings.Split(s.text(), "\n")
	for _, row := range rows[2:] { // the edge of the pane also names the call
		if line == "" && strings.Contains(row, call) {
			line = row
		}
	}
	return line, rows[0]
}

// TestStoppedAndUnseen checks that a call that the client stopped is drawn muted, and a call with missing bytes as a
// caution. Neither counts as bad.
func TestStoppedAndUnseen(t *testing.T) {
	for _, test := range []struct {
		what        string
		end         []stream.Record
		sign, count string
		role        screen.Role
		turn        string
	}{
		{"stopped", []stream.Record{{End: true, Why: "the client disconnected after 9 bytes", By: "client"}}, "⊘  aborted       second", "nothing bad ", screen.Muted, "aborted"},
		{"reset", []stream.Record{{End: true, Why: "the connection was reset", By: "network"}}, "⊘  aborted       second", "1 bad  ⊘1 ", screen.Bad, "aborted"},
		{"unseen", []stream.Record{{Lost: 40}, {End: true}}, "◍  unseen        second", "nothing bad   ◍1", screen.Caution, "unseen"},
	} {
		s := newScreen(t, 140, 40).feed(append(openCallStream(), test.end...)...)
		line, counts := s.looks("second")
		if !strings.Contains(line, test.sign) || !strings.Contains(counts, test.count) || !strings.Contains(s.text(), test.turn) {
			t.Errorf("%s: %q and %q\n%s", test.what, line, counts, s.text())
		}
		turn := s.in.Session().Turns[0]
		if got := screen.CallRole(turn.Calls[1]); got != test.role {
			t.Errorf("%s: role %d, want %d", test.what, got, test.role)
		}
		if _, got, _ := screen.TurnLook(turn); got != test.role {
			t.Errorf("%s: the turn's role %d, want %d", test.what, got, test.role)
		}
	}
	for _, records := range [][]stream.Record{
		{{Lost: 40}, {End: true}},
		{{Data: openCallStream()[0].Data[:9]}, {Lost: 40}, {End: true}},
		{{Head: &stream.Head{Status: 502}, By: "toolscope"}, {End: true, Why: "refused", By: "network"}},
		{{End: true, Why: "the client disconnected after 0 bytes", By: "client"}},
		append(openCallStream(), stream.Record{Lost: 40}, stream.Record{End: true}),
	} {
		s := newScreen(t, 140, 40).feed(records...)
		s.press("g4").press("G<enter>").press("1gj4G<enter>") // the wire pane of a turn without frames
	}
	whole := newScreen(t, 140, 40).feed(append(openCallStream(), stream.Record{Lost: 40}, stream.Record{End: true})...)
	whole.press("Gp").shows("sent to anthropic  unknown", "the model wrote").hides("not sent", "marked")
	rest := stream.Record{Lost: 200, Data: []byte("}\n\n" + `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":` +
		`[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"lo\"}"}}]}}]}` + "\n\n")}
	newScreen(t, 140, 40).feed(rest, stream.Record{End: true}).press("G").shows("◍ unseen", "lo\"}").hides("expected", "^ ")
	plain := newScreen(t, 80, 24, ascii).feed(append(openCallStream(), stream.Record{Lost: 40}, stream.Record{End: true})...)
	if line, counts := plain.looks("second"); !strings.Contains(line, "u  unseen        second") || !strings.Contains(counts, " u1") {
		t.Errorf("%q and %q\n%s", line, counts, plain.text())
	}
	plain.press("G3").shows("toolscope missed 40 bytes").press("5").shows("unknown: toolscope missed bytes of the call")
}
