package redact

import (
	"unicode/utf8"

	"toolscope/stream/jsonbytes"
)

// unit is one decoded character of a text, and where its spelling stands in the input. An escape
// that is cut by the end of a delta stands in several places. A character beyond ASCII is several
// units, of which the first stands everywhere and the others nowhere.
type unit struct {
	c    byte
	at   span
	more []span
}

// spelling undoes what a text may be wrapped in: JSON in JSON in JSON, percent-encoding. It need
// not know how deep. JSON doubles the backslashes of what it wraps and puts one before each quote,
// so a run of backslashes and the character behind it are one character at every depth: `\n`, `\\n`
// and `\\\\n` are all the same line break to somebody who looks for secrets.
//
// It is generous: where the text meant a backslash and an n, it sees a line break too. That costs
// nothing, since a text is only looked at in this form and never written in it.
type spelling struct {
	state  spellState
	pieces []unit // of an escape that has not come to its end
	digits int    // that have come of a code
	code   rune   // as far as they tell
}

type spellState uint8

const (
	spellNone    spellState = iota
	spellSlashes            // a run of backslashes
	spellCode               // and u, and perhaps digits
	spellPercent            // and perhaps a digit
)

const slashLimit = 64 // backslashes that are one run

var escapeMeans = [256]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': ' ', 'f': ' ', '"': '"', '\'': '\'', '/': '/', '`': '`'}

func (p *spelling) idle() bool { return p.state == spellNone }

// read takes the next character as it is written and hands out those that are decoded.
func (p *spelling) read(u unit, out func(unit)) {
	switch p.state {
	case spellSlashes:
		p.afterSlash(u, out)
	case spellCode:
		p.inCode(u, out)
	case spellPercent:
		p.inPercent(u, out)
	default:
		p.plain(u, out)
	}
}

func (p *spelling) plain(u unit, out func(unit)) {
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

func (p *spelling) afterSlash(u unit, out func(unit)) {
	switch {
	case u.c == '\\' && len(p.pieces) < slashLimit:
		p.pieces = append(p.pieces, u)
	case u.c == 'u':
		p.ownSlashes(out)
		p.state, p.digits, p.code = spellCode, 0, 0
		p.pieces = append(p.pieces, u)
	case u.c == '"':
		p.pieces = append(p.pieces, u)
		p.decoded('"', out)
	case escapeMeans[u.c] != 0:
		p.ownSlashes(out)
		p.pieces = append(p.pieces, u)
		p.decoded(rune(escapeMeans[u.c]), out)
	default:
		slashes := merged(p.pieces, '\\')
		p.state = spellNone
		out(slashes)
		p.plain(u, out)
	}
}

// ownSlashes hands out those of a run that are backslashes in their own right. JSON doubles all of
// them each time, so an escape has 1, 2, 4 or 8.
func (p *spelling) ownSlashes(out func(unit)) {
	n := len(p.pieces)
	if own := n - n&-n; own > 0 {
		slashes := merged(p.pieces[:own], '\\')
		p.pieces = append(p.pieces[:0], p.pieces[own:]...)
		out(slashes)
	}
}

// inCode reads the four digits of \uXXXX.
func (p *spelling) inCode(u unit, out func(unit)) {
	if p.digit(u, 4, out) {
		p.means(p.code, out)
	}
}

// digit reads a hexadecimal digit of so many, and reports whether it was the last.
func (p *spelling) digit(u unit, of int, out func(unit)) bool {
	digit := jsonbytes.Hex(u.c)
	if digit < 0 {
		p.broken(u, out)
		return false
	}
	p.pieces = append(p.pieces, u)
	p.code = p.code<<4 | digit
	p.digits++
	return p.digits == of
}

// inPercent reads the two digits of %XX.
func (p *spelling) inPercent(u unit, out func(unit)) {
	if !p.digit(u, 2, out) {
		return
	}
	if p.code >= utf8.RuneSelf { // a byte, not a character
		whole := merged(p.pieces, byte(p.code))
		p.state = spellNone
		out(whole)
		return
	}
	p.means(p.code, out)
}

// means hands a decoded character out, unless it is the beginning of another escape.
func (p *spelling) means(c rune, out func(unit)) {
	p.digits, p.code = 0, 0
	switch whole := merged(p.pieces, byte(c)); c {
	case '\\':
		p.state, p.pieces = spellSlashes, append(p.pieces[:0], whole)
	case '%':
		p.state, p.pieces = spellPercent, append(p.pieces[:0], whole)
	default:
		p.decoded(c, out)
	}
}

func (p *spelling) decoded(c rune, out func(unit)) {
	var bytes [utf8.UTFMax]byte
	n := utf8.EncodeRune(bytes[:], c)
	whole := merged(p.pieces, bytes[0])
	p.state = spellNone
	out(whole)
	for _, c := range bytes[1:n] {
		out(unit{c: c, at: passed})
	}
}

// broken hands out what looked like an escape as the characters that it is, and then u.
func (p *spelling) broken(u unit, out func(unit)) {
	pieces := append([]unit(nil), p.pieces...)
	slashes := 0
	for p.state == spellCode && slashes < len(pieces) && pieces[slashes].c == '\\' {
		slashes++
	}
	p.state = spellNone
	if slashes > 0 {
		out(merged(pieces[:slashes], '\\'))
	}
	for _, piece := range pieces[slashes:] {
		out(piece)
	}
	p.plain(u, out)
}

// finish hands out what is unfinished.
func (p *spelling) finish(out func(unit)) {
	if p.state == spellNone {
		return
	}
	pieces := append([]unit(nil), p.pieces...)
	p.state = spellNone
	for _, piece := range pieces {
		out(piece)
	}
}

// held is where the unfinished character begins, or limit.
func (p *spelling) held(limit int64) int64 {
	if p.state == spellNone {
		return limit
	}
	return held(p.pieces, limit)
}

// merged is one character that is spelled in pieces.
func merged(pieces []unit, c byte) unit {
	whole := pieces[0]
	whole.c, whole.more = c, append([]span(nil), whole.more...)
	for _, piece := range pieces[1:] {
		whole.add(piece.at)
		for _, at := range piece.more {
			whole.add(at)
		}
	}
	return whole
}

func (u *unit) add(at span) {
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
func (u *unit) places(yield func(span) bool) {
	if u.at.from >= 0 && !yield(u.at) {
		return
	}
	for _, at := range u.more {
		if at.from >= 0 && !yield(at) {
			return
		}
	}
}

// held is the first place of characters that is not passed on, or limit.
func held(units []unit, limit int64) int64 {
	for i := range units {
		for at := range units[i].places {
			return min(limit, at.from)
		}
	}
	return limit
}

// release passes characters on.
func release(units []unit) {
	for i := range units {
		units[i].at, units[i].more = passed, nil
	}
}

// normal is what a text says, in the form in which texts are compared.
func normal(text string) string {
	var p spelling
	out := make([]byte, 0, len(text))
	put := func(u unit) { out = append(out, u.c) }
	for i := range len(text) {
		p.read(unit{c: text[i], at: span{int64(i), int64(i) + 1}}, put)
	}
	p.finish(put)
	return string(out)
}
