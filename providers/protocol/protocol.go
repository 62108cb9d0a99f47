// Package protocol contains the tools for decoders of wire protocols. A protocol is a struct of functions and
// data, and has a package of its own. Its wire structs are private. Only events leave its package.
//
// A Decoder reads frames with a Shape and reports their content through an Out:
//
//   - Out makes the events of one exchange. It numbers the turns and keeps a list of open turns.
//   - Turn is one model response: Open begins it; AppendText, AppendReasoning, Usage, Finish and End
//     report its content.
//   - Call is one call of a Turn: OpenCall begins it; Args, Seal, Reject and AddResult report its
//     content.
//   - Shape lists the fields of a frame that a decoder uses. Each field is bound once to the Value that
//     receives its value.
//   - Scanner reads JSON that no Shape fits. Value is the exact bytes of one value.
//   - Target describes how a protocol represents history, and what its provider refuses.
//
// A missing Value, or a Value of the wrong type, is read as empty. The session reports protocol violations.
// So a decoder reports its content in wire order, and checks only that a turn is open.
//
// To add a protocol, add a package with a function Protocol, and one line in providers.All. The tests of the
// package providers then check the rules that apply to every protocol. Put fixtures with its wire format into
// its testdata folder; fixture_test.go describes their form.
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

// A Protocol describes one wire protocol with tool calls.
type Protocol struct {
	Name          string // in machine output: "anthropic", "openai-chat"
	Title         string // for people: "Anthropic Messages"
	Sniff         func(SniffInput) SniffScore
	New           func(*Out) Decoder
	ParallelTurns bool   // several turns may be open at the same time
	ByAgent       bool   // an agent writes the frames, so a provider isn't at fault if they end early
	Client        string // name of the client whose agents' lines are mixed in one stream; "" for all other protocols

	// Tools returns the tools that a request declares. It is nil if the protocol has no requests.
	Tools func(request []byte) []Tool
	// Model returns the model in a request, or "" if the request doesn't contain the model. It is nil if the
	// response contains the model.
	Model func(path string, request []byte) string
	// Request builds a request in the form of this protocol from the entries of a session file. The client
	// did not send the request in this form. Request is nil for a protocol that is read from the wire.
	Request func(entries []byte) []byte
	Values  bool // entries may span several lines, so each JSON value is a frame
	// Marks are the marks by which code outside providers recognises payloads of this protocol.
	Marks marks.Protocol
	// Quiet lists the names of frames that the decoder doesn't read, because they contain nothing about the
	// response. A name is a type or an event name, or the beginning of one with a * at the end.
	Quiet []string
	// Findings lists the findings that only this protocol makes.
	Findings []*stream.Diagnosis
	// Speaker writes responses in this protocol. It is nil if toolscope writes none.
	Speaker *Speaker
	// HistoryTarget describes how to read the history in a request, for a protocol that is never written.
	// Only its Decode and its rules are used. It is nil if the protocol has Targets, or no requests.
	HistoryTarget *Target
	// Targets lists the targets to which history can be sent in this protocol. The first target is the
	// provider after which the protocol is named. The list is empty if the protocol has no requests or is
	// never written.
	Targets []Target
}

// A Tool is one tool that a request declares.
type Tool struct {
	Name        string
	Namespace   string     // namespace, if Name doesn't contain it
	Kind        string     // kind of the calls: function, custom, server, …
	Description string     // description for the model
	Schema      json.Value // JSON Schema 2020-12 for the arguments; nil if the request has none
}

// SniffInput is the part of an exchange that is known before decoding. Any field may be missing.
type SniffInput struct {
	Path   string              // path of the request; "" if unknown
	Header map[string][]string // headers of the response with canonical names; nil if unknown
	Event  []byte              // SSE event type of a frame
	Data   []byte              // payload of that frame; empty if only the path and the headers are known

	fields *json.FieldIndex // fields of Data if Index was called; otherwise nil
}

