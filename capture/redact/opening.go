package redact

import "bytes"

// streamPrefix is the beginning of an event stream's line, up to the quote of the first text that
// continues from event to event, without a secret in it. Most events of a stream begin alike: after the
// same text, and with the same known values, the same beginning has the same outcome, so it need not be
// searched again.
type streamPrefix struct {
	line   []byte      // as it is written, with the quote
	before []byte      // the last characters outside of strings before it
	known  int         // how many spellings of values are known
	after  []byte      // the last characters outside of strings before the quote
	stack  []container // open containers at its end
}

// streamPrefixes holds the latest prefixes of a stream.
type streamPrefixes struct {
	list [4]streamPrefix
	next int // index to replace

	line   []byte // the read bytes, from the beginning of a line that may have a new prefix, or nil
	at     int64  // its place
	before []byte // the characters before it
	edits  int    // number of edits before it
}

// atLine reports whether c begins a line of an event stream, and no state before it matters except that
// in streamPrefix.
func (l *lexer) atLine(c byte) bool {
	return l.bol && l.prefix == 0 && !l.keyed && bytes.IndexByte(eventLines, c) >= 0 && l.s.outside.isIdle()
}

// eventLines are the first characters of the lines of an event stream.
var eventLines = []byte("deir:")

// skipPrefix skips a known prefix and returns its length. If there is none, it records where the line
// begins.
func (l *lexer) skipPrefix(p []byte, at int64) int {
	o, out := &l.openings, l.s.outside
	before, known := out.recentTail(), len(l.s.r.known.sorted)
	for i := range o.list {
		if one := &o.list[i]; len(one.line) > 0 && bytes.HasPrefix(p, one.line) && one.known == known && bytes.Equal(one.before, before) {
			out.tail, out.gram = out.tail[:0], 0
			out.passOver(one.after)
			l.stack, l.beyond = append(l.stack[:0], one.stack...), 0
			l.bol, l.before = false, p[len(one.line)-2]
			l.openString()
			return len(one.line)
		}
	}
	o.line, o.at, o.before, o.edits = p, at, append(o.before[:0], before...), len(l.s.edits)
	return 0
}

// openStringAt begins the string after a quote, which ends at a place, and stores the prefix of its line.
func (l *lexer) openStringAt(end int64) {
	o := &l.openings
	plain := l.s.outside.isIdle() && len(l.s.edits) == o.edits
	l.openString()
	if o.line == nil || !l.joined {
		return
	}
	if plain {
		one := &o.list[o.next]
		o.next = (o.next + 1) % len(o.list)
		one.line, one.before = append(one.line[:0], o.line[:end-o.at]...), append(one.before[:0], o.before...)
		one.after, one.stack = append(one.after[:0], l.s.outside.recentTail()...), append(one.stack[:0], l.stack...)
		one.known = len(l.s.r.known.sorted)
	}
	o.line = nil
}
