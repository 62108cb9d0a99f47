package display

import (
	"strings"
	"testing"
)

var benchTexts = []struct{ name, text string }{
	{"ascii", `{"command":"ls -la /tmp && echo done","timeout":120,"cwd":"/home/user"} `},
	{"cjk", "日本語の文章です。これは長い文字列で、全角文字を含みます。"},
	{"mixed", `{"名前":"Ærø","emoji":"👩🏽‍💻","text":"Привет, мир"} `},
	{"hostile", "a\x1b[31m\u202e\u200b\xff\u009be\u0301"},
}

func BenchmarkAppendClean(b *testing.B) {
	for _, c := range benchTexts {
		b.Run(c.name, func(b *testing.B) {
			src := []byte(strings.Repeat(c.text, 1<<16/len(c.text)))
			dst := Drawer{}.AppendClean(nil, src)
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				dst = Drawer{}.AppendClean(dst[:0], src)
			}
		})
	}
}

func BenchmarkMeasure(b *testing.B) {
	for _, c := range benchTexts[1:] {
		b.Run(c.name, func(b *testing.B) {
			src := []byte(strings.Repeat(c.text, 1<<16/len(c.text)))
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				for rest := src; len(rest) > 0; {
					n := PlainLen(rest)
					if n == 0 {
						n, _ = Measure(rest)
					}
					rest = rest[n:]
				}
			}
		})
	}
}
