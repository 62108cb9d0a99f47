package client

// MCPSetup describes how to record the MCP servers that a client starts, without changes to the user's
// files.
type MCPSetup struct {
	Method       WrapMethod
	ListArgs     []string // arguments that make the client list them as JSON, for [ByFlags] and [BySettings]
	UserFiles    []string // the user's settings with servers, below the home folder
	ProjectFiles []string // and below the folder that the client runs in
	Remark       string
}

// WrapMethod is the way in which the servers are recorded.
type WrapMethod uint8

// The ways.
const (
	ByUser     WrapMethod = iota // the user adds a prefix to the server's command
	ByPrefix                     // a variable names a program that starts with the line of each server and each shell command
	ByFlags                      // flags that override the user's settings
	BySettings                   // its settings, which belong to this run anyway
)

// mcpSetups are the setups by name of the client; the users of other clients do it by hand.
var mcpSetups = map[string]MCPSetup{
	"claude-code": {
		Method: ByPrefix, UserFiles: []string{".claude.json"}, ProjectFiles: []string{".mcp.json"},
		Remark: "run sets CLAUDE_CODE_SHELL_PREFIX, which starts its servers and shell commands through toolscope. This doesn't work on Windows, or for servers over HTTP.",
	},
	"codex": {
		Method: ByFlags, ListArgs: []string{"mcp", "list", "--json"},
		Remark: "run passes -c mcp_servers.NAME.command and .args, which put 'toolscope mcp' before the servers that it starts, and .url, which sends servers over HTTP to the proxy if they need no login.",
	},
	"opencode": {
		Method: BySettings, ListArgs: []string{"debug", "config"},
		Remark: "run sets OPENCODE_CONFIG_CONTENT, which puts 'toolscope mcp' before the servers that it starts, and sends servers over HTTP to the proxy if they need no login.",
	},
	"gemini-cli": {
		Method: ByUser, UserFiles: []string{".gemini/settings.json"}, ProjectFiles: []string{".gemini/settings.json"},
		Remark: "no flag or variable overrides its settings, so run prints the lines to add there for each server that it starts.",
	},
	"qwen-code": {
		Method: ByUser, UserFiles: []string{".qwen/settings.json"}, ProjectFiles: []string{".qwen/settings.json"},
		Remark: "no flag or variable overrides its settings, so run prints the lines to add there for each server that it starts.",
	},
}

// Servers returns the MCP setup of the client.
func (p *ProxySetup) Servers() MCPSetup { return mcpSetups[p.Name] }
