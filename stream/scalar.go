package stream

import "toolscope/stream/jsonbytes"

func (l *Lexer) inString(p []byte, i int) int {
	for i < len(p) && l.mode == inString {
		i += jsonbytes.PlainRun(p[i:])
		switch {
		case i == len(p):
		case p[i] == '"':
			if l.mode = wantColon; l.last != Key {
				l.endValue()
			}
			i++
		case p[i] == '\\':
			l.mode = inEscape
			if i++; i < len(p) {
				i = l.inEscape(p, i) // directly, without Write: source code is full of escapes
			}
		default:
			return l.failAt(p, i, l.expectedText())
		}
	}
	return i
}

func (l *Lexer) inEscape(p []byte, i int) int {
	switch p[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		l.mode = inString
	case 'u':
		l.mode, l.hex = inHex, 4
	default:
		return l.failAt(p, i, l.expectedText())
	}
	return i + 1
}

func (l *Lexer) inHex(p []byte, i int) int {
	if jsonbytes.HexValue(p[i]) < 0 {
		return l.failAt(p, i, l.expectedText())
	}
	if l.hex--; l.hex == 0 {
		l.mode = inString
	}
	return i + 1
}

func (l *Lexer) inWord(p []byte, i int) int {
	if p[i] != l.word[0] {
		return l.failAt(p, i, l.expectedText())
	}
	if l.word = l.word[1:]; l.word == "" {
		l.endValue()
	}
	return i + 1
}

// inNumber handles p[i] while a number is open. A number ends at the first byte that can't belong to it,
// and that byte is lexed again.
func (l *Lexer) inNumber(p []byte, i int) int {
	for ; i < len(p); i++ {
		if c := p[i]; '0' <= c && c <= '9' && (l.mode == numInt || l.mode == numFraction) {
			continue
		}
		next := numberStep(l.mode, p[i])
		if next == inJunk {
			return l.endNumber(p, i)
		}
		l.mode = next
	}
	return i
}

func (l *Lexer) endNumber(p []byte, i int) int {
	c := p[i]
	if !l.numberDone() || l.mode == numZero && '0' <= c && c <= '9' {
		return l.failAt(p, i, l.expectedText())
	}
	l.endValue()
	return i
}

// numberDone reports whether the open number is valid if it ends here.
func (l *Lexer) numberDone() bool {
	switch l.mode {
	case numZero, numInt, numFraction, numExpDigits:
		return true
	}
	return false
}

// numberStep returns the state after c, or inJunk if c is not part of the number.
func numberStep(m lexerState, c byte) lexerState {
	digit := '0' <= c && c <= '9'
	switch m {
	case numSign:
		if c == '0' {
			return numZero
		}
		if digit {
			return numInt
		}
	case numInt, numFraction, numExpDigits:
		if digit {
			return m
		}
	case numPoint:
		if digit {
			return numFraction
		}
	case numExp, numExpSign:
		if digit {
			return numExpDigits
		}
		if m == numExp && (c == '+' || c == '-') {
			return numExpSign
		}
	}
	switch {
	case c == '.' && (m == numZero || m == numInt):
		return numPoint
	case (c == 'e' || c == 'E') && (m == numZero || m == numInt || m == numFraction):
		return numExp
	}
	return inJunk
}
