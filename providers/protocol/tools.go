package protocol

// FunctionTools returns the tools of a request that declares them in the form of OpenAI's Chat
// Completions: tools[].function with name and parameters.
func FunctionTools(request []byte) (tools []Tool) {
	for tool := range Raw(request).Get("tools").Elements() {
		if kind := tool.Get("type"); kind.IsString() && !kind.Is("function") {
			continue
		}
		if t := FunctionTool(tool.Get("function"), "parameters"); t.Name != "" {
			tools = append(tools, t)
		}
	}
	return tools
}

// FunctionTool returns the tool that an object declares: with a name, a description, and the schema of
// its arguments in the field schema.
func FunctionTool(declared Raw, schema string) Tool {
	t := Tool{Kind: "function", Name: declared.Get("name").Text(), Description: declared.Get("description").Text()}
	if s := declared.Get(schema); s.IsPresent() {
		t.Schema = s
	}
	return t
}
