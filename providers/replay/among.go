package replay

import (
	"fmt"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// An UnsentCall is a call of the conversation that is not sent. Only its id and name count.
type UnsentCall struct {
	ID, Name string
	who      string // "call 2", "a call before this turn"
}

// Names returns the calls of a history that have an id.
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

// InHistory returns the source of a turn, or of one of its calls if c is not nil, with the other calls of the
// conversation: those before the turn, and those of the turn. They are not sent, but their ids are taken, and
// a call that is not the first of its turn needs no signature.
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
