package client

// Servers say how the MCP servers that a client starts are put behind what records them, while the
// files of its user stay as they are.
type Servers struct {
	Way  ServersWay
	List []string // arguments that have the client list them as JSON, [ByFlags] and [BySettings]
	Own  []string // where a user's settings with servers in them lie, below the home
	Here []string // and below the folder that the client runs in
	Says string
}

// ServersWay is how.
type ServersWay uint8

// The ways.
const (
	ByUser     ServersWay = iota // by the user: a line before the server's command
	ByPrefix                     // a variable names a program that is started with the line of each server, and of each shell command
	ByFlags                      // flags that stand before the user's settings
	BySettings                   // its settings, where those are of this run anyway
)

// serversOf are those of clients by name; of others it is by hand.
var serversOf = map[string]Servers{
	"claude-code": {
		Way: ByPrefix, Own: []string{".claude.json"}, Here: []string{".mcp.json"},
		Says: "run sets CLAUDE_CODE_SHELL_PREFIX, which has those that it starts, and its shell commands, begin behind toolscope. Not on Windows, and not those over HTTP.",
	},
	"codex": {
		Way: ByFlags, List: []string{"mcp", "list", "--json"},
		Says: "run gives it -c mcp_servers.NAME.command and .args, which put 'toolscope mcp' before those that it starts, and .url, which sends those over HTTP to the proxy where nobody logs in.",
	},
	"opencode": {
		Way: BySettings, List: []string{"debug", "config"},
		Says: "run sets OPENCODE_CONFIG_CONTENT, which puts 'toolscope mcp' before those that it starts, and sends those over HTTP to the proxy where nobody logs in.",
	},
	"gemini-cli": {
		Way: ByUser, Own: []string{".gemini/settings.json"}, Here: []string{".gemini/settings.json"},
		Says: "no flag or variable goes before its settings, so run prints what to write there for each of those that it starts.",
	},
	"qwen-code": {
		Way: ByUser, Own: []string{".qwen/settings.json"}, Here: []string{".qwen/settings.json"},
		Says: "no flag or variable goes before its settings, so run prints what to write there for each of those that it starts.",
	},
}

// Servers are those of the client at the point.
func (p *Point) Servers() Servers { return serversOf[p.Name] }
