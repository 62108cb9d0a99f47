package display

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

func TestHostile(t *testing.T) {
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			got := Clean(c.in)
			if got.String() != c.shown {
				t.Errorf("Clean(%+q)\n got %+q\nwant %+q", c.in, got, c.shown)
			}
			if w := got.Width(); w != c.cells {
				t.Errorf("Width(%+q) = %d, want %d", got, w, c.cells)
			}
			if got := (Drawer{ASCII: true}).Clean(c.in); got.String() != c.ascii {
				t.Errorf("ASCII Clean(%+q)\n got %q\nwant %q", c.in, got, c.ascii)
			}
			if altered(c.in) != (c.in != c.shown) {
				t.Errorf("Altered(%+q) = %t", c.in, altered(c.in))
			}
			checkLaws(t, []byte(c.in))
		})
	}
}

// TestEveryCodePoint compares our tables with the segmenter that computes widths. Between a base and a letter,
// each code point must be drawn as our tables say.
func TestEveryCodePoint(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		s := string(r)
		if (isWide(r) || isNarrow(r)) && !isDrawable(r) {
			t.Errorf("%U is wide or narrow, but not drawable", r)
		}
		if !utf8Encodes(r) || r < 0x80 || !isDrawable(r) || isSkinTone(r) {
			continue
		}
		if c, _ := ansi.FirstGraphemeCluster("⟩"+s, ansi.GraphemeWidth); (len(c) > len("⟩")) != joinsPrevious(r) {
			t.Errorf("%U: joins is %t", r, joinsPrevious(r))
		}
		if c, _ := ansi.FirstGraphemeCluster(s+"⟨", ansi.GraphemeWidth); (len(c) > len(s)) != joinsNext(r) {
			t.Errorf("%U: leads is %t", r, joinsNext(r))
		}
		u := Drawer{}.Next([]byte(s + "x"))
		if u.Cells != ansi.StringWidth(u.Shown) || u.Cells < 1 || u.Altered == (u.Shown == s) {
			t.Errorf("%U: %+v", r, u)
		}
		if isWide(r) && (joinsPrevious(r) || joinsNext(r) || isEmoji(r) || u.Cells != 2) {
			t.Errorf("%U is not wide", r)
		}
		if isNarrow(r) && (isWide(r) || joinsPrevious(r) || joinsNext(r) || isEmoji(r) || u.Cells != 1 || ansi.StringWidth(s) != 1) {
			t.Errorf("%U is not narrow", r)
		}
	}
}

func utf8Encodes(r rune) bool { return r < 0xd800 || r > 0xdfff }

// TestEmojiTable compares our table with the segmenter: a zero width joiner joins only pictographs.
func TestEmojiTable(t *testing.T) {
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if !utf8Encodes(r) || !isDrawable(r) || !isEmoji(r) {
			continue
		}
		s := string(r) + "\u200d👩"
		if c, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth); c != s {
			t.Errorf("%U is not a pictograph", r)
		}
	}
}

func TestPlainLen(t *testing.T) {
	long := strings.Repeat("x", 20)
	for _, c := range []struct {
		in   string
		want int
	}{
		{"", 0}, {"abc", 3}, {long, 20}, {long + "\x7f", 20}, {long + "\x1f" + long, 20}, {long + "中", 20},
		{"e\u0301", 0}, {"fe\u0301", 1}, {"1️⃣", 0}, {"e\xcc", 1}, {"\x00", 0}, {"abcdefg\x80", 7},
	} {
		if got := PlainLen([]byte(c.in)); got != c.want {
			t.Errorf("PlainLen(%+q) = %d, want %d", c.in, got, c.want)
		}
	}
	for b := range 256 {
		for at := range 9 {
			s := []byte("aaaaaaaaaa")
			s[at] = byte(b)
			want := at
			if b >= 0x20 && b < 0x7f {
				want = len(s)
			}
			if got := PlainLen(s); got != want {
				t.Errorf("PlainLen(%+q) = %d, want %d", s, got, want)
			}
		}
	}
}

