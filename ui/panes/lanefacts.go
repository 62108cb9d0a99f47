package panes

import (
	"fmt"
	"strings"

	"toolscope/providers"
	"toolscope/providers/client"
	"toolscope/stream"
	"toolscope/ui/screen"
)

// requestFacts describes the request of a turn: its client, session, agent, purpose, and changes.
func requestFacts(v *providers.View, b *Costs, t *stream.Turn, g *screen.Glyphs) (facts []fact) {
	a := t.Request
	if a == nil {
		return nil
	}
	add := func(word, text string) {
		if text != "" {
			facts = append(facts, fact{word: word, text: text})
		}
	}
	if c, err := client.Find(a.Client); err == nil {
		add("client", c.Title)
	}
	agent, session := b.requestCosts(a)
	add("session", withCost(a.Session, session, g))
	add("agent", withCost(agentWords(v, a), agent, g))
	add("purpose", a.Purpose)
	switch {
	case a.ResultsOf != "":
		add("responds to", strings.TrimSuffix(a.ResultsOf+": "+a.Snippet, ": "))
	case a.Snippet != "":
		add("prompt", a.Snippet)
	}
	add("changed", changeWords(v, a))
	add("cache", cacheWords(v, t))
	return facts
}

// withCost appends turns and cost to a name.
func withCost(who string, s turnCosts, g *screen.Glyphs) string {
	if who == "" || s.turns < 2 {
		return who
	}
	who += fmt.Sprintf(" %s %s", g.Dot, screen.Plural(s.turns, "turn"))
	if cost := s.String(); cost != "" {
		who += fmt.Sprintf(" %s %s", g.Dot, cost)
	}
	return who
}

// agentWords describes an agent and what started it.
func agentWords(v *providers.View, a *stream.RequestInfo) string {
	words := a.Agent
	if name := agentName(a); name != a.Agent && a.Title != "" {
		words = name + " (" + a.Agent + ")"
	}
	if _, c := v.Find(a.StartedBy); a.StartedBy.Call != 0 && c != nil {
		return words + fmt.Sprintf(", started by %s of turn %d", c.Name, a.StartedBy.Turn+1)
	}
	if a.Parent != "" {
		words += ", started by " + a.Parent
	}
	return words
}

// changeWords describes what a request changed since the previous one of its conversation.
func changeWords(v *providers.View, a *stream.RequestInfo) string {
	c := &a.Change
	if !c.Comparable {
		return ""
	}
	var parts []string
	count := func(n int, does string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", screen.Plural(n, "message"), does))
		}
	}
	for _, part := range []struct {
		is   bool
		word string
	}{{c.Model, "another model"}, {c.Tools, "other tools"}, {c.System, "another system prompt"}} {
		if part.is {
			parts = append(parts, part.word)
		}
	}
	if c.Altered > 0 {
		parts = append(parts, fmt.Sprintf("%s altered (first: %d)", screen.Plural(c.Altered, "message"), c.Same+1))
	}
	count(c.Removed, "removed: the history got shorter")
	count(c.Added, "added")
	if len(parts) == 0 {
		parts = []string{"nothing"}
	}
	words := strings.Join(parts, ", ")
	if t := v.TurnOf(c.PreviousExchange); t != nil {
		words += fmt.Sprintf(" (compared with turn %d)", t.Number+1)
	}
	return words
}

// cacheWords describes how much the provider read from its cache, and the first byte from which the cache
// could not be used.
func cacheWords(v *providers.View, t *stream.Turn) string {
	c, read := &t.Request.Change, t.Usage.CacheRead
	before := v.TurnOf(c.PreviousExchange)
	if !c.Comparable || before == nil || !read.Reported {
		return ""
	}
	had := before.Usage.CacheRead.N + before.Usage.CacheWrite.N
	words := fmt.Sprintf("%s tokens read", screen.Count(int(read.N)))
	if had > 0 {
		words += fmt.Sprintf(" of %s cached after the previous request", screen.Count(int(had)))
	}
	if at := c.BreaksAt(); at != "" {
		words += "; the request changed at " + at
	}
	return words
}

// maxBodyShown is the maximum number of bytes of a body among the facts.
const maxBodyShown = 2 << 10

// plainFacts describes an exchange without a model response.
func plainFacts(v *providers.View, t *stream.Turn) (facts []fact) {
	x := v.Exchange(t.Exchange)
	if x == nil {
		return nil
	}
	add := func(word string, w *stream.Wire) {
		if n := w.Size(); n > 0 {
			facts = append(facts, fact{word: word, text: screen.Bytes(int(n)).String()}, fact{text: string(w.Bytes(0, min(n, maxBodyShown)))})
		}
	}
	if took := screen.Time(screen.Elapsed(t.OpenedAt, t.ClosedAt)); !took.Empty() {
		facts = append(facts, fact{word: "took", text: took.String()})
	}
	if t.Failure != "" {
		facts = append(facts, fact{"error", t.Failure, screen.Bad})
	}
	add("sent", &x.Request)
	add("received", &x.Response)
	return facts
}
