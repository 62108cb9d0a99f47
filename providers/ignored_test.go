package providers

import (
	"strings"
	"testing"

	"toolscope/stream"
)

// TestFramesIgnored checks that toolscope reports when a protocol claimed a stream but doesn't interpret much of it.
func TestFramesIgnored(t *testing.T) {
	const start, text, end = `{"type":"message_start","message":{"id":"m","content":[]}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}`, `{"type":"message_stop"}`
	for _, test := range []struct {
		what   string
		forced bool
		frames []string
		want   string
	}{
		{"a complete message", false, []string{start, text, end}, ""},
		{"one unknown frame", false, []string{start, text, `{"type":"brand_new"}`, end}, ""},
		{"few frames", false, []string{start, `{"type":"a"}`, `{"type":"b"}`}, ""},
		{"half of the frames", false, []string{start, `{"type":"a"}`, `{"type":"a"}`, end}, "warn: toolscope doesn't recognise 2 of 4 frames in Anthropic Messages: a ×2"},
		{"a frame about a tool", false, []string{start, text, `{"type":"tool_preview"}`, end}, "warn: toolscope doesn't recognise 1 of 4 frames in Anthropic Messages: tool_preview ×1"},
		{"a key about a call", false, []string{start, text, `{"type":"a","call_id":"c"}`, end}, "warn: toolscope doesn't recognise 1 of 4 frames in Anthropic Messages: a ×1"},
		{"a delta about a tool", false, []string{start, `{"type":"content_block_delta","index":0,"delta":{"type":"tool_delta"}}`, end},
			"warn: toolscope doesn't recognise 1 of 3 frames in Anthropic Messages: content_block_delta ×1"},
		{"the agent of a line", false, []string{start, text, `{"type":"a","parent_tool_use_id":null}`, end}, ""},
		{"pings", false, []string{start, `{"type":"ping"}`, `{"type":"ping"}`, `{"type":"ping"}`, end}, ""},
		{"a forced protocol", true, []string{`{"a":1}`, `{"type":"a"}`, `{"b":1}`, `{"c":1}`}, "info: toolscope doesn't recognise 4 of 4 frames in Anthropic Messages: a ×2, b ×1, c ×1"},
		{"many names", true, []string{`{"a":1}`, `{"b":1}`, `{"c":1}`, `{"d":1}`, `{"e":1}`, `{"f":1}`, `{"g":1}`, `{"h":1}`},
			"info: toolscope doesn't recognise 8 of 8 frames in Anthropic Messages: a ×1, b ×1, c ×1, d ×1, e ×1, f ×1, others ×2"},
		{"an unknown protocol", false, []string{`{"a":1}`, `{"b":1}`, `{"c":1}`, `{"tool":1}`}, ""},
	} {
		t.Run(test.what, func(t *testing.T) {
			in := new(Inspector)
			if test.forced {
				d, err := FindProtocol("anthropic")
				if err != nil {
					t.Fatal(err)
				}
				in.ForceProtocol(d)
			}
			in.Write(stream.Record{Exchange: 1, Data: []byte("data: " + strings.Join(test.frames, "\n\ndata: ") + "\n\n")})
			in.Close()
			got := ""
			for _, turn := range in.Session().Turns {
				for _, f := range turn.Findings {
					if f.Base() == framesIgnored {
						got += f.Severity.String() + ": " + f.Message
					}
				}
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
