package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// TestKinds checks that the type of a string's content is recognised by its text, by a file name in the same
// call, and by its key.
func TestKinds(t *testing.T) {
	for _, c := range []struct{ name, args, keys, want string }{
		{"code, by the file beside it", `{"path":"a/b.py","content":"x = 1\ny = 2\n"}`, "jjl", "Python"},
		{"code, by a file named further out", `{"path":"main.go","edits":[{"old":"a","new":"b := 1"}]}`, "jjjjjl", "Go"},
		{"the member before counts, not one inside it", `{"meta":{"file":"x.py"},"text":"plain words only"}`, "jjjjl", "text"},
		{"nor one inside another member further out", `{"path":"a.py","meta":{"file":"x.go"},"e":{"new":"import os"}}`, "jjjjjjl", "Python"},
		{"its own key is no file name beside it", `{"file_text":"some words here"}`, "jl", "text"},
		{"a path is no code", `{"path":"cmd/main.go"}`, "jl", "text"},
		{"a diff", `{"patch":"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"}`, "jl", "Diff"},
		{"a patch of another form", `{"input":"*** Begin Patch\n*** Update File: x\n"}`, "jl", "Diff"},
		{"shell, by its key", `{"command":"grep -rn x . | head"}`, "jl", "Bash"},
		{"shell, by its first line", `{"body":"#!/bin/sh\necho hi\n"}`, "jl", "Bash"},
		{"Markdown", `{"body":"# Title\n\n- one\n- two\n"}`, "jl", "markdown"},
		{"JSON in a string", `{"body":"{\"a\":[1,2]}"}`, "jl", "JSON"},
		{"SQL, by its key", `{"query":"SELECT 1 FROM t"}`, "jl", "SQL"},
		{"words", `{"q":"where is the station"}`, "jl", "text"},
		{"from the key", `{"command":"ls"}`, "j", "Bash"},
		{"nothing", `{"command":""}`, "jl", "text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := new(anthropic).open("msg_1").call("toolu_1", "tool", c.args).seal()
			s := newScreen(t, 80, 24).feed(a.records...).press("2g" + c.keys + "<enter>")
			if !strings.HasPrefix(s.where(), "string of ") {
				t.Fatal(s.where())
			}
			before := s.text()
			s.finish().shows("B · " + c.want)
			if after := s.text(); strings.ReplaceAll(strings.ReplaceAll(after, c.want, ""), "━", "") != strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(before, "text ", " "), c.want, ""), "━", "") {
				t.Errorf("highlighting changed the text:\n%s\nbefore:\n%s", after, before)
			}
			if s.press("<esc>"); !strings.HasPrefix(s.where(), "arguments: ") {
				t.Error(s.where())
			}
		})
	}
}

// TestOpenDecodes checks that an open string is shown decoded.
func TestOpenDecodes(t *testing.T) {
	a := new(anthropic).open("msg_1").call("toolu_1", "tool", `{"s":"one\ntwo\t\"three\"\\\u00e9\ud83d\ude00\r\n\u001b[31mred\u202e\ud800 end`, `"}`).seal()
	s := newScreen(t, 80, 24).feed(a.records...).press("2jl<enter>")
	s.shows("▌   1 one", `    2 two    "three"\é😀␍`, `    3 ␛[31mred⟨U+202E⟩\ud800 end`, "━ ● complete")
	s.finish().shows("▌   1 one", `    2 two    "three"\é😀␍`, `    3 ␛[31mred⟨U+202E⟩\ud800 end`)
}

// TestOpenGrows checks that an open string grows, and that the view stays at the string's end if the end was in view.
// The call stays selected, and complete lines get colours.
func TestOpenGrows(t *testing.T) {
	a := new(anthropic).open("msg_1").call("toolu_1", "write", `{"path":"a.go","content":"package a\n\nfunc f`, `oo() {\ud83d`)
	s := newScreen(t, 80, 24).feed(a.records...).press("2<enter>")
	s.shows(".content · 23 B", "    1 package a", "▌   3 func foo() {█").hides("{\\ud83d█")
	n := len(a.records)
	s.finishJobs().shows("B · Go")
	s.feed(a.args(0, `\ude00\n}\n//`).more(n)...).shows("    3 func foo() {😀", "▌   5 //█").finishJobs()
	n = len(a.records)
	s.feed(a.args(0, `"}`).seal().call("toolu_2", "next", `{"a":`).more(n)...).shows("B · Go", "▌   5 //").hides("//█")
	if s.chosenName() != "write" || !s.doc.HasOpenString() {
		t.Errorf("it went on to %s", s.where())
	}
	s.press("<esc>").shows("complete", `"content": "package a`).press("F").shows(`"a": █`)
}

// TestOpenShrinks checks that if the call changes or becomes shorter, the view shows the new content.
func TestOpenShrinks(t *testing.T) {
	a := new(anthropic).open("msg_1").call("toolu_1", "tool", `{"s":"one\ntwo`, `\nthree"}`).seal().call("toolu_2", "next", `{"b":"other"}`)
	s := newScreen(t, 80, 24).feed(a.records...).press("1k2gjl<enter>").shows("    3 three", "13 B")
	for n := s.in.Timeline.Len(); n > 0; n-- {
		s.view = s.in.View().At(n)
		s.context.View = s.view
		s.refreshPanes()
		checkFrame(t, s)
	}
	s.view = s.in.View()
	s.context.View = s.view
	s.refreshPanes()
	s.shows(`"s": "one`).press("2gjl<enter>").shows("    3 three").press("1j").shows("other").hides("    3 three")
}

