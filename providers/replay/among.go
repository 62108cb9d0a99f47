package replay

import (
	"fmt"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// A UnsentCall is a call of which only its names count: one that stands in the conversation and is not
// sent.
type UnsentCall struct {
	ID, Name string
	who      string // "call 2", "a call before this turn"
}

// Names are the calls of a history that have an id.
func Names(history []protocol.Message) (all []UnsentCall) {
	for _, m := range history {
		for i := range m.Parts {
			if p := &m.Parts[i]; isClientCall(p) && p.ID != "" {
				all = append(all, UnsentCall{ID: p.ID, Name: p.Name, who: "a call before this turn"})
			}
		}
	}
	return all
}

// InHistory is the source of a turn, or of one call of it where c is not nil, that stands among others:
// the calls before the turn, and the turn's. They are not sent, but their ids are taken, and a call
// that is not its turn's first need not carry the turn's signature.
func (s *Source) InHistory(before []UnsentCall, t *stream.Turn, c *stream.Call) *Source {
	out := *s
	out.others = before[:len(before):len(before)]
	if c == nil {
		return &out
	}
	for _, other := range t.Calls {
		switch {
		case other.Discarded || other.RunByProvider:
		case other.Number < c.Number:
			out.later = true
			fallthrough
		case other.Number > c.Number:
			if other.ID != "" {
				out.others = append(out.others, UnsentCall{ID: other.ID, Name: other.Name, who: fmt.Sprintf("call %d", other.Number)})
			}
		}
	}
	return &out
}
