package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers/replay"
	"toolscope/stream"
)

// replaying is the replay view of the screen, which must be open.
func (s *rig) replaying() *replayView {
	s.t.Helper()
	r, ok := s.mode().(*replayView)
	if !ok {
		s.t.Fatalf("no replay view, but %T\n%s", s.mode(), s.text())
	}
	return r
}

// finish does the jobs that are asked for, one after the other, and says how
// many there were.
func (s *rig) finish() (jobs int) {
	s.t.Helper()
	for ; s.working; jobs++ {
		s.send(s.jobDone())
	}
	return jobs
}

// jobDone does the job that is asked for.
func (s *rig) jobDone() tea.Msg {
	msg := s.job()
	if batch, ok := msg.(tea.BatchMsg); ok { // of the inbox, and of the view
		msg = batch[len(batch)-1]()
	}
	return msg
}

// asked is what the view shows, in words.
func (r *replayView) asked() string {
	rows := "targets"
	if r.policies {
		rows = "policies"
	}
	return fmt.Sprintf("%s, %s, %s, of %s", r.scope, r.targets[r.to].Name, r.policyName(), rows)
}

// broken is a stream with a call that is no JSON from some byte on.
const broken = `{"path": "a.go", "n": 1x, "more": [1, 2]}`

func brokenCall(change ...string) *anthropic {
	name := "write_file"
	if len(change) > 0 {
		name = change[0]
	}
	return new(anthropic).open("msg_1").text("Let me see.").call("toolu_1", name, chop(broken, 7)...).seal()
}

func TestReplayKeys(t *testing.T) {
	last := replay.Policies[len(replay.Policies)-1].Name
	for _, c := range []struct{ keys, want string }{
		{"", "call, anthropic, preserve, of targets"},
		{"p", "call, anthropic, wrap, of targets"},
		{"pp", "call, anthropic, wrap-raw, of targets"},
		{"P", "call, anthropic, " + last + ", of targets"},
		{"Pp", "call, anthropic, preserve, of targets"},
		{"l", "call, anthropic, wrap, of targets"},
		{"lh", "call, anthropic, preserve, of targets"},
		{"<tab>", "call, anthropic, preserve, of policies"},
		{"<tab>j", "call, anthropic, wrap, of policies"},
		{"<tab>jj<tab>", "call, anthropic, wrap-raw, of targets"},
		{"<tab>G", "call, anthropic, " + last + ", of policies"},
		{"<tab>Gp", "call, anthropic, preserve, of policies"},
		{"s", "turn, anthropic, preserve, of targets"},
		{"ss", "call, anthropic, preserve, of targets"},
		{"<enter>p", "call, anthropic, wrap, of targets"},
		{"<enter><tab>", "call, anthropic, preserve, of targets"},
		{"?<esc>p", "call, anthropic, wrap, of targets"},
		{"<esc>p", "call, anthropic, preserve, of targets"},
		{"psq<esc>gp", "turn, anthropic, wrap, of targets"},
		{"p<esc>p", "call, anthropic, wrap, of targets"},
	} {
		s := newScreen(t, 80, 24).feed(brokenCall().records...).press("p" + c.keys)
		if got := s.replaying().asked(); got != c.want {
			t.Errorf("%q: %s, want %s", c.keys, got, c.want)
		}
		checkFrame(t, s)
		if again := newScreen(t, 80, 24).feed(brokenCall().records...); !strings.Contains(c.keys, "<") {
			if got := again.burst("p" + c.keys).replaying().asked(); got != c.want {
				t.Errorf("%q typed fast: %s, want %s", c.keys, got, c.want)
			}
		}
	}
	s := newScreen(t, 80, 24).feed(brokenCall().records...).press("p<enter>")
	for _, want := range []string{"what the model wrote", "what is lost", "would be sent"} {
		if s.press("l"); s.replaying().face.String() != want {
			t.Errorf("the face is %s, want %s", s.replaying().face, want)
		}
	}
	if s.press("<esc>").replaying().full || s.press("<esc>").where() != "list: write_file, follows" {
		t.Error("two steps back lead to", s.where())
	}
}

