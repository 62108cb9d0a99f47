package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/muesli/termenv"

	"toolscope/stream"
	"toolscope/themes"
	"toolscope/ui"
	"toolscope/ui/display"
	units "toolscope/ui/screen"
)

// withoutInks removes only the escape sequences of toolscope's own inks.
func withoutInks(out string) string {
	var pairs []string
	for _, dark := range []bool{true, false} {
		theme := themes.Default(dark)
		for _, depth := range []termenv.Profile{termenv.TrueColor, termenv.ANSI256, termenv.ANSI} {
			pen := colourPen{paints: units.NewPaints(theme, depth, false), bold: boldEscape}
			for i := range wrongInk + 1 {
				if on := pen.escapeOf(i); on != "" {
					pairs = append(pairs, on, "")
				}
			}
		}
	}
	return strings.NewReplacer(append(pairs, "\x1b[0m", "")...).Replace(out)
}

// inColours sets the environment of a terminal with the given number of colours.
func inColours(t *testing.T, terminal, colours string) {
	t.Helper()
	for name, value := range map[string]string{"TERM": terminal, "COLORTERM": colours, "NO_COLOR": "", "CLICOLOR": "", "CLICOLOR_FORCE": "", "COLORFGBG": ""} {
		t.Setenv(name, value)
	}
}

// savedDemo saves the scenarios of the demo in a folder, and makes it the current folder.
func savedDemo(t *testing.T) (names []string) {
	t.Helper()
	dir := t.TempDir()
	if got := command(t, nil, "demo", "--save", dir); got.code != 0 {
		t.Fatal(got.stderr)
	}
	t.Chdir(dir)
	names, _ = filepath.Glob("*.tsc")
	return names
}

// colourCases returns command lines whose output has colours.
func colourCases(names []string) (all [][]string) {
	for _, name := range names {
		all = append(all, []string{"print", name}, []string{"check", name})
	}
	return append(all, []string{"replay", "malformed.tsc"}, []string{"print", "--summary", "malformed.tsc"}, []string{"replay", "malformed.tsc", "--to", "gemini", "--policy", "repair"},
		[]string{"replay", "index-zero.tsc", "--policy", "behaviours", "--to", "openai-chat"}, []string{"diff", "schema.tsc", "early.tsc"}, []string{"diff", "index-zero.tsc", "compare.tsc"})
}

// TestColoursChangeNoText checks that coloured output without its escape sequences equals the output in a pipe,
// byte for byte. Plain output must not have escape sequences.
func TestColoursChangeNoText(t *testing.T) {
	for _, depth := range [][2]string{{"xterm", ""}, {"xterm-256color", ""}, {"xterm-256color", "truecolor"}} {
		inColours(t, depth[0], depth[1])
		for _, args := range colourCases(savedDemo(t)) {
			plain, coloured := command(t, nil, args...), command(t, nil, append(args, "--color", "always")...)
			same(t, 0, "exit code", coloured.code, plain.code)
			same(t, 0, "text of "+strings.Join(args, " "), withoutInks(coloured.stdout), plain.stdout)
			same(t, 0, "notes", coloured.stderr, plain.stderr)
			if strings.Contains(plain.stdout, "\x1b") || !strings.Contains(coloured.stdout, "\x1b[") {
				t.Errorf("%v: escape sequences in plain text, or none in\n%s", args, coloured.stdout)
			}
		}
	}
}

