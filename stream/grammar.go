package stream

// between handles p[i] where no scalar is open.
func (l *Lexer) between(p []byte, i int) int {
	c := p[i]
	switch c {
	case ' ', '\t', '\n', '\r':
		if !l.some || l.last != Space {
			l.begin(Space, i)
		}
		return i + 1
	case ',':
		if l.mode == wantMore {
			l.begin(Comma, i)
			l.mode = wantValue
			if l.isObject(l.depth) {
				l.mode = wantKey
			}
			return i + 1
		}
	case ':':
		if l.mode == wantColon {
			l.begin(Colon, i)
			l.mode = wantValue
			return i + 1
		}
	case '"':
		return l.quote(p, i)
	case '}', ']':
		return l.shut(p, i)
	}
	return l.value(p, i)
}

// quote opens a key or a string value.
func (l *Lexer) quote(p []byte, i int) int {
	switch l.mode {
	case wantName, wantKey:
		l.begin(Key, i)
	case wantValue, wantElement:
		l.beginValue(String, i)
	default:
		return l.fail(p, i, l.expected())
	}
	l.mode = inString
	return l.inString(p, i+1)
}

// shut closes the innermost container.
func (l *Lexer) shut(p []byte, i int) int {
	kind, wanted := ObjectClose, wantName
	if p[i] == ']' {
		kind, wanted = ArrayClose, wantElement
	}
	if l.mode != wanted && (l.mode != wantMore || l.Closer(l.depth) != p[i]) {
		return l.fail(p, i, l.expected())
	}
	l.begin(kind, i)
	l.depth--
	l.endValue()
	return i + 1
}

// value opens a container, number or literal.
func (l *Lexer) value(p []byte, i int) int {
	c := p[i]
	if l.mode == wantEnd && c == '{' && l.first == ObjectOpen {
		l.mode = wantValue // one object after another: merged calls
	}
	if l.mode != wantValue && l.mode != wantElement {
		return l.fail(p, i, l.expected())
	}
	switch {
	case c == '{' || c == '[':
		return l.nest(p, i)
	case c == '-':
		l.beginValue(Number, i)
		l.mode = numSign
	case c == '0':
		l.beginValue(Number, i)
		l.mode = numZero
	case '1' <= c && c <= '9':
		l.beginValue(Number, i)
		l.mode = numInt
	case c == 't':
		l.beginValue(True, i)
		l.mode, l.word = inWord, "rue"
	case c == 'f':
		l.beginValue(False, i)
		l.mode, l.word = inWord, "alse"
	case c == 'n':
		l.beginValue(Null, i)
		l.mode, l.word = inWord, "ull"
	default:
		return l.fail(p, i, l.expected())
	}
	return i + 1
}

func (l *Lexer) beginValue(k TokenKind, i int) {
	if l.depth == 0 && l.docs == 0 {
		l.first = k
	}
	l.begin(k, i)
}

func (l *Lexer) nest(p []byte, i int) int {
	if l.depth == MaxDepth {
		return l.fail(p, i, "at most 10000 levels of nesting")
	}
	word, bit := l.depth/64, uint64(1)<<(l.depth%64)
	if word == len(l.object) {
		l.object = append(l.object, 0)
	}
	kind := ArrayOpen
	l.mode = wantElement
	l.object[word] &^= bit
	if p[i] == '{' {
		kind = ObjectOpen
		l.mode = wantName
		l.object[word] |= bit
	}
	l.beginValue(kind, i)
	l.depth++
	return i + 1
}

func (l *Lexer) isObject(depth int) bool {
	return depth > 0 && l.object[(depth-1)/64]>>((depth-1)%64)&1 == 1
}

// endValue is called after the last byte of a value.
func (l *Lexer) endValue() {
	l.mode = wantMore
	if l.depth == 0 {
		l.mode = wantEnd
		l.docs++
	}
}
