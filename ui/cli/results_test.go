package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// resultJSON is a tool's result in a JSON line.
type resultJSON struct {
	Error  bool
	Bytes  int
	Media  int
	Text   string
	MadeUp bool `json:"made_up"`
}

// TestResults checks that a file's results are in the lines of their calls. For live input, a call must be written
// before its result is known, and the result must have its own line.
func TestResults(t *testing.T) {
	capture, err := os.ReadFile("testdata/emptied.tsc")
	if err != nil {
		t.Fatal(err)
	}
	want := resultJSON{Bytes: 22, Text: "error: path is missing"}
	for _, test := range []struct {
		stdin []byte
		args  []string
		with  string // type of the line that has the result
	}{
		{nil, []string{"testdata/emptied.tsc"}, "call"},
		{capture, []string{"-"}, "result"},
	} {
		found := ""
		for line := range strings.Lines(command(t, test.stdin, append([]string{"print", "--format", "jsonl"}, test.args...)...).stdout) {
			var l struct {
				Type       string
				Turn, Call int
				Result     json.RawMessage
			}
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatal(err)
			}
			if l.Type == "sent_back" || l.Result == nil {
				continue
			}
			var got resultJSON
			if err := json.Unmarshal(l.Result, &got); err != nil || got != want || l.Turn != 1 || l.Call != 1 {
				t.Errorf("%v in %s", err, line)
			}
			found += l.Type
		}
		if found != test.with {
			t.Errorf("%s: told in %q, want %q", test.args[0], found, test.with)
		}
	}
	if text := command(t, nil, "print", "testdata/emptied.tsc").stdout; strings.Count(text, "\n    result  22 B  error: path is missing\n") != 1 {
		t.Errorf("%s", text)
	}
}

// cutCall is a response that reached the token limit after a complete call.
const cutCall = `data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":5,"output_tokens":1}}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"run","input":{}}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}

data: {"type":"content_block_stop","index":0}

data: {"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":50}}

data: {"type":"message_stop"}

`

// TestWhoRunsACutCall checks that the output lists the programs that would run a call from a truncated response, and
// only for such calls.
func TestWhoRunsACutCall(t *testing.T) {
	print := func(wire string) string {
		file := filepath.Join(t.TempDir(), "a.sse")
		if err := os.WriteFile(file, []byte(wire), 0o600); err != nil {
			t.Fatal(err)
		}
		return command(t, nil, "print", file).stdout
	}
	if got := print(cutCall); !strings.Contains(got, "    runs  Claude Code, opencode and Mastra run it at delta 1, before the cut (seen when run)\n") {
		t.Errorf("%s", got)
	}
	if got := print(strings.ReplaceAll(cutCall, "max_tokens", "tool_use")); strings.Contains(got, "  runs  ") {
		t.Errorf("%s", got)
	}
}
