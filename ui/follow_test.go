package ui

import (
	"errors"
	"testing"
	"time"

	"toolscope/stream"
	"toolscope/ui/screen"
)

// liveScreen shows a stream with two calls. The second is still arriving.
func liveScreen(t testing.TB) (*rig, *anthropic) {
	a := new(anthropic).open("msg_1").text("Two things.")
	a.call("toolu_1", "first", `{"a":1}`).seal().call("toolu_2", "second", `{"b":[`)
	return newScreen(t, 80, 24).feed(a.records...), a
}

// more returns the records that the stream has added after its first n records.
func (a *anthropic) more(since int) []stream.Record { return a.records[since:] }

// TestFollow checks that every key that moves the cursor stops following, and that F and G resume it.
func TestFollow(t *testing.T) {
	for _, c := range []struct {
		keys string
		want bool
	}{
		{"", true}, {"k", false}, {"<up>", false}, {"<pgup>", false}, {"g", false}, {"j", false}, {"kG", true}, {"kF", true}, {"F", false},
		{"FF", true}, {"2", true}, {"2k", false}, {"2<c-u>", false}, {"2h", false}, {"2l", false}, {"2kG", true}, {"2kF", true},
		{"4", true}, {"4k", false}, {"4kG", true}, {"3", true}, {"3k", false}, {"3G", true}, {"3kG", false}, {"gF", true}, {"g2j", false},
		{"<tab>", true}, {"z", true}, {"?<esc>", true}, {"?j<esc>", true}, {"t<esc>", true}, {"r", true}, {"/a", false}, {"/a<esc>", false}, {"!", true},
	} {
		s, a := liveScreen(t)
		s.press(c.keys)
		if s.follow != c.want {
			t.Errorf("after %q it follows: %t", c.keys, s.follow)
		}
		before, n := s.selected, len(a.records)
		s.feed(a.args(2, `1,2]}`).seal().call("toolu_3", "third", `{"c":`).more(n)...)
		if c.want && s.chosenName() != "third" || !c.want && s.selected != before {
			t.Errorf("after %q and a new call %s is chosen", c.keys, s.chosenName())
		}
	}
}

// TestFollowLive checks that a call that still grows is preferred to a call that opened later and has ended.
func TestFollowLive(t *testing.T) {
	done := &anthropic{exchange: 1}
	done.open("msg_2").call("toolu_3", "later", "{}").seal().stop("tool_use")
	s, a := liveScreen(t)
	if s.feed(done.records...); s.chosenName() != "second" {
		t.Errorf("it follows %s", s.chosenName())
	}
	n := len(a.records)
	if s.feed(a.args(2, `]}`).seal().more(n)...); s.chosenName() != "later" {
		t.Errorf("when all are done it shows %s", s.chosenName())
	}
}

// TestFollowKeepsTheEnd checks that the end of the followed call stays in view, in every pane.
func TestFollowKeepsTheEnd(t *testing.T) {
	for _, keys := range []string{"", "2", "4", "2<tab>1", "41", "kG", "2kG", "4kG1", "2k1F"} {
		s, a := liveScreen(t)
		s.resize(120, 40).press(keys)
		for range 40 {
			n := len(a.records)
			s.feed(a.args(2, `"row",`).more(n)...)
		}
		n := len(a.records)
		s.feed(a.args(2, `"last`).more(n)...)
		if !s.follow {
			t.Errorf("after %q it does not follow", keys)
		}
		s.shows(`"last█`, `Δ42   "last`)
	}
}

// TestFollowOff checks that, while following is off, the view does not move until a live call is selected.
func TestFollowOff(t *testing.T) {
	s, a := liveScreen(t)
	s.press("F")
	for range 40 {
		n := len(a.records)
		s.feed(a.args(2, `"row",`).more(n)...)
	}
	n := len(a.records)
	s.feed(a.args(2, `"last`).more(n)...).hides(`"last`).shows(`"b": [`)
	if s.press("kj").shows(`"last█`); s.follow {
		t.Error("choosing a call follows")
	}
}

// TestUpFromTheEnd checks that the first move up is one row up from the last row with text.
func TestUpFromTheEnd(t *testing.T) {
	for keys, want := range map[string]string{"2": "arguments: [, follows", "2k": "arguments: {", "2h": `arguments: "b"`, "2F": "arguments: ["} {
		if s, _ := liveScreen(t); s.press(keys).where() != want {
			t.Errorf("%q leads to %s, want %s", keys, s.where(), want)
		}
	}
}

// player is a clock that a test controls.
type player struct {
	paused bool
	speed  float64
}

func (p *player) Pause(on bool)      { p.paused = on }
func (p *player) Paused() bool       { return p.paused }
func (p *player) SetSpeed(f float64) { p.speed = f }
func (p *player) Speed() float64     { return p.speed }

