package conversation

import (
	"cmp"
	"strings"

	"toolscope/stream/json"
)

// DeclaredTool is an entry in a request's list of tools.
type DeclaredTool struct {
	Name   string     // "" if the entry has no name, such as a whole MCP server or a tool of the provider
	Server string     // the MCP server of the tool; "" if the tool has none
	Raw    json.Value // the entry
}

// DeclaredTools returns the tools in a request's list of tools, in order. Entries that contain a list of tools
// are replaced by that list.
func DeclaredTools(tools json.Value) (list []DeclaredTool) {
	for entry := range tools.Elements() {
		list = appendDeclared(list, entry, "")
	}
	return list
}

// appendDeclared adds an entry of a list of tools. The parameter space is the namespace around the entry.
func appendDeclared(list []DeclaredTool, entry json.Value, space string) []DeclaredTool {
	name := ""
	for _, v := range []json.Value{entry.Get("name"), entry.Get("function").Get("name"), entry.Get("toolSpec").Get("name")} {
		name = cmp.Or(name, v.Text())
	}
	if space == "" {
		for _, key := range []string{"functionDeclarations", "function_declarations", "tools"} {
			inner := entry.Get(key)
			for nested := range inner.Elements() {
				list = appendDeclared(list, nested, cmp.Or(name, key))
			}
			if inner.Kind() == '[' {
				return list
			}
		}
	}
	server := cmp.Or(entry.Get("server_label").Text(), entry.Get("mcp_server_name").Text(), ServerOfTool(name), ServerOfTool(space))
	return append(list, DeclaredTool{name, server, entry})
}

// ServerOfTool returns the MCP server in a tool name of the form mcp__SERVER__TOOL, which most clients use. It
// returns "" for other names.
func ServerOfTool(name string) string {
	rest, found := strings.CutPrefix(name, "mcp__")
	if !found {
		return ""
	}
	server, _, _ := strings.Cut(rest, "__")
	return server
}
