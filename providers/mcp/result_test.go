package mcp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// TestResults checks the findings about the results in the scripts in testdata/results.txt. A script begins with a line
// "# name". Its lines "! text" are the messages of the findings that it causes, in order.
func TestResults(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "results.txt"))
	if err != nil {
		t.Fatal(err)
	}
	scripts := strings.Split("\n"+string(text), "\n# ")[1:]
	if len(scripts) < 50 {
		t.Fatalf("only %d scripts", len(scripts))
	}
	for _, script := range scripts {
		name, body, _ := strings.Cut(script, "\n")
		var want, got, lines []string
		for line := range strings.Lines(body) {
			if message, is := strings.CutPrefix(line, "! "); is {
				want = append(want, strings.TrimSpace(message))
			} else if strings.TrimSpace(line) != "" {
				lines = append(lines, expandLine(strings.TrimSpace(line)))
			}
		}
		for _, f := range said(strings.Join(lines, "\n")).Servers[0].Findings() {
			if f.Code != badResult.Code || f.Severity != stream.Warn || f.By != stream.Server {
				t.Errorf("%s: %+v", name, f)
			}
			got = append(got, f.Message)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant:\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// expandLine writes out the short forms of lines: "version V" for the handshake's response, "call ID" for a call of
// the tool sum, "tools ID JSON" for a list with these tools, and "result ID JSON" for a response. A tool that begins
// with its name gets an inputSchema.
func expandLine(line string) string {
	word, rest, _ := strings.Cut(line, " ")
	id, data, _ := strings.Cut(rest, " ")
	switch word {
	case "version":
		return `<{"jsonrpc":"2.0","id":"v","method":"initialize"}` + "\n" + `>{"jsonrpc":"2.0","id":"v","result":{"protocolVersion":"` + rest + `"}}`
	case "call":
		return `<{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"sum"}}`
	case "list":
		return `<{"jsonrpc":"2.0","id":` + id + `,"method":"tools/list"}`
	case "tools":
		return expandLine("list "+id) + "\n" + `>{"jsonrpc":"2.0","id":` + id + `,"result":{"tools":[` + strings.ReplaceAll(data, `{"name":`, `{"inputSchema":{"type":"object"},"name":`) + `]}}`
	case "result":
		return `>{"jsonrpc":"2.0","id":` + id + `,"result":` + data + `}`
	}
	return line
}

// TestResultsHTTP checks that a list of tools applies only to its own session, and that nothing is reported after a gap.
func TestResultsHTTP(t *testing.T) {
	const list = `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"sum","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]}}`
	for _, test := range []struct {
		name, session string
		lost          int64
		want          int
	}{{"the same session", "a", 0, 1}, {"another session", "b", 0, 0}, {"bytes are missing", "a", 9, 0}} {
		l := new(Log)
		for number, ask := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sum"}}`} {
			session, answer, lost := "a", list, int64(0)
			if number == 1 {
				session, answer, lost = test.session, `{"jsonrpc":"2.0","id":2,"result":{"content":[]}}`, test.lost
			}
			l.Begin(number, &stream.Head{Method: "POST", URL: "http://h/mcp", Header: map[string][]string{"Mcp-Session-Id": {session}}})
			l.Write(&stream.Record{Exchange: number, Request: true, Data: []byte(ask)}, 0)
			l.Write(&stream.Record{Exchange: number, Head: &stream.Head{Status: 200}}, 0)
			l.Write(&stream.Record{Exchange: number, At: time.Millisecond, Data: []byte(answer), Lost: lost, End: true}, 0)
		}
		if got := l.Servers[0].Findings(); len(got) != test.want {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}
