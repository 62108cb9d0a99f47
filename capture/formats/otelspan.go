package formats

import (
	"strconv"
	"strings"
)

// A span is one call of a model, as attributes and events tell of it.
type span struct {
	attributes map[string][]byte
	convention string // whose names it has

	said   []saidBy
	asked  []byte // the model that was asked for
	answer reply
	word   string // why it finished
	tools  [][]byte
}

// saidBy is a message.
type saidBy struct {
	by    speaker
	parts []utterance
}

// event takes an event of the span. Older conventions have messages there, newer ones attributes.
func (s *span) event(e []byte) {
	f := pick(e, "name", "attributes")
	name, _ := Text(f[0])
	s.named(string(name), attributesOf(f[1]))
}

// logged takes the events that Logfire has in an attribute.
func (s *span) logged() {
	for e := range Elements(s.json("events")) {
		of := map[string][]byte{}
		for k, v := range Members(e) {
			of[k] = given(v)
		}
		name, _ := Text(of["event.name"])
		s.named(string(name), of)
	}
}

// named takes an event by its name and attributes.
func (s *span) named(name string, of map[string][]byte) {
	switch {
	case name == "gen_ai.client.inference.operation.details":
		for k, v := range of {
			s.attributes[k] = v
		}
	case name == "exception":
		s.attributes["exception.message"] = of["exception.message"]
		s.attributes["exception.type"] = of["exception.type"]
	case name == "gen_ai.choice":
		s.convention = "GenAI events"
		choice := &span{attributes: of}
		m := choice.json("message")
		if m == nil {
			m = choice.message(of)
		}
		s.says(m)
		s.word = choice.text("finish_reason")
	case strings.HasPrefix(name, "gen_ai.") && strings.HasSuffix(name, ".message"):
		s.convention = "GenAI events"
		role := strings.TrimSuffix(strings.TrimPrefix(name, "gen_ai."), ".message")
		m := (&span{attributes: of}).message(of)
		if by, parts := messageOf(m); parts != nil {
			s.said = append(s.said, saidBy{speakerOf(role, by), parts})
		}
	}
}

// message is what the attributes of an event are as a message of Chat Completions.
func (s *span) message(of map[string][]byte) []byte {
	id := of["id"]
	if of["tool_call_id"] != nil {
		id = of["tool_call_id"]
	}
	return object(member{"role", of["role"]}, member{"content", of["content"]}, member{"tool_calls", s.json("tool_calls")}, member{"tool_call_id", id})
}

// says takes a message of the answer.
func (s *span) says(m []byte) {
	_, parts := messageOf(m)
	s.answer.parts = append(s.answer.parts, parts...)
	if word, _ := Text(Member(m, "finish_reason")); len(word) > 0 {
		s.word = string(word)
	}
}

// read takes what the attributes tell, by the first convention that has messages.
func (s *span) read() {
	s.asked = s.attributes["gen_ai.request.model"]
	s.answer.model, s.answer.id = s.attributes["gen_ai.response.model"], s.attributes["gen_ai.response.id"]
	if s.asked == nil {
		s.asked = s.attributes["llm.model_name"]
	}
	if s.answer.model == nil {
		s.answer.model = s.asked
	}
	for m := range Elements(s.json("gen_ai.response.finish_reasons")) {
		if word, ok := Text(m); ok && s.word == "" {
			s.word = string(word)
		}
	}
	switch {
	case s.convention != "":
	case s.attributes["gen_ai.output.messages"] != nil || s.attributes["gen_ai.input.messages"] != nil:
		s.convention = "GenAI"
		s.genAI()
	case s.attributes["llm.model_name"] != nil || s.attributes["openinference.span.kind"] != nil:
		s.convention = "OpenInference"
		s.flattened("llm.input_messages.", "llm.output_messages.", "message.")
		s.openInferenceTools()
	default:
		s.convention = "OpenLLMetry"
		s.flattened("gen_ai.prompt.", "gen_ai.completion.", "")
	}
	if s.word == "" {
		s.word = s.text("llm.finish_reason")
	}
}

