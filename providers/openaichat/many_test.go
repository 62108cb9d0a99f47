package openaichat

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// TestManyCalls checks that the cost of a chunk doesn't depend on the number of earlier calls and choices,
// even if the provider omits ids or indexes.
func TestManyCalls(t *testing.T) {
	for name, chunk := range map[string]string{
		"as documented":          `{"index":0,"delta":{"tool_calls":[{"index":%d,"id":"c_%d","function":{"name":"f","arguments":"{}"}}]}}`,
		"no index":               `{"index":0,"delta":{"tool_calls":[{"id":"c_%d","function":{"name":"f","arguments":"{}"}}]}}`,
		"neither index nor id":   `{"index":0,"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}}`,
		"one index for all":      `{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c_%d","function":{"name":"f","arguments":"{}"}}]}}`,
		"a finish reason each":   `{"index":0,"delta":{"tool_calls":[{"index":%d,"id":"c_%d","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}`,
		"a choice each":          `{"index":%d,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]}}`,
		"a finished choice each": `{"index":%d,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}`,
	} {
		t.Run(name, func(t *testing.T) {
			opened := 0
			d := newDecoder(protocol.NewOut(func(e stream.Event) {
				if e.Kind == stream.CallOpen {
					opened++
				}
			})).(*decoder)
			const n = 40
			for i := range n {
				data := fmt.Sprintf(`{"id":"x%d","object":"chat.completion.chunk","choices":[%s]}`, i, strings.ReplaceAll(chunk, "%d", strconv.Itoa(i)))
				if err := d.Frame(stream.Frame{Data: []byte(data)}); err != nil {
					t.Fatal(err)
				}
				for k := range len(d.choices) - 1 {
					d.choices[k] = nil // code that reads this choice after this point panics
				}
				last := d.choices[len(d.choices)-1]
				for k := range len(last.calls) - 1 {
					last.calls[k] = nil
					if name == "a finish reason each" && len(last.open) > 0 {
						t.Fatalf("%d calls wait for the finish reason that came", len(last.open))
					}
				}
			}
			if opened != n {
				t.Errorf("%d calls, want %d", opened, n)
			}
		})
	}
}
