package diff

import (
	"strings"

	"toolscope/stream"
)

// Found are the findings about a member of a call that has rows of its own for no part of it.
func Found(c *stream.Call, cell *Cell) (all []stream.Finding) {
	if !cell.Has() {
		return nil
	}
	for _, f := range c.Findings {
		if at := f.Offset; at >= int(cell.Key) && at < int(cell.End) || at == int(cell.End) && (cell.Growing || cell.Cut || endsAt(c, at)) && at >= 0 {
			all = append(all, f)
		}
	}
	return all
}

// endsAt reports whether what makes a value certain is the byte behind it: a number has no end of
// its own.
func endsAt(c *stream.Call, at int) bool {
	args := c.Args()
	return at > 0 && at < len(args) && strings.IndexByte("0123456789truefalsn", args[at-1]) >= 0
}

// BreaksSchema reports whether a finding is that a value is not what the tool's schema allows.
func BreaksSchema(f stream.Finding) bool {
	return strings.HasPrefix(f.Code, "SCHEMA_") && f.Severity > stream.Info
}

// Word is a finding in a word or two.
func Word(f *stream.Finding) string {
	if _, want, ok := strings.Cut(f.Message, "the schema wants "); ok {
		return "want " + want
	}
	if word, ok := words[f.Code]; ok {
		return word
	}
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(f.Code, "SCHEMA_"), "_", " "))
}

var words = map[string]string{
	"SCHEMA_ENUM": "not listed", "SCHEMA_UNKNOWN_KEY": "no such key", "SCHEMA_TOO_MANY": "too many", "SCHEMA_INVALID": "breaks the schema",
	"ARGS_CUT": "cut", "DUP_KEYS": "key twice", "ARGS_BROKEN": "no JSON from here",
}
