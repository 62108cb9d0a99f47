package redact

import "bytes"

// An streamPrefix is how a line of an event stream begins, up to the quote of the first text that goes on
// from event to event, when there is no secret in it. Most events of a stream begin alike: where the
// same stands before and the same values are known, what was looked at once has the same outcome
// again.
type streamPrefix struct {
	line   []byte      // as it is written, with the quote
	before []byte      // the end of what is outside of strings before it
	known  int         // how many spellings of values are known
	after  []byte      // the end of what is outside of strings before the quote
	stack  []container // that are open there
}

// streamPrefixes are the latest of a stream.
type streamPrefixes struct {
	list [4]streamPrefix
	next int // to be replaced

	line   []byte // what is read, from the beginning of a line on that may have an opening, or nil
	at     int64  // its place
	before []byte // of it
	edits  int    // that there were before it
}

// atLine reports whether c begins a line of an event stream, and nothing before it matters but what
// an opening knows.
func (l *lexer) atLine(c byte) bool {
	return l.bol && l.prefix == 0 && !l.keyed && bytes.IndexByte(eventLines, c) >= 0 && l.s.outside.isIdle()
}

// eventLines are what the lines of an event stream begin with.
var eventLines = []byte("deir:")

// skipPrefix passes over an opening that is known: how many bytes. Of a line that begins with none it
// remembers where that was.
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

// openStringAt begins the string behind a quote that ends at a place, and notes the opening of its line.
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
