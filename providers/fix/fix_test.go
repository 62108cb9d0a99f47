package fix_test

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/providers/fix"
	"toolscope/providers/protocol"
	"toolscope/providers/requestrules"
	"toolscope/stream/json"
)

// readerOf returns a function that reads requests to a target.
func readerOf(t *testing.T, target string) (*protocol.Target, fix.Reader) {
	t.Helper()
	to, err := providers.FindTarget(target)
	if err != nil {
		t.Fatal(err)
	}
	return to, func(body []byte) (*requestrules.Request, error) { return providers.ReadRequest(body, to) }
}

// correct corrects a file and checks properties that every correction must have.
func correct(t *testing.T, text []byte, form *fix.Form, read fix.Reader) *fix.Result {
	t.Helper()
	before := bytes.Clone(text)
	r, err := fix.Correct(text, form, read)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !bytes.Equal(before, text) {
		t.Fatal("the original was changed")
	}
	var applied []byte
	at := 0
	for _, c := range r.Changes {
		applied = append(append(applied, text[at:c.Start]...), c.Text...)
		at = c.End
	}
	if applied = append(applied, text[at:]...); !bytes.Equal(applied, r.Text) {
		t.Fatalf("the changes don't make the corrected text\n%s\n%s", applied, r.Text)
	}
	return r
}

// generator makes legal histories and breaks them.
type generator struct {
	*rand.Rand
	to   *protocol.Target
	next int
}

func (g *generator) newID() string {
	g.next++
	return fmt.Sprintf("call_%04d%04x", g.next, g.Intn(1<<16))
}

func textPart(text string) protocol.Part {
	return protocol.Part{Kind: protocol.TextPart, Text: []byte(text)}
}

// newHistory returns a legal history that ends with a question.
func (g *generator) newHistory() (all []protocol.Message) {
	ask := func() {
		all = append(all, protocol.Message{Role: protocol.User, Parts: []protocol.Part{textPart(fmt.Sprintf("question %d", g.Intn(1000)))}})
	}
	for range 2 + g.Intn(3) {
		ask()
		for range 1 + g.Intn(3) {
			var model, results []protocol.Part
			if g.to.Reasoning == protocol.SignedReasoning {
				model = append(model, g.newReasoning())
			}
			if g.Intn(2) == 0 {
				model = append(model, textPart("let me look"))
			}
			for n := range 1 + g.Intn(3) {
				id := g.newID()
				if g.to.Protocol == "gemini" {
					id = ""
				}
				name := fmt.Sprintf("tool_%d", n)
				args := fmt.Sprintf(`{"path": "a/%d", "n":%d}`, g.Intn(100), n)
				model = append(model, protocol.Part{Kind: protocol.CallPart, ID: id, Name: name, Args: []byte(args), Form: g.to.Form})
				results = append(results, protocol.Part{Kind: protocol.ResultPart, ID: id, Name: name, Text: []byte(fmt.Sprintf("result %d", g.Intn(1000)))})
			}
			all = append(all, protocol.Message{Role: protocol.Assistant, Parts: model}, protocol.Message{Role: protocol.User, Parts: results})
		}
		all = append(all, protocol.Message{Role: protocol.Assistant, Parts: []protocol.Part{textPart("done")}})
	}
	ask()
	return all
}

func (g *generator) newReasoning() protocol.Part {
	g.next++
	p := protocol.Part{Kind: protocol.ReasoningPart, Text: []byte("thinking"), Signature: fmt.Sprintf("c2lnbmF0dXJl%04d", g.next)}
	if g.to.Protocol == "openai-responses" {
		p.Item = fmt.Sprintf("rs_%04d", g.next)
	}
	return p
}

// encode writes a history as a request body.
func (g *generator) encode(messages []protocol.Message) []byte {
	field := map[string]string{"openai-responses": "input", "gemini": "contents"}[g.to.Protocol]
	if field == "" {
		field = "messages"
	}
	sep := []string{",", ", ", ",\n  "}[g.Intn(3)]
	return []byte(`{"model": "m", "` + field + `": [` + string(bytes.Join(g.to.Encode(messages), []byte(sep))) + `], "stream": true}`)
}

// partPlace is a part of a history.
type partPlace struct{ message, part int }

