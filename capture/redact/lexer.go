package redact

import (
	"bytes"

	"toolscope/stream/json"
)

const maxDepth = 128 // maximum depth of nested containers that are tracked

// lexer finds the JSON strings in a text. The text may be JSON, an event stream of JSON, lines of JSON, or something
// else. The lexer passes on the characters of strings in their escaped form. A string's place decides which text its
// characters belong to. Characters outside strings form a text of their own. The lexer holds back only one thing: the
// "data: " of an event stream after a line break inside a secret.
type lexer struct {
	s      *textRedactor
	stack  []container
	beyond int // number of open containers beyond maxDepth

	inString bool
	isKey    bool
	noted    bool // the hash of the string is needed
	joined   bool // the string continues in the next document
	escaped  bool // after a backslash
	before   byte // the last byte outside strings
	keyed    bool // a key has just ended
	bol      bool // at the beginning of a line
	prefix   int  // number of characters read of an event stream's "data: " inside a secret

	hash    uint64 // hash of the string, if noted is set
	skipped []byte // the string, if it was not searched

	openings streamPrefixes
}

// container is an open object or array.
type container struct {
	array    bool
	wantKey  bool
	fixed    bool       // the strings in it are not deltas: arguments that are an object, and results
	n        uint64     // number of the array's current element
	key      uint64     // hash of the current key
	place    uint64     // hash of the path to this container: keys and element numbers
	index    uint64     // hash of the indexes so far, which identifies one of several parallel texts
	field    keyMeaning // meaning of the key of the current value
	each     bool       // each string in the object is a value of the name
	inherits bool       // the name is that of the object's own field
	named    secretName // the name for the value, if hasName is set: it comes from the field or the element before the value
	hasName  bool
	command  bool   // the array is a list of arguments with credentials
	sorted   bool   // the object may be a Secret of Kubernetes, whose data has credentials
	words    string // the first arguments, if more of them may be part of a command
	listed   uint64 // number of the value after a name in a text that is not JSON, plus one, or 0
}

const (
	hashSeed  = 14695981039346656037
	hashPrime = 1099511628211
)

func hashBytes(h uint64, p []byte) uint64 {
	for _, c := range p {
		h = (h ^ uint64(c)) * hashPrime
	}
	return h
}

// structure marks the bytes that are JSON structure when they are outside strings.
var structure = func() (s [256]bool) {
	for _, c := range []byte("{}[],") {
		s[c] = true
	}
	return s
}()

func (l *lexer) attachTo(s *textRedactor) { l.s, l.bol = s, true }

// pendingFrom returns the place of the first byte that the lexer has not passed on.
func (l *lexer) pendingFrom(pos int64) int64 { return pos - int64(l.prefix) }

func (l *lexer) read(p []byte, at int64) {
	for i := 0; i < len(p); {
		from := at + int64(i)
		switch {
		case l.inString:
			i += l.readString(p[i:], from)
			continue
		case l.openings.line == nil && l.atLine(p[i]):
			if n := l.skipPrefix(p[i:], from); n > 0 {
				i += n
				continue
			}
		}
		i += l.readOutside(p[i:], from)
	}
	l.openings.line = nil
}

func (l *lexer) finish() { l.retractPrefix(l.s.pos) }

// readOutside reads up to the next string or the next line.
func (l *lexer) readOutside(p []byte, at int64) int {
	out := l.s.outside
	if l.bol {
		if l.prefix > 0 || !out.isIdle() {
			return l.lineStart(p[0], at)
		}
		l.bol = false
		if eventLines[p[0]] { // a line of an event stream begins, so everything before it has ended
			l.stack, l.beyond = l.stack[:0], 0
		}
	}
	keyed := l.keyed
	n := l.scanStructure(p)
	text, from := p[:min(n+1, len(p))], 0
	if n == len(p) || p[n] == '\n' {
		text = p[:n]
	}
	if keyed && out.isIdle() && len(text) > 0 && text[0] == ':' { // not an assignment in this text: the value is a text of its own
		out.passOver(text[:1])
		from = 1
	}
	l.s.readText(out, text[from:], at+int64(from))
	if n == len(p) {
		return n
	}
	if l.bol = p[n] == '\n'; l.bol {
		l.s.readChar(out, '\n', passed)
	} else {
		l.openStringAt(at + int64(n) + 1)
	}
	l.before = p[n]
	return n + 1
}

