package dialect

// FunctionCall is a call as the protocols write it that took OpenAI's form:
// {"id":…,"function":{"name":…,"arguments":…}}.
type FunctionCall struct {
	ID, Name, Args Raw

	ArgsIn bool // the arguments field was there, null or not
}

// Read reads what the next value has of the call.
func (c *FunctionCall) Read(s *Scanner) {
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
					c.Args, c.ArgsIn = s.Value(), true
				}
			}
		}
	}
}
