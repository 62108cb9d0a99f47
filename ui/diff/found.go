package diff

import (
	"strings"

	"toolscope/stream"
)

// CellFindings returns the findings inside a field of a call. Call it only for a field that has no rows
// for its own fields.
func CellFindings(c *stream.Call, cell *Cell) (all []stream.Finding) {
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

// endsAt reports whether the token before the byte at is a number or a literal. It has no closing byte:
// only the next byte shows that it ended.
func endsAt(c *stream.Call, at int) bool {
	args := c.Args()
	return at > 0 && at < len(args) && strings.IndexByte("0123456789truefalsn", args[at-1]) >= 0
}

// BreaksSchema reports whether a finding says that a value breaks the tool's schema.
func BreaksSchema(f stream.Finding) bool {
	return strings.HasPrefix(f.Code, "SCHEMA_") && f.Severity > stream.Info
}
