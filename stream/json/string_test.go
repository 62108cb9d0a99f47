package json

import (
	"fmt"
	"testing"
	"unicode/utf8"
)

// TestNextChar checks characters that are complete, that may continue, or that will never be complete.
func TestNextChar(t *testing.T) {
	for _, test := range []struct {
		lit  string
		more bool
		c    rune
		n    int
	}{
		{`aé`, true, 'a', 1}, {`é"`, true, 'é', 2}, {"\xc3", true, 0, 0}, {"\xc3", false, utf8.RuneError, 1},
		{"\xff", true, utf8.RuneError, 1}, {``, false, 0, 0}, {`\`, false, 0, 0}, {`\n`, true, '\n', 2}, {`\/x`, false, '/', 2},
		{`\u00e9`, true, 'é', 6}, {`\u00e`, false, 0, 0}, {`\ud83d\ude00x`, true, '😀', 12}, {`\ud83d`, false, 0xd83d, 6},
		{`\ud83d`, true, 0, 0}, {`\ud83d\`, true, 0, 0}, {`\ud83d\ude0`, true, 0, 0}, {`\ud83dx`, true, 0xd83d, 6},
		{`\ud83d\n`, true, 0xd83d, 6}, {`\ud83d\u0041`, true, 0xd83d, 6}, {`\ude00`, true, 0xde00, 6},
	} {
		if c, n := NextChar([]byte(test.lit), test.more); c != test.c || n != test.n {
			t.Errorf("%q, more %t: %q of %d bytes, want %q of %d", test.lit, test.more, c, n, test.c, test.n)
		}
	}
}

// TestContent checks that the quotes of literals are removed, even from literals that are cut off.
func TestContent(t *testing.T) {
	for literal, want := range map[string]string{
		``: ` false`, `"`: ` false`, `""`: ` true`, `"a`: `a false`, `"a\"`: `a\" false`, `"a\\"`: `a\\ true`, `"a\u00`: `a false`, `"a\`: `a false`,
		`"\u0041"`: `\u0041 true`,
	} {
		content, closed := Content([]byte(literal))
		if got := fmt.Sprintf("%s %t", content, closed); got != want {
			t.Errorf("%s: %s, want %s", literal, got, want)
		}
	}
}

// TestQuoted checks that AppendUnquoted reverses AppendQuoted, even for half a surrogate pair.
func TestQuoted(t *testing.T) {
	for text, want := range map[string]string{
		"": `""`, "a\"b\\\n\t\r\b\f\x01": `"a\"b\\\n\t\r\b\f\u0001"`, "한국": `"한국"`, "x\xed\xa0\xbdy한": `"x\ud83dy한"`, "\xff": "\"\xff\"",
	} {
		got := AppendQuoted(nil, []byte(text))
		if string(got) != want || string(AppendUnquoted(nil, got[1:len(got)-1])) != text {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestIsHalf checks that IsHalf accepts the three bytes of half a surrogate pair, but neither fewer bytes nor other
// characters.
func TestIsHalf(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "\xed": false, "\xed\xa0": false, "\xed\xa0\x80": true, "\xed\xbf\xbf!": true,
		"\xed\x9f\xbf": false, "\xed\xa0\xc0": false, "\xee\xa0\x80": false,
	} {
		if got := IsHalf(text); got != want {
			t.Errorf("IsHalf(%q) is %v, want %v", text, got, want)
		}
	}
}
