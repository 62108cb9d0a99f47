package serve

import (
	"encoding/json"
	"hash/fnv"
	"slices"
)

// asked is what a request tells of the conversation that it is a part of, as far as its body does.
// The zero value tells nothing.
type asked struct {
	known    bool
	model    string
	tools    []string
	generate string
	items    []*item // of the conversation
}

// item is a message of a conversation, a result, or what else stands in one.
type item struct {
	sum   uint64
	words map[uint64]struct{}
}

// body is the members that are the same in every protocol, or have another name there.
type body struct {
	Model    string `json:"model"`
	Tools    []tool `json:"tools"`
	Messages []text `json:"messages"` // Anthropic, chat, Ollama, Cohere, Bedrock
	Input    text   `json:"input"`    // Responses: a list or a string
	Contents []text `json:"contents"` // Gemini
	Generate text   `json:"generate"` // Responses: false warms up
}

// text is a JSON text that is not looked into.
type text = json.RawMessage

type tool struct {
	Name      string  `json:"name"`
	Type      string  `json:"type"`
	Function  named   `json:"function"`
	ToolSpec  named   `json:"toolSpec"`
	Functions []named `json:"functionDeclarations"`
}

type named struct {
	Name string `json:"name"`
}

// input is an item of Responses that may declare tools.
type input struct {
	Type  string `json:"type"`
	Tools []tool `json:"tools"`
}

// readAsked reads the body of a request. What has no conversation tells nothing.
func readAsked(p []byte) asked {
	var b body
	if json.Unmarshal(p, &b) != nil {
		return asked{}
	}
	list := slices.Concat(b.Messages, b.Contents)
	var items []text
	if json.Unmarshal(b.Input, &items) != nil && len(b.Input) > 0 {
		items = []text{b.Input}
	}
	a := asked{known: len(list) > 0 || len(b.Input) > 0, model: b.Model, generate: string(b.Generate)}
	for _, i := range slices.Concat(list, items) {
		a.items = append(a.items, newItem(i))
		var declares input
		if json.Unmarshal(i, &declares) == nil {
			b.Tools = append(b.Tools, declares.Tools...)
		}
	}
	for _, t := range b.Tools {
		a.tools = append(a.tools, t.names()...)
	}
	slices.Sort(a.tools)
	a.tools = slices.Compact(a.tools)
	return a
}

func (t tool) names() (names []string) {
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

// alike is how well a recorded request fits one that comes, the most telling first: the model, the
// tools, what it is for.
func (a *asked) alike(b *asked) (score int) {
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

// shared is how much of two conversations is the same, from 0 to 1: item by item from their
// beginning, so that the one that has come as far is the most alike.
func (a *asked) shared(b *asked) float64 {
	sum := 0.0
	for i := range min(len(a.items), len(b.items)) {
		sum += a.items[i].shared(b.items[i])
	}
	return sum / float64(max(1, len(a.items), len(b.items)))
}

func newItem(p []byte) *item {
	h := fnv.New64a()
	h.Write(p)
	i := &item{h.Sum64(), map[uint64]struct{}{}}
	for word := range words(p[:min(len(p), wordBytes)]) {
		h.Reset()
		h.Write(word)
		i.words[h.Sum64()] = struct{}{}
	}
	return i
}

// wordBytes is how much of an item is compared word by word.
const wordBytes = 256 << 10

// leastWord is how long what is compared is, in bytes: ids, names and words that mean something.
const leastWord = 4

// words are the words of a JSON text.
func words(p []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		start := 0
		for i := 0; i <= len(p); i++ {
			if i < len(p) && (p[i]|0x20 >= 'a' && p[i]|0x20 <= 'z' || p[i] >= '0' && p[i] <= '9' || p[i] == '_' || p[i] == '-' || p[i] >= 0x80) {
				continue
			}
			if i-start >= leastWord && !yield(p[start:i]) {
				return
			}
			start = i + 1
		}
	}
}

// shared is how much of the words of two items is in both, from 0 to 1.
func (a *item) shared(b *item) float64 {
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
