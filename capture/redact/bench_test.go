package redact

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/capture"
)

const proseLine = "The quick brown fox asks whether they have enough tokens, e.g. for high risk tasks. "

// benchBodies returns bodies of about a megabyte. The last three are hostile.
func benchBodies() map[string]string {
	fill := func(piece func(i int) string) string {
		var b strings.Builder
		for i := 0; b.Len() < 1<<20; i++ {
			b.WriteString(piece(i))
		}
		return b.String()
	}
	again := func(s string) string { return strings.Repeat(s, 1<<20/len(s)) }
	return map[string]string{
		"sse": fill(func(i int) string {
			return fmt.Sprintf("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"some tokens of the %d answers \"}}\n\n", i)
		}),
		"texts": fill(func(i int) string {
			return fmt.Sprintf("data: {\"index\":%d,\"delta\":{\"text\":\"some tokens of the %d answers sk-\"}}\n\n", i%2000, i)
		}),
		"string": `{"text":"` + again(proseLine) + `"}`, "text": again(proseLine), "code": again("\tif err := json.Unmarshal(data, &v); err != nil { return \\\"a: %w\\\" }\\n"),
		"base64":     again("iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8"),
		"beginnings": again("sk-ant-gsk_hf_AKIA.eyJ://a:sk-"), "slashes": again(`\\\\`), "names": again("a_token=b_secret:c_password='"),
	}
}

func BenchmarkClean(b *testing.B) {
	for name, body := range benchBodies() {
		b.Run(name, func(b *testing.B) { benchmark(b, redactor(), body) })
	}
	r := redactor()
	for i := range 4000 {
		r.learnParts(sample(fmt.Sprint("{32}b", i)), "cookie", false)
	}
	b.Run("text, 4000 values", func(b *testing.B) { benchmark(b, r, strings.Repeat(proseLine, 1<<20/len(proseLine))) })
}

func benchmark(b *testing.B, r *Redactor, body string) {
	const size = 4096
	b.SetBytes(int64(len(body) / size * size))
	b.ReportAllocs()
	for b.Loop() {
		for at := 0; at+size <= len(body); at += size {
			r.Take(capture.Record{Exchange: 1, Data: []byte(body[at : at+size])})
		}
		r.Take(capture.Record{Exchange: 1, End: capture.EndEOF})
	}
}
