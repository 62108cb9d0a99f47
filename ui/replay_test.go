package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"toolscope/providers/replay"
	"toolscope/stream"
)

// broken has arguments that are not JSON from one byte on.
const broken = `{"path": "a.go", "n": 1x, "more": [1, 2]}`

func brokenCall(change ...string) *anthropic {
	name := "write_file"
	if len(change) > 0 {
		name = change[0]
	}
	return new(anthropic).open("msg_1").text("Let me see.").call("toolu_1", name, chop(broken, 7)...).seal()
}

// TestReplayKeys checks that the mode receives all keys, even if they are typed fast or the help has covered the
// mode. It also checks that the mode opens with the last selection.
func TestReplayKeys(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"pl", "wrap  behaviour 2 of 9"}, {"p?<esc>l", "wrap  behaviour 2 of 9"}, {"p<esc>p", "preserve  behaviour 1 of 9"}, {"pl<esc>p", "wrap  behaviour 2 of 9"}, {"ppjp", "wrap  behaviour 2 of 9"},
		{"pp", "if sent by  OpenClaw"}, {"ppj<esc>", "preserve  behaviour 1 of 9"}, {"plsq<esc>gp", "Sent back?  the whole turn"},
	} {
		s := newScreen(t, 80, 24).feed(brokenCall().records...).press(c.keys).shows(c.want)
		checkFrame(t, s)
		if again := newScreen(t, 80, 24).feed(brokenCall().records...); !strings.Contains(c.keys, "<") {
			again.burst(c.keys).shows(c.want)
		}
	}
	s := newScreen(t, 80, 24).feed(brokenCall().records...).press("p<enter><esc>").shows("Sent back?").press("<esc>").hides("Sent back?")
	if s.where() != "list: write_file, follows" {
		t.Error("two steps back lead to", s.where())
	}
}

func TestReplayNothing(t *testing.T) {
	s := newScreen(t, 80, 24).press("p").hides("Sent back?")
	s.feed(new(anthropic).open("msg_1").text("only words").records...).press("p").shows("no call to replay").hides("Sent back?")
	a := new(anthropic).open("msg_2").call("toolu_1", "tool", "{}").seal()
	a.exchange = 1
	s.feed(a.stop("tool_use").records...)
	thrown := *s.in.Session().Turns[1].Calls[0]
	thrown.Turn, thrown.Discarded = 0, true
	s.in.Session().Turns[0].Calls = []*stream.Call{&thrown}
	s.selected = thrown.Ref()
	s.press("p").shows("discarded this call").hides("Sent back?")
}

// TestReplayFollows checks that the view stays with its call and its new data, and that the program follows
// again when the view is closed.
func TestReplayFollows(t *testing.T) {
	a := new(anthropic).open("msg_1").call("toolu_1", "first", `{"a":1`)
	s := newScreen(t, 100, 30).feed(a.records...).press("p")
	s.shows("Sent back?  first", "if the stream ended now", "{} instead", "the 6 bytes that the model wrote")
	n := len(a.records)
	s.feed(a.args(0, `,"b":2`).records[n:]...).shows("the 12 bytes that the model wrote")
	n = len(a.records)
	s.feed(a.args(0, `}`).seal().call("toolu_2", "second", `{"c"`).records[n:]...)
	s.shows("Sent back?  first", "the same text", "nothing is lost").hides("if the stream ended now", "{} instead", "marked")
	if s.press("<esc>").where() != "list: second, follows" {
		t.Error(s.where())
	}
	s.press("kp").shows("Sent back?  first").press("s").shows("the whole turn", "if the stream ended now").press("<esc>")
	if s.where() != "list: first" {
		t.Error(s.where())
	}
}

// TestReplayConversation checks that the history in the turn's own request comes before the turn.
func TestReplayConversation(t *testing.T) {
	s := newScreen(t, 140, 40).feed(demo(t, "history")...).press("gjjpss").shows("Sent back?  the conversation", "in 6 messages")
	s.shows("call 1 read_file", "call 3 write_file").press("<enter>G").shows(`"id": "call_demo_h3"`).press("g").shows(`"role": "system"`)
	s.press("<esc>s").shows("Sent back?  write_file")
}

// TestReplayDraws checks that the sent text and the model's own text are shown with their differences marked.
func TestReplayDraws(t *testing.T) {
	s := newScreen(t, 140, 40).feed(brokenCall().records...).press("pg")
	s.shows("Sent back?  write_file  malformed · 41 B", "scope: this call, ids checked up to turn 1", "preserve  behaviour 1 of 9", "∅  {} instead     accepts  by rule all 41 B", `"input": {}`, broken[:30])
	s.shows("2 B new or moved", fmt.Sprintf("%d B, none sent", len(broken)), "then the results", "10 targets  = 5  ≈ 0  ≠ 0  ∅ 5  accepts 5  refuses 1  not known 4")
	s.press("l").shows(`"INVALID_JSON":`, `{\"path\"`, "19 B new or moved").hides("not sent", "none sent")
	s.press("r").shows(`{"role":"assistant","content":[{"type":"tool_use"`)
	s.press("r<tab>").shows("if sent by  pydantic-ai: wrap  behaviour 2 of 9  to anthropic", "double-encode ").press(strings.Repeat("j", len(replay.Behaviours)-2)).shows("nothing is sent", "the client fails: ")
}

