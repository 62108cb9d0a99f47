package redact

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"toolscope/stream/json"
)

// replacement replaces a range of the input.
type replacement struct {
	from, to int64
	with     string
}

// textRedactor redacts one text that arrives in chunks. Places are counted from the beginning of the text.
type textRedactor struct {
	r     *Redactor
	lex   lexer
	fixed bool // replacements have the length of the replaced text

	buf   []byte // input whose output has not been taken yet
	base  int64  // place of the beginning of buf
	pos   int64  // place after the last byte that was read
	edits []replacement

	outside *matcher // text outside JSON strings
	inside  *matcher // the current JSON string
	single  *matcher // a self-contained string
	texts   pendingTexts
	armor   keyArmor        // private key outside JSON
	todo    []character     // characters to examine, the next one last
	now     *matcher        // the matcher of the text whose characters are being decoded
	decode  func(character) // examines a character with the matcher in the field now
}

func newTextRedactor(r *Redactor) *textRedactor {
	s := &textRedactor{r: r}
	s.outside, s.single = &matcher{armor: &s.armor}, &matcher{armor: &s.armor}
	s.inside = s.single
	s.decode = s.takeDecoded
	s.lex.attachTo(s)
	return s
}

// write redacts the next bytes of the input. It takes ownership of the bytes.
func (s *textRedactor) write(p []byte) {
	if len(s.buf) == 0 {
		s.buf = p[:len(p):len(p)]
	} else {
		s.buf = append(s.buf, p...)
	}
	s.read(p)
}

// read reads bytes in steps that end at multiples of a fixed size. Texts are decided at these places, so decisions
// don't depend on how the input is split.
func (s *textRedactor) read(p []byte) {
	for len(p) > 0 {
		n := min(len(p), int(s.nextSettling()-s.pos))
		s.lex.read(p[:n], s.pos)
		s.pos += int64(n)
		p = p[n:]
		if s.pos%settleStep == 0 {
			s.settleIdle(maxIdleBytes)
		}
	}
}

const settleStep = 1 << 10 // distance in bytes between the places where idle texts are decided

// nextSettling returns the next place where a text may have been idle for long enough to be decided.
func (s *textRedactor) nextSettling() int64 {
	grew := s.pos
	for _, m := range s.texts.waiting {
		grew = min(grew, m.grew)
	}
	for _, m := range []*matcher{s.outside, s.inside} {
		if m.isHolding() {
			grew = min(grew, m.grew)
		}
	}
	return max(s.pos/settleStep+1, (grew+maxIdleBytes)/settleStep) * settleStep
}

// settleIdle decides what to replace in the texts that have not grown for limit bytes of input.
func (s *textRedactor) settleIdle(limit int64) {
	for _, m := range s.texts.waiting {
		s.settleText(m, limit)
	}
	s.settleText(s.outside, limit)
	s.settleText(s.inside, limit)
	s.texts.waiting = slices.DeleteFunc(s.texts.waiting, func(m *matcher) bool { return !m.isHolding() })
}

// settleText decides what to replace in a text that has not grown for limit bytes of input.
func (s *textRedactor) settleText(m *matcher, limit int64) {
	if m.pendingFrom(s.pos) < s.pos && s.pos-m.grew >= limit {
		s.decideNow(m)
	}
}

// decideNow decides what to replace in a text, without more input. If a secret has begun, the part that has arrived is replaced, and its
// continuation is removed later.
func (s *textRedactor) decideNow(m *matcher) {
	s.endTrial(m)
	markPassed(m.spell.pieces)
	if len(m.text) == 0 {
		return
	}
	if rest, v := s.r.restOfKnown(m); v != nil {
		s.replaceKnown(m, v)
		m.markReplaced(removal{rest: rest})
		return
	}
	for i := range m.candidates {
		c := &m.candidates[i]
		if c.state != alive || !c.isComplete() || c.size < len(m.text) {
			continue
		}
		switch n := c.secretLen(m.text); {
		case n == len(m.text):
			s.redactFirst(m, n, c.rule)
			m.markReplaced(removal{rule: c.rule})
			return
		case n > 0: // more text follows the secret
			s.redactFirst(m, n, c.rule)
			s.rescan(m, n)
			s.now = m
			s.examineTodo(m)
			s.decideNow(m)
			return
		}
	}
	markPassed(m.units)
}

// restOfKnown returns the rest of a known secret if the text is a long enough beginning of the secret. Apart from the
// prefix that all keys of its kind share, the text must have at least minPlausibleChars characters.
func (r *Redactor) restOfKnown(m *matcher) (rest string, v *knownValue) {
	if !m.known.alive || len(m.known.plain) < r.publicPrefixLen(m.text)+minPlausibleChars {
		return "", nil
	}
	at, _ := r.known.find(string(m.known.plain))
	v = r.known.sorted[at]
	return v.text[len(m.known.plain):] + v.rest, v
}

