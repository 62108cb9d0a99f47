package replay

import (
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// A Scope is how much of what was said is sent back.
type Scope uint8

const (
	OneCall           Scope = iota // a call by itself
	WholeTurn                      // the turn: text, reasoning and calls
	WholeConversation              // what the turn's request carried, and then the turn

	NumScopes = iota
)

func (s Scope) String() string { return [...]string{"call", "turn", "conversation"}[s] }

// SourceOfHistoryAndTurn is the source of a history and the turn that followed it. The history is in the form of
// before, the turn in that of from.
func SourceOfHistoryAndTurn(history []protocol.Message, before *protocol.Target, t *stream.Turn, from *protocol.Target) *Source {
	return SourceOfHistory(append(slices.Clip(history), Message(t, from)), before)
}

// NumCalls is how many calls messages hold.
func NumCalls(messages []protocol.Message) (n int) {
	for _, m := range messages {
		for i := range m.Parts {
			if m.Parts[i].Kind == protocol.CallPart {
				n++
			}
		}
	}
	return n
}
