package redact

import (
	"bytes"
	"math"
)

// span is the place of a character in the input. A negative from means that the character was passed on,
// or must be.
type span struct{ from, to int64 }

var passed = span{-1, -1}

// matcher searches for secrets in one text, one decoded character after the other. Its behaviour depends
// on these characters only, not on how they arrive.
//
// A candidate begins at the start of a word and is held back until it is decided. Secrets that are not at
// the start of a word are found without holding text back: after a context, which is public; and glued to
// a letter or a digit, where the first three characters are passed on before the decision.
type matcher struct {
	channel uint64 // of the text
	spell   unescaper
	tail    []byte // the last characters that were passed on
	gram    uint32 // the last four of them

	text  []byte      // held back: it may begin a secret
	units []character // the same characters, with their places
	grew  int64       // place in the input when the latest character came

	candidates []ruleMatch // of the text, the most specific first
	known      knownMatch
	led        bool // the secret is glued: the first characters of text were already passed on
	unglued    bool // nothing glued begins with the next character: that was checked

	want   expectation // the secret that is expected next
	called string      // its name in the replacement
	drop   removal     // the rest of a secret whose beginning is replaced
}

// knownMatch is the known value that the text may be.
type knownMatch struct {
	alive bool        // a known value begins with the text, and is longer
	value *knownValue // the longest that the text begins with
}

// removal is the rest of a secret whose beginning is replaced. The rest is removed as it arrives.
type removal struct {
	rule *rule  // characters of the class of its last part belong to the rest
	rest string // the rest of a known value
	run  int    // characters of the current line of a private key
}

const (
	tailSize = 96 // characters before a secret that identify it
	lead     = 3  // characters of a glued secret that are passed on
)

func (m *matcher) isIdle() bool {
	return len(m.text) == 0 && m.want.rule == nil && !m.isDropping() && m.spell.isIdle()
}

func (m *matcher) isDropping() bool { return m.drop.rule != nil || m.drop.rest != "" }

// reset prepares the matcher for a new text.
func (m *matcher) reset() {
	m.clearPending()
	m.tail, m.gram, m.want, m.drop, m.spell.state = m.tail[:0], 0, expectation{}, removal{}, spellNone
}

func (m *matcher) clearPending() {
	m.text, m.units, m.candidates, m.known = m.text[:0], m.units[:0], m.candidates[:0], knownMatch{}
	m.led, m.unglued = false, false
}

// passOver passes on characters that belong to no secret.
func (m *matcher) passOver(p []byte) {
	m.unglued = false
	if len(p) > tailSize {
		p = p[len(p)-tailSize:]
	}
	switch {
	case m.tail == nil:
		m.tail = make([]byte, 0, 2*tailSize)
	case len(m.tail)+len(p) > 4*tailSize:
		m.tail = m.tail[:copy(m.tail, m.recentTail())]
	}
	m.tail = append(m.tail, p...)
	for _, c := range p[max(0, len(p)-4):] {
		m.gram = m.gram<<8 | uint32(c)
	}
}

// recentTail returns the last characters that were passed on, as many as any rule needs.
func (m *matcher) recentTail() []byte { return m.tail[max(0, len(m.tail)-tailSize):] }

func (m *matcher) lastPassed() byte { return byte(m.gram) }

// pendingFrom returns the place of the first character that is not passed on, or limit.
func (m *matcher) pendingFrom(limit int64) int64 {
	return firstPending(m.units, m.spell.pendingFrom(limit))
}

// isHolding reports whether a character is held back.
func (m *matcher) isHolding() bool { return m.pendingFrom(math.MaxInt64) < math.MaxInt64 }

// passOne passes on a character, and checks whether a secret is expected after it.
func (m *matcher) passOne(r *Redactor, c byte) {
	m.passOver([]byte{c})
	if r.book.signs[c] {
		m.expectSecret(r)
	}
}

// markReplaced records that the held characters are replaced.
func (m *matcher) markReplaced(d removal) {
	m.clearPending()
	m.passOver([]byte{']'})
	m.want, m.drop = expectation{}, d
}

// isWordStart reports whether a word may begin here. A terminal's colour codes are not part of a word.
func (m *matcher) isWordStart() bool {
	last := m.lastPassed()
	if !alnum[last] {
		return true
	}
	if last != 'm' && last != 'K' {
		return false
	}
	before := m.recentTail()[:len(m.recentTail())-1]
	before = before[:len(before)-countTrailing(before, colours)]
	return bytes.HasSuffix(before, []byte("\x1b["))
}

