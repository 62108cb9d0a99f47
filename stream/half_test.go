package stream

import "testing"

func TestJoinSurrogates(t *testing.T) {
	for _, c := range []struct{ high, low, want string }{
		{"\xed\xa0\xbd", "\xed\xb8\x80 tail", "😀"},
		{"\xed\xa0\x80", "\xed\xb0\x80", "\U00010000"},
		{"\xed\xaf\xbf", "\xed\xbf\xbf", "\U0010ffff"},
		{"\xed\xa0\xbd", "\xed\xa0\xbd", ""},
		{"\xed\xa0\xbd", "\xed\xb8", ""},
		{"\xed\xa0\xbd", "xyz", ""},
	} {
		if got, ok := joinSurrogates(c.high, c.low); got != c.want || ok != (c.want != "") {
			t.Errorf("%q + %q: %q, %v", c.high, c.low, got, ok)
		}
	}
}

func TestHighHalfLen(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "ab": 0, "abc": 0, "\xed\xa0\xbd": 3, "x\xed\xaf\xbf": 3,
		"\xed\xb8\x80": 0, "\xed\x9f\xbf": 0, "\xed\xa0\xbdx": 0, "\xed\xa0": 0, "⭐": 0,
	} {
		if got := highHalfLen(s); got != want {
			t.Errorf("%q: %d", s, got)
		}
	}
}
