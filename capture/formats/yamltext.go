package formats

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file takes long texts out of YAML before it is parsed. A cassette consists mostly of bodies; it is read in
// half the time this way. Anything unclear is left to the parser.

// textTag is the tag of a value that replaces a text. The value is the number of the text.
const textTag = "!text"

// leastText is the minimum size of a text that is taken out.
const leastText = 256

// takeTexts returns an interaction without its texts of a minimum size, and the texts.
func takeTexts(item []byte, least int) (rest []byte, texts [][]byte) {
	if len(item) < least || hasOddBreaks(item) {
		return item, nil
	}
	rest = make([]byte, 0, len(item)/4)
	for p := item; len(p) > 0; {
		line := p[:lineEnd(p)]
		key, value := keyOf(line)
		text, size := []byte(nil), 0
		if key > 0 {
			text, size = longText(p, key, value)
		}
		switch {
		case text != nil && size >= least:
			rest = append(rest, p[:value]...)
			rest = fmt.Appendf(rest, "%s \"%d\"\n", textTag, len(texts))
			texts = append(texts, text)
		case text != nil:
			rest = append(rest, p[:size]...)
		case isPlain(line):
			rest, size = append(rest, line...), len(line)
		default: // the following lines may be inside something
			return append(rest, p...), texts
		}
		p = p[size:]
	}
	return rest, texts
}

// isPlain reports whether a line begins nothing that continues on the next line.
func isPlain(line []byte) bool {
	text := strings.TrimRight(string(line), " \n")
	text = strings.TrimLeft(text, " ")
	for strings.HasPrefix(text, "- ") {
		text = strings.TrimLeft(text[2:], " ")
	}
	if key, value, ok := strings.Cut(text, ": "); ok && isKey(key) {
		text = strings.TrimLeft(value, " ")
	} else if key, ok := strings.CutSuffix(text, ":"); ok && isKey(key) {
		return true
	}
	switch {
	case text == "---" || text == "" || text == "-" || text == "{}" || text == "[]":
		return true
	case text[0] == '\'':
		_, size := singleQuoted([]byte(text[1:]))
		return size == len(text)-1
	case text[0] == '"':
		_, size := doubleQuoted([]byte(text[1:]))
		return size == len(text)-1
	}
	return !strings.Contains(text, ": ") && text[len(text)-1] != ':' && (isKey(text[:1]) || text[0] == '/' || text[0] == '(')
}

