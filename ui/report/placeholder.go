package report

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"toolscope/stream/json"
	"toolscope/stream/lazyregexp"
)

// A charClass is the class that a character and its placeholder share. Both have the same length in bytes. Characters
// in the class kept do not change: ASCII punctuation and spaces, and characters that can't be printed.
type charClass uint8

const (
	lower charClass = iota
	upper
	digit
	two // length in UTF-8, in bytes
	three
	four
	numClasses
	kept = numClasses
)

// placeholderRanges are the placeholders in each class: the first character and the number of characters. After the
// last character, the first one is used again.
var placeholderRanges = [numClasses]struct {
	first rune
	count int
}{{'a', 26}, {'A', 26}, {'1', 9}, {'à', 22}, {'ぁ', 80}, {'😀', 64}}

func classOf(c rune) charClass {
	switch {
	case 'a' <= c && c <= 'z':
		return lower
	case 'A' <= c && c <= 'Z':
		return upper
	case '0' <= c && c <= '9':
		return digit
	case c < utf8.RuneSelf || c == unicode.ReplacementChar || !unicode.IsPrint(c): // invisible characters stay
		return kept
	case c < 0x800:
		return two
	case c < 0x10000:
		return three
	}
	return four
}

// A placeholderMapper returns the placeholders for a text's characters, one after another.
type placeholderMapper interface{ next(c rune) rune }

// textMapper is the mapper for running text. A placeholder depends only on the class of the character. So a part of a
// text has the same placeholder, whether within the text or on its own.
type textMapper struct{}

func (textMapper) next(c rune) rune {
	switch k := classOf(c); k {
	case kept:
		return c
	case lower, upper:
		return placeholderRanges[k].first + 'x' - 'a'
	default:
		return placeholderRanges[k].first
	}
}

// A node is the end of a prefix in a tree of names and values. Texts with the same prefix have placeholders with the
// same prefix. Different texts have different placeholders. So equal texts stay equal, and a prefix stays a prefix.
type node struct {
	kids map[rune]*node
	as   rune            // placeholder for the character that leads to this node
	used [numClasses]int // number of placeholders that the children use, by class
}

// maxDistinctLen is the number of characters by which texts are distinguished. Later characters are replaced
// in the same way as running text.
const maxDistinctLen = 128

// wordMapper is the mapper for a name or a value.
type wordMapper struct {
	at    *node
	depth int
}

func (p *wordMapper) next(c rune) rune {
	if p.depth++; p.depth > maxDistinctLen {
		return textMapper{}.next(c)
	}
	kid := p.at.kids[c]
	if kid == nil {
		kid = &node{as: c}
		if k := classOf(c); k != kept {
			kid.as = placeholderRanges[k].first + rune(p.at.used[k]%placeholderRanges[k].count)
			p.at.used[k]++
		}
		if p.at.kids == nil {
			p.at.kids = map[rune]*node{}
		}
		p.at.kids[c] = kid
	}
	p.at = kid
	return kid.as
}

// replaceChars replaces the characters of p, which is the inside of a JSON string, or plain text. Escapes become
// escapes of the same length, and invalid bytes stay invalid.
func replaceChars(p []byte, m placeholderMapper) {
	for n := 0; n < len(p); {
		c, size := utf8.DecodeRune(p[n:])
		switch {
		case c == '\\':
			n += replaceEscape(p[n:], m)
			continue
		case c == utf8.RuneError && size == 1:
			p[n] = strayByte(p[n])
		case c < 0x20 && c != '\n' && c != '\r' && c != '\t':
			p[n] = 1
		case unicode.Is(unicode.Cf, c) && size == 4: // a tag character, which can hide a letter
			utf8.EncodeRune(p[n:n+size], hiddenLetter)
		default:
			utf8.EncodeRune(p[n:n+size:n+size], m.next(c))
		}
		n += size
	}
}

// hiddenLetter is the invisible tag character for the letter a.
const hiddenLetter = 0xe0061

// strayByte returns a byte that has the same role in UTF-8 as c.
func strayByte(c byte) byte {
	switch {
	case c < 0xc0:
		return 0x81
	case c < 0xe0:
		return 0xc3
	case c < 0xf0:
		return 0xe3
	}
	return 0xf0
}