func TestTruncateAndPad(t *testing.T) {
	for _, c := range []struct {
		in    literal
		cells int
		want  literal
		ascii literal
	}{
		{"hello", 5, "hello", "hello"}, {"hello", 4, "hel…", "h..."}, {"hello", 1, "…", "."}, {"hello", 0, "", ""},
		{"hello", -1, "", ""}, {"日本語", 6, "日本語", "日本語"}, {"日本語", 5, "日本…", "日..."},
		{"日本語", 4, "日… ", "... "}, {"e\u0301e\u0301e\u0301", 2, "e\u0301…", ".."}, {"", 2, "  ", "  "},
		{"👨‍👩‍👧ab", 3, "👨‍👩‍👧…", "..."},
	} {
		if got := (Drawer{}).Pad(Lit(c.in), c.cells); got != Lit(c.want) {
			t.Errorf("Pad(%+q, %d) = %+q, want %+q", c.in, c.cells, got, c.want)
		}
		if got := (Drawer{ASCII: true}).Pad(Lit(c.in), c.cells); got != Lit(c.ascii) {
			t.Errorf("ASCII Pad(%+q, %d) = %+q, want %+q", c.in, c.cells, got, c.ascii)
		}
	}
}

// TestLongUnits checks that a text of one very long cluster is split into units of limited width, in linear
// time.
func TestLongUnits(t *testing.T) {
	for _, s := range []string{
		"\u0301", "\u0301\u200d", "e\u0301\u200d", "\u1100", "👩\u200d", "👩🏽\u200d", "क\u094d", "क\u094d\u200d",
		"\U000e0041", "\u200d", "\ufe0f", "🇳", "\u0d4e", "\xed", "\u0e33", "\uff9e", "👩\u0301\u200d", "中\U000e0100",
	} {
		in := []byte(strings.Repeat(s, 1<<15/len(s)))
		out := Drawer{}.AppendClean(nil, in)
		sum := 0
		for rest := in; len(rest) > 0; {
			n, cells := Measure(rest)
			if cells > MaxCells {
				t.Fatalf("%+q: a unit of %d cells", s, cells)
			}
			rest, sum = rest[n:], sum+cells
		}
		if w := cellWidth(string(out)); w != sum {
			t.Errorf("%+q: width %d, units %d", s, w, sum)
		}
		if parts, whole, ok := linear(in[:len(in)/16], in); !ok {
			t.Errorf("%+q: %v in 16 parts, and %v at once", s, parts, whole)
		}
	}
}

// linear reports whether cleaning a text takes at most 4 times as long as cleaning a sixteenth of it 16 times. If the
// time were quadratic, it would take 16 times as long. linear compares the shortest of several runs, and tries again
// on a busy machine. Both runs clean the same number of bytes, so that a busy machine interrupts them equally often.
func linear(sixteenth, text []byte) (parts, whole time.Duration, ok bool) {
	parts, whole = time.Hour, time.Hour
	least := func(now time.Duration, text []byte, times int) time.Duration {
		start := time.Now()
		for range times {
			Drawer{}.AppendClean(nil, text)
		}
		return min(now, time.Since(start))
	}
	for range 50 {
		parts, whole = least(parts, sixteenth, 16), least(whole, text, 1)
		if whole <= 4*parts {
			return parts, whole, true
		}
	}
	return parts, whole, false
}

func TestTagRunContinues(t *testing.T) {
	got := Clean(tagged(strings.Repeat("x", 60)))
	want := `⟨tags:"` + strings.Repeat("x", 55) + `"⟩⟨tags:"xxxxx"⟩`
	if got.String() != want {
		t.Errorf("got %q", got)
	}
}

func TestNoAllocation(t *testing.T) {
	src := slices.Concat([]byte("plain \x1b[0m é e\u0301 日本語 👩🏽 \u202e \xff "), []byte(tagged("tag")))
	dst := make([]byte, 0, 4*len(src))
	if n := testing.AllocsPerRun(100, func() { dst = (Drawer{}).AppendClean(dst[:0], src) }); n != 0 {
		t.Errorf("AppendClean allocates %v times", n)
	}
	accent := []byte("e\u0301")
	if n := testing.AllocsPerRun(100, func() { Measure(accent) }); n != 0 {
		t.Errorf("Measure allocates %v times", n)
	}
}

// altered reports whether [Clean] would change s.
func altered(s string) bool {
	if isPlain(s) {
		return false
	}
	for b := []byte(s); len(b) > 0; {
		n := PlainLen(b)
		if n == 0 {
			p := scan(b)
			if p.isAltered() {
				return true
			}
			n = p.n
		}
		b = b[n:]
	}
	return false
}
