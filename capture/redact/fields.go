package redact

import (
	"bytes"
	"strings"
)

// field is what a JSON key says about its value.
type field struct {
	secret bool // it is a credential
	name   secretName
	index  bool // it numbers one of several parallel texts
	text   bool // it is a piece of a text that goes on in the same place of the next document
	whole  bool // the strings in it, where it is an object, are no pieces
}

// fields are the keys that were seen, by their hash. Most documents of a stream have the same keys.
type fields map[uint64]field

const fieldLimit = 4096 // keys that are remembered

func (f *fields) of(hash uint64, name []byte) field {
	known, ok := (*f)[hash]
	if !ok {
		if *f == nil || len(*f) == fieldLimit {
			*f = fields{}
		}
		known = fieldOf(name)
		(*f)[hash] = known
	}
	return known
}

// pieces are what the keys of texts have in them that a stream sends in pieces, in lower case.
var pieces = strings.Fields("text content delta json arg think reason input output summar refus transcript response completion plan code message value data")

func fieldOf(name []byte) field {
	lower := bytes.ToLower(name)
	var f field
	f.name, f.secret = credentialName(name)
	for _, end := range []string{"index", "item_id", "toolcallid", "jsonpath"} {
		f.index = f.index || bytes.HasSuffix(lower, []byte(end))
	}
	for _, piece := range pieces {
		f.text = f.text || bytes.Contains(lower, []byte(piece))
	}
	switch string(lower) {
	case "args", "arguments", "input", "parameters", "result", "structuredcontent":
		f.whole = true
	}
	return f
}
