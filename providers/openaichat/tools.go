package openaichat

import "toolscope/providers/protocol"

// readTools returns the tools that a request declares: tools, or the legacy functions. Some providers
// have kinds other than function and custom, which keep the provider's word.
func readTools(request []byte) (all []protocol.Tool) {
	s := protocol.Scan(request)
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
				all = append(all, protocol.FunctionTool(s.Value(), "parameters"))
			}
		}
	}
	return all
}

// readTool reads one tool. A tool without type and function is from another protocol.
func readTool(t protocol.Raw) protocol.Tool {
	kind, inner := t.Get("type").Text(), t.Get("function")
	switch custom := t.Get("custom"); {
	case kind == "custom", kind == "" && custom.IsPresent():
		return protocol.Tool{Name: custom.Get("name").Text(), Kind: "custom", Description: custom.Get("description").Text()}
	case kind == "" && !inner.IsPresent():
		return protocol.Tool{}
	case !inner.IsPresent():
		inner = t // flat, as in the Responses protocol
	}
	f := protocol.FunctionTool(inner, "parameters")
	if kind != "" {
		f.Kind = kind
	}
	return f
}
