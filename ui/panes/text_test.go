package panes

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"toolscope/themes"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// TestHighlightKeepsText checks that with any lexer, each byte has one colour or none, in order.
func TestHighlightKeepsText(t *testing.T) {
	ink := screen.NewPaints(themes.Default(true), termenv.Ascii, false)
	for _, content := range []string{"", "\n", "a", "a\n", "\n\n", "a\r\nb\r", "a    b\n\n  c", "日\n本\u202e\n", "x\x00\x1b\n", "```\n", "e\u0301\n\u0301", "\xff"} {
		for _, file := range []string{"a.go", "a.py", "a.md", "a.json", "a.sh", "a.html", "a.php", "a.diff", "a.rst", "a.yaml", "a.c", "a.txt"} {
			_, spans := highlightText(content, ContentHint{File: file}, ink)
			at := 0
			for _, s := range spans {
				if s.end < at || s.end > len(content) {
					t.Fatalf("%q as %s: %v", content, file, spans)
				}
				at = s.end
			}
		}
	}
	text := "package a\n\nfunc f() {}\n"
	kind, spans := highlightText(text, ContentHint{File: "a.go"}, screen.NewPaints(themes.Default(true), 0, false))
	if kind != "Go" || len(spans) < 5 || text[:spans[0].end] != "package" || spans[0].on == (screen.Paint{}) || spans[len(spans)-1].end != len(text) {
		t.Errorf("%s %v", kind, spans)
	}
}

// TestSheet checks that all bytes except white space are drawn exactly once, whichever bytes are marked.
func TestSheet(t *testing.T) {
	texts := append([]string{`{"a":[1,{"b":"c\nd\u00e9"}],"e":{}}` + "\n", strings.Repeat(`{"long":"`+strings.Repeat("text ", 50)+`"}`, 3)}, argumentTexts...)
	for _, text := range texts {
		for _, raw := range []bool{false, true} {
			for _, width := range []int{13, 40, 200} {
				var s TextSheet
				marks := []Span{{1, 3}, {5, 6}, {8, 30}, {40, 41}}
				for i := range marks {
					marks[i] = Span{min(marks[i].Start, len(text)), min(marks[i].End, len(text))}
				}
				s.Add(NewBlock(display.Lit("one"), []byte(text), raw, marks, width, display.Drawer{}))
				s.Add(NewBlock(display.Text{}, []byte(text), raw, nil, width, display.Drawer{}))
				p := *testPen(display.Drawer{})
				var drawn strings.Builder
				for row := range s.Rows {
					p.Reset()
					p.Field(200)
					s.Draw(&p, row, screen.Removed)
					if 200-p.Left > max(width, 12+display.MaxCells) && row > 0 {
						t.Errorf("%q, %d: row %d has %d cells", text, width, row, 200-p.Left)
					}
					if row > 0 {
						drawn.WriteString(ansi.Strip(p.Frame()))
					}
				}
				want := display.Clean(strings.Join(strings.Fields(text), ""))
				if got := strings.NewReplacer(" ", "", "␊", "").Replace(drawn.String()); got != display.Join(want, want).String() {
					t.Errorf("%q raw %t, %d: drawn\n%s, want\n%s", text, raw, width, got, display.Join(want, want))
				}
			}
		}
	}
}

// TestLookRow checks that the row of the byte to show first is found, even if captions precede it.
func TestLookRow(t *testing.T) {
	var s TextSheet
	if s.LookRow() != 0 {
		t.Error("of nothing")
	}
	for _, text := range []string{"{}", `{"a":1,"b":2}`, ""} {
		s.Add(NewBlock(display.Lit("caption"), []byte(text), false, nil, 40, display.Drawer{}))
	}
	for _, c := range []struct{ look, at, want int }{{0, 0, 1}, {1, 0, 3}, {1, 8, 5}, {1, 12, 6}, {1, 99, 6}, {2, 0, 8}} {
		if s.Look, s.LookAt = c.look, c.at; s.LookRow() != c.want {
			t.Errorf("byte %d of block %d is on row %d, want %d", c.at, c.look, s.LookRow(), c.want)
		}
	}
}
