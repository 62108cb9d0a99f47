package json

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// wide is a shape with every kind of Binding.
type wide struct {
	shape                      *Shape
	kind, whole, text, strange Value
	choices                    List[wideChoice]
}

type wideChoice struct {
	index, args Value
	calls       List[Value]
}

func newWide() *wide {
	w := new(wide)
	w.shape = ShapeOf(
		Field("type", &w.kind),
		Object("delta", Field("text", &w.text).Or("thinking")).Into(&w.whole),
		Each("choices", &w.choices, (*wideChoice).fields),
		Other(&w.strange))
	return w
}

func (c *wideChoice) fields() []Binding {
	return []Binding{
		Field("index", &c.index),
		Object("function", Field("arguments", &c.args)),
		Each("calls", &c.calls, func(id *Value) []Binding { return []Binding{Field("id", id)} }),
	}
}

// String formats all values that were read.
func (w *wide) String() string {
	s := fmt.Sprintf("%q %q %q %q given=%t", w.kind, w.whole, w.text, w.strange, w.choices.IsPresent())
	for i := range w.choices.Len() {
		c := w.choices.At(i)
		s += fmt.Sprintf(" [%q %q", c.index, c.args)
		for j := range c.calls.Len() {
			s += fmt.Sprintf(" %q", *c.calls.At(j))
		}
		s += "]"
	}
	return s
}

// frames are texts for a wide: frames that look alike, frames that don't, and wrong texts.
var frames = []string{
	`{"type":"a","delta":{"text":"x"}}`,
	`{"type":"ab","delta":{"text":"\"y\\"}}`,
	`{"type":"a","delta":{"text":null}}`,
	`{"type":"a","delta":{"thinking":"z","more":[1,2]}}`,
	`{"type":"a", "delta" : {"text":"x"} }` + "\n",
	`{"type":"a","delta":"no object"}`,
	`{"type":"a","delta":{}}`,
	`{"odd":1,"type":2,"odder":3}`,
	`{"odd":1.5e3,"type":-2,"odder":30}`,
	`{"o\u0064d":1}`,
	`{"choices":[]}`,
	`{"choices":[{"index":0,"function":{"arguments":"{\"a"}}]}`,
	`{"choices":[{"index":10,"function":{"arguments":"\": 1}"}}]}`,
	`{"choices":[{"index":0},{"index":1,"calls":[{"id":"x"},{"id":"y"}]},null,7]}`,
	`{"choices":[{"index":0,"calls":[{"id":"x"}]}],"choices":[{"index":1}]}`,
	`{"choices":{"index":0}}`,
	`{"type":"a","type":"b"}`,
	`{"type":01}`, `{"type":}`, `{"type":"a`, `{"type":"` + "\x01" + `"}`, `{"type":"\x"}`, `{"type":"a"} 1`, `[1]`, ``, `{`,
	`{"type":[{"a":["b",1]},2],"n":[true,false,null]}`,
}

// TestShapeRemembers checks that earlier frames don't affect how a shape reads a frame. The result equals that of a
// new shape, and that of a Scanner.
func TestShapeRemembers(t *testing.T) {
	for _, first := range frames {
		for _, second := range frames {
			w := newWide()
			for _, frame := range []string{first, second, first, second, second} {
				checkShape(t, w, []byte(frame))
			}
		}
	}
	w := newWide()
	for i := range 3000 { // more frames than the cache traces without a match
		checkShape(t, w, []byte(strings.Repeat(" ", i%100)+frames[i*7%len(frames)]))
	}
}

// TestShapeHeads does the same as TestShapeRemembers for frames with different common beginnings, in which different
// values change from frame to frame.
func TestShapeHeads(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	shapes := []string{
		`{"type":%s,"delta":{"text":%s},"odd":%s}`,
		`{"type":%s,"delta":{"thinking":%s},"odd":%s}`,
		`{"odd":%s,"choices":[{"index":%s,"function":{"arguments":%s}}]}`,
	}
	values := []string{"1", "12", "1e5", "1.25", "-1", "01", "1-", `""`, `"a"`, `"ab"`, `"a\"b"`, `"a\\"`, `"\u00e9"`, `"\u00"`, "null"}
	for range 50 {
		w, given := newWide(), [3]any{values[0], values[7], values[8]}
		stay := 1 + r.IntN(6) // a value changes once in this many frames
		for range 40 {
			for i := range given {
				if r.IntN(stay) == 0 {
					given[i] = values[r.IntN(len(values))]
				}
			}
			checkShape(t, w, fmt.Appendf(nil, shapes[r.IntN(1+r.IntN(len(shapes)))], given[:]...))
		}
	}
}

