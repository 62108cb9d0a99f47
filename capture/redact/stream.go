package redact

import "slices"

// edit replaces a part of the input.
type edit struct {
	from, to int64
	with     string
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

	outside *matcher // text that is in no JSON string
	inside  *matcher // of the current JSON string
	single  *matcher // of one that stands for itself
	texts   texts
	todo    []unit     // characters to look at, the next one last
	now     *matcher   // the text whose characters are being decoded
	decode  func(unit) // steps through now
}

func newStream(r *Redactor) *stream {
	s := &stream{r: r, outside: new(matcher), single: new(matcher)}
	s.inside = s.single
	s.decode = s.decoded
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

// read looks at a piece in parts that end at multiples of a fixed size, so that what is decided
// there does not depend on how the input is cut.
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

// expire settles the texts that have not grown for limit bytes.
func (s *stream) expire(limit int64) {
	for _, m := range append(s.texts.waiting, s.outside, s.inside) {
		if m.held(s.pos) < s.pos && s.pos-m.grew >= limit {
			s.settle(m)
		}
	}
	s.texts.waiting = slices.DeleteFunc(s.texts.waiting, func(m *matcher) bool { return !m.holding() })
}

// settle decides with what there is: a secret that has begun is replaced as far as it has come, and
// what goes on with it later is dropped.
func (s *stream) settle(m *matcher) {
	release(m.spell.pieces)
	if len(m.text) == 0 {
		return
	}
	if rest, v := s.r.unfinished(m); v != nil {
		s.replace(m.units, v.secret, v.where)
		m.covered(drop{rest: rest})
		return
	}
	for i := range m.candidates {
		c := &m.candidates[i]
		if n := c.size; c.state == alive && c.whole() && c.fits(m.text) == n && n == len(m.text) {
			s.cover(m, n, c.rule)
			m.covered(drop{rule: c.rule, run: armorWord})
			return
		}
	}
	release(m.units)
}

// unfinished is how a known secret goes on of which the text is a large part: more than what every
// key begins with.
func (r *Redactor) unfinished(m *matcher) (rest string, v *knownValue) {
	if !m.known.alive || len(m.text) < r.public(m.text)+plausibleMin {
		return "", nil
	}
	at, _ := r.known.find(string(m.text))
	v = r.known.sorted[at]
	return v.text[len(m.text):] + v.rest, v
}

// public is how many characters of a text every key of its sort begins with.
func (r *Redactor) public(text []byte) (n int) {
	for _, rule := range r.book.begins[text[0]] {
		fixed := 0
		for fixed < min(len(rule.parts), len(text)) && rule.parts[fixed].max == 1 && rule.parts[fixed].class[text[fixed]] {
			fixed++
		}
		n = max(n, fixed)
	}
	return n
}

// finish says that no more input comes.
func (s *stream) finish() {
	s.lex.finish()
	for _, m := range append(s.texts.waiting, s.inside, s.outside) {
		s.conclude(m)
	}
	s.texts = texts{}
}

// conclude says that a text does not go on.
func (s *stream) conclude(m *matcher) {
	s.now = m
	m.spell.finish(s.decode)
	for len(m.text) > 0 {
		n := 0
		var by *rule
		for i := range m.candidates {
			if c := &m.candidates[i]; n == 0 && c.state == alive && c.whole() {
				n, by = c.fits(m.text), c.rule
			}
		}
		switch _, v := s.r.unfinished(m); {
		case m.known.value != nil:
			n = len(m.known.value.text)
			s.cover(m, n, nil)
		case v != nil:
			n = len(m.text)
			s.replace(m.units, v.secret, v.where)
		case n > 0:
			s.cover(m, n, by)
		}
		s.again(m, n)
		s.drain(m)
	}
	m.clear()
}

// written takes a stretch of a text as it is written: with escapes and percent signs.
func (s *stream) written(m *matcher, p []byte, at int64) {
	for len(p) > 0 {
		n := 0
		for n < len(p) && p[n] != '\\' && p[n] != '%' {
			n++
		}
		if n == 0 {
			n = s.escape(m, p, at)
		} else {
			s.scan(m, p[:n], at)
		}
		p, at = p[n:], at+int64(n)
	}
}

// escape takes what begins with a backslash or a percent sign: all of a common escape at once, of
// others one character.
func (s *stream) escape(m *matcher, p []byte, at int64) (n int) {
	for m.spell.idle() && n < min(len(p), slashLimit) && p[n] == '\\' {
		n++
	}
	if n == len(p) || n == 0 || n&(n-1) != 0 || escapeMeans[p[n]] == 0 {
		s.feed(m, p[0], span{at, at + 1})
		return 1
	}
	u := unit{c: escapeMeans[p[n]], at: span{at, at + int64(n) + 1}}
	s.now, m.grew = m, max(m.grew, u.at.to)
	s.decoded(u)
	return n + 1
}

// scan takes characters of a text that stand for themselves, from place at on.
func (s *stream) scan(m *matcher, p []byte, at int64) {
	for i := 0; i < len(p); {
		if m.idle() {
			j, context := s.r.next(m, p, i)
			if context {
				j++
			}
			if m.pass(p[i:j]); context {
				m.expect(s.r)
			}
			if i = j; i == len(p) {
				return
			}
			if context {
				continue
			}
		}
		s.feed(m, p[i], span{at + int64(i), at + int64(i) + 1})
		i++
	}
}

// feed takes one character of a text as it is written.
func (s *stream) feed(m *matcher, c byte, at span) {
	m.grew = max(m.grew, at.to)
	s.now = m
	m.spell.read(unit{c: c, at: at}, s.decode)
}

func (s *stream) decoded(u unit) {
	s.step(s.now, u)
	s.drain(s.now)
}

// drain steps through todo, from its end.
func (s *stream) drain(m *matcher) {
	for n := len(s.todo); n > 0; n = len(s.todo) {
		next := s.todo[n-1]
		s.todo = s.todo[:n-1]
		s.step(m, next)
	}
}

func (s *stream) step(m *matcher, u unit) {
	if m.dropping() {
		if gone, more := m.drop.swallow(u.c); more {
			if gone {
				s.remove(u)
			}
			return
		}
		m.drop = drop{}
	}
	if len(m.text) > 0 {
		m.grow(s.r, u)
	} else if !m.begin(s.r, u) {
		m.passOne(s.r, u.c)
		return
	}
	v, n, by := m.judge()
	switch v {
	case clean:
		s.again(m, 0)
	case secret:
		rest := ""
		if by == nil {
			rest = m.known.value.rest
		}
		s.cover(m, n, by)
		s.again(m, n)
		m.drop.rest = rest
	case begun:
		s.cover(m, n, by)
		m.covered(drop{rule: by, run: armorWord})
	}
}

// again drops the first n characters of what is held back, which are replaced, and examines the
// others anew. With n 0 the first character begins no secret, and is passed on.
func (s *stream) again(m *matcher, n int) {
	from, first := n, m.text[0]
	switch {
	case n == 0 && m.led: // they have been passed on
		from = lead
	case n == 0:
		from = 1
	}
	for i := len(m.units) - 1; i >= from; i-- {
		s.todo = append(s.todo, m.units[i])
	}
	led := m.led
	switch {
	case n > 0:
		m.covered(drop{})
	case led:
		m.forget()
		m.unglued = true
	default:
		m.forget()
		m.passOne(s.r, first)
	}
}

// decided is the place up to which the output is known.
func (s *stream) decided() int64 {
	limit := min(s.lex.held(s.pos), s.inside.held(s.pos), s.outside.held(s.pos))
	for _, m := range s.texts.waiting {
		limit = m.held(limit)
	}
	return limit
}

func (s *stream) end() int64 { return s.pos }

// yield decides about everything that is held back.
func (s *stream) yield() { s.expire(0) }
