package json

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"toolscope/stream/list"
)

// MaxDepth is the maximum nesting depth of arrays and objects, as in encoding/json.
const MaxDepth = 10_000

// Lexer is a push lexer for one JSON text that may never be finished. The tokens don't depend on how the text
// is cut into writes. An open string, half an escape, half a number or half a code point is a prefix, never an
// error. The cost of Write depends only on its new bytes. Write allocates memory only for tokens, for the kinds
// of open containers and for an error. The zero value is ready to use.
//
// Invariants: Tokens tile text[0:Len()]. Only the last token may still grow; the others never change. Once Err
// is set, the last token is Junk, and no other token follows it. After maxTokens, the last token covers the
// remaining text and has the kind of the latest token.
//
// The grammar is RFC 8259's. Several objects in a row are accepted (SyntaxConcat), because merged calls look
// like that. Strings are not checked for UTF-8 or paired surrogates. Texts beyond 4 GiB are not supported.
type Lexer struct {
	toks   list.List[Token] // tokens that have ended: all except the last
	last   TokenKind        // kind of the last token
	some   bool             // there is a last token
	pos    int              // number of bytes lexed
	mode   lexerState       // what may come next
	depth  int              // number of open containers
	object []uint64         // bit d: the container at depth d+1 is an object
	hex    uint8            // number of hex digits of \u that are still missing
	word   string           // remaining bytes of a literal
	docs   int              // number of complete texts so far
	first  TokenKind
	closed bool // no more bytes are expected, so a number at the end is complete
	err    *SyntaxError
}

// lexerState is a state of the lexer, named after the input that it expects.
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
	inString: "an escaped control character in a string", inEscape: `one of "\/bfnrtu after a backslash`,
	inHex: "a hex digit", inWord: "true, false or null", numSign: "a digit", numZero: "the end of the number, a point or an exponent after a leading 0",
	numInt: "a digit", numPoint: "a digit", numFraction: "a digit", numExp: "a digit or a sign",
	numExpSign: "a digit", numExpDigits: "a digit",
}

// Len returns the number of bytes lexed.
func (l *Lexer) Len() int { return l.pos }

// Tokens returns the tokens so far. Later calls can change only the last token: it may grow.
func (l *Lexer) Tokens() TokenList {
	return TokenList{l.toks, Token{uint32(l.pos), l.last}, l.some}
}

// Open reports whether the next bytes may still belong to the last token.
func (l *Lexer) Open() bool {
	return l.mode >= inString && l.mode < inJunk && !(l.closed && l.numberDone())
}

// Unfinished reports whether the text is one object or array that is still open, without an error. SyntaxPrefix is also
// the syntax of other unfinished values.
func (l *Lexer) Unfinished() bool { return l.depth > 0 && l.docs == 0 && l.err == nil }

// Depth returns the number of open containers.
func (l *Lexer) Depth() int { return l.depth }

// Closer returns the byte that closes the container at depth d, 1 ≤ d ≤ Depth().
func (l *Lexer) Closer(d int) byte {
	if l.isObject(d) {
		return '}'
	}
	return ']'
}

// First returns the kind of the first value's first token.
func (l *Lexer) First() TokenKind { return l.first }

// Last returns the kind of the last token.
func (l *Lexer) Last() TokenKind { return l.last }

// Docs returns the number of complete texts. More than one means several objects in a row.
func (l *Lexer) Docs() int { return l.docs }

// Err returns the error at which the text stopped being JSON, or nil.
func (l *Lexer) Err() *SyntaxError { return l.err }

// Close ends the text, which makes a number at the top level complete. A later Write continues the text.
func (l *Lexer) Close() { l.closed = true }

// Syntax classifies the text so far.
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

// Write lexes p, which continues the text.
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

// maxTokens is the maximum number of tokens of a text that are kept. They take 64 MiB. A text of single digits
// has a token for each byte.
const maxTokens = 1 << 23

// beginToken starts a token at p[i], which ends the previous one.
func (l *Lexer) beginToken(k TokenKind, i int) {
	if l.some && l.toks.Len() < maxTokens {
		l.toks.Add(Token{uint32(l.pos + i), l.last})
	}
	l.last, l.some = k, true
}

// failAt marks p[i] as the first wrong byte. Everything from there on is junk.
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

// lexOutside lexes p[i] while no scalar is open. It returns the index of the next byte to lex.
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
		l.mode = wantValue // several objects in a row, as merged calls contain
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

// endValue sets the state after the last byte of a value.
func (l *Lexer) endValue() {
	l.mode = wantMore
	if l.depth == 0 {
		l.mode = wantEnd
		l.docs++
	}
}

