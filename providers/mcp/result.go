package mcp

import (
	"bytes"
	"strings"

	"toolscope/providers/schema"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/tag"
)

// setResult reads a result. It keeps at most MaxKept bytes of the text and of the structured content.
func (r *Request) setResult(result json.Value) {
	r.Size = len(result)
	r.waits = result.Get("resultType").Is("input_required")
	r.Failed = result.Get("isError").IsTrue()
	r.Text, r.TextSize, r.Media, r.Structured, r.StructuredSize = "", 0, 0, nil, 0
	var text strings.Builder
	for part := range result.Get("content").Elements() {
		if t := part.Get("text"); t.IsString() {
			words := t.Text()
			r.TextSize += len(words)
			text.WriteString(words[:min(len(words), MaxKept-text.Len())])
		} else if part != nil {
			r.Media++
		}
	}
	r.Text = text.String()
	if shape := result.Get("structuredContent"); shape.IsPresent() {
		r.Structured, r.StructuredSize = clipRaw(shape), len(shape)
	}
}

// badResult is the diagnosis for a result that the specification doesn't allow. The TypeScript SDK 1.32.2 was run with
// such results, and refuses them (CallToolResultSchema and callTool in
// https://github.com/modelcontextprotocol/typescript-sdk). What the Python SDK refuses was read in its source
// (CallToolResult and ClientSession.call_tool in https://github.com/modelcontextprotocol/python-sdk).
var badResult = &stream.Diagnosis{
	Code: "MCP_RESULT_INVALID", Severity: stream.Warn, By: stream.Server,
	Verdict: "bad MCP data",
	Meaning: "An MCP server sent a tool result or a list of tools that the MCP specification doesn't allow. Clients that use the named SDK refuse it, so the model gets an error instead of the result, or no tools.",
	Advice:  "Correct the result, the list, or the tool's outputSchema in the server. Leave out fields without a value: null isn't allowed.",
}

// The parties that refuse a result, as messages name them.
const (
	refusedByBoth       stream.Own = "the TypeScript and Python SDKs refuse it"
	refusedByPython     stream.Own = "the Python SDK refuses it"
	refusedByTypeScript stream.Own = "the TypeScript SDK refuses it"
)

// The versions of the protocol in which rules for results changed.
const (
	versionOfStructured = "2025-06-18" // structuredContent and outputSchema are new
	versionOfAnyJSON    = "2026-07-28" // structuredContent may be any JSON value; also the latest version known here
)

// checkResult reports the first problem of a tool result. It reports nothing if bytes of the result may be missing.
func (t *dialogue) checkResult(r *Request, result json.Value) {
	expected := r.output
	if !r.waits {
		r.output = nil
	}
	if !t.stdio && t.server.Gaps > 0 {
		return
	}
	problem, refused := r.contentProblem(result)
	if problem.Text == "" {
		problem, refused = r.structuredProblem(result, expected), refusedByBoth
	}
	if problem.Text == "" && !isOther(result) {
		problem, refused = nullProblem(result), refusedByTypeScript
	}
	if problem.Text != "" {
		t.server.noteOnce(r.Answered, badResult, "the result of %q: %s: %s", stream.Fact(clipName(r.Tool)), problem, refused)
	}
}

// isOther reports whether a result isn't the result of a finished tool: a request for more input, a task, or the form
// of the version 2024-10-07.
func isOther(result json.Value) bool {
	kind := result.Get("resultType")
	return kind.IsPresent() && !kind.Is("complete") || result.Get("task").IsPresent() || result.Get("toolResult") != nil
}

// isRedacted reports whether a value contains the tag that replaces a secret. Such a value isn't checked, because the
// tag may have another type, length or form than the secret.
func isRedacted(value json.Value) bool { return tag.IsIn(value) }

