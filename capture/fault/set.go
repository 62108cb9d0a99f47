package fault

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// A Set is the faults that were asked for, and which of them the next answer gets. It is used from
// several goroutines.
type Set struct {
	faults []Fault
	mu     sync.Mutex
	turns  map[string]int // answers that each was due for, by its name
	given  map[string]int // of those, that got it
}

// NewSet is a set of faults that no answer got yet.
func NewSet(faults []Fault) *Set {
	return &Set{faults: inOrder(faults), turns: map[string]int{}, given: map[string]int{}}
}

// All is the faults, in the order in which they take effect.
func (s *Set) All() []Fault { return s.faults }

// Refusal is the fault that answers in place of the one asked, or nil.
func (s *Set) Refusal() *Fault {
	i := slices.IndexFunc(s.faults, func(f Fault) bool { return f.kind.setUp == nil })
	if i < 0 || !s.takeTurn(s.faults[i]) {
		return nil
	}
	return &s.faults[i]
}

// ForNext is the faults that bend the next answer.
func (s *Set) ForNext() []Fault {
	var due []Fault
	for _, f := range s.faults {
		if f.kind.setUp != nil && s.takeTurn(f) {
			due = append(due, f)
		}
	}
	return due
}

// takeTurn reports whether the answer that comes gets a fault.
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

// GiveBack takes a fault back that changed nothing about the answer that it was for.
func (s *Set) GiveBack(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given[f.kind.name]--
}

// asides are where requests go that no model answers, by how their paths end.
var asides = []string{
	"/count_tokens", ":countTokens", "/embeddings", ":embedContent", ":batchEmbedContents", "/api/embed", "/moderations",
	"/api/show", "/api/pull", "/log", "/event_logging/batch", "/telemetry", "/tokenize", "/files", "/cancel", "/compact",
}

// IsAside reports whether a request asks for something else than an answer of a model: what exists,
// how long a text is, whether anybody is there. Nothing is bent then. A WebSocket begins with a GET.
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

// IsRequest reports whether a message of a WebSocket's client asks for an answer of a model's.
func IsRequest(message []byte) bool {
	var m struct {
		Type     string
		Generate *bool
	}
	return json.Unmarshal(message, &m) == nil && m.Type == "response.create" && (m.Generate == nil || *m.Generate)
}

// IsFinal reports whether a message of a WebSocket's server is the last one of an answer.
func IsFinal(message []byte) bool {
	kind := typeOf(message)
	return kind == "error" || kind == "response.done" || slices.Contains(terminators, kind)
}
