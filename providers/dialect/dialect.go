// Package dialect is the contract one wire protocol fulfils, and the scanner they all read JSON
// with.
//
// A dialect is data: a struct of functions in a folder of its own. Its wire structs are private to
// it; only events leave it.
package dialect

import (
	"bytes"

	"toolscope/stream"
)

// A Dialect is one wire protocol a tool call can arrive by.
type Dialect struct {
	Name  string // as in the machine contract: "anthropic", "openai-chat"
	Title string // as people say it: "Anthropic Messages"
	Sniff func(Evidence) Score
	New   func(*Out) Decoder
	Lanes bool // several turns may be open at a time

	// Tools are the tools a request declares; nil when the dialect has no requests.
	Tools func(request []byte) []Tool
	// Model is the model a request asks for, "" when it does not say; nil when the response tells
	// it.
	Model func(path string, request []byte) string
	// Findings are those only this dialect makes.
	Findings []*stream.Diagnosis
	// Targets are where history can be sent to by this protocol, the provider it is named after
	// first; none when the dialect has no requests.
	Targets []Target
}

// A Tool is one tool a request declares.
type Tool struct {
	Name        string
	Kind        string // function, custom, server, …: as a call of it would have
	Description string // what the model is told of it
	Schema      Raw    // of its arguments, as JSON Schema 2020-12; nil when the request has none
}

// Evidence is what an exchange shows before it is decoded.
type Evidence struct {
	Path   string              // of the request, "" when unknown
	Header map[string][]string // of the response, canonical names; nil when unknown
	Event  []byte              // SSE event type of a frame
	Data   []byte              // payload of that frame; empty when only the outside is known
}

// HeaderIs reports whether the response has that header (canonical name).
func (e Evidence) HeaderIs(name string) bool { return len(e.Header[name]) > 0 }

// Score is how sure a dialect is, and why. Points above 0 claim the exchange; the highest wins.
type Score struct {
	Points int
	Why    string
}

// Points for one piece of evidence, from hints to certainty.
const (
	Weak   = 10 // common to several protocols
	Likely = 40
	Strong = 70 // a path, or a name only this protocol uses
	Sure   = 100
)

// A Decoder reads the frames of one exchange and tells its Out what they say.
type Decoder interface {
	// Frame reads a data frame whose Data is one JSON text or a terminator. An error means that it
	// does not decode; nothing was said then.
	Frame(f stream.Frame) error
	// Close says that no more frames come.
	Close()
}

// IsDone reports whether data is [DONE], the word that ends a stream of Chat Completions and that
// gateways add to others. Some hosts put spaces round it.
func IsDone(data []byte) bool {
	return len(data) < 100 && string(bytes.TrimSpace(data)) == "[DONE]"
}
