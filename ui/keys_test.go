package ui

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"toolscope/ui/screen"
)

// helpText returns all text that the help shows for the current view, collected by scrolling.
func helpText(s *rig) (all string) {
	s.press("g")
	for range 120 {
		all += s.text()
		s.press("j")
	}
	return all
}

// TestHelp checks that the help explains the signs, and lists every key of the top mode and of other places.
func TestHelp(t *testing.T) {
	for _, look := range [][]func(*Options){nil, {ascii}} {
		s := newScreen(t, 80, 24, look...).feed(new(anthropic).open("msg_1").call("toolu_1", "tool", `{"a":"b"}`).seal().records...).press("1gj2jl")
		keys := s.modeStack.activeMode().Keys()
		s.press("?").shows("Keys here  in the document", "Find problems", "next error", "enter run", "tab other views", "esc close")
		s.shows(" Sent back ", " Program ", "quit", "not an object", "unseen") // keys and states are on one screen
		for _, size := range [][2]int{{80, 24}, {140, 40}, {40, 12}} {
			text := helpText(s.resize(size[0], size[1]))
			text += helpText(s.press("<tab>"))
			s.press("<s-tab>")
			for _, a := range screen.Actions {
				does := a.Does[:min(len(a.Does), 20)]
				listed := strings.Contains(text, does) || a.Brief != "" && strings.Contains(text, a.Brief)
				if bound := screen.FindBinding(keys, a.KeyList()[0]) != nil; bound != listed && size[0] > 80 {
					t.Errorf("%s %q: bound is %t", a.Keys, does, bound)
				}
			}
		}
		for _, a := range screen.Actions {
			if len(cmp.Or(a.Brief, a.Does)) > 18 && a.Does != "" {
				t.Errorf("%s %q needs a shorter Brief", a.Keys, a.Does)
			}
		}
		if text := helpText(s.resize(80, 24)); !strings.Contains(text, "Symbols: a turn shows") || !strings.Contains(text, "not an object") {
			t.Errorf("the signs are not explained:\n%s", text[len(text)-3000:])
		}
		s.press("<tab>").shows("Keys  for movement and panes", "PgUp ^u ^b", "next pane")
		s.press("<tab>").shows("Keys  in the list", "show the call, open it").press("<tab>").shows("Keys  in Findings")
		s.press("<s-tab><s-tab><s-tab><s-tab>").shows("Commands after :", ":write ").press("<tab>").shows("Keys here  in the document")
		s.press("<esc>p?").shows("Keys here  in this view", "Anywhere", "choose a theme").hides("next pane")
	}
	if text := newScreen(t, 80, 24, ascii).press("?").text(); strings.Contains(text, `\u`) {
		t.Errorf("the help in ASCII:\n%s", text)
	}
}

// TestHelpDoes checks that the help runs the chosen key of this place or of another place, and that a search in the
// help finds keys.
func TestHelpDoes(t *testing.T) {
	s := agent(t, 80, 24).press("k?/zoom<enter>")
	if !s.zoom {
		t.Error("enter does nothing")
	}
	s.press("z?/malform").shows("malform█", "malformed").hides("complete").press("<esc>").shows("Find problems").press("<esc>")
	s.press("?/ctrl").shows("nothing").press("<enter>").shows("no matching key").press("<esc><esc>")
	s.press("?<tab>/theme").shows("choose a theme", "in the list").press("<esc><esc>") // in all places, whichever is shown
	s.press("?/:sort<enter>").shows(": sort █", "sort worst").press("<esc>")
	s.press("?/:log<enter>").shows("Log ").press("<esc>")
	s.press("?<tab>/next token<enter>")
	if s.focus != s.doc {
		t.Error("a key of another place leads to", s.where())
	}
	s.press("?<right><enter>").hides("Keys here") // in the second column
	for w := minWidth; w < 150; w += 9 {
		for _, h := range []int{5, 7, 12, 30} {
			checkFrame(t, s.resize(w, h))
		}
	}
}

// TestKeysAreBound checks that each key in the printed table has an action while browsing, or in the view to
// which its group belongs.
func TestKeysAreBound(t *testing.T) {
	s := agent(t, 140, 40)
	bound := slices.Concat(s.modeStack.activeMode().Keys(), s.press("2").modeStack.activeMode().Keys(), s.press("p").modeStack.activeMode().Keys())
	for _, a := range screen.Actions {
		for _, key := range a.KeyList() {
			if screen.FindBinding(bound, key) == nil {
				t.Errorf("%s of %s, %q, is bound nowhere", key, a.Name, a.Does)
			}
		}
	}
}

// TestHints checks that hints are shown where there is room, and are never cut.
func TestHints(t *testing.T) {
	s := agent(t, 80, 24)
	for _, keys := range []string{"", "2", "3", "4", "1g2"} {
		s.press(keys)
		for w := 20; w < 140; w++ {
			s.resize(w, 24)
			last := s.rows()[23]
			if more, ok := strings.CutPrefix(last, " ? keys"); ok {
				for _, h := range strings.Split(strings.TrimSpace(more), "  ") {
					known := func(b screen.Binding) bool {
						return h == "" || b.HintText(s.draw).String() == h || b.Last && h == ": all"
					}
					if !slices.ContainsFunc(s.modeStack.activeMode().Keys(), known) {
						t.Errorf("at width %d: %q", w, last)
					}
				}
			} else {
				t.Errorf("no hint at width %d: %q", w, last)
			}
		}
	}
}

// TestPaneKeys checks that the key table has exactly the keys of the panes.
func TestPaneKeys(t *testing.T) {
	s := newScreen(t, 80, 24)
	var own []string
	for _, p := range s.table {
		if p.key != "" { // the timeline is not in the table: its key pauses the screen
			own = append(own, p.key)
		}
	}
	if listed := slices.Concat(screen.ActionNamed("pane").KeyList(), screen.ActionNamed("tab").KeyList()); !slices.Equal(listed, own) {
		t.Errorf("the table of keys has %v; the panes have %v", listed, own)
	}
}

// TestUnknownKey checks that a key without an action shows a notice, and that the notice disappears after a while or
// at the next key.
func TestUnknownKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // synctest's fake clock skips the time after which the notice disappears
		s := agent(t, 80, 24).press("K").shows("K does nothing here · ? keys · : commands")
		s.press("j").hides("does nothing").press("K")
		s.send(s.cmd())
		s.hides("does nothing")
		s.press("1").shows("? keys")
		s.press("1-2").press("[").hides("does nothing")
		s.resize(40, 10).press("K").shows("K does nothing here · ? keys")
		checkFrame(t, s)
	})
}
