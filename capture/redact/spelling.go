package redact

import (
	"unicode/utf8"

	"toolscope/stream/jsonbytes"
)

// character is one decoded character of a text, and where its spelling stands in the input. An escape
// that is cut by the end of a delta stands in several places. A character beyond ASCII is several
// units, of which the first stands everywhere and the others nowhere.
type character struct {
	c    byte
	at   span
	more []span
}

// unescaper undoes what a text may be wrapped in: JSON in JSON in JSON, percent-encoding. It need
// not know how deep. JSON doubles the backslashes of what it wraps and puts one before each quote,
// so a run of backslashes and the character behind it are one character at every depth: `\n`, `\\n`
// and `\\\\n` are all the same line break to somebody who looks for secrets.
//
// It is generous: where the text meant a backslash and an n, it sees a line break too. That costs
// nothing, since a text is only looked at in this form and never written in it.
type unescaper struct {
	state  unescapeState
	pieces []character // of an escape that has not come to its end
	digits int         // that have come of a code
	code   rune        // as far as they tell
}

type unescapeState uint8

const (
	spellNone    unescapeState = iota
	spellSlashes               // a run of backslashes
	spellCode                  // and u, and perhaps digits
	spellPercent               // and perhaps a digit
)

const maxBackslashes = 64 // backslashes that are one run

var escapeMeans = [256]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': ' ', 'f': ' ', '"': '"', '\'': '\'', '/': '/', '`': '`'}

func (p *unescaper) isIdle() bool { return p.state == spellNone }

// read takes the next character as it is written and hands out those that are decoded.
func (p *unescaper) read(u character, out func(character)) {
	switch p.state {
	case spellSlashes:
		p.afterSlash(u, out)
	case spellCode:
		p.inCode(u, out)
	case spellPercent:
		p.inPercent(u, out)
	default:
		p.readPlain(u, out)
	}
}

func (p *unescaper) readPlain(u character, out func(character)) {
	switch u.c {
	case '\\':
		p.state, p.pieces = spellSlashes, append(p.pieces[:0], u)
	case '%':
		p.state, p.digits, p.code = spellPercent, 0, 0
		p.pieces = append(p.pieces[:0], u)
	default:
		out(u)
	}
}

func (p *unescaper) afterSlash(u character, out func(character)) {
	switch {
	case u.c == '\\' && len(p.pieces) < maxBackslashes:
		p.pieces = append(p.pieces, u)
	case u.c == 'u':
		p.ownSlashes(out)
		p.state, p.digits, p.code = spellCode, 0, 0
		p.pieces = append(p.pieces, u)
	case u.c == '"':
		p.pieces = append(p.pieces, u)
		p.emitRune('"', out)
	case escapeMeans[u.c] != 0:
		p.ownSlashes(out)
		p.pieces = append(p.pieces, u)
		p.emitRune(rune(escapeMeans[u.c]), out)
	default:
		slashes := mergeCharacters(p.pieces, '\\')
		p.state = spellNone
		out(slashes)
		p.readPlain(u, out)
	}
}

// ownSlashes hands out those of a run that are backslashes in their own right. JSON doubles all of
// them each time, so an escape has 1, 2, 4 or 8.
func (p *unescaper) ownSlashes(out func(character)) {
	n := len(p.pieces)
	if own := n - n&-n; own > 0 {
		slashes := mergeCharacters(p.pieces[:own], '\\')
		p.pieces = append(p.pieces[:0], p.pieces[own:]...)
		out(slashes)
	}
}

// inCode reads the four digits of \uXXXX.
func (p *unescaper) inCode(u character, out func(character)) {
	if p.readDigit(u, 4, out) {
		p.emitDecoded(p.code, out)
	}
}

// readDigit reads a hexadecimal digit of so many, and reports whether it was the last.
func (p *unescaper) readDigit(u character, of int, out func(character)) bool {
	digit := jsonbytes.HexValue(u.c)
	if digit < 0 {
		p.emitLiteral(u, out)
		return false
	}
	p.pieces = append(p.pieces, u)
	p.code = p.code<<4 | digit
	p.digits++
	return p.digits == of
}

