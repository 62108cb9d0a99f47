package host

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"toolscope/providers"
	"toolscope/providers/protocol"
)

// Tools are tools as somebody declares them, and how.
type Tools struct {
	Protocol string // whose form they have
	List     []protocol.Tool
	Declared protocol.Raw // the value that a request of that dialect declares them with
}

// shapes are what a declaration of a tool has in each dialect: a member of it, and what kind of
// value that is.
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

var errNoTools = errors.New("declares no tools of a known protocol\nwanted is a request with tools, a list of them as any provider takes it, or what an MCP server answers to tools/list")

// ReadTools reads tools in any form: those of a request, a list of them, or one.
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
	for i := range providers.All { // a whole request, in a form of its own
		if d := &providers.All[i]; d.Tools != nil {
			if tools := d.Tools(body); len(tools) > 0 {
				return Tools{Protocol: d.Name, List: tools}, nil
			}
		}
	}
	return Tools{}, errNoTools
}

// listOf is the list of tools that stands in an object, or has the object as its only element.
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

// shapeOf is the form of a list of tools, by the first that tells.
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
	case form == "openai-chat" && bare: // functions, as they were before tools
		t.Declared = nil
		request.Open('{').Key("functions").Raw(list).Close('}')
	default:
		request.Open('{').Key("tools").Raw(list).Close('}')
	}
	d, err := providers.FindProtocol(form)
	if err != nil {
		return t // cannot be: the forms are dialects
	}
	t.List = d.Tools(request.Text)
	return t
}

// Declare puts the tools into a request to a target: as they are where that speaks their dialect,
// and else those that can be translated. It returns the names of the others: other providers do not
// have the tools that a provider runs itself.
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
