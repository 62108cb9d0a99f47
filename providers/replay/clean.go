package replay

import (
	"unicode/utf8"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// sanitise replaces bytes of a part that are not UTF-8, because a request must be UTF-8. sentArgs sanitises
// the arguments of a call.
func (c *previewBuilder) sanitise(p *protocol.Part) {
	if p.Kind != protocol.CallPart && !utf8.Valid(p.Text) {
		if text := replaceNonUTF8(p.Text); string(text) != string(p.Text) {
			c.addLoss(UnicodeSanitized.newLoss("bytes of %s that are not UTF-8 become U+FFFD", stream.Own(partWords[p.Kind])))
			p.Text = text
		}
	}
	lost := ""
	for _, field := range [...]struct {
		word string
		text *string
	}{
		{"id", &p.ID}, {"item's id", &p.Item}, {"tool's name", &p.Name}, {"namespace", &p.Namespace}, {"kind", &p.ToolKind},
		{"caller's id", &p.Parent}, {"server's name", &p.MCPServer}, {"signature", &p.Signature},
	} {
		if utf8.ValidString(*field.text) {
			continue
		}
		if text := string(replaceNonUTF8([]byte(*field.text))); text != *field.text {
			*field.text, lost = text, field.word
		}
	}
	if lost != "" {
		c.addLoss(UnicodeSanitized.newLoss("bytes of the %s that are not UTF-8 become U+FFFD", stream.Own(lost)))
	}
	p.Raw = cleanRaw(p.Raw)
}

var partWords = [...]string{"a text", "reasoning", "a call", "a result", "a part"}

// cleanRaw returns a JSON text as UTF-8. Bytes that are not UTF-8 can only be in its strings.
func cleanRaw(raw protocol.Raw) protocol.Raw {
	if utf8.Valid(raw) {
		return raw
	}
	return replaceInvalid(raw)
}
