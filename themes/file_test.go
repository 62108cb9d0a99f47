package themes

import (
	"fmt"
	"strings"
	"testing"
)

// written returns the theme file for a theme.
func written(t Theme) string {
	var b strings.Builder
	fmt.Fprintf(&b, "dark = %t\n", t.Dark)
	for _, r := range t.Roles() {
		fmt.Fprintf(&b, "%s = %q\n", r.Name, r.Style)
	}
	return b.String()
}

// TestThemeFiles checks that writing and reading a theme does not change it, and that its file has every role.
func TestThemeFiles(t *testing.T) {
	for _, want := range allOurs() {
		got, problems := Parse(want.Name, []byte(written(want)))
		if len(problems) > 0 || got.Code == nil {
			t.Errorf("%s: %v", want.Name, problems)
		}
		got.Code, want.Code = nil, nil
		if got != want {
			t.Errorf("%s:\n%+v\nwant\n%+v", want.Name, got, want)
		}
	}
	for what := range inksOf(Theme{}) {
		if !strings.Contains(written(Theme{}), "\n"+what+" = ") {
			t.Errorf("a file cannot name %s", what)
		}
	}
}

// TestThemeBase checks that roles that are not set come from the base theme.
func TestThemeBase(t *testing.T) {
	dracula, _ := Lookup("dracula", true)
	got, problems := Parse("mine", []byte("base = 'dracula'\nbad = 'bold underline #f00 bg:#123456'\n"))
	if want := (TextStyle{FG: "#ff0000", BG: "#123456", Bold: true, Underline: true}); len(problems) > 0 || got.Bad != want || got.Good != dracula.Good || got.Name != "mine" || !got.Dark {
		t.Errorf("%v %+v", problems, got)
	}
	got, problems = Parse("mine", []byte("dark = false\ncode = 'github'\nmuted = '#eeeeee'\n"))
	github, _ := Lookup("github", false)
	if len(problems) > 0 || got.Dark || got.Good != Default(false).Good || got.Code.Name != github.Code.Name {
		t.Errorf("%v %+v", problems, got)
	}
	for _, r := range got.Roles() {
		if weak := r.Contrast > 0 && r.Contrast < r.MinContrast; weak != (r.Name == "muted") {
			t.Errorf("%s: %+v", r.Name, r)
		}
	}
}

// TestOldThemeFile checks that a file without a role for the frame, written before that role existed, is a theme
// without problems.
func TestOldThemeFile(t *testing.T) {
	for _, dark := range []bool{true, false} {
		var old []string
		for line := range strings.Lines(written(Default(dark))) {
			if !strings.HasPrefix(line, "frame") {
				old = append(old, line)
			}
		}
		got, problems := Parse("mine", []byte(strings.Join(old, "")))
		if len(problems) > 0 || got.Frame != Default(dark).Frame || got.Good != Default(dark).Good {
			t.Errorf("%v %+v", problems, got.Frame)
		}
	}
}

// TestThemeProblems checks that problems have a position, and that unknown roles are ignored.
func TestThemeProblems(t *testing.T) {
	for text, want := range map[string]string{
		"\nlve = '#fff'":          "2:1 lve: unknown role: did you mean live? false",
		"zzzzzzzz = '#fff'":       "1:1 zzzzzzzz: unknown role; use page, live, ",
		"live = 'blue'":           "1:1 live: not a style: use e.g. \"bold #56b4e9\" or \"bg:#2c3f57\" true",
		"live = 3":                "1:1 live: not a style",
		"live = ''":               "1:1 live: not a style",
		"live = '#12345'":         "1:1 live: not a style",
		"[live]\nfg = '#fff'":     "2:1 live.fg: unknown role",
		"dark = 'yes'":            "1:1 dark: use true or false true",
		"base = 'dracul'":         "1:1 base: unknown theme \"dracul\": did you mean dracula?",
		"code = 'nothing'":        "1:1 code: unknown theme \"nothing\"",
		"live = '#fff'\nlive = 1": "2:1 ",
	} {
		_, problems := Parse("x", []byte(text))
		if len(problems) != 1 {
			t.Errorf("%q: %v", text, problems)
			continue
		}
		p := problems[0]
		if got := fmt.Sprintf("%d:%d %s %t", p.Line, p.Column, p.Text, p.Grave); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s\nwant %s", text, got, want)
		}
	}
}
