package client

// MCPSetup say how the MCP servers that a client starts are put behind what records them, while the
// files of its user stay as they are.
type MCPSetup struct {
	Method       WrapMethod
	ListArgs     []string // arguments that have the client list them as JSON, [ByFlags] and [BySettings]
	UserFiles    []string // where a user's settings with servers in them lie, below the home
	ProjectFiles []string // and below the folder that the client runs in
	Remark       string
}

// WrapMethod is how.
type WrapMethod uint8

// The ways.
const (
	ByUser     WrapMethod = iota // by the user: a line before the server's command
	ByPrefix                     // a variable names a program that is started with the line of each server, and of each shell command
	ByFlags                      // flags that stand before the user's settings
	BySettings                   // its settings, where those are of this run anyway
)

// mcpSetups are those of clients by name; of others it is by hand.
var mcpSetups = map[string]MCPSetup{
	"claude-code": {
		Method: ByPrefix, UserFiles: []string{".claude.json"}, ProjectFiles: []string{".mcp.json"},
		Remark: "run sets CLAUDE_CODE_SHELL_PREFIX, which has those that it starts, and its shell commands, begin behind toolscope. Not on Windows, and not those over HTTP.",
	},
	"codex": {
		Method: ByFlags, ListArgs: []string{"mcp", "list", "--json"},
		Remark: "run gives it -c mcp_servers.NAME.command and .args, which put 'toolscope mcp' before those that it starts, and .url, which sends those over HTTP to the proxy where nobody logs in.",
	},
	"opencode": {
		Method: BySettings, ListArgs: []string{"debug", "config"},
		Remark: "run sets OPENCODE_CONFIG_CONTENT, which puts 'toolscope mcp' before those that it starts, and sends those over HTTP to the proxy where nobody logs in.",
	},
	"gemini-cli": {
		Method: ByUser, UserFiles: []string{".gemini/settings.json"}, ProjectFiles: []string{".gemini/settings.json"},
		Remark: "no flag or variable goes before its settings, so run prints what to write there for each of those that it starts.",
	},
	"qwen-code": {
		Method: ByUser, UserFiles: []string{".qwen/settings.json"}, ProjectFiles: []string{".qwen/settings.json"},
		Remark: "no flag or variable goes before its settings, so run prints what to write there for each of those that it starts.",
	},
}

// Servers are those of the client at the point.
func (p *ProxySetup) Servers() MCPSetup { return mcpSetups[p.Name] }
