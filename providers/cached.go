package providers

import (
	"fmt"

	"toolscope/stream"
)

// minCachedTokens is how many cached tokens must be lost for a finding.
const minCachedTokens = 1024

// noteTurnEnd notes a turn of a conversation that has ended. It returns the message of a finding, or "".
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
		found = fmt.Sprintf("the request changes %s, which an earlier request sent: %d of %d cached tokens were read", at, read.N, l.cached)
	}
	l.cached = read.N + written.N
	return found
}

// namedCall is a call whose result a later request may contain without its name.
type namedCall struct{ id, name string }

// maxCalls is how many calls of a turn are kept for that.
const maxCalls = 64

// callName returns the name of a call of the conversation's previous turn, by its id.
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
