package themes

import (
	"errors"
	"reflect"
	"testing"
)

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
