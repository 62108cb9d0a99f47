package gemini

import "toolscope/providers/protocol"

// chunk is one chunk, or one complete body, on the wire. Each chunk is a response whose parts continue
// the earlier ones. Names are in camel case, or in snake case from clients that print parsed objects.
type chunk struct {
	shape *protocol.Shape

	id, model, feedback, err protocol.Raw

	usage      usage
	candidates protocol.Elements[candidate]
}

func (c *chunk) bindShape() {
	members := []protocol.Field{
		protocol.Each("candidates", &c.candidates, (*candidate).shapeFields),
		protocol.Object("usageMetadata", c.usage.shapeFields()...).Or("usage_metadata").Into(&c.usage.whole),
		protocol.Value("modelVersion", &c.model).Or("model_version"),
		protocol.Value("responseId", &c.id).Or("response_id"),
		protocol.Value("promptFeedback", &c.feedback).Or("prompt_feedback"),
		protocol.Value("error", &c.err),
	}
	c.shape = protocol.ShapeOf(append(members, protocol.Object("response", members...))...)
}

// isResponse reports whether the object has any field of a response.
func (c *chunk) isResponse() bool {
	return c.candidates.IsPresent() || c.err.IsPresent() || c.usage.whole.IsPresent() || c.feedback.IsPresent() || c.model.IsPresent() || c.id.IsPresent()
}

type candidate struct {
	index, finish, message protocol.Raw

	parts protocol.Elements[part]
}

func (c *candidate) shapeFields() []protocol.Field {
	return []protocol.Field{
		protocol.Object("content", protocol.Each("parts", &c.parts, (*part).shapeFields)),
		protocol.Value("finishReason", &c.finish).Or("finish_reason"),
		protocol.Value("index", &c.index),
		protocol.Value("finishMessage", &c.message).Or("finish_message"),
	}
}

type part struct {
	text, thought, signature protocol.Raw

	values [partText]protocol.Raw // by kind: at most one is an object
	other  protocol.Raw           // name of an unknown field
	call   functionCall
}

type partKind uint8

const (
	partCall   partKind = iota // functionCall
	partCode                   // executableCode
	partResult                 // codeExecutionResult
	partTool                   // toolCall: run by the provider
	partAnswer                 // toolResponse
	partMedia                  // media and metadata, which are ignored
	partText                   // a text, a thought, or nothing
	partNew                    // of an unknown kind
)

func (p *part) shapeFields() []protocol.Field {
	return []protocol.Field{
		protocol.Object("functionCall", p.call.shapeFields()...).Or("function_call").Into(&p.values[partCall]),
		protocol.Value("text", &p.text),
		protocol.Value("thought", &p.thought),
		protocol.Value("thoughtSignature", &p.signature).Or("thought_signature"),
		protocol.Value("executableCode", &p.values[partCode]).Or("executable_code"),
		protocol.Value("codeExecutionResult", &p.values[partResult]).Or("code_execution_result"),
		protocol.Value("toolCall", &p.values[partTool]).Or("tool_call"),
		protocol.Value("toolResponse", &p.values[partAnswer]).Or("tool_response"),
		protocol.Value("inlineData", &p.values[partMedia]).Or("inline_data", "fileData", "file_data", "videoMetadata", "video_metadata",
			"mediaResolution", "media_resolution", "partMetadata", "part_metadata"),
		protocol.Other(&p.other),
	}
}

// kindAndValue returns the kind of the part, and its value.
func (p *part) kindAndValue() (partKind, protocol.Raw) {
	for kind, value := range p.values {
		if value.Kind() == '{' {
			return partKind(kind), value
		}
	}
	if p.other != nil && !p.text.IsPresent() && !p.signature.IsPresent() {
		return partNew, nil
	}
	return partText, nil
}

// functionCall is the part with a call, or with the continuation of the previous call.
type functionCall struct {
	id, name, args, continues protocol.Raw

	patches protocol.Elements[patch]
}

func (f *functionCall) shapeFields() []protocol.Field {
	return []protocol.Field{
		protocol.Each("partialArgs", &f.patches, (*patch).shapeFields).Or("partial_args"),
		protocol.Value("willContinue", &f.continues).Or("will_continue"),
		protocol.Value("name", &f.name),
		protocol.Value("args", &f.args),
		protocol.Value("id", &f.id),
	}
}

// patch is an element of partialArgs.
type patch struct{ path, value, null, continues protocol.Raw }

func (p *patch) shapeFields() []protocol.Field {
	return []protocol.Field{
		protocol.Value("jsonPath", &p.path).Or("json_path"),
		protocol.Value("stringValue", &p.value).Or("string_value", "numberValue", "number_value", "boolValue", "bool_value"),
		protocol.Value("nullValue", &p.null).Or("null_value"),
		protocol.Value("willContinue", &p.continues).Or("will_continue"),
	}
}

// usage is usageMetadata. The prompt includes the cached tokens. All other counts exclude each other.
type usage struct {
	whole protocol.Raw

	prompt, tool, cached, candidates, thoughts, tier, traffic protocol.Raw
}

func (u *usage) shapeFields() []protocol.Field {
	return []protocol.Field{
		protocol.Value("promptTokenCount", &u.prompt).Or("prompt_token_count"),
		protocol.Value("candidatesTokenCount", &u.candidates).Or("candidates_token_count"),
		protocol.Value("thoughtsTokenCount", &u.thoughts).Or("thoughts_token_count"),
		protocol.Value("cachedContentTokenCount", &u.cached).Or("cached_content_token_count"),
		protocol.Value("toolUsePromptTokenCount", &u.tool).Or("tool_use_prompt_token_count"),
		protocol.Value("serviceTier", &u.tier).Or("service_tier"),
		protocol.Value("trafficType", &u.traffic).Or("traffic_type"),
	}
}