// replaceEscape returns the length of the escape at the start of p, and replaces it if it is a \u escape. A surrogate
// stays a surrogate, whether paired or not.
func replaceEscape(p []byte, m placeholderMapper) int {
	c, ok := json.UnicodeEscape(p)
	switch {
	case !ok:
		n := json.EscapeLen(p)
		m.next(utf8.RuneError)
		return n
	case utf16.IsSurrogate(c) && c < 0xdc00:
		putUnit(p, 0xd83d)
	case utf16.IsSurrogate(c):
		putUnit(p, 0xde00)
	default:
		putUnit(p, m.next(c))
	}
	return 6
}

// putUnit writes c as the four digits of the escape \uXXXX at the start of p.
func putUnit(p []byte, c rune) {
	for i := range 4 {
		p[2+i] = "0123456789abcdef"[c>>(12-4*i)&0xf]
	}
}

// respellString replaces the contents of the JSON string raw with text. It keeps the escapes and the length
// of raw. The parameter text must be as long as the value of raw.
func respellString(raw, text []byte) {
	for n := 0; n < len(raw) && len(text) > 0; {
		if raw[n] != '\\' {
			raw[n], text = text[0], text[1:]
			n++
			continue
		}
		size := json.EscapeLen(raw[n:])
		c, ok := json.UnicodeEscape(raw[n:])
		if low, pair := json.UnicodeEscape(raw[n+size:]); ok && pair && utf16.DecodeRune(c, low) != unicode.ReplacementChar {
			high, low := utf16.EncodeRune(firstWideRune(text))
			putUnit(raw[n:], high)
			putUnit(raw[n+6:], low)
			n, text = n+12, text[min(4, len(text)):]
			continue
		}
		switch {
		case ok && utf16.IsSurrogate(c):
			replaceEscape(raw[n:], textMapper{})
			text = text[min(3, len(text)):]
		case ok:
			r, width := utf8.DecodeRune(text)
			if r != utf8.RuneError {
				putUnit(raw[n:], r)
			}
			text = text[width:]
		default:
			text = text[1:]
		}
		n += size
	}
}

// firstWideRune returns the first character of a text if it has four bytes. Otherwise it returns a placeholder of four
// bytes.
func firstWideRune(text []byte) rune {
	if c, size := utf8.DecodeRune(text); size == 4 {
		return c
	}
	return placeholderRanges[four].first
}

// leakMarkers are the markers of calls that models write as text by mistake. They do not change, because they
// show the mistake.
var leakMarkers = []string{
	"<tool_call>", "</tool_call>", "[TOOL_CALLS]", "<|tool_call", "<｜tool▁call", "<function=", "<|python_tag|>", "<|channel|>commentary to=functions.",
}

// replaceText replaces running text, except leak markers.
func replaceText(p []byte) {
	for len(p) > 0 {
		at, size := len(p), 0
		for _, m := range leakMarkers {
			if i := bytes.Index(p, []byte(m)); i >= 0 && i < at {
				at, size = i, len(m)
			}
		}
		replaceChars(p[:at], textMapper{})
		p = p[at+size:]
	}
}

// A placeholderWalker replaces the contents of JSON texts with placeholders. It keeps the structure, the faults, the
// words of the protocol, and the place where a text ends.
type placeholderWalker struct {
	names        *node
	numbers      *node
	placeholders []DeltaPlaceholder // deltas in the frame that have not yet been found in it
	models       map[string]bool    // public models
}

// A level is an open object or array.
type level struct {
	object bool
	name   bool   // a key comes next
	key    string // key of the next value
	values bool   // the protocol does not define the values
	schema bool   // in the declaration of a tool
	named  bool   // the keys are names of arguments, or of definitions in a schema
}

// protocolWordKeys are the keys whose values are words of a protocol, unless they don't look like words.
var protocolWordKeys = setOf(`type role object finish_reason finishReason native_finish_reason stop_reason stopReason status phase service_tier
	event event_type subtype done_reason code reason kind mode language modality outcome mimeType mime_type media_type effort verbosity truncation
	blockReason category probability format op provider executor interactionStatus traffic_type trafficType`)

