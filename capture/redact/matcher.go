package redact

import (
	"bytes"
	"math"
	"slices"
	"strings"
)

// span is the place of a character in the input. If from is negative, the character was passed on, or must be passed
// on.
type span struct{ from, to int64 }

var passed = span{-1, -1}

// matcher searches for secrets in one text, character by character. The characters are decoded. The matcher's
// behaviour depends only on these characters, not on how they are split into chunks.
//
// A candidate begins at the start of a word and is held back until it is decided. Two kinds of secrets are
// found without holding back the text before them. One kind follows a context, which is public. The other
// kind is glued to a letter or a digit inside a word: its first three characters are passed on before the
// decision.
type matcher struct {
	channel uint64 // identifies the text
	spell   unescaper
	tail    []byte // the last characters that were passed on
	gram    uint32 // the last four characters of the tail

	trial trial       // the beginning of the word before text, held back because it may begin a shape
	text  []byte      // characters held back because they may begin a secret
	units []character // the same characters, with their places
	grew  int64       // place in the input after the latest character

	candidates []ruleMatch // candidates for the text, the most specific first
	known      knownMatch
	led        bool // the secret is glued to a word: its first characters were passed on before text
	young      bool // text is one character that may begin shapes; the next character decides which ones
	unglued    bool // the next character was checked and doesn't begin a glued secret

	armor  *keyArmor   // the private key that is being read; texts outside JSON share one
	own    keyArmor    // the private key in a text inside JSON
	want   expectation // the secret that is expected next
	called string      // the name of the expected secret in the replacement
	drop   removal     // the rest of a secret whose beginning is replaced
	row    *tableRow   // the row of a table that is being read, or nil
}

// knownMatch says which known value the text may be.
type knownMatch struct {
	alive  bool        // a longer known value begins with the text
	value  *knownValue // the longest known value that the text begins with, or the value that is cut off in the text
	size   int         // number of characters of the text that belong to the value
	plain  []byte      // the text without the line breaks of a terminal
	broken bool        // the text has line breaks of a terminal
	cut    bool        // the value is not complete
}

// removal describes the rest of a secret whose beginning was replaced. The rest is removed as it arrives.
type removal struct {
	rule *rule  // characters in the class of the rule's last part are removed
	rest string // the rest of a known value, which is removed
	kept bool   // the next character is not removed
}

const (
	tailSize = 96 // maximum number of characters before a secret that are used to identify it
	lead     = 3  // number of characters of a glued secret that are passed on
)

func (m *matcher) isIdle() bool {
	return !m.hasText() && m.want.rule == nil && m.row == nil && (m.armor == nil || !m.armor.open) && !m.isDropping() && m.spell.isIdle()
}

// hasText reports whether characters are held back because they may begin a secret.
func (m *matcher) hasText() bool { return len(m.text)+len(m.trial.text) > 0 }

func (m *matcher) isDropping() bool { return m.drop.rule != nil || m.drop.rest != "" }

// reset prepares the matcher for a new text.
func (m *matcher) reset() {
	m.clearPending()
	m.tail, m.gram, m.want, m.row, m.drop, m.spell.state = m.tail[:0], 0, expectation{}, nil, removal{}, spellNone
}

func (m *matcher) clearPending() {
	m.text, m.units, m.candidates, m.known = m.text[:0], m.units[:0], m.candidates[:0], knownMatch{plain: m.known.plain[:0]}
	m.led, m.unglued, m.young = false, false, false
	m.trial.dropAll()
}

// passOver passes on characters that don't belong to a secret.
func (m *matcher) passOver(p []byte) {
	if len(p) > tailSize {
		p = p[len(p)-tailSize:]
	}
	m.makeRoom(len(p))
	m.tail = append(m.tail, p...)
	if n := len(m.tail); n >= 4 {
		m.gram = gramOf(m.tail[n-4:])
		return
	}
	for _, c := range p {
		m.gram = m.gram<<8 | uint32(c)
	}
}

// passChar passes on a character that doesn't belong to a secret.
func (m *matcher) passChar(c byte) {
	m.makeRoom(1)
	m.tail = append(m.tail, c)
	m.gram = m.gram<<8 | uint32(c)
}

// makeRoom makes room for the next n characters in the tail.
func (m *matcher) makeRoom(n int) {
	m.unglued = false
	switch {
	case m.tail == nil:
		m.tail = make([]byte, 0, 2*tailSize)
	case len(m.tail)+n > 4*tailSize:
		m.tail = m.tail[:copy(m.tail, m.recentTail())]
	}
}

// recentTail returns the last characters that were passed on, as many as any rule needs.
func (m *matcher) recentTail() []byte { return m.tail[max(0, len(m.tail)-tailSize):] }

