package stream

// lexOutside handles p[i] while no scalar is open.
func (l *Lexer) lexOutside(p []byte, i int) int {
	c := p[i]
	switch c {
	case ' ', '\t', '\n', '\r':
		if !l.some || l.last != Space {
			l.beginToken(Space, i)
		}
		return i + 1
	case ',':
		if l.mode == wantMore {
			l.beginToken(Comma, i)
			l.mode = wantValue
			if l.isObject(l.depth) {
				l.mode = wantKey
			}
			return i + 1
		}
	case ':':
		if l.mode == wantColon {
			l.beginToken(Colon, i)
			l.mode = wantValue
			return i + 1
		}
	case '"':
		return l.openQuoted(p, i)
	case '}', ']':
		return l.closeContainer(p, i)
	}
	return l.openValue(p, i)
}

// openQuoted opens a key or a string value.
func (l *Lexer) openQuoted(p []byte, i int) int {
	switch l.mode {
	case wantName, wantKey:
		l.beginToken(Key, i)
	case wantValue, wantElement:
		l.beginValue(String, i)
	default:
		return l.failAt(p, i, l.expectedText())
	}
	l.mode = inString
	return l.inString(p, i+1)
}

// closeContainer closes the innermost container.
func (l *Lexer) closeContainer(p []byte, i int) int {
	kind, wanted := ObjectClose, wantName
	if p[i] == ']' {
		kind, wanted = ArrayClose, wantElement
	}
	if l.mode != wanted && (l.mode != wantMore || l.Closer(l.depth) != p[i]) {
		return l.failAt(p, i, l.expectedText())
	}
	l.beginToken(kind, i)
	l.depth--
	l.endValue()
	return i + 1
}

// openValue opens a container, number or literal.
func (l *Lexer) openValue(p []byte, i int) int {
	c := p[i]
	if l.mode == wantEnd && c == '{' && l.first == ObjectOpen {
		l.mode = wantValue // one object after another: merged calls
	}
	if l.mode != wantValue && l.mode != wantElement {
		return l.failAt(p, i, l.expectedText())
	}
	switch {
	case c == '{' || c == '[':
		return l.openContainer(p, i)
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
		return l.failAt(p, i, l.expectedText())
	}
	return i + 1
}

func (l *Lexer) beginValue(k TokenKind, i int) {
	if l.depth == 0 && l.docs == 0 {
		l.first = k
	}
	l.beginToken(k, i)
}

func (l *Lexer) openContainer(p []byte, i int) int {
	if l.depth == MaxDepth {
		return l.failAt(p, i, "at most 10000 levels of nesting")
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
