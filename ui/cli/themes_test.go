package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolscope/ui"
)

// TestOwnThemes checks that a user's theme is found by its name and by its file, and overrides a built-in style with
// the same name. Problems in the file must be reported with their places.
func TestOwnThemes(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	write := func(name, text string) string {
		path := filepath.Join(dir, "toolscope", "themes", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := write("dracula.toml", "live = 'bold #123456'\nlve = '#fff'\n")
	for _, name := range []string{"dracula", "Dracula", path} {
		var notes []string
		l, o := &lookFlags{theme: name}, ui.Options{}
		l.applyTo(&o, func(text string) { notes = append(notes, text) })
		if o.Theme.Live.FG != "#123456" || o.Theme.Name != "dracula" || len(o.Themes) != 1 || len(notes) != 1 || !strings.HasPrefix(notes[0], path+":2:1: lve: ") {
			t.Errorf("%s: %+v %v", name, o.Theme, notes)
		}
	}
	if _, err := saveTheme("dracula"); err != nil {
		t.Fatal(err)
	}
	l, o := &lookFlags{theme: "auto"}, ui.Options{}
	if l.applyTo(&o, func(string) {}); o.Theme.Live.FG != "#123456" {
		t.Errorf("saved: %+v", o.Theme)
	}
	bad := write("bad.toml", "live = 'blue'\n")
	for _, args := range [][]string{{"demo", "cut", "--theme", "bad"}, {"config", "theme", "bad"}, {"config", "theme", bad}} {
		if out := command(t, nil, args...); out.code != 2 || !strings.HasPrefix(out.stderr, "toolscope: "+bad+":1:1: live: not a style") {
			t.Errorf("%v: exit code %d, %s", args, out.code, out.stderr)
		}
	}
	for want, args := range map[string][]string{
		`unknown theme "draculb": did you mean dracula?`: {"demo", "cut", "--theme", "draculb"},
		"no such file": {"demo", "cut", "--theme", "./nothing.toml"},
	} {
		if out := command(t, nil, args...); out.code != 2 || !strings.Contains(out.stderr, want) {
			t.Errorf("%v: exit code %d, %s", args, out.code, out.stderr)
		}
	}
	if out := command(t, nil, "help", "themes"); !strings.Contains(out.stdout, "  bad\n") || !strings.Contains(out.stdout, "  toolscope-high-contrast\n") {
		t.Errorf("help themes:\n%s", out.stdout)
	}
}

// TestThemeIsAFile checks that a theme is printed as a file that defines the same theme, and that low contrasts are
// marked.
func TestThemeIsAFile(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	first := command(t, nil, "config", "theme", "monokai")
	again := command(t, nil, "config", "theme", saved(t, "monokai.toml", first.stdout))
	if first.code+again.code != 0 || first.stdout != again.stdout || again.stderr != "" || !strings.Contains(first.stdout, "\nkey = \"bold #f92672\"") && !strings.Contains(first.stdout, "\nkey = \"#f92672\"") {
		t.Errorf("%s%s\n%s%s", first.stdout, first.stderr, again.stdout, again.stderr)
	}
	dim := command(t, nil, "config", "theme", saved(t, "dim.toml", "muted = '#333333'\n"))
	if !strings.Contains(dim.stdout, "hard to read: use 4.5 or more") || strings.Count(dim.stdout, "hard to read") != 1 {
		t.Errorf("%s", dim.stdout)
	}
}
