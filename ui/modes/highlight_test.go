package modes

import (
	"testing"

	"github.com/muesli/termenv"

	"toolscope/themes"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// TestHighlightKeepsText: whatever the lexer, the lines stay what they are.
func TestHighlightKeepsText(t *testing.T) {
	ink := screen.NewPaints(themes.Default(true), termenv.Ascii, false)
	for _, content := range []string{"", "\n", "a", "a\n", "\n\n", "a\r\nb\r", "a\tb\n\n  c", "日\n本\u202e\n", "x\x00\x1b\n", "```\n", "e\u0301\n\u0301", "\xff"} {
		for _, file := range []string{"a.go", "a.py", "a.md", "a.json", "a.sh", "a.html", "a.php", "a.diff", "a.rst", "a.yaml", "a.c", "a.txt"} {
			_, lines := highlight(content, panes.Hint{File: file}, ink, display.Drawer{})
			plain := plainLines(content, display.Drawer{})
			if len(lines) != len(plain) {
				t.Fatalf("%q as %s has %d lines, want %d", content, file, len(lines), len(plain))
			}
			for i := range lines {
				if lines[i].text() != plain[i].text() {
					t.Fatalf("%q as %s: line %d is %q", content, file, i, lines[i].text())
				}
			}
		}
	}
	kind, lines := highlight("package a\n\nfunc f() {}\n", panes.Hint{File: "a.go"}, screen.NewPaints(themes.Default(true), 0, false), display.Drawer{})
	if kind != "Go" || len(lines) != 4 || len(lines[0]) < 2 || lines[0][0].on == (screen.Paint{}) {
		t.Errorf("%s %v", kind, lines)
	}
}
