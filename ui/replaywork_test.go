package ui

import (
	"fmt"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/stream"
)

// TestReplayMadeOnce: what is shown is made again only when something that it
// was made from has changed.
func TestReplayMadeOnce(t *testing.T) {
	a := new(anthropic).open("msg_1").call("toolu_1", "first", `{"a":1`)
	s := newScreen(t, 80, 24).feed(a.records...).press("p")
	r := s.replaying()
	seen := 0
	for _, c := range []struct {
		what string
		do   func()
		made bool
	}{
		{"opening", func() {}, true},
		{"a frame", func() { s.View() }, false},
		{"a frame that says nothing", func() { s.feed(ping) }, false},
		{"a delta", func() { s.feed(a.more(len(a.args(0, "1").records) - 1)...) }, true},
		{"an empty delta", func() { s.feed(a.more(len(a.args(0, "").records) - 1)...) }, false},
		{"another policy", func() { s.press("p") }, true},
		{"another target", func() { s.press("j") }, true},
		{"the last row, twice", func() { s.press("G") }, true},
		{"the last row again", func() { s.press("G") }, false},
		{"all policies", func() { s.press("<tab>") }, true},
		{"help", func() { s.press("?") }, false},
		{"no help", func() { s.press("<esc>") }, false},
		{"colours", func() { s.press("t") }, false},
		{"the other face", func() { s.press("<enter>l") }, true}, // it is wider
		{"scrolling", func() { s.press("jkG") }, false},
		{"back", func() { s.press("<esc>") }, true},
		{"higher", func() { s.resize(80, 26) }, false},
		{"wider", func() { s.resize(90, 26) }, true},
		{"the turn", func() { s.press("s") }, true},
		{"another call begins", func() { s.feed(a.more(len(a.seal().call("toolu_2", "second", "{").records) - 3)...) }, true},
		{"the call alone", func() { s.press("s") }, true},
		{"a delta of the other call", func() { s.feed(a.more(len(a.args(1, "}").records) - 1)...) }, false},
		{"the end", func() { s.end() }, false},
	} {
		c.do()
		if made := r.made > seen; made != c.made {
			t.Errorf("%s: made again is %t, want %t", c.what, made, c.made)
		}
		seen = r.made
		checkFrame(t, s)
	}
}

// bigCall is a call whose previews take a while.
func bigCall(size int) *anthropic {
	return new(anthropic).open("msg_1").call("toolu_1", "write_file", `{"path":"a.go","content":"`+code(size))
}

// TestReplayJobs: what takes a while is made beside the screen, one job at a
// time; the page comes first, and then they take turns.
func TestReplayJobs(t *testing.T) {
	a := bigCall(64 << 10)
	s := newScreen(t, 120, 40).feed(a.records...).press("p")
	r := s.replaying()
	if !s.working || r.page != nil || r.table != nil {
		t.Fatal("made at once")
	}
	s.shows("...").send(s.cmd())
	if r.page == nil || r.table != nil || !s.working {
		t.Fatal("the first job is not the page")
	}
	s.shows("wrote", `"input": {}`).send(s.cmd())
	if s.working || s.cmd != nil || r.table == nil {
		t.Fatal("the second job is not the table")
	}
	s.shows("emptied").hides("...")
	made := r.made
	if s.feed(ping); s.working || r.made != made {
		t.Error("made again")
	}

	n := len(a.records)
	s.feed(a.args(0, "more of it").more(n)...)
	n = len(a.records)
	if s.feed(a.args(0, " and more").more(n)...); !s.working {
		t.Fatal("no job")
	}
	before := r.page
	if s.finish() < 3 {
		t.Error("what came meanwhile is not made")
	}
	if r.page == before || r.page.size != len(r.of.Call.Args()) || r.table.key.version != r.page.key.version {
		t.Errorf("%d bytes are shown of %d", r.page.size, len(r.of.Call.Args()))
	}
}

