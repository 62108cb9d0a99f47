package openaichat

import "toolscope/providers/protocol"

// chunk is one chunk, or one complete body, on the wire.
type chunk struct {
	shape *protocol.Shape

	id, model, object, usage, groqUsage, tier, err, message protocol.Raw

	choices protocol.Elements[choice]
}

// choice is one of the alternative responses. Its content is in delta, or in message in a body.
type choice struct {
	index, finish, native, usage protocol.Raw

	delta, message choiceContent
}

// choiceContent is the content of a choice.
type choiceContent struct {
	object, role, content, refusal             protocol.Raw
	reasoningContent, reasoning, reasoningText protocol.Raw
	reasoningDetails                           protocol.Raw
	extra                                      protocol.Raw
	executed                                   protocol.Raw // tools that Groq ran itself

	calls    protocol.Elements[wireCall]
	function wireCall // the old form of calls
}

// wireCall is one element of tool_calls, or a function_call.
type wireCall struct {
	object, index, id, kind, name, args, extra protocol.Raw

	custom protocol.Raw // object with name and input of a custom tool
}

func newChunk() *chunk {
	c := new(chunk)
	c.shape = protocol.ShapeOf(
		protocol.Value("id", &c.id),
		protocol.Value("object", &c.object),
		protocol.Value("model", &c.model),
		protocol.Value("service_tier", &c.tier),
		protocol.Each("choices", &c.choices, (*choice).shapeFields),
		protocol.Value("usage", &c.usage),
		protocol.Object("x_groq", protocol.Value("usage", &c.groqUsage)),
		protocol.Value("error", &c.err),
		protocol.Value("message", &c.message))
	return c
}

func (c *choice) shapeFields() []protocol.Field {
	return []protocol.Field{
		protocol.Value("index", &c.index),
		protocol.Object("delta", c.delta.shapeFields()...).Into(&c.delta.object),
		protocol.Object("message", c.message.shapeFields()...).Into(&c.message.object),
		protocol.Value("finish_reason", &c.finish),
		protocol.Value("native_finish_reason", &c.native),
		protocol.Value("usage", &c.usage),
	}
}

func (s *choiceContent) shapeFields() []protocol.Field {
	return []protocol.Field{
		protocol.Value("role", &s.role),
		protocol.Value("content", &s.content),
		protocol.Value("refusal", &s.refusal),
		protocol.Value("reasoning_content", &s.reasoningContent),
		protocol.Value("reasoning", &s.reasoning),
		protocol.Value("reasoning_text", &s.reasoningText),
		protocol.Value("reasoning_details", &s.reasoningDetails),
		protocol.Value("extra_content", &s.extra),
		protocol.Value("executed_tools", &s.executed),
		protocol.Each("tool_calls", &s.calls, (*wireCall).shapeFields),
		protocol.Object("function_call", s.function.functionFields()...).Into(&s.function.object),
	}
}

func (w *wireCall) shapeFields() []protocol.Field {
	return []protocol.Field{
		protocol.Value("index", &w.index),
		protocol.Value("id", &w.id),
		protocol.Value("type", &w.kind),
		protocol.Object("function", w.functionFields()...),
		protocol.Object("custom", w.functionFields()...).Into(&w.custom),
		protocol.Value("extra_content", &w.extra),
	}
}

// functionFields returns the fields with name and arguments (input, for custom tools).
func (w *wireCall) functionFields() []protocol.Field {
	return []protocol.Field{
		protocol.Value("name", &w.name),
		protocol.Value("arguments", &w.args).Or("input"),
	}
}

// content returns the content of the choice, and whether it is complete. A message next to a delta
// repeats it, as in Writer's responses.
func (c *choice) content() (s *choiceContent, whole bool) {
	if c.delta.object.Kind() != '{' && c.message.object.Kind() == '{' {
		return &c.message, true
	}
	return &c.delta, false
}

// isCustom reports whether the arguments are free text.
func (w *wireCall) isCustom() bool { return w.custom.Kind() == '{' || w.kind.Is("custom") }

// isLegacy reports whether the call is a function_call.
func (w *wireCall) isLegacy() bool { return w.object != nil }

// isNews reports whether the element has more than metadata.
func (w *wireCall) isNews() bool {
	return w.id.IsPresent() || w.name.IsPresent() || w.args != nil || w.kind.IsPresent()
}

// thoughtSignature returns the signature in an extra_content, in which Gemini's compatible endpoint
// sends it: for a call, or for the content of a message.
func thoughtSignature(extra protocol.Raw) protocol.Raw {
	return extra.Get("google").Get("thought_signature")
}