// contentProblem returns the first problem of the content, and the party that refuses it. If there is no problem, the
// message is empty.
func (r *Request) contentProblem(result json.Value) (problem stream.Message, refused stream.Own) {
	content := result.Get("content")
	switch {
	case isOther(result):
		return problem, refused
	case result.Kind() != '{':
		return stream.Message{Text: "it is not an object"}, refusedByBoth
	case content == nil:
		return stream.Message{Text: "content is missing"}, refusedByPython
	case content.Kind() != '[':
		if !isRedacted(content) {
			problem.Text = "content is not an array"
		}
		return problem, refusedByBoth
	}
	n := 0
	for block := range content.Elements() {
		if block != nil && !isRedacted(block) {
			if problem = r.blockProblem(block); problem.Text != "" {
				return stream.Messagef("content[%d] %s", n, problem), refusedByBoth
			}
		}
		n++
	}
	return problem, refused
}

// blockFields lists the fields that blocks of each type must have. They are strings. In a block of the type resource,
// the fields are those of its resource, which must also have text or blob.
var blockFields = map[string][]string{
	"text": {"text"}, "image": {"data", "mimeType"}, "audio": {"data", "mimeType"}, "resource_link": {"uri", "name"}, "resource": {"uri"},
}

// blockProblem returns the first problem of a block of the content. It accepts types of all versions, because clients
// do so too, and unknown types of versions later than those known here.
func (r *Request) blockProblem(block json.Value) (problem stream.Message) {
	kind := block.Get("type")
	fields, known := blockFields[kind.Text()]
	switch {
	case block.Kind() != '{':
		return stream.Message{Text: "is not an object"}
	case !kind.IsString():
		return stream.Message{Text: "has no type"}
	case !known && r.version <= versionOfAnyJSON:
		return stream.Messagef("has the type %q, which doesn't exist", stream.Fact(clipName(kind.Text())))
	}
	if kind.Is("resource") {
		if block = block.Get("resource"); block.Kind() != '{' {
			return stream.Message{Text: "has no resource"}
		}
		if !block.Get("text").IsString() && !block.Get("blob").IsString() {
			return stream.Message{Text: "has a resource without text or blob"}
		}
	}
	for _, name := range fields {
		switch value := block.Get(name); {
		case !value.IsPresent():
			return stream.Messagef("has the type %q, but no %s", stream.Fact(kind.Text()), stream.Own(name))
		case !value.IsString():
			return stream.Messagef("has the type %q, but %s is not a string", stream.Fact(kind.Text()), stream.Own(name))
		}
	}
	return problem
}

// structuredProblem returns the first problem of the structured content. The parameter expected is the output schema
// when the request was sent. If the schema has changed since, the structured content isn't compared with it.
func (r *Request) structuredProblem(result, expected json.Value) (problem stream.Message) {
	failed := result.Get("isError")
	if isOther(result) || failed.IsPresent() && failed.Kind() != 'f' || r.version != "" && r.version < versionOfStructured {
		return problem
	}
	content := result.Get("structuredContent")
	onlyObjects := r.version != "" && r.version < versionOfAnyJSON
	tool := r.Server.outputTool(r.Tool, r.scope)
	if tool != nil && !bytes.Equal(tool.Output, expected) {
		tool = nil
	}
	switch {
	case isRedacted(content):
	case content.IsPresent() && content.Kind() != '{' && onlyObjects:
		problem.Text = "structuredContent is not an object"
	case tool == nil:
	case content == nil || !content.IsPresent() && onlyObjects:
		problem.Text = "the tool has an outputSchema, but the result has no structuredContent"
	case content.IsPresent() && !isRedacted(tool.Output):
		if tool.output == nil {
			tool.output = schema.CompileValue(tool.Output)
		}
		if problem = tool.output.FindProblem(content, "structuredContent"); problem.Text != "" {
			problem = stream.Messagef("the tool's outputSchema doesn't allow it: %s", problem)
		}
	}
	return problem
}

