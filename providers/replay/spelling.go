package replay

import (
	"strings"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// spellings are the forms in which clients send a call's id to a target: as it
// is, joined with that of its item, and either made to fit.
func spellings(c *stream.Call, to *dialect.Target) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		ids := []string{c.ID, c.ID + "|" + c.Item}
		if c.Item == "" {
			ids = ids[:1]
		}
		for _, id := range ids {
			if id == "" || !yield(id) {
				return
			}
		}
		for _, id := range ids {
			for _, first := range []bool{false, true} {
				if to.IDs.Takes(id) {
					continue
				}
				x := newIDs(to, &Policy{firstOfID: first})
				if made, _ := x.fit(0, id); !yield(made) {
					return
				}
			}
		}
	}
}

// isCounter reports whether an id is no more than a number, or a word of the
// protocol and one: other turns have the same. A piece of six characters that
// are not all small letters is taken for a random one.
func isCounter(id, tool string) bool {
	if tool != "" {
		id = strings.ReplaceAll(id, tool, "_")
	}
	pieces := strings.FieldsFunc(id, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	for _, piece := range pieces {
		if len(piece) >= 6 && strings.ContainsAny(piece, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			return false
		}
	}
	return true
}