// scanStructure follows the structure up to the next quote or line break. It hashes numbers that are indexes.
func (l *lexer) scanStructure(p []byte) int {
	for n := 0; n < len(p); n++ {
		if !l.keyed && !l.readsScalar() {
			from := n
			for n < len(p) && !endsScalar[p[n]] {
				n++
			}
			if n > from {
				l.before = p[n-1]
			}
			if n == len(p) {
				break
			}
		}
		c := p[n]
		if l.keyed && c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			l.retractKey(c)
		}
		switch {
		case c == '"' || c == '\n':
			return n
		case structure[c]:
			l.applyStructure(c)
		case l.readsScalar():
			l.readScalar(c)
		}
		l.before = c
	}
	return len(p)
}

// endsScalar marks the bytes that end a scalar outside strings: structure, and the beginning of a string or a line.
var endsScalar = func() (s [256]bool) {
	s = structure
	s['"'], s['\n'] = true, true
	return s
}()

// readsScalar reports whether the characters of a scalar matter: it may be an index or the value of a secret.
func (l *lexer) readsScalar() bool {
	top := l.top()
	return top != nil && (top.field.index || top.field.secret && !top.array)
}

// readScalar reads a character of a scalar that matters.
func (l *lexer) readScalar(c byte) {
	switch top := l.top(); {
	case top.field.index:
		top.index = hashBytes(top.index, []byte{c})
	case c > ' ' && c != ':': // the value isn't a string
		top.field.secret = false
	}
}

// retractKey checks the character after a key. If it is not a colon, the key was an ordinary string in a text
// that is not JSON.
func (l *lexer) retractKey(c byte) {
	l.keyed = false
	if top := l.top(); top != nil && c != ':' {
		if c == ',' && top.field.secret { // setenv("API_KEY", "…")
			top.named, top.listed = top.field.name, top.n+2
		}
		if c == '=' && top.field.secret { // {"api_key"=>"…"}
			top.named, top.listed = top.field.name, top.n+1
		}
		top.field = keyMeaning{}
	}
}

// lineStart skips the field name at the beginning of an event stream's line, so that a secret may contain line
// breaks there.
func (l *lexer) lineStart(c byte, at int64) int {
	const prefix = "data: "
	if l.prefix < len(prefix) && c == prefix[l.prefix] {
		if l.prefix++; l.prefix == len(prefix) {
			l.prefix, l.bol = 0, false
		}
		return 1
	}
	if l.prefix == len("data:") {
		l.prefix = 0
	}
	l.retractPrefix(at)
	l.bol = false
	return 0
}

// retractPrefix reads a partial field name as ordinary text. The field name ends before the place given by at.
func (l *lexer) retractPrefix(at int64) {
	n := l.prefix
	l.prefix = 0
	l.s.readText(l.s.outside, []byte("data: ")[:n], at-int64(n))
}

func (l *lexer) top() *container {
	if len(l.stack) == 0 || l.beyond > 0 {
		return nil
	}
	return &l.stack[len(l.stack)-1]
}

// applyStructure applies a byte of structure.
func (l *lexer) applyStructure(c byte) {
	top := l.top()
	switch c {
	case '{', '[':
		l.s.armor = keyArmor{}
		l.push(c == '[')
	case '}', ']':
		switch {
		case l.beyond > 0:
			l.beyond--
		case top != nil:
			l.stack = l.stack[:len(l.stack)-1]
		}
		l.s.armor = keyArmor{}
	case ',':
		if top != nil {
			if !top.array {
				l.s.armor = keyArmor{}
			}
			top.n++
			top.wantKey = !top.array
			if !top.array {
				top.field = keyMeaning{}
			}
		}
	}
}