func (l *Lexer) inString(p []byte, i int) int {
	for i < len(p) && l.mode == inString {
		i += PlainRun(p[i:])
		switch {
		case i == len(p):
		case p[i] == '"':
			if l.mode = wantColon; l.last != Key {
				l.endValue()
			}
			i++
		case p[i] == '\\':
			l.mode = inEscape
			if i++; i < len(p) {
				i = l.inEscape(p, i) // called directly for speed: source code has many escapes
			}
		default:
			return l.failAt(p, i, l.expectedText())
		}
	}
	return i
}

func (l *Lexer) inEscape(p []byte, i int) int {
	switch p[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		l.mode = inString
	case 'u':
		l.mode, l.hex = inHex, 4
	default:
		return l.failAt(p, i, l.expectedText())
	}
	return i + 1
}

func (l *Lexer) inHex(p []byte, i int) int {
	if HexValue(p[i]) < 0 {
		return l.failAt(p, i, l.expectedText())
	}
	if l.hex--; l.hex == 0 {
		l.mode = inString
	}
	return i + 1
}

func (l *Lexer) inWord(p []byte, i int) int {
	if p[i] != l.word[0] {
		return l.failAt(p, i, l.expectedText())
	}
	if l.word = l.word[1:]; l.word == "" {
		l.endValue()
	}
	return i + 1
}

// inNumber lexes an open number from p[i] on. It returns the index of the next byte to lex. A number ends at
// the first byte that can't belong to it, and that byte is lexed again.
func (l *Lexer) inNumber(p []byte, i int) int {
	for ; i < len(p); i++ {
		if c := p[i]; '0' <= c && c <= '9' && (l.mode == numInt || l.mode == numFraction) {
			continue
		}
		next := numberStep(l.mode, p[i])
		if next == inJunk {
			return l.endNumber(p, i)
		}
		l.mode = next
	}
	return i
}

func (l *Lexer) endNumber(p []byte, i int) int {
	c := p[i]
	if !l.numberDone() || l.mode == numZero && '0' <= c && c <= '9' {
		return l.failAt(p, i, l.expectedText())
	}
	l.endValue()
	return i
}

// numberDone reports whether the open number is valid if it ends here.
func (l *Lexer) numberDone() bool {
	switch l.mode {
	case numZero, numInt, numFraction, numExpDigits:
		return true
	}
	return false
}

// numberStep returns the state after c, or inJunk if c is not part of the number.
func numberStep(m lexerState, c byte) lexerState {
	digit := '0' <= c && c <= '9'
	switch m {
	case numSign:
		if c == '0' {
			return numZero
		}
		if digit {
			return numInt
		}
	case numInt, numFraction, numExpDigits:
		if digit {
			return m
		}
	case numPoint:
		if digit {
			return numFraction
		}
	case numExp, numExpSign:
		if digit {
			return numExpDigits
		}
		if m == numExp && (c == '+' || c == '-') {
			return numExpSign
		}
	}
	switch {
	case c == '.' && (m == numZero || m == numInt):
		return numPoint
	case (c == 'e' || c == 'E') && (m == numZero || m == numInt || m == numFraction):
		return numExp
	}
	return inJunk
}

// LexerState is the compact state of a Lexer, without its tokens.
type LexerState struct {
	deep         []uint64 // Lexer.object, if more than 64 containers are open
	object       uint64
	toks         uint32
	docs         int32
	depth        uint16
	last, first  TokenKind
	mode         lexerState
	hex, left    uint8 // left: number of remaining bytes of the word
	some, closed bool
}

// State returns the compact state of the lexer, from which LexerState.Lexer restores it.
func (l *Lexer) State() LexerState {
	x := LexerState{
		toks: uint32(l.toks.Len()), docs: int32(l.docs), depth: uint16(l.depth), last: l.last, first: l.first, mode: l.mode,
		hex: l.hex, left: uint8(len(l.word)), some: l.some, closed: l.closed,
	}
	switch {
	case l.depth > 64:
		x.deep = slices.Clone(l.object)
	case l.depth > 0:
		x.object = l.object[0]
	}
	return x
}

// Lexer returns the lexer that had this state after size bytes. The list ended contains the tokens that had ended
// then, and may contain later ones. The parameter err is an error that the lexer has found since, or nil.
func (x *LexerState) Lexer(ended list.List[Token], err *SyntaxError, size int) Lexer {
	l := Lexer{
		toks: ended.Before(int(x.toks)), last: x.last, some: x.some, pos: size, mode: x.mode, depth: int(x.depth),
		hex: x.hex, docs: int(x.docs), first: x.first, closed: x.closed,
	}
	switch {
	case x.deep != nil:
		l.object = slices.Clone(x.deep)
	case x.depth > 0:
		l.object = []uint64{x.object}
	}
	if word := words[x.last]; x.mode == inWord {
		l.word = word[len(word)-int(x.left):]
	}
	if err != nil && err.Offset < size {
		l.err = err
	}
	return l
}