// TestShapeHeadGrows checks that the head contains everything that the frames have in common before the first hole
// that changes. After a different frame, the head grows again.
func TestShapeHeadGrows(t *testing.T) {
	w := newWide()
	read := func(kind string, n int, text string) *frameTemplate {
		frame := fmt.Appendf(nil, `{"type":%q,"odd":%d,"delta":{"text":%q},"end":"%d"}`, kind, n, text, len(text))
		checkShape(t, w, frame)
		return w.shape.known.looks[0]
	}
	for range 3 {
		read("a", 1, "")
	}
	for i, want := range []struct {
		kind string
		n    int
		head string
	}{
		{"a", 1, `{"type":"a","odd":1,"delta":{"text":`}, {"a", 1, `{"type":"a","odd":1,"delta":{"text":`},
		{"a", 2, `{"type":"a","odd":2,"delta":{"text":`}, {"a", 2, `{"type":"a","odd":2,"delta":{"text":`},
		{"a", 21, `{"type":"a","odd":21,"delta":{"text":`}, {"b", 21, `{"type":"b","odd":21,"delta":{"text":`},
	} {
		var l *frameTemplate
		for j := range 3 {
			l = read(want.kind, want.n, strings.Repeat("x", 10*i+j))
		}
		if string(l.head) != want.head || l.fresh {
			t.Errorf("after frame %d the head is %s, fresh %t", i, l.head, l.fresh)
		}
	}
}

func checkShape(t *testing.T, w *wide, frame []byte) {
	t.Helper()
	fresh := newWide()
	want, got := fresh.shape.Read(frame), w.shape.Read(frame)
	if fmt.Sprint(want) != fmt.Sprint(got) {
		t.Fatalf("%s: %v, want %v", frame, got, want)
	}
	if (got == nil) != (json.Valid(frame) && strings.HasPrefix(strings.TrimSpace(string(frame)), "{")) {
		t.Fatalf("%s: %v", frame, got)
	}
	if got == nil && w.String() != fresh.String() {
		t.Fatalf("%s\n got %s\nwant %s", frame, w, fresh)
	}
	if plain := plainly(frame); got == nil && w.String() != plain {
		t.Fatalf("%s\n got %s\nwant %s", frame, w, plain)
	}
}

// plainly reads the frame field by field with a Scanner, and returns the values that a wide would read.
func plainly(frame []byte) string {
	var kind, whole, text, strange Value
	given, choices := false, ""
	eachMember(frame, func(name string, v Value) {
		switch name {
		case "type":
			kind = v
		case "delta":
			whole = v
			eachMember(v, func(name string, v Value) {
				if name == "text" || name == "thinking" {
					text = v
				}
			})
		case "choices":
			given = given || v.Kind() == '['
			for choice := range v.Elements() {
				if choice.Kind() == '{' {
					choices += plainChoice(choice)
				}
			}
		default:
			if strange == nil {
				strange = Value(name)
			}
		}
	})
	return fmt.Sprintf("%q %q %q %q given=%t%s", kind, whole, text, strange, given, choices)
}

func plainChoice(choice Value) string {
	var index, args Value
	calls := ""
	eachMember(choice, func(name string, v Value) {
		switch name {
		case "index":
			index = v
		case "function":
			if arguments := v.Get("arguments"); arguments != nil {
				args = arguments
			}
		case "calls":
			for call := range v.Elements() {
				if call.Kind() == '{' {
					calls += fmt.Sprintf(" %q", call.Get("id"))
				}
			}
		}
	})
	return fmt.Sprintf(" [%q %q%s]", index, args, calls)
}

func eachMember(v Value, visit func(name string, v Value)) {
	s := v.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		visit(string(s.Key()), s.Value())
	}
}

