package panes

import (
	"strings"
	"testing"

	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/themes"
	"toolscope/ui/display"
	"toolscope/ui/screen"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
)

// callOf returns a call whose arguments arrive in these deltas.
func callOf(deltas ...string) *stream.Call {
	var tl stream.Timeline
	tl.Append(stream.Event{Kind: stream.CallOpen, What: &stream.CallInfo{Name: "tool"}})
	for _, d := range deltas {
		tl.Append(stream.Event{Kind: stream.Args, Text: d})
	}
	return tl.Session().Turns[0].Calls[0]
}

// testPen returns a pen with colours.
func testPen(draw display.Drawer) *screen.Pen {
	p := screen.NewPen(themes.Default(true), termenv.TrueColor, draw, false)
	return &p
}

// hostileTexts are texts that must not reach a terminal unchanged, and texts that are wide or have several
// characters in a cell.
var hostileTexts = []string{
	"\x00", "\r\n", "\x1b]0;owned\a", "\u009b31m", "\x90", "\u202e", "\u200d", "\U000e0001", "\U0010fffd", "\xe2\x82", "\xed\xa0\xbd",
	"a" + strings.Repeat("\u0301", 40), "\u0301", "👩\u200d\u200d👧", "1\ufe0f", "🇳", "\u0e33", "👨‍👩‍👧", "日本語", "e\u0301", "نص",
}

// inDeltas divides text into deltas of n bytes. A delta is longer if it would split a character.
func inDeltas(text string, n int) (deltas []string) {
	for len(text) > 0 {
		k := min(n, len(text))
		for k < len(text) && text[k]&0xc0 == 0x80 {
			k++
		}
		deltas, text = append(deltas, text[:k]), text[k:]
	}
	return deltas
}

// TestRowsAreDrawnWhole checks that the text of a row does not depend on its background. A row must never be
// wider than the pane, so that nothing is cut off.
func TestRowsAreDrawnWhole(t *testing.T) {
	for _, draw := range []display.Drawer{{}, {ASCII: true}} {
		for _, text := range hostileTexts {
			args := `{"` + text + `":"` + strings.Repeat("a"+text+`\n`+text, 9) + `"}` + text
			for _, width := range []int{20, 61} {
				for _, raw := range []bool{false, true} {
					d := Document{Raw: raw}
					d.Show(callOf(inDeltas(args, 5)...), width, draw)
					d.Extend(1000)
					checkRows(t, testPen(draw), &d, width)
				}
			}
		}
	}
}

func checkRows(t *testing.T, p *screen.Pen, d *Document, width int) {
	t.Helper()
	size := len(d.Call.Args())
	for n := range d.layoutRows() {
		d.Light, d.Hits, d.tok = Span{}, Hits{}, -1
		place := d.view.Place(n)
		d.At = place
		want := drawRow(p, d, place, false)
		if w := ansi.StringWidth(want); n < len(d.layoutRows())-1 && w > width { // the last row contains the unsettled end
			t.Fatalf("%q: row %d has %d cells of %d: %q", d.Call.Args(), n, w, width, want)
		}
		for k := range 16 {
			off := (k*size/16 + n) % size
			d.Light, d.Hits = Span{off, off + 3}, Hits{at: []int{off / 2, size - off/2}, length: 2}
			d.tok = off % (d.callTokens().Len() + 1)
			if got := drawRow(p, d, place, true); got != want {
				t.Fatalf("%q: row %d with byte %d lit:\n%q\nwithout:\n%q", d.Call.Args(), n, off, got, want)
			}
		}
	}
}

// TestGrounds checks the backgrounds of found, selected, linked and growing text. Where found, selected and linked
// text overlap, the first in this order decides. Other text has no background.
func TestGrounds(t *testing.T) {
	p := testPen(display.Drawer{})
	for _, c := range []struct {
		name, args string
		tok        int
		light      Span
		hits       []int // two bytes long
		want       string
		unfocused  string
	}{
		{name: "nothing", args: `{"ab":"cdef"}`, tok: -1, want: `"ab": "cdef"`, unfocused: `"ab": "cdef"`},
		{name: "a token", args: `{"ab":"cdef"}`, tok: 1, want: `selected("ab"): "cdef"`, unfocused: `"ab": "cdef"`},
		{name: "bytes of a delta", args: `{"ab":"cdef"}`, tok: -1, light: Span{3, 8}, want: `"alinked(b":) linked("c)def"`, unfocused: `"alinked(b":) linked("c)def"`},
		{name: "hits", args: `{"ab":"cdef"}`, tok: -1, hits: []int{2, 8}, want: `"match(ab)": "cmatch(de)f"`, unfocused: `"match(ab)": "cmatch(de)f"`},
		{name: "all of them", args: `{"ab":"cdef"}`, tok: 3, light: Span{2, 9}, hits: []int{8}, want: `"linked(ab":) selected("c)match(de)selected(f")`, unfocused: `"linked(ab":) linked("c)match(de)f"`},
		{name: "an escape", args: `{"a\nb":1}`, tok: -1, light: Span{4, 5}, want: `"a\linked(n)b": 1`, unfocused: `"a\linked(n)b": 1`},
		{name: "what grows", args: `{"ab":"cd`, tok: -1, want: `"ab": growing("cd)█`, unfocused: `"ab": growing("cd)█`},
	} {
		var d Document
		d.Show(callOf(c.args), 60, p.Drawer)
		d.Extend(20)
		d.Light, d.Hits, d.tok, d.At = c.light, Hits{c.hits, 2}, c.tok, 1
		for _, focused := range []bool{true, false} {
			want := c.want
			if !focused {
				want = c.unfocused
			}
			drawRow(p, &d, 1, focused)
			if got := grounds(p); got != want {
				t.Errorf("%s, focused %t: %s, want %s", c.name, focused, got, want)
			}
		}
	}
}

