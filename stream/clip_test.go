package stream

import "testing"

func TestClip(t *testing.T) {
	for _, c := range []struct {
		text       string
		from, most int
		want       string
	}{
		{"", 0, 5, ""},
		{"short", 0, 5, "short"},
		{"longer", 0, 5, "longe…"},
		{"longer", 2, 2, "…ng…"},
		{"longer", 4, 9, "…er"},
		{"aéb", 0, 2, "a…"},
		{"aéb", 2, 9, "…éb"},
		{"\x80\x80\x80\x80\x80", 4, 9, "…\x80"},
	} {
		if got := Clip([]byte(c.text), c.from, c.most); got != c.want {
			t.Errorf("%q from %d, %d bytes: %q, want %q", c.text, c.from, c.most, got, c.want)
		}
	}
}
