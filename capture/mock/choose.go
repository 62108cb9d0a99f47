package mock

import (
	"bytes"
	"cmp"
	"encoding/json"
	"hash/fnv"
	"math"
	"net/http"
	"slices"
	"strings"

	"toolscope/capture"
)

// servedExchange is an exchange with its serving state.
type servedExchange struct {
	*Exchange
	asked requestFacts
	used  bool
	unfit map[string]bool // faults that were already reported as unused for the exchange
}

// likeness grades how well an exchange matches a request. The first field that differs decides.
type likeness struct {
	entry         *servedExchange
	path, alike   int
	shared        float64
	unused, query int
}

// nearly is the largest difference between two overlaps that count as equal.
const nearly = 0.005

// compare orders likenesses, the worse fit first.
func (f likeness) compare(g likeness) int {
	order := cmp.Or(cmp.Compare(f.path, g.path), cmp.Compare(f.alike, g.alike))
	if order == 0 && math.Abs(f.shared-g.shared) > nearly {
		order = cmp.Compare(f.shared, g.shared)
	}
	return cmp.Or(order, cmp.Compare(f.unused, g.unused), cmp.Compare(f.query, g.query), cmp.Compare(f.shared, g.shared))
}

// chooseExchange finds the exchange that answers a request. The result again reports whether the exchange was used
// before. If use is set, the exchange counts as used from now on.
func (p *Provider) chooseExchange(r *http.Request, a *requestFacts, use bool) (found *servedExchange, again bool) {
	socket := capture.IsWebSocket(r)
	return p.chooseAmong(func(e *servedExchange) int {
		switch fit := e.pathFit(r.Method, r.URL); {
		case e.Socket && !socket:
			return 0
		case socket && !e.Socket: // the provider refused to open a WebSocket there
			return min(fit, fitsBare)
		default:
			return fit
		}
	}, r.URL.RawQuery, a, use)
}

// chooseAmong chooses among the exchanges whose path fits; fits returns 0 for the others.
func (p *Provider) chooseAmong(fits func(*servedExchange) int, query string, a *requestFacts, use bool) (found *servedExchange, again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var best likeness
	for _, e := range p.entries {
		f := likeness{entry: e, path: fits(e)}
		if f.path == 0 {
			continue
		}
		f.alike, f.shared = e.asked.matchScore(a), e.asked.overlapWith(a)
		if !e.used {
			f.unused = 1
		}
		if e.Query() == query {
			f.query = 1
		}
		if order := f.compare(best); best.entry == nil || order > 0 || order == 0 && e.used {
			best = f
		}
	}
	if best.entry == nil {
		return nil, false
	}
	again = best.entry.used
	best.entry.used = again || use
	return best.entry, again
}

// decodeBody removes the coding that the header names. If it can't, it returns the body unchanged.
func (p *Provider) decodeBody(h http.Header, coded []byte) []byte {
	if h.Get("Content-Encoding") == "" || p.options.Decode == nil || bytes.HasPrefix(coded, []byte("{")) {
		return coded
	}
	if body, err := p.options.Decode(h, coded); err == nil {
		return body
	}
	return coded
}

// decodeExchange returns the exchange to send. If possible, it removes the coding when faults need to read the bytes
// or the client doesn't accept the coding.
func (p *Provider) decodeExchange(r *http.Request, x *Exchange, bending bool) *Exchange {
	coding := x.Header.Get("Content-Encoding")
	if !x.isEncoded() || p.options.Decode == nil || !bending && acceptsCoding(r.Header, coding) {
		return x
	}
	body, err := p.options.Decode(x.Header, x.Body())
	if err != nil {
		return x
	}
	plain := *x
	plain.Header = x.Header.Clone()
	plain.Header.Del("Content-Encoding")
	plain.Chunks = []Chunk{{x.Chunks[0].After, body}}
	return &plain
}

// acceptsCoding reports whether the client's headers accept a coding.
func acceptsCoding(h http.Header, coding string) bool {
	for _, value := range h.Values("Accept-Encoding") {
		for one := range strings.SplitSeq(value, ",") {
			name, weight, _ := strings.Cut(strings.TrimSpace(one), ";")
			if (strings.EqualFold(name, coding) || name == "*") && strings.TrimSpace(weight) != "q=0" {
				return true
			}
		}
	}
	return false
}

// requestFacts holds the facts in a request's body about its conversation. The zero value has no facts.
type requestFacts struct {
	known    bool
	model    string
	tools    []string
	generate string
	items    []*conversationItem // the history
}

// conversationItem is an item of a history: a message, a result or another entry.
type conversationItem struct {
	sum   uint64
	words map[uint64]struct{}
}

