package redact

import (
	"toolscope/stream/json"
)

// readString reads the next bytes of a string. It returns how many.
func (l *lexer) readString(p []byte, at int64) int {
	n := l.stringRun(p)
	switch {
	case n > 0:
		l.hashString(p[:n])
		if !l.isSelfContained(p, n) || !l.s.r.canSkip(l.s.inside, p[:n]) {
			l.s.readText(l.s.inside, p[:n], at)
		} else {
			l.skipped = p[:n]
		}
		return n
	case p[0] == '"':
		l.closeString()
	default: // this is not JSON
		l.lineBreak()
	}
	return 1
}

// stringRun returns how far a string continues: to its end, to a line break, or to the end of p, possibly
// in the middle of an escape.
func (l *lexer) stringRun(p []byte) (n int) {
	if l.escaped {
		l.escaped, n = false, 1
	}
	for n < len(p) {
		if n += json.PlainRun(p[n:]); n == len(p) || p[n] == '"' || p[n] == '\n' {
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

// isSelfContained reports whether the string ends after its first n bytes, is in a JSON container, and
// is neither a key nor part of a longer text.
func (l *lexer) isSelfContained(p []byte, n int) bool {
	return n < len(p) && p[n] == '"' && !l.joined && !l.isKey && l.top() != nil
}

// lineBreak ends a string, unless a secret may continue after the line break.
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
		top.field = l.s.r.fields.meaningOf(l.hash, l.s.inside.allRead())
	case top == nil: // of a text that is not JSON: it may be a name
		l.s.outside.passOver(l.s.inside.allRead())
	case top.field.index:
		top.index = top.index*hashPrime ^ l.hash
	case !l.joined && (top.array || top.field.names):
		top.named, top.hasName = l.nameOfNext(top)
	}
	l.skipped = nil
	l.s.pauseText(l.joined)
}

// nameOfNext returns the secretName that a string gives to the next value: the next element of a list, or the
// field "value".
func (l *lexer) nameOfNext(top *container) (secretName, bool) {
	name := l.s.inside.allRead()
	if l.skipped != nil {
		name = l.skipped
	}
	if len(name) > maxNameChars || top.array && countTrailing(name, inName) < len(name) {
		return secretName{}, false
	}
	return headerName(name)
}

// hashString updates the hash of a key or an index.
func (l *lexer) hashString(p []byte) {
	if l.noted {
		l.hash = hashBytes(l.hash, p)
	}
}