// TestShapeOnce checks that a frame that looks like earlier frames is read by a template.
func TestShapeOnce(t *testing.T) {
	w := newWide()
	for i, frame := range []string{
		`{"type":"a","choices":[{"index":0,"function":{"arguments":"{"}}]}`,
		`{"type":"ab","choices":[{"index":1,"function":{"arguments":"\""}}]}`,
		`{"type":"","choices":[{"index":2,"function":{"arguments":""}}]}`,
		`{"type":"bb","choices":[{"index":12,"function":{"arguments":"}\n"}}]}`,
	} {
		if known := w.shape.known.read([]byte(frame)); known != (i > 2) {
			t.Errorf("frame %d: known %t", i, known)
		}
		if err := w.shape.Read([]byte(frame)); err != nil {
			t.Error(err)
		}
	}
	if c := w.choices.At(0); w.kind.Text() != "bb" || string(c.index) != "12" || c.args.Text() != "}\n" {
		t.Errorf("%s", w)
	}
	for _, frame := range []string{`{}`, `{"type":"a"}`} {
		w := newWide()
		for range 3 {
			_ = w.shape.Read([]byte(frame))
		}
		if !w.shape.known.read([]byte(frame)) {
			t.Errorf("no template for %s", frame)
		}
	}
	frame := []byte(`{"type":"a","choices":[{"index":0,"function":{"arguments":"{"}}]}`)
	if n := testing.AllocsPerRun(100, func() { _ = w.shape.Read(frame) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzShape(f *testing.F) {
	for i := range frames {
		f.Add([]byte(frames[i]), []byte(frames[(i+1)%len(frames)]))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		w := newWide()
		for _, frame := range [][]byte{first, second, first, second} {
			checkShape(t, w, frame)
		}
	})
}

func BenchmarkShape(b *testing.B) {
	frame := []byte(`{"type":"a","choices":[{"index":0,"function":{"arguments":"{\"some\": \"text of"}}],"created":1234567,"id":"abcdefghi"}`)
	for _, name := range []string{"known", "new"} {
		b.Run(name, func(b *testing.B) {
			w := newWide()
			for b.Loop() {
				if name == "new" {
					w.shape.known = templateCache{missed: maxMisses + 1}
				}
				if err := w.shape.Read(frame); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestLongList reads a list with more elements than Read reads.
func TestLongList(t *testing.T) {
	const n = 3*maxReadElements + 7
	var text strings.Builder
	text.WriteString(`{"choices":[0`)
	for i := range n {
		fmt.Fprintf(&text, `,{"index":%d},"not an object"`, i)
		if i%3 == 0 {
			fmt.Fprintf(&text, `,{"function":{"arguments":%d},"calls":[{"id":1},{"id":%d}]}`, i, i)
		}
	}
	text.WriteString(`]}`)
	w := newWide()
	if err := w.shape.Read([]byte(text.String())); err != nil {
		t.Fatal(err)
	}
	if got, want := w.choices.Len(), n+(n+2)/3; got != want {
		t.Fatalf("%d elements, want %d", got, want)
	}
	firstLate := func() string {
		c := w.choices.At(maxReadElements)
		return fmt.Sprintf("index %q args %q", c.index, c.args)
	}
	want := firstLate()
	at := 0
	for i := range n {
		if c := w.choices.At(at); string(c.index) != fmt.Sprint(i) || c.args != nil || c.calls.Len() != 0 {
			t.Fatalf("element %d: index %q args %q, %d calls; want index %d", at, c.index, c.args, c.calls.Len(), i)
		}
		at++
		if i%3 != 0 {
			continue
		}
		if c := w.choices.At(at); c.index != nil || string(c.args) != fmt.Sprint(i) || c.calls.Len() != 2 || string(*c.calls.At(1)) != fmt.Sprint(i) {
			t.Fatalf("element %d: index %q args %q, %d calls; want args %d and 2 calls", at, c.index, c.args, c.calls.Len(), i)
		}
		at++
	}
	if again := firstLate(); again != want {
		t.Errorf("going back gives %s, want %s", again, want)
	}
	if err := w.shape.Read([]byte(`{"choices":[{"index":5}]}`)); err != nil || w.choices.Len() != 1 || string(w.choices.At(0).index) != "5" {
		t.Errorf("a short list after a long one: %d elements, %v", w.choices.Len(), err)
	}
}
