package providers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"toolscope/stream"
)

// A longCall is the wire of one response that contains one call with many argument bytes. The frames are like
// those of a provider.
type longCall struct {
	wire   []byte
	ends   []int // ends of the frames
	deltas int
	args   []byte
}

// newLongCall returns the wire of a call with about size argument bytes, in deltas of 8 to 20 bytes.
func newLongCall(protocol string, size int) (c longCall) {
	head, delta, tail := chatHead, chatDelta, chatTail
	rest := longArgs(size)
	c.args = rest
	switch protocol {
	case "anthropic":
		head, delta, tail = anthropicHead, anthropicDelta, anthropicTail
	case "gemini": // Gemini's deltas are the content of a string, not the text of the object
		head, delta, tail = geminiHead, geminiDelta, geminiTail
		text, err := json.Marshal(map[string]string{"content": string(rest)})
		if err != nil {
			panic(err)
		}
		c.args = text
	}
	add := func(frame string) {
		c.wire = append(c.wire, frame...)
		c.ends = append(c.ends, len(c.wire))
	}
	for _, f := range head {
		add(f)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for ; len(rest) > 0; c.deltas++ {
		n := min(8+r.IntN(13), len(rest))
		lit, err := json.Marshal(string(rest[:n])) // ASCII, so every cut is valid text
		if err != nil {
			panic(err)
		}
		add(fmt.Sprintf(delta, lit))
		rest = rest[n:]
	}
	for _, f := range tail {
		add(f)
	}
	return c
}

// longArgs returns arguments like those that models write: an object with a file that contains a lot of code.
func longArgs(size int) []byte {
	text := []byte(`{"path":"src/main.go","overwrite":true,"mode":420,"content":"`)
	for n := 0; len(text) < size-2; n++ {
		text = fmt.Appendf(text, `func f%d(x int) string {\n\treturn fmt.Sprint(\"n is \", x*%d+1)\n}\n\n`, n, n%97)
	}
	return append(text, `"}`...)
}

var (
	anthropicHead = []string{
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[],\"usage\":{\"input_tokens\":100,\"output_tokens\":1}}}\n\n",
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_01A\",\"name\":\"write_file\",\"input\":{}}}\n\n",
	}
	anthropicDelta = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":%s}}\n\n"
	anthropicTail  = []string{
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":31}}\n\n",
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	}
)

const chatChunk = "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1754000000,\"model\":\"gpt-x\",\"service_tier\":\"default\",\"system_fingerprint\":\"fp_1\",\"choices\":[{\"index\":0,\"delta\":%s,\"logprobs\":null,\"finish_reason\":%s}],\"usage\":null,\"obfuscation\":\"Xy1aB\"}\n\n"

var (
	chatHead  = []string{fmt.Sprintf(chatChunk, `{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"write_file","arguments":""}}],"refusal":null}`, "null")}
	chatDelta = fmt.Sprintf(chatChunk, `{"tool_calls":[{"index":0,"function":{"arguments":%s}}]}`, "null")
	chatTail  = []string{fmt.Sprintf(chatChunk, "{}", `"tool_calls"`), "data: [DONE]\n\n"}
)

const geminiChunk = "data: {\"candidates\":[{\"content\":{\"parts\":[%s],\"role\":\"model\"}%s}],\"usageMetadata\":{\"promptTokenCount\":100,\"trafficType\":\"ON_DEMAND\"},\"modelVersion\":\"gemini-x\",\"responseId\":\"r1\"}\r\n\r\n"

var (
	geminiHead = []string{
		fmt.Sprintf(geminiChunk, `{"functionCall":{"name":"write_file","willContinue":true}}`, ""),
	}
	geminiDelta = fmt.Sprintf(geminiChunk, `{"functionCall":{"partialArgs":[{"jsonPath":"$.content","stringValue":%s,"willContinue":true}],"willContinue":true}}`, "")
	geminiTail  = []string{
		fmt.Sprintf(geminiChunk, `{"functionCall":{"partialArgs":[{"jsonPath":"$.content","stringValue":""}],"willContinue":true}}`, ""),
		fmt.Sprintf(geminiChunk, `{"functionCall":{}}`, ""),
		fmt.Sprintf(geminiChunk, `{"text":""}`, `,"finishReason":"STOP"`),
	}
)

// longCalls are the protocols that newLongCall supports.
var longCalls = []string{"anthropic", "openai-chat", "gemini"}

// write writes the frames with the indexes from ≤ n < to. Each frame is one record, as in a live stream.
func (c longCall) write(in *Inspector, from, to int) {
	at := 0
	if from > 0 {
		at = c.ends[from-1]
	}
	for _, end := range c.ends[from:to] {
		in.Write(stream.Record{Data: c.wire[at:end]})
		at = end
	}
}

// follow inspects the complete call.
func (c longCall) follow() *Inspector {
	in := new(Inspector)
	c.write(in, 0, len(c.ends))
	in.Close()
	return in
}

func TestLongCall(t *testing.T) {
	for _, protocol := range longCalls {
		c := newLongCall(protocol, 32<<10)
		in := c.follow()
		call := in.Session().Turns[0].Calls[0]
		if !bytes.Equal(call.Args(), c.args) || call.Status() != stream.Complete || len(loud(in.Session())) > 0 {
			t.Errorf("%s: %d bytes of %d, %s", protocol, len(call.Args()), len(c.args), call.Status())
		}
	}
}

// BenchmarkPipeline reads a call from its bytes to its final state.
func BenchmarkPipeline(b *testing.B) {
	for _, protocol := range longCalls {
		for _, size := range []int{32 << 10, 1 << 20, 8 << 20} {
			c := newLongCall(protocol, size)
			b.Run(fmt.Sprintf("%s/%dKiB", protocol, size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(c.wire)))
				b.ReportAllocs()
				before := allocated()
				for b.Loop() {
					if s := c.follow().Session().Turns[0].Calls[0].Status(); s != stream.Complete {
						b.Fatal(s)
					}
				}
				after := allocated()
				per := func(n uint64) float64 { return float64(n) / float64(b.N) / float64(c.deltas) }
				b.ReportMetric(per(uint64(b.Elapsed().Nanoseconds())), "ns/delta")
				b.ReportMetric(per(after.Mallocs-before.Mallocs), "allocs/delta")
				b.ReportMetric(per(after.TotalAlloc-before.TotalAlloc), "B/delta")
				b.ReportMetric(c.retained(), "retained-B/event")
			})
		}
	}
}

func allocated() (m runtime.MemStats) {
	runtime.ReadMemStats(&m)
	return m
}

// retained returns the number of bytes that the program keeps for each event, without the bytes of the wire.
func (c longCall) retained() float64 {
	runtime.GC()
	before := allocated().HeapAlloc
	in := c.follow()
	runtime.GC()
	kept := float64(allocated().HeapAlloc) - float64(before) - float64(len(c.wire))
	events := in.Timeline.Len()
	runtime.KeepAlive(in)
	return kept / float64(events)
}

// TestAllocations checks that a delta needs no allocation of its own, once the first deltas have allocated the
// blocks.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const limit = 0.03 // allocations per delta: memory for bytes, events, tokens and payloads is allocated in blocks
	for _, protocol := range longCalls {
		c := newLongCall(protocol, 1<<20)
		in := new(Inspector)
		warm := len(c.ends) / 4
		c.write(in, 0, warm)
		before := allocated().Mallocs
		c.write(in, warm, len(c.ends))
		got := float64(allocated().Mallocs-before) / float64(len(c.ends)-warm)
		if got > limit {
			t.Errorf("%s: %.3f allocations a delta, want at most %.3f", protocol, got, limit)
		}
	}
}
