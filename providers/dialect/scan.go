package dialect

import (
	"fmt"
	"strconv"

	"toolscope/stream"
	"toolscope/stream/jsonbytes"
)

// Scanner reads one JSON text from front to back without building anything,
// so that a dialect pays for the fields it wants and nothing else:
//
//	for ok := s.Object(); ok; ok = s.Member() {
//		switch string(s.Key()) {
//		case "index":
//			index = s.Value()
//		case "choices":
//			for ok := s.Array(); ok; ok = s.Element() { … }
//		}
//	}
//
// A value that the body does not consume is skipped; a loop must run to its
// end. Everything is checked against RFC 8259 on the way, skipped parts too.
// After an error all loops end; End tells it. A value of the wrong type reads
// as an empty one, because an inspector must show what came, not insist.
type Scanner struct {
	data  []byte
	i     int
	value int // where the value of the current member or element begins
	key   []byte
	keyAt int // where it stands, without its quote
	depth int
	err   error
	trace *trace // keeps what is read, if it is not nil
}

// Scan begins to read data.
func Scan(data []byte) Scanner {
	s := Scanner{data: data}
	s.space()
	return s
}

// End checks that the text ended with the value read, and returns Err.
func (s *Scanner) End() error {
	if s.err == nil && s.i < len(s.data) {
		s.fail("the end of the text")
	}
	return s.err
}

// Err is the first error, which names the byte.
func (s *Scanner) Err() error { return s.err }

// Kind is the first byte of the next value: one of {["tfn-0…9, or 0 at the end.
func (s *Scanner) Kind() byte {
	if s.i < len(s.data) && s.err == nil {
		return s.data[s.i]
	}
	return 0
}

// Object enters the next value if that is an object, and its first member.
func (s *Scanner) Object() bool {
	return s.enter('{', '}') && s.name()
}

// Member moves on to the next member of the object; false leaves the object.
func (s *Scanner) Member() bool {
	if s.i == s.value {
		s.skip()
	}
	return s.more('}') && s.name()
}

// Key is the name of the current member, unescaped.
func (s *Scanner) Key() []byte { return s.key }

// Array enters the next value if that is an array, and its first element.
func (s *Scanner) Array() bool {
	if !s.enter('[', ']') {
		return false
	}
	s.value = s.i
	return true
}

// Element moves on to the next element of the array; false leaves the array.
func (s *Scanner) Element() bool {
	if s.i == s.value {
		s.skip()
	}
	if !s.more(']') {
		return false
	}
	s.value = s.i
	return true
}

// Value consumes the next value and returns its bytes.
func (s *Scanner) Value() Raw {
	start := s.i
	end := s.skip()
	if s.err != nil {
		return nil
	}
	return Raw(s.data[start:end])
}

// enter consumes the opening bracket; false if there is none or nothing inside.
func (s *Scanner) enter(opener, closer byte) bool {
	if s.Kind() != opener {
		return false
	}
	if s.depth++; s.depth > stream.MaxDepth {
		s.fail("at most 10000 levels of nesting")
		return false
	}
	s.i++
	s.space()
	if s.Kind() == closer {
		s.leave()
		return false
	}
	return s.err == nil
}

// more consumes a comma, or the closing bracket and says false.
func (s *Scanner) more(closer byte) bool {
	switch c := s.Kind(); {
	case s.err != nil:
		return false
	case c == ',':
		s.i++
		s.space()
		return true
	case c == closer:
		s.leave()
		return false
	}
	s.fail("a comma or " + string(closer))
	return false
}

func (s *Scanner) leave() {
	s.depth--
	s.i++
	s.space()
}

// name consumes a key and its colon.
func (s *Scanner) name() bool {
	if s.Kind() != '"' {
		s.fail("a key")
		return false
	}
	start := s.i + 1
	plain := s.str()
	if s.err != nil {
		return false
	}
	s.keyAt = start
	if s.key = s.data[start : s.i-1]; !plain {
		s.key = jsonbytes.AppendUnquoted(nil, s.key)
	}
	s.space()
	if s.Kind() != ':' {
		s.fail("a colon")
		return false
	}
	s.i++
	s.space()
	s.value = s.i
	return true
}

