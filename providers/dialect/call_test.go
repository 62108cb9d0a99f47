package dialect

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/stream"
)

// TestArgsText: an event owns its text and where that is from, whatever becomes of the buffers.
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

// TestIsNull: the word null is known however it is cut, and from every longer word.
func TestIsNull(t *testing.T) {
	for _, test := range []struct {
		pieces string // with spaces between
		want   bool
	}{
		{"null", true}, {"n ull", true}, {"nul l", true}, {"n u l l", true},
		{"", false}, {"nul", false}, {"nulls", false}, {"null null", false}, {"null s", false}, {"full", false}, {"{ null", false},
	} {
		c := NewOut(func(stream.Event) {}).Open(stream.Opening{}).OpenCall(0, stream.CallInfo{})
		for _, piece := range strings.Split(test.pieces, " ") {
			c.Args(AppendString(nil, []byte(piece)))
			c.Args(Raw(`""`))
		}
		if got := c.IsNull(); got != test.want {
			t.Errorf("%q: %t", test.pieces, got)
		}
	}
}
