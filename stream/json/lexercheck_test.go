package json

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkLexer checks the lexer's invariants for any text.
func checkLexer(t testing.TB, text []byte) {
	t.Helper()
	var whole Lexer
	whole.Write(text)
	checkTiles(t, text, &whole)
	checkSettled(t, text, &whole)
	checkLexerCuts(t, text, &whole)
	checkAgainstJSON(t, text, &whole)
}

func checkTiles(t testing.TB, text []byte, l *Lexer) {
	t.Helper()
	end := uint32(0)
	for i, tok := range l.Tokens().All() {
		if tok.End <= end {
			t.Fatalf("%.200q: token %d is empty: %s", text, i, letters(l.Tokens()))
		}
		end = tok.End
	}
	if int(end) != len(text) || l.Len() != len(text) {
		t.Fatalf("%.200q: tokens end at %d, Len is %d", text, end, l.Len())
	}
	junk := slices.IndexFunc(tokensIn(l), func(t Token) bool { return t.Kind == Junk })
	if (l.Err() != nil) != (junk >= 0) || junk >= 0 && junk != l.Tokens().Len()-1 {
		t.Fatalf("%.200q: error %v with tokens %s", text, l.Err(), letters(l.Tokens()))
	}
}

// checkSettled feeds single bytes. It checks that a token before the last one never changes, and that the last
// one keeps its kind.
func checkSettled(t testing.TB, text []byte, whole *Lexer) {
	t.Helper()
	var l Lexer
	var settled []Token
	for i := range text {
		l.Write(text[i : i+1])
		for toks := l.Tokens(); len(settled) < toks.Len()-1; {
			settled = append(settled, toks.At(len(settled)))
		}
		if last := l.Tokens().Len() - 1; l.Tokens().At(last).Kind != whole.Tokens().At(last).Kind {
			t.Fatalf("%.200q: the token open after byte %d changes its kind", text, i)
		}
	}
	if n := len(settled); !slices.Equal(settled, tokensIn(whole)[:n]) {
		t.Fatalf("%.200q: settled tokens changed: %s", text, cmp.Diff(settled, tokensIn(whole)[:n]))
	}
	sameLexer(t, text, "byte by byte", &l, whole)
}

// checkLexerCuts cuts the text in two at every place, or at some places if it is long. It also cuts the text at
// random into many writes.
func checkLexerCuts(t testing.TB, text []byte, whole *Lexer) {
	t.Helper()
	step := max(1, len(text)*len(text)/200_000)
	var bytewise Lexer
	for cut := 0; cut <= len(text); cut += step {
		var l Lexer
		l.Write(text[:cut])
		sameLexer(t, text[:cut], "at a cut", &bytewise, &l)
		l.Write(text[cut:])
		sameLexer(t, text, "cut in two", &l, whole)
		for i := cut; i < min(cut+step, len(text)); i++ {
			bytewise.Write(text[i : i+1])
		}
	}
	rng := rand.New(rand.NewPCG(1, uint64(len(text))))
	for range 5 {
		var l Lexer
		for _, part := range cutAtRandom(rng, text) {
			l.Write(part)
		}
		sameLexer(t, text, "cut at random", &l, whole)
	}
}

func cutAtRandom(rng *rand.Rand, text []byte) (parts [][]byte) {
	for len(text) > 0 {
		n := min(len(text), rng.IntN(12))
		parts = append(parts, text[:n])
		text = text[n:]
	}
	return parts
}

// sameLexer compares the complete state, including unexported fields.
func sameLexer(t testing.TB, text []byte, how string, got, want *Lexer) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%.200q, %s:\n%+v\nwant %+v", text, how, got, want)
	}
}

// checkAgainstJSON compares with encoding/json. One difference is intended: the lexer accepts objects in a row,
// and their syntax is SyntaxConcat, not complete.
func checkAgainstJSON(t testing.TB, text []byte, whole *Lexer) {
	t.Helper()
	var l Lexer
	l.Write(text)
	l.Close()
	complete := l.Syntax() == SyntaxObject || l.Syntax() == SyntaxOther
	if complete != json.Valid(text) {
		t.Fatalf("%.200q is %v, json.Valid says %v", text, l.Syntax(), !complete)
	}
	got := len(text)
	if err := whole.Err(); err != nil {
		if got = err.Offset; err.Got != text[got] {
			t.Fatalf("%.200q: Got is %q at byte %d", text, err.Got, got)
		}
	}
	if classicJSON && got != firstWrong(text) {
		t.Fatalf("%.200q: wrong from byte %d on, encoding/json says %d", text, got, firstWrong(text))
	}
}

// firstWrong returns the offset where text stops being the beginning of a JSON text, or of several objects in a
// row, according to encoding/json. It returns len(text) if there is no such offset.
func firstWrong(text []byte) int {
	start := 0
	for {
		at := start + jsonOffset(text[start:])
		doc := bytes.TrimLeft(text[start:at], " \t\r\n")
		if at == len(text) || text[at] != '{' || len(doc) == 0 || doc[0] != '{' || !json.Valid(doc) {
			return at
		}
		start = at
	}
}

// jsonOffset returns the offset where encoding/json stops. It appends \x01, which is wrong everywhere, to the text.
// This distinguishes an unfinished text, which is wrong only at its end, from a wrong one.
func jsonOffset(text []byte) int {
	var syntax *json.SyntaxError
	if err := json.Unmarshal(append(bytes.Clone(text), 1), new(any)); !errors.As(err, &syntax) {
		return -1
	}
	return int(syntax.Offset) - 1
}

// classicJSON is false under GOEXPERIMENT=jsonv2. In that mode, encoding/json reports the start of a wrong escape
// instead of the wrong byte.
var classicJSON = jsonOffset(nil) == 0

// tokensIn returns a copy of a lexer's tokens.
func tokensIn(l *Lexer) (list []Token) {
	for _, t := range l.Tokens().All() {
		list = append(list, t)
	}
	return list
}