// skip consumes a value and the space after it; it returns where the value ended.
func (s *Scanner) skip() (end int) {
	switch c := s.Kind(); c {
	case '{':
		for more := s.enter('{', '}'); more; more = s.more('}') {
			if !s.name() {
				return
			}
			s.skip()
		}
	case '[':
		for more := s.enter('[', ']'); more; more = s.more(']') {
			s.skip()
		}
	case '"':
		start := s.i
		s.str()
		s.trace.scalar(start, s.i, stringHole)
	case 't':
		s.word("true")
	case 'f':
		s.word("false")
	case 'n':
		s.word("null")
	default:
		start := s.i
		s.number()
		s.trace.scalar(start, s.i, numberHole)
	}
	end = s.trimmed() // a container has consumed the space after it
	s.space()
	return end
}

// trimmed is where what was read ended, before the space that was consumed after it.
func (s *Scanner) trimmed() (end int) {
	for end = s.i; end > 0 && jsonbytes.IsSpace(s.data[end-1]); {
		end--
	}
	return end
}

// str consumes a string literal; plain says that it has no escapes.
func (s *Scanner) str() (plain bool) {
	plain = true
	s.i++
	for {
		s.i += jsonbytes.PlainRun(s.data[s.i:])
		if s.i == len(s.data) {
			s.fail("the end of the string")
			return
		}
		switch s.data[s.i] {
		case '"':
			s.i++
			return
		case '\\':
			plain = false
			s.escape()
		default:
			s.fail("no raw control character in a string")
		}
		if s.err != nil {
			return
		}
	}
}

func (s *Scanner) escape() {
	if s.i++; s.i == len(s.data) {
		s.fail("an escape")
		return
	}
	switch s.data[s.i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.i++
	case 'u':
		s.i++
		for range 4 {
			if s.i == len(s.data) || jsonbytes.Hex(s.data[s.i]) < 0 {
				s.fail("a hex digit")
				return
			}
			s.i++
		}
	default:
		s.fail(`one of "\/bfnrtu after a backslash`)
	}
}

func (s *Scanner) word(w string) {
	if len(s.data)-s.i < len(w) || string(s.data[s.i:s.i+len(w)]) != w {
		s.fail(w)
		return
	}
	s.i += len(w)
}

func (s *Scanner) number() {
	n := numberLen(s.data[s.i:])
	if n == 0 {
		s.fail("a value")
	}
	s.i += n
}

// numberLen is the length of the JSON number at the start of p, 0 if none.
func numberLen(p []byte) int {
	digits := func(i int) int {
		for i < len(p) && '0' <= p[i] && p[i] <= '9' {
			i++
		}
		return i
	}
	i := 0
	if i < len(p) && p[i] == '-' {
		i++
	}
	end := digits(i)
	if end == i || end > i+1 && p[i] == '0' {
		return 0
	}
	i = end
	if i < len(p) && p[i] == '.' {
		if end = digits(i + 1); end == i+1 {
			return 0
		}
		i = end
	}
	if i < len(p) && p[i]|0x20 == 'e' {
		i++
		if i < len(p) && (p[i] == '+' || p[i] == '-') {
			i++
		}
		if end = digits(i); end == i {
			return 0
		}
		i = end
	}
	return i
}

func (s *Scanner) space() {
	s.i += jsonbytes.Space(s.data[s.i:])
}

func (s *Scanner) fail(expected string) {
	if s.err != nil {
		return
	}
	got := "the end"
	if s.i < len(s.data) {
		got = strconv.QuoteRune(rune(s.data[s.i]))
	}
	s.err = fmt.Errorf("byte %d: expected %s, got %s", s.i, expected, got)
}
