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
	items    int // of the conversation
	generate string
	words    map[uint64]struct{}
}

// body is the members that are the same in every protocol, or have another name there.
type body struct {
	Model    string          `json:"model"`
	Tools    []tool          `json:"tools"`
	Messages []text          `json:"messages"` // Anthropic, chat, Ollama, Cohere, Bedrock
	Input    json.RawMessage `json:"input"`    // Responses: a list or a string
	Contents []text          `json:"contents"` // Gemini
	Generate json.RawMessage `json:"generate"` // Responses: false warms up
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
	a := asked{model: b.Model, items: len(b.Messages) + len(b.Contents), generate: string(b.Generate)}
	var list []input
	if json.Unmarshal(b.Input, &list) == nil {
		a.items += len(list)
		for _, i := range list {
			b.Tools = append(b.Tools, i.Tools...)
		}
	} else if len(b.Input) > 0 {
		a.items++
	}
	for _, t := range b.Tools {
		a.tools = append(a.tools, t.names()...)
	}
	slices.Sort(a.tools)
	a.tools = slices.Compact(a.tools)
	a.known = a.items > 0 || len(b.Input) > 0 || b.Messages != nil || b.Contents != nil
	a.words = wordsOf(p)
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
// tools, what it is for, and how far the conversation has come.
func (a *asked) alike(b *asked) (score int) {
	if !a.known || !b.known {
		return 0
	}
	for _, same := range []bool{
		a.model == b.model, slices.Equal(a.tools, b.tools), a.generate == b.generate, a.items == b.items,
	} {
		score *= 2
		if same {
			score++
		}
	}
	return score
}

// wordBytes is how much of a request is compared word by word.
const wordBytes = 4 << 20

// leastWord is how long what is compared is, in bytes: ids, names and words that mean something.
const leastWord = 4

// wordsOf is the words of a request.
func wordsOf(p []byte) map[uint64]struct{} {
	p = p[:min(len(p), wordBytes)]
	words := map[uint64]struct{}{}
	for word := range bytesWords(p) {
		h := fnv.New64a()
		h.Write(word)
		words[h.Sum64()] = struct{}{}
	}
	return words
}

func bytesWords(p []byte) func(yield func([]byte) bool) {
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

// shared is how much of the words of two requests is in both, from 0 to 1.
func (a *asked) shared(b *asked) float64 {
	if len(a.words) > len(b.words) {
		a, b = b, a
	}
	both := 0
	for w := range a.words {
		if _, ok := b.words[w]; ok {
			both++
		}
	}
	if both == 0 {
		return 0
	}
	return float64(both) / float64(len(a.words)+len(b.words)-both)
}
