package count

import "testing"

// TestOf checks that the noun is singular for one thing and plural for every other number.
func TestOf(t *testing.T) {
	for want, got := range map[string]string{
		"0 bytes": Of(0, "byte"), "1 byte": Of(int64(1), "byte"), "2 bytes": Of(uint32(2), "byte"), "-1 bytes": Of(-1, "byte"),
		"2 entries": Of(2, "entry"), "1 entry": Of(1, "entry"), "2 delays": Of(2, "delay"), "3 matches": Of(3, "match"),
		"2 indexes": Of(2, "index"), "2 tool calls": Of(2, "tool call"), "1 byte was": WasWere(1, "byte"), "0 bytes were": WasWere(0, "byte"), "20 bytes were": WasWere(20, "byte"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