// requestBody has the fields that matter here, from all protocols.
type requestBody struct {
	Model    string    `json:"model"`
	Tools    []tool    `json:"tools"`
	Messages []rawText `json:"messages"` // Anthropic, chat, Ollama, Cohere, Bedrock
	Input    rawText   `json:"input"`    // Responses: a list or a string
	Contents []rawText `json:"contents"` // Gemini
	Generate rawText   `json:"generate"` // Responses: false for a warm-up
}

// rawText is a JSON text that is not parsed further.
type rawText = json.RawMessage

type tool struct {
	Name      string      `json:"name"`
	Type      string      `json:"type"`
	Function  namedTool   `json:"function"`
	ToolSpec  namedTool   `json:"toolSpec"`
	Functions []namedTool `json:"functionDeclarations"`
}

type namedTool struct {
	Name string `json:"name"`
}

// inputItem is an item of a Responses input that may declare tools.
type inputItem struct {
	Type  string `json:"type"`
	Tools []tool `json:"tools"`
}

// readAsked reads the body of a request. A body without a history has no facts.
func readAsked(p []byte) requestFacts {
	var b requestBody
	if json.Unmarshal(p, &b) != nil {
		return requestFacts{}
	}
	list := slices.Concat(b.Messages, b.Contents)
	var items []rawText
	if json.Unmarshal(b.Input, &items) != nil && len(b.Input) > 0 {
		items = []rawText{b.Input}
	}
	a := requestFacts{known: len(list) > 0 || len(b.Input) > 0, model: b.Model, generate: string(b.Generate)}
	for _, i := range slices.Concat(list, items) {
		a.items = append(a.items, newItem(i))
		var declares inputItem
		if json.Unmarshal(i, &declares) == nil {
			b.Tools = append(b.Tools, declares.Tools...)
		}
	}
	for _, t := range b.Tools {
		a.tools = append(a.tools, t.allNames()...)
	}
	slices.Sort(a.tools)
	a.tools = slices.Compact(a.tools)
	return a
}

func (t tool) allNames() (names []string) {
	for _, name := range []string{t.Name, t.Function.Name, t.ToolSpec.Name} {
		if name != "" {
			names = append(names, name)
		}
	}
	for _, f := range t.Functions {
		names = append(names, f.Name)
	}
	if len(names) == 0 {
		names = []string{t.Type}
	}
	return names
}

// matchScore returns how well a recorded request matches a new one. The model counts most, then the
// tools, then the generate field.
func (a *requestFacts) matchScore(b *requestFacts) (score int) {
	if !a.known || !b.known {
		return 0
	}
	for _, same := range []bool{a.model == b.model, slices.Equal(a.tools, b.tools), a.generate == b.generate} {
		score *= 2
		if same {
			score++
		}
	}
	return score
}

// overlapWith returns how much of two histories is equal, from 0 to 1. It compares them item by item from their
// beginning, and divides by the length of the longer history, so a history of the same length scores highest.
func (a *requestFacts) overlapWith(b *requestFacts) float64 {
	sum := 0.0
	for i := range min(len(a.items), len(b.items)) {
		sum += a.items[i].overlapWith(b.items[i])
	}
	return sum / float64(max(1, len(a.items), len(b.items)))
}

func newItem(p []byte) *conversationItem {
	h := fnv.New64a()
	h.Write(p)
	i := &conversationItem{h.Sum64(), map[uint64]struct{}{}}
	for word := range jsonWords(p[:min(len(p), wordBytes)]) {
		h.Reset()
		h.Write(word)
		i.words[h.Sum64()] = struct{}{}
	}
	return i
}

// wordBytes is the maximum number of bytes of an item that are compared word by word.
const wordBytes = 256 << 10

// minWordBytes is the minimum length of the words that are compared, so that only ids, names and significant words
// count.
const minWordBytes = 4

// jsonWords iterates over the words in JSON.
func jsonWords(p []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		start := 0
		for i := 0; i <= len(p); i++ {
			if i < len(p) && (p[i]|0x20 >= 'a' && p[i]|0x20 <= 'z' || p[i] >= '0' && p[i] <= '9' || p[i] == '_' || p[i] == '-' || p[i] >= 0x80) {
				continue
			}
			if i-start >= minWordBytes && !yield(p[start:i]) {
				return
			}
			start = i + 1
		}
	}
}

// overlapWith returns the share of the words in two items that both contain, from 0 to 1.
func (a *conversationItem) overlapWith(b *conversationItem) float64 {
	if a.sum == b.sum {
		return 1
	}
	both := 0
	for w := range a.words {
		if _, ok := b.words[w]; ok {
			both++
		}
	}
	return float64(both) / float64(max(1, len(a.words)+len(b.words)-both))
}
