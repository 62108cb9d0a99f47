// Package stream is the pure core of toolscope: it turns the bytes of one model response into tool
// calls, and says what state each call is really in.
//
//	bytes ─▶ Framer ─▶ frames ─▶ (a dialect) ─▶ events ─▶ Timeline ─▶ Session → Turn → Call
//
// Words, one per idea:
//
//   - record:  bytes as received, with a time
//   - frame:   one SSE event, line, array element, message or body; frames tile the bytes
//   - event:   one provider-neutral fact: its kind, the turn and slot it is about, a text
//   - payload: what events of some kinds say besides; a type for each, in payload.go
//   - delta:   the argument bytes of one event
//   - turn:    one model response
//   - call:    one tool invocation that a turn proposes
//   - slot:    the key by which later events find their call
//   - seal:    the event after which the arguments of a call can no longer change
//   - finding: a named diagnosis with its evidence
//   - ref:     the name of a turn or call; what to keep of one
//   - fact:    an event as it is kept, in 16 bytes: the fold keeps its text
//   - past:    a session as it was after some event: Timeline.At
//   - cold:    a turn whose texts were let go of and can be had again; dropped: one that left a row
//
// A Session is the fold of its events, and of nothing else. Everything a dialect knows it says in
// events.
//
// Two facts about a call are never mixed: its Phase, which is what the provider said, and its
// Syntax, which is what the bytes say. Only the table in status.go joins them, into a Status.
//
// The package does no I/O, reads no clock and starts no goroutine. A Timeline and all that is
// reached from it belong to one goroutine at a time.
package stream
