package openairesponses

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

func TestTools(t *testing.T) {
	for _, test := range []struct{ name, request, want string }{
		{"functions are flat", `{"input":"x","tools":[{"type":"function","name":"f","parameters":{"type":"object" },"strict":true},{"type":"function","name":"g"},{"type":"function","name":"h","parameters":null}]}`,
			`f function {"type":"object" }; g function ; h function `},
		{"but some hosts take them nested", `{"tools":[{"type":"function","function":{"name":"f","parameters":{}}}]}`, `f function {}`},
		{"custom tools have no schema", `{"tools":[{"type":"custom","name":"sql","format":{"type":"grammar"}}]}`, `sql custom `},
		{"a namespace holds tools", `{"tools":[{"type":"namespace","name":"n","tools":[{"type":"function","name":"f","parameters":{}}]}]}`, `f function {}`},
		{"built-in tools go by the type of their calls", `{"tools":[{"type":"web_search_preview"},{"type":"shell"},{"type":"programmatic_tool_calling"}]}`,
			`web_search_call server ; shell_call server ; program server `},
		{"an MCP server tells its tools itself", `{"tools":[{"type":"mcp","server_label":"docs"},{"type":"brand_new"}]}`, ``},
		{"what a tool search found", `{"input":[{"type":"message"},{"type":"tool_search_output","tools":[{"type":"function","name":"f","parameters":{}}]}]}`, `f function {}`},
		{"messages of a WebSocket", `{"type":"response.create","tools":[{"type":"custom","name":"a"}]}` + "\n" + `{"type":"response.create","response":{"tools":[{"type":"custom","name":"b"}]}}`,
			`a custom ; b custom `},
		{"no tools", `{"tools":{}}`, ``},
		{"no object", `[1]`, ``},
		{"cut", `{"tools":[{"type":"custom","name":"a"}`, ``},
		{"nothing", ``, ``},
	} {
		var got []string
		for _, tool := range readTools([]byte(test.request)) {
			got = append(got, fmt.Sprintf("%s %s %s", tool.Name, tool.Kind, tool.Schema))
		}
		if got := strings.Join(got, "; "); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestPartAfterItem checks that the end of a command adds nothing if it arrives after the end of its item.
func TestPartAfterItem(t *testing.T) {
	got := ""
	d := newDecoder(protocol.NewOut(func(e stream.Event) {
		if e.Kind == stream.Args || e.Kind == stream.Rewrite {
			got += e.Text + "|"
		}
	}))
	for _, data := range []string{
		`{"type":"response.created","response":{"id":"resp_1"}}`,
		`{"type":"response.output_item.added","output_index":0,"item":{"type":"shell_call","id":"sh_1","call_id":"c","action":{"commands":[]}}}`,
		`{"type":"response.shell_call_command.delta","output_index":0,"command_index":0,"delta":"ls"}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"shell_call","id":"sh_1","call_id":"c","action":{}}}`,
		`{"type":"response.shell_call_command.done","output_index":0,"command_index":0,"command":"ls -a"}`,
	} {
		if err := d.Frame(stream.Frame{Data: []byte(data)}); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
	}
	if want := `{"commands":["ls|{}|`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestAnyJSON checks that no JSON input makes the decoder panic.
func TestAnyJSON(t *testing.T) {
	values := []string{`null`, `""`, `"0"`, `0`, `-1`, `1e30`, `{}`, `[]`, `[{}]`, `{"type":"function_call","id":1,"arguments":{"a":[]}}`, `{"type":"shell_call","action":{"commands":["a"]}}`}
	fields := []string{"item", "delta", "output_index", "item_id", "arguments", "response", "error", "stream_id", "command", "command_index", "text"}
	kinds := []string{"error", "response.output_item.added", "response.output_item.done", "response.created", "response.completed", "response.in_progress", "response.failed"}
	for kind := range itemEvents {
		kinds = append(kinds, kind)
	}
	d := newDecoder(protocol.NewOut(func(stream.Event) {}))
	for _, field := range fields {
		for _, value := range values {
			for _, kind := range kinds {
				data := fmt.Sprintf(`{"type":%q,%q:%s}`, kind, field, value)
				if err := d.Frame(stream.Frame{Data: []byte(data)}); err != nil {
					t.Fatalf("%s: %v", data, err)
				}
			}
		}
	}
	d.Close()
}
