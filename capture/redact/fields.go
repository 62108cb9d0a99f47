package redact

import (
	"bytes"
	"strings"
)

// keyMeaning is what a JSON key implies for its value.
type keyMeaning struct {
	secret bool // it is a credential
	name   secretName
	list   bool // it is a list of credentials
	index  bool // it numbers one of several parallel texts
	text   bool // it is a delta of a text that continues in the same place of the next document
	whole  bool // if it is an object, its strings are not deltas
	names  bool // it is the name of another field's value
	value  bool // it is the value of what another field names
}

// keyMeanings caches the known keys by their hash. Most documents of a stream have the same keys.
type keyMeanings map[uint64]keyMeaning

const maxFields = 4096 // cached keys

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

// textKeys are parts, in lower case, of the keys of texts that a stream sends in deltas.
var textKeys = strings.Fields("text content delta json arg think reason input output summar refus transcript response completion plan code message value data")

func fieldOf(name []byte) keyMeaning {
	lower := bytes.ToLower(name)
	var f keyMeaning
	f.name, f.secret = credentialName(name, inKey)
	f.list = bytes.HasSuffix(lower, []byte("s")) && !strings.HasSuffix(f.name.end, "s")
	for _, end := range []string{"index", "item_id", "toolcallid", "jsonpath"} {
		f.index = f.index || bytes.HasSuffix(lower, []byte(end))
	}
	for _, piece := range textKeys {
		f.text = f.text || bytes.Contains(lower, []byte(piece))
	}
	f.names, f.value = isNameName(name), isValueName(name)
	switch string(lower) {
	case "args", "arguments", "input", "parameters", "result", "structuredcontent":
		f.whole = true
	}
	return f
}
