package openaichat

import "toolscope/providers/dialect"

// readTools are what a request declares: tools, or the legacy functions. Hosts have kinds of their own
// beside function and custom, which keep the host's word.
func readTools(request []byte) (all []dialect.Tool) {
	s := dialect.Scan(request)
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "tools":
			for ok := s.Array(); ok; ok = s.Element() {
				if t := readTool(s.Value()); t.Kind != "" {
					all = append(all, t)
				}
			}
		case "functions":
			for ok := s.Array(); ok; ok = s.Element() {
				all = append(all, dialect.FunctionTool(s.Value(), "parameters"))
			}
		}
	}
	return all
}

// readTool reads one tool; one without type and function is of another protocol.
func readTool(t dialect.Raw) dialect.Tool {
	kind, inner := t.Get("type").Text(), t.Get("function")
	switch custom := t.Get("custom"); {
	case kind == "custom", kind == "" && custom.IsPresent():
		return dialect.Tool{Name: custom.Get("name").Text(), Kind: "custom", Description: custom.Get("description").Text()}
	case kind == "" && !inner.IsPresent():
		return dialect.Tool{}
	case !inner.IsPresent():
		inner = t // flat, as the Responses protocol has it
	}
	f := dialect.FunctionTool(inner, "parameters")
	if kind != "" {
		f.Kind = kind
	}
	return f
}
