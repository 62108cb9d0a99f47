package json

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// patchOf is one patch as the tests write it: its path, its value, and … if more of the string follows.
type patchOf struct {
	path, value string
	more        bool
}

func patches(lines string) (list []patchOf) {
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		line, more := strings.CutSuffix(line, "…")
		path, value, _ := strings.Cut(line, " ")
		list = append(list, patchOf{path, value, more})
	}
	return list
}

// build applies patches. After each patch it checks that the text is the beginning of a JSON text, and that the text
// only grows unless the patch reports Rewritten.
func build(t *testing.T, list []patchOf) (b *Builder, seen string, rewrites int) {
	t.Helper()
	b = new(Builder)
	take := func(p PatchResult, err error, what any) {
		t.Helper()
		if err != nil {
			t.Fatalf("%v: %v", what, err)
		}
		if p.Rewritten {
			rewrites++
			seen = string(b.Text())
		} else {
			seen += string(p.Added)
		}
		if !b.stale && seen != string(b.Text()) {
			t.Fatalf("%v: the events say %q, the text is %q", what, seen, b.Text())
		}
		var l Lexer
		l.Write([]byte(seen))
		if s := l.Syntax(); s != SyntaxPrefix && s != SyntaxOther && s != SyntaxEmpty {
			t.Fatalf("%v: %q is %v", what, seen, s)
		}
	}
	for i, p := range list {
		done, err := b.Apply([]byte(p.path), Value(p.value), p.more)
		take(done, err, fmt.Sprint(i, p))
	}
	p := b.Close()
	if p.Rewritten {
		rewrites++
		seen = string(b.Text())
	} else {
		seen += string(p.Added)
	}
	if seen != string(b.Text()) {
		t.Fatalf("at the end the events say %q, the text is %q", seen, b.Text())
	}
	return b, seen, rewrites
}

func TestBuilder(t *testing.T) {
	for _, test := range []struct {
		name, patches, want string
		rewrites            int
	}{
		{"nothing", ``, ``, 0},
		{"a string in pieces", "$.a \"Bos\"…\n$.a \"ton\"…\n$.a \"\"", `{"a":"Boston"}`, 0},
		{"a string at once", `$.a "x"`, `{"a":"x"}`, 0},
		{"a string that nobody closes", `$.a "x"…`, `{"a":"x"}`, 0},
		{"values of every kind", "$.a 1.50\n$.b true\n$.c null\n$.d -1e+2\n$.e \"\"", `{"a":1.50,"b":true,"c":null,"d":-1e+2,"e":""}`, 0},
		{"a value that is missing", "$.a ", `{"a":null}`, 0},
		{"nested", "$.r.i[0].a \"1\"…\n$.r.i[0].a \"\"\n$.r.i[0].n \"x\"\n$.r.i[1].a \"2\"\n$.r.n \"y\"\n$.s[0] 1\n$.s[1] 2",
			`{"r":{"i":[{"a":"1","n":"x"},{"a":"2"}],"n":"y"},"s":[1,2]}`, 0},
		{"arrays in arrays", "$.m[0][0] 1\n$.m[0][1] 2\n$.m[1][0] 3", `{"m":[[1,2],[3]]}`, 0},
		{"a sparse array", "$.a[2] 1\n$.a[5].b 2", `{"a":[null,null,1,null,null,{"b":2}]}`, 0},
		{"a hole is filled", "$.a[2] 1\n$.a[0] 2\n$.a[1].x 3", `{"a":[2,{"x":3},1]}`, 2},
		{"a hole is filled with null", "$.a[1] 1\n$.a[0] null", `{"a":[null,1]}`, 1},
		{"quoted names", `$['a.b']["c d"]['it\'s'] 1` + "\n" + `$["a.b"]['']  2`, ``, -1},
		{"text that must be escaped", `$.a "q\"\\\n\t\u0001\u003c\/"…` + "\n" + `$.a "é\u00e9"`, `{"a":"q\"\\\n\t\u0001</éé"}`, 0},
		{"a character in two halves", `$.a "\ud83d"…` + "\n" + `$.a "\ude00"`, `{"a":"\ud83d\ude00"}`, 0},
		{"back into a closed object", "$.a.x 1\n$.b 2\n$.a.y 3\n$.c 4", `{"a":{"x":1,"y":3},"b":2,"c":4}`, 1},
		{"strings that take turns", "$.a \"1\"…\n$.b \"2\"…\n$.a \"3\"…\n$.a \"4\"\n$.b \"5\"", `{"a":"134","b":"25"}`, 2},
		{"a string that is closed late", "$.a \"1\"…\n$.b \"2\"…\n$.a \"\"\n$.b \"3\"", `{"a":"1","b":"23"}`, 0},
		{"a value is overwritten", "$.a 1\n$.a 2\n$.a \"x\"\n$.a \"y\"", `{"a":"y"}`, 3},
		{"the same again", "$.a 1\n$.a 1\n$.b \"x\"\n$.b \"x\"", `{"a":1,"b":"x"}`, 0},
		{"a value becomes a container", "$.a 1\n$.a.b 2\n$.a[0] 3", `{"a":[3]}`, 2},
		{"a container becomes a value", "$.a.b \"x\"…\n$.a 2\n$.c 3", `{"a":2,"c":3}`, 1},
		{"the root itself", `$ "x"…` + "\n" + `$ "y"`, `"xy"`, 0},
		{"the root becomes an object", "$ 1\n$.a 2", `{"a":2}`, 1},
		{"no dollar", "a.b 1\n.a.c 2\na[0] 3", `{"a":[3]}`, 1},
		{"the root is an array", "$[0] 1\n$[1] 2", `[1,2]`, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.rewrites < 0 { // paths with spaces
				b := new(Builder)
				for _, p := range []string{`$['a.b']["c d"]['it\'s "it"']`, `$["a.b"]['']`, `$["\u0061\"]"]`} {
					if _, err := b.Apply([]byte(p), Value("1"), false); err != nil {
						t.Fatal(err)
					}
				}
				b.Close()
				if want := `{"a.b":{"c d":{"it's \"it\"":1},"":1},"a\"]":1}`; string(b.Text()) != want {
					t.Errorf("%s, want %s", b.Text(), want)
				}
				return
			}
			b, seen, rewrites := build(t, patches(test.patches))
			if seen != test.want || rewrites != test.rewrites {
				t.Errorf("%s with %d rewrites, want %s with %d", seen, rewrites, test.want, test.rewrites)
			}
			if len(seen) > 0 && !json.Valid(b.Text()) {
				t.Error("not JSON")
			}
		})
	}
}

