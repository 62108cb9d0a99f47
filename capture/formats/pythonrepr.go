package formats

import (
	"bytes"
	"encoding/base64"
	stdjson "encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// This file reads values that Python programs print: chunks from the libraries of OpenAI, Anthropic, Google
// and LiteLLM, and dictionaries.

// reprClasses are the classes whose values are payloads. A star matches one or more characters.
var reprClasses = []string{
	"ChatCompletionChunk", "ChatCompletion", "ModelResponse", "ModelResponseStream", "Message", "GenerateContentResponse", "Raw*Event", "Response*Event",
}

// isReprClass reports whether a class is one of reprClasses.
func isReprClass(name string) bool {
	return slices.ContainsFunc(reprClasses, func(class string) bool {
		begin, end, open := strings.Cut(class, "*")
		return name == class || open && len(name) > len(begin)+len(end) && strings.HasPrefix(name, begin) && strings.HasSuffix(name, end)
	})
}

// searchRepr searches the Python value that begins at i in a text: an instance of a class in reprClasses, or a
// dictionary. The value must end the line, as in the output of print and of loggers. In a program's source, more text
// would follow. The result n is the number of bytes that can't contain another payload.
func (p *unwrapper) searchRepr(t []byte, i int) (n int, found bool) {
	if name := reprName(t[i:]); t[i] != '{' && (name == "" || !isReprClass(name)) {
		return 0, false
	}
	r := reprReader{rest: t[i:]}
	if !r.readValue(0) {
		return 1, false
	}
	end := len(t) - len(r.rest)
	if len(afterSpace(r.rest)) > 0 {
		return end - i, false
	}
	return end - i, p.searchAfterPrefix(t[:i], t[end:], func() bool {
		return p.inWrapper("Python value", nil, nil, func() bool { return p.searchValue(r.json, true) })
	})
}

// reprName returns the name of the class at the beginning of p, which an open parenthesis must follow.
// Otherwise it returns "".
func reprName(p []byte) string {
	n := 0
	for n < len(p) && (isWordByte(p[n]) || p[n] == '.') {
		n++
	}
	if n == 0 || n == len(p) || p[n] != '(' {
		return ""
	}
	return string(p[:n])
}

// reprReader writes a Python value as JSON. Strings keep their text. Values that JSON lacks become null.
type reprReader struct {
	rest  []byte // not read yet
	json  []byte
	camel bool // field names are converted to those of Google's protocol
}

const maxReprDepth = 64

func (r *reprReader) write(text string) { r.json = append(r.json, text...) }

// skipByte skips spaces, then the byte c and the spaces after it. It returns false if the byte c is missing.
func (r *reprReader) skipByte(c byte) bool {
	r.rest = afterSpace(r.rest)
	if len(r.rest) == 0 || r.rest[0] != c {
		return false
	}
	r.rest = afterSpace(r.rest[1:])
	return true
}

// readValue reads a value. It returns false if the text is cut off or is not a Python value.
func (r *reprReader) readValue(depth int) bool {
	r.rest = afterSpace(r.rest)
	if len(r.rest) == 0 || depth > maxReprDepth {
		return false
	}
	switch c := r.rest[0]; {
	case c == '\'' || c == '"':
		return r.readString()
	case c == 'b' && len(r.rest) > 1 && (r.rest[1] == '\'' || r.rest[1] == '"'):
		// Write bytes as base64, as Google's library does in JSON.
		size := quoteEnd(r.rest[1:])
		if size == 0 {
			return false
		}
		r.write(`"` + base64.StdEncoding.EncodeToString(unescapeText(r.rest[2:size])) + `"`)
		r.rest = r.rest[size+1:]
		return true
	case c == '{':
		return r.readList('{', '}', func() bool {
			return (r.rest[0] == '\'' || r.rest[0] == '"') && r.readString() && r.skipByte(':') && r.writeColon() && r.readValue(depth+1)
		})
	case c == '[':
		return r.readList('[', ']', func() bool { return r.readValue(depth + 1) })
	case c == '(':
		return r.readList('(', ')', func() bool { return r.readValue(depth + 1) })
	case c == '<':
		return r.readAngle()
	case c == '-' || isDigit(c):
		return r.readNumber()
	}
	if name := reprName(r.rest); name != "" {
		return r.readInstance(name, depth)
	}
	n := 0
	for n < len(r.rest) && (isWordByte(r.rest[n]) || r.rest[n] == '.') {
		n++
	}
	word := string(r.rest[:n])
	r.rest = r.rest[n:]
	switch word {
	case "":
		return false
	case "True", "False":
		r.write(strings.ToLower(word))
	default:
		r.write("null")
	}
	return true
}

func (r *reprReader) writeColon() bool {
	r.write(":")
	return true
}

// readList reads a list in brackets. Commas separate its elements, and another comma may follow the last one.
// readList writes a JSON array, or an object if the parameter open is {. It returns false if the text is not a list.
func (r *reprReader) readList(open, end byte, element func() bool) bool {
	begin, finish := "[", "]"
	if open == '{' {
		begin, finish = "{", "}"
	}
	r.skipByte(open)
	r.write(begin)
	for first := true; !r.skipByte(end); first = false {
		if !first {
			r.write(",")
		}
		if len(r.rest) == 0 || !element() {
			return false
		}
		if r.skipByte(',') {
			continue
		} else if !r.skipByte(end) {
			return false
		}
		break
	}
	r.write(finish)
	return true
}

// readInstance reads the fields of an instance. An instance with values that have no names, such as a date,
// becomes null. The result is false if the instance is cut off or has another form.
func (r *reprReader) readInstance(name string, depth int) bool {
	r.rest = r.rest[len(name)+1:]
	r.camel = r.camel || name == "GenerateContentResponse"
	from, hasType, isPlain := len(r.json), false, false
	r.write("{")
	for first := true; !r.skipByte(')'); first = false {
		n := 0
		for n < len(r.rest) && isWordByte(r.rest[n]) {
			n++
		}
		field := string(r.rest[:n])
		if !first {
			r.write(",")
		}
		if isNamed := n > 0 && n < len(r.rest) && r.rest[n] == '='; isNamed {
			r.rest = r.rest[n+1:]
		} else {
			isPlain, field = true, ""
		}
		hasType = hasType || field == "type"
		if r.camel {
			field = camelCase(field)
		}
		r.write(`"` + field + `":`)
		if !r.readValue(depth + 1) {
			return false
		}
		if r.skipByte(',') {
			continue
		} else if !r.skipByte(')') {
			return false
		}
		break
	}
	if isPlain {
		r.json = append(r.json[:from], "null"...)
		return true
	}
	if event, is := strings.CutPrefix(name, "Raw"); is && !hasType {
		if len(r.json) > from+1 {
			r.write(",")
		}
		r.write(`"type":"` + snakeCase(strings.TrimSuffix(event, "Event")) + `"`)
	}
	r.write("}")
	return true
}

// camelCase converts a name such as function_call to functionCall.
func camelCase(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

// snakeCase converts a name such as MessageStart to message_start.
func snakeCase(name string) string {
	var b strings.Builder
	for i, c := range name {
		if unicode.IsUpper(c) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// readAngle reads a value in angle brackets. An enum such as <Reason.STOP: 'STOP'> becomes its text; any other
// value becomes null. The result is false if the closing bracket is missing.
func (r *reprReader) readAngle() bool {
	inside, after, closed := bytes.Cut(r.rest[1:], []byte(">"))
	if !closed {
		return false
	}
	if _, value, is := bytes.Cut(inside, []byte(": ")); is && len(value) > 1 && value[0] == '\'' {
		enum := reprReader{rest: value}
		if enum.readString() && len(enum.rest) == 0 {
			r.json, r.rest = append(r.json, enum.json...), after
			return true
		}
	}
	r.write("null")
	r.rest = after
	return true
}

// readNumber reads a number. A number that JSON doesn't allow, such as -inf, becomes null. The result is always
// true.
func (r *reprReader) readNumber() bool {
	n := 0
	for n < len(r.rest) && (isWordByte(r.rest[n]) || r.rest[n] == '.' || r.rest[n] == '-' || r.rest[n] == '+') {
		n++
	}
	number := r.rest[:n]
	r.rest = r.rest[n:]
	if stdjson.Valid(number) {
		r.json = append(r.json, number...)
	} else {
		r.write("null")
	}
	return true
}

// readString reads a string. It returns false if the string is cut off or has an escape that repr doesn't
// write, such as \N{…}.
func (r *reprReader) readString() bool {
	size := quoteEnd(r.rest)
	if size == 0 {
		return false
	}
	inside := r.rest[1 : size-1]
	r.rest = r.rest[size:]
	r.write(`"`)
	for i := 0; i < len(inside); i++ {
		c := inside[i]
		if c != '\\' {
			switch {
			case c == '"':
				r.write(`\"`)
			case c < ' ':
				r.writeRune(rune(c))
			default:
				r.json = append(r.json, c)
			}
			continue
		}
		i++
		digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[inside[i]]
		switch c := inside[i]; {
		case digits > 0:
			if i+digits >= len(inside) {
				return false
			}
			code, err := strconv.ParseUint(string(inside[i+1:i+1+digits]), 16, 32)
			if err != nil || code > unicode.MaxRune {
				return false
			}
			r.writeRune(rune(code))
			i += digits
		case c == '\'':
			r.write("'")
		case c == 'n' || c == 'r' || c == 't' || c == '"' || c == '\\':
			r.json = append(r.json, '\\', c)
		default:
			return false // repr writes no other escape
		}
	}
	r.write(`"`)
	return true
}

// writeRune writes a character. A control character, a quote, a backslash and half of a surrogate pair become
// escapes.
func (r *reprReader) writeRune(c rune) {
	if c >= ' ' && !(0xd800 <= c && c < 0xe000) && c != '"' && c != '\\' {
		r.json = append(r.json, string(c)...)
		return
	}
	hex := strconv.FormatInt(int64(c), 16)
	r.write(`\u` + "0000"[len(hex):] + hex)
}