// argumentKeys are the keys for arguments, and for other values that a protocol does not define.
var argumentKeys = setOf(`input args arguments parameters tools properties metadata structured_output snapshot state result response_schema
	functionResponse schema json`)

// declarationWords are the keys in the declaration of a tool, and the names of types.
var declarationWords = setOf(`type function name description parameters input_schema inputSchema json schema strict properties required items
	prefixItems enum const default anyOf oneOf allOf not if then else $ref $defs definitions additionalProperties patternProperties
	propertyNames minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern format minItems maxItems
	uniqueItems minProperties maxProperties title examples functionDeclarations function_declarations toolSpec parametersJsonSchema
	object array string number integer boolean null OBJECT ARRAY STRING NUMBER INTEGER BOOLEAN`)

// nameListKeys are the keys in a schema for objects whose keys are names.
var nameListKeys = setOf(`properties $defs definitions patternProperties`)

// nestedJSONKeys are the keys for strings that may contain the protocol's JSON.
var nestedJSONKeys = setOf(`failed_generation message raw error body bytes`)

// textKeys are the keys for running text or its deltas. The placeholder for part of a text is part of the text's
// placeholder.
var textKeys = setOf(`delta diff patch command commands cmd code text content thinking reasoning reasoning_content summary refusal transcript
	output_text input stringValue`)

// argumentTextKeys are the keys for strings that contain arguments.
var argumentTextKeys = setOf(`arguments args partial_json argsTextDelta inputTextDelta`)

// timeKeys are the keys for times.
var timeKeys = setOf(`created created_at createdAt completed_at expires_at timestamp createTime updated_at updated`)

// jsonWords are the JSON literals, and words that are often written instead of them.
var jsonWords = setOf(`true false null NaN Infinity undefined True False None DONE`)

// publicWords are the name and the argument keys of a tool that models call although it was not declared.
var publicWords = setOf(`multi_tool_use.parallel parallel tool_uses recipient_name parameters`)

// roleWords are the roles in protocols that write messages as arrays, without keys.
var roleWords = setOf(`model user assistant system tool`)

// idPrefixes matches the prefix of an id. The prefix shows only the type of the id.
var idPrefixes = lazyregexp.New(`^(toolu_|srvtoolu_|call_|msg_|resp_|fc_|rs_|ws_|fs_|ci_|ig_|ctc_|mcpl?_|mcpr_|lsh_|sh_|apc_|tsc_|tso_|req_|chatcmpl-(tool-)?|gen-|run_|item_|functions\.)`)