func TestBuilderSaysWhatItOverwrites(t *testing.T) {
	b := new(Builder)
	for _, test := range []struct {
		path, value string
		more, over  bool
	}{
		{"$.a", "1", false, false}, {"$.a", "2", false, true}, {"$.a.b", "3", false, true}, {"$.c", `"x"`, true, false},
		{"$.c", `"y"`, false, false}, {"$.c", `"z"`, false, true}, {"$.d[1]", "1", false, false}, {"$.d[0]", "2", false, false},
		{"$.d", "1", false, true},
	} {
		p, err := b.Apply([]byte(test.path), Value(test.value), test.more)
		if err != nil || p.Overwritten != test.over {
			t.Errorf("%s %s: %+v, %v", test.path, test.value, p, err)
		}
	}
}

func TestBuilderRefuses(t *testing.T) {
	for _, path := range []string{
		"", "$.", "$..a", "$.*", "$[*]", "$[-1]", "$[1:2]", "$[?@.a]", "$['a','b']", "$['a'", "$['a\\'", "$[", "$[1", "$.a[99999999999999999999]",
		"$.a.", "$['\\x']", "$.a[101]", strings.Repeat("$", 2), "$" + strings.Repeat(".a", MaxDepth+1),
	} {
		b := new(Builder)
		if _, err := b.Apply([]byte("$.k"), Value("1"), false); err != nil {
			t.Fatal(err)
		}
		if p, err := b.Apply([]byte(path), Value("2"), false); err == nil {
			t.Errorf("%.40q is taken: %s", path, p.Added)
		}
		if string(b.Text()) != `{"k":1` {
			t.Errorf("%.40q changed the text: %s", path, b.Text())
		}
	}
}

// TestBuilderIsNotSlowedDown applies patches that go back and forth in a long text. It checks that the text is not
// rebuilt each time, and that the final text is correct.
func TestBuilderIsNotSlowedDown(t *testing.T) {
	list := []patchOf{{"$.long", `"` + strings.Repeat("x", 100_000) + `"`, false}}
	for i := range 20_000 {
		list = append(list, patchOf{"$." + "ab"[i%2:i%2+1], `"y"`, true})
	}
	for i := range 2000 { // and many names
		list = append(list, patchOf{fmt.Sprintf("$.o.n%d", i), "1", false})
	}
	b, seen, rewrites := build(t, list)
	var v struct {
		A, B string
		O    map[string]int
	}
	if err := json.Unmarshal([]byte(seen), &v); err != nil || len(v.A) != 10_000 || len(v.B) != 10_000 || len(v.O) != 2000 {
		t.Errorf("%v: %d, %d, %d", err, len(v.A), len(v.B), len(v.O))
	}
	if rewrites > 20 || len(b.Text()) < 120_000 {
		t.Errorf("%d rewrites of %d bytes", rewrites, len(b.Text()))
	}
}
