package redact

// scanner finds where a secret may begin, fast: no place whose first two, or second and third, characters do not
// occur in an anchor.
type scanner struct {
	first  [256]bool
	pairs  [1 << 16]bool // first and second characters
	behind [1 << 16]bool // second and third characters
}

func newScanner(rules []*rule) *scanner {
	s := new(scanner)
	for _, r := range rules {
		a := r.anchor
		s.first[a[0]] = true
		s.pairs[pair(a[0], a[1])] = true
		s.behind[pair(a[1], a[2])] = true
	}
	return s
}

func pair(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

// next is where in p, from i on, a secret may begin, or len(p).
func (s *scanner) next(p []byte, i int) int {
	for ; i+2 < len(p); i++ {
		if s.pairs[pair(p[i], p[i+1])] && s.behind[pair(p[i+1], p[i+2])] {
			return i
		}
	}
	if i+1 < len(p) && s.pairs[pair(p[i], p[i+1])] {
		return i
	}
	if i+1 < len(p) {
		i++
	}
	if i < len(p) && s.first[p[i]] {
		return i
	}
	return len(p)
}
