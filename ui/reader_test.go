package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// TestKinds: what a string holds is known by its looks, by the file named beside it, and by its
// key.
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
		{"nothing", `{"command":""}`, "jl", "Bash"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := new(anthropic).open("msg_1").call("toolu_1", "tool", c.args).seal()
			s := newScreen(t, 80, 24).feed(a.records...).press("2g" + c.keys + "<enter>").shows("OPENED")
			before := s.rows()[2:]
			s.shows(" text, ").settle().shows(" "+c.want+", ", "OPENED")
			if after := s.rows()[2:]; strings.Join(after, "\n") != strings.Join(before, "\n") {
				t.Errorf("highlighting changed the text:\n%s\nbefore:\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
			}
			if s.press("<esc>"); !strings.HasPrefix(s.where(), "arguments: ") {
				t.Error(s.where())
			}
		})
	}
}

// TestOpenDecodes: a string is shown as what it says, not as it is written.
func TestOpenDecodes(t *testing.T) {
	a := new(anthropic).open("msg_1").call("toolu_1", "tool", `{"s":"one\ntwo\t\"three\"\\\u00e9\ud83d\ude00\r\n\u001b[31mred\u202e\ud800 end`, `"}`).seal()
	s := newScreen(t, 80, 24).feed(a.records...).press("2jl<enter>")
	s.shows("   1 one", `   2 two    "three"\é😀␍`, `   3 ␛[31mred⟨U+202E⟩\ud800 end`, "3 lines")
	s.settle().shows("   1 one", `   2 two    "three"\é😀␍`, `   3 ␛[31mred⟨U+202E⟩\ud800 end`, "3 lines")
}

// TestOpenUnfinished: what has come of a string can be read before its end.
func TestOpenUnfinished(t *testing.T) {
	a := new(anthropic).open("msg_1").call("toolu_1", "write", `{"path":"a.go","content":"package a\n\nfunc f`, `oo() {\u00`)
	s := newScreen(t, 80, 24).feed(a.records...).press("2<enter>")
	s.shows("OPENED", "   1 package a", "   3 func foo() {", "3 lines, as far as it had come")
	if s.cmd != nil {
		t.Error("half a string is highlighted")
	}
	n := len(a.records)
	s.feed(a.args(0, `7d\n"}`).seal().more(n)...).shows("   3 func foo() {").press("<esc>").shows("complete")
	s.press("h<enter>").shows("   4").settle().shows("Go, 4 lines").hides("had come")
}

// TestOpenNothing: only strings and their keys are opened.
func TestOpenNothing(t *testing.T) {
	a := new(anthropic).open("msg_1").call("toolu_1", "tool", `{"n":1,"o":{},"s":`)
	s := newScreen(t, 80, 24).feed(a.records...)
	for _, keys := range []string{"2g<enter>", "j<enter>", "l<enter>", "j<enter>", "j<enter>", "G<enter>"} {
		s.press(keys).shows("no string here").hides("OPENED")
	}
	s = newScreen(t, 80, 24).feed(new(anthropic).open("msg_1").call("toolu_1", "tool").records...)
	s.press("2<enter>").hides("OPENED")
}

// TestOpenBroken: a string that a wrong byte ended has no closing quote.
func TestOpenBroken(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{`{"s":"` + "\x01", "   1"}, {`{"s":"abc` + "\x01", "   1 abc"}, {`{"s":"abc\q"}`, "   1 abc"}, {`{"s":"abc\"` + "\n", `   1 abc"`}, {`{"s":"\\` + "\n", `   1 \`},
	} {
		a := new(anthropic).open("msg_1").call("toolu_1", "tool", c.args).seal()
		s := newScreen(t, 80, 24).feed(a.records...).press("2gjl<enter>").shows("OPENED")
		if row := s.rows()[2]; strings.TrimPrefix(row, "▌") != c.want {
			t.Errorf("%q opens as %q, want %q", c.args, row, c.want)
		}
	}
}

// TestReaderScrolls in both directions.
func TestReaderScrolls(t *testing.T) {
	var lines []string
	for n := range 60 {
		lines = append(lines, fmt.Sprintf("line %d of %s日本", n+1, strings.Repeat("x", 69)))
	}
	a := new(anthropic).open("msg_1").call("toolu_1", "tool", `{"s":`+quote(strings.Join(lines, "\n"))+`}`).seal()
	s := newScreen(t, 60, 12).feed(a.records...).press("2gjl<enter>").shows("▌   1 line 1 of", "60 lines")
	s.press("j").shows("▌   2 line 2").press("G").shows("▌  60 line 60").hides("line 50 ").press("g").shows("▌   1 line 1")
	s.press("<pgdown>").shows("▌   9 line 9").press("<pgup>").shows("▌   1 line 1")
	s.press("l").shows("▌   1 f xxx").press("lllllll").shows("日本").press("hhhhhhhhh").shows("▌   1 line 1 of")
	checkFrame(t, s.press("lllllllllll")) // from the middle of a wide character
	if far := s.shows("▌   1 本").text(); s.press("lll").text() != far {
		t.Errorf("it scrolls beyond the lines:\n%s", s.text())
	}
	if !strings.Contains(helpText(s.press("?")), "to the left") {
		t.Error("the help does not say how to scroll")
	}
	s.press("<esc>").shows("OPENED").press("q").hides("OPENED").shows("WIRE")
}

// TestLateHighlighting: colours that come when nobody waits for them are dropped.
func TestLateHighlighting(t *testing.T) {
	a := new(anthropic).open("msg_1").call("toolu_1", "tool", `{"command":"ls | wc","q":"words"}`).seal()
	s := newScreen(t, 80, 24).feed(a.records...).press("2gjl<enter>")
	first := s.cmd
	s.press("<esc>").send(first())
	s.hides("OPENED").press("jl<enter>").send(first())
	s.shows("words", " text, ").press("<esc>kl<enter>")
	second := s.cmd
	s.press("?").send(second())
	s.press("<esc>").shows("Bash, 1 line")
}

// TestSuspend stops the program only where there is a way to.
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

// TestCrashInCommand: a bug in a command ends the program with its name.
func TestCrashInCommand(t *testing.T) {
	s := newScreen(t, 80, 24)
	msg := guard(func() tea.Msg { panic("a bug") })()
	if batch := guard(tea.Batch(func() tea.Msg { panic("in a batch") }, func() tea.Msg { return nil }))().(tea.BatchMsg); true {
		if c, ok := batch[0]().(Crash); !ok || c.What != "in a batch" {
			t.Error("a panic in a batch is not a crash")
		}
	}
	s.send(msg)
	if s.cmd == nil || s.cmd() != tea.Quit() || s.Crashed() == nil || s.Crashed().Error() != "a bug in toolscope: a bug" {
		t.Errorf("%v", s.Crashed())
	}
	if guard(nil) != nil || Recovered(nil) != nil {
		t.Error("nothing is a crash")
	}
}
