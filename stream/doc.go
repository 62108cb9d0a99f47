// Package stream is the pure core of toolscope: it turns the bytes of one model response into tool
// calls and says what state each call is really in.
//
//	bytes ─▶ Framer ─▶ frames ─▶ (a dialect) ─▶ events ─▶ Timeline ─▶ Session → Turn → Call
//
// Words, one per idea:
//
//   - record: bytes as received, with a time
//   - frame:  one SSE event, line, array element or body; frames tile the bytes
//   - event:  one provider-neutral fact; everything a dialect knows it says in events
//   - delta:  an event's argument bytes
//   - turn:   one model response; call: one tool invocation it proposes
//   - slot:   the key by which later deltas find their call
//   - seal:   the protocol event after which argument bytes can no longer change
//   - finding: a named diagnosis with evidence
//
// Two facts about a call are never mixed: its Phase, which is what the provider said, and its
// Syntax, which is what the bytes say. Only the table in status.go joins them.
//
// The package does no I/O, reads no clock and starts no goroutine. A Timeline and what hangs on it
// belong to one goroutine at a time.
package stream
