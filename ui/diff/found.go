package diff

import (
	"strings"

	"toolscope/stream"
)

// CellFindings are the findings about a member of a call that has rows of its own for no part of it.
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
