package redact

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

// write takes a piece of the input, and owns it.
func (s *stream) write(p []byte) {
	if len(s.buf) == 0 {
		s.buf = p[:len(p):len(p)]
	} else {
		s.buf = append(s.buf, p...)
	}
	s.read(p)
}

// read looks at a piece in parts that end at multiples of a fixed size, so that what is decided there does not depend
// on how the input is cut.
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

// decided is the place up to which the output is known.
func (s *stream) decided() int64 {
	limit := min(s.lex.held(s.pos), s.inside.held(s.pos), s.outside.held(s.pos))
	for _, m := range s.waiting {
		limit = m.held(limit)
	}
	return limit
}

func (s *stream) end() int64 { return s.pos }

// yield decides about everything that is held back.
func (s *stream) yield() { s.expire(0) }
