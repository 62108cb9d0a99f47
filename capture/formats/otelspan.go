package formats

import (
	"strconv"
	"strings"

	"toolscope/stream/json"
)

// A otelSpan is one call of a model, as attributes and events tell of it.
type otelSpan struct {
	attributes map[string][]byte
	convention string // whose names it has

	history      []spanMessage
	requestModel []byte // the model that was asked for
	answer       modelResponse
	word         string // why it finished
	tools        [][]byte
}

// spanMessage is a message.
type spanMessage struct {
	by    messageRole
	parts []messagePart
}

// takeEvent takes an event of the span. Older conventions have messages there, newer ones attributes.
func (s *otelSpan) takeEvent(e []byte) {
	f := json.Pick(e, "name", "attributes")
	name, _ := json.Text(f[0])
	s.takeNamedEvent(string(name), attributesOf(f[1]))
}

// readLogfireEvents takes the events that Logfire has in an attribute.
func (s *otelSpan) readLogfireEvents() {
	for e := range json.Elements(s.attrJSON("events")) {
		of := map[string][]byte{}
		for k, v := range json.Members(e) {
			of[k] = nilIfNull(v)
		}
		name, _ := json.Text(of["event.name"])
		s.takeNamedEvent(string(name), of)
	}
}

// takeNamedEvent takes an event by its name and attributes.
func (s *otelSpan) takeNamedEvent(name string, of map[string][]byte) {
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
		choice := &otelSpan{attributes: of}
		m := choice.attrJSON("message")
		if m == nil {
			m = choice.eventMessage(of)
		}
		s.addResponse(m)
		s.word = choice.attrText("finish_reason")
	case strings.HasPrefix(name, "gen_ai.") && strings.HasSuffix(name, ".message"):
		s.convention = "GenAI events"
		role := strings.TrimSuffix(strings.TrimPrefix(name, "gen_ai."), ".message")
		m := (&otelSpan{attributes: of}).eventMessage(of)
		if by, parts := messageOf(m); parts != nil {
			s.history = append(s.history, spanMessage{roleOf(role, by), parts})
		}
	}
}

// eventMessage is what the attributes of an event are as a message of Chat Completions.
func (s *otelSpan) eventMessage(of map[string][]byte) []byte {
	id := of["id"]
	if of["tool_call_id"] != nil {
		id = of["tool_call_id"]
	}
	return objectOf(member{"role", of["role"]}, member{"content", of["content"]}, member{"tool_calls", s.attrJSON("tool_calls")}, member{"tool_call_id", id})
}

// addResponse takes a message of the answer.
func (s *otelSpan) addResponse(m []byte) {
	_, parts := messageOf(m)
	s.answer.parts = append(s.answer.parts, parts...)
	if word, _ := json.Text(json.Find(m, "finish_reason")); len(word) > 0 {
		s.word = string(word)
	}
}

