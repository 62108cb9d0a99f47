package json

import (
	"fmt"
	"strconv"
)

// Scanner reads one JSON text from front to back. It builds no tree, so a decoder pays only for the values that
// it uses:
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
// A value that the loop's body doesn't consume is skipped. A loop must run to its end. Everything is checked
// against RFC 8259, including skipped values. After an error all loops end, and End returns the error. A value
// of the wrong type reads as an empty one, because an inspector shows any input.
type Scanner struct {
	data  []byte
	i     int
	value int // start of the value of the current field or element
	key   []byte
	keyAt int // start of key in data, after its quote
	depth int
	err   error
	trace *scanTrace // records the values that are read, for the cache of a Shape; or nil
}

// Scan returns a Scanner that reads data.
func Scan(data []byte) Scanner {
	s := Scanner{data: data}
	s.skipSpace()
	return s
}

// Valid reports whether text is one JSON value.
func Valid(text []byte) bool {
	s := Scan(text)
	return s.Value() != nil && s.End() == nil
}

// IsObject reports whether text is one JSON object.
func IsObject(text []byte) bool {
	s := Scan(text)
	return s.Kind() == '{' && Valid(text)
}

// End checks that no text follows the values that were read, and returns Err.
func (s *Scanner) End() error {
	if s.err == nil && s.i < len(s.data) {
		s.setError("the end of the text")
	}
	return s.err
}

// Err returns the first error. The error names the wrong byte.
func (s *Scanner) Err() error { return s.err }

// Kind returns the first byte of the next value, or 0 at the end or after an error. In valid JSON, it is one of
// {["tfn-0…9.
func (s *Scanner) Kind() byte {
	if s.i < len(s.data) && s.err == nil {
		return s.data[s.i]
	}
	return 0
}

// Object enters the next value, if it is an object, and moves to its first field. It returns false if there is
// no field.
func (s *Scanner) Object() bool {
	return s.enterContainer('{', '}') && s.scanKey()
}

// Member moves to the next field of the object. After the last field, it leaves the object and returns false.
func (s *Scanner) Member() bool {
	if s.i == s.value {
		s.skipValue()
	}
	return s.nextItem('}') && s.scanKey()
}

// Key returns the name of the current field, unescaped.
func (s *Scanner) Key() []byte { return s.key }

// KeyOffset returns the offset of the current field's key, with its quote, in the text of the Scanner. It must
// be called before the value is consumed.
func (s *Scanner) KeyOffset() int { return s.keyAt - 1 }

// Array enters the next value, if it is an array, and moves to its first element. It returns false if there is
// no element.
func (s *Scanner) Array() bool {
	if !s.enterContainer('[', ']') {
		return false
	}
	s.value = s.i
	return true
}

// Element moves to the next element of the array. After the last element, it leaves the array and returns
// false.
func (s *Scanner) Element() bool {
	if s.i == s.value {
		s.skipValue()
	}
	if !s.nextItem(']') {
		return false
	}
	s.value = s.i
	return true
}

// Value consumes the next value and returns its bytes. It returns nil after an error.
func (s *Scanner) Value() Value {
	start := s.i
	end := s.skipValue()
	if s.err != nil {
		return nil
	}
	return Value(s.data[start:end])
}

// enterContainer consumes the opening bracket. It returns false if there is none, or if the container is empty.
func (s *Scanner) enterContainer(opener, closer byte) bool {
	if s.Kind() != opener {
		return false
	}
	if s.depth++; s.depth > MaxDepth {
		s.setError("at most 10000 levels of nesting")
		return false
	}
	s.i++
	s.skipSpace()
	if s.Kind() == closer {
		s.leaveContainer()
		return false
	}
	return s.err == nil
}

// nextItem consumes a comma. At the closing bracket, it consumes the bracket and returns false.
func (s *Scanner) nextItem(closer byte) bool {
	switch c := s.Kind(); {
	case s.err != nil:
		return false
	case c == ',':
		s.i++
		s.skipSpace()
		return true
	case c == closer:
		s.leaveContainer()
		return false
	}
	s.setError("a comma or " + string(closer))
	return false
}

func (s *Scanner) leaveContainer() {
	s.depth--
	s.i++
	s.skipSpace()
}

