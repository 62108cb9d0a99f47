package replay

import (
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// A Scope is the part of a conversation that is sent back.
type Scope uint8

// Scopes.
const (
	OneCall           Scope = iota // one call
	WholeTurn                      // the turn: text, reasoning and calls
	WholeConversation              // the history of the turn's request, and the turn

	NumScopes = iota
)

// String returns the name of the scope.
func (s Scope) String() string { return [...]string{"call", "turn", "conversation"}[s] }

// SourceOfHistoryAndTurn returns the source of a history and the turn that followed it. The history has the
// form of before, the turn that of from.
func SourceOfHistoryAndTurn(history []protocol.Message, before *protocol.Target, t *stream.Turn, from *protocol.Target) *Source {
	return SourceOfHistory(append(slices.Clip(history), Message(t, from)), before)
}

// NumCalls returns the number of calls in messages.
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
