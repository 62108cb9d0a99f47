package display

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

func FuzzClean(f *testing.F) {
	for _, c := range hostile {
		f.Add([]byte(c.in))
	}
	f.Fuzz(checkLaws)
}

// TestMixtures checks random sequences of characters from all classes, which a fuzzer of bytes rarely produces.
func TestMixtures(t *testing.T) {
	alphabet := []string{
		"a", "1", "\"", "é", "e\u0301", "\u0301", "\u093e", "\u102b", "\u0e33", "\uff9e", "か", "\u3099", "中", "각", "\u1100",
		"\u1161", "\u11a8", "क", "\u094d", "\u0d4e", "\u0600", "👩", "☕", "©", "👍", "🏽", "❤", "🇳", "\u200d", "\ufe0f", "\ufe0e",
		"\u20e3", "\U000e0041", "\U000e007f", "\U000e0100", "\u034f", "\u200b", "\u202e", "\x1b", "\n", "\u009b", "\x9b",
		"\xe2\x82", "\xed\xa0\xbd", "\xff", "\ufffd", "\ue000", "\u3164", "\u2028", "⟨", "␛", "◌", "…", " ", "\u00a0",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		var s []byte
		for range 1 + random.IntN(12) {
			s = append(s, alphabet[random.IntN(len(alphabet))]...)
		}
		checkLaws(t, s)
		checkJSON(t, string(s))
	}
}

// checkLaws fails the test unless the invariants of the package hold for b.
func checkLaws(t *testing.T, b []byte) {
	for _, d := range []Drawer{{}, {ASCII: true}} {
		got := d.CleanBytes(b)
		if r, ok := unsafeRune(got.String(), d.ASCII); ok {
			t.Fatalf("%+v: Clean(%+q) = %+q holds %U", d, b, got, r)
		}
		if again := d.Clean(got.String()); again != got {
			t.Fatalf("%+v: Clean(%+q) is %+q, cleaned again %+q", d, b, got, again)
		}
		if d.Clean(string(b)) != got || !bytes.Equal(d.AppendClean([]byte("x"), b), []byte("x"+got.String())) {
			t.Fatalf("%+v: %+q: the forms of Clean differ", d, b)
		}
		units, cells := walk(t, d, b)
		if units != got.String() || cells != got.Width() || cells != ansi.StringWidth(got.String()) {
			t.Fatalf("%+v: %+q is %+q of %d cells, its units are %+q of %d", d, b, got, got.Width(), units, cells)
		}
		for _, n := range []int{1, 2, cells / 2, cells - 1, cells + 3} {
			if cut := d.Truncate(got, n); cut.Width() > max(n, 0) {
				t.Fatalf("Truncate(%+q, %d) = %+q", got, n, cut)
			}
			if full := d.Pad(got, n); full.Width() != max(n, 0) {
				t.Fatalf("Pad(%+q, %d) = %+q", got, n, full)
			}
		}
	}
	if altered(string(b)) != (Drawer{}.CleanBytes(b).String() != string(b)) {
		t.Fatalf("Altered(%+q) = %t", b, altered(string(b)))
	}
	// Text after an unterminated sequence stays visible.
	if open := (Drawer{}).CleanBytes(append(b[:len(b):len(b)], "\x1b]0;visible"...)); !strings.HasSuffix(open.String(), "␛]0;visible") {
		t.Fatalf("Clean swallows: %+q", open)
	}
}

// walk draws b unit by unit.
func walk(t *testing.T, d Drawer, b []byte) (shown string, cells int) {
	var out strings.Builder
	for len(b) > 0 {
		n := PlainLen(b)
		out.Write(b[:n])
		cells += n
		if b = b[n:]; len(b) == 0 {
			break
		}
		u := d.Next(b)
		if u.Len < 1 || u.Len > len(b) || u.Cells < 1 || u.Cells > MaxCells || u.Cells != ansi.StringWidth(u.Shown) {
			t.Fatalf("%+v: Next(%+q) = %+v", d, b, u)
		}
		if u.Altered == (u.Shown == string(b[:u.Len])) {
			t.Fatalf("%+v: Next(%+q) = %+v", d, b, u)
		}
		if n, w := d.Measure(b); n != u.Len || w != u.Cells {
			t.Fatalf("%+v: Measure(%+q) = %d, %d; Next is %+v", d, b, n, w, u)
		}
		out.WriteString(u.Shown)
		cells += u.Cells
		b = b[u.Len:]
	}
	return out.String(), cells
}

