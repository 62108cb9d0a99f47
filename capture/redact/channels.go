package redact

import (
	"bytes"
	"slices"
)

// resume makes the matcher of a channel the current one.
func (s *stream) resume(channel uint64) *matcher {
	s.inside.channel = channel
	if s.channels&(1<<(channel%64)) == 0 {
		return s.inside
	}
	for i, m := range s.waiting {
		if m.channel == channel {
			s.waiting = slices.Delete(s.waiting, i, i+1)
			s.spare = append(s.spare, s.inside)
			s.inside, m.mark = m, len(m.text)
			break
		}
	}
	s.recount()
	return s.inside
}

func (s *stream) recount() {
	s.channels = 0
	for _, m := range s.waiting {
		s.channels |= 1 << (m.channel % 64)
	}
}

// evict gives the channel up that matters least: the oldest of which nothing is held back, or else the oldest.
func (s *stream) evict() {
	i := max(0, slices.IndexFunc(s.waiting, func(m *matcher) bool { return m.drop == nil && m.held(s.pos) == s.pos }))
	m := s.waiting[i]
	s.conclude(m)
	s.spare = append(s.spare, m)
	s.waiting = slices.Delete(s.waiting, i, i+1)
	s.recount()
}

// pause ends the current string. What may be the beginning of a secret waits for the string to go on in the next
// document, if it can: one or two characters, and the public first part of a token, are passed on meanwhile.
func (s *stream) pause(joined bool) {
	m := s.inside
	if m.idle() {
		m.prev = 0
		return
	}
	if !joined {
		s.conclude(m)
		return
	}
	if len(m.text) < 3 || m.lead != nil && m.lead.kind == token && bytes.IndexByte(m.text, '.') < 0 {
		m.release()
	}
	s.waiting = append(s.waiting, m)
	s.channels |= 1 << (m.channel % 64)
	if len(s.waiting) > waitingLimit {
		s.evict()
	}
	s.inside = new(matcher)
	if n := len(s.spare); n > 0 {
		s.inside, s.spare = s.spare[n-1], s.spare[:n-1]
	}
}
