package providers

import (
	"fmt"

	"toolscope/stream"
)

// minCachedTokens is how many tokens a cache has to hold for its loss to be told.
const minCachedTokens = 1024

// noteTurnEnd takes a turn of a lane that has ended. found is what is to be said of it, "" for nothing.
func (ls *conversations) noteTurnEnd(l *agentConversation, t *stream.Turn) (found string) {
	if l == nil || t.Request == nil || t.Request.Background {
		return ""
	}
	if t.ID != "" {
		ls.answered.set(t.ID, l, maxAnswers)
	}
	l.calls = l.calls[:0]
	for _, c := range t.Calls[:min(len(t.Calls), maxCalls)] {
		l.calls = append(l.calls, namedCall{c.ID, c.Name})
	}
	read, written := t.Usage.CacheRead, t.Usage.CacheWrite
	if !read.Reported {
		return ""
	}
	if at := t.Request.Change.BreaksAt(); at != "" && l.cached >= minCachedTokens && read.N < l.cached {
		found = fmt.Sprintf("the request changes %s, which was sent before: %d of the %d tokens that were cached then were read", at, read.N, l.cached)
	}
	l.cached = read.N + written.N
	return found
}

// namedCall is a call that a later request may bring the result of without its name.
type namedCall struct{ id, name string }

// maxCalls is how many calls of a turn are remembered so.
const maxCalls = 64

// callName is the name of a call of the turn before in a lane, by its id.
func (l *agentConversation) callName(id string) string {
	if l != nil {
		for _, c := range l.calls {
			if c.id == id {
				return c.name
			}
		}
	}
	return ""
}
