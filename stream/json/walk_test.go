package json

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const walked = `{"log":{"version":"1.2","entries":[{"a":"}\\\"]","n":[1,{"x":[]}]} , "two", 3,[4],null],` +
	`"entr\u0069es":[true],"other":{"entries":[9]}},"entries":[8]}` + "\n" + `{"log":{"entries":[-1.5e3]}} 7 "log"`

var walkedPaths = [][]string{{"log", "entries", "*"}, {"log", "version"}, {"entries"}}

func walkParts(paths [][]string, parts ...string) (found []FoundValue, w *Walk) {
	w = &Walk{Paths: paths}
	give := func(f FoundValue) {
		f.Raw = slices.Clone(f.Raw)
		found = append(found, f)
	}
	for _, p := range parts {
		w.Write([]byte(p), give)
	}
	w.Close(give)
	return found, w
}

func TestWalkGivesWhatPathsLeadTo(t *testing.T) {
	found, w := walkParts(walkedPaths, walked)
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprintf("%d %s", f.Path, f.Raw))
		if at := walked[f.At:][:f.Size]; at != string(f.Raw) || f.Cut || f.Long {
			t.Errorf("%s stands at %d as %s (%+v)", f.Raw, f.At, at, f)
		}
	}
	want := []string{
		`1 "1.2"`, `0 {"a":"}\\\"]","n":[1,{"x":[]}]}`, `0 "two"`, `0 3`, `0 [4]`, `0 null`, `0 true`, `2 [8]`, `0 -1.5e3`,
	}
	if !slices.Equal(got, want) || w.Stray != 0 || w.Open() {
		t.Errorf("got  %q\nwant %q, stray %d", got, want, w.Stray)
	}
}

func TestWalkTheTextItself(t *testing.T) {
	found, w := walkParts([][]string{{}}, "{\"a\":1}\n[2] \"x\"true 12")
	var got []string
	for _, f := range found {
		got = append(got, string(f.Raw))
	}
	if want := []string{`{"a":1}`, "[2]", `"x"`, "true", "12"}; !slices.Equal(got, want) || w.Open() {
		t.Errorf("got %q, want %q; open %v", got, want, w.Open())
	}
}

func sameFound(a, b FoundValue) bool {
	return a.Path == b.Path && bytes.Equal(a.Raw, b.Raw) && a.At == b.At && a.Size == b.Size && a.Cut == b.Cut && a.Long == b.Long
}

func checkChunks(t *testing.T, text string) {
	t.Helper()
	paths := append([][]string{{"b", "*"}}, walkedPaths...)
	whole, w := walkParts(paths, text)
	bytewise, v := walkParts(paths, strings.Split(text, "")...)
	var twos []string
	for i := 0; i < len(text); i += 2 {
		twos = append(twos, text[i:min(i+2, len(text))])
	}
	pairs, _ := walkParts(paths, twos...)
	if !slices.EqualFunc(whole, bytewise, sameFound) || !slices.EqualFunc(whole, pairs, sameFound) || w.Stray != v.Stray || w.StrayAt != v.StrayAt {
		t.Errorf("of %q\nwhole    %+v\nbytewise %+v\npairs %+v", text, whole, bytewise, pairs)
	}
}

func TestWalkWhereverItIsCut(t *testing.T) {
	whole, _ := walkParts(walkedPaths, walked)
	for n := range walked {
		checkChunks(t, walked[:n])
		found, _ := walkParts(walkedPaths, walked[:n])
		for i, f := range found {
			if complete := f.At+f.Size < int64(n); complete && !sameFound(f, whole[i]) {
				t.Fatalf("cut at %d: %+v, want %+v", n, f, whole[i])
			}
		}
		for i, f := range whole {
			if f.At+f.Size <= int64(n) && i >= len(found) {
				t.Fatalf("cut at %d: %s is missing", n, f.Raw)
			}
		}
	}
}