// TestReplayStale: what a job brings is dropped when something else is asked
// for by then, and kept when only more bytes have come.
func TestReplayStale(t *testing.T) {
	a := bigCall(64 << 10)
	s := newScreen(t, 120, 40).feed(a.records...).press("p")
	r := s.replaying()
	s.press("p")
	if s.cmd != nil {
		t.Fatal("a second job")
	}
	if s.send(s.jobDone()); r.page != nil || !s.working {
		t.Error("a page of another policy is shown")
	}
	if s.finish(); r.page == nil || r.page.key.policy != 1 {
		t.Error("no page of this policy")
	}

	n := len(a.records)
	s.feed(a.args(0, "more").more(n)...)
	n = len(a.records)
	s.feed(a.args(0, "and more").more(n)...)
	if s.finish(); s.replaying().page.size != len(r.of.Call.Args()) {
		t.Error("not the latest bytes")
	}

	s.press("p<esc>")
	if s.send(s.jobDone()); s.working || s.hides("REPLAY").cmd != nil {
		t.Error("a job goes on for a view that is gone")
	}
	s.press("p?").send(s.jobDone())
	if s.press("<esc>"); s.replaying().page == nil {
		t.Error("what came under the help is lost")
	}
}

// TestReplayBeside: a job reads nothing that the stream still changes.
func TestReplayBeside(t *testing.T) {
	for _, scope := range []string{"", "s", "ss"} {
		a := new(anthropic).open("msg_1").text("some words").call("toolu_1", "write_file", `{"path":"a.go","content":"`+code(32<<10))
		request := stream.Record{Request: true, Data: []byte(`{"messages":[{"role":"user","content":"hi"}]}`)}
		s := newScreen(t, 120, 40).feed(request).feed(a.records...).press("p")
		s.finish()
		s.press(scope)
		s.finish()
		s.press("p")
		done := make(chan tea.Msg)
		job := s.job
		go func() { done <- job() }()
		for i := range 200 {
			n := len(a.records)
			if a.args(0, fmt.Sprint("delta ", i)); i%40 == 39 {
				a.text("between")
				a.say(`{"type":"content_block_start","index":%d,"content_block":{"type":"thinking","thinking":""}}`, a.blocks)
				a.say(`{"type":"content_block_delta","index":%d,"delta":{"type":"signature_delta","signature":"c2ln"}}`, a.blocks).seal()
			}
			s.feed(a.more(n)...)
		}
		s.send(<-done)
		if s.finish(); s.replaying().page == nil {
			t.Errorf("%q: no page", scope)
		}
	}
}

// TestReplayFrameIsFlat: a frame costs what the window holds, whatever the size
// of what would be sent.
func TestReplayFrameIsFlat(t *testing.T) {
	measured(t)
	for _, keys := range []string{"p", "p<tab>", "ps", "p<enter>", "p<enter>l", "pp<enter>G"} {
		open := func(size int) *rig {
			s := newScreen(t, 120, 50).feed(bigCall(size).records...).press(keys[:1])
			s.finish()
			s.press(keys[1:])
			s.finish()
			s.press("r")
			s.finish()
			return s
		}
		small, large := open(16<<10), open(1<<20)
		if large.replaying().current() == nil {
			t.Fatal("no page")
		}
		flat(t, fmt.Sprintf("replay of 16 KiB and 1 MiB, %s", keys), func() { small.View() }, func() { large.View() })
		flat(t, fmt.Sprintf("replay of 16 KiB and 1 MiB, %s, one more record", keys), func() { small.feed(ping) }, func() { large.feed(ping) })
	}
}

// BenchmarkReplay is a frame of the replay view, an update that changes
// nothing, and one that has everything made again.
func BenchmarkReplay(b *testing.B) {
	for _, size := range []int{1 << 10, 14 << 10, 1 << 20} {
		s := newScreen(b, 120, 50).feed(bigCall(size).records...).press("p")
		s.finish()
		b.Run(fmt.Sprintf("%dk/view", size>>10), func(b *testing.B) { benchmarkView(b, s) })
		b.Run(fmt.Sprintf("%dk/update", size>>10), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.feed(ping)
			}
		})
		b.Run(fmt.Sprintf("%dk/policy", size>>10), func(b *testing.B) {
			for b.Loop() {
				s.press("p")
				s.finish()
			}
		})
	}
}
