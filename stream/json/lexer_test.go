package json

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lexCase is one text with all expected results. A token is written as a letter for the kind and the offset
// where the token ends. tokenLetters lists the letters.
type lexCase struct {
	text   string
	tokens string
	live   Syntax // while more bytes may follow
	closed Syntax // once no more bytes follow
	err    string
}

const tokenLetters = "_{}[]:,ksntfz!" // by TokenKind, from Space to Junk

func letters(toks TokenList) string {
	var words []string
	for _, t := range toks.All() {
		words = append(words, fmt.Sprintf("%c%d", tokenLetters[t.Kind], t.End))
	}
	return strings.Join(words, " ")
}

var lexCases = []lexCase{
	// An empty text, and complete texts.
	{``, ``, SyntaxEmpty, SyntaxEmpty, ``},
	{" \r\n\t", `_4`, SyntaxEmpty, SyntaxEmpty, ``},
	{`{}`, `{1 }2`, SyntaxObject, SyntaxObject, ``},
	{`{"a":1}`, `{1 k4 :5 n6 }7`, SyntaxObject, SyntaxObject, ``},
	{` { "a" : "b" , "c":[] } `, `_1 {2 _3 k6 _7 :8 _9 s12 _13 ,14 _15 k18 :19 [20 ]21 _22 }23 _24`, SyntaxObject, SyntaxObject, ``},
	{`{"":{"":0}}`, `{1 k3 :4 {5 k7 :8 n9 }10 }11`, SyntaxObject, SyntaxObject, ``},
	{`[true,false,null,-0.5E+10]`, `[1 t5 ,6 f11 ,12 z16 ,17 n25 ]26`, SyntaxOther, SyntaxOther, ``},
	{`"é\"\\\/\b\f\n\r\t\u00e9"`, `s26`, SyntaxOther, SyntaxOther, ``},
	{`true`, `t4`, SyntaxOther, SyntaxOther, ``},
	{`{"n":12345678901234567890.0e999}`, `{1 k4 :5 n31 }32`, SyntaxObject, SyntaxObject, ``},

	// A text that is cut anywhere is a prefix, never an error.
	{`{`, `{1`, SyntaxPrefix, SyntaxPrefix, ``},
	{`{"`, `{1 k2`, SyntaxPrefix, SyntaxPrefix, ``},
	{`{"a"`, `{1 k4`, SyntaxPrefix, SyntaxPrefix, ``},
	{`{"a":`, `{1 k4 :5`, SyntaxPrefix, SyntaxPrefix, ``},
	{`{"a":1`, `{1 k4 :5 n6`, SyntaxPrefix, SyntaxPrefix, ``},
	{`{"a":1,`, `{1 k4 :5 n6 ,7`, SyntaxPrefix, SyntaxPrefix, ``},
	{`{"a":"x\`, `{1 k4 :5 s8`, SyntaxPrefix, SyntaxPrefix, ``},
	{`{"a":"\u12`, `{1 k4 :5 s10`, SyntaxPrefix, SyntaxPrefix, ``},
	{`{"a":"\ud83d`, `{1 k4 :5 s12`, SyntaxPrefix, SyntaxPrefix, ``},
	{`{"a":"\ud83d\ude`, `{1 k4 :5 s16`, SyntaxPrefix, SyntaxPrefix, ``},
	{`{"a":tr`, `{1 k4 :5 t7`, SyntaxPrefix, SyntaxPrefix, ``},
	{`[n`, `[1 z2`, SyntaxPrefix, SyntaxPrefix, ``},
	{`[[1`, `[1 [2 n3`, SyntaxPrefix, SyntaxPrefix, ``},
	{`-`, `n1`, SyntaxPrefix, SyntaxPrefix, ``},
	{`1.`, `n2`, SyntaxPrefix, SyntaxPrefix, ``},
	{`1e`, `n2`, SyntaxPrefix, SyntaxPrefix, ``},
	{`1e+`, `n3`, SyntaxPrefix, SyntaxPrefix, ``},
	{`fals`, `f4`, SyntaxPrefix, SyntaxPrefix, ``},
	{"\"\xe4\xbd", `s3`, SyntaxPrefix, SyntaxPrefix, ``},

	// A number at the top level ends only with the next byte, or with the text.
	{`0`, `n1`, SyntaxPrefix, SyntaxOther, ``},
	{`-12`, `n3`, SyntaxPrefix, SyntaxOther, ``},
	{`1.5`, `n3`, SyntaxPrefix, SyntaxOther, ``},
	{`1e5`, `n3`, SyntaxPrefix, SyntaxOther, ``},
	{`12 `, `n2 _3`, SyntaxOther, SyntaxOther, ``},

	// The lexer accepts any content of a string.
	{`{"a":"\ud83d"}`, `{1 k4 :5 s13 }14`, SyntaxObject, SyntaxObject, ``},
	{"{\"\xff\":\"\x7f\"}", `{1 k4 :5 s8 }9`, SyntaxObject, SyntaxObject, ``},

	// Several objects.
	{`{}{}`, `{1 }2 {3 }4`, SyntaxConcat, SyntaxConcat, ``},
	{`{"a":1} {"b":2}`, `{1 k4 :5 n6 }7 _8 {9 k12 :13 n14 }15`, SyntaxConcat, SyntaxConcat, ``},
	{`{}{"a`, `{1 }2 {3 k5`, SyntaxConcat, SyntaxConcat, ``},
	{`{}{}x`, `{1 }2 {3 }4 !5`, SyntaxTrailing, SyntaxTrailing, `byte 4: expected the end of the text, got 'x'`},
	{`{}{]`, `{1 }2 {3 !4`, SyntaxTrailing, SyntaxTrailing, `byte 3: expected a key or }, got ']'`},

	// An object, followed by text of another kind.
	{`{"query": "test"}, "limit": 10}`, `{1 k8 :9 _10 s16 }17 !31`, SyntaxTrailing, SyntaxTrailing, `byte 17: expected the end of the text, got ','`},
	{`{}}`, `{1 }2 !3`, SyntaxTrailing, SyntaxTrailing, `byte 2: expected the end of the text, got '}'`},
	{`{} [`, `{1 }2 _3 !4`, SyntaxTrailing, SyntaxTrailing, `byte 3: expected the end of the text, got '['`},
	{`{}"`, `{1 }2 !3`, SyntaxTrailing, SyntaxTrailing, `byte 2: expected the end of the text, got '"'`},
	{`{}1`, `{1 }2 !3`, SyntaxTrailing, SyntaxTrailing, `byte 2: expected the end of the text, got '1'`},

	// Several values in a row are accepted only if all are objects.
	{`[][]`, `[1 ]2 !4`, SyntaxBroken, SyntaxBroken, `byte 2: expected the end of the text, got '['`},
	{`1 2`, `n1 _2 !3`, SyntaxBroken, SyntaxBroken, `byte 2: expected the end of the text, got '2'`},
	{`"a"{}`, `s3 !5`, SyntaxBroken, SyntaxBroken, `byte 3: expected the end of the text, got '{'`},

	// Broken texts, with the first wrong byte and the expected input.
	{"\ufeff{}", `!5`, SyntaxBroken, SyntaxBroken, `byte 0: expected a value, got byte 0xef`},
	{`}`, `!1`, SyntaxBroken, SyntaxBroken, `byte 0: expected a value, got '}'`},
	{`'a'`, `!3`, SyntaxBroken, SyntaxBroken, `byte 0: expected a value, got '\''`},
	{"[\x00", `[1 !2`, SyntaxBroken, SyntaxBroken, `byte 1: expected a value or ], got '\x00'`},
	{`{a`, `{1 !2`, SyntaxBroken, SyntaxBroken, `byte 1: expected a key or }, got 'a'`},
	{`{,`, `{1 !2`, SyntaxBroken, SyntaxBroken, `byte 1: expected a key or }, got ','`},
	{`{"a" 1`, `{1 k4 _5 !6`, SyntaxBroken, SyntaxBroken, `byte 5: expected a colon, got '1'`},
	{`{"a":}`, `{1 k4 :5 !6`, SyntaxBroken, SyntaxBroken, `byte 5: expected a value, got '}'`},
	{`{"a":1,}`, `{1 k4 :5 n6 ,7 !8`, SyntaxBroken, SyntaxBroken, `byte 7: expected a key, got '}'`},
	{`{"a":1]`, `{1 k4 :5 n6 !7`, SyntaxBroken, SyntaxBroken, `byte 6: expected a comma or }, got ']'`},
	{`{"a":1{"a":2}`, `{1 k4 :5 n6 !13`, SyntaxBroken, SyntaxBroken, `byte 6: expected a comma or }, got '{'`},
	{`{"a":"b""c"`, `{1 k4 :5 s8 !11`, SyntaxBroken, SyntaxBroken, `byte 8: expected a comma or }, got '"'`},
	{`[1,]`, `[1 n2 ,3 !4`, SyntaxBroken, SyntaxBroken, `byte 3: expected a value, got ']'`},
	{`[1 2]`, `[1 n2 _3 !5`, SyntaxBroken, SyntaxBroken, `byte 3: expected a comma or ], got '2'`},
	{`[}`, `[1 !2`, SyntaxBroken, SyntaxBroken, `byte 1: expected a value or ], got '}'`},
	{`01`, `n1 !2`, SyntaxBroken, SyntaxBroken, `byte 1: expected the end of the number, a point or an exponent after a leading 0, got '1'`},
	{`09`, `n1 !2`, SyntaxBroken, SyntaxBroken, `byte 1: expected the end of the number, a point or an exponent after a leading 0, got '9'`},
	{`-x`, `n1 !2`, SyntaxBroken, SyntaxBroken, `byte 1: expected a digit, got 'x'`},
	{`1.e`, `n2 !3`, SyntaxBroken, SyntaxBroken, `byte 2: expected a digit, got 'e'`},
	{`1ex`, `n2 !3`, SyntaxBroken, SyntaxBroken, `byte 2: expected a digit or a sign, got 'x'`},
	{`1e+-`, `n3 !4`, SyntaxBroken, SyntaxBroken, `byte 3: expected a digit, got '-'`},
	{`1.5.`, `n3 !4`, SyntaxBroken, SyntaxBroken, `byte 3: expected the end of the text, got '.'`},
	{`[nul]`, `[1 z4 !5`, SyntaxBroken, SyntaxBroken, `byte 4: expected true, false or null, got ']'`},
	{`"\x`, `s2 !3`, SyntaxBroken, SyntaxBroken, `byte 2: expected one of "\/bfnrtu after a backslash, got 'x'`},
	{`"\u12g4"`, `s5 !8`, SyntaxBroken, SyntaxBroken, `byte 5: expected a hex digit, got 'g'`},
	{"\"a\nb\"", `s2 !5`, SyntaxBroken, SyntaxBroken, `byte 2: expected an escaped control character in a string, got '\n'`},
}

func TestLexer(t *testing.T) {
	type verdict struct {
		Tokens       string
		Live, Closed Syntax
		Err          string
	}
	for _, c := range lexCases {
		var l Lexer
		l.Write([]byte(c.text))
		got := verdict{Tokens: letters(l.Tokens()), Live: l.Syntax()}
		l.Close()
		got.Closed = l.Syntax()
		if err := l.Err(); err != nil {
			got.Err = err.Error()
		}
		if diff := cmp.Diff(verdict{c.tokens, c.live, c.closed, c.err}, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestLexerInvariants(t *testing.T) {
	for _, c := range lexCases {
		checkLexer(t, []byte(c.text))
	}
	checkLexer(t, []byte(strings.Repeat(`{"path":"src/é.go","new":"a\n\t\u00e9 \"b\"","n":[-1.5e3,true,null]} `, 40)))
}

func TestLexerDepthLimit(t *testing.T) {
	for _, open := range []string{"[", `{"":`} {
		deep := strings.Repeat(open, MaxDepth)
		var l Lexer
		l.Write([]byte(deep))
		if l.Syntax() != SyntaxPrefix || l.Depth() != MaxDepth {
			t.Errorf("%d times %s: %v at depth %d", MaxDepth, open, l.Syntax(), l.Depth())
		}
		l.Write([]byte(open))
		if err := l.Err(); err == nil || err.Offset != len(deep) || l.Syntax() != SyntaxBroken {
			t.Errorf("one level more: %v, %v", l.Syntax(), err)
		}
		checkLexer(t, []byte(deep+open))
	}
	checkLexer(t, []byte(strings.Repeat("[", MaxDepth)+strings.Repeat("]", MaxDepth)))
}

func TestLexerWriteAfterClose(t *testing.T) {
	var l Lexer
	l.Write([]byte("12"))
	l.Close()
	if l.Open() || l.Syntax() != SyntaxOther {
		t.Errorf("closed: open %v, %v", l.Open(), l.Syntax())
	}
	l.Write([]byte("3"))
	if got := letters(l.Tokens()); got != "n3" || !l.Open() || l.Syntax() != SyntaxPrefix {
		t.Errorf("written to again: %s, open %v, %v", got, l.Open(), l.Syntax())
	}
}

func TestLexerOpen(t *testing.T) {
	for text, open := range map[string]bool{
		``: false, `{`: false, `{"a`: true, `{"a"`: false, `{"a":`: false, `{"a":"`: true, `{"a":"\`: true,
		`{"a":"\u0`: true, `[1`: true, `[-`: true, `[tr`: true, `[true`: false, `[1,`: false, `[1 `: false, `[x`: false,
	} {
		var l Lexer
		if l.Write([]byte(text)); l.Open() != open {
			t.Errorf("%q: Open() = %v", text, !open)
		}
	}
}

func TestLexerClosers(t *testing.T) {
	var l Lexer
	l.Write([]byte(`{"a":[[{"b":{}},[`))
	var closers []byte
	for d := l.Depth(); d > 0; d-- {
		closers = append(closers, l.Closer(d))
	}
	if string(closers) != "]]]}" {
		t.Errorf("closers %s", closers)
	}
	l.Write(closers)
	if l.Syntax() != SyntaxObject {
		t.Errorf("closing what is open gives %v", l.Syntax())
	}
}

func TestLexerDocs(t *testing.T) {
	for text, docs := range map[string]int{``: 0, `{`: 0, `{}`: 1, `{}{`: 1, `{}{} {}`: 3, `[]`: 1, `{}x`: 1} {
		var l Lexer
		if l.Write([]byte(text)); l.Docs() != docs {
			t.Errorf("%q: %d texts, want %d", text, l.Docs(), docs)
		}
	}
}

func TestFirstEnd(t *testing.T) {
	for text, end := range map[string]int{``: 0, ` {} {}`: 3, `{"a":[{}]}x`: 10, `[1]{}`: 3, `{"a":[`: 6, `{]}`: 3, `1 2`: 3} {
		var l Lexer
		if l.Write([]byte(text)); FirstEnd(l.Tokens()) != end {
			t.Errorf("%q: %d, want %d", text, FirstEnd(l.Tokens()), end)
		}
	}
}

// TestDeepMix checks that the lexer knows which container is open at any depth.
func TestDeepMix(t *testing.T) {
	for _, object := range []func(depth int) bool{
		func(depth int) bool { return depth%2 == 0 },
		func(depth int) bool { return depth/64%2 == 0 },
		func(depth int) bool { return depth%64 < 2 },
	} {
		var open, shut string
		for depth := range 200 {
			if depth == 0 || object(depth) {
				open, shut = open+`{"k":`, "}"+shut
			} else {
				open, shut = open+"[", "]"+shut
			}
		}
		var l Lexer
		l.Write([]byte(open + "1" + shut))
		if l.Close(); l.Syntax() != SyntaxObject {
			t.Fatalf("%s, %v", l.Syntax(), l.Err())
		}
		for i := range shut { // the closer of the other kind is always wrong
			var l Lexer
			other := map[byte]string{'}': "]", ']': "}"}[shut[i]]
			if l.Write([]byte(open + "1" + shut[:i] + other)); l.Err() == nil {
				t.Fatalf("%d closers and %s", i, other)
			}
		}
	}
}

func FuzzLexer(f *testing.F) {
	for _, c := range lexCases {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		checkLexer(t, text[:min(len(text), 256)])
	})
}
