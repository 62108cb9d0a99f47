package json

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPlainRun(t *testing.T) {
	for c := range 256 {
		stops := c < ' ' || c == '"' || c == '\\'
		for at := range 20 {
			// 0xff and 0x80 differ from the stop bytes in the bits that the word-wide test reads.
			p := []byte(strings.Repeat("\xff\x80a", 8))
			p[at] = byte(c)
			want := len(p)
			if stops {
				want = at
			}
			if got := PlainRun(p); got != want {
				t.Fatalf("byte %#x at %d: run of %d, want %d", c, at, got, want)
			}
		}
	}
}

func TestHex(t *testing.T) {
	const digits = "0123456789abcdef"
	for c := range 256 {
		want := rune(strings.IndexByte(digits, byte(c)))
		if 'A' <= c && c <= 'F' {
			want = rune(c-'A') + 10
		}
		if got := HexValue(byte(c)); got != want {
			t.Errorf("%q: %d, want %d", c, got, want)
		}
	}
}

func TestStringEnd(t *testing.T) {
	for _, c := range []struct {
		text   string
		n      int
		closed bool
	}{
		{`""`, 2, true}, {`"a",`, 3, true}, {`"\"" "`, 4, true}, {`"\\"x"`, 4, true}, {`"{[,"}`, 5, true},
		{`"`, 1, false}, {`"a`, 2, false}, {`"\`, 2, false}, {`"\"`, 3, false}, {`"\\\"`, 5, false},
	} {
		if n, closed := StringEnd([]byte(c.text)); n != c.n || closed != c.closed {
			t.Errorf("%s: %d, %v", c.text, n, closed)
		}
	}
}

func TestValueEnd(t *testing.T) {
	for text, want := range map[string]string{
		`12,`: `12`, `-1.5e+3]`: `-1.5e+3`, `true}`: `true`, "null\n": `null`, `"a,b" `: `"a,b"`, `"key":1`: `"key"`,
		`{"a":[1,"}"]},2`: `{"a":[1,"}"]}`, `[[],{}] ]`: `[[],{}]`, `{}`: `{}`,
		``: ``, `{"a":[1`: `{"a":[1`, `["a`: `["a`, `["a\`: `["a\`, `,`: ``, `]`: ``,
	} {
		if got := text[:ValueEnd([]byte(text))]; got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestWholeEscapes(t *testing.T) {
	for text, want := range map[string]string{
		``: ``, `abc`: `abc`, `a\`: `a`, `a\\`: `a\\`, `a\\\`: `a\\`, `a\n`: `a\n`, `\u`: ``, `\u12`: ``, `x\u123`: `x`,
		`\u1234`: `\u1234`, `\\u12`: `\\u12`, `\n12`: `\n12`, `\u0041\u`: `\u0041`, `\\\u`: `\\`,
	} {
		if got := text[:CompleteEscapes([]byte(text))]; got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// FuzzValid compares the results for valid texts with encoding/json. It also checks that the results for a text that
// is cut off are within the text.
func FuzzValid(f *testing.F) {
	for _, text := range []string{`{"a\\":["\u00e9\"",-1.5e3,true,null,{}]}`, ` "\ud83d\ude00" `, `[[[]],""]`, "0"} {
		f.Add([]byte(text), uint(4))
	}
	for _, c := range unquoteCases {
		f.Add([]byte(`"`+c.lit+`"`), uint(len(c.lit)))
	}
	f.Fuzz(func(t *testing.T, text []byte, cut uint) {
		n := int(cut % uint(len(text)+1))
		checkBounds(t, text[:n])
		if !json.Valid(text) {
			return
		}
		value := bytes.Trim(text, " \t\r\n")
		if text = text[SpaceLen(text):]; !bytes.HasPrefix(text, value) {
			t.Fatalf("%q begins no later than %q", value, text)
		}
		for _, rest := range []string{"", ",1", "]", "}", " 1", ": 1"} {
			if got := ValueEnd(append(bytes.Clone(value), rest...)); got != len(value) {
				t.Fatalf("%q%s: value of %d", value, rest, got)
			}
		}
		if value[0] != '"' {
			return
		}
		if got, closed := StringEnd(append(bytes.Clone(value), `"x`...)); got != len(value) || !closed {
			t.Fatalf("%q: string of %d, %v", value, got, closed)
		}
		checkUnquote(t, string(value[1:len(value)-1]))
		checkCut(t, value[1:len(value)-1], n)
	})
}

// checkBounds checks that all results are within the text, for any bytes.
func checkBounds(t *testing.T, p []byte) {
	if n := ValueEnd(p); n < 0 || n > len(p) {
		t.Fatalf("%q: value of %d", p, n)
	}
	AppendUnquoted(nil, p)
	checkString(t, append([]byte(`"`), p...))
	if len(p) == 0 {
		return
	}
	if n, closed := StringEnd(p); n < 1 || n > len(p) || !closed && n < len(p) {
		t.Fatalf("%q: string of %d, %v", p, n, closed)
	}
}

// checkCut checks that the content of a string that is cut off is valid without the escape at the cut, and that
// nothing more is removed.
func checkCut(t *testing.T, lit []byte, cut int) {
	p := lit[:min(cut, len(lit))]
	whole := CompleteEscapes(p)
	if !json.Valid([]byte(`"` + string(p[:whole]) + `"`)) {
		t.Fatalf("%q is cut to %q", p, p[:whole])
	}
	if rest := p[whole:]; len(rest) > 0 && (rest[0] != '\\' || EscapeLen(rest) != len(rest) || EscapeLen(lit[whole:]) <= len(rest)) {
		t.Fatalf("%q: %q is not half an escape", p, rest)
	}
	if got, want := AppendUnquoted(nil, p), AppendUnquoted(nil, p[:whole]); !bytes.Equal(got, want) {
		t.Fatalf("%q says %q, without its end %q", p, got, want)
	}
}

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

var unquoteCases = []struct{ lit, want string }{
	{``, ``},
	{`plain é 読`, `plain é 読`},
	{`\"\\\/\b\f\n\r\t`, "\"\\/\b\f\n\r\t"},
	{`\u0041\u00e9\u8aad\u0000`, "Aé読\x00"},
	{`\uABcd`, "\uabcd"},
	{`a\ud83d\ude00b`, "a😀b"},
	{`\ud800\udc00`, "\U00010000"},
	{`\udbff\udfff`, "\U0010ffff"},
	{`\\u0041`, `\u0041`},

	// A half pair is kept, as three bytes.
	{`\ud83d`, "\xed\xa0\xbd"},
	{`\ude00`, "\xed\xb8\x80"},
	{`\ud83dx`, "\xed\xa0\xbdx"},
	{`\ud83d\n`, "\xed\xa0\xbd\n"},
	{`\ude00\ude00`, "\xed\xb8\x80\xed\xb8\x80"},
	{`\ude00\ud83d`, "\xed\xb8\x80\xed\xa0\xbd"},
	{`\ud83d\ud83d\ude00`, "\xed\xa0\xbd😀"},
	{`\ud83d\u0041`, "\xed\xa0\xbdA"},

	// Bytes that are not UTF-8 are kept.
	{"\xff\\n\xc0\xaf", "\xff\n\xc0\xaf"},

	// The text is cut inside an escape: an incomplete escape is not a character yet.
	{`ab\`, `ab`},
	{`ab\u`, `ab`},
	{`ab\u00e`, `ab`},
}

func TestAppendUnquoted(t *testing.T) {
	for _, c := range unquoteCases {
		if got := string(AppendUnquoted([]byte("> "), []byte(c.lit))); got != "> "+c.want {
			t.Errorf("%s: %q, want %q", c.lit, got, c.want)
		}
		checkUnquote(t, c.lit)
	}
	checkUnquote(t, strings.Repeat(`\ud83d\ude00\u00e9x`, 50))
}

// checkUnquote compares with encoding/json, which replaces half pairs with U+FFFD.
func checkUnquote(t testing.TB, lit string) {
	t.Helper()
	got := string(AppendUnquoted(nil, []byte(lit)))
	if len(got) > len(lit) {
		t.Fatalf("%q grows to %q", lit, got)
	}
	var want string
	if !utf8.ValidString(lit) || json.Unmarshal([]byte(`"`+lit+`"`), &want) != nil {
		return
	}
	checkString(t, []byte(`"`+lit+`", "more": \u0041"`))
	if got := withoutHalves(got); got != want {
		t.Fatalf("%q: %q, encoding/json gives %q", lit, got, want)
	}
}

// checkString compares ReadString with the two functions that it combines.
func checkString(t testing.TB, p []byte) {
	t.Helper()
	got, n, closed := ReadString([]byte("> "), p)
	size, whole := StringEnd(p)
	if closed != whole || closed && (n != size || string(got) != "> "+string(AppendUnquoted(nil, p[1:n-1]))) {
		t.Fatalf("%q: %q, %d bytes, closed: %v; %d bytes, closed: %v", p, got, n, closed, size, whole)
	}
}

// withoutHalves replaces each half pair with U+FFFD.
func withoutHalves(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			n = 3
		}
		b.WriteRune(r)
		i += n
	}
	return b.String()
}

func BenchmarkAppendUnquoted(b *testing.B) {
	lit := []byte(strings.Repeat(`\tif err != nil {\n\t\treturn fmt.Errorf(\"step %d: %w\", n, err) // \u00e9\n\t}\n`, 10_000))
	b.SetBytes(int64(len(lit)))
	b.ReportAllocs()
	var dst []byte
	for b.Loop() {
		dst = AppendUnquoted(dst[:0], lit)
	}
}