// TestReplayTargets: every target can be reached, and where it came from is
// the first.
func TestReplayTargets(t *testing.T) {
	s := newScreen(t, 80, 24).feed(brokenCall().records...).press("pg")
	r := s.replaying()
	seen := map[string]bool{}
	for range r.targets {
		name := r.targets[r.to].Name
		seen[name] = true
		if page := r.current(); page == nil || r.verdict(r.At) == nil {
			t.Fatalf("%s: nothing is shown", name)
		}
		if s.press("<enter>").shows("to " + name + ", policy preserve"); s.press("<esc>j").mode() != any(r) {
			t.Fatal("another mode")
		}
	}
	if len(seen) != len(r.targets) {
		t.Errorf("%d targets of %d", len(seen), len(r.targets))
	}
}

func TestReplayNothing(t *testing.T) {
	s := newScreen(t, 80, 24).press("p").hides("REPLAY")
	s.feed(new(anthropic).open("msg_1").text("only words").records...).press("p").shows("no call to replay").hides("REPLAY")
	a := new(anthropic).open("msg_2").call("toolu_1", "tool", "{}").seal()
	a.exchange = 1
	s.feed(a.stop("tool_use").records...)
	s.in.Session().Turns[0].Calls = []*stream.Call{{Number: 1, Attempt: true}}
	s.chosen = s.in.Session().Turns[0].Calls[0].Ref()
	s.press("p").shows("threw this call away").hides("REPLAY")
}

// TestReplayFollows: the view stays with its call, and with what comes of it;
// the program follows again when it is left.
func TestReplayFollows(t *testing.T) {
	a := new(anthropic).open("msg_1").call("toolu_1", "first", `{"a":1`)
	s := newScreen(t, 100, 30).feed(a.records...).press("p")
	s.shows("REPLAY of first", "if the stream stopped now", "emptied", "the 6 bytes the model wrote")
	n := len(a.records)
	s.feed(a.args(0, `,"b":2`).records[n:]...).shows("the 12 bytes the model wrote")
	n = len(a.records)
	s.feed(a.args(0, `}`).seal().call("toolu_2", "second", `{"c"`).records[n:]...)
	s.shows("REPLAY of first", "verbatim", "nothing is lost").hides("if the stream stopped now", "emptied", "marked")
	if s.press("<esc>").where() != "list: second, follows" {
		t.Error(s.where())
	}
	s.press("kp").shows("REPLAY of first").press("s").shows("the whole turn", "if the stream stopped now").press("<esc>")
	if s.where() != "list: first" {
		t.Error(s.where())
	}
}

// TestReplayConversation: what the turn's own request carried comes before it.
func TestReplayConversation(t *testing.T) {
	s := newScreen(t, 140, 40).feed(demo(t, "history")...).press("gjjjjpss").shows("REPLAY of the conversation", "in 6 messages")
	s.shows("call 1 read_file", "call 3 write_file").press("<enter>G").shows(`"id": "call_demo_h3"`).press("g").shows(`"role": "system"`)
	if s.press("<esc>s").shows("REPLAY of write_file"); s.replaying().scope != replay.OneCall {
		t.Error(s.replaying().asked())
	}
}

// TestReplayDraws: what is sent and what was written are shown with what
// differs between them.
func TestReplayDraws(t *testing.T) {
	s := newScreen(t, 140, 40).feed(brokenCall().records...).press("pg")
	s.shows("REPLAY of write_file  policy preserve 1/", "emptied", "critical  ARGS_REPLACED_BY_EMPTY", `"input": {}`, broken[:30])
	s.shows("2 B marked: new or moved", fmt.Sprintf("%d B, %d B marked: not sent", len(broken), len(broken)), "then must follow")
	s.press("p").shows(`"INVALID_JSON":`, `{\"path\"`, "19 B marked: new or moved").hides("marked: not sent")
	s.press("r").shows(`{"role":"assistant","content":[{"type":"tool_use"`)
	s.press("r<tab>").shows("to anthropic 1/", "wrap: what does not parse", "double-encode").press("G").shows("nothing is sent", "refused: ")
}