// anyPart returns a random part of the given kind. If there is none, it returns false.
func (g *generator) anyPart(messages []protocol.Message, kind protocol.PartKind) (partPlace, bool) {
	var all []partPlace
	for i, m := range messages {
		for j, p := range m.Parts {
			if p.Kind == kind {
				all = append(all, partPlace{i, j})
			}
		}
	}
	if len(all) == 0 {
		return partPlace{}, false
	}
	return all[g.Intn(len(all))], true
}

// removePart removes a part, and also its message if no part is left.
func removePart(messages []protocol.Message, at partPlace) []protocol.Message {
	m := &messages[at.message]
	if m.Parts = slices.Delete(m.Parts, at.part, at.part+1); len(m.Parts) == 0 {
		return slices.Delete(messages, at.message, at.message+1)
	}
	return messages
}

// breakages are ways of breaking a history. The result may still be legal for a target. If the history has no place
// for the breakage, ok is false.
var breakages = []struct {
	name string
	do   func(g *generator, m []protocol.Message) (broken []protocol.Message, ok bool)
}{
	{"a result is gone", func(g *generator, m []protocol.Message) ([]protocol.Message, bool) {
		at, ok := g.anyPart(m, protocol.ResultPart)
		return removePart(m, at), ok
	}},
	{"a call is gone", func(g *generator, m []protocol.Message) ([]protocol.Message, bool) {
		at, ok := g.anyPart(m, protocol.CallPart)
		return removePart(m, at), ok
	}},
	{"a result twice in its message", func(g *generator, m []protocol.Message) ([]protocol.Message, bool) {
		at, ok := g.anyPart(m, protocol.ResultPart)
		m[at.message].Parts = append(m[at.message].Parts, m[at.message].Parts[at.part])
		return m, ok
	}},
	{"a result again, later", func(g *generator, m []protocol.Message) ([]protocol.Message, bool) {
		at, ok := g.anyPart(m, protocol.ResultPart)
		again := protocol.Message{Role: protocol.User, Parts: []protocol.Part{m[at.message].Parts[at.part]}}
		return slices.Insert(m, at.message+2, again), ok
	}},
	{"a result is late", func(g *generator, m []protocol.Message) ([]protocol.Message, bool) {
		at, ok := g.anyPart(m, protocol.ResultPart)
		late := protocol.Message{Role: protocol.User, Parts: []protocol.Part{m[at.message].Parts[at.part]}}
		return removePart(slices.Insert(m, at.message+2, late), at), ok
	}},
	{"a result is before its call", func(g *generator, m []protocol.Message) ([]protocol.Message, bool) {
		at, ok := g.anyPart(m, protocol.ResultPart)
		early := protocol.Message{Role: protocol.User, Parts: []protocol.Part{m[at.message].Parts[at.part]}}
		m = removePart(m, at)
		return slices.Insert(m, at.message-1, early), ok
	}},
	{"two calls with one id", func(g *generator, m []protocol.Message) ([]protocol.Message, bool) {
		a, ok := g.anyPart(m, protocol.CallPart)
		b, _ := g.anyPart(m, protocol.CallPart)
		from, to := m[a.message].Parts[a.part].ID, m[b.message].Parts[b.part].ID
		return renameIn(m, from, to), ok && a != b && from != ""
	}},
	{"an illegal id", func(g *generator, m []protocol.Message) ([]protocol.Message, bool) {
		at, ok := g.anyPart(m, protocol.CallPart)
		id := m[at.message].Parts[at.part].ID
		return renameIn(m, id, id+strings.Repeat(".:é", 25)), ok && id != ""
	}},
	{"an illegal name", func(g *generator, m []protocol.Message) ([]protocol.Message, bool) {
		at, ok := g.anyPart(m, protocol.CallPart)
		name := m[at.message].Parts[at.part].Name
		for i := range m {
			for j := range m[i].Parts {
				if p := &m[i].Parts[j]; p.Name == name {
					p.Name = name + " (x)"
				}
			}
		}
		return m, ok
	}},
	{"arguments of another kind", func(g *generator, m []protocol.Message) ([]protocol.Message, bool) {
		return g.breakArgs(m, `[1,2]`, `null`, `"{\"path\": \"a\"}"`, `7`)
	}},
	{"arguments cut off", func(g *generator, m []protocol.Message) ([]protocol.Message, bool) {
		return g.breakArgs(m, `"{\"path\": \"a"`, `"{"`)
	}},
	{"a text before results", func(g *generator, m []protocol.Message) ([]protocol.Message, bool) {
		at, ok := g.anyPart(m, protocol.ResultPart)
		m[at.message].Parts = slices.Insert(m[at.message].Parts, 0, textPart("by the way"))
		return m, ok
	}},
	{"an empty text", func(g *generator, m []protocol.Message) ([]protocol.Message, bool) {
		at, ok := g.anyPart(m, protocol.CallPart)
		m[at.message].Parts = slices.Insert(m[at.message].Parts, at.part, textPart(""))
		return m, ok
	}},
	{"reasoning with nothing after it", func(g *generator, m []protocol.Message) ([]protocol.Message, bool) {
		at, ok := g.anyPart(m, protocol.TextPart)
		lone := protocol.Message{Role: protocol.Assistant, Parts: []protocol.Part{g.newReasoning()}}
		return slices.Insert(m, at.message+1, lone), ok && m[at.message].Role == protocol.User
	}},
	{"a signature is gone", func(g *generator, m []protocol.Message) ([]protocol.Message, bool) {
		at, ok := g.anyPart(m, protocol.ReasoningPart)
		if ok {
			m[at.message].Parts[at.part].Signature = ""
		}
		return m, ok
	}},
	{"the end is cut off", func(g *generator, m []protocol.Message) ([]protocol.Message, bool) {
		at, ok := g.anyPart(m, protocol.ResultPart)
		return append(slices.Clip(m[:at.message]), m[len(m)-1]), ok
	}},
	{"the beginning is gone", func(g *generator, m []protocol.Message) ([]protocol.Message, bool) {
		at, ok := g.anyPart(m, protocol.CallPart)
		return m[at.message+g.Intn(2):], ok
	}},
}

