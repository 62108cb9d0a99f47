package formats

import (
	"bytes"
	"slices"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"toolscope/capture"
	"toolscope/stream/json"
)

// claudeEntry has the fields that are read from an entry of a session. Byte slices are JSON as in the line.
type claudeEntry struct {
	line                         []byte
	kind, subtype                string
	uuid, parent, session, agent string
	sidechain, meta              bool
	failed                       bool   // the message reports an error of the provider
	asked                        string // id of the request that the entry answers
	message, failure             []byte
	status                       []byte
	time                         []byte
	at                           time.Duration
	clock                        time.Time

	id, hash, base string // fields of a logged request
	kept           int
	tail           []byte
}

// readClaudeEntry reads a line; ok is false if it isn't an entry of a session.
func readClaudeEntry(line []byte) (e claudeEntry, ok bool) {
	e.line = line
	for key, v := range json.Members(line) {
		switch key {
		case "type":
			e.kind = stringOf(v)
		case "subtype":
			e.subtype = stringOf(v)
		case "uuid":
			e.uuid = stringOf(v)
		case "parentUuid":
			e.parent = stringOf(v)
		case "sessionId":
			e.session = stringOf(v)
		case "agentId":
			e.agent = stringOf(v)
		case "isSidechain":
			e.sidechain = string(v) == "true"
		case "isMeta":
			e.meta = string(v) == "true"
		case "timestamp":
			e.time = v
		case "message":
			e.message = v
		case "error":
			e.failure = v
		case "isApiErrorMessage":
			e.failed = string(v) == "true"
		case "apiErrorStatus":
			e.status = v
		default:
			e.readRequestField(key, v)
		}
	}
	if len(e.message) > 0 && e.message[0] != '{' {
		e.message = nil
	}
	return e, e.kind != ""
}

// readRequestField reads one of the fields that describe a request.
func (e *claudeEntry) readRequestField(key string, v []byte) {
	switch key {
	case "requestRef":
		e.asked = stringOf(v)
	case "id":
		e.id = stringOf(v)
	case "hash", "shapeHash":
		e.hash = stringOf(v)
	case "base":
		e.base = stringOf(v)
	case "keep":
		e.kept = countOf(v)
	case "tail":
		e.tail = v
	}
}

func stringOf(v []byte) string {
	text, _ := json.Text(v)
	return string(text)
}

// countOf returns the count in a value, or 0 if the value isn't a count.
func countOf(v []byte) int {
	n, _ := strconv.Atoi(string(v))
	return max(n, 0)
}

// javaScriptLen returns the length of a string as JavaScript counts it, in UTF-16 code units.
func javaScriptLen(text []byte) (n int) {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		n += max(utf16.RuneLen(r), 1)
		text = text[size:]
	}
	return n
}

// claudeKinds are the kinds of entries that make up a conversation.
var claudeKinds = []string{"user", "assistant", "system", "attachment", "progress"}

// sniffClaude checks the first entry that is part of a conversation. The entries before it don't identify the
// format. The first line may be longer than the available bytes.
func sniffClaude(first []byte, whole bool) capture.SniffResult {
	return eachFirstLine(first, whole, func(line []byte, ended bool) capture.SniffResult {
		if !ended {
			if len(line) > 0 && line[0] != '{' {
				return capture.SniffResult{}
			}
			if bytes.HasPrefix(line, []byte(`{"parentUuid":`)) && bytes.Contains(line, []byte(`"isSidechain":`)) {
				return capture.SniffResult{Is: capture.Yes, Why: "an entry with parentUuid and isSidechain"}
			}
			return capture.SniffResult{Is: capture.Maybe}
		}
		e, ok := readClaudeEntry(line)
		switch {
		case !ok || !isObject(line):
			return capture.SniffResult{}
		case slices.Contains(claudeKinds, e.kind) && e.session != "" && e.uuid != "" && (json.Find(line, "isSidechain") != nil || json.Find(e.message, "content") != nil):
			return capture.SniffResult{Is: capture.Yes, Why: "an entry of kind " + e.kind + " with sessionId and uuid"}
		case e.kind == "summary" && json.Find(line, "leafUuid") != nil:
			return capture.SniffResult{Is: capture.Yes, Why: "a summary with leafUuid"}
		case slices.Contains(claudeKinds, e.kind) || e.session == "" && e.kind != "file-history-snapshot" && json.Find(line, "snapshot") == nil:
			return capture.SniffResult{}
		}
		return capture.SniffResult{Is: capture.Maybe}
	})
}
