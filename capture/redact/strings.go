package redact

import "toolscope/stream/jsonbytes"

// readString reads a stretch of a string.
func (l *lexer) readString(p []byte, at int64) int {
	n := l.stringRun(p)
	switch {
	case n > 0:
		l.hashString(p[:n])
		if !l.isSelfContained(p, n) || !l.s.r.canSkip(l.s.inside, p[:n]) {
			l.s.readText(l.s.inside, p[:n], at)
		}
		return n
	case p[0] == '"':
		l.closeString()
	default: // this is no JSON
		l.lineBreak()
	}
	return 1
}

// stringRun is how far a string goes on: to its end, to a line break, or to the end of what has come,
// where that is in the middle of an escape perhaps.
func (l *lexer) stringRun(p []byte) (n int) {
	if l.escaped {
		l.escaped, n = false, 1
	}
	for n < len(p) {
		if n += jsonbytes.PlainRun(p[n:]); n == len(p) || p[n] == '"' || p[n] == '\n' {
			return n
		}
		if p[n] == '\\' {
			l.escaped = n+1 == len(p)
			n++
		}
		n++
	}
	return min(n, len(p))
}

// isSelfContained reports whether the string ends behind its first n bytes, and nobody wants to know what is
// in it but for secrets.
func (l *lexer) isSelfContained(p []byte, n int) bool {
	return n < len(p) && p[n] == '"' && !l.joined && !l.isKey && l.top() != nil
}

// lineBreak ends a string in which nothing goes on.
func (l *lexer) lineBreak() {
	m := l.s.inside
	l.s.readChar(m, '\n', passed)
	if m.isIdle() {
		l.inString, l.bol = false, true
		l.s.pauseText(false)
		l.stack, l.beyond = l.stack[:0], 0
	}
}

// closeString ends a string.
func (l *lexer) closeString() {
	l.inString, l.before = false, '"'
	top := l.top()
	switch {
	case l.isKey:
		l.keyed = true
		top.wantKey, top.key = false, l.hash
		top.field = l.s.r.fields.meaningOf(l.hash, l.s.inside.tail)
	case top == nil: // of a text that is no JSON: it may be a name
		l.s.outside.passOver(l.s.inside.recentTail())
	case top.field.index:
		top.index = top.index*hashPrime ^ l.hash
	}
	l.s.pauseText(l.joined)
}

// hashString remembers what a key is called, and what an index is.
func (l *lexer) hashString(p []byte) {
	if l.noted {
		l.hash = hashBytes(l.hash, p)
	}
}
