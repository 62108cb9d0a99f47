package formats

import (
	"bytes"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// opencode is what opencode tells of a conversation: all of it, as opencode export prints it, or
// event by event, as opencode run --format json does. It keeps it in an SQLite database.
//
// A message of the model may have several steps: each is an answer to a request of its own.
var opencode = capture.Format{
	Name:  "opencode session",
	Title: "opencode export, opencode run --format json",
	Sniff: sniffOpencode,
	New: func(in *capture.Input) capture.Reader {
		o := newOpencodeTalk(in)
		return &jsonDocument{entryReader: entryReader{in: in, book: o}, walk: json.Walk{Paths: [][]string{{"info"}, {"messages", "*"}}}, found: o.found}
	},
}

// opencodePiece is one message, or one part of one, as versions before the database kept each in a
// file of its own.
var opencodePiece = capture.Format{
	Name:  "opencode storage",
	Title: "opencode before 2026: storage/message, part/*",
	Sniff: sniffOpencodePiece,
	New: func(in *capture.Input) capture.Reader {
		o := newOpencodeTalk(in)
		found := func(recs []capture.Record, _ int, value []byte) []capture.Record { return o.piece(recs, value) }
		return &jsonDocument{entryReader: entryReader{in: in, book: o}, walk: json.Walk{Paths: [][]string{{}}}, found: found, decided: true, one: true}
	},
}

func newOpencodeTalk(in *capture.Input) *opencodeTalk {
	return &opencodeTalk{talk: newTalk(in, anthropicShape, "opencode session", capture.NoDeltas, capture.Reencoded)}
}

func sniffOpencode(first []byte, whole bool) capture.SniffResult {
	if s := sniffKeys(first, whole, "type", "timestamp", "sessionID", "part"); s.Is == capture.Yes {
		s.Why = "events of opencode run"
		return s
	}
	keys, open := topKeys(first)
	switch {
	case len(keys) == 0 && open && !whole:
		return capture.SniffResult{Is: capture.Maybe}
	case len(keys) == 0:
		return capture.SniffResult{}
	case keys[0] == "info" && begins(json.Find(first, "info", "id"), "ses_"):
		return capture.SniffResult{Is: capture.Yes, Why: "the info of a session, whose id begins with ses_"}
	case open && !whole && (keys[0] == "info" || keys[0] == "type"):
		return capture.SniffResult{Is: capture.Maybe}
	}
	return capture.SniffResult{}
}

func sniffOpencodePiece(first []byte, whole bool) capture.SniffResult {
	id, session := json.Find(first, "id"), json.Find(first, "sessionID")
	keys, open := topKeys(first)
	switch {
	case session != nil && (begins(id, "prt_") || begins(id, "msg_")):
		return capture.SniffResult{Is: capture.Yes, Why: "an id that begins with prt_ or msg_, and a sessionID"}
	case open && !whole && (len(keys) == 0 || keys[0] == "id" || keys[0] == "type" || keys[0] == "role"):
		return capture.SniffResult{Is: capture.Maybe}
	}
	return capture.SniffResult{}
}

// begins reports whether a value is a string that begins so.
func begins(value []byte, with string) bool {
	return bytes.HasPrefix(value, []byte(`"`+with))
}

// opencodeTalk reads messages and their parts.
type opencodeTalk struct {
	*talk
	step     modelResponse
	gave     []messagePart // its calls
	started  bool          // something was told of it
	message  []byte        // that it is of, nil where only its parts are told
	asked    time.Time
	answered time.Time
}

func (o *opencodeTalk) found(recs []capture.Record, path int, value []byte) []capture.Record {
	if path == 0 {
		o.name = nonEmptyText(json.Find(value, "id"))
		return recs
	}
	f := json.Pick(value, "info", "parts")
	return o.whole(recs, f[0], f[1])
}

func (o *opencodeTalk) entry(recs []capture.Record, line []byte) []capture.Record {
	f := json.Pick(line, "sessionID", "part", "info", "messages", "type", "error")
	switch {
	case f[1] != nil:
		o.name = nonEmptyText(f[0])
		return o.part(recs, f[1])
	case hasText(f[4], "error"):
		o.failed(f[5])
	case f[2] != nil:
		o.name = nonEmptyText(json.Find(f[2], "id"))
	}
	for m := range json.Elements(f[3]) {
		recs = o.found(recs, 1, m)
	}
	return recs
}

// piece takes a message without its parts, or a part without its message.
func (o *opencodeTalk) piece(recs []capture.Record, value []byte) []capture.Record {
	o.name = nonEmptyText(json.Find(value, "sessionID"))
	if json.Find(value, "role") != nil {
		return o.whole(recs, value, nil)
	}
	return o.flush(o.part(recs, value))
}

// whole takes a message with its parts.
func (o *opencodeTalk) whole(recs []capture.Record, info, parts []byte) []capture.Record {
	f := json.Pick(info, "role", "time", "modelID", "tokens", "finish", "error", "id", "model")
	t := json.Pick(f[1], "created", "completed")
	if !hasText(f[0], "assistant") {
		recs = o.flush(recs)
		o.hear(theUser, opencodeTexts(parts), parseLogTime(t[0]))
		return recs
	}
	o.message, o.asked, o.answered = f[6], parseLogTime(t[0]), parseLogTime(t[1])
	told := false
	for p := range json.Elements(parts) {
		o.step.model = f[2]
		before := len(recs)
		recs = o.part(recs, p)
		told = told || len(recs) > before
	}
	if !told || len(o.step.parts) > 0 { // what its steps do not tell
		o.step.model, o.step.usage, o.step.finish, o.started = f[2], opencodeUsage(f[3]), opencodeFinish(f[4]), true
	}
	o.failed(f[5])
	recs = o.flush(recs)
	o.message = nil
	return recs
}

func opencodeTexts(parts []byte) (all []messagePart) {
	for p := range json.Elements(parts) {
		if f := json.Pick(p, "type", "text"); hasText(f[0], "text") && nonEmptyText(f[1]) != nil {
			all = append(all, messagePart{kind: textPart, text: f[1]})
		}
	}
	return all
}
