package display

import (
	"iter"

	"toolscope/stream/jsonbytes"
)

// partSize is the approximate size of a part, in bytes. Long texts are printed in parts, so that only one
// part needs memory.
const partSize = 32 << 10

// CleanParts yields the result of [Clean] in parts.
func CleanParts(text []byte) iter.Seq[Text] {
	return func(yield func(Text) bool) {
		var part []byte
		for more := true; more && len(text) > 0; {
			part, text = Drawer{}.appendClean(part[:0], text, min(partSize, len(text)))
			more = yield(Text{string(part), unmeasured})
		}
	}
}

// JSONParts yields the result of [AppendJSON] in parts. A part is valid until the next.
func JSONParts(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		p := textParts{yield: yield}
		p.appendQuoted(text, true)
		p.flushRest()
	}
}

// CompactParts yields the result of [AppendJSONText] in parts, without the spaces between tokens. The text
// must be valid JSON. A part is valid until the next.
func CompactParts(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		p := textParts{yield: yield}
		for len(text) > 0 && !p.enough {
			n := 1
			switch c := text[0]; {
			case jsonbytes.IsSpace(c):
				n = jsonbytes.SpaceLen(text)
			case c == '"':
				n, _ = jsonbytes.StringEnd(text)
				p.appendQuoted(text[1:n-1], false)
			default:
				for n < len(text) && text[n] != '"' && !jsonbytes.IsSpace(text[n]) {
					n++
				}
				p.b = append(p.b, text[:n]...)
				p.flushFull()
			}
			text = text[n:]
		}
		p.flushRest()
	}
}

// textParts collects text in b, and yields it when a part is full.
type textParts struct {
	b      []byte
	yield  func([]byte) bool
	enough bool // the caller stopped the iteration
}

// appendQuoted appends a JSON string.
func (p *textParts) appendQuoted(text []byte, quote bool) {
	p.b = append(p.b, '"')
	for len(text) > 0 && !p.enough {
		p.b, text = appendEscaped(p.b, text, min(partSize, len(text)), quote)
		p.flushFull()
	}
	p.b = append(p.b, '"')
}

func (p *textParts) flushFull() {
	if len(p.b) >= partSize {
		p.enough = p.enough || !p.yield(p.b)
		p.b = p.b[:0]
	}
}

func (p *textParts) flushRest() {
	if len(p.b) > 0 && !p.enough {
		p.yield(p.b)
	}
}