// allRead returns the last characters that were read, including held characters.
func (m *matcher) allRead() []byte {
	if !m.hasText() {
		return m.recentTail()
	}
	return slices.Concat(m.recentTail(), m.text, m.trial.text)
}

func (m *matcher) lastPassed() byte { return byte(m.gram) }

// pendingFrom returns the place of the first character that has not been passed on, or limit if there is none.
func (m *matcher) pendingFrom(limit int64) int64 {
	if len(m.trial.text) > 0 {
		limit = min(limit, m.trial.runs[0].from)
	}
	return firstPending(m.units, m.spell.pendingFrom(limit))
}

// isHolding reports whether a character is held back.
func (m *matcher) isHolding() bool { return m.pendingFrom(math.MaxInt64) < math.MaxInt64 }

// passOne passes on a character, and checks whether a secret is now expected.
func (m *matcher) passOne(r *Redactor, c byte) {
	m.passChar(c)
	if m.armor != nil && m.armor.open {
		m.armor.passChar(m.recentTail())
	}
	if r.scan.endsContext(r.scan.pairs[uint16(m.gram)], m.gram) {
		m.expectSecret(r)
	}
}

// markReplaced records that the held characters are replaced.
func (m *matcher) markReplaced(d removal) {
	m.clearPending()
	m.passChar(']')
	switch m.drop = d; {
	case m.want.list && m.want.closes: // more values may follow
	case m.want.kind != cookieLine && m.want.kind != lineWords && m.want.kind != mapEntries:
		m.want = expectation{}
	}
}

// isWordStart reports whether a word may begin here. Colour codes of a terminal are not part of a word.
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

// trial is the beginning of a word that is compared with the shapes of secrets. Nearly all words fail soon, so
// their characters need not be held back one by one.
type trial struct {
	text []byte // characters that arrived in earlier chunks
	runs []span // places of these characters; each is a run without escapes
}

const maxTrial = 64 // maximum number of characters of a word that are compared in a trial

func (t *trial) dropAll() { t.text, t.runs = t.text[:0], t.runs[:0] }

// holdRun holds back more characters. The parameter at is their place.
func (t *trial) holdRun(p []byte, at int64) {
	t.text, t.runs = append(t.text, p...), append(t.runs, span{at, at + int64(len(p))})
}

// tryWord compares the beginning of a word with the shapes and the known values. The result is clean if the word
// isn't a secret, open if more of the word is needed to decide, and secret if it may be a secret.
func (r *Redactor) tryWord(p []byte) decision {
	v := clean
	if r.known.first[p[0]] && (len(p) < 4 || r.known.mayBegin(gramOf(p))) {
		if v = open; len(p) >= 4 {
			return secret
		}
	}
	switch {
	case len(p) == 1:
		if len(r.book.begins[p[0]]) > 0 {
			v = open
		}
		return v
	case !r.scan.mayBeginWith(p): // only a digest may begin with these characters
		if lowerHex[p[0]] && mayBeginDigest(p) {
			if v = open; len(p) > digestSize {
				return secret
			}
		}
		return v
	}
	for _, rule := range r.book.pairs[pairOf(p[0], p[1])] {
		c := ruleMatch{rule: rule}
		for i := 0; i < len(p) && c.state == alive; i++ {
			c.next(p[i])
		}
		switch {
		case c.state == alive && len(p) <= maxTrial:
			v = open
		case c.state != dead:
			return secret
		}
	}
	return v
}

// tryStart checks whether a character may begin a secret. If so, tryStart holds the character back.
func (m *matcher) tryStart(r *Redactor, u character) bool {
	glued := r.scan.pairs[uint16(m.gram)<<8|uint16(u.c)]&mayGlue != 0
	if glued && m.want.rule == nil && !m.unglued && alnum[byte(m.gram>>24)] && m.beginGlued(r, u) {
		return true
	}
	if m.isWordStart() {
		m.young = len(r.book.begins[u.c]) > 0
		if m.known.alive = r.known.first[u.c]; m.known.alive {
			m.known.plain = append(m.known.plain, u.c)
		}
	}
	if m.armor != nil && m.armor.open {
		for _, rule := range m.armor.nextRules(m.lastPassed(), u.c) {
			m.addCandidate(rule, u, 0)
		}
	}
	if m.want.rule != nil {
		m.called = m.want.name.called
		quote := m.want.quote
		if expected := m.nextRule(u); expected != nil {
			m.addCandidate(expected, u, quote)
		}
	}
	if m.row != nil {
		if expected := m.row.nextRule(u.c); expected != nil {
			m.called = m.row.name.called
			m.addCandidate(expected, u, 0)
		}
		if m.row.sign == 0 {
			m.row = nil
		}
	}
	if len(m.candidates) == 0 && !m.known.alive && !m.young {
		return false
	}
	m.text, m.units = append(m.text, u.c), append(m.units, u)
	return true
}