// unsafeRune finds a character that must not be drawn. It checks code points, not Unicode categories.
func unsafeRune(s string, ascii bool) (rune, bool) {
	before, marks := rune(0), 0
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd") {
			return rune(s[i]), true
		}
		marks++
		if !unicode.Is(unicode.M, r) {
			marks = 0
		}
		joiner := r == 0x200d || r == 0xfe0f || r >= 0x1f3fb && r <= 0x1f3ff
		switch {
		case ascii && r > 0x7e, r < 0x20, r >= 0x7f && r < 0xa0, marks > maxMarks:
			return r, true
		case joiner && !(unicode.In(before, unicode.S) || before == 0xfe0f || r == 0xfe0f && isKeycapBase(before) || before == 0x203c || before == 0x2049 || before == 0x3030 || before == 0x2139):
			return r, true
		case joiner:
		case unicode.In(r, unicode.C, unicode.Zl, unicode.Zp):
			return r, true
		}
		for _, bad := range neverDrawn {
			if !joiner && r >= bad[0] && r <= bad[1] {
				return r, true
			}
		}
		if r&0xfffe == 0xfffe {
			return r, true
		}
		before = r
	}
	return 0, false
}

// neverDrawn are the code points that are never drawn: bidi controls, invisible characters, tags,
// private use and noncharacters.
var neverDrawn = [][2]rune{
	{0x061c, 0x061c}, {0x200e, 0x200f}, {0x202a, 0x202e}, {0x2066, 0x2069},
	{0x00ad, 0x00ad}, {0x034f, 0x034f}, {0x115f, 0x1160}, {0x180b, 0x180f}, {0x200b, 0x200d}, {0x2028, 0x2029},
	{0x2060, 0x206f}, {0x3164, 0x3164}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0xfe00, 0xfe0f},
	{0xe0000, 0xe0fff}, {0xd800, 0xf8ff}, {0xf0000, 0x10ffff}, {0xfdd0, 0xfdef},
}

func FuzzJSON(f *testing.F) {
	for _, c := range hostile {
		f.Add(c.in)
	}
	f.Fuzz(checkJSON)
}

func TestJSON(t *testing.T) {
	for _, c := range hostile {
		checkJSON(t, c.in)
	}
	for in, want := range map[string]string{
		"<a&b> \"q\" \\ /":                `"<a&b> \"q\" \\ /"`,
		"\x1b[31m\n\t\r\x7f":              `"\u001b[31m\n\t\r\u007f"`,
		"é 日 e\u0301":                     `"é 日 ` + "e\u0301" + `"`,
		"\u202e\u2028":                    `"\u202e\u2028"`,
		"\U000e0041":                      `"\udb40\udc41"`,
		"\xff\xed\xa0\x80":                `"\ufffd\ufffd\ufffd\ufffd"`,
		"\"\u0301":                        `"\"` + "\u0301" + `"`,
		"\u0301":                          `"\u0301"`,
		"a" + strings.Repeat("\u0301", 9): `"a` + strings.Repeat("\u0301", 8) + `\u0301"`,
	} {
		if got := AppendJSON(nil, in); string(got) != want {
			t.Errorf("AppendJSON(%+q) = %+q, want %+q", in, got, want)
		}
	}
	text := "{\n\t\"k\u202e\":[1.50, \"\\u001b\\\"\u200b\\\\\", \"é\"] }\r\n"
	want := "{\n\t\"k\\u202e\":[1.50, \"\\u001b\\\"\\u200b\\\\\", \"é\"] }\r\n"
	if got := AppendJSONText(nil, []byte(text)); string(got) != want {
		t.Errorf("AppendJSONText(%+q) = %+q, want %+q", text, got, want)
	}
}

// checkJSON fails the test unless s is written as safe JSON that reads back unchanged.
func checkJSON(t *testing.T, s string) {
	got := AppendJSON(nil, s)
	var back string
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatalf("AppendJSON(%+q) = %q: %v", s, got, err)
	}
	if back != string([]rune(s)) {
		t.Fatalf("AppendJSON(%+q) = %q reads back as %+q", s, got, back)
	}
	if altered(string(got)) {
		t.Fatalf("AppendJSON(%+q) = %+q is not safe", s, got)
	}
	line := func(b []byte) string { return strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(string(b)) }
	text := AppendJSONText(nil, []byte(s))
	if altered(line(text)) && !strings.ContainsAny(string(text), "\n\r\t") {
		t.Fatalf("AppendJSONText(%+q) = %+q is not safe", s, text)
	}
	if r, ok := unsafeRune(line(text), false); ok {
		t.Fatalf("AppendJSONText(%+q) = %+q holds %U", s, text, r)
	}
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]any{"k" + s: []any{s, 1.5, nil}}); err != nil {
		t.Fatal(err)
	}
	var a, b any
	if json.Unmarshal(plain.Bytes(), &a) != nil || json.Unmarshal(AppendJSONText(nil, plain.Bytes()), &b) != nil {
		t.Fatalf("AppendJSONText breaks %+q", plain.Bytes())
	}
	x, _ := json.Marshal(a)
	if y, _ := json.Marshal(b); !bytes.Equal(x, y) {
		t.Fatalf("AppendJSONText changes %+q", plain.Bytes())
	}
}