// scanKey consumes a key and its colon. If either is missing, it sets the error and returns false.
func (s *Scanner) scanKey() bool {
	if s.Kind() != '"' {
		s.setError("a key")
		return false
	}
	start := s.i + 1
	plain := s.scanString()
	if s.err != nil {
		return false
	}
	s.keyAt = start
	if s.key = s.data[start : s.i-1]; !plain {
		s.key = AppendUnquoted(nil, s.key)
	}
	s.skipSpace()
	if s.Kind() != ':' {
		s.setError("a colon")
		return false
	}
	s.i++
	s.skipSpace()
	s.value = s.i
	return true
}

func (s *Scanner) skipSpace() {
	s.i += SpaceLen(s.data[s.i:])
}

func (s *Scanner) setError(expected string) {
	if s.err != nil {
		return
	}
	got := "the end"
	if s.i < len(s.data) {
		got = strconv.QuoteRune(rune(s.data[s.i]))
	}
	s.err = fmt.Errorf("byte %d: expected %s, got %s", s.i, expected, got)
}

// skipValue consumes a value and the space after it, and returns the end of the value.
func (s *Scanner) skipValue() (end int) {
	switch c := s.Kind(); c {
	case '{':
		for more := s.enterContainer('{', '}'); more; more = s.nextItem('}') {
			if !s.scanKey() {
				return
			}
			s.skipValue()
		}
	case '[':
		for more := s.enterContainer('[', ']'); more; more = s.nextItem(']') {
			s.skipValue()
		}
	case '"':
		start := s.i
		s.scanString()
		s.trace.addSlot(start, s.i, stringHole)
	case 't':
		s.scanWord("true")
	case 'f':
		s.scanWord("false")
	case 'n':
		s.scanWord("null")
	default:
		start := s.i
		s.scanNumber()
		s.trace.addSlot(start, s.i, numberHole)
	}
	end = s.valueEnd() // if this step closed a container, it has also consumed the space after it
	s.skipSpace()
	return end
}

// valueEnd returns the end of the last value, before the space that was consumed after it.
func (s *Scanner) valueEnd() (end int) {
	for end = s.i; end > 0 && IsSpace(s.data[end-1]); {
		end--
	}
	return end
}

// scanString consumes a string literal. The result plain reports whether the literal has no escapes.
func (s *Scanner) scanString() (plain bool) {
	n, plain, wrong := stringLen(s.data[s.i:])
	if s.i += n; wrong != "" {
		s.setError(wrong)
	}
	return plain
}

// stringLen returns the length of the JSON string at the start of p. The result plain reports whether it has
// no escapes. If the string is invalid, the result wrong describes the input expected at p[n].
func stringLen(p []byte) (n int, plain bool, wrong string) {
	plain = true
	for n = 1; ; {
		n += PlainRun(p[n:])
		switch {
		case n == len(p):
			return n, plain, "the end of the string"
		case p[n] == '"':
			return n + 1, plain, ""
		case p[n] != '\\':
			return n, plain, "an escaped control character in a string"
		}
		plain = false
		if n, wrong = escapeEnd(p, n+1); wrong != "" {
			return n, plain, wrong
		}
	}
}

// escapeEnd returns the end of the escape that continues at p[n], after its backslash. If the escape is
// invalid, end is the offset of the error, and wrong describes the expected text.
func escapeEnd(p []byte, n int) (end int, wrong string) {
	if n == len(p) {
		return n, "an escape"
	}
	switch p[n] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return n + 1, ""
	case 'u':
		for end = n + 1; end < n+5; end++ {
			if end == len(p) || HexValue(p[end]) < 0 {
				return end, "a hex digit"
			}
		}
		return end, ""
	}
	return n, `one of "\/bfnrtu after a backslash`
}

func (s *Scanner) scanWord(w string) {
	if len(s.data)-s.i < len(w) || string(s.data[s.i:s.i+len(w)]) != w {
		s.setError(w)
		return
	}
	s.i += len(w)
}

func (s *Scanner) scanNumber() {
	n := numberLen(s.data[s.i:])
	if n == 0 {
		s.setError("a value")
	}
	s.i += n
}

// numberLen returns the length of the JSON number at the start of p, or 0 if there is none.
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
