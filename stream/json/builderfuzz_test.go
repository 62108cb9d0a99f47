package json

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// plain is the tree that a list of patches describes, built in the simplest way.
type plain struct {
	kind  byte // { [ " v, or 0 if it is not set
	value any
	more  bool
	list  []*plain
	names map[string]*plain
}

func (p *plain) set(path []any, value any, more bool) {
	if len(path) == 0 {
		text, isText := value.(string)
		switch {
		case isText && p.more:
			p.value = p.value.(string) + text
		case isText:
			*p = plain{kind: '"', value: text}
		default:
			*p = plain{kind: 'v', value: value}
		}
		p.more = isText && more
		return
	}
	switch key := path[0].(type) {
	case string:
		if p.kind != '{' {
			*p = plain{kind: '{', names: map[string]*plain{}}
		}
		if p.names[key] == nil {
			p.names[key] = new(plain)
		}
		p.names[key].set(path[1:], value, more)
	case int:
		if p.kind != '[' {
			*p = plain{kind: '['}
		}
		for len(p.list) <= key {
			p.list = append(p.list, new(plain))
		}
		p.list[key].set(path[1:], value, more)
	}
}

func (p *plain) any() any {
	switch p.kind {
	case '{':
		m := map[string]any{}
		for k, v := range p.names {
			m[k] = v.any()
		}
		return m
	case '[':
		l := []any{}
		for _, v := range p.list {
			l = append(l, v.any())
		}
		return l
	}
	return p.value
}

// FuzzBuilder checks that any patches produce the same JSON as a simple tree, and that the JSON doesn't depend on how
// strings are cut into deltas.
func FuzzBuilder(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed, uint8(30))
	}
	f.Fuzz(func(t *testing.T, seed uint64, count uint8) {
		r := rand.New(rand.NewPCG(seed, 1))
		var whole, cut []patchOf
		want := new(plain)
		path := randomPath(r)
		for range count {
			if r.IntN(2) == 0 {
				path = randomPath(r)
			}
			value, more := randomValue(r), r.IntN(3) == 0
			lit, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			p := patchOf{written(r, path), string(lit), more}
			whole = append(whole, p)
			if text, ok := value.(string); ok { // the same string in deltas, the last of which is empty
				for _, c := range text {
					one, _ := json.Marshal(string(c))
					cut = append(cut, patchOf{written(r, path), string(one), true})
				}
				p.value = `""`
			}
			cut = append(cut, p)
			want.set(path, value, more)
		}
		b, _, _ := build(t, whole)
		c, _, _ := build(t, cut)
		if count == 0 {
			return
		}
		var got any
		if err := json.Unmarshal(b.Text(), &got); err != nil {
			t.Fatalf("%s: %v\n%v", b.Text(), err, whole)
		}
		if !reflect.DeepEqual(got, want.any()) {
			t.Fatalf("%s\nwant %v\n%v", b.Text(), want.any(), whole)
		}
		if string(c.Text()) != string(b.Text()) {
			t.Fatalf("in pieces %s\nwhole %s\n%v", c.Text(), b.Text(), cut)
		}
	})
}

func randomPath(r *rand.Rand) (path []any) {
	names := []string{"a", "b", "c.d", "it's", "é", ""}
	for range r.IntN(5) {
		if r.IntN(3) == 0 {
			path = append(path, r.IntN(4))
		} else {
			path = append(path, names[r.IntN(len(names))])
		}
	}
	return path
}

// written returns the path as text, with each name in one of its possible notations.
func written(r *rand.Rand, path []any) string {
	text := "$"
	for _, s := range path {
		switch key := s.(type) {
		case int:
			text += fmt.Sprintf("[%d]", key)
		case string:
			if plainName := key != "" && !strings.ContainsAny(key, ".'"); plainName && r.IntN(2) == 0 {
				text += "." + key
			} else if lit, _ := json.Marshal(key); r.IntN(2) == 0 {
				text += "[" + string(lit) + "]"
			} else {
				text += "['" + strings.ReplaceAll(key, "'", `\'`) + "']"
			}
		}
	}
	return text
}

func randomValue(r *rand.Rand) any {
	return []any{1.5, true, nil, "", "x", "q\"\\\n", "<é😀>", "long text", "y", "z"}[r.IntN(10)]
}
