// Package textcall finds a tool call that a model wrote into its text. Servers of open models parse calls out
// of the text, and a call that the parser misses stays in the text. After a call, a model stops and waits for
// the result. So a form counts only if it reaches the end of the text: prose and code that quote a form
// continue after it.
package textcall

import (
	"bytes"
	"slices"
	"strings"

	"toolscope/stream/json"
)

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
	{name: "minimax", title: "MiniMax's tokens", opens: []string{minimaxToken + "<tool_call>"}, read: readWrapped},
	{name: "minimax", title: "MiniMax's tokens", opens: []string{minimaxToken + "<invoke name="}, read: readInvoke},
	{name: "minimax_arrow", title: "MiniMax's markup", opens: []string{"[TOOL_CALL]"}, read: readArrow},
	{name: "longcat", title: "LongCat's markup", opens: []string{"<longcat_tool_call>"}, read: readLongcat},
	{name: "doubao", title: "Doubao's tokens", opens: []string{"<|FunctionCallBegin|>"}, read: readJSON},
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
	{name: "liquid", title: "Liquid's tokens", opens: []string{"<|tool_call_start|>"}, read: readLiquid},
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

// antml is the namespace of Claude's own markup. MiniMax M3 writes its token before each tag.
const (
	antml        = "antml:"
	minimaxToken = "]<]minimax[>["
)

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

// cursor reads a form. Its read methods return the name of the tool, or "" if the text doesn't have the form.
type cursor struct {
	text   []byte
	at     int
	opened string // the opening with which the form began
	before string // name of the tool, from before the opening or as found by a read method
	by     *[256][]opener
}

// restOfText returns the text after the cursor.
func (c *cursor) restOfText() []byte { return c.text[c.at:] }

// skipText skips text if it comes next, and reports whether it did.
func (c *cursor) skipText(text string) bool {
	if !bytes.HasPrefix(c.restOfText(), []byte(text)) {
		return false
	}
	c.at += len(text)
	return true
}

// skipAny skips the first of the given texts that comes next, and reports whether it skipped one.
func (c *cursor) skipAny(texts ...string) bool {
	for _, text := range texts {
		if c.skipText(text) {
			return true
		}
	}
	return false
}

// skipSpace skips white space.
func (c *cursor) skipSpace() { c.at += json.SpaceLen(c.restOfText()) }

// skipPast skips everything up to and including text. If text doesn't follow, it returns false.
func (c *cursor) skipPast(text string) bool {
	n := bytes.Index(c.restOfText(), []byte(text))
	if n < 0 {
		return false
	}
	c.at += n + len(text)
	return true
}

const maxName = 128

func isNameByte(b byte) bool {
	return b == '_' || b == '-' || b == '.' || b == ':' || b == '/' || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

// readName reads the name of a tool.
func (c *cursor) readName() string {
	n := 0
	for p := c.restOfText(); n < len(p) && n < maxName && isNameByte(p[n]); n++ {
	}
	name := string(c.text[c.at : c.at+n])
	c.at += n
	return plainName(name)
}

// plainName returns a name without the namespace and the number that models may add.
func plainName(name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "functions."), "default_api.")
	if i := strings.LastIndexByte(name, ':'); i > 0 && strings.Trim(name[i+1:], "0123456789") == "" {
		name = name[:i]
	}
	return name
}

// readObject reads the arguments of a tool whose name is already known. They must be one object.
func readObject(c *cursor) string {
	c.skipSpace()
	if !c.skipBraces() {
		return ""
	}
	return c.before
}

// skipBraces skips an object: valid JSON, or else text with balanced braces. In text that is not JSON, braces in
// strings count as well. If no such object comes next, the result is false.
func (c *cursor) skipBraces() bool {
	p := c.restOfText()
	if len(p) == 0 || p[0] != '{' {
		return false
	}
	if n, closed := json.ValueLen(p); closed && json.Valid(p[:n]) {
		c.at += n
		return true
	}
	for i, depth := 0, 0; i < len(p); i++ {
		switch p[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				c.at += i + 1
				return true
			}
		}
	}
	return false
}

// skipParens skips balanced parentheses. Parentheses in Python strings don't count. If none come next or they are not
// closed, the result is false.
func (c *cursor) skipParens() bool {
	p, depth, quote := c.restOfText(), 0, byte(0)
	for i := 0; i < len(p); i++ {
		switch b := p[i]; {
		case b == '\\':
			i++
		case quote != 0:
			if b == quote {
				quote = 0
			}
		case b == '"' || b == '\'':
			quote = b
		case b == '(':
			depth++
		case b == ')':
			if depth--; depth == 0 {
				c.at += i + 1
				return true
			}
		case depth == 0:
			return false
		}
	}
	return false
}