func (l *lexer) push(array bool) {
	if len(l.stack) == maxDepth {
		l.beyond++
		return
	}
	c := container{array: array, wantKey: !array, field: keyMeaning{text: array}}
	if top := l.top(); top != nil {
		c.place, c.index = l.placeHash(top), top.index
		c.fixed = top.fixed || top.field.whole
		if array && !top.array {
			c.field = keyMeaning{text: top.field.text, secret: top.field.secret, name: top.field.name, list: top.field.list}
			if top.hasName && top.field.sample { // {"token":{"examples":["…"]}}
				c.field.secret, c.field.name = true, top.named
			}
		}
		if !array && top.field.secret { // {"token":{"value":…}}
			c.named, c.hasName = top.field.name.orRandom(), true
			c.each = top.field.each && !top.array
			c.inherits = true
		}
		if !array && top.field.holder {
			c.named, c.hasName, c.inherits = secretName{called: "key", value: isRandom}, true, true
		}
		if !array && (top.sorted && top.field.data || top.field.secrets) {
			c.named, c.hasName, c.each, c.inherits = secretName{called: "secret", value: isRandom}, true, true, true
		}
		if top.array && len(l.stack) == 1 {
			c.place = 1 // each element of the outermost array is a document of its own
		}
	}
	l.stack = append(l.stack, c)
}

// placeHash returns the hash of the path to the current value.
func (l *lexer) placeHash(c *container) uint64 {
	step := c.key
	if c.array {
		step = c.n
	}
	return (c.place*hashPrime ^ step) * hashPrime
}

// openString begins a string.
func (l *lexer) openString() {
	l.inString, l.isKey, l.joined, l.escaped = true, false, false, false
	l.hash = hashSeed
	top := l.top()
	switch {
	case top == nil:
		l.joined = l.beyond == 0 && l.before == ':' && l.s.outside.want.rule == nil // a line of the AI SDK's first stream format, such as 0:"text"
	case top.wantKey:
		l.isKey = true
	default:
		l.joined = top.field.text && !top.fixed && (!top.array || len(l.stack) > 1)
	}
	l.noted = l.isKey || top != nil && top.field.index
	if l.joined {
		var channel uint64
		if top != nil {
			channel = l.placeHash(top) ^ top.index*hashPrime
		}
		l.s.inside = l.s.resumeText(channel)
	}
	l.expectValue(top)
}

// expectValue sets the secret that is expected in a string, because of the string's key or of the text before its
// quote.
func (l *lexer) expectValue(top *container) {
	m, out := l.s.inside, l.s.outside
	switch {
	case m.hasText() || m.isDropping():
	case out.want.rule != nil: // a secret is expected here in text that is not JSON
		m.want = out.want
		switch kind := out.want.kind; {
		case kind == spokenValue:
			_, word := splitWord(bytes.TrimRight(out.recentTail(), " \"'`"))
			if m.want.words == 1 && linkWords[word] {
				m.want.words = 0
			}
			out.want = expectation{}
		case kind == mapEntries:
			if m.want = (expectation{}); endsEntry(out.recentTail()) {
				m.want = expectation{rule: out.want.rule, kind: looseQuote, name: out.want.name}
			}
		case kind != arguments && kind != lineWords:
			out.want = expectation{}
		}
	case out.row != nil && out.row.quote != 0 && out.row.begins && out.row.at == out.row.column:
		m.expectField(out.row.name)
	case top != nil && top.command:
		m.want = expectation{rule: listedValue, kind: lineWords, quoted: true}
	case l.isKey && top.listed == top.n+1:
		m.expectField(top.named)
		m.want.rule = values[top.named.value][quotedForm]
	case l.isKey || top != nil && top.field.list && !top.array:
	case top != nil && top.field.secret:
		if m.expectField(top.field.name); top.array && top.field.name.value != isCookies {
			m.want.rule = values[top.field.name.value][memberForm]
		}
	case top != nil && top.hasName && !top.array && !l.isKey && top.each: // {"api_keys":{"openai":"…"}}
		m.expectField(top.named)
		m.want.rule = values[isRandom][fieldForm]
	case top != nil && top.hasName && (top.array || top.field.value || top.field.sample):
		if m.expectField(top.named); top.array {
			m.want.rule = values[top.named.value][quotedForm]
		}
	}
}

