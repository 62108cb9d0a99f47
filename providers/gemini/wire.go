package gemini

import (
	"errors"

	"toolscope/providers/dialect"
)

// chunk is one chunk, or one whole body, as it is on the wire: every chunk is a
// response of its own whose parts continue those before. Names come in camel
// case, and in snake case from clients that print what they parsed.
type chunk struct {
	id, model, usage, feedback, err dialect.Raw

	candidates []candidate
	parts      []part  // of all candidates, in order
	patches    []patch // of all parts, in order
	listed     bool    // there was a list of candidates, empty or not
}

type candidate struct {
	index, finish, message dialect.Raw

	parts int // how many of chunk.parts are this candidate's
}

type part struct {
	text, signature dialect.Raw

	thought bool
	kind    partKind
	key     string      // the wire's own name of the kind
	value   dialect.Raw // of kinds other than partCall
	call    functionCall
}

type partKind uint8

const (
	partText   partKind = iota // or nothing at all
	partMedia                  // what is no matter here
	partCall                   // functionCall
	partCode                   // executableCode
	partResult                 // codeExecutionResult
	partTool                   // toolCall: run by the provider
	partAnswer                 // toolResponse
	partNew                    // of a kind this version does not know
)

// functionCall is the part that proposes a call or continues the one before.
type functionCall struct {
	id, name, args dialect.Raw

	continues bool // willContinue
	patched   bool // there was a list of partialArgs, empty or not
	patches   int  // how many of chunk.patches are this call's
}

// patch is an element of partialArgs.
type patch struct {
	path, value dialect.Raw

	continues bool
}

// parse reads data into c, whose slices are reused.
func (c *chunk) parse(data []byte) error {
	*c = chunk{candidates: c.candidates[:0], parts: c.parts[:0], patches: c.patches[:0]}
	s := dialect.Scan(data)
	if s.Kind() != '{' {
		return errors.New("not a JSON object")
	}
	c.response(&s)
	return s.End()
}

func (c *chunk) response(s *dialect.Scanner) {
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "response":
			c.response(s)
		case "responseId", "response_id":
			c.id = s.Value()
		case "modelVersion", "model_version":
			c.model = s.Value()
		case "usageMetadata", "usage_metadata":
			c.usage = s.Value()
		case "promptFeedback", "prompt_feedback":
			c.feedback = s.Value()
		case "error":
			c.err = s.Value()
		case "candidates":
			c.listed = s.Kind() == '['
			for ok := s.Array(); ok; ok = s.Element() {
				c.candidate(s)
			}
		}
	}
}

func (c *chunk) candidate(s *dialect.Scanner) {
	var k candidate
	before := len(c.parts)
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "index":
			k.index = s.Value()
		case "finishReason", "finish_reason":
			k.finish = s.Value()
		case "finishMessage", "finish_message":
			k.message = s.Value()
		case "content":
			for ok := s.Object(); ok; ok = s.Member() {
				if string(s.Key()) != "parts" {
					continue
				}
				for ok := s.Array(); ok; ok = s.Element() {
					c.part(s)
				}
			}
		}
	}
	k.parts = len(c.parts) - before
	c.candidates = append(c.candidates, k)
}

// partKinds are the members that say what a part is.
var partKinds = map[string]partKind{
	"executableCode": partCode, "executable_code": partCode,
	"codeExecutionResult": partResult, "code_execution_result": partResult,
	"toolCall": partTool, "tool_call": partTool,
	"toolResponse": partAnswer, "tool_response": partAnswer,
	"inlineData": partMedia, "inline_data": partMedia, "fileData": partMedia, "file_data": partMedia,
	"videoMetadata": partMedia, "video_metadata": partMedia, "mediaResolution": partMedia, "media_resolution": partMedia,
	"partMetadata": partMedia, "part_metadata": partMedia,
}

func (c *chunk) part(s *dialect.Scanner) {
	var p part
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "text":
			p.text = s.Value()
		case "thought":
			p.thought = string(s.Value()) == "true"
		case "thoughtSignature", "thought_signature":
			p.signature = s.Value()
		case "functionCall", "function_call":
			if s.Kind() == '{' {
				p.kind = partCall
				c.functionCall(s, &p.call)
			}
		default:
			switch kind, known := partKinds[string(s.Key())]; {
			case known:
				p.kind, p.value = kind, s.Value()
			case p.kind == partText:
				p.kind, p.key = partNew, string(s.Key())
			}
		}
	}
	if p.kind == partNew && (p.text.Given() || p.signature.Given()) {
		p.kind = partText // an unknown member of a known part
	}
	c.parts = append(c.parts, p)
}

func (c *chunk) functionCall(s *dialect.Scanner, f *functionCall) {
	before := len(c.patches)
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "id":
			f.id = s.Value()
		case "name":
			f.name = s.Value()
		case "args":
			f.args = s.Value()
		case "willContinue", "will_continue":
			f.continues = string(s.Value()) == "true"
		case "partialArgs", "partial_args":
			f.patched = s.Kind() == '['
			for ok := s.Array(); ok; ok = s.Element() {
				c.patches = append(c.patches, parsePatch(s))
			}
		}
	}
	f.patches = len(c.patches) - before
}

func parsePatch(s *dialect.Scanner) (p patch) {
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "jsonPath", "json_path":
			p.path = s.Value()
		case "stringValue", "string_value", "numberValue", "number_value", "boolValue", "bool_value":
			p.value = s.Value()
		case "nullValue", "null_value":
			p.value = dialect.Raw("null")
		case "willContinue", "will_continue":
			p.continues = string(s.Value()) == "true"
		}
	}
	return p
}