// grounds returns the row that was drawn last, with the backgrounds of its parts.
func grounds(p *screen.Pen) string {
	var out strings.Builder
	under := screen.Bare
	for rest := strings.TrimRight(p.Frame(), " "); rest != ""; {
		text, n := rest, strings.Index(rest, "\x1b[")
		if n == 0 {
			n = strings.IndexByte(rest, 'm') + 1
			seq := rest[:n]
			rest = rest[n:]
			if seq == "\x1b[0m" {
				continue
			}
			text, _, _ = strings.Cut(rest, "\x1b[")
			rest = rest[len(text):]
			if g := groundOf(p, seq); g != under {
				closeGround(&out, under)
				if under = g; g != screen.Bare {
					out.WriteString([...]string{screen.Bare: "", screen.Selected: "selected", screen.Linked: "linked", screen.Match: "match", screen.Growing: "growing"}[g] + "(")
				}
			}
			out.WriteString(text)
			continue
		}
		if n > 0 {
			text = rest[:n]
		}
		closeGround(&out, under)
		under = screen.Bare
		out.WriteString(text)
		rest = rest[len(text):]
	}
	closeGround(&out, under)
	return strings.TrimSpace(out.String())
}

func closeGround(out *strings.Builder, g screen.Surface) {
	if g != screen.Bare {
		out.WriteByte(')')
	}
}

// groundOf returns the background of an escape sequence.
func groundOf(p *screen.Pen, seq string) screen.Surface {
	for g := screen.Bare; g < screen.NumGrounds; g++ {
		for r := screen.Plain; r < screen.NumRoles; r++ {
			if p.Ink.Escape(r, g) == seq {
				return g
			}
		}
	}
	return screen.NumGrounds
}

// TestBelow checks that below the first wrong byte, a note says what was expected there, at every width. The
// sign must be under that byte.
func TestBelow(t *testing.T) {
	all := []string{`{"a":x}`, `{"some key":"and a value" "b":1}`, strings.Repeat(`[`, 40) + `}`, "\xc3\xa9", `{"` + strings.Repeat("long ", 30) + `":tru}`, "{\"日本\":\"x\x01\"}"}
	for n := range 70 {
		all = append(all, `{"`+strings.Repeat("x", n)+`":tru}`)
	}
	for _, args := range all {
		for width := 12; width < 130; width++ {
			d := Document{When: func(int32) display.Text { return display.Lit("1.23 s") }}
			d.Show(callOf(args), width, display.Drawer{})
			d.Extend(1000)
			err := d.Call.Lexer().Err()
			row := d.rowAt(err.Offset)
			n := d.noteOf(row)
			if n == nil || len(n.below) == 0 {
				t.Fatalf("%q at width %d: nothing is said", args, width)
			}
			checkBelow(t, &d, row, n, err)
		}
	}
}

func checkBelow(t *testing.T, d *Document, row int, n *findingNote, err *json.SyntaxError) {
	t.Helper()
	args, width, said := d.Call.Args(), d.layoutWidth(), ""
	for _, below := range n.below {
		if w := below.indent + below.text.Width() + below.place.Width(); w > width+1 || below.indent < 0 {
			t.Fatalf("%q: %q has %d cells of %d", args, below.text, w, width)
		}
		said += below.text.String() + below.place.String() + " "
	}
	joined := strings.ReplaceAll(said, " ", "")
	words := "^ byte " + screen.Count(err.Offset).String() + ", delta 1"
	if width < 60 && !strings.Contains(said, "delta") { // the callout has the other facts
		if words = "^"; strings.Contains(said, "byte") {
			words = "^ byte " + screen.Count(err.Offset).String()
		}
	}
	for _, word := range strings.Fields(words) {
		if !strings.Contains(joined, word) {
			t.Fatalf("%q at width %d: %q does not say %q", args, width, said, word)
		}
	}
	if full := strings.ReplaceAll(err.InShort(), " ", ""); !strings.Contains(joined, full) && (width > 110 || !strings.Contains(joined, "notJSON")) {
		t.Fatalf("%q at width %d: %q says neither %q nor what it is", args, width, said, err.InShort())
	}
	first := n.below[0]
	at := strings.LastIndex(first.text.String(), "^")
	if strings.HasPrefix(first.text.String(), "^") {
		at = 0
	}
	r := d.layoutRows()[row]
	if col := first.indent + display.Clean(first.text.String()[:at]).Width(); col != min(int(r.Indent)+d.cellsBefore(r, err.Offset), width-1) {
		t.Fatalf("%q at width %d: the sign is in column %d", args, width, col)
	}
}

// drawRow returns a row as it is drawn if there is enough room.
func drawRow(p *screen.Pen, d *Document, n int, focused bool) string {
	p.Reset()
	p.Field(1000)
	d.Draw(p, n, focused)
	return strings.TrimRight(ansi.Strip(p.Frame()), " ")
}
