package gemini

import "toolscope/providers/dialect"

// chunk is one chunk, or one whole body, as it is on the wire: every chunk is a response of its own
// whose parts continue those before. Names come in camel case, and in snake case from clients that
// print what they parsed.
type chunk struct {
	shape *dialect.Shape

	id, model, feedback, err dialect.Raw

	usage      usage
	candidates dialect.Elements[candidate]
}

func (c *chunk) bindShape() {
	members := []dialect.Field{
		dialect.Each("candidates", &c.candidates, (*candidate).shapeFields),
		dialect.Object("usageMetadata", c.usage.shapeFields()...).Or("usage_metadata").Into(&c.usage.whole),
		dialect.Value("modelVersion", &c.model).Or("model_version"),
		dialect.Value("responseId", &c.id).Or("response_id"),
		dialect.Value("promptFeedback", &c.feedback).Or("prompt_feedback"),
		dialect.Value("error", &c.err),
	}
	c.shape = dialect.ShapeOf(append(members, dialect.Object("response", members...))...)
}

// isResponse reports whether there is anything of a response.
func (c *chunk) isResponse() bool {
	return c.candidates.IsPresent() || c.err.IsPresent() || c.usage.whole.IsPresent() || c.feedback.IsPresent() || c.model.IsPresent() || c.id.IsPresent()
}

type candidate struct {
	index, finish, message dialect.Raw

	parts dialect.Elements[part]
}

func (c *candidate) shapeFields() []dialect.Field {
	return []dialect.Field{
		dialect.Object("content", dialect.Each("parts", &c.parts, (*part).shapeFields)),
		dialect.Value("finishReason", &c.finish).Or("finish_reason"),
		dialect.Value("index", &c.index),
		dialect.Value("finishMessage", &c.message).Or("finish_message"),
	}
}

type part struct {
	text, thought, signature dialect.Raw

	values [partText]dialect.Raw // by kind: one of them is an object, or none
	other  dialect.Raw           // name of a member that this version does not know
	call   functionCall
}

type partKind uint8

const (
	partCall   partKind = iota // functionCall
	partCode                   // executableCode
	partResult                 // codeExecutionResult
	partTool                   // toolCall: run by the provider
	partAnswer                 // toolResponse
	partMedia                  // what is no matter here
	partText                   // or a thought, or nothing at all
	partNew                    // of a kind this version does not know
)

func (p *part) shapeFields() []dialect.Field {
	return []dialect.Field{
		dialect.Object("functionCall", p.call.shapeFields()...).Or("function_call").Into(&p.values[partCall]),
		dialect.Value("text", &p.text),
		dialect.Value("thought", &p.thought),
		dialect.Value("thoughtSignature", &p.signature).Or("thought_signature"),
		dialect.Value("executableCode", &p.values[partCode]).Or("executable_code"),
		dialect.Value("codeExecutionResult", &p.values[partResult]).Or("code_execution_result"),
		dialect.Value("toolCall", &p.values[partTool]).Or("tool_call"),
		dialect.Value("toolResponse", &p.values[partAnswer]).Or("tool_response"),
		dialect.Value("inlineData", &p.values[partMedia]).Or("inline_data", "fileData", "file_data", "videoMetadata", "video_metadata",
			"mediaResolution", "media_resolution", "partMetadata", "part_metadata"),
		dialect.Other(&p.other),
	}
}

// kindAndValue is what the part is, and its value.
func (p *part) kindAndValue() (partKind, dialect.Raw) {
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

// functionCall is the part that proposes a call or continues the one before.
type functionCall struct {
	id, name, args, continues dialect.Raw

	patches dialect.Elements[patch]
}

func (f *functionCall) shapeFields() []dialect.Field {
	return []dialect.Field{
		dialect.Each("partialArgs", &f.patches, (*patch).shapeFields).Or("partial_args"),
		dialect.Value("willContinue", &f.continues).Or("will_continue"),
		dialect.Value("name", &f.name),
		dialect.Value("args", &f.args),
		dialect.Value("id", &f.id),
	}
}

// patch is an element of partialArgs.
type patch struct{ path, value, null, continues dialect.Raw }

func (p *patch) shapeFields() []dialect.Field {
	return []dialect.Field{
		dialect.Value("jsonPath", &p.path).Or("json_path"),
		dialect.Value("stringValue", &p.value).Or("string_value", "numberValue", "number_value", "boolValue", "bool_value"),
		dialect.Value("nullValue", &p.null).Or("null_value"),
		dialect.Value("willContinue", &p.continues).Or("will_continue"),
	}
}

// usage is usageMetadata. Cached tokens are part of the prompt; all others exclude each other.
type usage struct {
	whole dialect.Raw

	prompt, tool, cached, candidates, thoughts, tier, traffic dialect.Raw
}

func (u *usage) shapeFields() []dialect.Field {
	return []dialect.Field{
		dialect.Value("promptTokenCount", &u.prompt).Or("prompt_token_count"),
		dialect.Value("candidatesTokenCount", &u.candidates).Or("candidates_token_count"),
		dialect.Value("thoughtsTokenCount", &u.thoughts).Or("thoughts_token_count"),
		dialect.Value("cachedContentTokenCount", &u.cached).Or("cached_content_token_count"),
		dialect.Value("toolUsePromptTokenCount", &u.tool).Or("tool_use_prompt_token_count"),
		dialect.Value("serviceTier", &u.tier).Or("service_tier"),
		dialect.Value("trafficType", &u.traffic).Or("traffic_type"),
	}
}
