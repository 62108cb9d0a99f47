package panes

import (
	"math/rand/v2"
	"testing"
)

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
