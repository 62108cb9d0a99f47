// Package stream is the pure core of toolscope: it turns the bytes of model responses into tool calls, and
// decides the state of each call.
//
//	bytes ─▶ Framer ─▶ frames ─▶ (a protocol) ─▶ events ─▶ Timeline ─▶ Session → Turn → Call
//
// Terms, one for each idea:
//
//   - record:  bytes as received, with a time
//   - frame:   one SSE event, line, array element, message or body; frames tile the bytes
//   - event:   one provider-neutral fact: its kind, turn, slot and text
//   - payload: the data of an event for which Event has no field; most types are in event.go
//   - delta:   the bytes that one event adds to the arguments of a call or to the text of a turn
//   - turn:    one model response
//   - call:    one tool call in a turn
//   - slot:    the key by which later events find their call
//   - seal:    the event after which the arguments of a call are final
//   - finding: a named diagnosis with its evidence
//   - ref:     the name of a turn or call; keep it instead of a pointer
//   - packed event: an event as it is stored, in at most 16 bytes; its text is stored in the fold
//   - past:    a session as it was after some event: Timeline.At
//   - evicted: a turn whose texts were freed and can be reloaded; dropped: a turn that keeps only its row
//
// A Session is the fold of its events, and of nothing else. A protocol puts all its facts into events.
//
// Two facts about a call are never mixed: its Phase, which is what the provider said, and its Syntax,
// which is what the bytes say. Only the table in status.go combines them, into a Status.
//
// The package does no I/O, reads no clock and starts no goroutine. A Timeline and everything that is
// reachable from it belong to one goroutine at a time.
package stream
