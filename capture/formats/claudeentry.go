package formats

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"toolscope/capture"
	"toolscope/stream/count"
	"toolscope/stream/json"
	"toolscope/stream/lazyregexp"
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

// claudeChain holds the entries of a session as a tree, because each entry names the entry before it. Claude
// Code sends the entries on the path from the latest one back to the first, or back to the latest compaction.
type claudeChain struct {
	seed    maphash.Seed
	entries map[uint64]claudeLink // by the hash of their uuid
	latest  uint64                // the latest entry that has a message and doesn't belong to a sub-agent
	total   int                   // number of entries that have a message and don't belong to a sub-agent
	copies  int                   // number of entries that repeat an earlier entry
	isFull  bool                  // there were too many entries, so the tree was dropped
}

// claudeLink is an entry of the tree.
type claudeLink struct {
	parent  uint64 // hash of the uuid of the entry before it; 0 for none
	message uint64 // hash of the id of the model's message; 0 for other entries
	content uint64 // hash of the complete message
	line    int
	said    bool   // the entry has a message
	name    string // beginning of the parent's uuid, if the parent is not an earlier entry of the file
}

const (
	maxClaudeEntries = 1 << 17
	maxClaudeSteps   = 1 << 10 // maximum number of entries that messageBefore goes back
	shownUUID        = 8       // number of bytes of a uuid that a note quotes
)

// hashID returns the hash of an id, or 0 for an empty id.
func (c *claudeChain) hashID(id string) uint64 {
	if id == "" {
		return 0
	}
	return maphash.String(c.seed, id) | 1
}

// addEntry adds an entry to the tree, with its line number. The result is false for an entry that has the uuid and the
// message of an earlier entry: some versions of Claude Code write the history into the file again.
func (c *claudeChain) addEntry(e *claudeEntry, line int) bool {
	if e.uuid == "" || c.isFull {
		return true
	}
	if c.entries == nil {
		c.entries = map[uint64]claudeLink{}
	}
	if c.isFull = len(c.entries) >= maxClaudeEntries; c.isFull {
		c.entries = nil
		return true
	}
	id := c.hashID(e.uuid)
	content := maphash.Bytes(c.seed, e.message)
	if known, twice := c.entries[id]; twice {
		if known.content != content { // not a copy: the log uses a uuid for two entries
			return true
		}
		c.copies++
		return false
	}
	link := claudeLink{content: content, parent: c.hashID(e.parent), line: line, said: e.message != nil && (e.kind == "user" || e.kind == "assistant")}
	if _, known := c.entries[link.parent]; !known && len(c.entries) > 0 {
		link.name = e.parent[:min(len(e.parent), shownUUID)]
	}
	if e.kind == "assistant" && !e.failed && string(json.Find(e.message, "model")) != claudeSynthetic {
		link.message = c.hashID(json.FindText(e.message, "id"))
	}
	c.entries[id] = link
	if link.said && !e.sidechain {
		c.latest, c.total = id, c.total+1
	}
	return true
}

// messageBefore returns the hash of the id of the model's message before an entry, or 0 if that message is
// unknown. The parameter parent is the uuid of the entry's parent, and own is the id of the entry's own message.
func (c *claudeChain) messageBefore(parent, own string) uint64 {
	at, answer := c.hashID(parent), c.hashID(own)
	for range maxClaudeSteps {
		e, known := c.entries[at]
		if !known {
			return 0
		}
		if e.message != 0 && e.message != answer {
			return e.message
		}
		at = e.parent
	}
	return 0
}

// brokenNote returns a note if a missing entry breaks the path from the latest entry back to the first one, and some
// messages are not on the path. Otherwise, the result ok is false. brokenNote deletes the entries on the path.
func (c *claudeChain) brokenNote() (note capture.Record, ok bool) {
	seen := 0
	for at := c.latest; at != 0; {
		e := c.entries[at]
		if e.said {
			seen++
		}
		if _, known := c.entries[e.parent]; !known && e.name != "" && !c.isFull {
			note = capture.Record{At: capture.NoTime}
			note.Note = fmt.Sprintf("line %d: its parent entry %s is not in the file, so a resumed session has %d of %s", e.line, e.name, seen, count.Of(c.total, "message"))
			return note, seen < c.total
		}
		delete(c.entries, at) // entries may form a cycle
		at = e.parent
	}
	return note, false
}

// claudeRequests holds the logged contents of a session's requests by hash: messages and other parts, each
// stored once. A logged request lists only the hashes that it adds to the request on which it is based.
// Messages that are already in the conversation are not logged again: an equal hash proves that they were sent
// unchanged.
type claudeRequests struct {
	logged bool // the session has logged requests
	keep   map[string][]byte
	order  []string
	size   int
}

// maxRequested is the maximum size of the held contents in bytes. The oldest contents are dropped first.
const maxRequested = 32 << 20

func (r *claudeRequests) put(hash string, value []byte) {
	if _, old := r.keep[hash]; old || hash == "" || value == nil {
		return
	}
	r.keep[hash] = bytes.Clone(value) // clone the value so that the chunk around it can be freed
	r.order, r.size = append(r.order, hash), r.size+len(value)
	for r.size > maxRequested && len(r.order) > 1 {
		r.size -= len(r.keep[r.order[0]])
		delete(r.keep, r.order[0])
		r.order = r.order[1:]
	}
}

