package panes

import (
	"testing"

	"github.com/muesli/termenv"

	"toolscope/themes"
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
