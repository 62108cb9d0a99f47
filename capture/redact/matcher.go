package redact

import (
	"bytes"
	"strings"
)

// span is where in the input a character stands. Its from is negative when it was passed on already, or must be.
type span struct{ from, to int64 }

var passed = span{-1, -1}

// matcher looks for secrets in one channel, one character after the other. It is idle while nothing may be the
// beginning of one.
type matcher struct {
	channel uint64
	text    []byte // what may be the beginning of a secret
	spans   []span // of the text's characters
	prev    byte   // the character before text, ' ' where that is the letter of an escape
	mark    int    // where in text the latest piece begins
	grew    int64  // place in the input when the latest character came
	bound   bool   // text begins at a boundary

	lead  *rule // its anchor is matched
	known int   // so many characters are a known secret
	sure  bool  // what there is of text is a secret of lead's kind already
	last  uint64
	ended int // characters since the last line of a private key began

	where string // what a field is called
	drop  *rule  // the secret is replaced, and this is how it goes on
	rest  string // of a known one
}

func (m *matcher) idle() bool { return len(m.text) == 0 && m.drop == nil && m.lead == nil }

func (m *matcher) reset() {
	m.text, m.spans, m.mark = m.text[:0], m.spans[:0], 0
	m.lead, m.known, m.sure, m.last, m.ended, m.where, m.rest = nil, 0, false, 0, 0, "", ""
}

// pass notes characters that belong to no secret.
func (m *matcher) pass(p []byte) {
	for _, c := range p[max(0, len(p)-2):] {
		if m.prev == '\\' {
			c = ' '
		}
		m.prev = c
	}
}

// held is where the first character stands that is not passed on, or limit.
func (m *matcher) held(limit int64) int64 {
	for _, s := range m.spans {
		if s.from >= 0 {
			return min(limit, s.from)
		}
	}
	return limit
}

func (m *matcher) release() {
	for i := range m.spans {
		m.spans[i] = passed
	}
}

type verdict int

const (
	clean  verdict = iota // the first character begins no secret
	open                  // it may
	secret                // the first so many characters are one
	begun                 // as many as are held back are one, and it goes on
)

// judge says what the text is, given that all but its last character was open.
func (m *matcher) judge(r *Redactor) (v verdict, n int) {
	n = len(m.text)
	if n == 1 {
		m.bound = !alnum[m.prev]
	}
	switch {
	case m.lead != nil && m.lead.kind == field:
	case n == 1:
		return open, n // only what may begin a secret comes here
	case n == 2 && !r.scan.pairs[pair(m.text[0], m.text[1])], n == 3 && !r.scan.behind[pair(m.text[1], m.text[2])]:
		return clean, 0
	case m.lead == nil || n <= len("github_pat_"):
		v = m.anchor(r)
	case m.maybeKnown(r):
		v = open
	}
	if m.lead != nil {
		if more, size := m.follow(); more != clean {
			return more, size
		}
		m.lead = nil
	}
	switch {
	case v != clean:
		return v, n
	case m.known > 0:
		return secret, m.known
	}
	return clean, 0
}

// anchor compares the text with the beginnings of all secrets.
func (m *matcher) anchor(r *Redactor) (v verdict) {
	n := len(m.text)
	for _, rule := range r.rules {
		switch {
		case rule.kind == exact || n > len(rule.anchor) || rule.bound && !m.bound:
		case rule.anchor[:n] != string(m.text):
		case n < len(rule.anchor):
			v = open
		case m.lead == nil || len(rule.anchor) > len(m.lead.anchor):
			m.lead, v = rule, open
		}
	}
	if m.maybeKnown(r) {
		return open
	}
	return v
}

// maybeKnown compares the text with the secrets that are known by value.
func (m *matcher) maybeKnown(r *Redactor) (more bool) {
	n := len(m.text)
	for _, rule := range r.rules[len(patterns):] {
		switch {
		case n > len(rule.anchor) || rule.anchor[n-1] != m.text[n-1] || rule.anchor[:n] != string(m.text):
		case n == len(rule.anchor):
			m.known = n
			more = more || r.longer(rule.anchor)
		case n == window:
			m.known, m.rest = n, rule.anchor[n:]
		default:
			more = true
		}
	}
	return more
}

// longer tells whether a known secret begins with another one.
func (r *Redactor) longer(known string) bool {
	for _, rule := range r.rules[len(patterns):] {
		if len(rule.anchor) > len(known) && strings.HasPrefix(rule.anchor, known) {
			return true
		}
	}
	return false
}

// follow looks at the last character by the rule whose anchor is matched.
func (m *matcher) follow() (verdict, int) {
	n, l := len(m.text), len(m.lead.anchor)
	c := m.text[n-1]
	m.last = m.last<<8 | uint64(c)
	switch {
	case n == l:
		return open, n
	case !m.lead.class[c]:
		if m.sure {
			return secret, m.trimmed(n - 1)
		}
		return clean, 0
	case m.lead.kind == token:
		m.sure = m.sure || c == 'J' && m.last&0xffffffff == 0x2e65794a // .eyJ
	case m.lead.kind == pem:
		if m.armoured() {
			return secret, n
		}
		if n > 64 && !m.sure {
			return clean, 0
		}
	case m.lead.kind == userinfo:
		m.sure = m.sure || c == '@' && bytes.IndexByte(m.text[l:], ':') >= 0
	default:
		m.sure = n-l >= m.lead.min
	}
	switch {
	case m.another(): // the piece is another secret and does not go on with the one before
		return secret, m.mark
	case n < window:
		return open, n
	case m.sure:
		return begun, n
	}
	return clean, 0
}

// another tells whether the latest piece begins a second secret of
// the same kind, as it does when each document repeats one.
func (m *matcher) another() bool {
	before, piece := m.text[:m.mark], m.text[m.mark:]
	return m.sure && m.mark > 0 && m.lead.kind != field && m.lead.kind != userinfo && string(piece) == m.lead.anchor &&
		(m.lead.kind != token || bytes.Count(before, []byte(".")) > 1)
}

// armoured watches the lines of a private key and reports its end.
func (m *matcher) armoured() bool {
	const end, dashes, key = 0x2d2d2d2d2d454e44, 0x2d2d2d2d2d, 0x4b45592d2d2d2d2d // -----END, -----, KEY-----
	switch {
	case m.last == key && !m.sure && m.ended == 0:
		m.sure = true
	case m.last == end:
		m.ended = 1
	case m.ended > 0:
		m.ended++
	}
	return m.sure && m.ended > len("-----") && m.last&0xffffffffff == dashes
}

// trimmed leaves the full stop behind a secret to the sentence, and the host behind userinfo to the URL.
func (m *matcher) trimmed(n int) int {
	if m.lead.kind == userinfo {
		return bytes.LastIndexByte(m.text[:n], '@')
	}
	for n > len(m.lead.anchor) && m.text[n-1] == '.' {
		n--
	}
	return n
}

// swallow tells whether c goes on with the secret that is replaced already.
func (m *matcher) swallow(c byte) bool {
	switch m.drop.kind {
	case exact:
		if m.rest == "" || m.rest[0] != c {
			return false
		}
		m.rest = m.rest[1:]
		return true
	case pem:
		if m.ended > 0 && m.last&0xffffffffff == 0x2d2d2d2d2d && m.ended > len("-----") {
			return false
		}
		m.last = m.last<<8 | uint64(c)
		m.armoured()
	}
	return m.drop.class[c]
}