// publicPrefixLen returns the length of the prefix that all keys of the text's kind share.
func (r *Redactor) publicPrefixLen(text []byte) (n int) {
	for _, rule := range r.book.begins[text[0]] {
		fixed := 0
		for fixed < min(len(rule.parts), len(text)) && rule.parts[fixed].max == 1 && rule.parts[fixed].class[text[fixed]] {
			fixed++
		}
		n = max(n, fixed)
	}
	return n
}

// finishBody decides the remaining text at the end of the input.
func (s *textRedactor) finishBody() {
	s.lex.finish()
	for _, m := range append(s.texts.waiting, s.inside, s.outside) {
		s.endText(m)
	}
	s.texts = pendingTexts{}
}

// endText ends a text.
func (s *textRedactor) endText(m *matcher) {
	s.endTrial(m)
	s.now = m
	m.spell.finish(s.decode)
	for len(m.text) > 0 {
		n := 0
		var by *rule
		for i := range m.candidates {
			if c := &m.candidates[i]; n == 0 && c.state == alive && c.isComplete() {
				n, by = c.secretLen(m.text), c.rule
			}
		}
		switch _, v := s.r.restOfKnown(m); {
		case m.known.value != nil:
			n = m.known.size
			s.redactFirst(m, n, nil)
		case v != nil:
			n = len(m.text)
			s.replaceKnown(m, v)
		case n > 0:
			s.redactFirst(m, n, by)
		}
		s.rescan(m, n)
		s.examineTodo(m)
	}
	m.reset()
}

// readText reads the next characters of a text in their escaped form, in which escapes begin with backslashes and
// percent signs. The parameter at is the place of the first one.
func (s *textRedactor) readText(m *matcher, p []byte, at int64) {
	for i := 0; i < len(p); {
		n := 1
		switch {
		case p[i] == '\\' || p[i] == '%' && !isPlainPercent(p[i+1:]):
			n = s.readEscape(m, p[i:], at+int64(i))
		case m.isIdle():
			n = s.skipToCandidate(m, p[i:], at+int64(i))
		case len(m.trial.text) > 0:
			word := p[i : i+literalRun(p[i:])]
			if n = len(word); !s.continueTrial(m, word, at+int64(i)) {
				n = 0
			}
		default:
			s.readChar(m, p[i], span{at + int64(i), at + int64(i) + 1})
		}
		i += n
	}
}

// shortEscape returns the character of the escape that p begins with, and the length of the escape: two characters, or
// six in the case of \u00XX. The length is 0 if p begins with another escape, or with a part of one.
func shortEscape(p []byte) (c byte, n int) {
	switch {
	case p[0] != '\\' || len(p) == 1:
	case escapeMeans[p[1]] != 0:
		return escapeMeans[p[1]], 2
	case p[1] == 'u' && len(p) >= 6 && p[2] == '0' && p[3] == '0':
		high, low := json.HexValue(p[4]), json.HexValue(p[5])
		if c = byte(high<<4 | low); 0 <= high && high < 8 && low >= 0 && c != '\\' && c != '%' {
			return c, 6
		}
	}
	return 0, 0
}

// skipToCandidate passes on the characters before the next candidate, and reads the candidate. It returns the number of
// characters that it has read.
func (s *textRedactor) skipToCandidate(m *matcher, p []byte, at int64) (n int) {
	n, kind := s.r.nextCandidate(m, p)
	switch kind {
	case noCandidate, escapeThere:
		m.passOver(p[:n])
		return n
	case endCandidate:
		n++
		m.passOver(p[:n])
		m.expectSecret(s.r)
		return n
	}
	m.passOver(p[:n])
	word := p[n : n+literalRun(p[n:])]
	switch s.r.tryCandidate(m, word) {
	case clean:
		m.passOne(s.r, word[0])
	case open:
		m.trial.holdRun(word, at+int64(n))
		m.grew = max(m.grew, at+int64(n+len(word)))
		return n + len(word)
	case secret:
		s.readChar(m, word[0], span{at + int64(n), at + int64(n) + 1})
	}
	return n + 1
}

// literalRun returns the number of characters before the next escape. It reads eight characters at a time.
func literalRun(p []byte) (n int) {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for {
		for n+8 <= len(p) {
			w := binary.LittleEndian.Uint64(p[n:])
			slash, percent := w^('\\'*ones), w^('%'*ones)
			stop := ((slash - ones) &^ slash) | ((percent - ones) &^ percent)
			if stop &= tops; stop != 0 {
				n += bits.TrailingZeros64(stop) / 8
				break
			}
			n += 8
		}
		for n < len(p) && p[n] != '\\' && p[n] != '%' {
			n++
		}
		if n == len(p) || p[n] == '\\' || !isPlainPercent(p[n+1:]) {
			return n
		}
		n++
	}
}

