// Package textcall finds a tool call that a model wrote into its text. Servers of open models parse calls out
// of the text, and a call that the parser misses stays in the text. After a call, a model stops and waits for
// the result. So a form counts only if it reaches the end of the text: prose and code that quote a form
// continue after it.
package textcall

// A form is a format in which models write calls.
type form struct {
	name  string   // name in machine output
	title string   // title for people
	opens []string // the texts with which the form begins
	named bool     // whether the name of the tool comes before the opening
	bare  bool     // the form has no markup, so it counts only for a declared tool and at the start of a line
	offer bool     // whether the form counts only for a declared tool
	read  func(*cursor) string
}

// forms are the known forms. If one opening is a prefix of another, the longer one is listed first. Sources: the chat
// templates of the models, the parsers of vLLM and SGLang, and reports of calls left in the text.
var forms = []form{
	{name: "minimax", title: "MiniMax's markup", opens: []string{"<minimax:tool_call>"}, read: readWrapped},
	{name: "seed", title: "Seed's markup", opens: []string{"<seed:tool_call>"}, read: readWrapped},
	{name: "dsml", title: "DeepSeek's DSML", read: readWrapped, opens: []string{
		"<｜DSML｜function_calls>", "<｜DSML｜tool_calls>", "<|DSML|function_calls>", "<|DSML|tool_calls>",
	}},
	{name: "dsml", title: "DeepSeek's DSML", opens: []string{"<｜DSML｜invoke name=", "<|DSML|invoke name="}, read: readInvoke},
	{name: "antml", title: "Claude's XML", opens: []string{"<function_calls>", "<" + antml + "function_calls>"}, read: readWrapped},
	{name: "antml", title: "Claude's XML", opens: []string{"<invoke name=", "<" + antml + "invoke name="}, read: readInvoke},
	{name: "step", title: "Step's markup", opens: []string{"<steptml:invoke name="}, read: readInvoke},
	{name: "hermes", title: "the tags <tool_call>", opens: []string{"<tool_call>"}, read: readToolCall},
	{name: "hunyuan", title: "the tags <tool_calls>", opens: []string{"<tool_calls>"}, read: readWrapped},
	{name: "qwen", title: "the tags <function=NAME>", opens: []string{"<function="}, read: readFunctionTag},
	{name: "function", title: "the tags <function>", opens: []string{"<function>"}, read: readFunctionElement},
	{name: "glm", title: "GLM's markup", opens: []string{"<arg_key>"}, named: true, read: readArgKeys},
	{name: "mistral", title: "Mistral's tokens", opens: []string{"[TOOL_CALLS]"}, read: readMistral},
	{name: "args", title: "Mistral's tokens", opens: []string{"[ARGS]"}, named: true, read: readObject},
	{name: "deepseek", title: "DeepSeek's tokens", read: readDeepSeek, opens: []string{
		"<｜tool▁call▁begin｜>", "<|tool▁call▁begin|>", "<｜tool_call_begin｜>",
	}},
	{name: "kimi", title: "Kimi's tokens", opens: []string{"<|tool_call_begin|>"}, read: readKimi},
	{name: "harmony", title: "the channels of gpt-oss", read: readHarmony, opens: []string{
		"<|start|>assistant<|channel|>commentary to=", "<|channel|>commentary to=", "<|start|>assistant to=",
		"assistantcommentary to=", "commentary to=",
	}},
	{name: "granite", title: "the token <|tool_call|>", opens: []string{"<|tool_call|>"}, read: readAfterToken},
	{name: "gemma", title: "Gemma's tokens", opens: []string{"<|tool_call>", "<start_function_call>"}, read: readGemma},
	{name: "tool_code", title: "a block of tool_code", opens: []string{"```tool_code"}, read: readToolCode},
	{name: "python_tag", title: "Llama's token", opens: []string{"<|python_tag|>"}, read: readAfterToken},
	{name: "nemotron", title: "the tags <TOOLCALL>", opens: []string{"<TOOLCALL>"}, read: readJSON},
	{name: "gigachat", title: "the token <|function_call|>", opens: []string{"<|function_call|>"}, read: readJSON},
	{name: "internlm", title: "InternLM's tokens", opens: []string{"<|action_start|><|plugin|>", "<|action_start|> <|plugin|>"}, read: readJSON},
	{name: "cohere", title: "Cohere's tokens", opens: []string{"<|START_ACTION|>"}, read: readJSON},
	{name: "bracket", title: "square brackets", offer: true, read: readBracket, opens: []string{
		"[Tool call: ", "[Tool Call: ", "[tool call: ", "[tool_call: ", "[Calling tool: ", "[Called tool: ",
	}},
	{name: "patch", title: "the form of apply_patch", opens: []string{"*** Begin Patch"}, bare: true, read: readPatch},
	{name: "json", title: "plain JSON", opens: []string{"{", "[{", "[ {"}, bare: true, read: readBareJSON},
	{name: "python", title: "Python", opens: []string{"["}, bare: true, read: readPythonList},
}

// antml is the namespace of Claude's own markup.
const antml = "antml:"

// openers are the openings of all forms, by their first byte.
var openers = func() (by [256][]opener) {
	for i := range forms {
		for _, text := range forms[i].opens {
			by[text[0]] = append(by[text[0]], opener{text, &forms[i]})
		}
	}
	return by
}()

type opener struct {
	text string
	form *form
}