// TestColourGoldens compares the coloured output for the demo's captures with golden files, on dark and light
// backgrounds.
func TestColourGoldens(t *testing.T) {
	goldens, err := filepath.Abs("testdata/colour")
	if err != nil {
		t.Fatal(err)
	}
	inColours(t, "xterm-256color", "truecolor")
	names := savedDemo(t)
	for _, theme := range []string{"toolscope-dark", "toolscope-light"} {
		var out strings.Builder
		for _, args := range colourCases(names) {
			fmt.Fprintf(&out, "$ toolscope %s\n%s", strings.Join(args, " "), command(t, nil, append(args, "--color", "always", "--theme", theme)...).stdout)
		}
		golden := filepath.Join(goldens, theme+".ansi")
		if *update {
			if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || string(want) != out.String() {
			t.Errorf("%s differs (%v): look at it with -update", golden, err)
		}
	}
}

// TestColourFlags checks that no escape sequence remains when colours are turned off, whichever way is used.
// --color always must override the environment.
func TestColourFlags(t *testing.T) {
	savedDemo(t)
	for name, c := range map[string]struct {
		env, args []string
		code      int
		coloured  bool
	}{
		"a file":               {},
		"never":                {args: []string{"--color", "never"}},
		"--no-color":           {args: []string{"--no-color"}},
		"--plain":              {args: []string{"--plain"}},
		"always":               {args: []string{"--color", "always"}, coloured: true},
		"always with NO_COLOR": {env: []string{"NO_COLOR", "1"}, args: []string{"--color", "always"}, coloured: true},
		"always when dumb":     {env: []string{"TERM", "dumb"}, args: []string{"--color=always"}, coloured: true},
		"set to always":        {env: []string{"TOOLSCOPE_COLOR", "always"}, coloured: true},
		"always, not set so":   {env: []string{"TOOLSCOPE_COLOR", "always"}, args: []string{"--no-color"}},
		"jsonl":                {args: []string{"--color", "always", "--format", "jsonl"}},
		"forced by CLICOLOR":   {env: []string{"CLICOLOR_FORCE", "1"}},
		"both":                 {args: []string{"--color", "always", "--no-color"}, code: 2},
		"a wrong value":        {args: []string{"--color", "maybe"}, code: 2},
		"a wrong theme":        {args: []string{"--color", "always", "--theme", "none-such"}, code: 2},
	} {
		t.Run(name, func(t *testing.T) {
			inColours(t, "xterm-256color", "truecolor")
			if c.env != nil {
				t.Setenv(c.env[0], c.env[1])
			}
			got := command(t, nil, append([]string{"print", "malformed.tsc"}, c.args...)...)
			same(t, 0, "exit code", got.code, c.code)
			if strings.Contains(got.stdout, "\x1b") != c.coloured || strings.Contains(got.stderr, "\x1b") {
				t.Errorf("colours: want %t in\n%s%s", c.coloured, got.stdout, got.stderr)
			}
		})
	}
}

// TestColoursAreQuiet checks that a call without problems has no warning colour, and that a call with a fault has
// one.
func TestColoursAreQuiet(t *testing.T) {
	inColours(t, "xterm-256color", "truecolor")
	savedDemo(t)
	for name, loud := range map[string]bool{"parallel.tsc": false, "malformed.tsc": true, "schema.tsc": true} {
		for _, dark := range []bool{true, false} {
			look := themes.Default(dark)
			paints := units.NewPaints(look, termenv.TrueColor, false)
			out := command(t, nil, "print", name, "--color", "always", "--theme", look.Name).stdout
			warm := slices.ContainsFunc([]units.Role{units.Bad, units.Caution, units.JunkToken}, func(r units.Role) bool {
				return strings.Contains(out, paints.Escape(r, units.Bare))
			})
			same(t, 0, name+" is loud", warm, loud)
		}
	}
}

// TestInkedLine checks that an inked line has the text of the plain line, for all kinds of arguments.
func TestInkedLine(t *testing.T) {
	pen := &colourPen{paints: units.NewPaints(themes.Default(true), termenv.TrueColor, false), bold: boldEscape}
	for _, text := range []string{"", " ", "plain", "  blanks  ", "\u0301mark", "e\u0301", "👩", "\u200d👩", "\x1b[31m", "\xff\xed\xa0\xbd", strings.Repeat("\u0301", 20), "%s%d", "🇩", "🇪"} {
		for _, next := range []string{"x", "\u0301", "\u200d🏿", "🇪", "\xa0", " "} {
			args := func() []any { return []any{inMuted(text), next, inBold(next), ofSeverity(stream.Error, text), 7} }
			const format = "  %-8s %s%s%s 100%% %3d "
			var plain, inked bytes.Buffer
			lineWriter{to: &plain}.printLine(format, args()...)
			lineWriter{to: &inked, pen: pen}.printLine(format, args()...)
			same(t, 0, fmt.Sprintf("%q and %q", text, next), withoutInks(inked.String()), plain.String())
			if display.Clean(strings.TrimSuffix(plain.String(), "\n")).String() != strings.TrimSuffix(plain.String(), "\n") {
				t.Errorf("%q is not clean", plain.String())
			}
		}
	}
}

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
