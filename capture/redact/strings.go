package redact

import "bytes"

// string reads a stretch of a string.
func (l *lexer) string(p []byte, at int64) int {
	if l.escape > 0 {
		l.escaped(p[0], at)
		return 1
	}
	if n := plainRun(p); n > 0 {
		l.note(p[:n])
		ends := n < len(p) && p[n] == '"' && !l.joined
		if m := l.s.inside; !ends || !m.idle() || l.s.r.scan.next(p[:n], 0)+3 <= n { // two characters are no secret
			l.s.scan(m, p[:n], at)
		}
		return n
	}
	switch p[0] {
	case '\\':
		l.escape, l.escAt = 1, at
	case '"':
		l.close()
	default: // a line break: this is no JSON
		if m := l.s.inside; !m.idle() {
			l.s.feed(m, '\n', passed)
		}
		if m := l.s.inside; m.idle() {
			l.inString, l.bol = false, true
			l.s.conclude(m)
			l.stack, l.beyond = l.stack[:0], 0
		}
	}
	return 1
}

// plainRun is how many bytes of a string stand for themselves. Most strings are short.
func plainRun(p []byte) int {
	for n := range min(len(p), 48) {
		if c := p[n]; c == '"' || c == '\\' || c == '\n' {
			return n
		}
	}
	n := len(p)
	for _, c := range []byte("\"\\\n") {
		if i := bytes.IndexByte(p[:n], c); i >= 0 {
			n = i
		}
	}
	return n
}

// escaped reads a character of an escape.
func (l *lexer) escaped(c byte, at int64) {
	if l.escape > 1 {
		digit := bytes.IndexByte([]byte("0123456789abcdefABCDEF"), c)
		if digit < 0 {
			l.broken(c, at)
			return
		}
		if digit > 15 {
			digit -= 6
		}
		l.digits[l.escape-2] = c
		l.code = l.code<<4 | uint16(digit)
		if l.escape++; l.escape == 6 {
			meant := byte(0xff)
			if l.code < 0x80 {
				meant = byte(l.code)
			}
			l.unescape(meant, at+1)
		}
		return
	}
	switch c {
	case 'u':
		l.escape, l.code = 2, 0
		return
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'b', 'f':
		c = ' '
	}
	l.unescape(c, at+1)
}

// broken reads what looked like an escape, and ends with c, as the characters that it is.
func (l *lexer) broken(c byte, at int64) {
	n := l.escape - 2
	digits := l.digits
	l.unescape(0xff, at-int64(n))
	for i := range n {
		l.string(digits[i:i+1], at-int64(n-i))
	}
	l.string([]byte{c}, at)
}

// unescape hands out the character that an escape means, which ends before to.
func (l *lexer) unescape(c byte, to int64) {
	l.escape = 0
	l.note([]byte{c})
	m := l.s.inside
	switch {
	case m.idle() && !l.s.r.scan.first[c]:
		m.pass([]byte{c})
	default:
		l.s.feed(m, c, span{l.escAt, to})
	}
}

// close ends a string.
func (l *lexer) close() {
	l.inString, l.before = false, '"'
	top := l.top()
	switch {
	case l.isKey:
		top.wantKey, top.key = false, l.hash
		top.isIndex = isIndex(l.tail)
		if fieldBits>>(l.hash%64)&1 == 1 {
			top.secret = fieldNames[l.hash]
		}
	case top != nil && top.isIndex:
		top.index = top.index*hashPrime ^ l.hash
	}
	l.s.pause(l.joined)
}

// note remembers what a key is called, and what an index is.
func (l *lexer) note(p []byte) {
	if !l.noted {
		return
	}
	l.hash = hashed(l.hash, p)
	for _, c := range p[max(0, len(p)-8):] {
		l.tail = l.tail<<8 | uint64(c)
	}
}

// isIndex tells by the end of a key whether its value says which of several parallel texts an event belongs to:
// index, output_index, contentBlockIndex, item_id, toolCallId.
func isIndex(tail uint64) bool {
	const ndex, itemID, callID = 0x6e646578, 0x6974656d5f6964, 0x6c43616c6c4964
	return tail&0xffffffff == ndex || tail&0xffffffffffffff == itemID || tail&0xffffffffffffff == callID
}
