package ui

import (
	"slices"
	"strings"
	"testing"

	"toolscope/ui/screen"
)

// TestHelp lists every key of the mode on top, scrolled where it does not fit.
func TestHelp(t *testing.T) {
	for _, look := range [][]func(*Options){nil, {ascii}} {
		s := newScreen(t, 80, 24, look...).feed(new(anthropic).open("msg_1").call("toolu_1", "tool", `{"a":"b"}`).seal().records...).press("1gj2jl")
		keys := s.top().Keys()
		s.press("?").resize(80, 36)
		for _, g := range s.keys.groups() {
			for _, k := range g.keys {
				if screen.Bound(keys, k.Keys()[0]) != nil {
					s.shows(k.Help().Desc)
				} else if g.title != "Replay" { // which has keys that are for inside of it
					t.Errorf("%s is not bound", k.Help().Key)
				}
			}
		}
		s.hides("…", "scroll").shows("esc close")
		s.resize(40, 12)
		seen := ""
		for range 60 {
			seen += s.text()
			s.press("j")
		}
		for _, k := range Keys() {
			if does := k.Does; len(does) < 28 && !strings.Contains(seen, does) && k.Group != "Replay" {
				t.Errorf("scrolling does not show %q", does)
			}
		}
		s.shows("quit").press("g").shows("Move").press("G").shows("quit").press("<pgup><pgup><pgup><pgup><pgup><pgup>").shows("Move")
		s.press("?").resize(80, 24).press("<enter>?").shows("Here", "to the left", "Anywhere", "dark or light").hides("next pane", "↑ k       dark")
	}
	if text := newScreen(t, 80, 24, ascii).press("?").text(); strings.Contains(text, `\u`) {
		t.Errorf("the help in ASCII:\n%s", text)
	}
}

// TestKeysAreBound: each key of the printed table does something while browsing, or in the view that
// its group is of.
func TestKeysAreBound(t *testing.T) {
	s := agent(t, 140, 40)
	bound := slices.Concat(s.top().Keys(), s.press("2").top().Keys(), s.press("p").top().Keys())
	for _, g := range s.keys.groups() {
		for _, b := range g.keys {
			for _, key := range b.Keys() {
				if screen.Bound(bound, key) == nil {
					t.Errorf("%s of %s, %q, is bound nowhere", key, b.Help().Key, b.Help().Desc)
				}
			}
		}
	}
}

// TestHints: keys are hinted at wherever there is room, never half of one.
func TestHints(t *testing.T) {
	s := agent(t, 80, 24)
	for _, keys := range []string{"", "2", "3", "4", "1g2"} {
		s.press(keys)
		for w := 20; w < 140; w++ {
			s.resize(w, 24)
			last := s.rows()[23]
			if more, ok := strings.CutPrefix(last, " ? help"); ok {
				for _, h := range strings.Split(strings.TrimSpace(more), "  ") {
					known := func(b screen.Binding) bool { return h == "" || b.Hint.String() == h }
					if !slices.ContainsFunc(s.top().Keys(), known) {
						t.Errorf("at width %d: %q", w, last)
					}
				}
			} else {
				t.Errorf("no hint at width %d: %q", w, last)
			}
		}
	}
}