func (s *span) genAI() {
	if parts := partsOf(s.json("gen_ai.system_instructions")); parts != nil {
		s.said = append(s.said, saidBy{theSystem, parts})
	}
	for m := range Elements(s.json("gen_ai.input.messages")) {
		by, parts := messageOf(m)
		s.said = append(s.said, saidBy{by, parts})
	}
	for m := range Elements(s.json("gen_ai.output.messages")) {
		s.says(m)
	}
	for t := range Elements(s.json("gen_ai.tool.definitions")) {
		s.tools = append(s.tools, t)
	}
}

// fail takes the status of a span whose call failed. One that has an answer has not.
func (s *span) fail(status []byte) {
	f := pick(status, "code", "message")
	if len(s.answer.parts) > 0 || !reads(f[0], "STATUS_CODE_ERROR") && string(f[0]) != "2" {
		return
	}
	for _, why := range [][]byte{s.attributes["exception.message"], f[1], s.attributes["error.type"], s.attributes["exception.type"]} {
		if s.answer.failure == nil {
			s.answer.failure = aText(why)
		}
	}
	if s.answer.failed = aText(s.attributes["error.type"]); s.answer.failed == nil {
		s.answer.failed = aText(s.attributes["exception.type"])
	}
}

// flattened takes messages that are spread over attributes: PREFIX<i>.message.role and so on.
func (s *span) flattened(input, output, inside string) {
	for i := range mostFlattened {
		by, parts, ok := s.flat(input+strconv.Itoa(i)+"."+inside, inside)
		if !ok {
			break
		}
		s.said = append(s.said, saidBy{by, parts})
	}
	for i := range mostFlattened {
		at := output + strconv.Itoa(i) + "."
		_, parts, ok := s.flat(at+inside, inside)
		if !ok {
			break
		}
		s.answer.parts = append(s.answer.parts, parts...)
		if s.word == "" {
			s.word = s.text(at + "finish_reason")
		}
	}
}

// mostFlattened is how many messages, or calls of one, are looked for.
const mostFlattened = 1 << 14

// flat is the message whose attributes begin so. OpenInference has calls and texts one name deeper
// than OpenLLMetry.
func (s *span) flat(at, inside string) (by speaker, parts []utterance, ok bool) {
	role, content := s.text(at+"role"), s.attributes[at+"content"]
	call, function := "", ""
	if inside != "" {
		call, function = "tool_call.", "function."
	}
	if role == "tool" || role == "function" {
		text := content
		if text == nil {
			text = []byte(`""`)
		}
		return theUser, []utterance{{kind: resultPart, id: aText(s.attributes[at+"tool_call_id"]), name: s.attributes[at+"name"], text: text}}, true
	}
	if content != nil {
		parts = append(parts, contentOf(content)...)
	}
	for k := range mostFlattened {
		block := at + "contents." + strconv.Itoa(k) + "."
		if s.attributes[block+"message_content.type"] == nil && s.attributes[block+"message_content.text"] == nil && s.attributes[block+"tool_call.id"] == nil && s.attributes[block+"tool_call.function.name"] == nil {
			break
		}
		if text := aText(s.attributes[block+"message_content.text"]); text != nil {
			parts = append(parts, utterance{kind: textPart, text: text})
		}
		parts = s.flatCall(parts, block+"tool_call.", function)
	}
	for j := range mostFlattened {
		before := len(parts)
		if parts = s.flatCall(parts, at+"tool_calls."+strconv.Itoa(j)+"."+call, function); len(parts) == before {
			break
		}
	}
	return speakerOf(role, theUser), parts, role != "" || len(parts) > 0
}

// flatCall adds the call whose attributes begin so, if there is one.
func (s *span) flatCall(parts []utterance, at, function string) []utterance {
	name, args, id := s.attributes[at+function+"name"], s.attributes[at+function+"arguments"], s.attributes[at+"id"]
	if name == nil && args == nil && id == nil {
		return parts
	}
	return append(parts, utterance{kind: callPart, id: id, name: name, args: args})
}

func (s *span) openInferenceTools() {
	for i := range mostFlattened {
		schema := s.json("llm.tools." + strconv.Itoa(i) + ".tool.json_schema")
		if schema == nil {
			return
		}
		s.tools = append(s.tools, schema)
	}
}
