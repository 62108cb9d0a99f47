package stream

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// framed is a frame that owns its bytes.
type framed struct {
	Kind        FrameKind
	Event, Data string
	End         int64
	Cut         bool
	Failed      bool
}

// frames splits the writes into frames with f. It overwrites the bytes of each write afterwards, as the contract of
// Frame allows.
func frames(f Framer, writes ...[]byte) (out []framed) {
	emit := func(fr Frame) {
		out = append(out, framed{fr.Kind, string(fr.Event), string(fr.Data), fr.End, fr.Truncated, fr.Failed})
	}
	for _, p := range writes {
		p = bytes.Clone(p)
		f.Write(p, emit)
		for i := range p {
			p[i] = '#'
		}
	}
	f.Close(emit)
	return out
}

// checkFramer checks the invariants for any bytes. Frames don't depend on how the bytes are cut. A frame is emitted
// as soon as its last byte arrives. Frames tile the stream. After the last frame, only characters for which
// nothing(r) is true may remain.
func checkFramer(t testing.TB, newFramer func() Framer, wire []byte, nothing func(rune) bool) {
	t.Helper()
	want := frames(newFramer(), wire)
	checkFrameTiles(t, wire, want, nothing)
	same := func(how string, got []framed) {
		t.Helper()
		if !slices.Equal(want, got) {
			t.Fatalf("%.200q, %s (-whole +cut):\n%s", wire, how, cmp.Diff(want, got))
		}
	}
	for cut := range len(wire) + 1 {
		same("cut in two", frames(newFramer(), wire[:cut], wire[cut:]))
	}
	rng := rand.New(rand.NewPCG(1, uint64(len(wire))))
	for range 5 {
		same("cut at random", frames(newFramer(), randomCuts(rng, wire)...))
	}
	same("byte by byte", promptFrames(t, newFramer(), wire))
}

// promptFrames writes single bytes and checks that each frame is emitted with its last byte.
func promptFrames(t testing.TB, f Framer, wire []byte) (out []framed) {
	t.Helper()
	at, open := int64(0), true
	emit := func(fr Frame) {
		if open && fr.End != at {
			t.Fatalf("%.200q: the frame that ends at %d came after byte %d", wire, fr.End, at)
		}
		out = append(out, framed{fr.Kind, string(fr.Event), string(fr.Data), fr.End, fr.Truncated, fr.Failed})
	}
	for i := range wire {
		at++
		f.Write(wire[i:i+1], emit)
	}
	open = false
	f.Close(emit)
	return out
}

func checkFrameTiles(t testing.TB, wire []byte, got []framed, nothing func(rune) bool) {
	t.Helper()
	end := int64(0)
	for i, f := range got {
		if f.End <= end || f.End > int64(len(wire)) {
			t.Fatalf("%.200q: frame %d ends at %d, the one before at %d", wire, i, f.End, end)
		}
		if f.Cut && i != len(got)-1 {
			t.Fatalf("%.200q: frame %d of %d is cut", wire, i, len(got))
		}
		end = f.End
	}
	rest := wire[end:]
	if end == 0 {
		rest = bytes.TrimPrefix(rest, utf8BOM)
	}
	if lost := bytes.FieldsFunc(rest, nothing); len(lost) > 0 {
		t.Fatalf("%.200q: %q belongs to no frame", wire, lost)
	}
}

func data(text string, end int) framed { return framed{Data: text, End: int64(end)} }

func cut(f framed) framed { f.Cut = true; return f }

func residue(text string, end int) framed {
	return framed{Kind: FrameResidue, Data: text, End: int64(end), Cut: true}
}

type frameCase struct {
	wire string
	want []framed
}

var lineCases = []frameCase{
	{"", nil},
	{"\n \r\n\n", nil},
	{"{\"a\":1}\n", []framed{data(`{"a":1}`, 8)}},
	{"1\r\n2\n\n 3 \n", []framed{data("1", 3), data("2", 5), data("3", 10)}},
	{"1\n2", []framed{data("1", 2), cut(data("2", 3))}},
	{"1\n2\r", []framed{data("1", 2), cut(data("2", 4))}},
	{"\ufeff1\n\ufeff2\n", []framed{data("1", 5), data("\ufeff2", 10)}},
	{"\ufeff", nil},
	{"a\rb\n", []framed{data("a\rb", 4)}},
}