// Index returns e with an index of its data, so that the protocols don't read the data again for each field.
func (e SniffInput) Index() SniffInput {
	if e.fields == nil {
		fields := json.IndexFields(e.Data)
		e.fields = &fields
	}
	return e
}

// Get returns the value of a field of the data, or nil if there is none. If a key is repeated, the last one counts.
func (e SniffInput) Get(name string) json.Value { return e.Index().fields.Get(name) }

// IsWhole reports whether the data is one complete JSON object, or empty.
func (e SniffInput) IsWhole() bool { return e.Index().fields.Err() == nil }

// HeaderIs reports whether the response has a header with the given canonical name.
func (e SniffInput) HeaderIs(name string) bool { return len(e.Header[name]) > 0 }

// SniffScore is a protocol's confidence that an exchange uses the protocol, with the reason. The highest score wins.
// With a score of 0, the protocol doesn't claim the exchange.
type SniffScore struct {
	Points int
	Why    string
}

// Points for one piece of evidence, from a hint to certainty.
const (
	Weak   = 10 // common to several protocols
	Likely = 40
	Strong = 70 // a path, or a name that only this protocol uses
	Sure   = 100
)

// A Decoder reads the frames of one exchange and reports their content to its Out.
type Decoder interface {
	// Frame reads a data frame, which is one JSON text or a terminator. If the frame can't be decoded, Frame returns
	// an error and must not have emitted any event.
	Frame(f stream.Frame) error
	// Close tells the decoder that no more frames follow.
	Close()
}

// A ClientReader is a Decoder that also reads the client's messages on a WebSocket.
type ClientReader interface {
	// ReadMessage reads one message from the client. It may add facts to turns, but doesn't open turns.
	ReadMessage(message json.Value)
}

// IsDone reports whether data is [DONE], which ends a stream of Chat Completions. Gateways add it to other streams,
// and some providers put spaces around it.
func IsDone(data []byte) bool {
	return len(data) < 100 && string(bytes.TrimSpace(data)) == "[DONE]"
}

// A Target is a destination for history. It is a wire protocol, or a provider that is stricter than its
// protocol. Its rules are data. Its functions write and read messages and requests.
type Target struct {
	Name  string // "anthropic", "mistral"
	Title string
	// Protocol is the name of the wire protocol.
	Protocol string

	Form          ArgsForm // form of arguments
	JSONOnly      bool     // arguments in TextForm must be valid JSON; an object must always be valid
	IDs           IDRule
	Names         NameRule
	Doubles       bool // numbers become IEEE 754 doubles
	UnorderedKeys bool // the fields of an object have no order
	Depth         DepthRule

	Freeform      bool          // a call may be free text, as for custom tools
	Reasoning     ReasoningRule // rule for reasoning
	HasSignatures bool          // calls carry signatures
	Sentinel      string        // placeholder for the signature of a call that another model made; "" if the target has none
	ErrorFlag     bool          // a result can be marked as an error
	Media         bool          // a result can contain images
	TakesUnpaired bool          // calls without results and results without calls are accepted
	ResultsFollow bool          // the results of a turn must directly follow the turn, and its calls must stay in one message
	Merges        bool          // consecutive messages of the same role are read as one message
	HasPreviousID bool          // a request can contain the id of the response that it continues
	Refusal       Refusal
	Hosts         []string // suffixes of the host names that the target describes
	WantReasoning []string // other hosts, which refuse a turn with calls if its reasoning is not sent back as text

	// Encode writes messages in the form of the request, each as a JSON text. The text is a message, or an item if
	// the protocol has items. Encode writes ids, names and arguments unchanged, because the caller has already fitted
	// them to the target. If a part has a Raw, Encode writes the Raw. It omits system messages if they have a
	// separate place in the request.
	Encode func([]Message) [][]byte
	// Request writes a request for a streamed response with usage. It returns the path, relative to the provider's
	// address, and the body. It writes only the EncodedMessages; BuildRequest encodes the other messages first.
	// Request is nil for protocols in which toolscope sends no requests.
	Request func(Request, HostFeatures) (path string, body []byte)
	// Decode reads the history in a request. If the request is cut off or has unknown content, Decode reads
	// as much as possible.
	Decode func(request []byte) ([]Message, error)
}

