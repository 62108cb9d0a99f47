package panes

import "testing"

// TestDollars checks that a paid amount is never shown as zero, and that no amount is wider than its column.
func TestDollars(t *testing.T) {
	for _, of := range []struct {
		usd         float64
		approximate bool
		want        string
	}{
		{0.0000025, true, "<$0.0001"}, {0.0000025, false, "<$0.0001"}, {0.00003, true, "<$0.0001"}, {0.00003, false, "$0.00003"},
		{0.00006, true, "~$0.0001"}, {0.0064, true, "~$0.006"}, {0, true, "~$0.000"}, {0.0123, false, "$0.0123"}, {1234, true, "~$1234"},
	} {
		if got := dollarText(of.usd, of.approximate); got != of.want || len(got) > 8 {
			t.Errorf("%v, approximate %v: %q, want %q", of.usd, of.approximate, got, of.want)
		}
	}
}
