package anthropic

import (
	"strings"

	"toolscope/providers/protocol"
)

// providerTools are prefixes of the types of tools that the provider runs. Their calls are
// server_tool_use blocks.
var providerTools = []string{"web_search_", "web_fetch_", "code_execution_", "tool_search_tool_", "advisor_"}

// clientTools are prefixes of the types of tools that Anthropic defines and the client runs. They have
// a name, and a schema that the request doesn't contain.
var clientTools = []string{"bash_", "text_editor_", "computer_", "memory_"}

// readTools returns the tools that a request declares.
func readTools(request []byte) (all []protocol.Tool) {
	for t := range protocol.Raw(request).Get("tools").Elements() {
		kind, tool := t.Get("type"), protocol.FunctionTool(t, "input_schema")
		switch tool.Kind = kind.Text(); {
		case !kind.IsPresent(), kind.Is("custom"), tool.Schema != nil:
			tool.Kind = "function"
		case hasAnyPrefix(tool.Kind, providerTools):
			tool.Kind = "server"
		case hasAnyPrefix(tool.Kind, clientTools):
			tool.Kind = "function"
		case tool.Kind == "mcp_toolset":
			tool.Kind = "mcp"
		}
		if tool.Name == "" && (tool.Kind == "function" || tool.Kind == "") {
			continue // of another protocol
		}
		all = append(all, tool)
	}
	return all
}

func hasAnyPrefix(word string, with []string) bool {
	for _, w := range with {
		if strings.HasPrefix(word, w) {
			return true
		}
	}
	return false
}
