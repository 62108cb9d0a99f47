package formats

import (
	"encoding/base64"

	"toolscope/stream/jsonbytes"
)

// This file reads texts that JSON holds as bytes: the list of their numbers, as a journal has them
// that are no plain text, and base64.

// leastEncoded is how many bytes a text has at least that is looked for.
const leastEncoded = 6

// numbered is the text whose bytes are the numbers of a list.
func numbered(list []byte) (text []byte, is bool) {
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
			return text, len(text) >= leastEncoded
		case ',':
			p = p[1:]
		default:
			return nil, false
		}
	}
}

// unencoded is the text that the inside of a string is the base64 of: where such texts stood before,
// whatever it is, and elsewhere if it begins as a payload does.
func (p *peeler) unencoded(inside []byte) (text []byte, is bool) {
	if len(inside) < 4*leastEncoded/3 || len(inside)%4 != 0 {
		return nil, false
	}
	for _, c := range inside[:4] {
		if !isWordByte(c) && c != '+' && c != '/' || c == '_' {
			return nil, false
		}
	}
	if !p.leads[hashOf(hashOf(p.hash()*31, []byte("base64")), nil)] {
		var first [3]byte
		if n, err := base64.StdEncoding.Decode(first[:], inside[:4]); err != nil || !beginsText(first[:n]) {
			return nil, false
		}
	}
	inside = jsonbytes.AppendUnquoted(nil, inside) // a slash may be escaped
	text, err := base64.StdEncoding.AppendDecode(nil, inside)
	return text, err == nil && len(text) >= leastEncoded
}

// beginsText reports whether three bytes are what a payload begins with.
func beginsText(p []byte) bool {
	switch string(p) {
	case "dat", "eve", "id:", "ret", `{"t`, `{"i`, `{"c`, `{"m`, `{"o`, `{"r`, `{"u`, `{"e`, `{"d`, `{"s`, "{\n ", "[{\"", "[\n ", ": p", ": k":
		return true
	}
	return false
}

// encoded looks for payloads in a text that JSON holds in another form.
func (p *peeler) encoded(name string, text []byte) bool {
	return p.inLayer(name, nil, nil, func() bool {
		known := p.paths[p.hash()]
		if known == nil && len(p.shapes[p.hash()]) == 0 && !mayBeText(text) {
			return false
		}
		return p.quote(known, text)
	})
}
