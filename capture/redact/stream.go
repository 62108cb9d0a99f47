package redact

import (
	"bytes"
	"slices"
	"sort"
	"strings"
)

// edit replaces a part of the input.
type edit struct {
	from, to int64
	with     string
}

type char struct {
	c  byte
	at span
}

// stream redacts one text that comes in pieces. Places are counted from its beginning.
type stream struct {
	r     *Redactor
	lex   lexer
	fixed bool // replacements are as long as what they replace

	buf   []byte // input that is not taken
	base  int64  // place of buf
	pos   int64  // place behind the input
	edits []edit

	outside  *matcher   // text that is in no JSON string
	inside   *matcher   // of the current JSON string
	channels uint64     // of those that wait: a bit for each
	waiting  []*matcher // of strings that have ended and may go on in the next document
	spare    []*matcher
	todo     []char
}

func newStream(r *Redactor) *stream {
	s := &stream{r: r, outside: new(matcher), inside: new(matcher)}
	s.lex.start(s)
	return s
}

// write takes a piece of the input, and owns it. It looks at it in parts that end at multiples of a fixed size, so that what is
// decided there does not depend on the pieces.
func (s *stream) write(p []byte) {
	if len(s.buf) == 0 {
		s.buf = p[:len(p):len(p)]
	} else {
		s.buf = append(s.buf, p...)
	}
	s.read(p)
}

func (s *stream) read(p []byte) {
	const step = 1 << 10
	for len(p) > 0 {
		n := min(len(p), int(step-s.pos%step))
		s.lex.read(p[:n], s.pos)
		s.pos += int64(n)
		p = p[n:]
		if s.pos%step == 0 {
			s.expire(idleLimit)
		}
	}
}

// expire decides what has not grown for so many bytes.
func (s *stream) expire(limit int64) {
	for _, m := range append(s.waiting, s.outside, s.inside) {
		if m.held(s.pos) < s.pos && s.pos-m.grew >= limit {
			s.settle(m)
		}
	}
}

// settle decides with what there is: a secret that has begun is replaced as far as it has come, and what goes on with
// it later is dropped.
func (s *stream) settle(m *matcher) {
	n := len(m.text)
	if m.drop != nil || n == 0 {
		return
	}
	if rest, where, ok := s.r.unfinished(m); ok && !m.sure {
		s.replace(m.spans, string(m.text)+rest, where)
		m.reset()
		m.drop, m.rest = exactRule, rest
		return
	}
	if lead := m.lead; m.sure || lead != nil && lead.kind == run && n-len(lead.anchor) >= knownMin {
		last, ended := m.last, m.ended
		s.cover(m, n)
		m.reset()
		m.drop, m.last, m.ended = lead, last, ended
		return
	}
	m.release()
}

// unfinished is how a known secret goes on of which the text is a large part: more than what every key begins with.
func (r *Redactor) unfinished(m *matcher) (rest, where string, ok bool) {
	text, public := m.text, 0
	if m.lead != nil {
		public = len(m.lead.anchor)
	}
	if len(text) < public+knownMin {
		return "", "", false
	}
	for _, rule := range r.rules[len(patterns):] {
		if len(text) <= len(rule.anchor) && rule.anchor[:len(text)] == string(text) {
			return rule.anchor[len(text):], rule.name, true
		}
	}
	return "", "", false
}

// finish says that no more input comes.
func (s *stream) finish() {
	s.lex.finish()
	for _, m := range append(s.waiting, s.inside, s.outside) {
		s.conclude(m)
	}
	s.waiting = nil
}

// conclude says that a channel does not go on.
func (s *stream) conclude(m *matcher) {
	for len(m.text) > 0 {
		n := 1
		rest, where, unfinished := s.r.unfinished(m)
		switch {
		case m.sure:
			n = m.trimmed(len(m.text))
			s.cover(m, n)
		case m.known > 0:
			n = m.known
			s.cover(m, n)
		case unfinished:
			n = len(m.text)
			s.replace(m.spans, string(m.text)+rest, where)
		default:
			m.pass(m.text[:1])
		}
		s.again(m, n)
		s.drain(m)
	}
	m.reset()
	m.drop, m.prev = nil, 0
}

// scan takes characters of a channel as they stand in the input from place at on.
func (s *stream) scan(m *matcher, p []byte, at int64) {
	for i := 0; i < len(p); {
		if m.idle() {
			j := s.r.scan.next(p, i)
			if m.pass(p[i:j]); j == len(p) {
				return
			}
			i = j
		}
		s.feed(m, p[i], span{at + int64(i), at + int64(i) + 1})
		i++
	}
}

// feed takes one character of a channel.
func (s *stream) feed(m *matcher, c byte, at span) {
	m.grew = max(m.grew, at.to)
	s.todo = append(s.todo[:0], char{c, at})
	s.drain(m)
}

// drain steps through what is to be done, of which the last comes first.
func (s *stream) drain(m *matcher) {
	for n := len(s.todo); n > 0; n = len(s.todo) {
		next := s.todo[n-1]
		s.todo = s.todo[:n-1]
		s.step(m, next)
	}
}

func (s *stream) step(m *matcher, next char) {
	if m.drop != nil {
		if m.swallow(next.c) {
			s.replaceOne(next.at)
			return
		}
		m.drop, m.rest, m.last, m.ended = nil, "", 0, 0
	}
	if len(m.text) == 0 && m.lead == nil && !s.r.scan.first[next.c] {
		m.pass([]byte{next.c})
		return
	}
	m.text, m.spans = append(m.text, next.c), append(m.spans, next.at)
	v, n := m.judge(s.r)
	switch v {
	case clean:
		m.pass(m.text[:1])
		s.again(m, 1)
	case secret:
		rest := m.rest
		s.cover(m, n)
		s.again(m, n)
		if rest != "" && n == window {
			m.drop, m.rest = exactRule, rest
		}
	case begun:
		lead, last, ended := m.lead, m.last, m.ended
		s.cover(m, n)
		m.reset()
		m.drop, m.last, m.ended = lead, last, ended
	}
}

// again forgets the first n characters of what is held back, and has the others looked at once more.
func (s *stream) again(m *matcher, n int) {
	for i := len(m.text) - 1; i >= n; i-- {
		s.todo = append(s.todo, char{m.text[i], m.spans[i]})
	}
	m.reset()
}

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

// decided is the place up to which the output is known.
func (s *stream) decided() int64 {
	limit := min(s.lex.held(s.pos), s.inside.held(s.pos), s.outside.held(s.pos))
	for _, m := range s.waiting {
		limit = m.held(limit)
	}
	return limit
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

func (s *stream) end() int64 { return s.pos }

// yield decides about everything that is held back.
func (s *stream) yield() { s.expire(0) }
