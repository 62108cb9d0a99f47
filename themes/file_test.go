package themes

import (
	"errors"
	"fmt"
	"reflect"
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

// TestRead checks that ReadTOML returns each value with its position, in the order of the file.
func TestRead(t *testing.T) {
	want := []Setting{
		{"", "theme", "a", Position{2, 1}},
		{"", "keep", int64(3), Position{3, 3}},
		{"proxy", "to", []any{"x", "y"}, Position{5, 1}},
		{"proxy.break", "time", 1.5, Position{6, 1}},
	}
	got, err := ReadTOML([]byte("# é\ntheme = 'a'\n  \"keep\" = 3\n[proxy]\nto = ['x', 'y']\nbreak.time = 1.5\n[keys]\n\"é\".zoom = {a = true, b = 'c'}\n"))
	want = append(want, Setting{"keys.é.zoom", "a", true, Position{8, 13}}, Setting{"keys.é.zoom", "b", "c", Position{8, 23}})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n%v\nwant\n%v", err, got, want)
	}
	if got[4].Name() != "keys.é.zoom.a" || got[0].Name() != "theme" {
		t.Error(got[4].Name(), got[0].Name())
	}
}

// TestWrong checks that the error for invalid TOML has its line and column.
func TestWrong(t *testing.T) {
	for text, want := range map[string]Position{
		"a = 1\nb = \n":        {2, 5},
		"a = 1\na = 2\n":       {2, 1},
		"a = 'x\n":             {1, 7},
		"[x\n":                 {1, 3},
		"é = 1\n":              {1, 1},
		"ok = 1\nk = '\xff'\n": {2, 6},
	} {
		_, err := ReadTOML([]byte(text))
		var wrong *SyntaxError
		if !errors.As(err, &wrong) || wrong.Position != want || wrong.What == "" {
			t.Errorf("%q: %v, want it at %v", text, err, want)
		}
	}
}

// TestLists checks that a list of tables is read, and that the Value of each of its settings is nil.
func TestLists(t *testing.T) {
	got, err := ReadTOML([]byte("[[a]]\nb = 1\n[[a]]\nb = 2\n"))
	if err != nil || len(got) != 2 || got[1].Name() != "a.b" || got[1].Value != nil || got[1].Line != 4 {
		t.Errorf("%v %v", err, got)
	}
}

// FuzzRead checks that no input makes ReadTOML panic, and that each position is in the file.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"a = 1", "[a.b]\nc = {d = 'e'}", "[[x]]\ny = [1,\n2]\n", "\"\" = '''\n'''", "a.b.c = 1979-05-27"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ReadTOML([]byte(text))
		for _, s := range all {
			if err != nil || s.Line < 1 || s.Column < 1 {
				t.Errorf("%q: %v, %v", text, s, err)
			}
		}
	})
}
