package stream

import (
	"errors"
	"testing"
)

func TestMessagef(t *testing.T) {
	inner := Messagef("field %s", Fact("/a"))
	for _, c := range []struct {
		format string
		args   []any
		marked string // the text, with captured parts in ⟨⟩
		facts  string
	}{
		{"nothing", nil, "nothing", ""},
		{"byte %d of 100%%", []any{7}, "byte 7 of 100%", ""},
		{"got %s", []any{"x"}, "got ⟨x⟩", ""},
		{"got %q, not %s", []any{"x", Own("y")}, `got "⟨x⟩", not y`, ""},
		{"%s: %v", []any{inner, errors.New("bad")}, "field ⟨/a⟩: ⟨bad⟩", "/a\x00"},
		{"%s of %s", []any{OwnFact("type"), []byte("z")}, "type of ⟨z⟩", "type\x00"},
		{"empty %s.", []any{""}, "empty .", ""},
		{"%s", []any{PhaseSealed}, "sealed", ""},
		{"%5.1f s %s", []any{1.25, "é\xff"}, "  1.2 s ⟨é\xff⟩", ""},
	} {
		m := Messagef(c.format, c.args...)
		marked, at := "", 0
		for s := range m.Quoted.All() {
			marked += m.Text[at:s.From] + "⟨" + m.Text[s.From:s.To] + "⟩"
			at = s.To
		}
		if marked += m.Text[at:]; marked != c.marked || m.Facts != c.facts {
			t.Errorf("%q: %q, facts %q; want %q, %q", c.format, marked, m.Facts, c.marked, c.facts)
		}
	}
}
