package redact

import (
	"unicode/utf8"

	"toolscope/stream/json"
)

// character is one decoded character of a text, and where its spelling is in the input. An escape that is
// cut by the end of a delta is in several places. A character beyond ASCII becomes several bytes: the
// first has all places, the others none.
type character struct {
	c    byte
	at   span
	more []span
}

// unescaper decodes the escapes of a text: JSON in JSON in JSON, percent-encoding. It need not know the
// depth. JSON doubles the backslashes of the text that it quotes and puts one before each quote. So a run
// of backslashes and the character after it are one character at every depth: `\n`, `\\n` and `\\\\n` all
// decode to the same line break for a search for secrets.
//
// It is tolerant: if the text meant a backslash and an n, it finds a line break too. That does no harm,
// since a text is only searched in this form and never written in it.
type unescaper struct {
	state  unescapeState
	pieces []character // of an unfinished escape
	digits int         // digits of the code so far
	code   rune        // value of those digits
}

type unescapeState uint8

const (
	spellNone    unescapeState = iota
	spellSlashes               // a run of backslashes
	spellCode                  // after it a u, and maybe digits
	spellPercent               // a percent sign, and maybe a digit
)

const maxBackslashes = 64 // longest run of backslashes

var escapeMeans = [256]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': ' ', 'f': ' ', '"': '"', '\'': '\'', '/': '/', '`': '`'}

func (p *unescaper) isIdle() bool { return p.state == spellNone }

// read takes the next character as it is written and passes the decoded ones to out.
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

// ownSlashes passes on the backslashes of a run that are not part of the escape. JSON doubles all of them
// each time, so an escape has 1, 2, 4 or 8.
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

// readDigit reads one of so many hexadecimal digits, and reports whether it was the last.
func (p *unescaper) readDigit(u character, of int, out func(character)) bool {
	digit := json.HexValue(u.c)
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

// emitDecoded passes a decoded character on, unless it begins another escape.
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

// emitLiteral passes the characters of an invalid escape on as they are, and then u.
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

// finish passes on the characters of an unfinished escape.
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

// pendingFrom returns where the unfinished escape begins, or limit.
func (p *unescaper) pendingFrom(limit int64) int64 {
	if p.state == spellNone {
		return limit
	}
	return firstPending(p.pieces, limit)
}

// mergeCharacters returns one character with the places of several.
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

// places iterates over the places of a character that are not passed on.
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

// spelledWidth returns how many bytes a character is written with.
func (u *character) spelledWidth() int {
	n := int(u.at.to - u.at.from)
	for _, at := range u.more {
		n += int(at.to - at.from)
	}
	return n
}

// firstPending returns the first place of the characters that is not passed on, or limit.
func firstPending(units []character, limit int64) int64 {
	for i := range units {
		for at := range units[i].places {
			return min(limit, at.from)
		}
	}
	return limit
}

// markPassed marks characters as passed on.
func markPassed(units []character) {
	for i := range units {
		units[i].at, units[i].more = passed, nil
	}
}

// normaliseText returns a text in the decoded form, in which texts are compared.
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