// Clone returns a copy of the lexer that shares its tokens. Both lexers may be written to, but only with the same
// bytes.
func (l *Lexer) Clone() Lexer {
	c := *l
	c.object = slices.Clone(l.object)
	return c
}

// Failed returns a lexer that contains only the error.
func (l *Lexer) Failed() Lexer { return Lexer{err: l.err} }

// Ended returns the tokens that have ended: all except the last.
func (l *Lexer) Ended() *list.List[Token] { return &l.toks }

// FreeSpare frees spare capacity once no more bytes are expected.
func (l *Lexer) FreeSpare() { l.toks.FreeSpare() }

// words are the literals, by token.
var words = [...]string{True: "true", False: "false", Null: "null", Junk: ""}

// TokenKind is the lexical class of a token.
type TokenKind uint8

const (
	Space TokenKind = iota
	ObjectOpen
	ObjectClose
	ArrayOpen
	ArrayClose
	Colon
	Comma
	Key    // a string that is an object's key
	String // any other string
	Number
	True
	False
	Null
	Junk // everything after the first byte that can't be JSON
)

// A Token is a span of the text. Only its end is stored: it begins where the previous token ended, so tokens
// tile the text.
type Token struct {
	End  uint32
	Kind TokenKind
}

// A TokenList contains the tokens of a text, in order.
type TokenList struct {
	ended list.List[Token] // all except the last
	last  Token
	some  bool
}

// Len returns the number of tokens.
func (t TokenList) Len() int {
	if !t.some {
		return 0
	}
	return t.ended.Len() + 1
}

// At returns token i, 0 ≤ i < Len().
func (t TokenList) At(i int) Token {
	if i == t.ended.Len() {
		return t.last
	}
	return t.ended.At(i)
}

// Start returns the offset where token i begins, 0 ≤ i ≤ Len().
func (t TokenList) Start(i int) int {
	if i == 0 {
		return 0
	}
	return int(t.At(i - 1).End)
}

// Before returns the first n tokens, n < Len().
func (t TokenList) Before(n int) TokenList {
	if n == 0 {
		return TokenList{}
	}
	return TokenList{t.ended.Before(n - 1), t.At(n - 1), true}
}

// All iterates over the tokens and their indexes.
func (t TokenList) All() iter.Seq2[int, Token] {
	return func(yield func(int, Token) bool) {
		for i, token := range t.ended.All() {
			if !yield(i, token) {
				return
			}
		}
		if t.some {
			yield(t.ended.Len(), t.last)
		}
	}
}

// Syntax classifies the bytes of a call's arguments. It doesn't depend on what the provider says.
type Syntax uint8

const (
	SyntaxEmpty    Syntax = iota // no bytes, or only white space
	SyntaxPrefix                 // valid so far, but unfinished
	SyntaxObject                 // exactly one complete object
	SyntaxOther                  // one complete array, string, number or literal
	SyntaxDouble                 // one complete string that contains an object or array
	SyntaxConcat                 // an object followed by more objects
	SyntaxTrailing               // an object followed by something else
	SyntaxBroken                 // can't become JSON, whatever follows
	SyntaxFreeform               // not JSON by design: a custom tool's input
)

var syntaxWords = [...]string{
	"empty", "prefix", "object", "nonobject", "double-encoded", "concat", "trailing", "broken", "freeform",
}

func (s Syntax) String() string { return syntaxWords[s] }

// FirstEnd returns the offset just past the first object or array of a text. If none ends, it returns the
// text's length.
func FirstEnd(toks TokenList) (end int) {
	depth := 0
	for _, t := range toks.All() {
		end = int(t.End)
		switch t.Kind {
		case ObjectOpen, ArrayOpen:
			depth++
		case ObjectClose, ArrayClose:
			if depth--; depth == 0 {
				return end
			}
		}
	}
	return end
}

// A SyntaxError describes the first byte of a text that can't be JSON, and the input that is expected there.
type SyntaxError struct {
	Offset   int    // offset of the first wrong byte
	Got      byte   // that byte
	Expected string // e.g. "a key or }"
}

// Error formats the error in words.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("byte %d: expected %s, got %s", e.Offset, e.Expected, e.Found())
}

// InShort returns a short form of Error. It uses symbols instead of words.
func (e *SyntaxError) InShort() string {
	got := e.Found()
	if e.Got > ' ' && e.Got < 0x7f {
		got = string(rune(e.Got))
	}
	return "expected " + inSigns.Replace(e.Expected) + ", got " + got
}

var inSigns = strings.NewReplacer("a comma", ",", "a colon", ":")

// Found formats the wrong byte: quoted, or in hex if it is part of a longer character.
func (e *SyntaxError) Found() string {
	if e.Got >= utf8.RuneSelf {
		return fmt.Sprintf("byte %#x", e.Got)
	}
	return fmt.Sprintf("%q", e.Got)
}
