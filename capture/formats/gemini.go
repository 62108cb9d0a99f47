package formats

import (
	"bytes"
	"slices"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// geminiCLI is what Gemini CLI keeps of a conversation in ~/.gemini/tmp/<project>/chats.
//
// Each line is a message, all of it again when something of it changes; or {"$set":…} with what is
// known of the conversation, all its messages among it; or {"$rewindTo":id}, from which message on
// the user took it back. Older versions wrote one object that holds all.
var geminiCLI = capture.Format{
	Name:  "gemini-cli session",
	Title: "Gemini CLI: ~/.gemini/tmp/*/chats/session-*",
	Sniff: sniffGeminiCLI,
	New: func(in *capture.Input) capture.Reader {
		g := &geminiChat{talk: newTalk(in, geminiShape, "gemini-cli session", capture.NoDeltas, capture.LateTimes, capture.NoEnding, capture.Reencoded)}
		return &jsonDocument{entryReader: entryReader{in: in, book: g}, walk: json.Walk{Paths: [][]string{{"sessionId"}, {"messages", "*"}}}, found: g.found}
	},
}

func sniffGeminiCLI(first []byte, whole bool) capture.SniffResult {
	const why = "an object with sessionId and projectHash"
	s := sniffKeys(first, whole, "sessionId", "projectHash")
	s.Why = why
	return s
}

// geminiChat reads the messages of a conversation. The answer of the message that came last stays
// open, because more of it may come.
type geminiChat struct {
	*talk
	id    []byte          // of the message whose answer is open
	calls map[string]bool // that were given of it, and whether their results were
	told  bool            // its usage was given
	known map[string]bool // messages that are closed
	asked bool            // the user waits for an answer

	said    []messagePart // in it
	waiting []messagePart // results of its calls, as long as no message brought them
}

func (g *geminiChat) found(recs []capture.Record, path int, value []byte) []capture.Record {
	if path == 0 {
		g.name = nonEmptyText(value)
		return recs
	}
	return g.message(recs, value)
}

func (g *geminiChat) entry(recs []capture.Record, line []byte) []capture.Record {
	f := json.Pick(line, "$set", "$rewindTo", "sessionId", "messages", "id")
	set, back, session, messages, id := f[0], f[1], f[2], f[3], f[4]
	switch {
	case set != nil:
		recs = g.all(recs, json.Find(set, "messages"))
	case back != nil:
		recs = g.rewind(recs, back)
	case id != nil:
		recs = g.message(recs, line)
	case session != nil:
		g.name = nonEmptyText(session)
		recs = g.all(recs, messages)
	}
	return recs
}

func (g *geminiChat) all(recs []capture.Record, messages []byte) []capture.Record {
	for m := range json.Elements(messages) {
		recs = g.message(recs, m)
	}
	return recs
}

// rewind takes back what was said from a message on. What the model had said it has said.
func (g *geminiChat) rewind(recs []capture.Record, to []byte) []capture.Record {
	recs = g.close(recs)
	g.news, g.asked = nil, false
	if n := len(recs); n > 0 { // not before anything was said
		recs = append(recs, capture.Record{Exchange: recs[n-1].Exchange, At: capture.NoTime, Note: "the conversation was rewound to before message " + string(to)})
	}
	return recs
}

// done closes the answer that is open.
func (g *geminiChat) done(recs []capture.Record) []capture.Record {
	if g.id != nil {
		g.remember(g.id)
		g.hear(theModel, g.said, time.Time{})
		g.id, g.said = nil, nil
	}
	return g.end(recs, capture.Record{At: capture.NoTime, End: capture.EndEOF})
}

func (g *geminiChat) remember(id []byte) {
	if g.known == nil {
		g.known = map[string]bool{}
	}
	g.known[string(id)] = true
}

func (g *geminiChat) message(recs []capture.Record, m []byte) []capture.Record {
	f := json.Pick(m, "id", "type", "content", "timestamp")
	id, kind, content, at := f[0], f[1], f[2], parseLogTime(f[3])
	switch {
	case id != nil && g.known[string(id)]:
		return recs
	case hasText(kind, "gemini"):
		return g.model(recs, m, id, at)
	case hasText(kind, "user"):
		recs = g.done(recs)
		g.remember(id)
		parts := geminiParts(content)
		g.brought(parts)
		g.hear(theUser, parts, at)
		g.asked = true
	case hasText(kind, "error") && g.asked:
		recs = g.done(recs)
		g.remember(id)
		recs = g.answer(recs, &modelResponse{failure: nonEmptyText(content)}, time.Time{}, at)
		g.asked = false
	}
	return recs
}

// model takes an answer of the model, or what is new of the one that is open.
func (g *geminiChat) model(recs []capture.Record, m, id []byte, at time.Time) []capture.Record {
	f := json.Pick(m, "content", "model", "tokens", "toolCalls", "thoughts")
	content, model, tokens, calls := f[0], f[1], f[2], f[3]
	r := &modelResponse{model: model}
	if g.id == nil || !bytes.Equal(g.id, id) {
		recs = g.done(recs)
		g.brought(nil)
		recs = g.ask(recs, model, time.Time{})
		g.id, g.calls, g.told, g.asked = bytes.Clone(id), map[string]bool{}, false, false
		r.parts = append(geminiThoughts(f[4]), geminiParts(content)...)
		g.given(r.parts)
	}
	if tokens != nil && !g.told {
		r.usage, g.told = geminiUsage(tokens), true
	}
	results := g.take(r, calls)
	if len(r.parts) > 0 || r.usage != nil {
		recs = g.say(recs, r, at)
	}
	g.said = append(g.said, r.parts...)
	g.waiting = append(g.waiting, results...)
	return recs
}

// brought takes a message of the user: results that it has not are heard before it.
func (g *geminiChat) brought(parts []messagePart) {
	for i := range parts {
		id := json.Find(parts[i].raw, "functionResponse", "id")
		g.waiting = slices.DeleteFunc(g.waiting, func(p messagePart) bool { return bytes.Equal(json.Find(p.raw, "functionResponse", "id"), id) })
	}
	g.hear(theUser, g.waiting, time.Time{})
	g.waiting = nil
}

func (g *geminiChat) close(recs []capture.Record) []capture.Record {
	recs = g.done(recs)
	g.brought(nil)
	return g.talk.close(recs)
}

// given notes the calls that a content has itself.
func (g *geminiChat) given(parts []messagePart) {
	for i := range parts {
		if id := json.Find(parts[i].raw, "functionCall", "id"); id != nil {
			g.calls[string(id)] = false
		}
	}
}

// take adds the calls that are new, and is their results.
func (g *geminiChat) take(r *modelResponse, calls []byte) (results []messagePart) {
	for c := range json.Elements(calls) {
		f := json.Pick(c, "id", "name", "args", "result")
		answered, known := g.calls[string(f[0])]
		if !known || f[0] == nil {
			r.parts = append(r.parts, messagePart{kind: callPart, id: f[0], name: f[1], args: f[2]})
		}
		if !answered {
			got := geminiResults(f[3], f[0])
			results, answered = append(results, got...), len(got) > 0
		}
		g.calls[string(f[0])] = answered
	}
	return results
}