// TestReplayTaken checks that the shown body can be copied and saved, and that a notice says so.
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
	s.press("w").settle().shows("saved 98 B, 1 message for anthropic: dir/replay-1-1-anthropic.json")
	if string(saved) != body || name != "replay-1-1-anthropic.json" {
		t.Errorf("saved %s as %s", saved, name)
	}
	s.burst("ly").settle() // the second key applies to the result of the first
	if !strings.Contains(string(copied), "INVALID_JSON") {
		t.Errorf("copied %s", copied)
	}
	s.press("ssPw").settle()
	if s.press("sw").settle(); name != "replay-1-turn-anthropic.json" || !strings.Contains(string(saved), "Let me see.") {
		t.Errorf("saved %s as %s", saved, name)
	}
	failure = errors.New("no \x1b[31mroom")
	s.press("w").settle().shows("not saved: no ␛[31mroom").press("y").settle().shows("not copied: no ␛[31mroom")
	s.press("<tab>" + strings.Repeat("j", len(replay.Behaviours)-1)) // from the first policy to strict
	if s.press("y").shows("nothing would be sent"); s.cmd != nil {
		t.Error("nothing is copied")
	}
	s = newScreen(t, 80, 24).feed(brokenCall().records...).press("pyw")
	if s.cmd != nil {
		t.Error("it is taken nowhere")
	}
}

// TestReplayFileName checks the names of saved files for a turn and for a conversation.
func TestReplayFileName(t *testing.T) {
	name := ""
	s := newScreen(t, 80, 24, func(o *Options) {
		o.Save = func(n string, b []byte) (string, error) { name = n; return n, nil }
	}).feed(demo(t, "history")...).press("gjjp")
	for _, want := range []string{"replay-2-1-openai-chat.json", "replay-2-turn-openai-chat.json", "replay-2-conversation-openai-chat.json"} {
		if s.press("w").settle(); name != want {
			t.Errorf("%s, want %s", name, want)
		}
		s.press("s")
	}
}

// TestReplayHostile checks that names and ids are shown as text and never control the terminal, in every
// scope.
func TestReplayHostile(t *testing.T) {
	drawsAlone(t)
	for i, text := range []string{"\x1b[31m", "\u202e", "\u009b2J", "\x1b]52;c;ZXZpbA==\a", "日本語", "\u200b", "a\u0301\u0301"} {
		if i%thin() > 1 {
			continue
		}
		a := brokenCall("tool" + text)
		request := stream.Record{Request: true, Data: []byte(`{"messages":[{"role":"user","content":` + quote(text) + `},{"role":"assistant","content":[{"type":"tool_use","id":` +
			quote(text) + `,"name":` + quote(text) + `,"input":{}}]}]}`)}
		s := newScreen(t, 90, 26, func(o *Options) {
			o.Copy = func([]byte) (string, error) { return "", errors.New(text) }
		}).feed(request).feed(a.records...).press("p")
		for range replay.NumScopes {
			for range replay.Policies {
				for _, keys := range []string{"<enter>", "l", "l", "<esc><tab>", "G", "g<tab>", "p", "<esc>l"} {
					checkFrame(t, s.press(keys))
				}
			}
			s.press("s")
		}
		checkFrame(t, s.press("y").settle())
	}
}

// bigCall returns a call whose previews take some time.
func bigCall(size int) *anthropic {
	return new(anthropic).open("msg_1").call("toolu_1", "write_file", `{"path":"a.go","content":"`+code(size))
}

// TestReplayCloses checks that a job for a closed mode has no effect, and that a job for a mode under the
// help is not lost.
func TestReplayCloses(t *testing.T) {
	s := newScreen(t, 120, 40).feed(bigCall(64 << 10).records...).press("p")
	job := s.cmd
	s.press("<esc>").send(job())
	if s.hides("Sent back?").cmd != nil {
		t.Error("more is made for a mode that is gone")
	}
	s.press("p")
	job = s.cmd
	if s.press("?").send(job()); s.cmd == nil {
		t.Error("the table is not made")
	}
	s.press("<esc>").shows(`"input": {}`)
}

// TestReplayFrameIsFlat checks that the cost of a frame depends only on the window, and not on the size of
// the body.
func TestReplayFrameIsFlat(t *testing.T) {
	measured(t)
	for _, keys := range [][]string{{"p"}, {"p", "<tab>"}, {"p", "s"}, {"p", "<enter>"}, {"p", "<enter>", "l"}, {"p", "p", "<enter>", "G"}} {
		open := func(size int) *rig {
			s := newScreen(t, 120, 50).feed(bigCall(size).records...)
			for _, key := range keys {
				s.press(key).finish() // work that a key starts runs in another goroutine, and is never dropped
			}
			return s.press("r").finish().hides("...")
		}
		small, large := open(16<<10), open(1<<20)
		flat(t, fmt.Sprintf("replay of 16 KiB and 1 MiB, %s", keys), func() { small.View() }, func() { large.View() })
		flat(t, fmt.Sprintf("replay of 16 KiB and 1 MiB, %s, one more record", keys), func() { small.feed(ping) }, func() { large.feed(ping) })
	}
}

// BenchmarkReplay measures a frame of the replay view, an update without changes, and an update that computes
// everything again.
func BenchmarkReplay(b *testing.B) {
	for _, size := range []int{1 << 10, 14 << 10, 1 << 20} {
		s := newScreen(b, 120, 50).feed(bigCall(size).records...).press("p").finish()
		b.Run(fmt.Sprintf("%dk/view", size>>10), func(b *testing.B) { benchmarkView(b, s) })
		b.Run(fmt.Sprintf("%dk/update", size>>10), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.feed(ping)
			}
		})
		b.Run(fmt.Sprintf("%dk/policy", size>>10), func(b *testing.B) {
			for b.Loop() {
				s.press("p").finish()
			}
		})
	}
}
