package redact

import "bytes"

// An opening is how a line of an event stream begins, up to the quote of the first text that goes on
// from event to event, when there is no secret in it. Most events of a stream begin alike, and what
// was looked at once has the same outcome again: of what stands before a line only the
// last characters matter, but to the context of a .netrc, so that none with a password is noted.
type opening struct {
	line  []byte      // as it is written, with the quote
	gram  uint32      // the last characters before it
	known int         // how many spellings of values are known
	said  []byte      // what of it is outside of strings
	stack []container // that are open at its end
}

// openings are the latest of a stream.
type openings struct {
	list [4]opening
	next int // to be replaced

	line   []byte // what is read, from the beginning of the latest line on, or nil
	at     int64  // its place
	gram   uint32 // the last characters before it
	passed int64  // characters outside of strings before it
	edits  int    // before it
}

// atLine reports whether c begins a line of an event stream, and nothing before it matters but what
// an opening knows.
func (l *lexer) atLine(c byte) bool {
	return l.bol && l.prefix == 0 && !l.keyed && bytes.IndexByte(eventLines, c) >= 0 && l.s.outside.idle()
}

// eventLines are what the lines of an event stream begin with.
var eventLines = []byte("deir:")

// skip passes over an opening that is known: how many bytes. Of a line that begins with none it
// remembers where that was.
func (l *lexer) skip(p []byte, at int64) int {
	o, out := &l.openings, l.s.outside
	known := len(l.s.r.known.sorted)
	for i := range o.list {
		if one := &o.list[i]; len(one.line) > 0 && bytes.HasPrefix(p, one.line) && one.gram == out.gram && one.known == known {
			out.pass(one.said)
			l.stack, l.beyond = append(l.stack[:0], one.stack...), 0
			l.bol, l.before = false, p[len(one.line)-2]
			l.open()
			return len(one.line)
		}
	}
	o.line, o.at, o.gram, o.passed, o.edits = p, at, out.gram, out.passed, len(l.s.edits)
	return 0
}

// openAt begins the string behind a quote that ends at a place, and notes the opening of its line.
func (l *lexer) openAt(end int64) {
	o, out := &l.openings, l.s.outside
	plain := out.idle() && len(l.s.edits) == o.edits
	l.open()
	if o.line == nil || !l.joined {
		return
	}
	if said := out.since(o.passed); plain && said != nil && !bytes.Contains(said, []byte("password")) {
		one := &o.list[o.next]
		o.next = (o.next + 1) % len(o.list)
		one.line, one.said = append(one.line[:0], o.line[:end-o.at]...), append(one.said[:0], said...)
		one.gram, one.known, one.stack = o.gram, len(l.s.r.known.sorted), append(one.stack[:0], l.stack...)
	}
	o.line = nil
}