// readString reads the next bytes of a string and returns their number.
func (l *lexer) readString(p []byte, at int64) int {
	n := l.stringRun(p)
	switch {
	case n > 0:
		l.hashString(p[:n])
		if !l.isSelfContained(p, n) || !l.s.r.canSkip(l.s.inside, p[:n]) {
			l.s.readText(l.s.inside, p[:n], at)
		} else {
			l.skipped = p[:n]
		}
		return n
	case p[0] == '"':
		l.closeString()
	default: // the text is not JSON
		l.lineBreak()
	}
	return 1
}

// stringRun returns the number of bytes up to the end of the string, a line break, or the end of p. The end of
// p may be in the middle of an escape.
func (l *lexer) stringRun(p []byte) (n int) {
	if l.escaped {
		l.escaped, n = false, 1
	}
	for n < len(p) {
		if n += json.PlainRun(p[n:]); n == len(p) || p[n] == '"' || p[n] == '\n' {
			return n
		}
		if p[n] == '\\' {
			l.escaped = n+1 == len(p)
			n++
		}
		n++
	}
	return min(n, len(p))
}

// isSelfContained reports whether the string ends after its first n bytes, is in a JSON container, and is
// neither a key nor part of a longer text.
func (l *lexer) isSelfContained(p []byte, n int) bool {
	return n < len(p) && p[n] == '"' && !l.joined && !l.isKey && l.top() != nil
}

// lineBreak ends a string, unless a secret may continue after the line break.
func (l *lexer) lineBreak() {
	m := l.s.inside
	l.s.readChar(m, '\n', passed)
	if m.isIdle() {
		l.inString, l.bol = false, true
		l.s.pauseText(false)
		l.stack, l.beyond = l.stack[:0], 0
	}
}

// closeString ends a string.
func (l *lexer) closeString() {
	l.inString, l.before = false, '"'
	if row := l.s.outside.row; row != nil {
		row.quote = 0
	}
	top := l.top()
	switch {
	case l.isKey:
		l.keyed = true
		top.wantKey, top.key = false, l.hash
		top.field = l.s.r.fields.meaningOf(l.hash, l.s.inside.allRead())
	case top == nil: // in text that is not JSON, the string may be a name
		l.s.outside.passOver(l.s.inside.allRead())
		l.s.outside.passChar('"')
	case top.field.index:
		top.index = top.index*hashPrime ^ l.hash
	case top.field.version && !top.array:
		top.sorted = string(l.lastString()) == "v1"
	case top.field.kind && !top.array:
		if !l.joined && (top.field.keyName || isSecretType(l.lastString())) {
			top.named, top.hasName, top.inherits = secretName{called: "secret", value: isRandom}, true, true
			top.sorted = top.sorted || string(l.lastString()) == "Secret"
		}
	case top.array || !l.joined && top.field.names:
		if top.array && top.n < 4 && !l.joined {
			top.readArgument(l.lastString())
		}
		if named, ok := l.nameOfNext(top); ok || !top.inherits {
			top.named, top.hasName = named, ok
		}
		if top.hasName && top.array && top.n == 0 { // environ["API_KEY"] = "…"
			l.s.outside.passOver(l.lastString())
			l.s.outside.passChar('"')
		}
	}
	l.skipped = nil
	l.s.pauseText(l.joined)
}

// nameOfNext returns the secretName for the value after a string that is a name. The value is the next element of a
// list, or the field "value". The second result is false if the string doesn't name a secret.
func (l *lexer) nameOfNext(top *container) (secretName, bool) {
	name := l.lastString()
	if len(name) > maxNameChars || top.array && countTrailing(name, inName) < len(name) {
		return secretName{}, false
	}
	if top.array && string(name) == "-u" { // ["-u","name:password"]
		return secretName{called: "userinfo", value: isBasic}, true
	}
	for _, kind := range []string{" field", " input", " textbox", " box"} { // the description of an element of a page
		name = bytes.TrimSuffix(name, []byte(kind))
	}
	return headerName(name)
}

// lastString returns the end of the string that was read last.
func (l *lexer) lastString() []byte {
	if l.skipped != nil {
		return l.skipped
	}
	return l.s.inside.allRead()
}

// hashString updates the hash of a key or an index.
func (l *lexer) hashString(p []byte) {
	if l.noted {
		l.hash = hashBytes(l.hash, p)
	}
}
