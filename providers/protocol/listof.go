package protocol

// ListOf reports whether the next value of s is a list that is empty, or whose first element is an
// object with one of these members. What comes after that member may be cut off.
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
