package layout

import (
	"slices"
	"strings"
	"testing"

	"toolscope/stream/json"
	"toolscope/ui/display"
)

func TestJSONRows(t *testing.T) {
	for _, c := range []struct {
		name  string
		width int
		text  string
		want  string
	}{
		{"nothing", 40, ``, ``},
		{"white space only", 40, ` `, ``},
		{"a member a row", 40, `{"city":"Oslo","days":3}`, `
{
  "city": "Oslo",
  "days": 3
}`},
		{"white space between tokens is not shown", 40, " {\n\t\"a\" : [ 1 ,2 ] }\n", `
{
  "a": [
    1,
    2
  ]
}`},
		{"empty containers close where they opened", 40, `{"a":{},"b":[ ],"c":[{}]}`, `
{
  "a": {},
  "b": [],
  "c": [
    {}
  ]
}`},
		{"unfinished", 40, `{"a":{"b":[1,"two`, `
{
  "a": {
    "b": [
      1,
      "two`},
		{"a key without its value", 40, `{"a":`, `
{
  "a":`},
		{"several objects", 40, `{"a":1}{"b":[]}{`, `
{
  "a": 1
}
{
  "b": []
}
{`},
		{"from the first wrong byte on as it is", 40, `{"a":1,}, {"b":2}`, `
{
  "a": 1,}, {"b":2}`},
		{"no JSON at all", 40, `error: no such tool`, `
error: no such tool`},
		{"text after the object", 40, `{"a":1} and more`, `
{
  "a": 1
}and more`},
		{"one value", 40, `"text"`, `
"text"`},
		{"a long string wraps under itself", 24, `{"s":"abcdefghijklmnopqrstuvwxyz"}`, `
{
  "s": "abcdefghijklmnop
    qrstuvwxyz"
}`},
		{"a long key wraps as well", 24, `{"abcdefghijklmnopqrstuvwxyz":1}`, `
{
  "abcdefghijklmnopqrstu
    vwxyz": 1
}`},
		{"a comma that does not fit", 16, `[123456789012,1]`, `
[
  123456789012,
  1
]`},
		{"indentation leaves twelve cells", 16, `[[[["abcdefghijklmn"]]]]`, `
[
  [
    [
    [
    "abcdefghijk
    lmn"
    ]
    ]
  ]
]`},
		{"narrower than that", 5, `{"a":1}`, `
{
"a":
1
}`},
		{"an escape is not split", 14, `["abcdefghij\nk\u00e9"]`, `
[
  "abcdefghij
  \nk\u00e9"
]`},
		{"unless there is no room at all", 5, `["\u00e9"]`, `
[
"\u00
e9"
]`},
		{"wide characters are not split", 14, `["日本語日本語"]`, `
[
  "日本語日本
  語"
]`},
		{"an accent stays with its letter", 14, `["abcdefghije` + "\u0301" + `f"]`, `
[
  "abcdefghije` + "\u0301" + `
  f"
]`},
		{"a sign for a control stays whole", 14, `["abcdefghij` + "\u202e" + `"]`, `
[
  "abcdefghij
  ⟨U+202E⟩"
]`},
		{"words stay whole", 40, `{"summary":"The cache warmer raced the uploader: half of the objects were written"}`, `
{
  "summary": "The cache warmer raced the
    uploader: half of the objects were
    written"
}`},
		{"where there are none, behind a line end", 40, `{"content":"package\n\nimport\n(\n\"fmt\"\n)\nfunc"}`, `
{
  "content": "package\n\nimport\n(\n
    \"fmt\"\n)\nfunc"
}`},
		{"or a slash or comma", 24, `{"p":"abcdefghij/klm,nopqrstu"}`, `
{
  "p": "abcdefghij/klm,
    nopqrstu"
}`},
		{"an escaped backslash begins no line end", 24, `{"p":"abcdefghijk\\nopqrstuvw"}`, `
{
  "p": "abcdefghijk\\nop
    qrstuvw"
}`},
		{"a value that does not fit begins a row", 24, `{"a longer key":12345678901}`, `
{
  "a longer key":
    12345678901
}`},
		{"unless the row were mostly empty", 24, `{"a":12345678901234567890}`, `
{
  "a": 12345678901234567
    890
}`},
		{"a comma stays with its value", 19, `["aaaaa bbbb cccc",1]`, `
[
  "aaaaa bbbb
    cccc",
  1
]`},
		{"a blank may hang", 20, `["aaaaa bbbb cccccc ddd"]`, `
[
  "aaaaa bbbb cccccc
    ddd"
]`},
		{"one cell wide", 1, `{"日":1}`, "\n{\n\"\n日\n\"\n:\n1\n}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := jsonBed(c.width, display.Drawer{}).feed(t, c.text)
			if want := strings.TrimPrefix(c.want, "\n"); got.show() != want {
				t.Errorf("got\n%s\nwant\n%s", got.show(), want)
			}
		})
	}
}

// TestJSONPlaces checks that each row has the correct container, and the correct index in that container.
func TestJSONPlaces(t *testing.T) {
	b := jsonBed(40, display.Drawer{}).feed(t, `{"a":[true,{}],"b":{"c":null}}`)
	want := []struct{ parent, index int32 }{
		{-1, 0}, {0, 0}, {1, 0}, {1, 1}, {1, Closer}, {0, 1}, {5, 0}, {5, Closer}, {0, Closer},
	}
	for n, r := range b.rows() {
		if n >= len(want) || r.Parent != want[n].parent || r.Index != want[n].index {
			t.Errorf("row %d, %q, is child %d of row %d", n, b.text[r.Start:r.End], r.Index, r.Parent)
		}
	}
}