// readAttributes takes what the attributes tell, by the first convention that has messages.
func (s *otelSpan) readAttributes() {
	s.requestModel = s.attributes["gen_ai.request.model"]
	s.answer.model, s.answer.id = s.attributes["gen_ai.response.model"], s.attributes["gen_ai.response.id"]
	if s.requestModel == nil {
		s.requestModel = s.attributes["llm.model_name"]
	}
	if s.answer.model == nil {
		s.answer.model = s.requestModel
	}
	for m := range json.Elements(s.attrJSON("gen_ai.response.finish_reasons")) {
		if word, ok := json.Text(m); ok && s.word == "" {
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
		s.readFlattened("llm.input_messages.", "llm.output_messages.", "message.")
		s.openInferenceTools()
	default:
		s.convention = "OpenLLMetry"
		s.readFlattened("gen_ai.prompt.", "gen_ai.completion.", "")
	}
	if s.word == "" {
		s.word = s.attrText("llm.finish_reason")
	}
}

func (s *otelSpan) genAI() {
	if parts := partsOf(s.attrJSON("gen_ai.system_instructions")); parts != nil {
		s.history = append(s.history, spanMessage{theSystem, parts})
	}
	for m := range json.Elements(s.attrJSON("gen_ai.input.messages")) {
		by, parts := messageOf(m)
		s.history = append(s.history, spanMessage{by, parts})
	}
	for m := range json.Elements(s.attrJSON("gen_ai.output.messages")) {
		s.addResponse(m)
	}
	for t := range json.Elements(s.attrJSON("gen_ai.tool.definitions")) {
		s.tools = append(s.tools, t)
	}
}

// setFailure takes the status of a span whose call failed. One that has an answer has not.
func (s *otelSpan) setFailure(status []byte) {
	f := json.Pick(status, "code", "message")
	if len(s.answer.parts) > 0 || !hasText(f[0], "STATUS_CODE_ERROR") && string(f[0]) != "2" {
		return
	}
	for _, why := range [][]byte{s.attributes["exception.message"], f[1], s.attributes["error.type"], s.attributes["exception.type"]} {
		if s.answer.failure == nil {
			s.answer.failure = nonEmptyText(why)
		}
	}
	if s.answer.failed = nonEmptyText(s.attributes["error.type"]); s.answer.failed == nil {
		s.answer.failed = nonEmptyText(s.attributes["exception.type"])
	}
}

// readFlattened takes messages that are spread over attributes: PREFIX<i>.message.role and so on.
func (s *otelSpan) readFlattened(input, output, inside string) {
	for i := range maxFlattened {
		by, parts, ok := s.flatMessage(input+strconv.Itoa(i)+"."+inside, inside)
		if !ok {
			break
		}
		s.history = append(s.history, spanMessage{by, parts})
	}
	for i := range maxFlattened {
		at := output + strconv.Itoa(i) + "."
		_, parts, ok := s.flatMessage(at+inside, inside)
		if !ok {
			break
		}
		s.answer.parts = append(s.answer.parts, parts...)
		if s.word == "" {
			s.word = s.attrText(at + "finish_reason")
		}
	}
}

// maxFlattened is how many messages, or calls of one, are looked for.
const maxFlattened = 1 << 14

// flatMessage is the message whose attributes begin so. OpenInference has calls and texts one name deeper
// than OpenLLMetry.
func (s *otelSpan) flatMessage(at, inside string) (by messageRole, parts []messagePart, ok bool) {
	role, content := s.attrText(at+"role"), s.attributes[at+"content"]
	call, function := "", ""
	if inside != "" {
		call, function = "tool_call.", "function."
	}
	if role == "tool" || role == "function" {
		text := content
		if text == nil {
			text = []byte(`""`)
		}
		return theUser, []messagePart{{kind: resultPart, id: nonEmptyText(s.attributes[at+"tool_call_id"]), name: s.attributes[at+"name"], text: text}}, true
	}
	if content != nil {
		parts = append(parts, contentOf(content)...)
	}
	for k := range maxFlattened {
		block := at + "contents." + strconv.Itoa(k) + "."
		if s.attributes[block+"message_content.type"] == nil && s.attributes[block+"message_content.text"] == nil && s.attributes[block+"tool_call.id"] == nil && s.attributes[block+"tool_call.function.name"] == nil {
			break
		}
		if text := nonEmptyText(s.attributes[block+"message_content.text"]); text != nil {
			parts = append(parts, messagePart{kind: textPart, text: text})
		}
		parts = s.flatCall(parts, block+"tool_call.", function)
	}
	for j := range maxFlattened {
		before := len(parts)
		if parts = s.flatCall(parts, at+"tool_calls."+strconv.Itoa(j)+"."+call, function); len(parts) == before {
			break
		}
	}
	return roleOf(role, theUser), parts, role != "" || len(parts) > 0
}

// flatCall adds the call whose attributes begin so, if there is one.
func (s *otelSpan) flatCall(parts []messagePart, at, function string) []messagePart {
	name, args, id := s.attributes[at+function+"name"], s.attributes[at+function+"arguments"], s.attributes[at+"id"]
	if name == nil && args == nil && id == nil {
		return parts
	}
	return append(parts, messagePart{kind: callPart, id: id, name: name, args: args})
}

func (s *otelSpan) openInferenceTools() {
	for i := range maxFlattened {
		schema := s.attrJSON("llm.tools." + strconv.Itoa(i) + ".tool.json_schema")
		if schema == nil {
			return
		}
		s.tools = append(s.tools, schema)
	}
}