// TestPlayback checks that pausing and changing the speed control the clock of a played source.
func TestPlayback(t *testing.T) {
	p := &player{speed: 1}
	s := newScreen(t, 80, 24, func(o *Options) { o.Playback = p }).feed(demo(t, "cut")[:9]...)
	s.shows("PLAY 1×").press("]").shows("PLAY 2×").press("[[").shows("PLAY 0.5×")
	if s.press(" ").shows("PAUSED"); !p.paused {
		t.Error("what the source would bring now is not waited for")
	}
	if s.press("]").shows("speed 1×"); p.speed != 1 {
		t.Errorf("it will go on at %g", p.speed)
	}
	if s.press(" ").shows("PLAY 1×"); p.paused {
		t.Error("the source still stands")
	}
	s.end().press(" ").shows("PAUSED").press("G").shows("END")
	plain, _ := liveScreen(t)
	plain.press("]").shows("live traffic has no speed").press("k").hides("speed")
}

// TestDemoKey checks that the key starts the demo if there is nothing else to show: without a source, while a source
// is silent, and after a source has ended without data.
func TestDemoKey(t *testing.T) {
	for name, prepare := range map[string]func(*Options){
		"no source": func(o *Options) { o.Inbox = nil },
		"silent":    func(*Options) {},
		"ended":     func(o *Options) { o.Inbox.(*box).Close(nil) },
	} {
		inbox := newBox()
		s := newScreen(t, 80, 24, func(o *Options) {
			o.Demo = func(own bool) Inbox {
				if own == (name == "silent") {
					t.Errorf("%s: in an inbox of its own: %t", name, own)
				}
				if !own {
					inbox = o.Inbox.(*box)
				}
				return inbox
			}
			prepare(o)
		})
		if name == "ended" {
			s.send(inboxReady{})
		}
		s.shows("d plays the demo").press("d").shows("demo", "PLAY 1×")
		for _, r := range tourRecords(t, "malformed") {
			if !inbox.Put(r) {
				t.Fatalf("%s: the inbox is closed", name)
			}
		}
		s.send(inboxReady{})
		s.press("}").shows("Tour 1 of 12", "run_shell", "malformed", "byte 87").press("d").shows("next").hides("run_shell")
	}
}

// TestEnds checks that the screen shows how the source ended.
func TestEnds(t *testing.T) {
	s, _ := liveScreen(t)
	s.end().shows("END", "aborted").hides("LIVE", "FOLLOW")
	if s.Err() != nil || s.cmd != nil {
		t.Errorf("a clean end is %v; asked for: %t", s.Err(), s.cmd != nil)
	}
	s, _ = liveScreen(t)
	why := errors.New("read agent.sse: it was taken away")
	s.inbox.Close(why)
	s.send(inboxReady{})
	if s.shows("LOST", "it was taken away"); !errors.Is(s.Err(), why) {
		t.Errorf("the error is %v", s.Err())
	}
	newScreen(t, 80, 24).end().shows("The source ended without any data.")
}

// TestGoToTheEnd checks that G keeps the selection if no more data can arrive.
func TestGoToTheEnd(t *testing.T) {
	s := newScreen(t, 80, 24).feed(body("agent.sse")(t)...).end()
	for _, c := range []struct{ keys, want string }{
		{"kk2G", "arguments: }"}, {"1h2G", "turn: row 3"}, {"1j4gG", "wire: #27"}, {"1G", "list: run_tests, follows"},
	} {
		if got := s.press(c.keys).where(); got != c.want {
			t.Errorf("after %q: %s, want %s", c.keys, got, c.want)
		}
	}
}

// TestRate checks that the rate counts the last second only, and falls to zero.
func TestRate(t *testing.T) {
	s, a := liveScreen(t)
	s.hides("B/s")
	feed := func() int {
		n := len(a.records)
		records := a.args(2, `1,`).more(n)
		s.feed(records...)
		return len(records[0].Data)
	}
	s.now = s.now.Add(time.Second)
	size := feed()
	s.now = s.now.Add(time.Second)
	feed()
	s.shows(screen.Bytes(size).String() + "/s")
	s.end()
	looks := 0
	for s.rate.watching {
		if looks++; looks > 5 {
			t.Fatal("it never stops to look at the clock")
		}
		s.now = s.now.Add(time.Second)
		s.send(rateTick(s.now))
	}
	if s.hides("B/s"); s.cmd != nil {
		t.Error("an idle screen looks at the clock")
	}
}

// TestFollowAtEverySize checks that the followed data is on the screen, whichever other panes are shown.
func TestFollowAtEverySize(t *testing.T) {
	s, a := liveScreen(t)
	for range 40 {
		n := len(a.records)
		s.feed(a.args(2, `"row",`).more(n)...)
	}
	n := len(a.records)
	s.feed(a.args(2, `"last`).more(n)...)
	for _, keys := range []string{"", "2", "4", "41"} {
		s.press(keys)
		for w := 20; w <= 260; w += 1 + w/10 {
			for h := 5; h <= 70; h += 1 + h/8 {
				small := h < 8 && s.focus == s.wire // in this case there is room only for the focused pane
				if s.resize(w, h); !small {
					s.shows(`"last█`)
				}
			}
		}
	}
}
