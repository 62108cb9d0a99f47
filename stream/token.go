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
	Junk // everything after the first byte that can't be JSON
)

// A Token is a span of the text, named by its end: it begins where the previous token ended, so tokens
// tile the text.
type Token struct {
	End  uint32
	Kind TokenKind
}

// A TokenList is the tokens of a text, in order.
type TokenList struct {
	ended *blockList[Token] // all except the last
	n     int               // number of ended
	last  Token
	some  bool
}

// Len returns the number of tokens.
func (t TokenList) Len() int {
	if !t.some {
		return 0
	}
	return t.n + 1
}

// At returns token i, 0 ≤ i < Len().
func (t TokenList) At(i int) Token {
	if i == t.n {
		return t.last
	}
	return *t.ended.at(i)
}

// Start returns where token i begins, 0 ≤ i ≤ Len().
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
	return TokenList{t.ended, n - 1, t.At(n - 1), true}
}

// All iterates over the tokens with their numbers.
func (t TokenList) All() iter.Seq2[int, Token] {
	return func(yield func(int, Token) bool) {
		for i := range t.Len() {
			if !yield(i, t.At(i)) {
				return
			}
		}
	}
}

// Syntax is what the bytes of a call's arguments are, whatever the provider says.
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

// FirstEnd returns the offset just past the first object or array of a text, or the text's length if none
// ends.
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

// A SyntaxError says where a text stopped being JSON, and what was expected there.
type SyntaxError struct {
	Offset   int    // of the first wrong byte
	Got      byte   // that byte
	Expected string // e.g. "a key or }"
}

// Error formats the error in words.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("byte %d: expected %s, got %s", e.Offset, e.Expected, e.Found())
}

// InShort is Error in a few words, with signs where they are shorter.
func (e *SyntaxError) InShort() string {
	got := e.Found()
	if e.Got > ' ' && e.Got < 0x7f {
		got = string(rune(e.Got))
	}
	return "wants " + inSigns.Replace(e.Expected) + " but got " + got
}

var inSigns = strings.NewReplacer("a comma", ",", "a colon", ":")

// Found formats the wrong byte: quoted, or in hex if it is part of a longer character.
func (e *SyntaxError) Found() string {
	if e.Got >= utf8.RuneSelf {
		return fmt.Sprintf("byte %#x", e.Got)
	}
	return fmt.Sprintf("%q", e.Got)
}
