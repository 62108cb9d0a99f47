package protocol

import "toolscope/stream/jsonbytes"

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
	end = s.valueEnd() // a container's last step has consumed the space after it
	s.skipSpace()
	return end
}

// valueEnd returns the end of the last value, before the space that was consumed after it.
func (s *Scanner) valueEnd() (end int) {
	for end = s.i; end > 0 && jsonbytes.IsSpace(s.data[end-1]); {
		end--
	}
	return end
}

// scanString consumes a string literal; plain says that it has no escapes.
func (s *Scanner) scanString() (plain bool) {
	n, plain, wrong := stringLen(s.data[s.i:])
	if s.i += n; wrong != "" {
		s.fail(wrong)
	}
	return plain
}

// stringLen returns the length of the JSON string at the start of p; plain says that it has no escapes.
// If the string is wrong, wrong is the input expected at p[n].
func stringLen(p []byte) (n int, plain bool, wrong string) {
	plain = true
	for n = 1; ; {
		n += jsonbytes.PlainRun(p[n:])
		switch {
		case n == len(p):
			return n, plain, "the end of the string"
		case p[n] == '"':
			return n + 1, plain, ""
		case p[n] != '\\':
			return n, plain, "no raw control character in a string"
		}
		plain = false
		if n, wrong = escapeEnd(p, n+1); wrong != "" {
			return n, plain, wrong
		}
	}
}

// escapeEnd returns the end of the escape that continues at p[n], after its backslash.
func escapeEnd(p []byte, n int) (end int, wrong string) {
	if n == len(p) {
		return n, "an escape"
	}
	switch p[n] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return n + 1, ""
	case 'u':
		for end = n + 1; end < n+5; end++ {
			if end == len(p) || jsonbytes.HexValue(p[end]) < 0 {
				return end, "a hex digit"
			}
		}
		return end, ""
	}
	return n, `one of "\/bfnrtu after a backslash`
}

func (s *Scanner) scanWord(w string) {
	if len(s.data)-s.i < len(w) || string(s.data[s.i:s.i+len(w)]) != w {
		s.fail(w)
		return
	}
	s.i += len(w)
}

func (s *Scanner) scanNumber() {
	n := numberLen(s.data[s.i:])
	if n == 0 {
		s.fail("a value")
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
