package redact

import (
	"bytes"
	"math"
)

// span is where in the input a character stands. A negative from means that the character was
// passed on, or must be.
type span struct{ from, to int64 }

var passed = span{-1, -1}

// matcher looks for secrets in one text, one decoded character after the other. What it does
// depends on these characters only, and not on how they come.
//
// A candidate begins where a word does, and is held back until it is a secret or none. What cannot
// be told by the beginning of a word is found without holding text back: behind a context, which is
// public; and glued to a letter or a digit, where the first three characters are passed on before
// anybody knows.
type matcher struct {
	channel uint64 // of the text
	spell   unescaper
	tail    []byte // the end of what was passed on
	gram    uint32 // its last four characters

	text  []byte      // held back: it may be the beginning of a secret
	units []character // the same characters, with their places
	grew  int64       // place in the input when the latest character came

	candidates []ruleMatch // of the text, the most particular first
	known      knownMatch
	led        bool // the first characters of text were passed on before anybody knew: the secret is glued
	unglued    bool // nothing glued begins with the next character: that was looked at

	want   expectation // the secret that is expected next
	called string      // its name in the replacement
	drop   removal     // the rest of a secret whose beginning is replaced
}

// knownMatch is how much of a known value the text is.
type knownMatch struct {
	alive bool        // a known value begins with the text, and is longer
	value *knownValue // the longest that the text begins with
}

// removal is the rest of a secret whose beginning is replaced. The rest is removed as it comes.
type removal struct {
	rule *rule  // what goes on has the class of its last part
	rest string // what goes on, of a known value
	run  int    // characters of the current line of a private key
}

const (
	tailSize = 96 // characters before a secret that say what it is
	lead     = 3  // characters of a glued secret that are passed on
)

func (m *matcher) isIdle() bool {
	return len(m.text) == 0 && m.want.rule == nil && !m.isDropping() && m.spell.isIdle()
}

func (m *matcher) isDropping() bool { return m.drop.rule != nil || m.drop.rest != "" }

// reset makes the text one that has just begun.
func (m *matcher) reset() {
	m.clearPending()
	m.tail, m.gram, m.want, m.drop, m.spell.state = m.tail[:0], 0, expectation{}, removal{}, spellNone
}

func (m *matcher) clearPending() {
	m.text, m.units, m.candidates, m.known = m.text[:0], m.units[:0], m.candidates[:0], knownMatch{}
	m.led, m.unglued = false, false
}

// passOver notes characters that belong to no secret.
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

// recentTail is the end of what was passed on, as far back as any rule looks.
func (m *matcher) recentTail() []byte { return m.tail[max(0, len(m.tail)-tailSize):] }

func (m *matcher) lastPassed() byte { return byte(m.gram) }

// pendingFrom is where the first character stands that is not passed on, or limit.
func (m *matcher) pendingFrom(limit int64) int64 {
	return firstPending(m.units, m.spell.pendingFrom(limit))
}

// isHolding reports whether there is such a character.
func (m *matcher) isHolding() bool { return m.pendingFrom(math.MaxInt64) < math.MaxInt64 }

// passOne notes a character, and looks whether a secret is expected behind it.
func (m *matcher) passOne(r *Redactor, c byte) {
	m.passOver([]byte{c})
	if r.book.signs[c] {
		m.expectSecret(r)
	}
}

// markReplaced notes that what was held back is replaced.
func (m *matcher) markReplaced(d removal) {
	m.clearPending()
	m.passOver([]byte{']'})
	m.want, m.drop = expectation{}, d
}

// isWordStart reports whether a word may begin here. What colours a terminal's text is no part of a word.
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

// tryStart looks whether a character is the beginning of something, and holds it back then.
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

// beginGlued looks whether four characters begin something in the middle of a word.
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

// extendText takes one more character of what is held back.
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

// consumeChar reports whether c belongs to the secret whose beginning is replaced, and whether it is
// removed: the line breaks of a private key belong to it, and stay.
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
	open                   // it may
	secret                 // the first so many characters are one
	begun                  // as many as are held back are one, and it goes on
)

// decideText says what the text is. A known value comes first, then the candidates in their order.
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