// finishJobs does the work in other goroutines, but does not wait for more records.
func (s *rig) finishJobs() *rig {
	s.t.Helper()
	for range 20 {
		cmd := s.cmd
		if s.cmd = nil; cmd == nil {
			break
		}
		msg := cmd()
		batch, many := msg.(tea.BatchMsg)
		if !many {
			batch = tea.BatchMsg{func() tea.Msg { return msg }}
		}
		for _, one := range batch {
			if d, ok := one().(workDone); ok {
				s.send(d)
			}
		}
	}
	return s
}

// TestOpenNothing checks that only strings and their keys can be opened.
func TestOpenNothing(t *testing.T) {
	a := new(anthropic).open("msg_1").call("toolu_1", "tool", `{"n":1,"o":{},"s":`)
	s := newScreen(t, 80, 24).feed(a.records...)
	for _, keys := range []string{"2g<enter>", "j<enter>", "l<enter>", "j<enter>", "j<enter>", "G<enter>"} {
		if s.press(keys).shows("no string here"); s.doc.HasOpenString() {
			t.Error(s.where())
		}
	}
	s = newScreen(t, 80, 24).feed(new(anthropic).open("msg_1").call("toolu_1", "tool").records...)
	if s.press("2<enter>"); s.doc.HasOpenString() {
		t.Error(s.where())
	}
}

// TestOpenBroken checks that a string that ends at an invalid byte is shown without a closing quote.
func TestOpenBroken(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{`{"s":"` + "\x01", ""}, {`{"s":"abc` + "\x01", "▌   1 abc"}, {`{"s":"abc\q"}`, "▌   1 abc"}, {`{"s":"abc\"` + "\n", `▌   1 abc"`}, {`{"s":"\\` + "\n", `▌   1 \`},
	} {
		a := new(anthropic).open("msg_1").call("toolu_1", "tool", c.args).seal()
		s := newScreen(t, 80, 24).feed(a.records...).press("2gjl<enter>")
		if s.shows(c.want); !s.doc.HasOpenString() {
			t.Errorf("%q does not open", c.args)
		}
	}
}

// TestOpenScrolls checks that long lines are wrapped between words, and that an open string can be searched
// and scrolled.
func TestOpenScrolls(t *testing.T) {
	var lines []string
	for n := range 60 {
		lines = append(lines, fmt.Sprintf("line %d of %s日本", n+1, strings.Repeat("words ", 12)))
	}
	a := new(anthropic).open("msg_1").call("toolu_1", "tool", `{"s":`+quote(strings.Join(lines, "\n"))+`}`).seal()
	s := newScreen(t, 60, 16).feed(a.records...).press("2gjl<enter>z").shows("▌   1 line 1 of", "      ↳ words")
	s.press("jj").shows("▌   2 line 2").press("G").shows("日本").hides("line 50 ").press("g").shows("▌   1 line 1")
	s.press("<pgdown><pgdown>").hides("line 1 of").press("<pgup><pgup>").shows("▌   1 line 1")
	s.press("/line 33<enter>").shows("▌  33 line 33", "1 of 1").press("<esc>").shows("line 33")
	checkFrame(t, s.resize(30, 10))
	s.resize(60, 16).shows("line 33").press("<esc>")
	if s.press("<esc>"); s.doc.HasOpenString() {
		t.Error(s.where())
	}
}

// TestLateHighlighting checks that highlighting is dropped if it is no longer needed when it is ready.
func TestLateHighlighting(t *testing.T) {
	a := new(anthropic).open("msg_1").call("toolu_1", "tool", `{"command":"ls | wc","q":"words"}`).seal()
	s := newScreen(t, 80, 24).feed(a.records...).press("2gjl<enter>")
	first := s.cmd
	s.press("<esc>").send(first())
	s.press("jl<enter>").send(first())
	s.shows("words", "B · text ").press("<esc>kl<enter>")
	second := s.cmd
	s.press("?").send(second())
	s.press("<esc>").shows("B · Bash")
}

// TestSuspend checks that the program is suspended only if that is possible.
func TestSuspend(t *testing.T) {
	stopped := 0
	s := newScreen(t, 80, 24, func(o *Options) { o.Suspend = func() { stopped++ } }).press("<c-z>")
	if msg := s.cmd(); msg != nil || stopped != 1 {
		t.Errorf("%v, %d", msg, stopped)
	}
	if s := newScreen(t, 80, 24).press("<c-z>"); s.cmd != nil {
		t.Error("asked to stop what cannot be stopped")
	}
}

// TestCrashInCommand checks that a panic in a command ends the program, and that the program reports the panic.
func TestCrashInCommand(t *testing.T) {
	s := newScreen(t, 80, 24)
	msg := recoverCmd(func() tea.Msg { panic("a bug") })()
	if batch := recoverCmd(tea.Batch(func() tea.Msg { panic("in a batch") }, func() tea.Msg { return nil }))().(tea.BatchMsg); true {
		if c, ok := batch[0]().(Crash); !ok || c.What != "in a batch" {
			t.Error("a panic in a batch is not a crash")
		}
	}
	s.send(msg)
	if s.cmd == nil || s.cmd() != tea.Quit() || s.Crashed() == nil || s.Crashed().Error() != "a bug in toolscope: a bug" {
		t.Errorf("%v", s.Crashed())
	}
	if recoverCmd(nil) != nil || CrashOf(nil) != nil {
		t.Error("nothing is a crash")
	}
}
