package providers

import (
	"testing"

	"toolscope/providers/mcp"
	"toolscope/stream"
)

// TestMCPSourceNotes checks notes in the traffic of an MCP server: a note of the reader, for example about a damaged
// line, is about the source. Notes of the proxy about the server's process are not.
func TestMCPSourceNotes(t *testing.T) {
	var in Inspector
	in.Write(stream.Record{Exchange: 1, Request: true, At: stream.NoTime, Head: &stream.Head{Method: mcp.Stdio, URL: "mcp:server"}})
	in.Write(stream.Record{Exchange: 1, Request: true, At: stream.NoTime, Data: []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n")})
	in.Write(stream.Record{Exchange: 1, At: stream.NoTime, Note: "line 2: not a JSON object, left out"})
	for _, note := range []string{"stderr: listening\n", "argv: [\"x\"]", "signal: SIGINT", "input ended", "nobody reads"} {
		in.Write(stream.Record{Exchange: 1, At: stream.NoTime, Note: note})
	}
	in.Write(stream.Record{Exchange: 1, At: stream.NoTime, End: true})
	in.Close()
	if found := in.Session().Findings; len(found) != 1 || found[0].Message != "line 2: not a JSON object, left out" {
		t.Errorf("%v", found)
	}
	if notes := in.Executed().Servers[0].Notes; len(notes) != 1 || notes[0].Text != "listening" {
		t.Errorf("%v", notes)
	}
}
