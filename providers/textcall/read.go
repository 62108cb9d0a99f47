package textcall

import (
	"bytes"
	"slices"
	"strings"

	"toolscope/stream/json"
)

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
	if len(quote) == 0 || quote[0] != '"' && quote[0] != '\'' {
		return ""
	}
	c.at++
	name := c.readName()
	if !c.skipText(string(quote[:1])) {
		return ""
	}
	prefix := strings.TrimPrefix(strings.TrimSuffix(c.opened, "invoke name="), "<")
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
	for _, open := range c.by['<'] {
		if c.opened != open.text && c.skipText(open.text) {
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
	if name == "" || !c.skipParens() {
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
