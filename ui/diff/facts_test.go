package diff

import (
	"strings"
	"testing"
)

// TestAgainst checks the words for each side's most serious difference from the base, and its weight. A side that may
// still become equal has no difference.
func TestAgainst(t *testing.T) {
	lima, oslo := `{"city":"Lima","days":5}`, `{"city":"Oslo","days":5}`
	for _, c := range []struct {
		base, side string // calls, separated by blanks; "…" at the end of an unfinished call
		want       string
		weight     Weight
	}{
		{lima, lima, "same", Equal},
		{lima, `{"days":5,"city":"Lima"}`, "same", Equal},
		{lima + " " + oslo, lima, "one call fewer", Fault},
		{lima, "", "no call", Fault},
		{lima, lima + " " + oslo, "one call more", Uneven},
		{lima, `{"city":"Lima"}`, "1 field fewer", Uneven},
		{lima, `{"city":"Lima","days":5,"at":1,"to":2}`, "2 fields more", Uneven},
		{lima, `{"city":"Lima","days":"5"}`, "1 other type", Uneven},
		{lima, oslo, "1 other value", Other},
		{lima, `{"city":"Rome","days":6}`, "2 other values", Other},
		{lima, `[1]`, "not an object", Fault},
		{lima, `{"city":"Li…`, "", Equal},
		{lima, `{"city":"Os…`, "1 other value", Other},
	} {
		s := newSource()
		for i, text := range []string{c.base, c.side} {
			for _, args := range strings.Fields(text) {
				s.call(i+1, "tool", args)
			}
			if text == "" {
				s.event(i+1, `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[]}}`)
			}
			if !strings.HasSuffix(text, "…") {
				s.end(i + 1)
			}
		}
		p := s.picture("one", "two")
		if got, weight := p.Against(1); got != c.want || weight != c.weight {
			t.Errorf("%q: %q, weight %d, want %q, %d", c.side, got, weight, c.want, c.weight)
		}
		if got, weight := p.Against(0); got != "base" || weight != Equal {
			t.Errorf("the base: %q, %d", got, weight)
		}
	}
}
