package ui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// paste pastes text as a terminal does.
func (s *rig) paste(text string) *rig {
	s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true})
	return s
}

// TestResults checks that with a result for each call, the next request has the conversation, the turn and
// the results, and is sent where the user chooses.
func TestResults(t *testing.T) {
	s := newScreen(t, 100, 40).feed(twoCalls(1)...).end().press("ga").shows("Result of write_file", "0 of 2 results set", "the tool returned this")
	s.paste("line one\r\nline\ttwo \"quoted\"").shows("line one", "line␉two").press("<enter>")
	if c := s.selectedCall(); c == nil || c.ID != "toolu_2" {
		t.Fatalf("goes on to %+v", s.selected)
	}
	s.shows("1 of 2 results").press("a<tab>").shows("failed with this").press("no disk<enter>")
	s.shows("Send turn 1 with 2 results", "to anthropic", "policy preserve")
	body := s.press("<enter>").lastSent().Body
	history, err := providers.TargetOf("anthropic").Decode(body)
	if err != nil || len(history) != 3 {
		t.Fatalf("%v: %s", err, body)
	}
	calls, results := history[1].Parts, history[2].Parts
	if len(calls) != 3 || calls[1].ID != "toolu_1" || string(calls[2].Args) != `{"path":"b.go","n":1}` {
		t.Errorf("the turn is %+v", calls)
	}
	if len(results) != 2 || string(results[0].Text) != "line one\nline\ttwo \"quoted\"" || results[0].ID != "toolu_1" || results[0].Failed ||
		string(results[1].Text) != "no disk" || !results[1].Failed || results[1].Kind != protocol.ResultPart {
		t.Errorf("the results are %+v", results)
	}
	if !strings.Contains(string(body), `"input_schema"`) {
		t.Errorf("no tools: %s", body)
	}
	s.arrive((&anthropic{exchange: -1}).open("msg_2").text("Done.").stop("end_turn").records...)
	if turns := s.in.Session().Turns; len(turns) != 2 || !turns[0].SentBack || turns[0].Calls[1].SentBack[0].ResultCode != stream.ResultFailed {
		t.Error("the session does not see that the results went back")
	}
	s.press("1ga").shows("the turn was sent back in the request of turn 2")
}

// TestResultElsewhere checks that another host receives the results in its own format.
func TestResultElsewhere(t *testing.T) {
	s := newScreen(t, 100, 40).feed(twoCalls(1)...).end().press("gaone<enter>atwo<enter>jj").shows("to openai-chat")
	body := string(s.press("<enter>").lastSent().Body)
	for _, piece := range []string{`"role":"tool"`, `"tool_call_id":"toolu_1"`, `"content":"two"`} {
		if !strings.Contains(body, piece) {
			t.Errorf("no %s in %s", piece, body)
		}
	}
}

// TestResultKeys checks that typed text can be edited, cancelled, and typed again.
func TestResultKeys(t *testing.T) {
	s := newScreen(t, 60, 12).feed(twoCalls(1)...).end().press("gaabc<esc>")
	if len(s.results) != 0 {
		t.Error("kept what was given up")
	}
	s.press("aab<left>x<bs>q")
	s.send(tea.KeyMsg{Type: tea.KeyCtrlJ})
	s.shows("aq", "█b")
	checkFrame(t, s)
	s.press("<enter>ka").shows("aq", "b█").press("<tab>!<enter>")
	for ref, r := range s.results {
		_, c := s.view.Find(ref)
		if c == nil || c.ID != "toolu_1" || r.Text != "aq\nb!" || !r.Failed {
			t.Errorf("%v: %+v", ref, r)
		}
	}
	s.resize(120, 50).press("kk1g2").shows("your result 5 B")
	long := newScreen(t, 40, 10).feed(twoCalls(1)...).end().press("ga")
	for range 30 {
		long.paste("日本語 \u202e text\n")
		checkFrame(t, long)
	}
	for range 40 {
		long.press("<left>")
		checkFrame(t, long)
	}
}

// TestResultRefused checks that no result can be typed for a turn, for a call of an open turn, or for a call whose
// request was not captured.
func TestResultRefused(t *testing.T) {
	s := newScreen(t, 100, 30).feed(twoCalls(1)...).end()
	s.press("gha").shows("select a call")
	open := newScreen(t, 100, 30).feed(twoCalls(1)[:8]...)
	open.press("a").shows("the turn is still open")
	newScreen(t, 100, 30).feed(brokenCall().stop("tool_use").records...).press("a").shows("was not captured")
}

// TestGot checks that a call shows the arguments that the tool received, the time, the result, and the part of the
// result that the model received. These facts are next to the rules by which code would run the call, and on the
// timeline.
func TestGot(t *testing.T) {
	s := newScreen(t, 140, 50).feed(demo(t, "executed")...).end().press("g3")
	s.shows("WHAT THE TOOL RECEIVED", "server web, tool scrape_webpage (matched by the call's id)", "3.4 s before", "the first 4 B of the model's arguments, as a JSON string", "returned an error in 608 ms, 257 B",
		"the model got 28 B: cut", "was run with", "was run 3")
	s.press("4z").shows("+312 ms  tool got    scrape_webpage", "+3.68 s  found       EXEC_CUT", "+4.43 s  found       RESULT_CUT").press("z").shows("run on cut args · result cut")
	s.press(" ").shows(" tool  ", "from +1.01 s")
	newScreen(t, 140, 60).feed(demo(t, "executed")...).end().press("g5").shows("A CLIENT THAT RUNS", "TOOL RUNS", "by the call's id")
	for _, size := range [][2]int{{40, 10}, {60, 18}} {
		small := newScreen(t, size[0], size[1]).feed(demo(t, "executed")...).end().press("g3")
		for _, row := range small.rows() {
			if n := len([]rune(row)); n > size[0] {
				t.Errorf("%d cells: %s", n, row)
			}
		}
	}
}

// TestGotSoFar checks that at a moment between the start of the tool and its result, the screen shows the call as
// unanswered, and does not call it healthy.
func TestGotSoFar(t *testing.T) {
	s := newScreen(t, 140, 44).feed(demo(t, "executed")...).end().press("g3").press(":at 320ms<enter>")
	s.shows("Findings 0", "none yet", "the first 4 B of the model's arguments", "no answer yet").hides("nothing unusual", "no response was seen")
}

// TestNobodySeen checks that no client is said to run calls too early if no such client is known.
func TestNobodySeen(t *testing.T) {
	newScreen(t, 140, 44).feed(demo(t, "early")...).end().press("!").shows("clients ").hides("by the client", "your client")
}
