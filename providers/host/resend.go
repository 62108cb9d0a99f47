package host

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/json"
)

// CapturedRequest is a request in a capture that can be resent.
type CapturedRequest struct {
	Protocol *protocol.Protocol // protocol of the request
	Path     string             // path of the URL, which may contain the model
	Body     []byte

	// History is the history in the request, followed by later additions: a turn and results. From is the
	// target for the request's protocol. See providers.Exchange.History.
	History []protocol.Message
	From    *protocol.Target

	model  string // model in the request; "" if not yet read
	single bool   // the body is known to be one JSON object
}

// Model returns the model in the request.
func (c *CapturedRequest) Model() string {
	if c.model != "" {
		return c.model
	}
	return modelOf(c.Protocol, c.Path, c.Body)
}

// ResentRequest is a captured request that was translated for another host.
type ResentRequest struct {
	Request    protocol.Request
	Preview    replay.Preview // preview of its history, with the losses
	Undeclared []string       // names of tools that can't be declared at the host
	Moved      int            // number of instructions moved from the middle of the history to its start
}

// Resend translates a captured request for a host: the instructions, the history under a policy, the tools, and the
// token limit of the response. The new request is for the given model. If model is "", it is for the captured
// request's model if the host has this model, and otherwise for the host's default model. Resend sends nothing.
func (h *Host) Resend(c CapturedRequest, model string, policy *replay.Policy) (ResentRequest, error) {
	to := h.HistoryTarget()
	if to == nil || to.Request == nil {
		return ResentRequest{}, fmt.Errorf("%s: toolscope sends no requests to this provider", h.Name)
	}
	var out ResentRequest
	r := &out.Request
	if r.Model = h.ModelOf(c, model); r.Model == "" {
		return ResentRequest{}, fmt.Errorf("%s: name a model, because this provider might not have the request's model %q", h.Name, c.Model())
	}
	var history []protocol.Message
	r.System, history, out.Moved = splitInstructions(c.History, to)
	out.Preview = replay.SourceOfHistory(history, c.From).Preview(to, policy)
	if out.Preview.Refused != "" && len(out.Preview.Body) == 0 {
		return out, fmt.Errorf("%s: the policy %s sends nothing: %s", h.Name, policy.Name, out.Preview.Refused)
	}
	r.EncodedMessages = append(out.Preview.Body, out.Preview.Results...)
	if c.Protocol != nil && c.Protocol.Tools != nil {
		tools := Tools{Protocol: c.Protocol.Name, List: c.Protocol.Tools(c.Body), Declared: declaredIn(c.Protocol.Name, c.Body)}
		out.Undeclared = tools.Declare(r, to)
	}
	r.MaxTokens = limitOf(c.Body)
	return out, nil
}

// ModelOf returns the model to request from a host. It is the given model. If that is "", it is the request's
// own model if the host has this model, or has no known models but uses the protocol of the request.
// Otherwise, it is the host's default model. It is "" if no model is known.
func (h *Host) ModelOf(c CapturedRequest, model string) string {
	if model != "" {
		return model
	}
	own := c.Model()
	to := h.HistoryTarget()
	switch {
	case own != "" && h.Has(own):
		return own
	case h.Model == "" && len(h.Models) == 0 && c.Protocol != nil && to.Protocol == c.Protocol.Name:
		return own // a host that accepts any name, such as the user's own server
	}
	return h.Model
}

// splitInstructions removes system messages from a history. It always removes the system messages at the start. It
// removes all other system messages if the target doesn't allow them between other messages.
func splitInstructions(history []protocol.Message, to *protocol.Target) (system string, rest []protocol.Message, moved int) {
	var said []string
	inline := len(to.Encode([]protocol.Message{{Role: protocol.System, Parts: []protocol.Part{{Kind: protocol.TextPart, Text: []byte("x")}}}})) > 0
	for _, m := range history {
		switch {
		case m.Role != protocol.System, len(rest) > 0 && inline:
			rest = append(rest, m)
			continue
		case len(rest) > 0:
			moved++
		}
		var text strings.Builder
		for _, p := range m.Parts {
			if p.Kind == protocol.TextPart {
				text.Write(p.Text)
			}
		}
		if text.Len() > 0 {
			said = append(said, text.String())
		}
	}
	return strings.Join(said, "\n\n"), rest, moved
}

// declaredIn returns the value that declares the tools in a request.
func declaredIn(dialectName string, body []byte) json.Value {
	name := "tools"
	if dialectName == "bedrock" {
		name = "toolConfig"
	}
	if v := json.Value(body).Get(name); v.Kind() == '[' || v.Kind() == '{' {
		return v
	}
	return nil
}

// limits lists the fields of requests that limit the length of the response.
var limits = [][]string{
	{"max_tokens"}, {"max_completion_tokens"}, {"max_output_tokens"},
	{"generationConfig", "maxOutputTokens"}, {"generation_config", "max_output_tokens"},
	{"inferenceConfig", "maxTokens"}, {"options", "num_predict"},
}

func limitOf(body []byte) int {
	for _, path := range limits {
		v := json.Value(body)
		for _, name := range path {
			v = v.Get(name)
		}
		if n, ok := v.Int(); ok && n > 0 {
			return int(n)
		}
	}
	return 0
}

