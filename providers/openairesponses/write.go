package openairesponses

import "toolscope/providers/protocol"

// finished are the item types of calls that must have a status.
var finished = map[string]bool{
	"local_shell_call": true, "apply_patch_call": true, "computer_call": true, "code_interpreter_call": true,
	"web_search_call": true, "file_search_call": true, "image_generation_call": true,
}

// nameless are the item types of calls without a call_id. Results, if any, name the item.
var nameless = map[string]bool{
	"mcp_call": true, "mcp_approval_request": true, "code_interpreter_call": true, "web_search_call": true,
	"file_search_call": true, "image_generation_call": true,
}

// itemType returns the type of the item for a call.
func itemType(p *protocol.Part) string {
	switch p.ToolKind {
	case "custom":
		return "custom_tool_call"
	case "mcp":
		return "mcp_call"
	case "mcp_approval":
		return "mcp_approval_request"
	case "server":
		if c, ok := callOf(p.Name, nil); ok && c.word == "server" {
			return p.Name
		}
	}
	return "function_call"
}

// encodeCall writes the item of a call. For a call that the provider runs, only the original item has
// fields that a Part can't represent, such as the id of a container.
func encodeCall(p *protocol.Part) []byte {
	kind := itemType(p)
	c, _ := callOf(kind, nil)
	var w protocol.Writer
	w.Open('{').Member("type", kind)
	if nameless[kind] || isProviderSearch(p) {
		w.MemberIfSet("id", p.ID)
	} else {
		w.MemberIfSet("id", itemID(kind, p.Item)).Member("call_id", p.ID)
	}
	if c.word != "server" {
		w.Member("name", p.Name)
	}
	writeArgs(&w, kind, c, p)
	switch {
	case c.word == "mcp", c.word == "mcp_approval":
		w.Member("server_label", p.MCPServer)
	default:
		w.MemberIfSet("namespace", p.Namespace)
	}
	if p.Parent != "" {
		w.Key("caller").Open('{').Member("type", "program").Member("caller_id", p.Parent).Close('}')
	}
	switch kind {
	case "program":
		w.Member("fingerprint", p.Signature)
	case "computer_call":
		w.Key("pending_safety_checks").Open('[').Close(']')
	case "tool_search_call":
		w.Member("execution", executionOf(p))
	}
	if finished[kind] {
		w.Member("status", "completed")
	}
	return w.Close('}').Text
}

// isProviderSearch reports whether a call is a tool search of the provider. Its only id is the id of
// the item.
func isProviderSearch(p *protocol.Part) bool {
	return p.Name == "tool_search_call" && p.RunByProvider && p.Item == ""
}

func executionOf(p *protocol.Part) string {
	if p.RunByProvider {
		return "server"
	}
	return "client"
}

// writeArgs writes the field with the arguments. It is the reverse of wireItem.callArguments.
func writeArgs(w *protocol.Writer, kind string, c callKind, p *protocol.Part) {
	for _, list := range [...]struct{ kind, member string }{{"computer_call", "actions"}, {"file_search_call", "queries"}} {
		if value := protocol.Raw(p.Args).Get(list.member); kind == list.kind && value.Kind() == '[' {
			w.Key(list.member).Raw(value)
			return
		}
	}
	switch {
	case c.word != "server", c.freeform:
		w.Key(c.member).Bytes(p.Args)
	case c.member != "" && len(p.Args) > 0:
		w.Key(c.member).Value(p.Args)
	}
}

// encodeResult writes the item of a result. Its type depends on its call. call is nil if the call is
// not among the messages; then the type depends on the result itself.
func encodeResult(p, call *protocol.Part) []byte {
	if call == nil {
		call = p
	}
	kind := itemType(call)
	var w protocol.Writer
	switch w.Open('{'); kind {
	case "local_shell_call": // has id instead of call_id
		w.Member("type", "local_shell_call_output").Member("id", p.ID).Key("output").Bytes(p.Text)
	case "shell_call":
		code := 0
		if p.Failed {
			code = 1
		}
		w.Member("type", "shell_call_output").Member("call_id", p.ID).Key("output").Open('[').Open('{').
			Key("stdout").Bytes(p.Text).Member("stderr", "").
			Key("outcome").Open('{').Member("type", "exit").Key("exit_code").Int(code).Close('}').Close('}').Close(']')
	case "apply_patch_call":
		w.Member("type", "apply_patch_call_output").Member("call_id", p.ID).Member("status", statusOf(p, "failed")).
			Key("output").Bytes(p.Text)
	case "computer_call":
		w.Member("type", "computer_call_output").Member("call_id", p.ID).
			Key("output").Open('{').Member("type", "computer_screenshot").Close('}')
	case "tool_search_call":
		writeFound(&w, p, call)
	case "program":
		w.Member("type", "program_output").MemberIfSet("id", p.Item).Member("call_id", p.ID).Key("result").Bytes(p.Text).
			Member("status", statusOf(p, "incomplete"))
	case "mcp_approval_request":
		approve := "true"
		if p.Failed {
			approve = "false"
		}
		w.Member("type", "mcp_approval_response").Member("approval_request_id", p.ID).Key("approve").Raw([]byte(approve)).
			MemberIfSet("reason", string(p.Text))
	default:
		w.Member("type", kind+"_output").Member("call_id", p.ID).Key("output").Bytes(p.Text)
	}
	return w.Close('}').Text
}

func statusOf(p *protocol.Part, failed string) string {
	if p.Failed {
		return failed
	}
	return "completed"
}

// writeFound writes the tools that a tool search found. They are its result.
func writeFound(w *protocol.Writer, p, call *protocol.Part) {
	w.Member("type", "tool_search_output")
	if !isProviderSearch(call) {
		w.Member("call_id", p.ID)
	}
	w.Member("execution", executionOf(call)).Member("status", "completed").Key("tools")
	if tools := protocol.Raw(p.Text); tools.Kind() == '[' {
		w.Value(tools)
	} else {
		w.Open('[').Close(']')
	}
}
