package formats

import (
	"strings"
	"testing"

	"toolscope/capture"
)

// TestOtherJSONRPCIsNotMCP checks that other JSON-RPC protocols, some of which also begin with initialize, are not
// read as MCP.
func TestOtherJSONRPCIsNotMCP(t *testing.T) {
	for name, line := range map[string]string{
		"ACP":                  `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`,
		"language server":      `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":1,"rootUri":null,"capabilities":{}}}`,
		"Codex app server":     `{"method":"initialize","id":0,"params":{"clientInfo":{"name":"ide","version":"1"}}}`,
		"text before a method": `{"text":"x","jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		"JSON-RPC 1":           `{"jsonrpc":"1.0","id":1,"method":"tools/list"}`,
		"call without a name":  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{}}}`,
		"response first":       `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`,
	} {
		if got := mcpLines.Sniff([]byte(line+"\n"), true); got.Is != capture.No {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestMCPIdsOfBothSides checks that a client and a server may use the same id for their own requests at the same
// time.
func TestMCPIdsOfBothSides(t *testing.T) {
	d := mcpDialogue{asked: map[string]capture.Side{}}
	for _, m := range []struct {
		line string
		want capture.Side
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`, capture.Request},
		{`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, capture.Response},
		{`{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`, capture.Request},
		{`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, capture.Response},
		{`{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{}}`, capture.Response},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`, capture.Response},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`, capture.Request},
		{`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`, capture.Response},
		{`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`, capture.Request},
	} {
		if got := d.sideOf([]byte(m.line)); got != m.want {
			t.Errorf("%s: side %s", m.line, got)
		}
	}
}

// TestMCPLogDetection checks that only a log with messages of an MCP server is read as such a log.
func TestMCPLogDetection(t *testing.T) {
	const begin, message = "2026-04-01T10:00:00.000Z [tides] [info] ", `Message from server: {"jsonrpc":"2.0","id":0,"result":{}}` + "\n"
	for _, test := range []struct {
		name, text string
		whole      bool
		want       capture.SniffVerdict
	}{
		{"a message first", begin + message, true, capture.Yes},
		{"other lines first", begin + "Initializing server...\nlistening\n" + begin + message, true, capture.Yes},
		{"more may follow", begin + "Initializing server...\n", false, capture.Maybe},
		{"no message", begin + "Initializing server...\n", true, capture.No},
		{"no message in many lines", strings.Repeat(begin+"waiting\n", maxMCPLogLines), false, capture.No},
		{"another log", "2026-04-01T10:00:00.000Z INFO tides " + message, false, capture.No},
		{"a line without a time", "Server running\n" + begin + message, true, capture.No},
	} {
		if got := mcpLog.Sniff([]byte(test.text), test.whole); got.Is != test.want {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}