// IDRule is the rule for the call ids that a target accepts.
type IDRule struct {
	Class    string // allowed characters, as in a character class of a regular expression: "a-zA-Z0-9_-"; "" for any
	Min      int    // in bytes; 0 for no limit
	Max      int
	Required bool   // a call must have an id
	Unique   bool   // no two calls in a history may have the same id
	Trim     string // characters that clients trim from the end of an id to make it fit
}

// Exact reports whether all ids have the same length.
func (r IDRule) Exact() bool { return r.Max > 0 && r.Min == r.Max }

// Takes reports whether an id obeys the rule.
func (r IDRule) Takes(id string) bool {
	if id == "" {
		return !r.Required
	}
	return len(id) >= r.Min && (r.Max == 0 || len(id) <= r.Max) && allIn(id, r.Class)
}

// NameRule is the rule for the tool names that a target accepts.
type NameRule struct {
	Class string // as in IDRule
	First string // class of the first character; "" if it is the same as Class
	Max   int    // in bytes; 0 for no limit
}

// Takes reports whether a name obeys the rule.
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

// InClass reports whether c is in a character class of a regular expression. A class consists of characters
// and ranges; a hyphen must be last.
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

// DepthRule limits the nesting of arguments. Limit is the number of allowed levels. The structure around the
// arguments uses Base levels, each object uses Object levels, and each array uses Array levels. The zero
// value sets no limit.
type DepthRule struct {
	Limit, Base, Object, Array int
}

// Objects returns the maximum number of objects that can be nested inside one another, for a rule with a
// limit.
func (r DepthRule) Objects() int { return (r.Limit - r.Base) / r.Object }

// ReasoningRule is a protocol's treatment of reasoning that is sent back.
type ReasoningRule uint8

const (
	NoReasoning     ReasoningRule = iota // the protocol has no field for reasoning
	PlainReasoning                       // the protocol has a field for the text of reasoning
	SignedReasoning                      // reasoning must have a signature from the same protocol
)

// Refusal contains a provider's error messages for history that it refuses, as documented or observed. An
// unknown message is "". FillRefusal replaces {id} with the id of the call, {name} with its tool, and {n}
// with the length of the id in bytes.
type Refusal struct {
	Args        string // arguments that are not an object, or not JSON
	ArgsObject  string // arguments that are an object instead of a string
	ID          string // an id that breaks the target's rule
	LongID      string // an id that is too long, if the provider has a separate message for this
	SameID      string // two calls with the same id
	Name        string
	LoneCall    string // a call without a result directly after it
	LoneResult  string // a result without a call
	Depth       string // arguments that are nested too deeply
	Unsigned    string // a call without the required signature
	NoReasoning string // missing reasoning

	SecondResult   string // a second result for a call
	LateResult     string // a result after other parts in its message
	SameItem       string // two items with the same id
	LoneReasoning  string // reasoning without another part of the model after it
	OtherReasoning string // reasoning that differs from the model's reasoning
	Order          string // messages in an order that their roles don't allow
	EmptyText      string // a text without content

	CacheMarks      string // more than four blocks marked for the cache
	TrailingSpace   string // the model's last text, which ends with white space
	UserAfterResult string // a user message directly after results
}

// FillRefusal inserts the facts of a call into a provider's error message.
func FillRefusal(refusal, id, name string) string {
	return strings.NewReplacer("{id}", id, "{name}", name, "{n}", strconv.Itoa(len(id))).Replace(refusal)
}

// FindNamed returns the first element with the given name in the list all. If there is none, it returns an error that
// lists all names. The parameter kind is the noun for an element in that error.
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

// FunctionTools returns the tools that a request declares in the form of OpenAI's Chat Completions:
// tools[].function with name and parameters.
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

