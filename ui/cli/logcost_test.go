package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolscope/capture"
	"toolscope/capture/formats"
	"toolscope/providers"
	"toolscope/providers/price"
)

// longStream returns a stream with the given number of short deltas.
func longStream(deltas int) string {
	var b strings.Builder
	event := func(kind, rest string) {
		fmt.Fprintf(&b, "event: %s\ndata: {\"type\":\"%s\"%s}\n\n", kind, kind, rest)
	}
	event("message_start", `,"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}`)
	event("content_block_start", `,"index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"write_file","input":{}}`)
	event("content_block_delta", `,"index":0,"delta":{"type":"input_json_delta","partial_json":"{\"text\":\""}`)
	for i := range deltas {
		event("content_block_delta", fmt.Sprintf(`,"index":0,"delta":{"type":"input_json_delta","partial_json":"piece %d of what is written, which goes on, and on, and on "}`, i))
	}
	event("content_block_delta", `,"index":0,"delta":{"type":"input_json_delta","partial_json":"\"}"}`)
	event("content_block_stop", `,"index":0`)
	event("message_delta", `,"delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}`)
	event("message_stop", "")
	return b.String()
}

// TestReleasedBytes overwrites the data of each record when it is released, and checks that the output is the same.
func TestReleasedBytes(t *testing.T) {
	body, packed := longStream(10_000), new(strings.Builder)
	packed.WriteString(`{"toolscope":1}` + "\n" + `{"t":0,"x":1,"side":"request","head":{"method":"POST","url":"https://api.anthropic.com/v1/messages"},"d":"{\"tools\":[]}"}` + "\n")
	for n, event := range strings.SplitAfter(body, "\n\n") {
		data, _ := json.Marshal(event)
		fmt.Fprintf(packed, `{"t":%d,"x":1,"d":%s}`+"\n", n+1, data)
	}
	for name, text := range map[string]string{"sse": body, "tsc": packed.String()} {
		path := saved(t, name, text)
		var outputs [2]bytes.Buffer
		released := 0
		for i := range outputs {
			src, err := capture.Open(t.Context(), path, capture.Options{Lend: i > 0})
			if err != nil {
				t.Fatal(err)
			}
			lent := mapSource(capture.ReadAhead(src), func(r *capture.Record) {
				if release, data := r.Release, r.Data; release != nil {
					r.Release = func() {
						released += len(data)
						clear(data)
						release()
					}
				}
			})
			in := new(providers.Inspector)
			q := newTurnPrinter(in, path, &jsonPrinter{lineWriter: lineWriter{to: &outputs[i]}, prices: price.Embedded()})
			if err := inspectSource(lent, in, func() bool { return q.printEnded(false) == nil }); err != nil || q.printEnded(true) != nil {
				t.Fatal(err)
			}
		}
		if outputs[0].Len() == 0 || outputs[0].String() != outputs[1].String() || released < len(body)/2 {
			t.Errorf("%s: %d bytes of output, %d with %d bytes released", name, outputs[0].Len(), outputs[1].Len(), released)
		}
	}
}

// BenchmarkUnwrapping decodes one stream to its calls, on its own and in logs, as print does. The rate counts the
// stream's own bytes. The difference is the cost of unwrapping a log.
func BenchmarkUnwrapping(b *testing.B) {
	body := longStream(20_000)
	read := func(name, text string) {
		path := saved(b, "log", text)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				src, err := capture.Open(b.Context(), path, capture.Options{Formats: formats.All, GuessPayload: looksLike, ReadOnce: true, AllowChunks: true})
				if err != nil {
					b.Fatal(err)
				}
				in := new(providers.Inspector)
				in.Keep(providers.Retention{Bytes: maxPrintedBytes, Rows: maxPrintedRows, ReadOnce: true})
				if err := inspectSource(capture.ReadAhead(src), in, func() bool { return true }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	read("bare", body)
	for _, s := range logShapes {
		switch s.name {
		case "iso, level, request in brackets", "docker json-file, bare lines", "Kubernetes CRI, in parts", "journald json", "pino", "JSONL with a chunk":
			read(s.name, logOf(s, false, logged{body, "req_1", 4211}))
		}
	}
}

// BenchmarkCounting counts the responses in a log, and compares the cost with that of decoding their calls. The rate
// counts the bytes of the log.
func BenchmarkCounting(b *testing.B) {
	text := strings.Repeat(logOf(logShapes[0], false, logged{longStream(100), "req_1", 4211}), 500)
	path := saved(b, "log", text)
	b.Run("count", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if n, err := capture.Survey(b.Context(), path, formats.Marks(), 1); err != nil || n.Responses != 500 {
				b.Fatal(n, err)
			}
		}
	})
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			src, err := capture.Open(b.Context(), path, capture.Options{Formats: formats.All, GuessPayload: looksLike, ReadOnce: true, AllowChunks: true})
			if err != nil {
				b.Fatal(err)
			}
			n := new(turnCounter)
			q := newTurnPrinter(new(providers.Inspector), path, n)
			if err := inspectSource(capture.ReadAhead(src), q.in, func() bool { return q.printEnded(false) == nil }); err != nil || q.printEnded(true) != nil || n.turns != 500 {
				b.Fatal(n, err)
			}
		}
	})
}