var protocolWord = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_.:/+-]{0,63}$`)

func setOf(list string) map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(list) {
		set[name] = true
	}
	return set
}

// replaceJSON replaces the contents of the JSON text p. If values is true, the protocol defines none of the
// text.
func (w *placeholderWalker) replaceJSON(p []byte, values bool) {
	stack := []level{{values: values}}
	for n := 0; n < len(p); {
		top := &stack[len(stack)-1]
		switch c := p[n]; {
		case c == '"':
			size, closed := json.StringEnd(p[n:])
			if i := bytes.IndexAny(p[n:n+size], "\r\n"); i >= 0 && !closed {
				size = i
			}
			w.replaceString(p[n:n+size], closed, top)
			n += size
			continue
		case c == '{' || c == '[':
			inner := level{object: c == '{', name: c == '{', values: top.values || argumentKeys[top.key] && top.object}
			inner.schema = top.schema || !top.values && top.object && top.key == "tools"
			inner.named = inner.schema && top.object && !top.named && nameListKeys[top.key]
			if c == '[' {
				inner.key = top.key
			}
			stack = append(stack, inner)
		case c == '}' || c == ']':
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
		case c == ',':
			top.name = top.object
		case c == ':':
			top.name = false
		case isWord(c):
			size := 1
			for n+size < len(p) && (isWord(p[n+size]) || p[n+size] == '.' || p[n+size] == '+' || p[n+size] == '-') {
				size++
			}
			w.replaceBare(p[n:n+size], top)
			n += size
			continue
		case c >= 0x80:
			size := 1
			for n+size < len(p) && p[n+size] >= 0x80 {
				size++
			}
			replaceText(p[n : n+size])
			n += size
			continue
		}
		n++
	}
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// replaceBare replaces a token without quotes, which is a number or a word. It keeps literals and most numbers of the
// protocol.
func (w *placeholderWalker) replaceBare(p []byte, in *level) {
	isNumber := p[0] >= '0' && p[0] <= '9'
	switch {
	case jsonWords[string(p)]:
	case !isNumber:
		replaceText(p)
	case in.values, timeKeys[in.key], !in.object && bytes.Trim(p, "0123456789") == nil && len(p) > 3, !in.object && bytes.ContainsAny(p, ".e"):
		m := &wordMapper{at: w.numbers} // keep the decimal point and the exponent
		for i, c := range p {
			switch {
			case c == 'e' || c == 'E':
				return
			case i == 0 && c == '0':
			case c >= '0' && c <= '9':
				p[i] = byte(m.next(rune(c)))
			}
		}
	}
}

// replaceString replaces a string. The parameter in is the object or array that contains the string, as a key or a
// value.
func (w *placeholderWalker) replaceString(p []byte, closed bool, in *level) {
	inside := p[1:]
	if closed {
		inside = p[1 : len(p)-1]
	}
	text := string(json.AppendUnquoted(nil, inside))
	if in.object && in.name {
		in.key = text
		if in.values && !publicWords[text] && !(in.schema && !in.named && declarationWords[text]) || !protocolWord().MatchString(text) {
			replaceChars(inside, &wordMapper{at: w.names})
		}
		return
	}
	w.replaceValue(inside, text, in)
}

// replaceValue replaces the inside of a string value.
func (w *placeholderWalker) replaceValue(inside []byte, text string, in *level) {
	if i := slices.IndexFunc(w.placeholders, func(piece DeltaPlaceholder) bool { return piece.Text == text }); i >= 0 && text != "" && !in.values && in.key != "id" && in.key != "name" {
		respellString(inside, []byte(w.placeholders[i].Placeholder))
		w.placeholders = slices.Delete(w.placeholders, i, i+1)
		return
	}
	if publicWords[text] || in.schema && !in.named && in.key == "type" && declarationWords[text] {
		return
	}
	begins := strings.TrimLeft(text, " \n\t")
	switch {
	case in.key == "bytes" && w.replaceBase64(inside, text):
	case in.key == "jsonPath":
		w.replacePath(inside)
	case !in.values && protocolWordKeys[in.key] && protocolWord().MatchString(text):
	case !in.object && roleWords[text]:
	case (in.key == "model" || in.key == "modelVersion" || in.key == "model_name") && w.models[text]:
	case strings.HasPrefix(begins, "{"), strings.HasPrefix(begins, "["), in.values && strings.HasPrefix(begins, `"`):
		stand := []byte(text)
		w.replaceJSON(stand, in.values || !nestedJSONKeys[in.key])
		respellString(inside, stand)
	case !in.values && argumentTextKeys[in.key]:
		stand := []byte(text)
		w.replaceJSON(stand, true)
		respellString(inside, stand)
	case textKeys[in.key]:
		replaceText(inside)
	case in.values, len(text) <= maxDistinctLen && !strings.ContainsAny(text, " \n\t"):
		replaceChars(inside[len(idPrefixes().FindString(string(inside))):], &wordMapper{at: w.names})
	default:
		replaceText(inside)
	}
}

// replacePath replaces the names in a JSONPath.
func (w *placeholderWalker) replacePath(p []byte) {
	for len(p) > 0 {
		n := bytes.IndexAny(p, "$.[]'\"\\")
		if n < 0 {
			n = len(p)
		}
		if len(bytes.Trim(p[:n], "0123456789")) > 0 { // not an index
			replaceChars(p[:n], &wordMapper{at: w.names})
		}
		p = p[min(n+1, len(p)):]
	}
}

// replaceBase64 replaces the protocol's JSON inside base64 text. It reports whether the text is base64.
func (w *placeholderWalker) replaceBase64(inside []byte, text string) bool {
	plain, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(text) != len(inside) {
		return false
	}
	w.replaceJSON(plain, false)
	base64.StdEncoding.Encode(inside, plain)
	return true
}