// isPlainPercent reports whether the characters after a percent sign show that it is not an escape.
func isPlainPercent(after []byte) bool {
	return len(after) > 0 && json.HexValue(after[0]) < 0 || len(after) > 1 && json.HexValue(after[1]) < 0
}

// readEscape reads an escape that begins with a backslash or a percent sign. It reads a common escape
// completely, and one character of any other escape. The result n is the number of bytes that it read.
func (s *textRedactor) readEscape(m *matcher, p []byte, at int64) (n int) {
	if c, n := shortEscape(p); n > 0 && m.isIdle() && s.r.canPass(m, c) {
		m.passChar(c)
		return n
	}
	for m.spell.isIdle() && n < min(len(p), maxBackslashes) && p[n] == '\\' {
		n++
	}
	if n == len(p) || n == 0 || n&(n-1) != 0 || escapeMeans[p[n]] == 0 {
		s.readChar(m, p[0], span{at, at + 1})
		return 1
	}
	s.endTrial(m)
	u := character{c: escapeMeans[p[n]], at: span{at, at + int64(n) + 1}}
	s.now, m.grew = m, max(m.grew, u.at.to)
	s.takeDecoded(u)
	return n + 1
}

// continueTrial adds more literal characters to the word that is on trial, and compares the word again. It reports
// whether the characters belong to the word. If the word is clean, its characters are passed on.
func (s *textRedactor) continueTrial(m *matcher, p []byte, at int64) bool {
	word := append(m.trial.text, p[:min(len(p), maxTrial+1)]...)
	v := s.r.tryWord(word)
	m.trial.text = word[:len(m.trial.text)]
	switch v {
	case open:
		m.trial.holdRun(p, at)
		m.grew = max(m.grew, at+int64(len(p)))
		return true
	case clean:
		if s.r.canPassAll(m, m.trial.text) {
			m.passOver(m.trial.text)
			m.trial.dropAll()
			return false
		}
	}
	s.endTrial(m)
	return false
}

// endTrial ends the trial of a word. It holds the word's characters back one by one.
func (s *textRedactor) endTrial(m *matcher) {
	if len(m.trial.text) == 0 {
		return
	}
	text, runs := slices.Clone(m.trial.text), slices.Clone(m.trial.runs)
	m.trial.dropAll()
	s.now = m
	for _, run := range runs {
		for at := run.from; at < run.to; at++ {
			s.takeDecoded(character{c: text[0], at: span{at, at + 1}})
			text = text[1:]
		}
	}
}

// readChar reads one character of a text in its escaped form.
func (s *textRedactor) readChar(m *matcher, c byte, at span) {
	if m.isIdle() && c != '\\' && c != '%' && s.r.canPass(m, c) {
		m.passChar(c)
		return
	}
	s.endTrial(m)
	m.grew = max(m.grew, at.to)
	s.now = m
	m.spell.read(character{c: c, at: at}, s.decode)
}

func (s *textRedactor) takeDecoded(u character) {
	s.examineChar(s.now, u)
	s.examineTodo(s.now)
}

// examineTodo examines the characters in todo, starting at the end of the list.
func (s *textRedactor) examineTodo(m *matcher) {
	for n := len(s.todo); n > 0; n = len(s.todo) {
		next := s.todo[n-1]
		s.todo = s.todo[:n-1]
		s.examineChar(m, next)
	}
}

func (s *textRedactor) examineChar(m *matcher, u character) {
	if m.isDropping() {
		if gone, more := m.drop.consumeChar(u); more {
			if gone {
				s.removeChar(u)
			}
			return
		}
		m.drop = removal{}
	}
	if len(m.text) > 0 {
		m.extendText(s.r, u)
	} else if !m.tryStart(s.r, u) {
		m.passOne(s.r, u.c)
		return
	}
	v, n, by := m.decideText()
	switch v {
	case clean:
		s.rescan(m, 0)
	case secret:
		rest := ""
		if by == nil && !m.known.cut {
			rest = m.known.value.rest
		}
		s.redactFirst(m, n, by)
		s.rescan(m, n)
		m.drop.rest = rest
	case begun:
		s.redactFirst(m, n, by)
		m.markReplaced(removal{rule: by})
	}
}

