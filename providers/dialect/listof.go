package dialect

// ListOf reports whether the value that s stands before is a list whose first element, if it has
// one, is an object with one of these members. The list may be cut behind that.
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