var colours = classOf(";", "09")

// tryStart checks whether a character may begin a secret, and then holds it back.
func (m *matcher) tryStart(r *Redactor, u character) bool {
	glued := r.scan.pairs[uint16(m.gram)<<8|uint16(u.c)]&mayGlue != 0
	if glued && m.want.rule == nil && !m.unglued && alnum[byte(m.gram>>24)] && m.beginGlued(r, u) {
		return true
	}
	if m.isWordStart() {
		for _, rule := range r.book.begins[u.c] {
			m.addCandidate(rule, u)
		}
		m.known.alive = r.known.first[u.c]
	}
	if m.want.rule != nil {
		m.called = m.want.name.called
		if expected := m.want.nextRule(u.c); expected != nil {
			m.addCandidate(expected, u)
		}
	}
	if len(m.candidates) == 0 && !m.known.alive {
		return false
	}
	m.text, m.units = append(m.text, u.c), append(m.units, u)
	return true
}

func (m *matcher) addCandidate(rule *rule, u character) {
	c := ruleMatch{rule: rule}
	if c.next(u.c); c.state == alive {
		m.candidates = append(m.candidates, c)
	}
}

// beginGlued checks whether four characters begin a secret in the middle of a word.
func (m *matcher) beginGlued(r *Redactor, u character) bool {
	gram := m.gram<<8 | uint32(u.c)
	rules := r.book.glued[gram]
	known := r.known.mayBegin(gram)
	if rules == nil && !known {
		return false
	}
	for shift := 24; shift > 0; shift -= 8 {
		m.text, m.units = append(m.text, byte(gram>>shift)), append(m.units, character{c: byte(gram >> shift), at: passed})
	}
	m.text, m.units, m.led = append(m.text, u.c), append(m.units, u), true
	for _, rule := range rules {
		c := ruleMatch{rule: rule}
		for _, b := range m.text {
			c.next(b)
		}
		m.candidates = append(m.candidates, c)
	}
	if known {
		m.known.matchKnown(r, m.text)
	}
	return true
}

func (k *knownMatch) matchKnown(r *Redactor, text []byte) {
	exact, longer := r.known.match(text)
	if exact != nil {
		k.value = exact
	}
	k.alive = longer
}

// extendText adds a character to the held text.
func (m *matcher) extendText(r *Redactor, u character) {
	m.text, m.units = append(m.text, u.c), append(m.units, u)
	for i := range m.candidates {
		if c := &m.candidates[i]; c.state == alive {
			c.next(u.c)
		}
	}
	if m.known.alive {
		m.known.matchKnown(r, m.text)
	}
}

// consumeChar reports whether c belongs to the secret whose beginning is replaced (more), and whether it
// is removed (gone): the line breaks of a private key belong to it, and stay.
func (d *removal) consumeChar(c byte) (gone, more bool) {
	if d.rule == nil {
		if d.rest[0] != c {
			return false, false
		}
		d.rest = d.rest[1:]
		return true, true
	}
	if d.rule == armorRule {
		switch {
		case c == ' ':
			return false, d.run == 0 || d.run >= armorWord
		case c < ' ':
			d.run = 0
		default:
			d.run++
		}
	}
	return d.rule != armorRule || c > ' ', d.rule.parts[len(d.rule.parts)-1].class[c]
}

type decision int

const (
	clean  decision = iota // the first character begins no secret
	open                   // undecided
	secret                 // the first n characters are a secret
	begun                  // all held characters are a secret, which continues
)

// decideText decides about the held text. A known value comes first, then the candidates in their order.
func (m *matcher) decideText() (v decision, n int, by *rule) {
	switch {
	case m.known.alive:
		return open, 0, nil
	case m.known.value != nil:
		return secret, len(m.known.value.text), nil
	}
	for i := range m.candidates {
		c := &m.candidates[i]
		switch {
		case c.state == alive && len(m.text) < window:
			return open, 0, nil
		case c.state == alive && c.isComplete():
			if n = c.secretLen(m.text); n > 0 && n == lenWithoutFullStop(m.text) {
				return begun, len(m.text), c.rule
			}
		case c.state == ended:
			n = c.secretLen(m.text)
		}
		if n > 0 {
			return secret, n, c.rule
		}
		c.state = dead
	}
	return clean, 0, nil
}
