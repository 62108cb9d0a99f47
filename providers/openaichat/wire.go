package openaichat

import "toolscope/providers/dialect"

// chunk is one chunk, or one whole body, as it is on the wire.
type chunk struct {
	shape *dialect.Shape

	id, model, object, usage, groqUsage, tier, err, message dialect.Raw

	choices dialect.Elements[choice]
}

// choice is one of the alternative responses. What it says stands in delta, or in message in a
// body.
type choice struct {
	index, finish, native, usage dialect.Raw

	delta, message choiceContent
}

// choiceContent is what a choice says.
type choiceContent struct {
	object, role, content, refusal             dialect.Raw
	reasoningContent, reasoning, reasoningText dialect.Raw
	reasoningDetails                           dialect.Raw
	extra                                      dialect.Raw
	executed                                   dialect.Raw // tools that Groq ran itself

	calls    dialect.Elements[wireCall]
	function wireCall // the old form of calls
}

// wireCall is one element of tool_calls, or a function_call.
type wireCall struct {
	object, index, id, kind, name, args, extra dialect.Raw

	custom dialect.Raw // the part that holds name and input of a custom tool
}

func newChunk() *chunk {
	c := new(chunk)
	c.shape = dialect.ShapeOf(
		dialect.Value("id", &c.id),
		dialect.Value("object", &c.object),
		dialect.Value("model", &c.model),
		dialect.Value("service_tier", &c.tier),
		dialect.Each("choices", &c.choices, (*choice).shapeFields),
		dialect.Value("usage", &c.usage),
		dialect.Object("x_groq", dialect.Value("usage", &c.groqUsage)),
		dialect.Value("error", &c.err),
		dialect.Value("message", &c.message))
	return c
}

func (c *choice) shapeFields() []dialect.Field {
	return []dialect.Field{
		dialect.Value("index", &c.index),
		dialect.Object("delta", c.delta.shapeFields()...).Into(&c.delta.object),
		dialect.Object("message", c.message.shapeFields()...).Into(&c.message.object),
		dialect.Value("finish_reason", &c.finish),
		dialect.Value("native_finish_reason", &c.native),
		dialect.Value("usage", &c.usage),
	}
}

func (s *choiceContent) shapeFields() []dialect.Field {
	return []dialect.Field{
		dialect.Value("role", &s.role),
		dialect.Value("content", &s.content),
		dialect.Value("refusal", &s.refusal),
		dialect.Value("reasoning_content", &s.reasoningContent),
		dialect.Value("reasoning", &s.reasoning),
		dialect.Value("reasoning_text", &s.reasoningText),
		dialect.Value("reasoning_details", &s.reasoningDetails),
		dialect.Value("extra_content", &s.extra),
		dialect.Value("executed_tools", &s.executed),
		dialect.Each("tool_calls", &s.calls, (*wireCall).shapeFields),
		dialect.Object("function_call", s.function.functionFields()...).Into(&s.function.object),
	}
}

func (w *wireCall) shapeFields() []dialect.Field {
	return []dialect.Field{
		dialect.Value("index", &w.index),
		dialect.Value("id", &w.id),
		dialect.Value("type", &w.kind),
		dialect.Object("function", w.functionFields()...),
		dialect.Object("custom", w.functionFields()...).Into(&w.custom),
		dialect.Value("extra_content", &w.extra),
	}
}

// functionFields is the part that holds name and arguments (input, for custom tools).
func (w *wireCall) functionFields() []dialect.Field {
	return []dialect.Field{
		dialect.Value("name", &w.name),
		dialect.Value("arguments", &w.args).Or("input"),
	}
}

// content is what the choice says, and whether that is all of it. A message beside a delta repeats it,
// as Writer's does.
func (c *choice) content() (s *choiceContent, whole bool) {
	if c.delta.object.Kind() != '{' && c.message.object.Kind() == '{' {
		return &c.message, true
	}
	return &c.delta, false
}

// isCustom reports whether the arguments are free text.
func (w *wireCall) isCustom() bool { return w.custom.Kind() == '{' || w.kind.Is("custom") }

// isLegacy reports whether the call stands in function_call.
func (w *wireCall) isLegacy() bool { return w.object != nil }

// isNews reports whether the element carries anything but metadata.
func (w *wireCall) isNews() bool {
	return w.id.IsPresent() || w.name.IsPresent() || w.args != nil || w.kind.IsPresent()
}

// thoughtSignature is the signature in an extra_content, where Gemini's compatible endpoint has it:
// of a call, or of what a message says.
func thoughtSignature(extra dialect.Raw) dialect.Raw {
	return extra.Get("google").Get("thought_signature")
}