// Optional fields that the TypeScript SDK refuses if they are null (1.32.2 was run with each of them). Servers in C#, Java,
// Python and Rust write null for a field without a value, unless an option leaves it out.
var (
	nullInResult      = []string{"isError", "_meta"}
	nullInBlock       = []string{"annotations", "_meta"}
	nullInLink        = []string{"title", "description", "mimeType", "size", "icons"}
	nullInResource    = []string{"mimeType", "_meta"}
	nullInTool        = []string{"title", "description", "outputSchema", "annotations", "_meta", "icons", "execution"}
	nullInAnnotations = []string{"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
)

// firstNull returns the first of the named fields that is null in an object, or "".
func firstNull(object json.Value, names []string) string {
	for _, name := range names {
		if object.Get(name).Kind() == 'n' {
			return name
		}
	}
	return ""
}

// nullProblem returns the first optional field of a result that is null, as a problem.
func nullProblem(result json.Value) (problem stream.Message) {
	if name := firstNull(result, nullInResult); name != "" {
		return stream.Messagef("%s is null", stream.Own(name))
	}
	n := 0
	for block := range result.Get("content").Elements() {
		name := firstNull(block, nullInBlock)
		if name == "" && block.Get("type").Is("resource_link") {
			name = firstNull(block, nullInLink)
		}
		if inner := firstNull(block.Get("resource"), nullInResource); name == "" && inner != "" {
			name = "resource." + inner
		}
		if name != "" {
			return stream.Messagef("content[%d].%s is null", n, stream.Own(name))
		}
		n++
	}
	return problem
}

// checkTools reports the first problem of a tool in a list. A client that refuses the list has none of the server's
// tools.
func (t *dialogue) checkTools(r *Request, list json.Value) {
	n := 0
	for tool := range list.Get("tools").Elements() {
		if problem, refused := r.toolProblem(tool); problem != "" && !isRedacted(tool) {
			t.server.noteOnce(r.Answered, badResult, "the list of tools: tools[%d].%s (%s): %s, so the client gets no tools",
				n, stream.Own(problem), stream.Fact(clipName(tool.Get("name").Text())), refused)
			return
		}
		n++
	}
}

// toolProblem returns the first problem of a tool in a list, and the party that refuses it. The root of both schemas must
// have the type object; the latest version allows any outputSchema.
func (r *Request) toolProblem(tool json.Value) (problem string, refused stream.Own) {
	if name := firstNull(tool, nullInTool); name != "" {
		return name + " is null", refusedByTypeScript
	}
	if name := firstNull(tool.Get("annotations"), nullInAnnotations); name != "" {
		return "annotations." + name + " is null", refusedByTypeScript
	}
	input, output := tool.Get("inputSchema"), tool.Get("outputSchema")
	switch {
	case tool.Kind() != '{':
		return problem, refused
	case input.Kind() != '{':
		return "inputSchema is not an object", refusedByBoth
	case !input.Get("type").Is("object"):
		return "inputSchema does not have the type object", refusedByTypeScript
	case output.Kind() == '{' && !output.Get("type").Is("object") && r.version != "" && r.version < versionOfAnyJSON:
		return "outputSchema does not have the type object", refusedByTypeScript
	}
	return problem, refused
}

// outputTool returns the tool with the given name, whose output schema was sent in the given scope. It returns nil if
// no tool has this name, or if two tools with this name have different output schemas.
func (s *Server) outputTool(name, scope string) (found *Tool) {
	for i := range s.Tools {
		switch t := &s.Tools[i]; {
		case t.Name != name:
		case t.Output == nil || t.scope != scope || found != nil && !bytes.Equal(found.Output, t.Output):
			return nil
		default:
			found = t
		}
	}
	return found
}

// forgetOutputs forgets the output schemas of all tools, because they may have changed.
func (s *Server) forgetOutputs() {
	for _, tools := range [][]Tool{s.Tools, s.listed} {
		for i := range tools {
			tools[i].Output, tools[i].output = nil, nil
		}
	}
}

// clipName shortens a name from the traffic.
func clipName(name string) string { return oneLine(strings.ToValidUTF8(name[:min(len(name), 80)], "")) }
