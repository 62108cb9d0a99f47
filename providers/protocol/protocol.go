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
//   - Shape lists the fields of a frame that a decoder uses. Each field is bound once to the Value that
//     gets its value.
//   - Scanner reads JSON that no Shape fits. Value is the exact bytes of one value.
//   - Target says how a protocol carries history, and what its provider refuses.
//
// A missing Value, or a Value of the wrong type, reads as empty. The session reports protocol violations. So a
// decoder reports what it reads in the order of the wire and checks little, only that a turn is open.
//
// To add a protocol, add a package with a function Protocol, and one line in providers.All. The tests of package
// providers then check the rules that hold for every protocol. Put fixtures of its wire into its testdata;
// fixture_test.go describes their form.
package protocol

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/marks"
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
	// Model returns the model that a request names, or "" if the request doesn't name it. It is nil if the response
	// names the model.
	Model func(path string, request []byte) string
	// Request builds a request in the form of this protocol from entries of a session file. The client did not send
	// the request in this form. It is nil for a protocol that is read from the wire.
	Request func(entries []byte) []byte
	Values  bool // entries may have several lines, so each JSON value is a frame
	// Marks are the words by which code outside of providers recognises the payloads.
	Marks marks.Protocol
	// Quiet lists the names of frames that the decoder doesn't read, because they say nothing about the response. A
	// name is a type, an event name, or the beginning of either with a * at the end.
	Quiet []string
	// Findings lists the findings that only this protocol makes.
	Findings []*stream.Diagnosis
	// HistoryTarget says how to read the history of a request, for a protocol that is never written.
	// Only its Decode and its rules are used. It is nil if the protocol has Targets.
	HistoryTarget *Target
	// Targets lists the places to which this protocol can send history. The first is the provider after which the
	// protocol is named. The list is empty if the protocol has no requests.
	Targets []Target
}

