package json

import (
	"bytes"
	"slices"
)

// ValueScanner finds the end of one JSON value while its bytes arrive. It counts brackets and recognises
// strings, but validates nothing else. In text that is not JSON, it finds an arbitrary end. The zero value is
// ready to use. Its memory is constant, however long and deep the value is.
type ValueScanner struct {
	depth   int
	begun   bool // a byte of the value has been read
	text    bool // inside a string
	escaped bool // the last byte was a backslash that escapes the next one
}

// Write scans the next bytes. The result n is the number of bytes that belong to the value, including white
// space before it. The result done reports whether the value's end is known. A number or a word ends only
// before a byte that can't belong to it. That byte is not counted.
func (s *ValueScanner) Write(p []byte) (n int, done bool) {
	for n < len(p) {
		if s.text {
			n += s.scanString(p[n:])
			if !s.text && s.depth == 0 {
				return n, true
			}
			continue
		}
		switch c := p[n]; {
		case c == '"' && s.begun && s.depth == 0:
			return n, true // the end of a word
		case c == '"':
			s.begun, s.text = true, true
		case c == '{' || c == '[':
			if s.begun && s.depth == 0 {
				return n, true
			}
			s.begun = true
			s.depth++
		case (c == '}' || c == ']') && s.depth > 0:
			if s.depth--; s.depth == 0 {
				return n + 1, true
			}
		case s.depth > 0:
		case IsSpace(c) && !s.begun:
		case IsSpace(c) || c == ',' || c == ':' || c == '}' || c == ']':
			return n, true
		default:
			s.begun = true
		}
		n++
	}
	return n, false
}

// InString reports whether the bytes so far end inside a string.
func (s *ValueScanner) InString() bool { return s.text }

// scanString returns the number of bytes of p that belong to the open string.
func (s *ValueScanner) scanString(p []byte) (n int) {
	if s.escaped && len(p) > 0 {
		s.escaped, n = false, 1
	}
	for {
		i := bytes.IndexByte(p[n:], '"')
		if i < 0 {
			s.escaped = TrailingBackslashes(p[n:])%2 == 1
			return len(p)
		}
		even := TrailingBackslashes(p[n:n+i])%2 == 0
		if n += i + 1; even {
			s.text = false
			return n
		}
	}
}

// MaxValueBytes is the maximum size of a value that is held in memory.
const MaxValueBytes = 64 << 20

// FoundValue is a value that a Walk found at one of its paths.
type FoundValue struct {
	Path int    // index of the path that matches it
	Raw  []byte // its bytes; they may share memory with the written bytes
	At   int64  // its offset in the text
	Size int64  // its length, up to the end of the text
	Cut  bool   // the text ends inside it
	Long bool   // it is longer than MaxValueBytes, and Raw is nil
}

// Walk reads a JSON text while its bytes arrive. It passes on each value at one of its paths when the value
// is complete. It keeps at most one value in memory, and the path to it. The text may be several values in a
// row, separated by white space.
//
// A walk doesn't validate the text: it skips misplaced bytes. It finds the values of all duplicate keys.
type Walk struct {
	// Paths are the keys that lead to values, from the top. "*" is each element of an array. The empty path is
	// each value of the text itself.
	Paths [][]string

	Stray   int64 // number of misplaced bytes
	StrayAt int64 // offset of the first misplaced byte

	read   int64           // number of bytes of the text read so far
	levels []openContainer // open objects and arrays that may contain values to find
	now    walkStep        // the current step
	span   ValueScanner    // finds the end of the value or key that is being read
	size   int64           // number of bytes of that value read so far
	held   []byte          // bytes of that value from earlier writes
	path   int             // index of the path that matches that value
}

// openContainer is an open object or array.
type openContainer struct {
	array bool
	key   string // key of the next value, once the key was read
	keyed bool   // the key was read
}

type walkStep int8

const (
	between walkStep = iota // before the next key, value or bracket
	inKey
	inFound   // a value to find
	inSkipped // any other value
)

// Write reads the next bytes of the text, and calls the function give with each value that is now complete.
func (w *Walk) Write(p []byte, give func(FoundValue)) {
	for len(p) > 0 {
		n := 0
		if w.now == between {
			n = w.readBetween(p)
		} else {
			n = w.readOn(p, give)
		}
		w.read += int64(n)
		p = p[n:]
	}
}

