package protocol

import "iter"

// Elements are the elements of an array; a value of another kind has none. If the array breaks off,
// its last element is nil.
func (r Raw) Elements() iter.Seq[Raw] {
	return func(yield func(Raw) bool) {
		if r == nil {
			return
		}
		s := r.Scan()
		for ok := s.Array(); ok && yield(s.Value()); ok = s.Element() {
		}
	}
}
