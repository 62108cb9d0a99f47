package stream

import (
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"
)

// TokenKind is the lexical class of a span of argument text.
type TokenKind uint8

const (
	Space TokenKind = iota
	ObjectOpen
	ObjectClose
	ArrayOpen
	ArrayClose
	Colon
	Comma
	Key    // a string where an object expects a name
	String // any other string
	Number
	True
	False
	Null
	Junk // everything from the first byte that cannot be JSON
)

// A Token is a span of the text, named by where it ends: it begins where the token before it ended,
// so tokens tile the text.
type Token struct {
	End  uint32
	Kind TokenKind
}

// A TokenList is the tokens of a text, in order.
type TokenList struct {
	ended *blockList[Token] // all but the last
	n     int               // of those
	last  Token
	some  bool
}

// Len is how many there are.
func (t TokenList) Len() int {
	if !t.some {
		return 0
	}
	return t.n + 1
}

// At is token i, 0 ≤ i < Len().
func (t TokenList) At(i int) Token {
	if i == t.n {
		return t.last
	}
	return *t.ended.at(i)
}

// Start is where token i begins, 0 ≤ i ≤ Len().
func (t TokenList) Start(i int) int {
	if i == 0 {
		return 0
	}
	return int(t.At(i - 1).End)
}

// Before are the first n of them, n < Len().
func (t TokenList) Before(n int) TokenList {
	if n == 0 {
		return TokenList{}
	}
	return TokenList{t.ended, n - 1, t.At(n - 1), true}
}

// All are the tokens with their numbers.
func (t TokenList) All() iter.Seq2[int, Token] {
	return func(yield func(int, Token) bool) {
		for i := range t.Len() {
			if !yield(i, t.At(i)) {
				return
			}
		}
	}
}

// Syntax is what the bytes of a call's arguments say, whatever the provider says.
type Syntax uint8

const (
	SyntaxEmpty    Syntax = iota // no bytes, or only white space
	SyntaxPrefix                 // valid so far, unfinished
	SyntaxObject                 // exactly one complete object
	SyntaxOther                  // one complete array, string, number or literal
	SyntaxDouble                 // one complete string that itself holds an object or array
	SyntaxConcat                 // an object followed by more objects
	SyntaxTrailing               // an object followed by something else
	SyntaxBroken                 // cannot become JSON, whatever follows
	SyntaxFreeform               // not JSON by design: a custom tool's input
)

var syntaxWords = [...]string{
	"empty", "prefix", "object", "nonobject", "double-encoded", "concat", "trailing", "broken", "freeform",
}

func (s Syntax) String() string { return syntaxWords[s] }

// FirstEnd is the offset just past the first object or array of a text, or the text's length if
// none ends.
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

// A SyntaxError says where a text stopped being JSON and what would have been right.
type SyntaxError struct {
	Offset   int    // of the first wrong byte
	Got      byte   // that byte
	Expected string // e.g. "a key or }"
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("byte %d: expected %s, got %s", e.Offset, e.Expected, e.Found())
}

// InShort is the same in a few words, with signs where they are shorter.
func (e *SyntaxError) InShort() string {
	got := e.Found()
	if e.Got > ' ' && e.Got < 0x7f {
		got = string(rune(e.Got))
	}
	return "wants " + inSigns.Replace(e.Expected) + " but got " + got
}

var inSigns = strings.NewReplacer("a comma", ",", "a colon", ":")

// Found is the wrong byte in print: quoted, or in hex where it is part of a longer character.
func (e *SyntaxError) Found() string {
	if e.Got >= utf8.RuneSelf {
		return fmt.Sprintf("byte %#x", e.Got)
	}
	return fmt.Sprintf("%q", e.Got)
}