// Close ends the text. If the text ends inside a value, Close calls the function give with that value. A number or a
// word at the end counts as complete.
func (w *Walk) Close(give func(FoundValue)) {
	if w.now == inFound {
		w.emitValue(nil, w.span.depth > 0 || w.span.text, give)
	}
	w.now = between
}

// Len returns the number of bytes read.
func (w *Walk) Len() int64 { return w.read }

// Open reports whether the text is incomplete: it ends inside a value, or inside an object or array that the walk
// entered.
func (w *Walk) Open() bool { return len(w.levels) > 0 || w.now != between }

// readOn reads more bytes of a value or a key, and returns their number.
func (w *Walk) readOn(p []byte, give func(FoundValue)) int {
	n, done := w.span.Write(p)
	w.size += int64(n)
	switch {
	case w.now == inFound && done:
		w.emitValue(p[:n:n], false, give)
	case w.now == inKey && done:
		top := &w.levels[len(w.levels)-1]
		raw := append(w.held, p[:n]...)
		top.key, top.keyed = string(AppendUnquoted(nil, raw[1:max(1, len(raw)-1)])), true
	case w.now == inSkipped || w.size > MaxValueBytes:
		w.held = nil
	default:
		if len(w.held)+n > cap(w.held) { // double the buffer, because a long value arrives in many chunks
			w.held = slices.Grow(w.held, max(n, len(w.held)))
		}
		w.held = append(w.held, p[:n]...)
	}
	if done {
		w.now, w.held = between, w.held[:0]
	}
	return n
}

func (w *Walk) emitValue(last []byte, cut bool, give func(FoundValue)) {
	f := FoundValue{Path: w.path, Raw: last, Size: w.size, Cut: cut, Long: w.size > MaxValueBytes}
	f.At = w.read + int64(len(last)) - w.size
	switch {
	case f.Long:
		f.Raw = nil
	case int64(len(last)) < w.size:
		f.Raw, w.held = append(w.held, last...), nil
	}
	give(f)
}

// readBetween reads the text between values, and returns the number of bytes read.
func (w *Walk) readBetween(p []byte) int {
	var top *openContainer
	if len(w.levels) > 0 {
		top = &w.levels[len(w.levels)-1]
	}
	switch c := p[0]; {
	case IsSpace(c):
		return SpaceLen(p)
	case top != nil && (c == '}' && !top.array || c == ']' && top.array):
		w.levels = w.levels[:len(w.levels)-1]
		w.endValue()
	case top != nil && c == ',':
		top.keyed = false
	case top != nil && c == ':' && top.keyed:
	case c == '}' || c == ']' || c == ',' || c == ':' || top != nil && !top.array && !top.keyed && c != '"':
		w.skipUnexpected()
	case top != nil && !top.array && !top.keyed:
		w.beginStep(inKey)
		return 0
	default:
		return w.beginValue(c)
	}
	return 1
}

func (w *Walk) skipUnexpected() {
	if w.Stray++; w.Stray == 1 {
		w.StrayAt = w.read
	}
}

func (w *Walk) beginStep(what walkStep) {
	w.now, w.span, w.size, w.held = what, ValueScanner{}, 0, w.held[:0]
}

// endValue records the end of a value: in an object, a key follows.
func (w *Walk) endValue() {
	if len(w.levels) > 0 {
		w.levels[len(w.levels)-1].keyed = false
	}
}

// beginValue begins the value whose first byte is c: it records, enters or skips the value. It returns the
// number of bytes read.
func (w *Walk) beginValue(c byte) int {
	found, leads := w.matchPaths()
	switch {
	case found >= 0:
		w.beginStep(inFound)
		w.path = found
	case leads && (c == '{' || c == '['):
		w.levels = append(w.levels, openContainer{array: c == '['})
		return 1
	default:
		w.beginStep(inSkipped)
	}
	w.endValue()
	return 0
}

// matchPaths returns the index of the path that matches the value that begins here, or -1. The result leads reports
// whether a path leads through that value.
func (w *Walk) matchPaths() (found int, leads bool) {
	found = -1
	for i, path := range w.Paths {
		switch {
		case len(path) < len(w.levels) || !w.leadsHere(path):
		case len(path) == len(w.levels):
			found = i
		default:
			leads = true
		}
	}
	return found, leads
}

func (w *Walk) leadsHere(path []string) bool {
	for i, l := range w.levels {
		if l.array && path[i] != "*" || !l.array && path[i] != l.key {
			return false
		}
	}
	return true
}