func (m *matcher) addCandidate(rule *rule, u character, quote int) {
	c := ruleMatch{rule: rule, quote: quote}
	if c.nextOf(&u); c.state == alive {
		m.candidates = append(m.candidates, c)
	}
}

// beginGlued checks whether four characters begin a secret inside a word.
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
		m.known.plain = append(m.known.plain, m.text...)
		m.known.compareText(r, len(m.text))
	}
	return true
}

// matchKnown compares the next character of the text with the known values. The parameter size is the length of the
// text with that character. A terminal may have broken a value into lines, which may be indented.
func (k *knownMatch) matchKnown(r *Redactor, c byte, size int) {
	n := len(k.plain)
	if n >= minPlausibleChars && (c == '\n' || c == '\r') || k.broken && c == ' ' && size-n <= maxBreakChars {
		k.broken = true
		return
	}
	k.plain = append(k.plain, c)
	k.compareText(r, size)
	if whole := k.plain[:n]; !k.alive && k.value == nil && r.isCutValue(whole) {
		at, _ := r.known.find(string(whole))
		k.value, k.size, k.cut = r.known.sorted[at], size-1, true
	}
}

const maxBreakChars = 64 // maximum number of characters in line breaks and indents of a value

// compareText compares the text with the known values. The parameter size is the length of the text.
func (k *knownMatch) compareText(r *Redactor, size int) {
	exact, longer := r.known.match(k.plain)
	if exact != nil {
		k.value, k.size = exact, size
	}
	k.alive = longer
}

// isCutValue reports whether the beginning of a known value is long enough to count as the value. Error messages
// often repeat only the beginning of a key.
func (r *Redactor) isCutValue(text []byte) bool {
	if len(text) < minCutChars || len(text)-r.publicPrefixLen(text) < minCutChars {
		return false
	}
	at, _ := r.known.find(string(text))
	return at < len(r.known.sorted) && strings.HasPrefix(r.known.sorted[at].text, string(text)) && 2*len(text) >= len(r.known.sorted[at].text)
}

const minCutChars = 16 // minimum number of characters for the beginning of a value to count as the value

// extendText adds a character to the held text.
func (m *matcher) extendText(r *Redactor, u character) {
	m.text, m.units = append(m.text, u.c), append(m.units, u)
	if m.young {
		m.addShapes(r, m.units[0], u.c)
	}
	live := m.candidates[:0]
	for i := range m.candidates {
		c := &m.candidates[i]
		if c.state == alive {
			c.nextOf(&u)
		}
		if c.state == dead {
			continue
		}
		if len(live) < i {
			live = append(live, *c)
		} else {
			live = m.candidates[:i+1]
		}
	}
	m.candidates = live
	if m.known.alive {
		m.known.matchKnown(r, u.c, len(m.text))
	}
}

// addShapes adds the shapes that begin with two characters, and puts them before the other candidates.
func (m *matcher) addShapes(r *Redactor, first character, second byte) {
	m.young = false
	expected := slices.Clone(m.candidates)
	m.candidates = m.candidates[:0]
	for _, rule := range r.book.pairs[pairOf(first.c, second)] {
		m.addCandidate(rule, first, 0)
	}
	m.candidates = append(m.candidates, expected...)
}

// consumeChar handles a character after the beginning of a secret was replaced. The result more reports whether the
// character belongs to the secret, and gone whether it is removed. A quote in a password belongs to the password, but
// is not removed.
func (d *removal) consumeChar(u character) (gone, more bool) {
	c := u.c
	if d.rule == nil {
		if d.rest[0] != c {
			return false, false
		}
		d.rest = d.rest[1:]
		return true, true
	}
	class := d.rule.parts[len(d.rule.parts)-1].class
	if !d.rule.keep {
		return true, class[c]
	}
	gone = !d.kept && !staysInValue(c)
	d.kept = u.keepsNext()
	return gone, class[c]
}

// staysInValue reports whether a character is kept when a value is replaced, because removing it could change where a
// JSON string ends.
func staysInValue(c byte) bool { return c == '"' || c == '\\' }

// keepsNext reports whether the next character is kept too. After a single backslash, that character decides
// whether a string is valid.
func (u *character) keepsNext() bool { return u.c == '\\' && u.spelledWidth()%2 == 1 }

type decision int

const (
	clean  decision = iota // no secret begins with the first character
	open                   // undecided
	secret                 // the first n characters are a secret
	begun                  // all held characters are a secret, which continues
)

// decideText decides whether the held text begins with a secret. It tries a known value first, then the candidates in
// their order.
func (m *matcher) decideText() (v decision, n int, by *rule) {
	switch {
	case m.known.alive || m.young:
		return open, 0, nil
	case m.known.value != nil:
		return secret, m.known.size, nil
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