// A Tool is one tool that a request declares.
type Tool struct {
	Name        string
	Namespace   string     // namespace, if Name doesn't contain it
	Kind        string     // kind of its calls: function, custom, server, …
	Description string     // description for the model
	Schema      json.Value // JSON Schema 2020-12 of its arguments; nil if the request has none
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

// SniffScore is a protocol's confidence that an exchange uses it, with the reason. The highest score wins; 0 points
// make no claim.
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

// A Target is a destination for history: a wire protocol, or a provider that is stricter than its protocol. Its rules
// are data; its functions write and read messages and requests.
type Target struct {
	Name  string // "anthropic", "mistral"
	Title string
	// Protocol names the wire protocol. History from the same protocol goes back unchanged.
	Protocol string

	Form          ArgsForm // form of arguments
	JSONOnly      bool     // arguments in TextForm must be valid JSON; an object always must
	IDs           IDRule
	Names         NameRule
	Doubles       bool // numbers become IEEE 754 doubles
	UnorderedKeys bool // the fields of an object have no order
	Depth         DepthRule

	Freeform      bool          // a call may be free text, as for custom tools
	Reasoning     ReasoningRule // rule for reasoning
	HasSignatures bool          // calls carry signatures
	Sentinel      string        // replaces the signature of a call by another model; "" if none may be missing
	ErrorFlag     bool          // a result can be marked as an error
	Media         bool          // a result can contain images
	TakesUnpaired bool          // calls without results and results without calls are accepted
	ResultsFollow bool          // the results of a turn must follow it at once, and its calls stay in one message
	Merges        bool          // consecutive messages of one role are read as one
	HasPreviousID bool          // a request can name the response that it continues, by its id
	Refusal       Refusal
	Hosts         []string // suffixes of the names of the hosts that the target describes

	// Encode writes messages in the form of the request, each as a JSON text: a message, or an item if
	// the protocol has items. It writes ids, names and arguments unchanged: the caller has fitted them
	// to the target. A part with a Raw is written as that Raw. System messages are omitted if they have
	// another place in the request.
	Encode func([]Message) [][]byte
	// Request writes a request that asks for a stream and its usage: the path, relative to the provider's address,
	// and the body. It writes only the EncodedMessages; BuildRequest encodes the others first. It is nil for
	// protocols in which toolscope sends no requests.
	Request func(Request, HostFeatures) (path string, body []byte)
	// Decode reads the history of a request. If the request is cut off or has unknown content, it reads
	// as much as it can.
	Decode func(request []byte) ([]Message, error)
}

// IDRule says which call ids the target accepts.
type IDRule struct {
	Class    string // characters, as in a character class of a regular expression: "a-zA-Z0-9_-"; "" for any
	Min      int    // bytes, 0 for no limit
	Max      int
	Required bool   // a call must have an id
	Unique   bool   // no two calls of a history may have the same id
	Trim     string // characters that clients trim from the end of an id to make it fit
}

// Exact reports whether all ids have the same length.
func (r IDRule) Exact() bool { return r.Max > 0 && r.Min == r.Max }

// Takes reports whether id obeys the rule.
func (r IDRule) Takes(id string) bool {
	if id == "" {
		return !r.Required
	}
	return len(id) >= r.Min && (r.Max == 0 || len(id) <= r.Max) && allIn(id, r.Class)
}

// NameRule says which tool names the target accepts.
type NameRule struct {
	Class string // as in IDRule
	First string // class of the first character, "" for Class
	Max   int    // bytes, 0 for no limit
}

// Takes reports whether name obeys the rule.
func (r NameRule) Takes(name string) bool {
	return name != "" && (r.Max == 0 || len(name) <= r.Max) && allIn(name, r.Class) && (r.First == "" || InClass(r.First, name[0]))
}

func allIn(s, class string) bool {
	for i := range len(s) {
		if class != "" && !InClass(class, s[i]) {
			return false
		}
	}
	return true
}

// InClass reports whether c is in a character class of a regular expression: characters and ranges, a
// hyphen last.
func InClass(class string, c byte) bool {
	for i := 0; i < len(class); i++ {
		if i+2 < len(class) && class[i+1] == '-' {
			if class[i] <= c && c <= class[i+2] {
				return true
			}
			i += 2
			continue
		}
		if class[i] == c {
			return true
		}
	}
	return false
}

// DepthRule limits the nesting of arguments. Limit counts levels. The structure around the arguments takes Base
// levels, each object takes Object levels, and each array takes Array levels. The zero value has no limit.
type DepthRule struct {
	Limit, Base, Object, Array int
}

// Objects returns the largest number of objects that may be nested in one another.
func (r DepthRule) Objects() int { return (r.Limit - r.Base) / r.Object }

// ReasoningRule says what a protocol does with reasoning that is sent back.
type ReasoningRule uint8

const (
	NoReasoning     ReasoningRule = iota // no place for it
	PlainReasoning                       // a field for its text
	SignedReasoning                      // it must have the signature that this protocol gave it
)

// Refusal holds a provider's error messages for history that it refuses, as documented or seen; "" if
// unknown. {id} is the id of the call, {name} its tool, {n} the length of the id in bytes.
type Refusal struct {
	Args        string // arguments that are not an object, or not JSON
	ID          string // an id that breaks the rule
	LongID      string // an id that is too long, if that has its own message
	SameID      string // two calls with one id
	Name        string
	LoneCall    string // a call without a result right after it
	LoneResult  string // a result without a call
	Depth       string // arguments that nest too deeply
	Unsigned    string // a call without its signature
	NoReasoning string // missing reasoning

	SecondResult   string // a second result for a call
	LateResult     string // a result after other parts of its message
	SameItem       string // two items with one id
	LoneReasoning  string // reasoning that no other part of the model follows
	OtherReasoning string // reasoning that differs from the model's reasoning
	Order          string // messages whose roles are in the wrong order
	EmptyText      string // a text without content

	CacheMarks      string // more than 4 marked blocks
	TrailingSpace   string // a last text of the model that ends with a blank
	UserAfterResult string // a message of the user directly after results
}

// FillRefusal inserts the facts of a call into a refusal.
func FillRefusal(refusal, id, name string) string {
	return strings.NewReplacer("{id}", id, "{name}", name, "{n}", strconv.Itoa(len(id))).Replace(refusal)
}

// FindNamed returns the first element of all with that name. If there is none, the error lists the names. kind is the
// noun for an element in the error.
func FindNamed[T any](kind, name string, all []T, nameOf func(*T) string) (*T, error) {
	var names []string
	for i := range all {
		if nameOf(&all[i]) == name {
			return &all[i], nil
		}
		names = append(names, nameOf(&all[i]))
	}
	return nil, fmt.Errorf("unknown %s %q\nuse one of %s", kind, name, strings.Join(names, ", "))
}

// FunctionTools returns the tools of a request that declares them in the form of OpenAI's Chat
// Completions: tools[].function with name and parameters.
func FunctionTools(request []byte) (tools []Tool) {
	for tool := range json.Value(request).Get("tools").Elements() {
		if kind := tool.Get("type"); kind.IsString() && !kind.Is("function") {
			continue
		}
		if t := FunctionTool(tool.Get("function"), "parameters"); t.Name != "" {
			tools = append(tools, t)
		}
	}
	return tools
}

// FunctionTool returns the tool that an object declares: with a name, a description, and the schema of
// its arguments in the field schema.
func FunctionTool(declared json.Value, schema string) Tool {
	t := Tool{Kind: "function", Name: declared.Get("name").Text(), Description: declared.Get("description").Text()}
	if s := declared.Get(schema); s.IsPresent() {
		t.Schema = s
	}
	return t
}
