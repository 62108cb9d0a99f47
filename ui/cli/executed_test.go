package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/stream"
)

// serverRecording writes a capture of an MCP server over standard streams and returns its path. Lines from
// the client begin with "<", and lines from the server with ">". They are one millisecond apart.
func serverRecording(t *testing.T, script string) string {
	t.Helper()
	text, err := capture.EncodeHeader(time.Unix(0, 0), "toolscope mcp", "")
	if err != nil {
		t.Fatal(err)
	}
	put := func(r capture.Record) {
		line, err := capture.EncodeRecord(r)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, line...)
	}
	put(capture.Record{Exchange: 1, Side: capture.Request, Head: &capture.Head{Method: capture.Stdio, URL: "mcp:files", Start: time.Unix(0, 0)}, Note: capture.Argv + `["files"]`})
	for i, line := range strings.Split(strings.TrimSpace(script), "\n") {
		r := capture.Record{Exchange: 1, At: time.Duration(i+1) * time.Millisecond}
		switch line = strings.TrimSpace(line); line[0] {
		case '<':
			r.Side, r.Data = capture.Request, []byte(line[1:]+"\n")
		case '>':
			r.Data = []byte(line[1:] + "\n")
		default:
			r.Note = line
		}
		put(r)
	}
	put(capture.Record{Exchange: 1, At: time.Second, End: capture.EndEOF, Why: "exit status 3"})
	return saved(t, "files.tsc", string(text))
}

const serverSession = `
	<{"method":"tools/call","params":{"name":"sum","arguments":{"a":"\u001b[1m"},"_meta":{"claudecode/toolUseId":"toolu_1"}},"jsonrpc":"2.0","id":1}
	<{"method":"tools/list","jsonrpc":"2.0","id":2}
	>listening
	>{"result":{"tools":[]},"jsonrpc":"2.0","id":2}
	>{"result":{"content":[{"type":"text","text":"3"}],"isError":true},"jsonrpc":"2.0","id":1}
	stderr: oops
	<{"method":"tools/call","params":{"name":"late"},"jsonrpc":"2.0","id":3}`

// TestPrintServer checks that the capture of a server alone is printed request by request, and that it has no turns.
func TestPrintServer(t *testing.T) {
	path := serverRecording(t, serverSession)
	out := command(t, nil, "print", path)
	if out.code != 0 || out.stderr != "" {
		t.Errorf("%+v", out)
	}
	for _, want := range []string{
		"  files  tools/list  done  2.0 ms\n", "  files  tools/call sum  done  4.0 ms  for toolu_1\n", "{\"a\":\"\\u001b[1m\"}\n",
		"    error result  1 B  3\n", "  files  tools/call late  no answer\n", "MCP server files  2 tool calls · 5 messages\n", "ended  exit status 3\n", "wrote  oops\n",
		"    error MCP_STDOUT  ",
	} {
		if !strings.Contains(out.stdout, want) {
			t.Errorf("there is no %q in\n%s", want, out.stdout)
		}
	}
	out = command(t, nil, "print", "--format", "jsonl", path)
	var types []string
	for _, line := range strings.Split(strings.TrimSpace(out.stdout), "\n") {
		kind, rest, _ := strings.Cut(strings.TrimPrefix(line, `{"type":"`), `"`)
		types = append(types, kind)
		if kind == "executed" && strings.Contains(rest, `"tool":"sum"`) {
			for _, want := range []string{`"server":"files"`, `"id":"toolu_1"`, `"state":"done"`, `"t_asked_ms":1,"took_ms":4`, `"arguments_raw":"{\"a\":\"\\u001b[1m\"}"`, `"is_error":true`, `"text":"3"`} {
				if !strings.Contains(rest, want) {
					t.Errorf("there is no %s in %s", want, rest)
				}
			}
		}
	}
	if got := strings.Join(types, " "); out.code != 0 || got != "mcp_request executed executed mcp_server" {
		t.Errorf("%d: %s", out.code, got)
	}
	if out := command(t, nil, "explain", "MCP_STDOUT"); out.code != 0 || !strings.Contains(out.stdout, "standard output") {
		t.Errorf("%+v", out)
	}
}

// TestExecutedStrangers checks unrelated captures, e.g. of two machines. Read together, they must have no more
// findings than each has alone. Each capture is read with a third of the others or, with TOOLSCOPE_LONG=1, with all
// of them.
func TestExecutedStrangers(t *testing.T) {
	files, err := filepath.Glob("testdata/executed/*.tsc")
	if err != nil || len(files) < 25 {
		t.Fatal(files, err)
	}
	files = append(files, "testdata/executedruns/not/model.tsc")
	found := func(paths ...string) (all []string) {
		in := new(providers.Inspector)
		src, err := capture.OpenAll(context.Background(), paths, capture.Options{})
		for _, r := range allOf(t)(src, err) {
			in.Write(coreRecord(r))
		}
		in.Close()
		for n := range in.Timeline.Len() {
			e, _ := in.Timeline.Event(n)
			if x, is := e.What.(*stream.ToolExecution); is && x.Finding.Diagnosis != nil {
				all = append(all, x.Finding.Code)
			}
		}
		for _, s := range in.Executed().Servers {
			for _, f := range s.Findings() {
				all = append(all, f.Code)
			}
		}
		return all
	}
	alone := map[string][]string{}
	for _, f := range files {
		alone[f] = found(f)
	}
	for i, a := range files {
		for k, b := range files {
			if a == b || (i+k)%3 != 0 && os.Getenv("TOOLSCOPE_LONG") == "" {
				continue
			}
			for _, line := range found(a, b) {
				if !slices.Contains(alone[a], line) && !slices.Contains(alone[b], line) {
					t.Errorf("%s beside %s: %s", a, b, line)
				}
			}
		}
	}
}
