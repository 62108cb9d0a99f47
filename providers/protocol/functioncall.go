package protocol

// FunctionCall is a call in OpenAI's form, which other protocols adopted:
// {"id":…,"function":{"name":…,"arguments":…}}.
type FunctionCall struct{ ID, Name, Args Raw }

// Fields returns the fields of a call for a Shape.
func (c *FunctionCall) Fields() []Field {
	return []Field{
		Value("id", &c.ID),
		Object("function", Value("name", &c.Name), Value("arguments", &c.Args)),
	}
}

// Read reads the call from the object that contains it.
func (c *FunctionCall) Read(v Raw) {
	s := v.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "id":
			c.ID = s.Value()
		case "function":
			for ok := s.Object(); ok; ok = s.Member() {
				switch string(s.Key()) {
				case "name":
					c.Name = s.Value()
				case "arguments":
					c.Args = s.Value()
				}
			}
		}
	}
}