// rescan drops the first n held characters, which have been replaced, and examines the others again. If n is 0, the
// first character doesn't begin a secret and is passed on.
func (s *textRedactor) rescan(m *matcher, n int) {
	from, first := n, m.text[0]
	switch {
	case n == 0 && m.led: // the first characters were passed on before
		from = lead
	case n == 0:
		from = 1
	}
	led := m.led
	if text := m.text; n == 0 && !led && m.want.rule == nil && m.row == nil && !m.armor.open && s.r.canPassAll(m, text) {
		m.clearPending()
		m.passOver(text)
		return
	}
	for i := len(m.units) - 1; i >= from; i-- {
		s.todo = append(s.todo, m.units[i])
	}
	switch {
	case n > 0:
		m.markReplaced(removal{})
	case led:
		m.clearPending()
		m.unglued = true
	default:
		m.clearPending()
		m.passOne(s.r, first)
	}
}

// decidedTo returns the place up to which the output is decided.
func (s *textRedactor) decidedTo() int64 {
	limit := min(s.lex.pendingFrom(s.pos), s.inside.pendingFrom(s.pos), s.outside.pendingFrom(s.pos))
	for _, m := range s.texts.waiting {
		limit = m.pendingFrom(limit)
	}
	return limit
}

func (s *textRedactor) writtenTo() int64 { return s.pos }

// decideAll decides everything that is held back.
func (s *textRedactor) decideAll() { s.settleIdle(0) }

// redactFirst replaces the first n characters. The parameter by is the rule that found the secret, or nil if the
// secret's value is known.
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

// replaceKnown replaces the held text, which is a known value or the beginning of one.
func (s *textRedactor) replaceKnown(m *matcher, v *knownValue) {
	units := m.units
	if m.known.broken {
		units = removableUnits(units, false)
	}
	s.replaceSecret(units, v.secret, v.where)
}

// removableUnits returns the characters that are replaced. These don't include the quotes of a password, the
// character after a single backslash, or the line breaks and indents of a value over several lines.
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

// replaceSecret replaces the characters of a secret that have not been passed on: the first one with the replacement,
// and the others with nothing. A replacement of fixed length is spread over all of them instead.
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

// addReplacement replaces a range of the input with a text. It merges adjacent ranges that are removed.
func (s *textRedactor) addReplacement(at span, with string) {
	if n := len(s.edits); n > 0 && with == "" && s.edits[n-1].to == at.from {
		s.edits[n-1].to = at.to
		return
	}
	s.edits = append(s.edits, replacement{at.from, at.to, with})
}

// removeChar removes a character of a secret whose beginning was already replaced.
func (s *textRedactor) removeChar(u character) {
	for at := range u.places {
		with := ""
		if s.fixed {
			with = strings.Repeat("*", int(at.to-at.from))
		}
		s.addReplacement(at, with)
	}
}

// takeOutput returns the output for the input up to a decided place, and removes it from the buffer.
func (s *textRedactor) takeOutput(to int64) []byte {
	slices.SortFunc(s.edits, func(a, b replacement) int { return cmp.Compare(a.from, b.from) })
	if to <= s.base { // the last edit extended beyond the end of its record
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

const (
	maxWaitingTexts = 128  // maximum number of texts that wait because they end with the possible beginning of a secret
	maxTexts        = 1024 // maximum number of texts that are kept
)

// pendingTexts are the texts of a stream that continue from one document to the next.
type pendingTexts struct {
	all     map[uint64]*matcher // by channel
	order   []uint64            // oldest first
	waiting []*matcher          // texts that are between two of their strings and hold back characters
}

// resumeText makes the text of a channel the current one.
func (s *textRedactor) resumeText(channel uint64) *matcher {
	t := &s.texts
	m := t.all[channel]
	if m == nil {
		if t.all == nil {
			t.all = map[uint64]*matcher{}
		}
		if len(t.order) == maxTexts {
			s.dropText(t.order[0])
		}
		m = &matcher{channel: channel}
		m.armor = &m.own
		t.all[channel], t.order = m, append(t.order, channel)
	}
	if i := slices.Index(t.waiting, m); i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	}
	return m
}

// pauseText ends the current string. If the string's text continues in the next document, the text waits.
func (s *textRedactor) pauseText(joined bool) {
	m := s.inside
	s.inside = s.single
	switch {
	case !joined:
		s.endText(m)
	case m.isHolding():
		s.texts.waiting = append(s.texts.waiting, m)
		if len(s.texts.waiting) > maxWaitingTexts {
			s.r.noteLimit(fmt.Sprintf("more than %d unfinished texts at once: a secret may be cut in the middle", maxWaitingTexts))
			s.dropText(s.texts.waiting[0].channel)
		}
	}
}

// dropText ends the text of a channel.
func (s *textRedactor) dropText(channel uint64) {
	t := &s.texts
	m := t.all[channel]
	s.endText(m)
	delete(t.all, channel)
	if i := slices.Index(t.order, channel); i >= 0 { // usually the first
		t.order = slices.Delete(t.order, i, i+1)
	}
	if i := slices.Index(t.waiting, m); i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	}
}
