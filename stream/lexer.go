package stream

// MaxDepth is how deep arrays and objects may nest, as in encoding/json.
const MaxDepth = 10_000

// Lexer is a push lexer for one JSON text that may never be finished. The tokens don't depend on how the
// text is cut into writes. An open string, half an escape, half a number or half a code point is a
// prefix, never an error. Write costs time for its new bytes only and allocates nothing except room for
// tokens. The zero value is ready.
//
// Invariants: tokens tile text[0:Len()]; only the last may still grow, the others never change; once Err
// is set the last token is Junk and no other token follows it. After maxTokens the last token covers all
// the rest, and its kind is that of the latest one.
//
// The grammar is RFC 8259's. Objects written one after another are lexed as such (SyntaxConcat), because
// merged calls look like that. Strings are not checked for UTF-8 or paired surrogates. Texts beyond 4 GiB
// are not supported.
type Lexer struct {
	toks   appendList[Token] // those that have ended: all except the last
	last   TokenKind         // of the last token
	some   bool              // there is one
	pos    int               // bytes lexed
	mode   lexerState        // what may come next
	depth  int               // containers open
	object []uint64          // bit d: the container at depth d+1 is an object
	hex    uint8             // hex digits of \u still to come
	word   string            // the remaining bytes of a literal
	docs   int               // complete texts so far
	first  TokenKind
	closed bool // no more bytes are expected: a number has ended
	err    *SyntaxError
}

// lexerState is a state of the lexer, named after what it expects.
type lexerState uint8

const (
	wantValue   lexerState = iota // the zero value: a text begins with a value
	wantElement                   // after [: a value or ]
	wantName                      // after {: a key or }
	wantKey                       // after a comma in an object
	wantColon
	wantMore // after a value in a container: a comma or the closer
	wantEnd  // the text is complete
	inString
	inEscape
	inHex
	inWord
	numSign // after -
	numZero // after a leading 0
	numInt
	numPoint
	numFraction
	numExp // after e
	numExpSign
	numExpDigits
	inJunk
)

var expectations = [...]string{
	wantValue: "a value", wantElement: "a value or ]", wantName: "a key or }", wantKey: "a key",
	wantColon: "a colon", wantEnd: "the end of the text",
	inString: "no raw control character in a string", inEscape: `one of "\/bfnrtu after a backslash`,
	inHex: "a hex digit", inWord: "true, false or null", numSign: "a digit", numZero: "no digit after a leading 0",
	numInt: "a digit", numPoint: "a digit", numFraction: "a digit", numExp: "a digit or a sign",
	numExpSign: "a digit", numExpDigits: "a digit",
}

// Len returns the number of bytes lexed.
func (l *Lexer) Len() int { return l.pos }

// Tokens returns the tokens so far. Later calls can change only the last one, by growth.
func (l *Lexer) Tokens() TokenList {
	return TokenList{l.toks.of, l.toks.n, Token{uint32(l.pos), l.last}, l.some}
}

// Open reports whether the last token may still grow into more of the same.
func (l *Lexer) Open() bool {
	return l.mode >= inString && l.mode < inJunk && !(l.closed && l.numberDone())
}

// Depth returns the number of containers that have not closed.
func (l *Lexer) Depth() int { return l.depth }

// Closer returns the byte that closes the container at depth d, 1 ≤ d ≤ Depth().
func (l *Lexer) Closer(d int) byte {
	if l.isObject(d) {
		return '}'
	}
	return ']'
}

// Docs returns the number of complete texts: more than one means objects were written one after another.
func (l *Lexer) Docs() int { return l.docs }

// Err returns where the text stopped being JSON, or nil.
func (l *Lexer) Err() *SyntaxError { return l.err }

// Close notes that no more bytes are expected, which ends a number at the top level. A later Write
// reverts it.
func (l *Lexer) Close() { l.closed = true }

// Syntax returns what the text so far is.
func (l *Lexer) Syntax() Syntax {
	docs, open := l.docs, l.depth > 0 || l.Open()
	if l.closed && l.depth == 0 && l.numberDone() {
		docs, open = docs+1, false
	}
	switch {
	case l.err != nil && l.docs > 0 && l.first == ObjectOpen:
		return SyntaxTrailing
	case l.err != nil:
		return SyntaxBroken
	case docs == 0 && !open:
		return SyntaxEmpty
	case docs == 0:
		return SyntaxPrefix
	case docs > 1 || open:
		return SyntaxConcat
	case l.first == ObjectOpen:
		return SyntaxObject
	}
	return SyntaxOther
}

// Write lexes p.
func (l *Lexer) Write(p []byte) {
	l.closed = false
	for i := 0; i < len(p); {
		switch l.mode {
		case inString:
			i = l.inString(p, i)
		case inEscape:
			i = l.inEscape(p, i)
		case inHex:
			i = l.inHex(p, i)
		case inWord:
			i = l.inWord(p, i)
		case inJunk:
			i = len(p)
		default:
			if l.mode >= numSign {
				i = l.inNumber(p, i)
			} else {
				i = l.lexOutside(p, i)
			}
		}
	}
	l.pos += len(p)
}

// maxTokens is how many tokens of a text are kept: 64 MiB of them. A text of single digits has a token a
// byte.
const maxTokens = 1 << 23

// beginToken starts a token at p[i], which ends the previous one.
func (l *Lexer) beginToken(k TokenKind, i int) {
	if l.some && l.toks.n < maxTokens {
		l.toks.add(Token{uint32(l.pos + i), l.last})
	}
	l.last, l.some = k, true
}

// failAt marks p[i] as the first wrong byte: everything from here is junk.
func (l *Lexer) failAt(p []byte, i int, expected string) int {
	l.err = &SyntaxError{Offset: l.pos + i, Got: p[i], Expected: expected}
	l.beginToken(Junk, i)
	l.mode = inJunk
	return len(p)
}

func (l *Lexer) expectedText() string {
	if l.mode == wantMore {
		return "a comma or " + string(l.Closer(l.depth))
	}
	return expectations[l.mode]
}
