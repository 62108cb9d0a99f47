package list

import "testing"

// TestPastList adds the elements of the live list to a past list. It checks that the live list doesn't change, and
// that the past list finds the elements.
func TestPastList(t *testing.T) {
	var live List[int]
	for i := range 3 * BlockSize {
		live.Add(i)
	}
	past := live.Before(BlockSize - 1)
	for i := past.Len(); i < 2*BlockSize; i++ {
		past.Add(-1)
	}
	live.FreeSpare()
	apart := past.Clone()
	*live.Ptr(5) = 50
	for i := range past.Len() {
		want := i
		if i == 5 {
			want = 50
		}
		if past.At(i) != want || apart.At(i) != i {
			t.Fatalf("element %d is %d, and %d in the copy", i, past.At(i), apart.At(i))
		}
	}
}

// TestBlocks checks a list after its first blocks are freed, and after a reset.
func TestBlocks(t *testing.T) {
	var l Blocks[int]
	for i := range 2*BlockSize + 1 {
		l.Add(i)
	}
	l.FreeBefore(BlockSize + 10)
	if l.Has(BlockSize-1) || !l.Has(BlockSize) || *l.At(2 * BlockSize) != 2*BlockSize || l.Len() != 2*BlockSize+1 {
		t.Errorf("after FreeBefore: %t %t %d", l.Has(BlockSize-1), l.Has(BlockSize), l.Len())
	}
	var again Blocks[int]
	again.Reset()
	for range 2 {
		for i := range BlockSize + 1 {
			again.Add(i)
		}
		again.Reset()
	}
	if again.Add(7); again.Len() != 1 || *again.At(0) != 7 {
		t.Errorf("after Reset: %d elements", again.Len())
	}
}
