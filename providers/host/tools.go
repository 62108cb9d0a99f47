package host

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"toolscope/providers"
	"toolscope/providers/protocol"
)

// Tools are declared tools, with the form of their declaration.
type Tools struct {
	Protocol string // the protocol of their form
	List     []protocol.Tool
	Declared protocol.Raw // the value that declares them in a request of that protocol
}

// shapes are the fields that identify a tool declaration of each protocol, with the kind of their value.
var shapes = []struct {
	member  string
	kind    byte
	dialect string
}{
	{"input_schema", '{', "anthropic"},
	{"toolSpec", '{', "bedrock"}, {"systemTool", '{', "bedrock"}, {"cachePoint", '{', "bedrock"},
	{"functionDeclarations", '[', "gemini"}, {"function_declarations", '[', "gemini"},
	{"googleSearch", '{', "gemini"}, {"codeExecution", '{', "gemini"}, {"urlContext", '{', "gemini"},
	{"function", '{', "openai-chat"}, {"custom", '{', "openai-chat"},
	{"inputSchema", '{', mcp},
	{"server_label", '"', "openai-responses"},
}

// mcp is the form in which servers of the Model Context Protocol list tools.
const mcp = "mcp"

var errNoTools = errors.New("declares no tools of a known protocol\nuse a request with tools, a list of tools in any provider's form, or an MCP server's response to tools/list")

// ReadTools reads tools in any form: those of a request, a list of tools, or one tool.
func ReadTools(text []byte) (Tools, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	s := protocol.Scan(text)
	body := s.Value()
	if err := s.End(); err != nil {
		return Tools{}, fmt.Errorf("not JSON: %w", err)
	}
	list := body
	if body.Kind() == '{' {
		list = listOf(body)
	}
	if form := shapeOf(list); form != "" {
		if t := asForm(form, list); len(t.List) > 0 {
			return t, nil
		}
	}
	for i := range providers.All { // a complete request, in a form of its own
		if d := &providers.All[i]; d.Tools != nil {
			if tools := d.Tools(body); len(tools) > 0 {
				return Tools{Protocol: d.Name, List: tools}, nil
			}
		}
	}
	return Tools{}, errNoTools
}

// listOf returns the list of tools in an object, or a list with the object as its only element.
func listOf(body protocol.Raw) protocol.Raw {
	for _, v := range []protocol.Raw{
		body.Get("tools"), body.Get("toolConfig").Get("tools"), body.Get("functions"), body.Get("result").Get("tools"),
		body.Get("request").Get("tools"),
	} {
		if v.Kind() == '[' {
			return v
		}
	}
	return append(append(protocol.Raw{'['}, body...), ']')
}

// shapeOf returns the form of a list of tools, from the first tool that shows it.
func shapeOf(list protocol.Raw) string {
	for tool := range list.Elements() {
		for _, shape := range shapes {
			if tool.Get(shape.member).Kind() == shape.kind {
				return shape.dialect
			}
		}
		kind, named := tool.Get("type").Text(), tool.Get("name").IsString()
		switch dated := strings.TrimRight(kind, "0123456789") != kind; {
		case kind == "function" && named, kind == "custom" && named:
			return "openai-responses"
		case kind != "" && named && dated: // bash_20250124
			return "anthropic"
		case named && strings.ToUpper(tool.Get("parameters").Get("type").Text()) == "OBJECT" && !tool.Get("parameters").Get("type").Is("object"):
			return "gemini"
		case named && tool.Get("parameters").Kind() == '{':
			return "openai-chat"
		}
	}
	return ""
}

// asForm reads a list in a form.
func asForm(form string, list protocol.Raw) (t Tools) {
	t.Protocol = form
	if form == mcp {
		for v := range list.Elements() {
			t.List = append(t.List, protocol.FunctionTool(v, "inputSchema"))
		}
		return t
	}
	var request protocol.Writer
	first := list.Scan()
	first.Array()
	bare := first.Value().Get("name").IsString()
	switch t.Declared = list; {
	case form == "bedrock":
		var w protocol.Writer
		t.Declared = w.Open('{').Key("tools").Raw(list).Close('}').Text
		request.Open('{').Key("toolConfig").Raw(t.Declared).Close('}')
	case form == "gemini" && bare:
		var w protocol.Writer
		t.Declared = w.Open('[').Open('{').Key("functionDeclarations").Raw(list).Close('}').Close(']').Text
		request.Open('{').Key("tools").Raw(t.Declared).Close('}')
	case form == "openai-chat" && bare: // the functions field, the predecessor of tools
		t.Declared = nil
		request.Open('{').Key("functions").Raw(list).Close('}')
	default:
		request.Open('{').Key("tools").Raw(list).Close('}')
	}
	d, err := providers.FindProtocol(form)
	if err != nil {
		return t // impossible: the forms are protocols
	}
	t.List = d.Tools(request.Text)
	return t
}

// Declare adds the tools to a request to a target: unchanged if the target speaks their protocol, else
// those that can be translated. It returns the names of the others: tools that a provider runs itself
// don't exist at other providers.
func (t *Tools) Declare(r *protocol.Request, to *protocol.Target) (left []string) {
	r.Tools, r.NativeTools = t.List, nil
	if t.Declared != nil && t.Protocol == to.Protocol && to.Name == to.Protocol {
		r.NativeTools = t.Declared
		return nil
	}
	for i := range t.List {
		if tool := &t.List[i]; !tool.Declarable() {
			left = append(left, tool.Name)
		}
	}
	return left
}
