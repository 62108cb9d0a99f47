package panes

import "testing"

// TestHealthyRowsAddUp checks that the text of healthy rows counts calls and turns without a call separately.
func TestHealthyRowsAddUp(t *testing.T) {
	for _, c := range []struct {
		rows, calls int
		text        string
	}{{3, 3, "3 healthy"}, {3, 2, "2 healthy, 1 turn without a call"}, {1200, 0, "1,200 turns without a call"}} {
		if got := (rowTarget{healthy: c.rows, calls: c.calls}).healthyText().String(); got != c.text {
			t.Errorf("%d rows, %d calls: %q, not %q", c.rows, c.calls, got, c.text)
		}
	}
}
