package formats

import (
	"bytes"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// opencode reads conversations in two forms: complete, as opencode export prints them, or event by event, as
// opencode run --format json does. opencode itself keeps them in an SQLite database, which capture/sqlite
// reads into the first form. A message from the model may have several steps. Each step is the response to a
// separate request.
var opencode = capture.Format{
	Name:  "opencode session",
	Title: "opencode export, opencode run --format json, opencode.db",
	Sniff: sniffOpencode,
	New: func(in *capture.Input) capture.Reader {
		o := newOpencodeReader(in)
		walk := json.Walk{Paths: [][]string{{"messages", "*"}}}
		return &jsonDocument{entryReader: entryReader{in: in, book: o}, walk: walk, found: o.found}
	},
}

// opencodePiece reads a file with one message, or one part of a message. Versions of opencode without the
// database wrote one file for each message and each part.
var opencodePiece = capture.Format{
	Name:  "opencode storage",
	Title: "opencode before 2026: storage/message, part/*",
	Sniff: sniffOpencodePiece,
	New: func(in *capture.Input) capture.Reader {
		o := newOpencodeReader(in)
		found := func(recs []capture.Record, _ int, value []byte) []capture.Record { return o.readPiece(recs, value) }
		entries := entryReader{in: in, book: o}
		return &jsonDocument{entryReader: entries, walk: json.Walk{Paths: [][]string{{}}}, found: found, decided: true, one: true}
	},
}

func newOpencodeReader(in *capture.Input) *opencodeReader {
	return &opencodeReader{sessionLog: newSessionLog(in, "opencode session", capture.NoDeltas, capture.Reencoded)}
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
		return capture.SniffResult{Is: capture.Yes, Why: "session info with an id that begins with ses_"}
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

// begins reports whether a value is a string with the given prefix.
func begins(value []byte, with string) bool {
	return bytes.HasPrefix(value, []byte(`"`+with))
}

// opencodeReader reads messages and their parts.
type opencodeReader struct {
	*sessionLog
	message  []byte // the message of the open step without its parts; nil if only parts are logged
	step     opencodeStep
	asked    time.Time
	answered time.Time
}

// opencodeStep is one response of the model.
type opencodeStep struct {
	began   []byte   // the step's first entry, which has no contents
	entries [][]byte // entries of the response
	said    [][]byte // entries with contents
	ended   bool     // an entry has the usage or the error
	results bool     // an entry has the result of a call
	end     capture.End
	why     string
	by      capture.Party
}

func (o *opencodeReader) found(recs []capture.Record, _ int, value []byte) []capture.Record {
	o.recs = recs
	f := json.Pick(value, "info", "parts")
	o.readMessage(value, f[0], f[1])
	return o.recs
}

func (o *opencodeReader) entry(recs []capture.Record, line []byte) []capture.Record {
	o.recs = recs
	f := json.Pick(line, "part", "messages", "type", "error")
	switch {
	case f[0] != nil:
		o.readPart(line, f[0])
	case hasText(f[2], "error"):
		o.readError(line, f[3])
	}
	for m := range json.Elements(f[1]) {
		o.found(o.recs, 0, m)
	}
	return o.recs
}

// readPiece reads a message without its parts, or a part without its message.
func (o *opencodeReader) readPiece(recs []capture.Record, value []byte) []capture.Record {
	o.recs = recs
	if json.Find(value, "role") != nil {
		o.readMessage(value, value, nil)
	} else {
		o.readPart(value, value)
		o.endStep()
	}
	return o.recs
}

// readMessage reads a message with its parts.
func (o *opencodeReader) readMessage(entry, info, parts []byte) {
	f := json.Pick(info, "role", "time", "tokens", "error")
	t := json.Pick(f[1], "created", "completed")
	created := parseLogTime(t[0])
	if !hasText(f[0], "assistant") {
		o.endStep()
		for p := range json.Elements(parts) {
			if hasText(json.Find(p, "type"), "text") && nonEmptyText(json.Find(p, "text")) != nil {
				o.addEntry(entry, created, false)
				break
			}
		}
		return
	}
	o.message, o.asked, o.answered = info, created, parseLogTime(t[1])
	before := len(o.recs)
	for p := range json.Elements(parts) {
		o.readPart(p, p)
	}
	switch steps := len(o.recs) > before; {
	case !steps || len(o.step.said) > 0: // the message shows how its last step ended
		o.step.entries = append(o.step.entries, info)
		o.step.ended = o.step.ended || json.Find(f[2], "input") != nil || json.Find(f[2], "output") != nil
		o.readError(nil, f[3])
	case f[3] != nil:
		o.readError(info, f[3])
	}
	o.endStep()
	o.message = nil
}

// readPart reads a part of a message from the model. The part is the entry or is inside the entry.
func (o *opencodeReader) readPart(entry, p []byte) {
	f := json.Pick(p, "type", "text", "state", "tokens", "time")
	t := json.Pick(f[4], "start", "end")
	switch kind := f[0]; {
	case hasText(kind, "step-start"):
		o.endStep()
		o.step.began = entry
		return
	case (hasText(kind, "text") || hasText(kind, "reasoning")) && nonEmptyText(f[1]) != nil:
	case hasText(kind, "tool"):
		state := json.Pick(f[2], "status", "time")
		if hasText(state[0], "pending") {
			o.step.end, o.step.why, o.step.by = capture.EndCut, "opencode's session contains only part of the arguments", capture.Client
		}
		o.step.results = o.step.results || hasText(state[0], "completed") || hasText(state[0], "error")
		t[0] = json.Find(state[1], "start")
		t[1] = t[0]
	case hasText(kind, "step-finish"):
		o.step.entries = append(o.step.entries, entry)
		o.step.ended = o.step.ended || json.Find(f[3], "input") != nil || json.Find(f[3], "output") != nil
		o.endStep()
		return
	default:
		return
	}
	if o.asked.IsZero() {
		o.asked = parseLogTime(t[0])
	}
	if ended := parseLogTime(t[1]); o.message == nil && ended.After(o.answered) { // if there is a message, it has the time
		o.answered = ended
	}
	o.step.entries, o.step.said = append(o.step.entries, entry), append(o.step.said, entry)
}

// readError reads the error that ended a message, and adds the entry with the error.
func (o *opencodeReader) readError(entry, err []byte) {
	if err == nil {
		return
	}
	o.step.ended = true
	if hasText(json.Find(err, "name"), "MessageAbortedError") {
		o.step.end, o.step.why, o.step.by = capture.EndCut, json.FindText(err, "data", "message"), capture.Client
	}
	if entry != nil && (o.step.by == "" || o.message == nil) {
		o.step.entries = append(o.step.entries, entry)
	}
}

// endStep writes the open step if it has content, usage or an error. The request contains the message, because
// the message names the model.
func (o *opencodeReader) endStep() {
	s := &o.step
	if len(s.said) > 0 || s.ended {
		switch {
		case len(s.entries) == 0 || o.message != nil && !bytes.Equal(s.entries[0], o.message):
			o.pending = append(o.pending, o.message, s.began)
		case s.began != nil:
			o.pending = append(o.pending, s.began)
		default:
			o.session = nonEmptyText(json.Find(s.entries[0], "sessionID"))
		}
		o.writeResponse(o.asked, o.answered, s.entries...)
		o.endExchange(s.end, s.why, s.by)
		for _, entry := range s.said {
			o.addEntry(entry, time.Time{}, s.results)
		}
		if !o.answered.IsZero() {
			o.pendingAt = o.answered
		}
	}
	o.step, o.asked, o.session = opencodeStep{}, time.Time{}, nil
	if o.message == nil {
		o.answered = time.Time{}
	}
}

func (o *opencodeReader) close(recs []capture.Record) []capture.Record {
	o.recs = recs
	if s := &o.step; s.end == "" && (s.ended || s.said != nil || s.began != nil) { // no entry ends the step
		s.ended, s.end, s.why, s.by = true, capture.EndCut, "the file ends inside a step", capture.Client
	}
	o.endStep()
	o.finish()
	return o.recs
}