// TestBoxes checks where each object and array begins and ends, and its number of elements.
func TestBoxes(t *testing.T) {
	b := jsonBed(24, display.Drawer{}).feed(t, `{"a":[1,{}],"a key that does wrap":{"b":2},"c":[`)
	want := []Box{{0, -1, 0, 0, 0}, {1, 4, 3, 8, 2}, {3, 3, 6, 7, 0}, {6, 8, 12, 16, 1}, {9, -1, 20, 0, 0}}
	if got := b.json.Boxes(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v\n%s", got, want, b.show())
	}
}

// TestJSONSettles checks that a token that is cut off at the end of the text is laid out only when its
// meaning is known.
func TestJSONSettles(t *testing.T) {
	for _, c := range []struct {
		name string
		text string
		held int // bytes at the end of the text
		next string
	}{
		{"a plain character", `{"a":"x`, 0, `y`},
		{"a backslash", `{"a":"x\`, 1, `n`},
		{"an escaped backslash", `{"a":"x\\`, 0, `n`},
		{"a backslash after one", `{"a":"x\\\`, 1, `"`},
		{"a u escape without digits", `{"a":"x\u`, 2, `00e9`},
		{"a u escape with three", `{"a":"x\u00e`, 5, `9`},
		{"a u escape", `{"a":"x\u00e9`, 0, `9`},
		{"an escape in a key", `{"x\u00`, 4, `e9`},
		{"half of two bytes", `{"a":"` + "\xc3", 1, "\xa9"},
		{"a third of three", `{"a":"` + "\xe6", 1, "\x97\xa5"},
		{"two thirds of three", `{"a":"` + "\xe6\x97", 2, "\xa5"},
		{"three quarters of four", `{"a":"` + "\xf0\x9f\x98", 3, "\x80"},
		{"a byte that begins nothing", `{"a":"` + "\x80", 0, `x`},
		{"a joiner that may join", `{"a":"` + "👩\u200d", 3, "👧"},
		{"a joiner and half of what it joins", `{"a":"` + "👩\u200d\xf0\x9f", 5, "\x91\xa7"},
		{"a selector that may select", `{"a":"` + "1\ufe0f", 3, "\u20e3"},
		{"half a character that is junk", "\xc3", 1, "\xa9"},
		{"a backslash that is junk", `x\`, 0, `n`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := jsonBed(40, display.Drawer{}).feed(t, c.text)
			if held := len(c.text) - b.len(); held != c.held {
				t.Errorf("%d bytes are held back, want %d", held, c.held)
			}
			b.feed(t, c.next)
			same(t, "in two", b, jsonBed(40, display.Drawer{}).feed(t, c.text+c.next))
			if b.len() != len(b.text) {
				t.Errorf("%d bytes are held back of the whole", len(b.text)-b.len())
			}
			cut := jsonBed(40, display.Drawer{}).feed(t, c.text)
			if cut.add("", true); cut.len() != len(c.text) {
				t.Error("a text that is whole holds something back")
			}
		})
	}
}

func TestRowAt(t *testing.T) {
	b := jsonBed(20, display.Drawer{}).feed(t, ` {"a": "some longer string","b":[]}`)
	for off := range b.text {
		n := b.json.RowAt(off)
		if r := b.rows()[n]; off < int(r.Start) || off >= int(r.End) {
			t.Errorf("byte %d is said to be on row %d, %+v", off, n, r)
		}
	}
	if n := b.json.RowAt(1000); n != len(b.rows())-1 {
		t.Errorf("what is beyond the end is on row %d of %d", n, len(b.rows()))
	}
	if n := new(JSON).RowAt(0); n != 0 {
		t.Errorf("without rows: %d", n)
	}
}

// TestDepth checks that nesting up to the lexer's limit does not need more than the given width.
func TestDepth(t *testing.T) {
	b := jsonBed(40, display.Drawer{})
	b.add(strings.Repeat(`{"k":[`, json.MaxDepth/2)+`"here"`, false)
	rows := b.rows()
	last := rows[len(rows)-1]
	if b.check(t, 0); last.Indent != 40-minRoom || len(rows) != json.MaxDepth+1 {
		t.Errorf("%d rows, the last %+v", len(rows), last)
	}
}

// TestSteadyState checks that laying out a delta allocates nothing except the rows and marks that are kept.
func TestSteadyState(t *testing.T) {
	for name, delta := range map[string]string{
		"a long string": "some plain text ", "escapes": `a\n\u00e9\"`, "wide": "読み込みに", "accents": "e\u0301n\u0303",
	} {
		for kind, b := range map[string]*bed{
			"JSON": jsonBed(80, display.Drawer{}), "text": textBed(80, display.Drawer{}),
		} {
			b.add(`{"a":"`, false)
			b.text = slices.Grow(b.text, 100_000)
			if b.json != nil {
				b.json.rows = slices.Grow(b.json.rows, 4000)
			} else {
				b.plain.rows, b.plain.marks = slices.Grow(b.plain.rows, 4000), slices.Grow(b.plain.marks, 4000)
			}
			if n := testing.AllocsPerRun(2000, func() { b.add(delta, false) }); n != 0 {
				t.Errorf("%s, %s: %v allocations a delta", kind, name, n)
			}
			if b.len() != len(b.text) || len(b.rows()) < 50 {
				t.Errorf("%s, %s: %d of %d bytes on %d rows", kind, name, b.len(), len(b.text), len(b.rows()))
			}
		}
	}
}
