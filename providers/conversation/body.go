package conversation

import "toolscope/providers/protocol"

// RequestBody holds the fields of a request's body that identify its sender and purpose. Values are parts
// of the body.
type RequestBody struct {
	Model, System, Tools protocol.Raw
	Schema               protocol.Raw // that the response has to follow
	User                 protocol.Raw // Anthropic's metadata.user_id
	Meta                 protocol.Raw // OpenAI's client_metadata
	CacheKey, Before     string
	Conversation         string
	MaxTokens            int64 // maximum tokens of the response, 0 if not set
	Warms                bool
}

// ReadBody reads a body, as far as it is JSON.
func ReadBody(body []byte) *RequestBody {
	b := new(RequestBody)
	s := protocol.Scan(body)
	for ok := s.Object(); ok; ok = s.Member() {
		b.readField(string(s.Key()), &s)
	}
	return b
}

// readField reads a field of any protocol: no two protocols use a name for different things.
func (b *RequestBody) readField(name string, s *protocol.Scanner) {
	switch name {
	case "model":
		b.Model = s.Value()
	case "system", "instructions", "systemInstruction", "system_instruction":
		b.System = s.Value()
	case "tools":
		b.Tools = s.Value()
	case "metadata":
		b.User = s.Value().Get("user_id")
	case "client_metadata":
		b.Meta = s.Value()
	case "prompt_cache_key":
		b.CacheKey = s.Value().Text()
	case "previous_response_id", "previous_interaction_id":
		b.Before = s.Value().Text()
	case "conversation":
		v := s.Value()
		if b.Conversation = v.Text(); v.Kind() == '{' {
			b.Conversation = v.Get("id").Text()
		}
	case "generate":
		b.Warms = string(s.Value()) == "false"
	case "max_tokens", "max_output_tokens", "max_completion_tokens":
		b.MaxTokens, _ = s.Value().Int()
	case "output_config", "output_format", "response_format", "text", "format":
		b.readSchema(s.Value())
	case "generationConfig", "generation_config":
		v := s.Value()
		b.setFirst(&b.Schema, v.Get("responseJsonSchema"), v.Get("responseSchema"), v.Get("response_schema"))
		b.MaxTokens, _ = v.Get("maxOutputTokens").Int()
	}
}

// readSchema finds the schema in a field that requests one.
func (b *RequestBody) readSchema(v protocol.Raw) {
	of := v.Get("format")
	b.setFirst(&b.Schema, of.Get("schema"), v.Get("json_schema").Get("schema"), v.Get("schema"))
	if b.Schema == nil && v.Get("properties").IsPresent() {
		b.Schema = v
	}
}

func (*RequestBody) setFirst(to *protocol.Raw, values ...protocol.Raw) {
	for _, v := range values {
		if *to == nil && v.IsPresent() {
			*to = v
		}
	}
}

// asksForKeys reports whether the response has to be an object with exactly these fields.
func (b *RequestBody) asksForKeys(names ...string) bool {
	n := 0
	s := b.Schema.Get("properties").Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		found := false
		for _, name := range names {
			found = found || string(s.Key()) == name
		}
		if !found {
			return false
		}
		n++
	}
	return n == len(names)
}

// HasTools reports whether the request declares tools.
func (b *RequestBody) HasTools() bool {
	s := b.Tools.Scan()
	return s.Kind() == '[' && s.Array()
}
