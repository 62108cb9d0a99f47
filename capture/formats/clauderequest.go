package formats

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
	"toolscope/stream/lazyregexp"
)

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
