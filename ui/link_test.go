package ui

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/stream"
	"toolscope/ui/panes"
)

// TestTokenToFrames checks that selecting a token marks the frames in which it arrived.
func TestTokenToFrames(t *testing.T) {
	for _, c := range []struct{ keys, token, frames string }{
		{"k2g", "{", "#13"},
		{"k2gj", `"path"`, "#13"},
		{"k2gjl", `"cmd/greet/main.go"`, "#13 #14"},
		{"k2gjjjjl", `"fmt.Println(\"hi\")"`, "#15"},
		{"k2gjjjjjl", "", "#16 #17 #18"}, // no token is selected, so the frames of the cursor's row are marked
		{"k2gjjjjjlj", "", "#18 #19 #20"},
		{"k2<pgdown>", "", "#23"},
	} {
		s := agent(t, 140, 60).press(c.keys)
		if token := s.doc.Chosen(); c.token != "" && string(s.doc.Call.Args()[token.Start:token.End]) != c.token {
			t.Errorf("%q selects %s", c.keys, s.where())
		}
		if got := strings.Join(s.litFrames(), " "); got != c.frames {
			t.Errorf("%q marks %s, want %s", c.keys, got, c.frames)
		}
		s.press("1")
		if lit := s.litFrames(); lit != nil {
			t.Errorf("from the list %v are marked", lit)
		}
	}
}

// litFrames returns the numbers of the rows of the wire pane that are marked for the selection in another pane.
func (s *rig) litFrames() (frames []string) {
	for row := s.wire.Top; row < min(s.wire.Top+s.wire.Height, len(s.wire.Events)); row++ {
		if number := fmt.Sprintf("#%d", s.view.EventPrefix(int(s.wire.Events[row]), 0).Frame+1); s.wire.IsLit(row) {
			s.shows("▌ " + number + " ")
			frames = append(frames, number)
		}
	}
	return frames
}

// TestFrameToToken checks that selecting a frame marks the bytes that arrived in it.
func TestFrameToToken(t *testing.T) {
	s := agent(t, 140, 60).press("k4")
	args := s.doc.Call.Args()
	for _, want := range []string{"", `{"path": "cmd/greet/mai`, `n.go", "edits": [{"old"`, `: "fmt.Println(\"hi\")"`} {
		if lit := string(args[s.doc.Light.Start:s.doc.Light.End]); lit != want {
			t.Errorf("%s marks %q, want %q", s.where(), lit, want)
		}
		s.press("j")
	}
	// The marked bytes are in view, and the cursor moves there.
	small := agent(t, 60, 10).press("k4jjjjjjjjj")
	if small.press("2"); small.where() != `arguments: "import \"fmt\""` {
		t.Error(small.where())
	}
	small.shows(`"old": "import \"fmt\"`)
}

// TestLinkAllTokens checks that each token leads to its first frame, and that this frame leads back to bytes
// that contain the token's first byte.
func TestLinkAllTokens(t *testing.T) {
	records := append(body("agent.sse")(t), attack("\u202e")["chat"]...)
	for i := range records {
		records[i].Exchange = 1 + i/28
	}
	s := newScreen(t, 140, 40).feed(records...)
	for _, turn := range s.in.Session().Turns {
		for _, c := range turn.Calls {
			s.setFollow(false)
			s.selectRef(c.Ref())
			for n := range c.Lexer().Tokens().All() {
				s.focusOn(s.doc)
				token := panes.TokenSpan(s.selectedCall().Lexer().Tokens(), n)
				s.doc.GoTo(token.Start)
				s.linkPanes()
				if at := s.doc.Chosen(); at.Start != token.Start || at.End > token.End || !s.wire.IsLit(s.wire.At) {
					t.Fatalf("%s: token %d is not linked to row %d", c.Name, n, s.wire.At)
				}
				s.focusOn(s.wire)
				if light := s.doc.Light; !light.Has(token.Start) {
					t.Fatalf("%s: token %d at %d leads to a frame that brought %v", c.Name, n, token.Start, light)
				}
			}
		}
	}
}

// TestReusedSlot checks that the wire of a call ends where another call took its slot.
func TestReusedSlot(t *testing.T) {
	a := new(anthropic).open("msg_1").call("toolu_1", "first", `{"one":1`).call("toolu_2", "second", `{"two":2}`)
	for _, records := range [][]stream.Record{a.records, demo(t, "index-zero")} {
		s := newScreen(t, 140, 60).feed(records...).press("g4")
		one, two := s.in.Session().Turns[0].Calls[0], s.in.Session().Turns[0].Calls[1]
		s.shows(one.Name + " " + one.ID).hides(two.Name + " " + two.ID).press("1j4")
		s.shows(two.Name + " " + two.ID).hides(one.Name + " " + one.ID)
	}
}