// spoken adds a message of the conversation if the session has logged requests. The message's hash is that of its
// JSON with sorted keys.
func (r *claudeRequests) spoken(role string, content, lines []byte) {
	if !r.logged || len(content) == 0 {
		return
	}
	sorted := append(appendSorted([]byte(`{"content":`), content, 0), `,"role":"`+role+`"}`...)
	hash := sha256.Sum256(sorted)
	r.put(hex.EncodeToString(hash[:]), lines)
}

// appendSorted appends a value with the keys of its objects sorted. The result is wrong for values that are
// nested too deeply and for keys that need escaping. In those cases, the hash doesn't match and proves
// nothing.
func appendSorted(dst, value []byte, depth int) []byte {
	const deepest = 64
	if depth > deepest || len(value) == 0 {
		return dst
	}
	switch value[0] {
	case '{':
		members := map[string][]byte{}
		for k, v := range json.Members(value) {
			members[k] = v
		}
		dst = append(dst, '{')
		for i, k := range slices.Sorted(maps.Keys(members)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendSorted(append(append(append(dst, '"'), k...), '"', ':'), members[k], depth+1)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		comma := false
		for v := range json.Elements(value) {
			if comma {
				dst = append(dst, ',')
			}
			dst, comma = appendSorted(dst, v, depth+1), true
		}
		return append(dst, ']')
	}
	return append(dst, value...)
}

// claudeAsked is a request that the session has logged.
type claudeAsked struct {
	id          string
	at          time.Duration
	line, shape []byte   // the entries of the request and of its other parts
	from        int      // number of messages that it shares with an answered request
	tail        [][]byte // the messages after the shared ones; nil for an unknown message
	known       bool     // all messages of tail are known
}

// maxAsked is the maximum number of requests of a conversation that wait for their response. Some responses, such
// as those for a title, are not logged.
const maxAsked = 16

// requested reads an entry that logs a request, or part of one.
func (c *claude) requested(l *claudeLane, e *claudeEntry) {
	c.asks.logged = true
	switch e.kind {
	case "api-request-blob", "api-request-shape":
		c.asks.put(e.hash, e.line)
		return
	}
	if l.open != nil && e.base != "" && e.base == l.open.asked {
		c.finish(l) // the request contains the open message
	}
	a := &claudeAsked{id: e.id, at: e.at, line: e.line, shape: c.asks.keep[e.hash], from: e.kept, known: true}
	for hash := range json.Elements(e.tail) {
		message, ok := c.asks.keep[stringOf(hash)]
		a.tail, a.known = append(a.tail, message), a.known && ok
	}
	for _, before := range l.asked {
		if before.id == e.base && e.base != "" {
			a.since(before)
		}
	}
	if l.asked = append(l.asked, a); len(l.asked) > maxAsked {
		l.asked = l.asked[1:]
	}
}

// since puts the messages of an earlier request, which was never answered, before this request's own.
func (a *claudeAsked) since(before *claudeAsked) {
	if more := a.from - before.from; more >= 0 && more <= len(before.tail) {
		a.tail = append(slices.Clone(before.tail[:more]), a.tail...)
		a.from, a.known = before.from, a.known && before.known
	}
}

// take removes and returns the request that a response names. It returns nil if the request was not logged
// completely.
func (l *claudeLane) take(id string) *claudeAsked {
	i := slices.IndexFunc(l.asked, func(a *claudeAsked) bool { return a.id == id && id != "" })
	if i < 0 {
		return nil
	}
	a := l.asked[i]
	l.asked = slices.Delete(l.asked, i, i+1)
	if !a.known {
		return nil
	}
	return a
}

// hasStatus matches the text of an error that the provider sent before a message began. Older versions of Claude Code
// log the status only in this text.
var hasStatus = lazyregexp.New(`^API Error: ([1-5]\d\d)\b`)

// failure adds an entry in which Claude Code reports an error that ended a request. An error without a status
// ended the open message if the message has no stop reason and no results followed it.
func (c *claude) failure(l *claudeLane, e *claudeEntry) {
	words := json.FindText(json.FirstElement(json.Find(e.message, "content")), "text")
	if m := hasStatus().FindStringSubmatch(words); m != nil && json.IsNull(e.status) {
		e.status = []byte(m[1])
	}
	if a := l.open; a != nil && json.IsNull(a.ended) && len(l.said) == 0 && json.IsNull(e.status) {
		a.add(e.at, e.line)
		a.end(capture.EndEOF, "", "")
		l.open = nil
		return
	}
	c.finish(l)
	if n := len(l.asked); n > 0 && e.asked == "" {
		e.asked = l.asked[n-1].id
	}
	a := c.begin(l, e)
	a.head.Status = countOf(e.status)
	a.add(e.at, e.line)
	a.end(capture.EndEOF, "", "")
}

// system reads an entry outside the conversation. The entry may report that a failed request is retried. Any
// other entry, for example one about a compaction, ends the open message.
func (c *claude) system(l *claudeLane, e *claudeEntry) {
	if e.subtype != "api_error" {
		c.finish(l)
		if e.subtype == "compact_boundary" && json.Find(e.line, "compactMetadata", "preservedSegment") == nil {
			l.said, l.compacted, l.last = nil, true, ""
		}
		return
	}
	said, compacted := l.said, l.compacted
	var last string
	if n := len(l.asked); n > 0 {
		last = l.asked[n-1].id
		defer func(a *claudeAsked) { l.asked = append(l.asked, a) }(l.asked[n-1]) // the next request is based on the failed one
	}
	e.asked = last
	a := c.begin(l, e)
	l.said, l.compacted = said, compacted // the next request sends these entries again
	a.head.Status = countOf(json.Find(e.failure, "status"))
	a.add(e.at, e.line)
	a.end(capture.EndEOF, "", "")
}
