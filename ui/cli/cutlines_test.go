package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCutLinesBlameNobody checks a log line that stops in the middle. The party at fault is unknown, because the
// writer of the log may have cut the line. In a response body, the same bytes are the provider's fault.
func TestCutLinesBlameNobody(t *testing.T) {
	payloads := []string{
		`{"type":"message_start","message":{"id":"msg_a","type":"message","role":"assistant","content":[],"model":"m"}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","te`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`,
		`{"type":"message_stop"}`,
	}
	dir := t.TempDir()
	for _, c := range []struct{ name, line, by string }{
		{"a.log", "2026-11-20T01:02:%02d.000Z data: %s\n", "unknown"},
		{"a.sse", "data: %[2]s\n\n", "provider"},
	} {
		var text strings.Builder
		for i, p := range payloads {
			fmt.Fprintf(&text, c.line, i, p)
		}
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		got := command(t, nil, "print", "--format", "jsonl", path)
		if want := `"code":"FRAME_UNDECODABLE","severity":"error","by":"` + c.by + `"`; strings.Count(got.stdout, want) != 1 {
			t.Errorf("%s: no %s in\n%s", c.name, want, got.stdout)
		}
	}
}
