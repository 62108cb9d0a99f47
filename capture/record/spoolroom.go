package record

import "os"

// shrink deletes the oldest segments beyond the limit.
func (s *Spool) shrink() {
	for len(s.parts) > 1 && s.end-s.parts[0].start > s.limit {
		s.drop()
	}
}

// drop deletes the oldest segment.
func (s *Spool) drop() {
	if s.reader != nil && s.from == s.parts[0].start {
		s.reader.Close()
		s.reader = nil
	}
	os.Remove(s.parts[0].path)
	s.parts = s.parts[1:]
}

// makeRoom deletes the segments of which all was sent, and reports whether there were any.
func (s *Spool) makeRoom() (some bool) {
	last := s.parts[len(s.parts)-1]
	if s.isSent(last) && last.start < last.end && s.next() != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.parts) > 1 && s.parts[0].end <= s.sent {
		s.drop()
		some = true
	}
	return some
}

func (s *Spool) isSent(p part) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return p.end <= s.sent
}
