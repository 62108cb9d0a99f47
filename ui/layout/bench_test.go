package layout

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/stream/json"
	"toolscope/ui/display"
)

// sample returns about size bytes of arguments: mostly one string of source code, and a few small fields.
func sample(size int) []byte {
	line := `\tif err := step(ctx, \"name\"); err != nil { return fmt.Errorf(\"読み込み: %w\", err) }\n`
	b := []byte(`{"path":"internal/steps.go","content":"` + strings.Repeat(line, size*7/10/len(line)) + `","edits":[`)
	for sep := ""; len(b) < size; sep = "," {
		b = fmt.Appendf(b, `%s{"line":%d,"keep":true,"tag":"t%d"}`, sep, len(b), len(b)%100)
	}
	return append(b, `]}`...)
}

// BenchmarkJSON lays out a text 14 bytes at a time, as in a stream, and all at once.
func BenchmarkJSON(b *testing.B) {
	for _, size := range []int{32 << 10, 1 << 20} {
		text := sample(size)
		for _, step := range []int{14, len(text)} {
			b.Run(fmt.Sprintf("%dk/by%d", size>>10, step), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					var lex json.Lexer
					d := NewJSON(100, display.Drawer{})
					for at := 0; at < len(text); {
						next := min(at+step, len(text))
						lex.Write(text[at:next])
						d.Extend(text[:next], &lex, false)
						at = next
					}
				}
			})
		}
	}
}

// BenchmarkText lays out raw text 14 bytes at a time, with a mark at each delta.
func BenchmarkText(b *testing.B) {
	text := sample(1 << 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		d := NewText(100, display.Drawer{})
		for at := 0; at < len(text); at += 14 {
			d.Mark(at)
			d.Extend(text[:min(at+14, len(text))], false)
		}
	}
}
