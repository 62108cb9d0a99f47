package redact

import "toolscope/stream/jsonbytes"

// string reads a stretch of a string.
func (l *lexer) string(p []byte, at int64) int {
	n := l.stretch(p)
	switch {
	case n > 0:
		l.note(p[:n])
		if !l.alone(p, n) || !l.s.r.quiet(l.s.inside, p[:n]) {
			l.s.written(l.s.inside, p[:n], at)
		}
		return n
	case p[0] == '"':
		l.close()
	default: // this is no JSON
		l.lineBreak()
	}
	return 1
}

// stretch is how far a string goes on: to its end, to a line break, or to the end of what has come,
// where that is in the middle of an escape perhaps.
func (l *lexer) stretch(p []byte) (n int) {
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

// alone reports whether the string ends behind its first n bytes, and nobody wants to know what is
// in it but for secrets.
func (l *lexer) alone(p []byte, n int) bool {
	return n < len(p) && p[n] == '"' && !l.joined && !l.isKey && l.top() != nil
}

// lineBreak ends a string in which nothing goes on.
func (l *lexer) lineBreak() {
	m := l.s.inside
	l.s.feed(m, '\n', passed)
	if m.idle() {
		l.inString, l.bol = false, true
		l.s.pause(false)
		l.stack, l.beyond = l.stack[:0], 0
	}
}

// close ends a string.
func (l *lexer) close() {
	l.inString, l.before = false, '"'
	top := l.top()
	switch {
	case l.isKey:
		l.keyed = true
		top.wantKey, top.key = false, l.hash
		top.field = l.s.r.fields.of(l.hash, l.s.inside.tail)
	case top == nil: // of a text that is no JSON: it may be a name
		l.s.outside.pass(l.s.inside.before())
	case top.field.index:
		top.index = top.index*hashPrime ^ l.hash
	}
	l.s.pause(l.joined)
}

// note remembers what a key is called, and what an index is.
func (l *lexer) note(p []byte) {
	if l.noted {
		l.hash = hashed(l.hash, p)
	}
}