// TestWalkDeepAndLong checks that a walk finds the values after a very deep one and after a very long one, and that
// its memory for the long one is limited.
func TestWalkDeepAndLong(t *testing.T) {
	deep := `{"log":{"x":` + strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000) + `,"entries":[1]}}`
	if found, _ := walkParts(walkedPaths, deep); len(found) != 1 || string(found[0].Raw) != "1" {
		t.Errorf("behind a deep value: %d found", len(found))
	}
	w := Walk{Paths: walkedPaths}
	var found []FoundValue
	give := func(f FoundValue) { found = append(found, f) }
	w.Write([]byte(`{"log":{"entries":["`), give)
	block := bytes.Repeat([]byte("x"), 1<<20)
	for range MaxValueBytes/len(block) + 1 {
		w.Write(block, give)
		if cap(w.held) > 2*MaxValueBytes {
			t.Fatalf("holds %d bytes", cap(w.held))
		}
	}
	w.Write([]byte(`",2]}}`), give)
	if len(found) != 2 || !found[0].Long || found[0].Raw != nil || found[0].Size < MaxValueBytes || string(found[1].Raw) != "2" {
		t.Errorf("behind a long value: %d found", len(found))
	}
}

func TestWalkTellsWhatDoesNotBelong(t *testing.T) {
	found, w := walkParts(walkedPaths, `{"log":{"entries":[1,}2],oops "version":"3"}}`)
	if w.Stray != 5 || w.StrayAt != 21 || len(found) != 3 {
		t.Errorf("%d stray bytes from %d on, %d found", w.Stray, w.StrayAt, len(found))
	}
}

func FuzzWalk(f *testing.F) {
	f.Add(walked)
	f.Add(`{"b":[1,{"c":"\\"},"\u00e9\"",-0.5e1,[[]]] x`)
	f.Add(`{"b":["a`)
	f.Fuzz(func(t *testing.T, text string) {
		checkChunks(t, text)
		var doc struct {
			B []json.RawMessage `json:"b"`
		}
		if json.Unmarshal([]byte(text), &doc) != nil || strings.Count(text, "b")+strings.Count(strings.ToLower(text), `\u0062`) != 1 {
			return
		}
		found, w := walkParts([][]string{{"b", "*"}}, text)
		if w.Stray > 0 || len(found) != len(doc.B) {
			t.Fatalf("%q: %d found, want %d; %d stray", text, len(found), len(doc.B), w.Stray)
		}
		for i, b := range doc.B {
			if !bytes.Equal(found[i].Raw, b) {
				t.Errorf("%q: found %q, want %q", text, found[i].Raw, b)
			}
		}
	})
}

func TestMembers(t *testing.T) {
	const object = ` { "a" : [1 , "x]"] ,"b\n":"c\u00e9\"", "a":2, "cut": "..`
	var got []string
	for k, v := range Members([]byte(object)) {
		got = append(got, fmt.Sprintf("%s=%s", k, v))
	}
	want := []string{`a=[1 , "x]"]`, "b\n=\"c\\u00e9\\\"\"", "a=2", `cut="..`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if s := FindText([]byte(object), "b\n"); s != "cé\"" {
		t.Errorf("text %q", s)
	}
	if _, ok := Text(Find([]byte(object), "cut")); ok {
		t.Error("a string that is cut reads as one")
	}
	var elements []string
	for e := range Elements(Find([]byte(object), "a")) {
		elements = append(elements, string(e))
	}
	if !slices.Equal(elements, []string{"1", `"x]"`}) {
		t.Errorf("elements %q", elements)
	}
	if Find([]byte("[1]"), "a") != nil || Find(nil) != nil || !IsNull(Find([]byte(`{"a":null}`), "a")) {
		t.Error("what is not there is found")
	}
}

func BenchmarkWalk(b *testing.B) {
	entry := `{"body":"` + strings.Repeat(`data: {\"type\":\"x\"}\n`, 5000) + `","headers":[{"name":"a","value":"b"}]}`
	text := []byte(`{"log":{"entries":[` + strings.Repeat(entry+",", 50) + `1]}}`)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		w := Walk{Paths: walkedPaths}
		for at := 0; at < len(text); at += 64 << 10 {
			w.Write(text[at:min(at+64<<10, len(text))], func(FoundValue) {})
		}
	}
}