// readJSON reads a call or a list of calls, as JSON.
func readJSON(c *cursor) string {
	c.skipSpace()
	p := c.restOfText()
	if len(p) == 0 || p[0] != '{' && p[0] != '[' {
		return ""
	}
	n, closed := json.ValueLen(p)
	if !closed || !json.Valid(p[:n]) {
		return ""
	}
	call := json.Value(p[:n])
	if call.Kind() == '[' {
		call = json.FirstElement(call)
	}
	name, _ := nameIn(call)
	if name != "" {
		c.at += n
	}
	return name
}

// factKeys are keys of JSON about a tool or about a call that ran. A call that a model makes doesn't have them.
var factKeys = []string{
	"description", "required", "strict", "output", "result", "response", "error", "status", "duration", "score", "reason", "expected", "verdict",
}

// nameIn returns the name of the tool in a call written as JSON. The result hasArgs says whether the call has
// arguments and none of factKeys.
func nameIn(call json.Value) (name string, hasArgs bool) {
	hasFacts := func() bool {
		return slices.ContainsFunc(factKeys, func(key string) bool { return call.Get(key).IsPresent() })
	}
	facts := hasFacts()
	for _, wrapper := range [...]string{"function", "tool_call", "action"} {
		if inner := call.Get(wrapper); inner.Kind() == '{' {
			call = inner
			facts = facts || hasFacts()
			break
		}
	}
	for _, key := range [...]string{"name", "tool_name", "function", "tool", "function_name"} {
		if v := call.Get(key); v.HasText() {
			name = plainName(v.Text())
			break
		}
	}
	for _, key := range [...]string{"arguments", "parameters", "args", "input", "action_input", "tool_input"} {
		args := call.Get(key)
		if !args.IsPresent() {
			continue
		}
		if args.Get("properties") != nil || args.Get("type").Is("object") {
			return "", false // this is the declaration of a tool
		}
		hasArgs = !facts
	}
	return name, hasArgs
}

// readBareJSON reads a call written as JSON without markup.
func readBareJSON(c *cursor) string {
	c.at -= len(c.opened)
	call := json.Value(c.restOfText())
	if call.Kind() == '[' {
		call = json.FirstElement(call)
	}
	if _, hasArgs := nameIn(call); !hasArgs {
		return ""
	}
	return readJSON(c)
}

// readInvoke reads an invoke element. The closing tag has the same prefix as the opening tag.
func readInvoke(c *cursor) string {
	quote := c.restOfText()
	if !c.skipAny(`"`, "'") {
		return ""
	}
	name := c.readName()
	if !c.skipText(string(quote[:1])) {
		return ""
	}
	prefix := strings.TrimSuffix(c.opened[strings.LastIndexByte(c.opened, '<')+1:], "invoke name=")
	if !c.skipPast("</" + prefix + "invoke>") {
		return ""
	}
	return name
}

// readWrapped reads the content of a wrapper: a call as JSON, or another form.
func readWrapped(c *cursor) string {
	c.skipSpace()
	if name := readJSON(c); name != "" {
		return name
	}
	rest := c.restOfText()
	if len(rest) == 0 {
		return ""
	}
	for _, open := range c.by[rest[0]] {
		if !open.form.bare && c.opened != open.text && c.skipText(open.text) {
			inner := cursor{text: c.text, at: c.at, opened: open.text, by: c.by}
			name := open.form.read(&inner)
			c.at = inner.at
			return name
		}
	}
	return ""
}

// readToolCall reads the content of a tool_call element. Models write different forms in it.
func readToolCall(c *cursor) string {
	if name := readWrapped(c); name != "" {
		return name
	}
	c.skipText("call:")
	name := c.readName()
	switch {
	case name == "":
	case c.skipText("</tool_call>"):
		return name
	case bytes.HasPrefix(c.restOfText(), []byte("(")):
		if c.skipParens() {
			return name
		}
	default:
		c.skipSpace()
		c.before = name
		if c.skipText("<arg_key>") {
			return readArgKeys(c)
		}
		return readObject(c)
	}
	return ""
}

// readArgKeys reads pairs of arg_key and arg_value elements.
func readArgKeys(c *cursor) string {
	for {
		if !c.skipPast("</arg_value>") {
			return ""
		}
		c.skipSpace()
		if !c.skipText("<arg_key>") {
			return c.before
		}
	}
}

// readFunctionTag reads <function=NAME>, followed by parameter elements or an object.
func readFunctionTag(c *cursor) string {
	name := strings.Trim(c.readName(), `"`)
	if !c.skipAny(">") {
		return ""
	}
	c.skipSpace()
	if c.skipBraces() {
		return name
	}
	for c.skipText("<parameter=") {
		if !c.skipPast("</parameter>") {
			return ""
		}
		c.skipSpace()
	}
	if !c.skipText("</function>") {
		return ""
	}
	return name
}