// FunctionTool returns the tool that an object declares with a name, a description and the schema of its
// arguments. The parameter schema is the key of the field with this schema.
func FunctionTool(declared json.Value, schema string) Tool {
	t := Tool{Kind: "function", Name: declared.Get("name").Text(), Description: declared.Get("description").Text()}
	if s := declared.Get(schema); s.IsPresent() {
		t.Schema = s
	}
	return t
}

// FinishReasons are the finish reasons of a protocol.
type FinishReasons struct {
	What        string // the protocol's term for finish reasons, e.g. "stop reason"
	Calls, Done string // reason of a turn that waits for results of its calls; reason of any other turn that ended normally
	Codes       FinishCodes
}

// FinishCodes are the codes of the documented finish reasons.
type FinishCodes map[string]stream.Code

// Of returns the code of a finish reason. An undocumented reason doesn't count as a normal end: it has the code
// stream.FinishOther, and the result known is false.
func (all FinishCodes) Of(word string) (code stream.Code, known bool) {
	if code, known = all[word]; !known {
		code = stream.FinishOther
	}
	return code, known
}

// FinishAndCheck does the same as Finish, for a protocol whose finish reason shows whether the client must
// run calls. It also compares the reason with the calls of the turn, and returns the code of the reason.
func (t *Turn) FinishAndCheck(word string, of *FinishReasons) stream.Code {
	code, _ := of.Codes.Of(word)
	t.Finish(word, code)
	t.CheckStop(word, of)
	return code
}

// CheckStop reports a finish reason that is undocumented or contradicts the calls of the turn.
func (t *Turn) CheckStop(word string, of *FinishReasons) {
	_, known := of.Codes[word]
	switch {
	case !known:
		t.Find(FinishUnknown, "%s %q is not documented", stream.Own(of.What), stream.Fact(word))
	case word == of.Calls && t.client == 0 && !t.lost:
		t.Find(FinishWithoutCall, "the %s is %s, but the response has no call: the call was lost before it arrived", stream.Own(of.What), stream.Fact(word))
	case word == of.Done && t.client > 0:
		t.Find(FinishStop, "the %s is %s, but the response has calls: clients that wait for %s never run the calls", stream.Own(of.What), stream.Fact(word), stream.Own(of.Calls))
	}
}

// GoogleFinishCodes are the finish reasons of Gemini. A filter has the same code as a limit, because both cut off the
// response. Clients that ask for enums as numbers get numbers instead of names. Numbers up to 5 have the same meaning
// in the Gemini API and Vertex. From 6 on, the two APIs differ, but 6, 7 and 8 are filters in both.
var GoogleFinishCodes = FinishCodes{
	"STOP": stream.FinishDone, "1": stream.FinishDone,
	"MAX_TOKENS": stream.FinishCut, "2": stream.FinishCut,

	"SAFETY": stream.FinishCut, "RECITATION": stream.FinishCut, "LANGUAGE": stream.FinishCut, "OTHER": stream.FinishCut,
	"BLOCKLIST": stream.FinishCut, "PROHIBITED_CONTENT": stream.FinishCut, "SPII": stream.FinishCut, "MODEL_ARMOR": stream.FinishCut,
	"IMAGE_SAFETY": stream.FinishCut, "IMAGE_PROHIBITED_CONTENT": stream.FinishCut, "IMAGE_RECITATION": stream.FinishCut,
	"IMAGE_OTHER": stream.FinishCut, "NO_IMAGE": stream.FinishCut,
	"3": stream.FinishCut, "4": stream.FinishCut, "5": stream.FinishCut, "6": stream.FinishCut, "7": stream.FinishCut, "8": stream.FinishCut,

	"MALFORMED_FUNCTION_CALL": stream.FinishRefused, "MALFORMED_RESPONSE": stream.FinishRefused, "10": stream.FinishRefused,
	"UNEXPECTED_TOOL_CALL": stream.FinishRefused, "TOO_MANY_TOOL_CALLS": stream.FinishRefused, "MISSING_THOUGHT_SIGNATURE": stream.FinishRefused,
}
