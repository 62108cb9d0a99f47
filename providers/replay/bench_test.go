package replay_test

import (
	"bytes"
	"fmt"
	"testing"

	"toolscope/providers"
	"toolscope/providers/replay"
)

// large returns arguments of about n bytes: an object with many fields.
func large(n int) string {
	var b bytes.Buffer
	b.WriteString(`{"edits":[`)
	for i := 0; b.Len() < n; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"path":"cmd/main_%d.go","line":%d,"new":"fmt.Println(\"hello\")\n"}`, i, i)
	}
	b.WriteString(`]}`)
	return b.String()
}

// BenchmarkSource measures the collection of facts about 1 MiB of arguments. All previews share these facts.
func BenchmarkSource(b *testing.B) {
	from := providers.TargetOf("openai-chat")
	m := calls(from, large(1<<20))
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	for b.Loop() {
		replay.SourceOfHistory(m, from)
	}
}

// BenchmarkMatrix computes one row of the matrix: all targets with one policy.
func BenchmarkMatrix(b *testing.B) {
	from := providers.TargetOf("openai-chat")
	src := replay.SourceOfHistory(calls(from, large(1<<20)), from)
	for _, name := range []string{"preserve", "repair"} {
		p, _ := replay.FindPolicy(name)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, to := range providers.Targets() {
					src.Preview(to, p)
				}
			}
		})
	}
}
