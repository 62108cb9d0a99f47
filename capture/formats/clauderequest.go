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
)

// claudeRequests are what a session has logged of requests: the entries with the messages and what else
// they were made of, each once, by its hash. A request names those that it has more than the one it is based
// on. Messages that stand in the conversation as they were sent are not logged again: their hash
// proves that they are the ones.
type claudeRequests struct {
	logged bool // the session has requests
	keep   map[string][]byte
	order  []string
	size   int
}

// maxRequested is how many bytes of them are kept, the latest.
const maxRequested = 32 << 20

func (r *claudeRequests) put(hash string, value []byte) {
	if _, old := r.keep[hash]; old || hash == "" || value == nil {
		return
	}
	r.keep[hash] = bytes.Clone(value) // not the whole chunk that it stands in
	r.order, r.size = append(r.order, hash), r.size+len(value)
	for r.size > maxRequested && len(r.order) > 1 {
		r.size -= len(r.keep[r.order[0]])
		delete(r.keep, r.order[0])
		r.order = r.order[1:]
	}
}

// spoken takes a message of the conversation. Its hash is that of its JSON with sorted keys.
func (r *claudeRequests) spoken(role string, content, lines []byte) {
	if !r.logged || len(content) == 0 {
		return
	}
	sorted := append(appendSorted([]byte(`{"content":`), content, 0), `,"role":"`+role+`"}`...)
	hash := sha256.Sum256(sorted)
	r.put(hex.EncodeToString(hash[:]), lines)
}

// appendSorted appends a value with the keys of its objects sorted. What is too deep, or has keys
// that have to be escaped, is not: then the hash is another one, and proves nothing.
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
	line, shape []byte   // entries
	from        int      // how many messages it shares with one that was answered
	tail        [][]byte // those that follow; nil where one is not known
	known       bool     // all of them are
}

// maxAsked is how many requests of a conversation may wait for their response: some responses, such as
// those for a title, are not logged.
const maxAsked = 16

// requested takes an entry about requests.
func (c *claude) requested(l *claudeLane, e *claudeEntry) {
	c.asks.logged = true
	switch e.kind {
	case "api-request-blob", "api-request-shape":
		c.asks.put(e.hash, e.line)
		return
	}
	if l.open != nil && e.base != "" && e.base == l.open.asked {
		c.finish(l) // it has the message that is open
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

// since has a bring what the request before it brought, too, which was never answered.
func (a *claudeAsked) since(before *claudeAsked) {
	if more := a.from - before.from; more >= 0 && more <= len(before.tail) {
		a.tail = append(slices.Clone(before.tail[:more]), a.tail...)
		a.from, a.known = before.from, a.known && before.known
	}
}

// take is the request that an answer names, nil where it was not logged as a whole. Those before it
// are not answered any more.
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

// lines are the entries of the request, as far as it was logged.
func (a *claudeAsked) lines() [][]byte { return append([][]byte{a.line, a.shape}, a.tail...) }

// failure takes Claude Code's word for an error that ended what was asked.
func (c *claude) failure(l *claudeLane, e *claudeEntry) {
	c.finish(l)
	if n := len(l.asked); n > 0 && e.asked == "" {
		e.asked = l.asked[n-1].id
	}
	a := c.begin(l, e)
	a.head.Status = countOf(e.status)
	a.add(e.at, e.line)
	a.end(capture.EndEOF, "", "")
}

// system takes what Claude Code says beside the conversation: that a request failed and is tried
// again, or that the conversation was compacted, which ends what is open.
func (c *claude) system(l *claudeLane, e *claudeEntry) {
	if e.subtype != "api_error" {
		c.finish(l)
		if e.subtype == "compact_boundary" {
			l.said = nil
		}
		return
	}
	said := l.said
	var last string
	if n := len(l.asked); n > 0 {
		last = l.asked[n-1].id
		defer func(a *claudeAsked) { l.asked = append(l.asked, a) }(l.asked[n-1]) // the next one is based on it
	}
	e.asked = last
	a := c.begin(l, e)
	l.said = said // and brings them again
	a.head.Status = countOf(json.Find(e.failure, "status"))
	a.add(e.at, e.line)
	a.end(capture.EndEOF, "", "")
}