// readFunctionElement reads <function>NAME{…}</function>.
func readFunctionElement(c *cursor) string {
	if name := readJSON(c); name != "" {
		return name
	}
	c.before = c.readName()
	return readObject(c)
}

func readMistral(c *cursor) string {
	if name := readJSON(c); name != "" {
		return name
	}
	c.before = c.readName()
	if c.skipText("[CALL_ID]") {
		c.readName()
	}
	c.skipText("[ARGS]")
	return readObject(c)
}

func readDeepSeek(c *cursor) string {
	seps := []string{"<｜tool▁sep｜>", "<|tool▁sep|>", "<｜tool_sep｜>"}
	if c.skipText("function") && !c.skipAny(seps...) {
		return ""
	}
	if bytes.HasPrefix(c.restOfText(), []byte("<steptml:")) {
		return readWrapped(c)
	}
	c.before = c.readName()
	c.skipAny(seps...)
	c.skipSpace()
	c.skipAny("```json", "```")
	name := readObject(c)
	c.skipSpace()
	c.skipText("```")
	return name
}

func readKimi(c *cursor) string {
	c.skipSpace()
	c.before = c.readName()
	c.skipSpace()
	if !c.skipText("<|tool_call_argument_begin|>") {
		return ""
	}
	return readObject(c)
}

// readHarmony reads a call by gpt-oss, with or without its special tokens.
func readHarmony(c *cursor) string {
	if !bytes.HasPrefix(c.restOfText(), []byte("functions.")) {
		return ""
	}
	c.before = c.readName()
	for {
		c.skipSpace()
		switch {
		case c.skipAny("<|channel|>", "<|constrain|>", "<|message|>", "commentary", "json", "code"):
		default:
			return readObject(c)
		}
	}
}

// readAfterToken reads a call after a special token: JSON, a call as Gemma writes it, or a call in Python.
func readAfterToken(c *cursor) string {
	if name := readJSON(c); name != "" {
		return name
	}
	if bytes.HasPrefix(c.restOfText(), []byte("call:")) {
		return readGemma(c)
	}
	name := strings.TrimSuffix(c.readName(), ".call")
	if !c.skipParens() {
		return ""
	}
	return name
}

func readGemma(c *cursor) string {
	if !c.skipText("call:") {
		return ""
	}
	c.before = c.readName()
	return readObject(c)
}

// readToolCode reads a fenced block with a call in Python. It returns the name of the tool, or "" if the block
// is not such a call.
func readToolCode(c *cursor) string {
	c.skipSpace()
	c.skipText("print(")
	name := c.readName()
	if name == "" || !bytes.HasPrefix(c.restOfText(), []byte("(")) || !c.skipPast("```") {
		return ""
	}
	return name
}

// readBracket reads [Tool call: NAME], with or without arguments.
func readBracket(c *cursor) string {
	name := c.readName()
	if name == "" {
		return ""
	}
	c.skipSpace()
	if !c.skipParens() {
		c.skipBraces()
	}
	if !c.skipText("]") {
		return ""
	}
	c.skipSpace()
	c.skipBraces()
	return name
}

func readPatch(c *cursor) string {
	if !c.skipText("\n") || !c.skipPast("\n*** End Patch") {
		return ""
	}
	return "apply_patch"
}

// readArrow reads a call of MiniMax M2: {tool => "name", args => {…}}, with arguments in several notations.
func readArrow(c *cursor) string {
	if c.skipSpace(); !c.skipText("{") {
		return ""
	}
	if c.skipSpace(); !c.skipText("tool => \"") {
		return ""
	}
	name := c.readName()
	if !c.skipText("\"") || !c.skipPast("[/TOOL_CALL]") {
		return ""
	}
	return name
}

// readLongcat reads a call of LongCat: JSON, or the name and tags for each argument.
func readLongcat(c *cursor) string {
	name := readJSON(c)
	if name == "" {
		c.skipSpace()
		name = c.readName()
		if c.skipSpace(); !bytes.HasPrefix(c.restOfText(), []byte("<")) {
			return ""
		}
	}
	if !c.skipPast("</longcat_tool_call>") {
		return ""
	}
	return name
}

// readLiquid reads the calls of LFM2: a list in Python, or calls as JSON.
func readLiquid(c *cursor) string {
	if name := readJSON(c); name != "" {
		return name
	}
	if c.skipSpace(); !c.skipText("[") {
		return ""
	}
	return readPythonList(c)
}

// readPythonList reads a list of calls in Python.
func readPythonList(c *cursor) (first string) {
	for {
		c.skipSpace()
		name := c.readName()
		if name == "" || !c.skipParens() {
			return ""
		}
		if first == "" {
			first = name
		}
		c.skipSpace()
		if c.skipText("]") {
			return first
		}
		if !c.skipText(",") {
			return ""
		}
	}
}
