package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/ui"
)

// TestRemembered checks that the next run uses the saved theme and layout, independently of each other. Only the
// owner must be able to read their file, and invalid values must be ignored.
func TestRemembered(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("XDG_STATE_HOME", folder)
	if k := readSavedState(); k != (savedState{}) {
		t.Errorf("%+v from nothing", k)
	}
	layout := ui.Layout{List: 40, Low: 9, Columns: ui.Above, Tabs: ui.TabsOpen}
	saveLayout(ui.Layout{}, ui.Layout{})
	if files, _ := os.ReadDir(folder); len(files) != 0 {
		t.Error("there was nothing to remember")
	}
	saveLayout(ui.Layout{}, layout)
	path, err := saveTheme("dracula")
	if k := readSavedState(); err != nil || k != (savedState{"dracula", layout}) {
		t.Errorf("%+v, %v", k, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		t.Errorf("%v %v", info.Mode(), err)
	}
	for text, want := range map[string]savedState{
		"theme = 3\nlist = 'x'\nzzz = 1\nlow = -4\nside = 99999999\n": {layout: ui.Layout{Side: maxScreenCells}},
		"theme = 'a": {},
		"\xff":       {},
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if k := readSavedState(); k != want {
			t.Errorf("%q: %+v, want %+v", text, k, want)
		}
	}
}

// TestRememberedNowhere checks that nothing is saved if the folder is not writable. An error must appear only if the
// user asked to save.
func TestRememberedNowhere(t *testing.T) {
	taken := saved(t, "taken", "a file where a folder is wanted")
	t.Setenv("XDG_STATE_HOME", taken)
	saveLayout(ui.Layout{}, ui.Layout{List: 40})
	if _, err := saveTheme("dracula"); err == nil || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
	if k := readSavedState(); k != (savedState{}) {
		t.Errorf("%+v", k)
	}
}

// TestLogFile checks that the log has notes and errors without secrets, that only its owner can read it, and that its
// size is limited. A log that is not writable must cause an error.
func TestLogFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "x.log")
	command(t, nil, "--log", path, "no-such-file-"+canary)
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), "\n") != 2 || !strings.Contains(string(text), "started") || !strings.Contains(string(text), "no such file") || strings.Contains(string(text), canary) {
		t.Errorf("%v\n%s", err, text)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	l := &logFile{path: path, redactor: newRedactor()}
	long := strings.Repeat("word ", 20_000)
	for range 40 {
		if err := l.write(time.Now(), long); err != nil {
			t.Fatal(err)
		}
	}
	files, _ := filepath.Glob(path + "*")
	for _, f := range files {
		if info, _ := os.Stat(f); info.Size() > maxLogBytes+2*int64(len(long)) {
			t.Errorf("%s has %d bytes", f, info.Size())
		}
	}
	if len(files) != 2 {
		t.Error(files)
	}
	if out := command(t, nil, "--log", filepath.Dir(path), "-"); out.code != 1 || !strings.Contains(out.stderr, "--log "+filepath.Dir(path)) {
		t.Errorf("exit code %d, %s", out.code, out.stderr)
	}
}

// TestLogIsOne checks that the file has the same lines as the screen's log, including lines from before the file was
// opened. The value auto must select a file in toolscope's own folder.
func TestLogIsOne(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	a := (&app{messageOutput: messageOutput{stderr: lineWriter{to: io.Discard}}}).linkParts()
	a.printNote("noted before")
	if err := a.openLog(logIsOwn); err != nil {
		t.Fatal(err)
	}
	a.printNote("noted after")
	m := ui.New(ui.Options{Source: "x", Journal: &a.journal})
	m.Update(tea.WindowSizeMsg{Width: 100, Height: 20})
	for _, k := range []tea.KeyMsg{{Type: tea.KeyRunes, Runes: []rune("m:log")}, {Type: tea.KeyEnter}} {
		m.Update(k)
	}
	text, err := os.ReadFile(filepath.Join(os.Getenv("XDG_STATE_HOME"), "toolscope", "toolscope.log"))
	for _, want := range []string{"noted before", "noted after", "no turn to mark"} {
		if err != nil || !strings.Contains(string(text), want) || !strings.Contains(m.View(), want) {
			t.Errorf("%v: %q is not in\n%s\n%s", err, want, text, m.View())
		}
	}
}
