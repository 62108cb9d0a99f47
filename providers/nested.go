package providers

import (
	"bytes"

	"toolscope/stream"
)

// sniffArray distinguishes Gemini's array of objects from AI Studio's chunks, which are arrays of arrays:
// bare, in a list, or in a list in an outer array.
func sniffArray(text []byte, ended bool) (f frameFormat, ok bool) {
	if n := min(len(text), len(stream.XSSI)); string(text[:n]) == stream.XSSI[:n] {
		if n < len(stream.XSSI) && !ended {
			return f, false
		}
		text = text[n:]
	}
	b, known := readArrayStart(text)
	switch depth := b.chunkDepth(); {
	case !known && !ended:
		return f, false
	case b.opened == 0:
		return frameFormat{"lines", new(stream.Lines)}, true
	case b.opened == 1 && b.first != 'n' && b.first != '0':
		return frameFormat{"JSON array", new(stream.Array)}, true
	case depth <= 1:
		return frameFormat{"JSON body", new(stream.Values)}, true
	case depth == 2:
		return frameFormat{"nested arrays", new(stream.Array)}, true
	}
	return frameFormat{"nested arrays", &stream.Array{Within: 1}}, true
}

// arrayStart is the start of nested arrays: the brackets before the first value that is not an array, that
// value, and the next one. Each value is represented by its first byte; null is n, even if it is left out,
// any digit is 0, and the role of a content is m. An empty array is its closing bracket.
type arrayStart struct {
	opened      int
	first, next byte
}

// readArrayStart reads the start of text. known is false if more bytes may change the result.
func readArrayStart(text []byte) (b arrayStart, known bool) {
	for text = trimSpace(text); len(text) > 0 && text[0] == '['; text = trimSpace(text[1:]) {
		b.opened++
	}
	b.first, text = valueKind(text)
	switch b.first {
	case 0:
		return b, false
	case 'n':
		if b.opened == 0 || b.opened > 6 {
			return b, true // independent of the rest
		}
	case ']':
		if b.opened <= 1 {
			return b, true
		}
	default:
		return b, true
	}
	if b.first == ']' {
		text = trimSpace(text[1:])
	}
	switch {
	case len(text) == 0:
		return b, false
	case text[0] == ',':
		text = trimSpace(text[1:])
		if b.next, _ = valueKind(text); b.next == '"' {
			b.next = roleKind(text)
		}
	default:
		b.next = text[0]
	}
	return b, b.next != 0
}

// chunkDepth returns the depth of the first chunk in brackets, including its own:
//
//	[chunk [candidates [candidate [content [parts [part
func (b arrayStart) chunkDepth() int {
	depth := b.opened
	switch {
	case b.first == 'n' && b.next == '0': // a candidate without content
		return depth - 2
	case b.first == 'n' && b.next == 'm': // a content without parts
		return depth - 3
	case b.first == 'n' && depth > 5: // a part
		return depth - 5
	case b.first == 'n' && depth > 3:
		return depth - 2
	case b.first == ']' && b.next == '0': // an empty content
		return depth - 3
	case b.first == ']' && depth > 4: // no parts
		return depth - 4
	case b.first == ']': // no candidates
		return depth - 1
	}
	return depth // a chunk without candidates, or an error
}

// valueKind returns the kind of the value at the start of text, as in arrayStart, and the text after a
// null. It is 0 if more bytes are needed.
func valueKind(text []byte) (kind byte, rest []byte) {
	switch {
	case len(text) == 0:
		return 0, nil
	case text[0] == ',':
		return 'n', text
	case text[0] == '-' || '0' <= text[0] && text[0] <= '9':
		return '0', nil
	case text[0] == 'n':
		return 'n', trimSpace(text[min(len(text), len("null")):])
	}
	return text[0], text
}

// roleKind returns the kind of the string at the start of text: m for the role "model", 0 while more bytes
// are needed.
func roleKind(text []byte) byte {
	const role = `"model"`
	switch n := min(len(text), len(role)); {
	case string(text[:n]) != role[:n]:
		return '"'
	case n < len(role):
		return 0
	}
	return 'm'
}

func trimSpace(text []byte) []byte { return bytes.TrimLeft(text, " \t\r\n") }
