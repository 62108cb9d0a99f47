package redact

import (
	"sort"
	"strings"
)

// cover replaces the first n characters, which are a secret.
func (s *stream) cover(m *matcher, n int) {
	where, keep := "secret", 0
	if m.sure {
		where, keep = m.lead.name, m.lead.keep
	}
	if m.where != "" {
		where = m.where
	}
	s.replace(m.spans[keep:n], string(m.text[keep:n]), where)
	m.prev = ']'
}

// replace puts the replacement of a secret where the first character stands that is not passed on.
func (s *stream) replace(spans []span, secret, where string) {
	with := s.r.replacement(secret, where)
	if s.fixed {
		room := 0
		for _, at := range spans {
			room += int(at.to - at.from)
		}
		if room < len(with) {
			with = ""
		}
	}
	for _, at := range spans {
		if at.from < 0 {
			continue
		}
		part := with
		if size := int(at.to - at.from); s.fixed {
			part = (with + strings.Repeat("*", size))[:size]
			with = with[min(size, len(with)):]
		} else {
			with = ""
		}
		s.edits = append(s.edits, edit{at.from, at.to, part})
	}
}

// replaceOne removes a character of a secret that is replaced already.
func (s *stream) replaceOne(at span) {
	if at.from < 0 {
		return
	}
	with := ""
	if s.fixed {
		with = strings.Repeat("*", int(at.to-at.from))
	}
	s.edits = append(s.edits, edit{at.from, at.to, with})
}

// take is the output of the input up to a place that is decided.
func (s *stream) take(to int64) []byte {
	sort.Slice(s.edits, func(i, j int) bool { return s.edits[i].from < s.edits[j].from })
	if to <= s.base { // the last edit went beyond the record that it began in
		return nil
	}
	if len(s.edits) == 0 {
		n := to - s.base
		out := s.buf[:n:n]
		s.skip(to)
		return out
	}
	out := make([]byte, 0, to-s.base)
	n := 0
	for _, e := range s.edits {
		if e.from >= to {
			break
		}
		out = append(out, s.buf[:e.from-s.base]...)
		out = append(out, e.with...)
		s.skip(e.to)
		n++
	}
	s.edits = s.edits[:copy(s.edits, s.edits[n:])]
	if to > s.base {
		out = append(out, s.buf[:to-s.base]...)
		s.skip(to)
	}
	return out
}

func (s *stream) skip(to int64) {
	s.buf = s.buf[to-s.base:]
	s.base = to
}
