package openaichat

import "toolscope/providers/dialect"

// tools are what a request declares: tools, or the legacy functions. Hosts have
// kinds of their own beside function and custom, which keep the host's word.
func tools(request []byte) (all []dialect.Tool) {
	s := dialect.Scan(request)
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "tools":
			for ok := s.Array(); ok; ok = s.Element() {
				all = append(all, tool(s.Value()))
			}
		case "functions":
			for ok := s.Array(); ok; ok = s.Element() {
				all = append(all, function(s.Value()))
			}
		}
	}
	return all
}

func tool(t dialect.Raw) dialect.Tool {
	kind := t.Get("type").Text()
	if custom := t.Get("custom"); kind == "custom" || kind == "" && custom.Given() {
		return dialect.Tool{Name: custom.Get("name").Text(), Kind: "custom"}
	}
	inner := t.Get("function")
	if !inner.Given() {
		inner = t // flat, as the Responses protocol has it
	}
	f := function(inner)
	if kind != "" {
		f.Kind = kind
	}
	return f
}

func function(f dialect.Raw) dialect.Tool {
	t := dialect.Tool{Name: f.Get("name").Text(), Kind: "function"}
	if p := f.Get("parameters"); p.Given() {
		t.Schema = p
	}
	return t
}
