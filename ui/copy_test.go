package ui

import (
	"errors"
	"io"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
)

// TestCopies checks that the chosen data is copied or written unchanged.
func TestCopies(t *testing.T) {
	var copied, saved, name string
	forms := []modes.ExportForm{
		{Key: "k", What: display.Lit("a form of it"), File: "form.txt", Make: func(v *providers.View, r stream.Ref) ([]byte, error) {
			_, c := v.Find(r)
			return []byte("form of " + c.Name), nil
		}},
		{Key: "c", What: display.Lit("one that fails"), Make: func(*providers.View, stream.Ref) ([]byte, error) { return nil, errors.New("it was not captured") }},
	}
	s := newScreen(t, 80, 24, func(o *Options) {
		o.Forms = forms
		o.Copy = func(b []byte) (string, error) { copied = string(b); return "a wire", nil }
		o.Save = func(n string, b []byte) (string, error) { name, saved = n, string(b); return "./" + n, nil }
	}).feed(new(anthropic).open("msg_1").call("toolu_1", "tool", `{"a":"b"}`).seal().records...)
	s.press("y").shows("Copy  from tool", "▌a all arguments", "v verdict", "9 B", "i id", "k a form of it", "w to a file instead")
	if s.press("a").finish(); copied != `{"a":"b"}` {
		t.Errorf("copied %q", copied)
	}
	s.shows("copied all arguments (9 B), by a wire").hides("Copy  from")
	if s.press("yi").finish(); copied != "toolu_1" {
		t.Errorf("copied %q", copied)
	}
	if s.press("yw<down><down>").shows("Write  from tool", "y copy instead").press("k").shows("Write a form of it to tool-form.txt").press("<bs>2<enter>").finish(); saved != "form of tool" || name != "tool-form.tx2" {
		t.Errorf("saved %q as %q", saved, name)
	}
	s.shows("saved a form of it (12 B): ./tool-form.tx2")
	if s.press("wv<esc>").shows("Write  from tool").press("v<enter>").finish(); saved != "tool: complete" {
		t.Errorf("saved %q", saved)
	}
	s.press("yc").shows("it was not captured", "Copy  from tool").press("<esc>").hides("Copy  from")
	s.press("e").shows("not here")
	newScreen(t, 80, 24, func(o *Options) { o.Copy = func([]byte) (string, error) { return "", nil } }).press("y").shows("nothing selected to export")
}

// TestPipes checks that a command receives the chosen data, and that its output is shown sanitised.
func TestPipes(t *testing.T) {
	var asked, got string
	s := newScreen(t, 80, 24, func(o *Options) {
		o.Pipe = func(command string, b []byte) ([]byte, error) {
			asked, got = command, string(b)
			return []byte("out\x1b[31m\nmore"), errors.New("exit status 3")
		}
	}).feed(new(anthropic).open("msg_1").call("toolu_1", "tool", `{"a":"b"}`).seal().records...)
	s.press("|a").shows("| all arguments to").press("jq .a<enter>").finish()
	if asked != "jq .a" || got != `{"a":"b"}` {
		t.Errorf("%q got %q", asked, got)
	}
	s.shows("| jq .a", "out", "more", "out␛[31m", "exit status 3").press("<esc>").hides("more")
}

// silentEditor is a program that uses the terminal and does nothing.
type silentEditor struct{ tea.ExecCommand }

func (silentEditor) Run() error          { return nil }
func (silentEditor) SetStdin(io.Reader)  {}
func (silentEditor) SetStdout(io.Writer) {}
func (silentEditor) SetStderr(io.Writer) {}

// TestEdits checks that the editor receives the chosen data, and that a reason is shown if the editor can't
// be started.
func TestEdits(t *testing.T) {
	var opened string
	var failure error
	s := newScreen(t, 80, 24, func(o *Options) {
		o.Edit = func(name string, b []byte) (tea.ExecCommand, func(), error) {
			opened = name + ": " + string(b)
			return silentEditor{}, func() {}, failure
		}
	}).feed(new(anthropic).open("msg_1").call("toolu_1", "tool", `{"a":"b"}`).seal().records...)
	if s.press("ea"); opened != `arguments.json: {"a":"b"}` || s.cmd == nil {
		t.Errorf("opened %q", opened)
	}
	failure = errors.New("vi: no such program")
	s.press("ea").shows("not opened: vi: no such program")
}

// stopper is a breakpoint that holds the responses that a test names.
type stopper struct {
	filter string
	holds  []modes.Hold
	let    []modes.ResumeMode
}

func (b *stopper) Filter() string      { return b.filter }
func (b *stopper) Holds() []modes.Hold { return b.holds }

func (b *stopper) Set(filter string) error {
	if filter == "bad" {
		return errors.New("bad: no such field")
	}
	b.filter = filter
	return nil
}

func (b *stopper) Resume(_ int, how modes.ResumeMode) { b.let = append(b.let, how) }

// TestBreaks checks that held responses are shown with their next event, and resume as the user chooses.
func TestBreaks(t *testing.T) {
	agent(t, 80, 24).press("b").shows("breakpoints need a proxy")
	point := &stopper{}
	newScreen(t, 80, 24, func(o *Options) { o.Break, o.Setup = point, &SetupGuide{} }).press("b").shows("hold matching")
	s := newScreen(t, 80, 24, func(o *Options) { o.Break = point }).feed(new(anthropic).open("msg_1").call("toolu_1", "tool", `{"a":"b"}`).records...)
	s.press("b").shows("hold matching").press("bad<enter>").shows("bad: no such field").press("<esc>").hides("Break")
	s.press("btool:tool<enter>").shows("Break tool:tool", "nothing is held:")
	point.holds = []modes.Hold{{
		Exchange: 0, Why: "tool of turn 1 matches tool:tool", For: 3 * time.Second, Left: time.Minute, Given: 120, Waiting: 40,
		Next: []byte("data: {\"x\":1}\n\n"),
	}}
	s.press("j").shows("HELD 1", "tool of turn 1 matches", "1m00s left", "40 B wait", "Next  15 B", `data: {"x":1}`)
	s.press(".<enter>x")
	if len(point.let) != 3 || point.let[0] != modes.ResumeOneEvent || point.let[1] != modes.ResumeUntilMatch || point.let[2] != modes.CutConnection {
		t.Errorf("let %v", point.let)
	}
	s.press("o").hides("Break")
	if s.chosenName() != "turn 1" {
		t.Error("o leads to", s.chosenName())
	}
	s.press("b").shows("HELD 1").press("<esc>").hides("HELD 1")
}
