package fault

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolscope/stream/marks"
)

// Fault is one error that is injected on purpose; see [ParseFaults].
type Fault struct {
	kind  *faultKind
	word  string        // as the user wrote it
	arg   string        // the part after the name
	n     int           // a number of events, or a status
	times int           // number of responses that get the fault; 0 means all
	every int           // one in this many responses gets the fault; 0 means every response
	pause time.Duration // wait before each event
}

// String returns the fault as the user wrote it.
func (f Fault) String() string { return f.word }

// Is reports whether f is the fault with this name, e.g. "cut".
func (f Fault) Is(name string) bool { return f.kind.name == name }

func (f Fault) orderIndex() int { return kindOf(f.kind.name) }

// faultKind is an entry in the table of faults.
type faultKind struct {
	name    string
	arg     string // syntax of the argument after the name, for display
	example string
	does    string
	// read parses f.arg. The result why is the error, or "". read is nil if the fault takes no argument.
	read func(f *Fault) (why string)

	// setUp prepares an injector for the fault. It is nil for a fault that answers in the provider's place.
	setUp func(b *Injector, f Fault)
}

// kinds lists all faults, in the order in which combined faults take effect.
var kinds = []faultKind{
	{
		name: "status", arg: "=CODE", example: "status=429",
		does: "refuse the request with status CODE, in the provider's error format", read: readStatus,
	},
	{name: "empty-args", does: "leave out the arguments of all calls", setUp: emptyArgs},
	{name: "bad-args", does: "leave out the first brace of arguments that are sent as text", setUp: badArgs},
	{name: "merge-index", does: "give all tool calls in OpenAI chat streams index 0", setUp: mergeIndex},
	{name: "bad-utf8", does: "make a byte of the first text or argument string invalid", setUp: badUTF8},
	{name: "no-terminator", does: "leave out [DONE], message_stop or the last event", setUp: noTerminator},
	{name: "repeat", does: "send every event twice", setUp: repeatEvents},
	{
		name: "cut", arg: "@N", example: "cut@3",
		does: "break the connection after N events, or N chunks of a body without events", read: readCount, setUp: cutAfter,
	},
	{
		name: "cut-inside", arg: "@N", example: "cut-inside@3",
		does: "break the connection in the middle of event N", read: readPlace, setUp: cutInside,
	},
	{
		name: "delay", arg: "=TIME", example: "delay=250ms",
		does: "wait before each event, regardless of --speed", read: readPause,
		setUp: func(b *Injector, f Fault) { b.pause = f.pause },
	},
	{
		name: "split", does: "send every byte separately",
		setUp: func(b *Injector, _ Fault) { b.split = true },
	},
}

// Faults lists all faults: the syntax of each, and what it does. Combined faults take effect in
// this order.
func Faults() (list [][2]string) {
	for _, k := range kinds {
		list = append(list, [2]string{k.name + k.arg, k.does})
	}
	return list
}

// kindOf returns the index in kinds of the fault with this name, or -1.
func kindOf(name string) int {
	return slices.IndexFunc(kinds, func(k faultKind) bool { return k.name == name })
}

// ParseFaults parses the words of a command line, each of which names one fault.
func ParseFaults(words ...string) ([]Fault, error) {
	var list []Fault
	for _, word := range words {
		f, err := parseFault(word)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list, func(other Fault) bool { return other.Is(f.kind.name) }) {
			return nil, fmt.Errorf("%q: %s appears twice", word, f.kind.name)
		}
		list = append(list, f)
	}
	return list, nil
}

func parseFault(word string) (Fault, error) {
	f := Fault{word: word}
	rest, why := f.readWhich(word)
	name := rest
	if i := strings.IndexAny(rest, "@="); i >= 0 {
		name = rest[:i]
	}
	i := kindOf(name)
	if i < 0 {
		var all []string
		for _, fault := range Faults() {
			all = append(all, fault[0])
		}
		return f, fmt.Errorf("unknown fault %q\nuse one of %s", word, strings.Join(all, ", "))
	}
	f.kind, f.arg = &kinds[i], rest[len(name):]
	switch {
	case why != "":
	case f.kind.read != nil:
		why = f.kind.read(&f)
	case f.arg != "":
		return f, fmt.Errorf("%q: %s takes no value", word, name)
	}
	if why != "" {
		return f, fmt.Errorf("%q: %s\nuse %s%s, e.g. %s", word, why, name, f.kind.arg, cmp.Or(f.kind.example, name))
	}
	return f, nil
}

// readWhich reads and removes the suffix of a word that selects responses, such as x2 or /3. The result why is
// the error, or "".
func (f *Fault) readWhich(word string) (rest, why string) {
	for mark, count := range map[string]*int{"x": &f.times, "/": &f.every} {
		i := strings.LastIndex(word, mark)
		if i < 0 || strings.Trim(word[i+1:], "0123456789") != "" || i+1 == len(word) {
			continue
		}
		n, err := strconv.Atoi(word[i+1:])
		if err != nil || n < 1 {
			why = fmt.Sprintf("in %sN, N must be a whole number of at least 1", mark)
		}
		*count = n
		return word[:i], why
	}
	return word, ""
}

