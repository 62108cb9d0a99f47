package openaichat

import (
	"errors"

	"toolscope/providers/dialect"
)

// chunk is one chunk, or one whole body, as it is on the wire.
type chunk struct {
	id, model, object, usage, groqUsage, tier, err, message dialect.Raw

	choices []choice
	calls   []wireCall // of all choices, in order
	listed  bool       // there was a list of choices, empty or not
}

type choice struct {
	index, finish, native, usage               dialect.Raw
	whole                                      bool // came as message, not as delta
	role, content, refusal                     dialect.Raw
	reasoningContent, reasoning, reasoningText dialect.Raw
	reasoningDetails                           dialect.Raw
	signature                                  dialect.Raw // of what the delta says
	executed                                   dialect.Raw // tools that Groq ran itself
	calls                                      int         // how many of chunk.calls are this choice's
}

// wireCall is one element of tool_calls, or a function_call.
type wireCall struct {
	index, id, kind, name, args, signature dialect.Raw

	custom bool // the arguments are free text
	legacy bool // from function_call
	whole  bool // from a message, not from a delta
	argsIn bool // the arguments field was there, null or not
}

// parse reads data into c, whose slices are reused.
func (c *chunk) parse(data []byte) error {
	*c = chunk{choices: c.choices[:0], calls: c.calls[:0]}
	s := dialect.Scan(data)
	if s.Kind() != '{' {
		return errors.New("not a JSON object")
	}
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "id":
			c.id = s.Value()
		case "model":
			c.model = s.Value()
		case "object":
			c.object = s.Value()
		case "usage":
			c.usage = s.Value()
		case "x_groq":
			c.groqUsage = s.Value().Get("usage")
		case "service_tier":
			c.tier = s.Value()
		case "error":
			c.err = s.Value()
		case "message":
			c.message = s.Value()
		case "choices":
			c.listed = s.Kind() == '['
			for ok := s.Array(); ok; ok = s.Element() {
				c.choices = append(c.choices, choice{})
				c.choice(&s, &c.choices[len(c.choices)-1])
			}
		}
	}
	return s.End()
}

// choice reads a choice. What it says stands in delta, or in message in a body;
// a message beside a delta repeats it, as Writer's does.
func (c *chunk) choice(s *dialect.Scanner, ch *choice) {
	before, delta, message := len(c.calls), false, dialect.Raw(nil)
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "index":
			ch.index = s.Value()
		case "finish_reason":
			ch.finish = s.Value()
		case "native_finish_reason":
			ch.native = s.Value()
		case "usage":
			ch.usage = s.Value()
		case "message":
			message = s.Value()
		case "delta":
			delta = delta || s.Kind() == '{'
			c.delta(s, ch)
		}
	}
	if inside := message.Scan(); !delta && message != nil {
		ch.whole = inside.Kind() == '{'
		c.delta(&inside, ch)
	}
	ch.calls = len(c.calls) - before
	for i := before; i < len(c.calls); i++ {
		c.calls[i].whole = ch.whole
	}
}

func (c *chunk) delta(s *dialect.Scanner, ch *choice) {
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "role":
			ch.role = s.Value()
		case "content":
			ch.content = s.Value()
		case "refusal":
			ch.refusal = s.Value()
		case "reasoning_content":
			ch.reasoningContent = s.Value()
		case "reasoning":
			ch.reasoning = s.Value()
		case "reasoning_text":
			ch.reasoningText = s.Value()
		case "reasoning_details":
			ch.reasoningDetails = s.Value()
		case "extra_content":
			ch.signature = thoughtSignature(s.Value())
		case "executed_tools":
			ch.executed = s.Value()
		case "tool_calls":
			for ok := s.Array(); ok; ok = s.Element() {
				if s.Kind() == '{' {
					c.calls = append(c.calls, parseCall(s))
				}
			}
		case "function_call":
			if s.Kind() == '{' {
				w := wireCall{legacy: true}
				w.function(s)
				c.calls = append(c.calls, w)
			}
		}
	}
}

func parseCall(s *dialect.Scanner) (w wireCall) {
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "index":
			w.index = s.Value()
		case "id":
			w.id = s.Value()
		case "type":
			w.kind = s.Value()
		case "function":
			w.function(s)
		case "custom":
			w.custom = s.Kind() == '{'
			w.function(s)
		case "extra_content":
			w.signature = thoughtSignature(s.Value())
		}
	}
	w.custom = w.custom || w.kind.Is("custom")
	return w
}

// function reads the part that holds name and arguments (input, for custom tools).
func (w *wireCall) function(s *dialect.Scanner) {
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "name":
			w.name = s.Value()
		case "arguments", "input":
			w.args, w.argsIn = s.Value(), true
		}
	}
}

// says reports whether the element carries anything but metadata.
func (w *wireCall) says() bool {
	return w.id.Given() || w.name.Given() || w.argsIn || w.kind.Given()
}

// thoughtSignature is the signature in an extra_content, where Gemini's
// compatible endpoint has it: of a call, or of what a message says.
func thoughtSignature(extra dialect.Raw) dialect.Raw {
	return extra.Get("google").Get("thought_signature")
}
