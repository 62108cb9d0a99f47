package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
