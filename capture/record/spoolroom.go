package record

import "os"

// enforceLimit deletes the oldest segments beyond the limit.
func (s *Spool) enforceLimit() {
	for len(s.parts) > 1 && s.end-s.parts[0].start > s.limit {
		s.deleteOldest()
	}
}

func (s *Spool) deleteOldest() {
	if s.reader != nil && s.from == s.parts[0].start {
		s.reader.Close()
		s.reader = nil
	}
	os.Remove(s.parts[0].path)
	s.parts = s.parts[1:]
}

// makeRoom deletes the completely sent segments, and reports whether there were any.
func (s *Spool) makeRoom() (some bool) {
	last := s.parts[len(s.parts)-1]
	if s.isSent(last) && last.start < last.end && s.beginSegment() != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.parts) > 1 && s.parts[0].end <= s.sent {
		s.deleteOldest()
		some = true
	}
	return some
}

func (s *Spool) isSent(p segment) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return p.end <= s.sent
}