// isKey reports whether text can be a key of a cassette.
func isKey(text string) bool {
	for _, c := range []byte(text) {
		if (c|0x20 < 'a' || 'z' < c|0x20) && (c < '0' || '9' < c) && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return text != "" && text[0] != '-'
}

// hasOddBreaks reports whether the text contains a character that YAML may read as a line end, other than a
// newline.
func hasOddBreaks(p []byte) bool {
	for _, odd := range []string{"\u0085", "\u2028", "\u2029", "\r", "\ufeff"} {
		if bytes.Contains(p, []byte(odd)) {
			return true
		}
	}
	return !utf8.Valid(p)
}

func lineEnd(p []byte) int {
	if n := bytes.IndexByte(p, '\n'); n >= 0 {
		return n + 1
	}
	return len(p)
}

// keyOf returns the indentation of a line's key plus one, and the position of its value; 0 if the line has no key.
// A dash counts as indentation.
func keyOf(line []byte) (indent, value int) {
	n := 0
	for n < len(line) && (line[n] == ' ' || line[n] == '-' && n+1 < len(line) && line[n+1] == ' ') {
		n++
	}
	end := n
	for end < len(line) && (line[end] == '_' || 'a' <= line[end]|0x20 && line[end]|0x20 <= 'z') {
		end++
	}
	if end == n || end+2 >= len(line) || line[end] != ':' || line[end+1] != ' ' {
		return 0, 0
	}
	return n + 1, end + 2
}

// longText reads the text that begins on the first line of p, and returns how many bytes it has there. The text is
// nil if it is unclear.
func longText(p []byte, key, value int) (text []byte, size int) {
	switch header := p[value:lineEnd(p)]; header[0] {
	case '|':
		text, size = literal(p[value+len(header):], key-1, string(bytes.TrimRight(header[1:], "\n")))
		size += value + len(header)
	case '!':
		const binary = "!!binary |\n"
		if string(header) != binary {
			return nil, 0
		}
		text, size = literal(p[value+len(header):], key-1, "")
		text = decodeBase64Text(string(text))
		size += value + len(header)
	case '\'':
		text, size = singleQuoted(p[value+1:])
		size += value + 1
	case '"':
		text, size = doubleQuoted(p[value+1:])
		size += value + 1
	default:
		return nil, 0
	}
	return text, size
}

// literal reads the lines of a literal, which are indented deeper than its key. chomp is the text after the bar: a
// digit is the indentation, + keeps all line ends at the end, - none.
func literal(p []byte, key int, chomp string) (text []byte, size int) {
	indent, deepest := -1, 0 // of the blank lines at the beginning
	digit := strings.Trim(chomp, "+-")
	if n, err := strconv.Atoi(digit); err == nil && n > 0 && n < 10 && len(chomp) <= 2 {
		indent = key + n
	} else if digit != "" || len(chomp) > 1 {
		return nil, 0
	}
	text = make([]byte, 0, len(p))
	for size < len(p) {
		line := p[size : size+lineEnd(p[size:])]
		spaces := len(line) - len(bytes.TrimLeft(line, " "))
		switch blank := spaces == len(line) || line[spaces] == '\n'; {
		case blank && indent < 0:
			line, deepest = line[spaces:], max(deepest, spaces)
		case blank:
			line = line[min(spaces, indent):]
		case indent < 0 && spaces > key && spaces >= deepest:
			indent = spaces
			line = line[indent:]
		case indent < 0 || spaces < indent:
			if spaces > key {
				return nil, 0
			}
			return chomped(text, chomp), size
		default:
			line = line[indent:]
		}
		text, size = append(text, line...), size+lineEnd(p[size:])
	}
	return chomped(text, chomp), size
}

func chomped(text []byte, chomp string) []byte {
	bare := bytes.TrimRight(text, "\n")
	switch {
	case strings.Contains(chomp, "+"):
		return text
	case strings.Contains(chomp, "-") || len(bare) == len(text) || len(bare) == 0:
		return bare
	}
	return text[:len(bare)+1]
}

// singleQuoted reads the text after the quote, up to the end of the line with the closing quote.
func singleQuoted(p []byte) (text []byte, size int) {
	text = make([]byte, 0, 1024)
	for {
		n := bytes.IndexAny(p[size:], "'\n")
		switch {
		case n < 0:
			return nil, 0
		case p[size+n] == '\n':
			text = append(text, p[size:size+n]...)
			text, n = folded(text, p[size+n:], 0), n+breaks(p[size+n:])
			size += n
		case size+n+1 < len(p) && p[size+n+1] == '\'':
			text = append(text, p[size:size+n+1]...)
			size += n + 2
		default:
			return closedText(append(text, p[size:size+n]...), p, size+n+1)
		}
	}
}

// folded ends a line of a text. One line end becomes a space; of several the first disappears. Spaces before them
// disappear, except escaped ones, which are before keep.
func folded(text, p []byte, keep int) []byte {
	for len(text) > keep && (text[len(text)-1] == ' ' || text[len(text)-1] == '\t') {
		text = text[:len(text)-1]
	}
	n := bytes.Count(p[:breaks(p)], []byte("\n"))
	if n == 1 {
		return append(text, ' ')
	}
	return append(text, bytes.Repeat([]byte("\n"), n-1)...)
}

// breaks returns the length of the white space at the beginning of p.
func breaks(p []byte) int { return len(p) - len(bytes.TrimLeft(p, " \t\n")) }

// closedText returns the text if nothing else follows on its line.
func closedText(text, p []byte, size int) ([]byte, int) {
	if size == len(p) {
		return text, size
	}
	if p[size] != '\n' {
		return nil, 0
	}
	return text, size + 1
}

// yamlEscapes are the escapes of one character.
var yamlEscapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ", '"': `"`, '/': "/", '\\': `\`, 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

// yamlHex are the escapes with a number of hexadecimal digits.
var yamlHex = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// doubleQuoted reads the text after the quote, up to the end of the line with the closing quote.
func doubleQuoted(p []byte) (text []byte, size int) {
	text = make([]byte, 0, 1024)
	keep := 0
	for {
		n := bytes.IndexAny(p[size:], "\"\n\\")
		if n < 0 || size+n+1 == len(p) && p[size+n] == '\\' {
			return nil, 0
		}
		text = append(text, p[size:size+n]...)
		switch size += n; p[size] {
		case '"':
			return closedText(text, p, size+1)
		case '\n':
			text = folded(text, p[size:], keep)
			size += breaks(p[size:])
			keep = len(text)
			continue
		}
		char, taken := escaped(p[size+1:])
		if taken == 0 {
			return nil, 0
		}
		text = append(text, char...)
		size += 1 + taken
		keep = len(text)
	}
}

// escaped returns the text of an escape, and its length after the backslash; 0 if it is unknown. An escaped line
// end, and the white space after it, disappear.
func escaped(p []byte) (char []byte, taken int) {
	if p[0] == '\n' {
		n := breaks(p)
		if bytes.Count(p[:n], []byte("\n")) > 1 {
			return nil, 0
		}
		return nil, n
	}
	if one, ok := yamlEscapes[p[0]]; ok {
		return []byte(one), 1
	}
	digits := yamlHex[p[0]]
	if digits == 0 || len(p) < 1+digits {
		return nil, 0
	}
	r, err := strconv.ParseUint(string(p[1:1+digits]), 16, 32)
	if err != nil || !utf8.ValidRune(rune(r)) {
		return nil, 0
	}
	return utf8.AppendRune(nil, rune(r)), 1 + digits
}
