package openairesponses

import (
	"bytes"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// builtIn maps the tools that the protocol itself defines: the type in a request to the item type of
// their calls.
var builtIn = map[string]string{
	"web_search": "web_search_call", "web_search_preview": "web_search_call", "web_search_2025_08_26": "web_search_call",
	"web_search_preview_2025_03_11": "web_search_call", "file_search": "file_search_call",
	"code_interpreter": "code_interpreter_call", "image_generation": "image_generation_call",
	"shell": "shell_call", "local_shell": "local_shell_call", "apply_patch": "apply_patch_call",
	"computer": "computer_call", "computer_use_preview": "computer_call",
	"tool_search": "tool_search_call", "programmatic_tool_calling": "program",
}

// readTools returns the tools of a request body, or of a client's WebSocket messages. Tools that the
// input adds, or that the client's tool search found, count as declared. The tools of an MCP server
// come in the response.
func readTools(request []byte) (all []protocol.Tool) {
	read := func(f stream.Frame) {
		body := protocol.Raw(bytes.Clone(f.Data)) // the tools keep their schemas
		if nested := body.Get("response"); nested.Kind() == '{' {
			body = nested
		}
		all = appendTools(all, body.Get("tools"), "")
		for item := range body.Get("input").Elements() {
			if kind := item.Get("type"); kind.Is("tool_search_output") || kind.Is("additional_tools") {
				all = appendTools(all, item.Get("tools"), "")
			}
		}
	}
	var values stream.Values
	values.Write(request, read)
	values.Close(read)
	return all
}

// appendTools appends the tools of a list, which are in the namespace space.
func appendTools(all []protocol.Tool, list protocol.Raw, space string) []protocol.Tool {
	for tool := range list.Elements() {
		switch kind := tool.Get("type").Text(); {
		case kind == "function":
			if nested := tool.Get("function"); nested.Kind() == '{' { // as in Chat Completions
				tool = nested
			}
			t := protocol.FunctionTool(tool, "parameters")
			t.Namespace = space
			all = append(all, t)
		case kind == "custom":
			all = append(all, protocol.Tool{Name: tool.Get("name").Text(), Namespace: space, Kind: "custom", Description: tool.Get("description").Text()})
		case kind == "namespace":
			all = appendTools(all, tool.Get("tools"), tool.Get("name").Text())
		case builtIn[kind] != "":
			all = append(all, protocol.Tool{Name: builtIn[kind], Kind: "server"})
		}
	}
	return all
}
