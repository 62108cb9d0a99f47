package panes

import (
	"math/rand/v2"
	"testing"
)

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

// TestTally compares prefix sums with a plain list of counts.
func TestTally(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var plain []int
	var sums prefixSums
	check := func() {
		t.Helper()
		all := 0
		for i, n := range plain {
			if got := sums.sumBefore(i); got != all {
				t.Fatalf("%v: before %d is %d, want %d", plain, i, got, all)
			}
			for rest := range n {
				if at, left := sums.elementAt(all + rest); at != i || left != rest {
					t.Fatalf("%v: %d leads %d into %d, want %d into %d", plain, all+rest, left, at, rest, i)
				}
			}
			all += n
		}
		if at, left := sums.elementAt(all + 3); at != len(plain) || left != 3 {
			t.Fatalf("%v: behind the end is %d, %d", plain, at, left)
		}
	}
	check()
	for range 70 {
		n := random.IntN(4)
		plain = append(plain, n)
		sums.push(n)
		i := random.IntN(len(plain))
		n = random.IntN(4)
		if changed := sums.set(i, n); changed != (plain[i] != n) {
			t.Fatalf("changed: %t", changed)
		}
		plain[i] = n
		check()
	}
}