// TestWireOfTurn checks that the wire pane of a turn has a row for every event, except for events that toolscope
// itself made.
func TestWireOfTurn(t *testing.T) {
	s := newScreen(t, 140, 200).feed(demo(t, "index-zero")...).press("gh4").shows("turn open", "call open", "seal", "turn close").hides("finding  ")
	for row, n := range s.wire.Events {
		if e := s.in.View().Event(int(n)); e.Turn != 0 || e.Kind == stream.Found {
			t.Errorf("row %d is %v", row, e)
		}
	}
}

// TestFindingLeads checks that a finding leads to its byte or to its frame.
func TestFindingLeads(t *testing.T) {
	for _, c := range []struct {
		demo, keys, want, shows string
	}{
		{"malformed", "3<enter>", `arguments: s, "env": {"LANG": "C"}}`, "^"},
		{"cut", "3<enter>", `arguments: later stage compiled`, "nger exi"},
		{"index-zero", "gh3<enter>", "wire: #18, open", "call_demo_lima"},
	} {
		s := newScreen(t, 120, 40).feed(demo(t, c.demo)...).end().press(c.keys)
		if s.shows(c.shows); !strings.HasPrefix(s.where(), c.want) {
			t.Errorf("%s: %q leads to %s, want %s\n%s", c.demo, c.keys, s.where(), c.want, s.text())
		}
	}
	s := newScreen(t, 120, 40).feed(stream.Record{Note: "the file was replaced"}).shows("the file was replaced", "toolscope demo")
	s.feed(demo(t, "index-zero")...).press("3g<enter>").shows("the file was replaced", "about the source")
}

// TestNextError checks that ! and N go to bad calls in the order of the list. After the last one they show a notice,
// and start over.
func TestNextError(t *testing.T) {
	s := agent(t, 80, 24).press("!").shows("no errors")
	if s.where() != "list: run_tests, follows" {
		t.Error(s.where())
	}
	a := new(anthropic).open("msg_1")
	for i, args := range []string{`{}`, `{"a":x}`, `{}`, `{"a":1}}`} {
		a.call(fmt.Sprint("toolu_", i), "tool"+args, args).seal()
	}
	s = newScreen(t, 80, 24).feed(a.stop("tool_use").records...).press("1g")
	for _, c := range []struct{ keys, want, says string }{
		{"!", `tool{"a":x}`, ""}, {"!", `tool{"a":1}}`, ""}, {"!", `tool{"a":1}}`, "no more errors: ! starts over"}, {"!", `tool{"a":x}`, ""},
		{"N", `tool{"a":x}`, "no earlier errors: N starts over"}, {"N", `tool{"a":1}}`, ""}, {"N", `tool{"a":x}`, ""}, {"j!", `tool{"a":1}}`, ""},
		{"s!", `tool{"a":1}}`, "no more errors: ! starts over"},
	} {
		if s.press(c.keys).shows(c.says); s.focus != s.list || s.selectedCall().Name != c.want {
			t.Errorf("%s leads to %s of %s, want %s", c.keys, s.where(), s.selectedCall().Name, c.want)
		}
	}
	if s.press("sg!<esc>").shows("back to where you were before !"); s.selectedCall().Name != "tool{}" {
		t.Error("esc leads to", s.where())
	}
	s.press("/tool<enter>N").shows("of 4") // during a search, N finds the previous match
}

// TestPath checks the displayed path of the value at the cursor.
func TestPath(t *testing.T) {
	args := `{"a":{"b":[true,{"c":"x"},[]]},"key \"with\" \u00e9":1,"last`
	a := new(anthropic).open("msg_1").call("toolu_1", "tool", args)
	s := newScreen(t, 80, 40).feed(a.records...).press("2g")
	for row, want := range []string{
		"", ".a", ".a.b", ".a.b[0]", ".a.b[1]", ".a.b[1].c", ".a.b[1]", ".a.b[2]", ".a.b", ".a", `.key "with" é`, ".last",
	} {
		if got := s.doc.Path(); got != want {
			t.Errorf("on row %d: %s, want %s", row, got, want)
		}
		s.press("j")
	}
	deep := new(anthropic).open("msg_1").call("toolu_1", "tool", strings.Repeat("[", 5000))
	s = newScreen(t, 80, 24).feed(deep.records...).press("2")
	if got := s.doc.Path(); got != ".."+strings.Repeat("[0]", 24) {
		t.Errorf("deep down it is %s", got)
	}
}
