package protocol

// ListOf reports whether the next value of s is an empty list, or a list whose first element is an
// object with one of these fields. The value may be cut off after that field.
func ListOf(s Scanner, members map[string]bool) bool {
	if s.Kind() != '[' {
		return false
	}
	if !s.Array() {
		return true
	}
	for ok := s.Object(); ok; ok = s.Member() {
		if members[string(s.Key())] {
			return true
		}
	}
	return false
}
