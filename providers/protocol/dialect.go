// Package protocol is the kit for writing decoders of wire protocols. A protocol is data: a struct of
// functions, in a package of its own. Its wire structs are private; only events leave the package.
//
// A Decoder reads frames with a Shape and reports what they contain through an Out:
//
//   - Out makes the events of one exchange. It numbers the turns and knows which are open.
//   - Turn is one model response: Open begins it; AppendText, AppendReasoning, Usage, Finish and End
//     report its content.
//   - Call is one call of a Turn: OpenCall begins it; Args, Seal, Reject and AddResult report its
//     content.
//   - Shape lists the fields of a frame that a decoder uses. Each is bound once to the Raw that gets
//     its value.
//   - Scanner reads JSON that no Shape fits. Raw is the exact bytes of one value.
//   - Target says how a protocol carries history, and what its provider refuses.
//
// A missing Raw, or one of the wrong type, reads as empty, and the session reports what no protocol
// allows. So a decoder reports what it reads in the order of the wire and checks little, only that a
// turn is open.
//
// To add a protocol, add a package with a function Protocol, and one line in providers.All. The package
// example is a complete decoder. The tests of package providers then check what every protocol must do.
// Put fixtures of its wire into its testdata; fixture_test.go describes their form.
package protocol

import (
	"bytes"

	"toolscope/stream"
)

// A Protocol describes one wire protocol that carries tool calls.
type Protocol struct {
	Name          string // in machine output: "anthropic", "openai-chat"
	Title         string // for people: "Anthropic Messages"
	Sniff         func(SniffInput) SniffScore
	New           func(*Out) Decoder
	ParallelTurns bool // several turns may be open at a time

	// Tools returns the tools that a request declares. It is nil if the protocol has no requests.
	Tools func(request []byte) []Tool
	// Model returns the model that a request asks for, or "" if the request doesn't name it. It is nil
	// if the response names the model.
	Model func(path string, request []byte) string
	// Findings lists the findings that only this protocol makes.
	Findings []*stream.Diagnosis
	// HistoryTarget says how to read the history of a request, for a protocol that is never written.
	// Only its Decode and its rules are used. It is nil if the protocol has Targets.
	HistoryTarget *Target
	// Targets lists where this protocol can send history. The first is the provider that it is named
	// after. The list is empty if the protocol has no requests.
	Targets []Target
}

// A Tool is one tool that a request declares.
type Tool struct {
	Name        string
	Namespace   string // namespace, if Name doesn't contain it
	Kind        string // kind of its calls: function, custom, server, …
	Description string // description for the model
	Schema      Raw    // JSON Schema 2020-12 of its arguments; nil if the request has none
}

// SniffInput is the known part of an exchange before it is decoded. Each field may be missing.
type SniffInput struct {
	Path   string              // path of the request, "" if unknown
	Header map[string][]string // headers of the response, canonical names; nil if unknown
	Event  []byte              // SSE event type of a frame
	Data   []byte              // payload of that frame; empty if only path and headers are known
}

// HeaderIs reports whether the response has the header name, in its canonical form.
func (e SniffInput) HeaderIs(name string) bool { return len(e.Header[name]) > 0 }

// SniffScore says how sure a protocol is that an exchange is its own, and why. The most points win; 0
// makes no claim.
type SniffScore struct {
	Points int
	Why    string
}

// Points for one piece of evidence, from hint to certainty.
const (
	Weak   = 10 // common to several protocols
	Likely = 40
	Strong = 70 // a path, or a name that only this protocol uses
	Sure   = 100
)

// A Decoder reads the frames of one exchange and reports their content to its Out.
type Decoder interface {
	// Frame reads a data frame: one JSON text, or a terminator. It returns an error if the frame can't
	// be decoded; then it has made no event.
	Frame(f stream.Frame) error
	// Close reports that no more frames follow.
	Close()
}

// IsDone reports whether data is [DONE], which ends a stream of Chat Completions and which gateways add
// to other streams. Some providers put spaces around it.
func IsDone(data []byte) bool {
	return len(data) < 100 && string(bytes.TrimSpace(data)) == "[DONE]"
}
