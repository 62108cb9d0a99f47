package gemini

import (
	"strings"

	"toolscope/providers/protocol"
)

// readModel returns the model of a request: from its path, models/NAME:generateContent, or from Cloud
// Code's field.
func readModel(path string, request []byte) string {
	if _, rest, ok := strings.Cut(path, "odels/"); ok { // models/ or tunedModels/
		name, _, _ := strings.Cut(rest, ":")
		return name
	}
	return protocol.Raw(request).Get("model").Text()
}

// builtins maps the tools that the provider runs: the field that requests them to the name of their
// calls.
var builtins = map[string]string{
	"codeExecution": codeTool, "code_execution": codeTool,
	"googleSearch": "google_search", "google_search": "google_search",
	"urlContext": "url_context", "url_context": "url_context",
	"googleMaps": "google_maps", "google_maps": "google_maps",
	"fileSearch": "file_search", "file_search": "file_search",
}

// readTools returns the tools that a request declares.
func readTools(request []byte) (list []protocol.Tool) {
	body := protocol.Raw(request)
	if inner := body.Get("request"); inner.Kind() == '{' {
		body = inner // Cloud Code
	}
	declared := body.Get("tools").Scan()
	for ok := declared.Array(); ok; ok = declared.Element() {
		for ok := declared.Object(); ok; ok = declared.Member() {
			switch key := string(declared.Key()); key {
			case "functionDeclarations", "function_declarations":
				for ok := declared.Array(); ok; ok = declared.Element() {
					list = append(list, readDeclaration(declared.Value()))
				}
			default:
				if name := builtins[key]; name != "" {
					list = append(list, protocol.Tool{Name: name, Kind: "server"})
				}
			}
		}
	}
	return list
}

func readDeclaration(f protocol.Raw) protocol.Tool {
	t := protocol.Tool{Kind: "function"}
	s := f.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "name":
			t.Name = s.Value().Text()
		case "description":
			t.Description = s.Value().Text()
		case "parametersJsonSchema", "parameters_json_schema":
			t.Schema = s.Value()
		case "parameters":
			if v := s.Value(); v.Kind() == '{' && t.Schema == nil {
				t.Schema = appendSchema(nil, v, 0)
			}
		}
	}
	return t
}