var arrayCases = []frameCase{
	{"", nil},
	{"[]", nil},
	{" [\n]\n", nil},
	{`[{"a":1}]`, []framed{data(`{"a":1}`, 8)}},
	{"[{\"a\":1}\r\n,\r\n{\"b\":2}\r\n]", []framed{data(`{"a":1}`, 8), data(`{"b":2}`, 20)}},
	{"\ufeff[{}]", []framed{data(`{}`, 6)}},
	{`[{"a":"]}[{,"},{"b":"\"]"}]`, []framed{data(`{"a":"]}[{,"}`, 14), data(`{"b":"\"]"}`, 26)}},
	{`[{"a":"\\"},[1,[2]]]`, []framed{data(`{"a":"\\"}`, 11), data(`[1,[2]]`, 19)}},
	{`[1, "x,]" ,null]`, []framed{data(`1`, 3), data(`"x,]"`, 11), data(`null`, 16)}},
	{`[,{},,{}]`, []framed{data(`{}`, 4), data(`{}`, 8)}},

	// Arrays that are cut off, and bytes that belong to no element.
	{`[{"a":1},{"b`, []framed{data(`{"a":1}`, 8), cut(data(`{"b`, 12))}},
	{`[{"a":"x]`, []framed{cut(data(`{"a":"x]`, 9))}},
	{`[12`, []framed{cut(data(`12`, 3))}},
	{"[{}]\n[{}]", []framed{data(`{}`, 3), residue(`[{}]`, 9)}},
	{`{"error":{"code":500}}`, []framed{residue(`{"error":{"code":500}}`, 22)}},
	{`[{"a":1}},{"b":2}]`, []framed{data(`{"a":1}`, 8), data(`}`, 9), data(`{"b":2}`, 17)}},
	{`[{"a":1],{"b":2}]`, []framed{data(`{"a":1]`, 8), data(`{"b":2}`, 16)}},
	{`x[{}]`, []framed{residue(`x[{}]`, 5)}},
}

// nestedCases are arrays of arrays, as AI Studio sends them. Their elements are one level deeper.
var nestedCases = []frameCase{
	{`[[]]`, nil},
	{"[[[1],[2]\n]\n]", []framed{data("[1]", 5), data("[2]", 9)}},
	{")]}'\n[[[1]]]", []framed{data("[1]", 10)}},
	{`[[[1]],[7,"x"]]`, []framed{data("[1]", 5), data(`[7,"x"]`, 14)}},
	{`[,[7,"x"]]`, []framed{data(`[7,"x"]`, 9)}},
	{`[[[1],[2`, []framed{data("[1]", 5), cut(data("[2", 8))}},
	{`[[[1]},[2]]]`, []framed{data("[1]", 5), data("}", 6), data("[2]", 10)}},
	{`[[[1]]]x`, []framed{data("[1]", 5), residue("x", 8)}},
}

var valuesCases = []frameCase{
	{"", nil},
	{" \r\n", nil},
	{"\ufeff\n", nil},
	{"{\"a\":\n1}\n", []framed{data("{\"a\":\n1}", 8)}},
	{"\ufeff {", []framed{cut(data("{", 5))}},
	{"not json", []framed{residue("not json", 8)}},
	{"{} ,\n[1]\n12", []framed{data("{}", 2), data("[1]", 8), residue("12", 11)}},
	{"{} x {\"a\":1}", []framed{data("{}", 2), data("x {\"a\":1}", 12)}},
	{`{"a":"}{"} {"b":{}}{`, []framed{data(`{"a":"}{"}`, 10), data(`{"b":{}}`, 19), cut(data("{", 20))}},
	{`{"a":"\"}"}`, []framed{data(`{"a":"\"}"}`, 11)}},
}

func lineEnd(r rune) bool { return r == '\r' || r == '\n' }

func betweenElements(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("[],", r) }

func TestFramers(t *testing.T) {
	for _, f := range []struct {
		name    string
		new     func() Framer
		cases   []frameCase
		nothing func(rune) bool
	}{
		{"Lines", func() Framer { return new(Lines) }, lineCases, unicode.IsSpace},
		{"Array", func() Framer { return new(Array) }, arrayCases, betweenElements},
		{"Array in array", func() Framer { return &Array{Within: 1} }, nestedCases, betweenElements},
		{"Values", func() Framer { return new(Values) }, valuesCases, unicode.IsSpace},
		{"EventStream", func() Framer { return new(EventStream) }, eventStreamCases, never},
	} {
		t.Run(f.name, func(t *testing.T) {
			for _, c := range f.cases {
				if diff := cmp.Diff(c.want, frames(f.new(), []byte(c.wire))); diff != "" {
					t.Errorf("%q (-want +got):\n%s", c.wire, diff)
				}
				checkFramer(t, f.new, []byte(c.wire), f.nothing)
			}
		})
	}
}

// TestValuesWhy checks that residue after the last object has a reason, and that objects have none.
func TestValuesWhy(t *testing.T) {
	var v Values
	why := map[FrameKind]string{}
	take := func(f Frame) { why[f.Kind] = f.Why }
	v.Write([]byte(`{"a":1} left over`), take)
	v.Close(take)
	if len(why) != 2 || why[FrameData] != "" || why[FrameResidue] == "" {
		t.Errorf("%v", why)
	}
}
