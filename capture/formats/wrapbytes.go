package formats

import (
	"bytes"
	"encoding/base64"

	"toolscope/stream/json"
)

// This file reads texts that JSON holds as bytes: the list of their numbers, as a journal has them
// that are no plain text, and base64.

// minEncodedBytes is how many bytes a text has at least that is looked for.
const minEncodedBytes = 6

// decodeByteList is the text whose bytes are the numbers of a list.
func decodeByteList(list []byte) (text []byte, is bool) {
	p := list[1:]
	for {
		p = afterSpace(p)
		n, value := 0, 0
		for n < len(p) && n < 4 && isDigit(p[n]) {
			value = 10*value + int(p[n]-'0')
			n++
		}
		if n == 0 || value > 255 {
			return nil, false
		}
		text = append(text, byte(value))
		if p = afterSpace(p[n:]); len(p) == 0 {
			return nil, false
		}
		switch p[0] {
		case ']':
			return text, len(text) >= minEncodedBytes
		case ',':
			p = p[1:]
		default:
			return nil, false
		}
	}
}

// decodeBase64 is the text that the inside of a string is the base64 of: where such texts stood before,
// whatever it is, and elsewhere if it begins as a payload does.
func (p *unwrapper) decodeBase64(inside []byte) (text []byte, is bool) {
	if !mayBeEncoded(inside) || !p.leads[hashOf(hashOf(p.hash()*31, []byte("base64")), nil)] && !beginsEncoded(inside) {
		return nil, false
	}
	inside = json.AppendUnquoted(nil, inside) // a slash may be escaped
	text, err := base64.StdEncoding.AppendDecode(nil, inside)
	return text, err == nil && len(text) >= minEncodedBytes
}

// mayBeEncoded is a cheap look at whether the inside of a string can be base64.
func mayBeEncoded(inside []byte) bool {
	if len(inside) < 4*minEncodedBytes/3 || len(inside)%4 != 0 && bytes.IndexByte(inside, '\\') < 0 {
		return false
	}
	for _, c := range inside[:4] {
		if !isWordByte(c) && c != '+' && c != '/' || c == '_' {
			return false
		}
	}
	return true
}

// beginsEncoded reports whether the first four digits are of what a payload begins with.
func beginsEncoded(inside []byte) bool {
	var first [3]byte
	n, err := base64.StdEncoding.Decode(first[:], inside[:4])
	return err == nil && beginsText(first[:n])
}

// begunEncoding is as much of base64 whose end is missing as can be decoded, and all of another text.
func begunEncoding(inside []byte) []byte {
	if whole := inside[:len(inside)/4*4]; mayBeEncoded(whole) && beginsEncoded(whole) {
		return whole
	}
	return inside
}

// beginsText reports whether three bytes are what a payload begins with: a field, a comment, a mark
// of the byte order, JSON.
func beginsText(p []byte) bool {
	switch string(p) {
	case "dat", "eve", "id:", "ret", "\ufeff", `{"t`, `{"i`, `{"c`, `{"m`, `{"o`, `{"r`, `{"u`, `{"e`, `{"d`, `{"s`, "{\n ", "[{\"", "[\n ":
		return true
	}
	return len(p) > 1 && p[0] == ':' && p[1] == ' '
}

// searchEncoded looks for payloads in a text that JSON holds in another form.
func (p *unwrapper) searchEncoded(name string, text []byte) bool {
	return p.inWrapper(name, nil, nil, func() bool {
		known := p.paths[p.hash()]
		if known == nil && len(p.shapes[p.hash()]) == 0 && !mayBeText(text) {
			return false
		}
		return p.searchInQuotes(known, text)
	})
}
