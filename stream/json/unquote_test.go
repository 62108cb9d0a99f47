package json

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

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
