//go:build linux

package cli

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
	"toolscope/ui"
)

// bugs are programs that panic at different places. The message of the panic is hostile text.
var bugs = map[string]struct {
	keys string // keys that cause the panic
	run  func() (ui.Options, capture.Source)
}{
	"the first View": {"", func() (ui.Options, capture.Source) {
		return ui.Options{Playback: &faulty{view: true}}, endless(nil)
	}},
	"a later View": {" G", func() (ui.Options, capture.Source) {
		return ui.Options{Playback: &faulty{}}, endless(nil)
	}},
	"Update": {" ", func() (ui.Options, capture.Source) {
		return ui.Options{Playback: &faulty{update: true}}, endless(nil)
	}},
	"a command": {"\x1a", func() (ui.Options, capture.Source) {
		return ui.Options{Suspend: func() { panic(hostile) }}, endless(nil)
	}},
	"the source": {"", func() (ui.Options, capture.Source) {
		return ui.Options{}, endless(func() { panic(hostile) })
	}},
}

// faulty is a clock that panics: in Update if update is set, or else in View. The field view is set during an update.
type faulty struct{ view, update bool }

func (f *faulty) Pause(bool) {
	if f.update {
		panic(hostile)
	}
	f.view = true
}

func (f *faulty) Paused() bool {
	if f.view {
		panic(hostile)
	}
	return false
}

func (f *faulty) SetSpeed(float64) {}
func (f *faulty) Speed() float64   { return 1 }

// endless is a source with one record. After the record, it calls then, if that is set. It never ends.
func endless(then func()) capture.Source {
	return func(yield func(capture.Record, error) bool) {
		yield(capture.Record{Exchange: 1, Data: chat(toolChunk(`{"a":1}`))}, nil)
		if then != nil {
			then()
		}
		select {}
	}
}

// runBug runs the program with a bug.
func runBug(name string) int {
	a := (&app{ending: newShutdown(), stdin: os.Stdin, output: os.Stdout, messageOutput: messageOutput{stderr: lineWriter{to: os.Stderr}}}).linkParts()
	o, src := bugs[name].run()
	in := fileInbox()
	o.Source, o.Inbox = "a bug", in
	return a.finishRun(a.runScreen(o, func() { in.fillFrom(src) }, catchSignals(a.ending), nil))
}

// TestPanics checks that after every panic the terminal is restored, and the stack is in a file that only its owner
// can read.
func TestPanics(t *testing.T) {
	t.Parallel()
	for name, bug := range bugs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := create(t, t.TempDir(), "err")
			p := start(t, launch{helper: name, stderr: errs})
			if bug.keys != "" {
				p.untilShown("1 call")
				p.keys(bug.keys)
			}
			p.wantExit(1)
			p.wantRestored()
			p.wantStack(contents(t, errs))
		})
	}
}

func (p *console) wantStack(said string) {
	p.t.Helper()
	if strings.Count(said, "\n") > 3 || !strings.Contains(said, "a bug in toolscope") || strings.Contains(said, "goroutine") {
		p.t.Errorf("standard error:\n%s", said)
	}
	wantClean(p.t, said)
	files, _ := filepath.Glob(filepath.Join(p.folder, ".local", "state", "toolscope", "crashes", "toolscope-crash-*"))
	if len(files) != 1 || !strings.Contains(said, files[0]) {
		p.t.Fatalf("stack files %q; standard error:\n%s", files, said)
	}
	info, err := os.Stat(files[0])
	if err != nil || info.Mode() != 0o600 || time.Since(info.ModTime()) > limit {
		p.t.Errorf("%v, %v", info, err)
	}
	stack, err := os.ReadFile(files[0])
	if err != nil || !strings.Contains(string(stack), "crash_test.go") || !strings.Contains(string(stack), runtime.GOOS+"/"+runtime.GOARCH) || strings.Contains(string(stack), "\x1b") {
		p.t.Errorf("the stack is\n%s\n%v", stack, err)
	}
}

// TestCrashReport checks that the report has the latest keys, and the kind of the panic instead of its message. The
// error must show a part of the message, without secrets.
func TestCrashReport(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	crash := ui.CrashOf("bad " + canary + strings.Repeat(" text of the user", 100))
	crash.Stack, crash.RecentKeys = []byte("goroutine 1"), []string{"z  zoom the pane", "G  to the end"}
	err := reportCrash(crash)
	files, _ := filepath.Glob(filepath.Join(os.Getenv("XDG_STATE_HOME"), "toolscope", "crashes", "toolscope-crash-*"))
	if len(files) != 1 || !strings.Contains(err.Error(), files[0]) || !strings.Contains(err.Error(), "please send it: open an issue") || strings.Contains(err.Error(), canary) {
		t.Fatal(err, files)
	}
	text, _ := os.ReadFile(files[0])
	for _, want := range []string{"toolscope ", runtime.GOOS, "  z  zoom the pane\n  G  to the end\n", "goroutine 1", "send it", "a panic of type string"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), canary) || strings.Contains(string(text), "of the user") || strings.Count(err.Error(), "of the user") > 20 {
		t.Errorf("%s", text)
	}
}

// TestKindOfCrash checks that a report names a runtime error in the runtime's own words, which quote no data.
func TestKindOfCrash(t *testing.T) {
	panicOf := func(f func()) (c *ui.Crash) {
		defer func() { c = ui.CrashOf(recover()) }()
		f()
		return nil
	}
	var list []int
	for want, f := range map[string]func(){
		"runtime error: index out of range [3] with length 0": func() { list[3] = 1 },
		"a panic of type *errors.errorString":                 func() { panic(errors.New("captured text")) },
	} {
		if got := panicOf(f).Kind; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestCrashReportAnywhere checks that the report is written to the folder for temporary files if toolscope's own
// folder can't be created.
func TestCrashReportAnywhere(t *testing.T) {
	taken, temporary := filepath.Join(t.TempDir(), "a file"), t.TempDir()
	if err := os.WriteFile(taken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", taken)
	t.Setenv("TMPDIR", temporary)
	err := reportCrash(&ui.Crash{What: "bad", Stack: []byte("goroutine 1")})
	if files, _ := filepath.Glob(filepath.Join(temporary, "toolscope-crash-*")); len(files) != 1 || !strings.Contains(err.Error(), files[0]) {
		t.Error(err, files)
	}
}
