package formats

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// yamlEscapes are what stands behind a backslash for one character.
var yamlEscapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ", '"': `"`, '/': "/", '\\': `\`, 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

// yamlHex are those behind which so many hexadecimal digits stand.
var yamlHex = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// doubleQuoted reads what follows the quote, and the rest of the line behind the closing one.
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

// escaped is what stands for a character behind a backslash, and how many bytes that takes: 0 where
// it is not known. A line end that is escaped is nothing, nor is the white space behind it.
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
