package protocol

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/stream"
	"toolscope/stream/json"
)

// TestArgsText checks that an event has its own copies of its text and wire form, which later writes to the buffers
// don't change.
func TestArgsText(t *testing.T) {
	var got []stream.Event
	o := NewOut(func(e stream.Event) { got = append(got, e) })
	c := o.Open(stream.Opening{}).OpenCall(3, stream.CallInfo{})
	got = nil
	var want []string
	text, from := []byte("text 0"), []byte("from 0")
	for i := range 10 {
		text[5], from[5] = '0'+byte(i), '0'+byte(i)
		c.ArgsText(text, from)
		want = append(want, fmt.Sprintf(`args turn=0 slot=3 "text %d" source="from %d"`, i, i))
	}
	c.ArgsText(text, nil)
	c.Rewrite(text, from)
	want = append(want, `args turn=0 slot=3 "text 9"`, `rewrite turn=0 slot=3 "text 9" source="from 9"`)
	for i, e := range got {
		if e.String() != want[i] {
			t.Errorf("%s, want %s", e, want[i])
		}
	}
	if len(got) != len(want) || c.Bytes != len(text) {
		t.Errorf("%d events, want %d; %d bytes, want %d", len(got), len(want), c.Bytes, len(text))
	}
	o.To(func(stream.Event) {})
	if n := testing.AllocsPerRun(1000, func() { c.ArgsText(text, from) }); n > 0 {
		t.Errorf("%v allocations per delta", n)
	}
}

// TestIsNull checks that the word null is recognised however it is split, and distinguished from longer
// words.
func TestIsNull(t *testing.T) {
	for _, test := range []struct {
		pieces string // separated by spaces
		want   bool
	}{
		{"null", true}, {"n ull", true}, {"nul l", true}, {"n u l l", true},
		{"", false}, {"nul", false}, {"nulls", false}, {"null null", false}, {"null s", false}, {"full", false}, {"{ null", false},
	} {
		c := NewOut(func(stream.Event) {}).Open(stream.Opening{}).OpenCall(0, stream.CallInfo{})
		for _, piece := range strings.Split(test.pieces, " ") {
			c.Args(json.AppendQuoted(nil, []byte(piece)))
			c.Args(json.Value(`""`))
		}
		if got := c.IsNull(); got != test.want {
			t.Errorf("%q: %t", test.pieces, got)
		}
	}
}

// keeping returns a call that keeps its arguments and has received the given deltas.
func keeping(deltas ...string) *Call {
	c := NewOut(func(stream.Event) {}).Open(stream.Opening{}).OpenCall(0, stream.CallInfo{})
	c.Keep()
	for _, delta := range deltas {
		c.Args(json.Value(delta))
	}
	return c
}

func TestMatches(t *testing.T) {
	c := keeping(`"{\"a\""`, `":\"b\"}"`)
	for whole, want := range map[string]bool{
		`{"a": "b"}`:       true,
		`"{\"a\":\"b\"}"`:  true,
		`{"a":"c"}`:        false,
		`"{\"a\": \"b\"}"`: true,
		`"{\"a\": \"c\"}"`: false,
		``:                 false,
	} {
		if c.Matches(json.Value(whole)) != want {
			t.Errorf("%s: want %v", whole, want)
		}
	}
}

// TestMatchesHalves checks that a surrogate pair that is split between two deltas equals the complete pair. It also
// checks that Rewrite replaces the kept arguments.
func TestMatchesHalves(t *testing.T) {
	c := keeping(`"{\"a\":\"\ud83d"`, `"\ude00\"}"`)
	if !c.Matches(json.Value(`{"a": "😀"}`)) || !c.Matches(json.Value(`"{\"a\":\"\ud83d\ude00\"}"`)) || c.Matches(json.Value(`{"a":"😁"}`)) {
		t.Error("halves are not joined")
	}
	if c.Rewrite([]byte(`{"b":1}`), nil); !c.Matches(json.Value(`{"b":1}`)) {
		t.Error("what was rewritten is remembered as it was")
	}
}
