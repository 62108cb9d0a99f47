package mock

import (
	"encoding/json"
	"hash/fnv"
	"slices"
)

// requestFacts holds what a request's body shows about its conversation. The zero value has no facts.
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

// requestBody has the fields of all protocols that matter here.
type requestBody struct {
	Model    string    `json:"model"`
	Tools    []tool    `json:"tools"`
	Messages []rawText `json:"messages"` // Anthropic, chat, Ollama, Cohere, Bedrock
	Input    rawText   `json:"input"`    // Responses: a list or a string
	Contents []rawText `json:"contents"` // Gemini
	Generate rawText   `json:"generate"` // Responses: false warms up
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

// readAsked reads the body of a request. A body without a history gives no facts.
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

// overlapWith returns how much of two histories is equal, from 0 to 1. It compares them item by item
// from their beginning, so a history of the same length scores highest.
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

// wordBytes is how many bytes of an item are compared word by word.
const wordBytes = 256 << 10

// minWordBytes is the minimum length of a compared word: ids, names and significant words.
const minWordBytes = 4

// jsonWords iterates over the words of a JSON text.
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

// overlapWith returns the share of the words of two items that is in both, from 0 to 1.
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