// Capture returns the request of an exchange, so that it can be resent. If a part is missing, the error names
// it.
func Capture(x *providers.Exchange) (CapturedRequest, error) {
	if x == nil || len(x.RequestBody()) == 0 {
		return CapturedRequest{}, errors.New("the request of this turn was not captured")
	}
	history, from := x.History()
	if from == nil || len(history) == 0 {
		return CapturedRequest{}, errors.New("the request contains no readable conversation")
	}
	c := CapturedRequest{Protocol: x.Protocol, Path: x.Path(), Body: x.RequestBody(), History: history, From: from}
	if c.Protocol == nil || c.Protocol.Name != from.Protocol { // the request shows its protocol better than the response
		d, err := providers.FindProtocol(from.Protocol)
		if err != nil {
			return CapturedRequest{}, err
		}
		c.Protocol = d
	}
	c.model = modelOf(c.Protocol, c.Path, c.Body)
	s := json.Scan(c.Body)
	c.single = s.Value().Kind() == '{' && s.End() == nil
	return c, nil
}

// A Result is the text that a tool returned, or its error.
type Result struct {
	Call   *stream.Call
	Text   string
	Failed bool
}

// ContinueFrom adds a turn to the history of a captured request: the response as a message, followed by the
// results of its calls.
func (c *CapturedRequest) ContinueFrom(turn protocol.Message, results []Result) {
	c.History = append(c.History[:len(c.History):len(c.History)], turn)
	m := protocol.Message{Role: protocol.User}
	for _, r := range results {
		m.Parts = append(m.Parts, protocol.Part{
			Kind: protocol.ResultPart, ID: r.Call.ID, Name: r.Call.Name, ToolKind: r.Call.Kind, Text: []byte(r.Text), Failed: r.Failed,
		})
	}
	if len(m.Parts) > 0 {
		c.History = append(c.History, m)
	}
}

// AsItIs reports whether the captured body can be sent to a host unchanged. This requires that the host uses
// the same protocol, and that the body is a single request.
func (h *Host) AsItIs(c CapturedRequest) bool {
	to := h.HistoryTarget()
	return to != nil && c.Protocol != nil && to.Protocol == c.Protocol.Name && c.single
}

// Origin returns the host to which a request was sent. It is the host at the address, or otherwise the host
// after which the request's protocol is named. It returns nil if no known host uses the protocol.
func Origin(c CapturedRequest, address string) *Host {
	if c.Protocol == nil {
		return nil
	}
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		for i := range All {
			h := &All[i]
			if h.isAt(u) && h.HistoryTarget().Protocol == c.Protocol.Name {
				return h
			}
		}
	}
	return For(c.Protocol.Name)
}

// isAt reports whether a URL is under the host's own address.
func (h *Host) isAt(u *url.URL) bool {
	before, after, region := strings.Cut(h.Address, regionMark)
	if region {
		whole := u.Scheme + "://" + u.Host
		return strings.HasPrefix(whole, before) && strings.HasSuffix(whole, after)
	}
	own, err := url.Parse(h.Address)
	if err != nil || h.Address == "" {
		return false
	}
	path := strings.TrimRight(own.Path, "/")
	return strings.EqualFold(own.Host, u.Host) && strings.HasPrefix(u.Path+"/", path+"/")
}

// Tools are declared tools, with the form of their declaration.
type Tools struct {
	Protocol string // protocol of the declaration
	List     []protocol.Tool
	Declared json.Value // the value that declares the tools in a request of that protocol
}

// shapes lists the fields that identify each protocol's form of a tool declaration, with the kinds of their
// values.
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

// mcp is the form in which servers of the Model Context Protocol list their tools.
const mcp = "mcp"

var errNoTools = errors.New("declares no tools of a known protocol\nuse a request with tools, a list of tools in any provider's form, or an MCP server's response to tools/list")

// ReadTools reads tools in any form. The text is a request with tools, a list of tools, or one tool.
func ReadTools(text []byte) (Tools, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	s := json.Scan(text)
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
	for i := range providers.All { // a complete request in any protocol's own form
		if d := &providers.All[i]; d.Tools != nil {
			if tools := d.Tools(body); len(tools) > 0 {
				return Tools{Protocol: d.Name, List: tools}, nil
			}
		}
	}
	return Tools{}, errNoTools
}

// listOf returns the list of tools in an object. If there is none, it returns a list with the object as its
// only element.
func listOf(body json.Value) json.Value {
	for _, v := range []json.Value{
		body.Get("tools"), body.Get("toolConfig").Get("tools"), body.Get("functions"), body.Get("result").Get("tools"),
		body.Get("request").Get("tools"),
	} {
		if v.Kind() == '[' {
			return v
		}
	}
	return append(append(json.Value{'['}, body...), ']')
}

// shapeOf returns the form of a list of tools. The first tool with a recognisable form decides. If no tool has one,
// the result is "".
func shapeOf(list json.Value) string {
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

// asForm reads a list of tools in the given form.
func asForm(form string, list json.Value) (t Tools) {
	t.Protocol = form
	if form == mcp {
		for v := range list.Elements() {
			t.List = append(t.List, protocol.FunctionTool(v, "inputSchema"))
		}
		return t
	}
	var request json.Writer
	first := list.Scan()
	first.Array()
	bare := first.Value().Get("name").IsString()
	switch t.Declared = list; {
	case form == "bedrock":
		var w json.Writer
		t.Declared = w.Open('{').Key("tools").Raw(list).Close('}').Text
		request.Open('{').Key("toolConfig").Raw(t.Declared).Close('}')
	case form == "gemini" && bare:
		var w json.Writer
		t.Declared = w.Open('[').Open('{').Key("functionDeclarations").Raw(list).Close('}').Close(']').Text
		request.Open('{').Key("tools").Raw(t.Declared).Close('}')
	case form == "openai-chat" && bare: // the functions field, the predecessor of the tools field
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

// Declare adds the tools to a request for a target. If the target uses the protocol of the tools, Declare
// adds them unchanged. Otherwise it adds the tools that it can translate, and returns the names of the
// remaining tools. Tools that a provider runs itself don't exist at other providers.
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