// TestReplayTaken: the body that is shown is copied and saved, and it is said
// what became of it.
func TestReplayTaken(t *testing.T) {
	var copied, saved []byte
	var failure error
	name := ""
	s := newScreen(t, 120, 30, func(o *Options) {
		o.Copy = func(b []byte) (string, error) { copied = b; return "a wire", failure }
		o.Save = func(n string, b []byte) (string, error) { name, saved = n, b; return "dir/" + n, failure }
	}).feed(brokenCall().records...)
	body := `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"write_file","input":{}}]}`
	s.press("pgy").settle().shows("copied 98 B, 1 message for anthropic, by a wire")
	if string(copied) != body {
		t.Errorf("copied %s", copied)
	}
	s.press("w").settle().shows("saved 98 B, 1 message for anthropic, as dir/replay-1-1-anthropic.json")
	if string(saved) != body || name != "replay-1-1-anthropic.json" {
		t.Errorf("saved %s as %s", saved, name)
	}
	s.burst("py").settle() // the second key is about what the first asks for
	if !strings.Contains(string(copied), "INVALID_JSON") {
		t.Errorf("copied %s", copied)
	}
	s.press("ssPw").settle()
	if s.press("sw").settle(); name != "replay-1-turn-anthropic.json" || !strings.Contains(string(saved), "Let me see.") {
		t.Errorf("saved %s as %s", saved, name)
	}
	failure = errors.New("no \x1b[31mroom")
	s.press("w").settle().shows("not saved: no ␛[31mroom").press("y").settle().shows("not copied: no ␛[31mroom")
	s.press("<tab>G")
	if s.press("y").shows("nothing would be sent"); s.cmd != nil {
		t.Error("nothing is copied")
	}
	s = newScreen(t, 80, 24).feed(brokenCall().records...).press("pyw")
	if s.cmd != nil {
		t.Error("it is taken nowhere")
	}
}

// TestReplayFileName: what is saved of a turn and of a conversation is called so.
func TestReplayFileName(t *testing.T) {
	s := newScreen(t, 80, 24).feed(demo(t, "history")...).press("gjjjjp")
	for _, want := range []string{"replay-2-1-openai-chat.json", "replay-2-turn-openai-chat.json", "replay-2-conversation-openai-chat.json"} {
		if got := s.replaying().fileName(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		s.press("s")
	}
}

// TestReplayHostile: names and ids are shown, not obeyed, in every scope.
func TestReplayHostile(t *testing.T) {
	for _, text := range []string{"\x1b[31m", "\u202e", "\u009b2J", "\x1b]52;c;ZXZpbA==\a", "日本語", "\u200b", "a\u0301\u0301"} {
		a := brokenCall("tool" + text)
		request := stream.Record{Request: true, Data: []byte(`{"messages":[{"role":"user","content":` + quote(text) + `},{"role":"assistant","content":[{"type":"tool_use","id":` +
			quote(text) + `,"name":` + quote(text) + `,"input":{}}]}]}`)}
		s := newScreen(t, 90, 26).feed(request).feed(a.records...).press("p")
		for range replay.NumScopes {
			for range replay.Policies {
				for _, keys := range []string{"<enter>", "l", "l", "<esc><tab>", "G", "g<tab>", "p"} {
					checkFrame(t, s.press(keys))
				}
			}
			s.press("s")
		}
		s.opt.Copy = func([]byte) (string, error) { return "", errors.New(text) }
		checkFrame(t, s.press("y").settle())
	}
}
