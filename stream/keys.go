package stream

import (
	"bytes"

	"toolscope/stream/jsonbytes"
)

// keySet holds the keys of the open containers, by depth, and in each by hash: where the key begins and
// ends in the arguments. The set of a container that closed is reused.
type keySet []map[uint64][2]int

// checkKeys reports a duplicate key of an object: parsers keep the last value, or the first, and only one
// of them is sent back.
func (c *Call) checkKeys(event int) {
	var sets keySet
	var buf []byte
	depth, start := 0, 0
	for _, t := range c.lex.Tokens().All() {
		switch t.Kind {
		case ObjectOpen, ArrayOpen:
			if depth++; depth > len(sets) {
				sets = append(sets, map[uint64][2]int{})
			}
			clear(sets[depth-1])
		case ObjectClose, ArrayClose:
			depth--
		case Key:
			from, to := start+1, int(t.End)-1
			buf = jsonbytes.AppendUnquoted(buf[:0], c.args.s[from:to])
			hash := hashOf(buf)
			if old, ok := sets[depth-1][hash]; ok && bytes.Equal(jsonbytes.AppendUnquoted(nil, c.args.s[old[0]:old[1]]), buf) {
				c.reportFinding(DupKeys, event, start,
					"an object has the key %q twice: most parsers keep the last value, some the first", Fact(Clip(buf, 0, 64)))
				return
			}
			sets[depth-1][hash] = [2]int{from, to}
		}
		start = int(t.End)
	}
}

// hashOf is FNV-1a.
func hashOf(p []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range p {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}
