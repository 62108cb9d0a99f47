package formats

import (
	"bytes"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// piSession reads the conversations that pi, and agents based on it, keep in ~/.pi/agent/sessions/--<cwd>--. pi
// keeps the messages of all providers in its own form.
var piSession = capture.Format{
	Name:  "pi session",
	Title: "pi, OpenClaw: ~/.pi/agent/sessions/*/*.jsonl",
	Sniff: func(first []byte, whole bool) capture.SniffResult {
		s := sniffKeys(first, whole, "type", "id", "timestamp", "cwd")
		if s.Why = "a header of type session"; s.Is == capture.Yes && !hasText(json.Find(first, "type"), "session") {
			s.Is = capture.No
		}
		if s.Is == capture.Yes { // the output of pi also begins like a session
			_, second, _ := bytes.Cut(first, []byte("\n"))
			if second = afterSpace(second); !whole && !isWhole(second) {
				s.Is = capture.Maybe
			} else if kind := stringOf(json.Find(second, "type")); len(second) > 0 && strings.Contains(kind, "_") && json.Find(second, "id") == nil {
				s.Is = capture.No
			}
		}
		return s
	},
	New: func(in *capture.Input) capture.Reader {
		l := newSessionLog(in, "pi session", capture.NoDeltas, capture.LateTimes, capture.Reencoded)
		return &entryReader{in: in, book: &sessionBook{sessionLog: l, read: new(piReader).readPiEntry}}
	},
}

// piReader reads the entries of a conversation.
type piReader struct {
	model []byte // the latest entry about a change of the model
}

func (r *piReader) readPiEntry(p *sessionLog, line []byte) {
	f := json.Pick(line, "type", "timestamp", "message", "usage")
	at := parseLogTime(f[1])
	m := json.Pick(f[2], "role", "content", "stopReason", "errorMessage", "timestamp")
	hasContent := nonEmptyText(m[1]) != nil || json.FirstElement(m[1]) != nil
	switch {
	case hasText(f[0], "session"):
		p.session = line
	case hasText(f[0], "model_change"):
		r.model = line
	case hasText(f[0], "compaction"), hasText(f[0], "branch_summary"):
		if !json.IsNull(f[3]) { // the model wrote the summary, not an extension
			p.writeAside(at, r.model, line)
		}
	case !hasText(f[0], "message"):
	case hasText(m[0], "assistant"):
		asked := parseLogTime(m[4]) // a message has the time of its request
		if asked.After(at) {
			asked = time.Time{}
		}
		p.writeResponse(asked, at, line)
		if hasText(m[2], "aborted") {
			p.endExchange(capture.EndCut, stringOf(m[3]), capture.Client)
		} else {
			p.endExchange("", "", "")
		}
		if hasContent && !hasText(m[2], "aborted") && !hasText(m[2], "error") { // pi doesn't send back a message that failed
			p.addEntry(line, at, false)
		}
	case hasText(m[0], "toolResult"):
		p.addEntry(line, at, true)
	case hasText(m[0], "user") && hasContent:
		p.addEntry(line, at, false)
	}
}
