package redact

import "toolscope/stream/jsonbytes"

// string reads a stretch of a string.
func (l *lexer) string(p []byte, at int64) int {
	n := jsonbytes.PlainRun(p)
	switch {
	case l.escaped:
		l.escaped, n = false, 1
	case n > 0 && n < len(p) && p[n] == '"' && !l.joined && !l.isKey && l.top() != nil && l.s.r.quiet(l.s.inside, p[:n]):
		l.note(p[:n])
		return n
	case n > 0:
	case p[0] == '"':
		l.close()
		return 1
	case p[0] == '\n': // this is no JSON
		l.lineBreak()
		return 1
	default:
		l.escaped, n = p[0] == '\\', 1
	}
	l.note(p[:n])
	l.s.written(l.s.inside, p[:n], at)
	return n
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
