package redact

import (
	"bytes"
	"strings"
)

// keyMeaning is what a JSON key says about its value.
type keyMeaning struct {
	secret bool // it is a credential
	name   secretName
	index  bool // it numbers one of several parallel texts
	text   bool // it is a piece of a text that goes on in the same place of the next document
	whole  bool // the strings in it, where it is an object, are no pieces
}

// keyMeanings are the keys that were seen, by their hash. Most documents of a stream have the same keys.
type keyMeanings map[uint64]keyMeaning

const maxFields = 4096 // keys that are remembered

func (f *keyMeanings) meaningOf(hash uint64, name []byte) keyMeaning {
	known, ok := (*f)[hash]
	if !ok {
		if *f == nil || len(*f) == maxFields {
			*f = keyMeanings{}
		}
		known = fieldOf(name)
		(*f)[hash] = known
	}
	return known
}

// textKeys are what the keys of texts have in them that a stream sends in pieces, in lower case.
var textKeys = strings.Fields("text content delta json arg think reason input output summar refus transcript response completion plan code message value data")

func fieldOf(name []byte) keyMeaning {
	lower := bytes.ToLower(name)
	var f keyMeaning
	f.name, f.secret = credentialName(name)
	for _, end := range []string{"index", "item_id", "toolcallid", "jsonpath"} {
		f.index = f.index || bytes.HasSuffix(lower, []byte(end))
	}
	for _, piece := range textKeys {
		f.text = f.text || bytes.Contains(lower, []byte(piece))
	}
	switch string(lower) {
	case "args", "arguments", "input", "parameters", "result", "structuredcontent":
		f.whole = true
	}
	return f
}
