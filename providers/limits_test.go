package providers

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"toolscope/stream"
)

// A bomb is a body with n elements of a kind that needs memory: events, calls, findings, turns or fields.
type bomb struct {
	name string
	body func(n int) string
}

// sseBomb returns a bomb of server-sent events: first, followed by n events. The parameter each is the format of an
// event, in which the number of the event replaces each #.
func sseBomb(name, first, each string) bomb {
	return bomb{name, func(n int) string {
		var b strings.Builder
		if first != "" {
			b.WriteString("data: " + first + "\n\n")
		}
		for i := range n {
			b.WriteString("data: " + numbered(each, i) + "\n\n")
		}
		return b.String()
	}}
}

// jsonBomb returns a bomb in one JSON text: n elements between head and tail. The parameter each is the format of an
// element.
func jsonBomb(name, head, each, tail string) bomb {
	return bomb{name, func(n int) string {
		var b strings.Builder
		b.WriteString(head)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(numbered(each, i))
		}
		return b.String() + tail
	}}
}

func numbered(format string, i int) string { return strings.ReplaceAll(format, "#", fmt.Sprint(i)) }

const (
	messageStart = `{"type":"message_start","message":{"id":"m","model":"c"}}`
	toolStart    = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"n"}}`
	messageHead  = `{"type":"message","role":"assistant","content":[`
	choicesHead  = `{"id":"c","object":"chat.completion","choices":[`
)

var bombs = []bomb{
	sseBomb("pings", messageStart, `{"type":"ping"}`),
	sseBomb("unknown events", messageStart, `{"type":"x#"}`),
	sseBomb("text", messageStart, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}`),
	sseBomb("signatures", messageStart, `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}`),
	sseBomb("usage", messageStart, `{"type":"message_delta","usage":{"output_tokens":#}}`),
	sseBomb("finish reasons", messageStart, `{"type":"message_delta","delta":{"stop_reason":"r#"}}`),
	sseBomb("results", messageStart, `{"type":"content_block_start","index":#,"content_block":{"type":"web_search_tool_result","tool_use_id":"x#"}}`),
	sseBomb("unopened calls", "", `{"type":"content_block_delta","index":#,"delta":{"type":"input_json_delta","partial_json":"x"}}`),
	sseBomb("unopened ends", messageStart, `{"type":"content_block_stop","index":#}`),
	sseBomb("errors", messageStart, `{"type":"error","error":{"message":"e#"}}`),
	sseBomb("broken frames", messageStart, `{#`),
	sseBomb("turns", "", `{"type":"message_start","message":{"id":"m#"}}`),
	sseBomb("calls of Anthropic", messageStart, `{"type":"content_block_start","index":#,"content_block":{"type":"tool_use","id":"t#","name":"n"}}`),
	sseBomb("calls of OpenAI chat", "", `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":#,"id":"c#","function":{"name":"n"}}]}}]}`),
	sseBomb("choices of OpenAI chat", "", `{"id":"c","object":"chat.completion.chunk","choices":[{"index":#,"delta":{"content":"x"}}]}`),
	sseBomb("calls of Responses", "", `{"type":"response.output_item.added","output_index":#,"item":{"type":"function_call","id":"f#","call_id":"c#","name":"n"}}`),
	sseBomb("unopened calls of Responses", "", `{"type":"response.function_call_arguments.delta","output_index":#,"item_id":"f#","delta":"x"}`),
	sseBomb("items of Responses", "", `{"type":"response.output_item.added","output_index":#,"item":{"type":"reasoning","id":"f#"}}`),
	sseBomb("calls of Gemini", "", `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"n"}}],"role":"model"}}]}`),
	sseBomb("calls of Cohere", "", `{"type":"tool-call-start","index":#,"delta":{"message":{"tool_calls":{"id":"c#","type":"function","function":{"name":"n"}}}}}`),
	sseBomb("calls of AG-UI", `{"type":"RUN_STARTED","threadId":"t1","runId":"r1"}`, `{"type":"TOOL_CALL_START","toolCallId":"c#","toolCallName":"n"}`),
	sseBomb("calls of the AI SDK", `{"type":"start","messageId":"m"}`, `{"type":"tool-input-start","toolCallId":"c#","toolName":"n"}`),
	jsonBomb("calls in a body of Anthropic", messageHead, `{"type":"tool_use","input":{}}`, `]}`),
	jsonBomb("calls in a body of OpenAI chat", choicesHead+`{"index":0,"message":{"role":"assistant","tool_calls":[`, `{"id":"a"}`, `]}}]}`),
	jsonBomb("choices in a body of OpenAI chat", choicesHead, `{"index":#}`, `]}`),
	jsonBomb("calls in a body of Responses", `{"object":"response","status":"completed","output":[`, `{"type":"function_call"}`, `]}`),
	jsonBomb("calls in a body of Gemini", `{"candidates":[{"content":{"parts":[`, `{"functionCall":{"name":"n"}}`, `]}}]}`),
	jsonBomb("members of arguments", messageHead+`{"type":"tool_use","id":"t","name":"n","input":{`, `"k#":1`, `}}]}`),
	{"depth of arguments", func(n int) string {
		return "data: " + messageStart + "\n\ndata: " + toolStart + "\n\n" +
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"` + strings.Repeat("[", n) + "\"}}\n\n"
	}},
}

// inspectBody inspects a response in records of 32 KiB, like those of a connection. It keeps little of turns
// that have ended.
func inspectBody(body string) *Inspector {
	in := new(Inspector)
	in.Keep(Retention{Bytes: 1 << 20, Rows: 100})
	for len(body) > 0 {
		n := min(len(body), 32<<10)
		in.Write(stream.Record{Data: []byte(body[:n])})
		in.MakeRoom()
		body = body[n:]
	}
	in.Close()
	return in
}

// TestBombs doubles each bomb beyond the limits on calls and on findings. The second half must not use more than
// three times its size in memory, because nothing in it is kept in detail.
func TestBombs(t *testing.T) {
	if raceEnabled || os.Getenv("TOOLSCOPE_LONG") == "" {
		t.Skip("measured with TOOLSCOPE_LONG=1, and not with the race detector")
	}
	const n = stream.MaxCalls + stream.MaxCalls/8
	for _, b := range bombs {
		size, kept := [2]int{}, [2]int{}
		for i := range 2 {
			body := b.body(n * (1 + i))
			size[i] = len(body)
			runtime.GC()
			before := allocated().HeapAlloc
			in := inspectBody(body)
			runtime.GC()
			kept[i] = int(allocated().HeapAlloc) - int(before)
			runtime.KeepAlive(in)
			runtime.KeepAlive(body)
		}
		grown, allowed := kept[1]-kept[0], 3*(size[1]-size[0])+1<<20
		t.Logf("%-32s %6d kB, then %6d kB for %6d kB more", b.name, kept[0]>>10, grown>>10, (size[1]-size[0])>>10)
		if grown > allowed {
			t.Errorf("%s: %d bytes more for %d bytes more of the body, want at most %d", b.name, grown, size[1]-size[0], allowed)
		}
	}
}

// TestCountedOnly checks that a full turn reports how many further calls were only counted.
func TestCountedOnly(t *testing.T) {
	const more = 5
	for _, b := range bombs {
		if !strings.HasPrefix(b.name, "calls ") || os.Getenv("TOOLSCOPE_LONG") == "" && !strings.Contains(b.name, "OpenAI") {
			continue
		}
		t.Run(b.name, func(t *testing.T) {
			for i, n := range []int{stream.MaxCalls, stream.MaxCalls + more} {
				turn := inspectBody(b.body(n)).Session().Turns[0]
				if len(turn.Calls) != stream.MaxCalls {
					t.Fatalf("%d calls of %d", len(turn.Calls), n)
				}
				var got string
				for _, f := range turn.Findings {
					if f.Code == "COUNTED_ONLY" {
						got += f.Message
					}
				}
				if want := []string{"", "toolscope keeps at most 65535 calls per turn, and only counts the others: 5 calls"}[i]; !strings.HasPrefix(got, want) || i == 0 && got != "" {
					t.Errorf("%d calls: %q, want %q", n, got, want)
				}
			}
		})
	}
}
