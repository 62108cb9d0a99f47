package panes

import "math/bits"

// prefixSums is a list of counts with fast prefix sums: the sum before an element, and the element at a
// sum, take logarithmic time. It is a Fenwick tree.
type prefixSums struct {
	sums []int // sums[i-1] is the sum of the i&-i counts up to and with the i-th
}

func (t *prefixSums) len() int { return len(t.sums) }

// push adds an element.
func (t *prefixSums) push(n int) {
	i := len(t.sums) + 1
	for j := i - 1; j > i-i&-i; j -= j & -j {
		n += t.sums[j-1]
	}
	t.sums = append(t.sums, n)
}

// set changes the count of element i, and reports whether it was different.
func (t *prefixSums) set(i, n int) bool {
	more := n - (t.sumBefore(i+1) - t.sumBefore(i))
	for i++; i <= len(t.sums) && more != 0; i += i & -i {
		t.sums[i-1] += more
	}
	return more != 0
}

// sumBefore returns the sum of the first i counts.
func (t *prefixSums) sumBefore(i int) (sum int) {
	for ; i > 0; i -= i & -i {
		sum += t.sums[i-1]
	}
	return sum
}

// elementAt returns the element at a sum, and the rest in it. After the last element it returns len.
func (t *prefixSums) elementAt(sum int) (i, rest int) {
	for step := 1 << bits.Len(uint(len(t.sums))); step > 0; step /= 2 {
		if i+step <= len(t.sums) && t.sums[i+step-1] <= sum {
			i += step
			sum -= t.sums[i-1]
		}
	}
	return i, sum
}
