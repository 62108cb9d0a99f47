package dialect

// FunctionTools are the tools of a request that declares them as OpenAI's Chat
// Completions does: tools[].function with name and parameters.
func FunctionTools(request []byte) (tools []Tool) {
	list := Raw(request).Get("tools").Scan()
	for ok := list.Array(); ok; ok = list.Element() {
		tool := list.Value()
		if kind := tool.Get("type"); kind.IsString() && !kind.Is("function") {
			continue
		}
		function := tool.Get("function")
		if name := function.Get("name").Text(); name != "" {
			tools = append(tools, Tool{
				Name: name, Kind: "function", Description: function.Get("description").Text(), Schema: schemaOf(function.Get("parameters")),
			})
		}
	}
	return tools
}

func schemaOf(value Raw) Raw {
	if !value.Given() {
		return nil
	}
	return value
}
