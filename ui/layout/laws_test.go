package layout

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toolscope/stream/json"
	"toolscope/ui/display"
)

// widths are the widths for which the invariants are checked: narrow ones, some around the width at which
// indentation shrinks, and a wide one.
var widths = []int{1, 2, 3, 7, 12, 13, 14, 20, 37, 80, 200}

// texts are argument texts of every kind: complete, cut off, wrong and hostile.
var texts = []string{
	``, ` `, "\n\t ", `{`, `{}`, `[]`, `{"a":{},"b":[],"c":[[],{}]}`, `{ }`, "[\n]", `[1,2,3]`, ` {"a": 1 } `,
	`{"city":"Oslo","days":3,"metric":true,"note":null}`, `{"a":[{"b":[{"c":"deep"}]},{"d":-1.5e+10}]}`,
	`{"path":"src/main.go","content":"package main\n\nfunc main() {\n\tprintln(\"hi\")\n}\n"}`,
	`{"a":1}{"b":2}`, `{}{"a":[1,2]}{`, `{"a":1} x`, `{"a":tru`, `{"a":tru]`, `"text"`, `12`, `-`, `nul`, `not json at all`,
	`{"a" "b"}`, `{"a":1,}`, `{"a":"b` + "\x01" + `c"}`, "\x01", "\xc3\xa9", `{"a":"\x"}`, `{"a":"\u12`, `{"a":"\`, `{"a":"\\`,
	`{"\u00e9\n":"\ud83d\ude00\\\"\/"}`, `{"` + strings.Repeat("long key ", 20) + `":"` + strings.Repeat("v", 300) + `"}`,
	strings.Repeat(`[`, 60), strings.Repeat(`{"k":`, 40) + `1` + strings.Repeat(`}`, 40), strings.Repeat(`[`, 30) + strings.Repeat(`]`, 31),
	`{"日本語":"読み込みに失敗しました","naïve":"é ` + "e\u0301" + ` ñ","thumb":"👍🏽 👨‍👩‍👧 🇳🇴🇳 1️⃣ ❤️ 🏳️‍🌈"}`,
	`{"a":"` + "e\u0301\u0301\u0301 x\u0301" + `"}` + "\u0301", `{"a":"` + "1\ufe0f" + `"}`, `{"a":"` + "👩\u200d" + `"}`,
	`{"a":"\n` + "\u0301" + `\\` + "\u0301" + `\u0041` + "\u0301" + `"}`,
	`{"a":"` + "\x1b[31m\x9b31m\u009b\u202e\u200b\ufeff\U000e0041\U000e0042\ue000\u2028\xff\xe2\x82" + `"}`,
	"{\"a\":\"x\u202e\u200d\u200d\ufe0f\ufe0f\U000e0041\U000e0042 \xff\xe2\x82 \xed\xa0\xbd\xed\xb8\x80\"}",
	`{"summary":"The cache warmer raced the uploader: half of the objects were written under the old key,  so    every","x":"a/b/c\n/d,e`,
	`{"words with blanks":"and \n\\n, \"quotes\" \u0020 ` + " \u0301 e\u0301 / \u0301日 本 \n" + `","n":[123456789012345678901234,-1.5,true , false]}`,
	"just some words, a/very/long/path/to/something and\nmore   words \u0301 \n\n  indented by two  ",
	`{"a":"` + "a" + strings.Repeat("\u0301", 40) + `"}`, `junk ` + "é e\u0301 👨‍👩‍👧 \xf0\x9f",
}

// bed is a layout under test and its input.
type bed struct {
	draw  display.Drawer
	width int
	text  []byte
	lex   json.Lexer
	json  *JSON // exactly one of json and plain is set
	plain *Text
}

func jsonBed(width int, draw display.Drawer) *bed {
	return &bed{draw: draw, width: width, json: NewJSON(width, draw)}
}

func textBed(width int, draw display.Drawer) *bed {
	return &bed{draw: draw, width: width, plain: NewText(width, draw)}
}

// proseBed returns a bed without marks.
func proseBed(width int, draw display.Drawer) *bed {
	return &bed{draw: draw, width: width, plain: NewProse(width, draw)}
}

func (b *bed) rows() []Row {
	if b.json != nil {
		return b.json.Rows()
	}
	return b.plain.Rows()
}

func (b *bed) len() int {
	if b.json != nil {
		return b.json.Len()
	}
	return b.plain.Len()
}

// add lays out one more delta. A text has a mark before each delta.
func (b *bed) add(delta string, whole bool) {
	if b.plain != nil && b.seams() == noBreaks {
		b.plain.Mark(len(b.text))
	}
	b.text = append(b.text, delta...)
	if b.json != nil {
		b.lex.Write([]byte(delta))
		b.json.Extend(b.text, &b.lex, whole)
		return
	}
	b.plain.Extend(b.text, whole)
}

// feed lays out deltas one by one. It fails the test if a row changes after another row follows it.
func (b *bed) feed(t *testing.T, deltas ...string) *bed {
	t.Helper()
	for _, delta := range deltas {
		before := slices.Clone(b.rows())
		settled := max(0, len(before)-1)
		b.add(delta, false)
		if !slices.Equal(before[:settled], b.rows()[:settled]) {
			t.Fatalf("width %d: %q changes rows that were settled of %q:\n%v\n%v", b.width, delta, b.text, before, b.rows())
		}
		b.check(t, settled)
	}
	return b
}

// check fails the test unless the invariants of the package hold for the rows, starting at row from.
func (b *bed) check(t *testing.T, from int) {
	t.Helper()
	rows, at := b.rows(), 0
	if from > 0 {
		at = int(rows[from].Start)
	}
	for n := from; n < len(rows); n++ {
		r := rows[n]
		if int(r.Start) != at || r.End < r.Start {
			t.Fatalf("width %d, %q: row %d begins at %d, want %d: %v", b.width, b.text, n, r.Start, at, rows)
		}
		at = int(r.End)
		if units, cells := b.drawn(r); cells > b.width && units > 1 {
			t.Fatalf("width %d, %q: row %d, %q, has %d cells", b.width, b.text, n, b.text[r.Start:r.End], cells)
		}
		if r.Parent >= int32(n) || r.Wrapped && n == 0 {
			t.Fatalf("%q: row %d is %+v", b.text, n, r)
		}
	}
	if b.json != nil && len(rows) > 0 {
		b.checkPlace(t, len(rows)-1)
	}
	if at != b.len() || len(b.text)-at > 6+len(joiner) {
		t.Fatalf("width %d, %q: rows reach to %d, laid out are %d of %d", b.width, b.text, at, b.len(), len(b.text))
	}
}

// checkPlace fails the test unless a row's token and its place in the document are correct.
func (b *bed) checkPlace(t *testing.T, n int) {
	t.Helper()
	r, toks := b.rows()[n], b.lex.Tokens()
	if r.Token > 0 && toks.At(int(r.Token)-1).End > r.Start || !r.Wrapped && toks.At(int(r.Token)).End < r.Start {
		t.Fatalf("%q: row %d begins at %d, outside of token %d", b.text, n, r.Start, r.Token)
	}
	depth := 0
	for p := r.Parent; p >= 0; p = b.rows()[p].Parent {
		depth++
	}
	if r.Index == Closer {
		depth--
	}
	if want := b.json.indentOf(depth); !r.Wrapped && int(r.Indent) != want {
		t.Fatalf("%q: row %d at depth %d is indented by %d, want %d", b.text, n, depth, r.Indent, want)
	}
}

// drawn returns how many units the pane draws in a row, and how many cells the row uses, including its indentation.
func (b *bed) drawn(r Row) (units, cells int) {
	cells = int(r.Indent)
	for _, s := range b.spans(r) {
		for rest := s.text; len(rest) > 0; {
			n, w := b.draw.Measure(rest)
			units, cells, rest = units+1, cells+w, rest[n:]
		}
		cells += s.extra
	}
	switch end := b.text[r.Start:r.End]; {
	case b.seams() == noBreaks || len(end) == 0:
	case end[len(end)-1] == ' ': // the blank may be beyond the end of the row
		units, cells = units-1, cells-1
	case b.seams() == plainBreaks && end[len(end)-1] == '\n':
		_, w := b.draw.Measure(end[len(end)-1:])
		units, cells = units-1, cells-w
		if len(end) > 1 && end[len(end)-2] == ' ' {
			units, cells = units-1, cells-1
		}
	}
	return units, cells
}

func (b *bed) seams() breakRule {
	if b.json != nil {
		return b.json.breaks
	}
	return b.plain.breaks
}

// span is a part of a row that is drawn separately, with its extra blank cells or signs.
type span struct {
	text  []byte
	extra int
}

func (b *bed) spans(r Row) (spans []span) {
	start, end := int(r.Start), int(r.End)
	if b.plain != nil {
		for start < end {
			next := b.plain.NextMark(start, end)
			s := span{text: b.text[start:next]}
			if b.plain.Marked(start) {
				s.extra = 1
			}
			spans, start = append(spans, s), next
		}
		return spans
	}
	for n, tok := range b.lex.Tokens().All() {
		if n < int(r.Token) {
			continue
		}
		from, to := start, min(int(tok.End), end)
		if from >= to {
			continue
		}
		if start = to; tok.Kind == json.Space {
			continue
		}
		s := span{text: b.text[from:to]}
		if tok.Kind == json.Colon {
			s.extra = 1
		}
		spans = append(spans, s)
	}
	return spans
}

// show returns the rows as the pane draws them.
func (b *bed) show() string {
	var lines []string
	for _, r := range b.rows() {
		line := strings.Repeat(" ", int(r.Indent))
		for _, s := range b.spans(r) {
			extra := strings.Repeat(" ", s.extra)
			if b.plain != nil {
				line += strings.ReplaceAll(extra, " ", "|") + b.draw.CleanBytes(s.text).String()
			} else {
				line += b.draw.CleanBytes(s.text).String() + extra
			}
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.Join(lines, "\n")
}

// same fails the test unless both beds have the same rows.
func same(t *testing.T, how string, got, want *bed) {
	t.Helper()
	if got.len() != want.len() || !slices.Equal(got.rows(), want.rows()) || got.json != nil && !slices.Equal(got.json.Boxes(), want.json.Boxes()) {
		t.Fatalf("width %d, %q, %s:\n%s\n%v\nall at once:\n%s\n%v",
			want.width, want.text, how, got.show(), got.rows(), want.show(), want.rows())
	}
}

// everyWay runs a check for all texts, widths and alphabets.
func everyWay(t *testing.T, check func(t *testing.T, text string, width int, draw display.Drawer)) {
	for _, text := range texts {
		for _, width := range widths {
			if testing.Short() && width > 20 {
				continue
			}
			for _, ascii := range []bool{false, true} {
				check(t, text, width, display.Drawer{ASCII: ascii})
			}
		}
	}
}

func TestJSONInPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	everyWay(t, func(t *testing.T, text string, width int, draw display.Drawer) {
		whole := jsonBed(width, draw).feed(t, text)
		same(t, "byte by byte", jsonBed(width, draw).feed(t, strings.Split(text, "")...), whole)
		same(t, "byte by byte", jsonBed(width, draw).feed(t, bytewise(text)...), whole)
		for cut := 1; cut < len(text); cut += 1 + len(text)/40 {
			same(t, "in two", jsonBed(width, draw).feed(t, text[:cut], text[cut:]), whole)
		}
		for range 3 {
			same(t, "at random", jsonBed(width, draw).feed(t, pieces(random, text)...), whole)
		}
	})
}

// TestTextInPieces checks that the rows don't depend on how much is laid out at a time. Both layouts have the same
// marks, because marks affect the rows.
func TestTextInPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	everyWay(t, func(t *testing.T, text string, width int, draw display.Drawer) {
		for range 3 {
			deltas := pieces(random, text)
			live := textBed(width, draw).feed(t, deltas...)
			whole := textBed(width, draw)
			at := 0
			for _, delta := range deltas {
				whole.plain.Mark(at)
				at += len(delta)
			}
			whole.text = []byte(text)
			whole.plain.Extend(whole.text, false)
			same(t, "by delta", live, whole)
		}
	})
}

func TestProseInPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	everyWay(t, func(t *testing.T, text string, width int, draw display.Drawer) {
		whole := proseBed(width, draw).feed(t, text)
		same(t, "byte by byte", proseBed(width, draw).feed(t, bytewise(text)...), whole)
		for range 3 {
			same(t, "at random", proseBed(width, draw).feed(t, pieces(random, text)...), whole)
		}
	})
}

func bytewise(text string) (all []string) {
	for i := range len(text) {
		all = append(all, text[i:i+1])
	}
	return all
}

// pieces divides text into deltas of up to seven bytes.
func pieces(random *rand.Rand, text string) (all []string) {
	for len(text) > 0 {
		n := min(len(text), 1+random.IntN(7))
		all, text = append(all, text[:n]), text[n:]
	}
	return all
}

// TestEveryWidth checks the layout of the texts at every width that a terminal can have.
func TestEveryWidth(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 9
	}
	for _, text := range texts {
		for width := 1; width <= 200; width += step {
			jsonBed(width, display.Drawer{}).feed(t, text)
			textBed(width, display.Drawer{}).feed(t, text)
		}
	}
}