// breakArgs replaces the arguments of a call.
func (g *generator) breakArgs(m []protocol.Message, values ...string) ([]protocol.Message, bool) {
	at, ok := g.anyPart(m, protocol.CallPart)
	m[at.message].Parts[at.part].Args = []byte(values[g.Intn(len(values))])
	return m, ok && g.to.Form == protocol.ObjectForm
}

// renameIn replaces an id.
func renameIn(m []protocol.Message, from, to string) []protocol.Message {
	for i := range m {
		for j := range m[i].Parts {
			if p := &m[i].Parts[j]; p.ID == from {
				p.ID = to
			}
		}
	}
	return m
}

// TestBrokenHistories breaks legal histories and corrects them. A corrected history must be legal, and correcting it
// again must not change it. Most histories must need only one correction. Legal histories must not change. With
// TOOLSCOPE_LONG, more than 5,000 illegal histories are corrected.
func TestBrokenHistories(t *testing.T) {
	rounds, atLeast := 12, 400
	if os.Getenv("TOOLSCOPE_LONG") != "" {
		rounds, atLeast = 125, 5000
	}
	illegal, single := 0, 0
	ways := map[string]int{}
	for _, target := range []string{"anthropic", "openai-chat", "openai-responses", "gemini"} {
		to, read := readerOf(t, target)
		for round := range rounds {
			for n, way := range breakages {
				g := &generator{Rand: rand.New(rand.NewSource(int64(round))), to: to}
				history := g.newHistory()
				if legal := g.encode(history); n == 0 {
					if r := correct(t, legal, fix.Body, read); len(r.Faults) > 0 || !bytes.Equal(r.Text, legal) {
						t.Fatalf("%s: a legal history was changed: %v\n%s", target, r.Faults, legal)
					}
				}
				broken, ok := way.do(g, history)
				if !ok {
					continue
				}
				text := g.encode(broken)
				r := correct(t, text, fix.Body, read)
				if len(r.Faults) == 0 {
					continue
				}
				illegal++
				ways[way.name]++
				if len(r.Corrections) == 1 {
					single++
				}
				if len(r.Left) > 0 || !json.Valid(r.Text) {
					t.Fatalf("%s, %s, round %d: not corrected: %+v\n%s\n%s", target, way.name, round, r.Left, text, r.Text)
				}
				if again := correct(t, r.Text, fix.Body, read); len(again.Faults) > 0 || len(again.Changes) > 0 {
					t.Fatalf("%s, %s: a second correction changes the history: %v", target, way.name, again.Faults)
				}
			}
		}
	}
	t.Logf("%d illegal histories, %d with one correction: %v", illegal, single, ways)
	if illegal < atLeast || len(ways) < 16 || single*100 < illegal*89 {
		t.Errorf("%d illegal histories in %d ways, %d with one correction; want %d, 16 and 89 %%", illegal, len(ways), single, atLeast)
	}
}
