package protocol

import "iter"

// Elements iterates over the elements of an array; any other value has none. If the array is cut off,
// the last element is nil.
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
