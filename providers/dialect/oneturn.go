package dialect

import (
	"toolscope/stream"
)

// OneTurn is what a Decoder embeds that has at most one turn open at a time: its
// number, and the findings about it.
type OneTurn struct {
	Number int32 // of the open turn, or of the last one
	Open   bool
}

// BeforeTurns is the state before the first turn.
var BeforeTurns = OneTurn{Number: -1}

// Turn is the number of the turn that is open, or stream.NoTurn.
func (t *OneTurn) Turn() int32 {
	if t.Open {
		return t.Number
	}
	return stream.NoTurn
}

// Diagnose makes a finding about the turn.
func (t *OneTurn) Diagnose(emit func(stream.Event), d *stream.Diagnosis, format string, args ...any) {
	emit(Diagnose(t.Number, stream.NoSlot, d, format, args...))
}

// Stop takes the word on why the turn ended, in the protocols that have
// Anthropic's words, and returns what it means; calls are those of the client.
func (t *OneTurn) Stop(reason string, codes map[string]stream.Code, calls int, emit func(stream.Event)) stream.Code {
	code, known := codes[reason]
	emit(stream.Event{Kind: stream.Finish, Turn: t.Number, Slot: stream.AllChoices, Text: reason, Code: code})
	switch {
	case !known:
		t.Diagnose(emit, FinishUnknown, "stop reason %q is not documented", reason)
	case reason == "tool_use" && calls == 0:
		t.Diagnose(emit, FinishWithoutCall, "the stop reason is tool_use, but no call came: it was dropped on the way")
	case reason == "end_turn" && calls > 0:
		t.Diagnose(emit, FinishStop, "the stop reason is end_turn although calls came: clients that wait for tool_use never run them")
	}
	return code
}
