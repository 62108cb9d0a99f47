package redact

import (
	"cmp"
	"slices"
	"strings"
)

// redactFirst replaces the first n characters, which are a secret by a rule, or by value if by is nil.
func (s *textRedactor) redactFirst(m *matcher, n int, by *rule) {
	secret, where := string(m.text[:n]), ""
	switch v := s.r.known.findSecret(secret); {
	case by == nil:
		secret, where = m.known.value.secret, m.known.value.where
	case v != nil:
		where = v.where
	case by.name == "value":
		where = m.called
	default:
		where = by.name
	}
	units := m.units[:n]
	switch {
	case by == nil && m.known.broken, by != nil && by.keep:
		units = removableUnits(units, by != nil)
	case by != nil && by.after == armorFirst.after && m.armor.open:
		first := !m.armor.body
		if m.armor.body, m.armor.gap = true, 0; !first {
			for _, u := range units {
				s.removeChar(u)
			}
			return
		}
	}
	s.replaceSecret(units, secret, where)
}

// replaceKnown replaces the held text, which begins a known value.
func (s *textRedactor) replaceKnown(m *matcher, v *knownValue) {
	units := m.units
	if m.known.broken {
		units = removableUnits(units, false)
	}
	s.replaceSecret(units, v.secret, v.where)
}

// removableUnits returns the characters that are replaced. The quotes of a password stay, and so does the
// character after a single backslash; the line breaks and indents of a value in several lines stay.
func removableUnits(units []character, password bool) (list []character) {
	kept := false
	for _, u := range units {
		stays := u.c <= ' '
		if password {
			stays = kept || staysInValue(u.c)
			kept = u.keepsNext()
		}
		if !stays {
			list = append(list, u)
		}
	}
	return list
}

// replaceSecret puts the replacement of a secret at its first character that is not passed on.
func (s *textRedactor) replaceSecret(units []character, secret, where string) {
	with := s.r.formatTag(secret, where)
	var places []span
	room := 0
	for _, u := range units {
		for at := range u.places {
			places = append(places, at)
			room += int(at.to - at.from)
		}
	}
	if s.fixed && room < len(with) {
		with = ""
	}
	for _, at := range places {
		part := with
		if size := int(at.to - at.from); s.fixed {
			part = (with + strings.Repeat("*", size))[:size]
			with = with[min(size, len(with)):]
		} else {
			with = ""
		}
		s.addReplacement(at, part)
	}
}

// addReplacement replaces a place. Adjacent removed places are merged.
func (s *textRedactor) addReplacement(at span, with string) {
	if n := len(s.edits); n > 0 && with == "" && s.edits[n-1].to == at.from {
		s.edits[n-1].to = at.to
		return
	}
	s.edits = append(s.edits, replacement{at.from, at.to, with})
}

// removeChar removes a character of a secret that is already replaced.
func (s *textRedactor) removeChar(u character) {
	for at := range u.places {
		with := ""
		if s.fixed {
			with = strings.Repeat("*", int(at.to-at.from))
		}
		s.addReplacement(at, with)
	}
}

// takeOutput returns the output for the input up to a decided place.
func (s *textRedactor) takeOutput(to int64) []byte {
	slices.SortFunc(s.edits, func(a, b replacement) int { return cmp.Compare(a.from, b.from) })
	if to <= s.base { // the last edit extended beyond the record in which it began
		return nil
	}
	if len(s.edits) == 0 {
		n := to - s.base
		out := s.buf[:n:n]
		s.skipTo(to)
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
		s.skipTo(e.to)
		n++
	}
	s.edits = s.edits[:copy(s.edits, s.edits[n:])]
	if to > s.base {
		out = append(out, s.buf[:to-s.base]...)
		s.skipTo(to)
	}
	return out
}

func (s *textRedactor) skipTo(to int64) {
	s.buf = s.buf[to-s.base:]
	s.base = to
}