func readCount(f *Fault) (why string) {
	n, err := strconv.Atoi(strings.TrimPrefix(f.arg, "@"))
	if err != nil || n < 0 {
		return "N must be a whole number of at least 0"
	}
	f.n = n
	return ""
}

func readPlace(f *Fault) (why string) {
	if readCount(f) != "" || f.n == 0 {
		return "N must be a whole number of at least 1"
	}
	return ""
}

func readPause(f *Fault) (why string) {
	d, err := time.ParseDuration(strings.TrimPrefix(f.arg, "="))
	if err != nil || d <= 0 {
		return "TIME must be a number with a unit: ms, s or m"
	}
	f.pause = d
	return ""
}

func readStatus(f *Fault) (why string) {
	n, err := strconv.Atoi(strings.TrimPrefix(f.arg, "="))
	if err != nil || n < http.StatusBadRequest || n > 599 {
		return "CODE must be a status from 400 to 599"
	}
	f.n = n
	return ""
}

// A Set holds the requested faults and decides which of them the next response gets. It is safe for
// concurrent use.
type Set struct {
	faults []Fault
	mu     sync.Mutex
	turns  map[string]int // number of responses that were considered for each fault, by the fault's name
	given  map[string]int // number of responses that got each fault, by the fault's name
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

// takeTurn reports whether the next response gets a fault, and counts the response.
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

// GiveBack undoes the count of a fault that changed nothing in its response.
func (s *Set) GiveBack(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given[f.kind.name]--
}

// IsAside reports whether a request is for something other than a model's response, e.g. a list of models, a token
// count or a health check. Such a request gets no faults. IsAside returns false for a GET that begins a WebSocket.
func IsAside(r *http.Request) bool {
	switch {
	case r.Method == http.MethodGet:
		return !strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
	case r.Method != http.MethodPost:
		return true
	}
	path := strings.TrimSuffix(r.URL.Path, "/")
	return anyWord(path, strings.HasSuffix, func(of *marks.Protocol) []string { return of.Asides })
}

// IsRequest reports whether a WebSocket client's message requests a response from a model.
func IsRequest(message []byte) bool {
	var m struct {
		Type     string
		Generate *bool
	}
	return json.Unmarshal(message, &m) == nil && hasWord(m.Type, func(of *marks.Protocol) []string { return of.SocketAsks }) &&
		(m.Generate == nil || *m.Generate)
}

// IsFinal reports whether a WebSocket server's message is the last one of a response.
func IsFinal(message []byte) bool {
	kind := typeOf(message)
	return isEnder(kind) || hasWord(kind, func(of *marks.Protocol) []string { return of.SocketEnds })
}

// refusalOf returns the form of the provider's errors. It recognises the provider by the request's path, or otherwise
// by the beginning of a recorded response, which may be empty. By default, it returns the form of a provider that
// can't be recognised by a path.
func refusalOf(path string, answer []byte) marks.Refusal {
	chosen, rank := marks.Refusal{Body: func(_ int, message string) any { return errorBody("api_error", message) }}, 0
	for _, of := range *marks.All() {
		r := of.Refusal
		switch {
		case r.Body == nil:
		case slices.ContainsFunc(r.Paths, func(part string) bool { return strings.Contains(path, part) }):
			return r
		case rank < 2 && slices.ContainsFunc(r.Bodies, func(part string) bool { return bytes.Contains(answer, []byte(part)) }):
			chosen, rank = r, 2
		case rank < 1 && r.Paths == nil:
			chosen, rank = r, 1
		}
	}
	return chosen
}

// Status returns the HTTP status of a fault that answers in the provider's place.
func (f Fault) Status() int { return f.n }

// Refuse answers a request with a fault that replaces the provider's response, and returns the body. The
// parameter who is this program's name in the error message. The parameter path is the request's path; answer is the
// beginning of a recorded response without a path, or empty.
func (f Fault) Refuse(w http.ResponseWriter, who, path string, answer []byte) []byte {
	s := refusalOf(path, answer)
	switch f.n {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, overloaded:
		w.Header().Set("Retry-After", "1")
	}
	if s.Header != nil {
		name, value := s.Header(f.n)
		w.Header().Set(name, value)
	}
	return writeJSON(w, f.n, s.Body(f.n, who+" sends this error because of --fault "+f.String()))
}

// overloaded is a status that only Anthropic uses.
const overloaded = 529

func errorBody(kind, message string) any {
	return map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}}
}

// Error answers with a JSON error whose form doesn't depend on the provider.
func Error(w http.ResponseWriter, status int, kind, message string) {
	writeJSON(w, status, errorBody(kind, message))
}

func writeJSON(w http.ResponseWriter, status int, body any) []byte {
	text, _ := json.Marshal(body) // encoding maps of strings and numbers can't fail
	text = append(text, '\n')
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text)
	return text
}
