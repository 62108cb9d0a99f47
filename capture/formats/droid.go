package formats

import (
	"bytes"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// droidSession reads the conversations that Factory droid keeps in ~/.factory/sessions.
var droidSession = capture.Format{
	Name:  "droid session",
	Title: "Factory droid: ~/.factory/sessions/*/*.jsonl",
	Sniff: func(first []byte, whole bool) capture.SniffResult {
		s := sniffKeys(first, whole, "type", "id", "cwd")
		if s.Why = "a header of type session_start"; s.Is == capture.Yes && !hasText(json.Find(first, "type"), "session_start") {
			s.Is = capture.No
		}
		return s
	},
	New: func(in *capture.Input) capture.Reader {
		l := newSessionLog(in, "droid session", capture.NoDeltas, capture.LateTimes, capture.NoEnding, capture.Reencoded)
		return &entryReader{in: in, book: &sessionBook{sessionLog: l, read: readDroidEntry}}
	},
}

func readDroidEntry(d *sessionLog, line []byte) {
	f := json.Pick(line, "type", "timestamp", "message")
	at := parseLogTime(f[1])
	switch {
	case hasText(f[0], "session_start"):
		d.session = line
	case !hasText(f[0], "message"):
	case hasText(json.Find(f[2], "role"), "assistant"):
		d.writeResponse(time.Time{}, at, line)
		d.endExchange("", "", "")
		d.addEntry(line, at, false)
	default:
		d.addEntry(line, at, bytes.Contains(f[2], []byte(`"tool_use_id"`)))
	}
}