// inPercent reads the two digits of %XX.
func (p *unescaper) inPercent(u character, out func(character)) {
	if !p.readDigit(u, 2, out) {
		return
	}
	if p.code >= utf8.RuneSelf { // a byte, not a character
		whole := mergeCharacters(p.pieces, byte(p.code))
		p.state = spellNone
		out(whole)
		return
	}
	p.emitDecoded(p.code, out)
}

// emitDecoded hands a decoded character out, unless it is the beginning of another escape.
func (p *unescaper) emitDecoded(c rune, out func(character)) {
	p.digits, p.code = 0, 0
	switch whole := mergeCharacters(p.pieces, byte(c)); c {
	case '\\':
		p.state, p.pieces = spellSlashes, append(p.pieces[:0], whole)
	case '%':
		p.state, p.pieces = spellPercent, append(p.pieces[:0], whole)
	default:
		p.emitRune(c, out)
	}
}

func (p *unescaper) emitRune(c rune, out func(character)) {
	var bytes [utf8.UTFMax]byte
	n := utf8.EncodeRune(bytes[:], c)
	whole := mergeCharacters(p.pieces, bytes[0])
	p.state = spellNone
	out(whole)
	for _, c := range bytes[1:n] {
		out(character{c: c, at: passed})
	}
}

// emitLiteral hands out what looked like an escape as the characters that it is, and then u.
func (p *unescaper) emitLiteral(u character, out func(character)) {
	pieces := append([]character(nil), p.pieces...)
	slashes := 0
	for p.state == spellCode && slashes < len(pieces) && pieces[slashes].c == '\\' {
		slashes++
	}
	p.state = spellNone
	if slashes > 0 {
		out(mergeCharacters(pieces[:slashes], '\\'))
	}
	for _, piece := range pieces[slashes:] {
		out(piece)
	}
	p.readPlain(u, out)
}

// finish hands out what is unfinished.
func (p *unescaper) finish(out func(character)) {
	if p.state == spellNone {
		return
	}
	pieces := append([]character(nil), p.pieces...)
	p.state = spellNone
	for _, piece := range pieces {
		out(piece)
	}
}

// pendingFrom is where the unfinished character begins, or limit.
func (p *unescaper) pendingFrom(limit int64) int64 {
	if p.state == spellNone {
		return limit
	}
	return firstPending(p.pieces, limit)
}

// mergeCharacters is one character that is spelled in pieces.
func mergeCharacters(pieces []character, c byte) character {
	whole := pieces[0]
	whole.c, whole.more = c, append([]span(nil), whole.more...)
	for _, piece := range pieces[1:] {
		whole.addSpan(piece.at)
		for _, at := range piece.more {
			whole.addSpan(at)
		}
	}
	return whole
}

func (u *character) addSpan(at span) {
	last := &u.at
	if len(u.more) > 0 {
		last = &u.more[len(u.more)-1]
	}
	if last.from >= 0 && at.from == last.to {
		last.to = at.to
		return
	}
	u.more = append(u.more, at)
}

// places are where a character stands that is not passed on.
func (u *character) places(yield func(span) bool) {
	if u.at.from >= 0 && !yield(u.at) {
		return
	}
	for _, at := range u.more {
		if at.from >= 0 && !yield(at) {
			return
		}
	}
}

// firstPending is the first place of characters that is not passed on, or limit.
func firstPending(units []character, limit int64) int64 {
	for i := range units {
		for at := range units[i].places {
			return min(limit, at.from)
		}
	}
	return limit
}

// markPassed passes characters on.
func markPassed(units []character) {
	for i := range units {
		units[i].at, units[i].more = passed, nil
	}
}

// normaliseText is what a text says, in the form in which texts are compared.
func normaliseText(text string) string {
	var p unescaper
	out := make([]byte, 0, len(text))
	put := func(u character) { out = append(out, u.c) }
	for i := range len(text) {
		p.read(character{c: text[i], at: span{int64(i), int64(i) + 1}}, put)
	}
	p.finish(put)
	return string(out)
}
