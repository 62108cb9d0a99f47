package fault

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// A Set holds the requested faults and decides which of them the next response gets. It is safe for
// concurrent use.
type Set struct {
	faults []Fault
	mu     sync.Mutex
	turns  map[string]int // responses that each fault fitted, by its name
	given  map[string]int // how many of those got it
}

// NewSet returns a set of faults that no response has got yet.
func NewSet(faults []Fault) *Set {
	return &Set{faults: inOrder(faults), turns: map[string]int{}, given: map[string]int{}}
}

// All returns the faults in the order in which they take effect.
func (s *Set) All() []Fault { return s.faults }

// Refusal returns the fault that answers the next request in the provider's place, or nil.
func (s *Set) Refusal() *Fault {
	i := slices.IndexFunc(s.faults, func(f Fault) bool { return f.kind.setUp == nil })
	if i < 0 || !s.takeTurn(s.faults[i]) {
		return nil
	}
	return &s.faults[i]
}

// ForNext returns the faults for the next response.
func (s *Set) ForNext() []Fault {
	var due []Fault
	for _, f := range s.faults {
		if f.kind.setUp != nil && s.takeTurn(f) {
			due = append(due, f)
		}
	}
	return due
}

// takeTurn reports whether the next response gets a fault, and counts it.
func (s *Set) takeTurn(f Fault) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := f.kind.name
	s.turns[name]++
	switch {
	case f.times > 0 && s.given[name] >= f.times, f.every > 0 && s.turns[name]%f.every != 0:
		return false
	}
	s.given[name]++
	return true
}

// GiveBack uncounts a fault that changed nothing in the response that got it.
func (s *Set) GiveBack(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given[f.kind.name]--
}

// asides are the endings of paths of requests that no model answers.
var asides = []string{
	"/count_tokens", ":countTokens", "/embeddings", ":embedContent", ":batchEmbedContents", "/api/embed", "/moderations",
	"/api/show", "/api/pull", "/log", "/event_logging/batch", "/telemetry", "/tokenize", "/files", "/cancel", "/compact",
}

// IsAside reports whether a request is not for a model's response, e.g. a list of models, a token
// count or a health check. It gets no faults. A WebSocket begins with a GET.
func IsAside(r *http.Request) bool {
	switch {
	case r.Method == http.MethodGet:
		return !strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
	case r.Method != http.MethodPost:
		return true
	}
	path := strings.TrimSuffix(r.URL.Path, "/")
	return slices.ContainsFunc(asides, func(end string) bool { return strings.HasSuffix(path, end) })
}

// IsRequest reports whether a WebSocket client's message requests a response of a model.
func IsRequest(message []byte) bool {
	var m struct {
		Type     string
		Generate *bool
	}
	return json.Unmarshal(message, &m) == nil && m.Type == "response.create" && (m.Generate == nil || *m.Generate)
}

// IsFinal reports whether a WebSocket server's message is the last one of a response.
func IsFinal(message []byte) bool {
	kind := typeOf(message)
	return kind == "error" || kind == "response.done" || slices.Contains(terminators, kind)
}
