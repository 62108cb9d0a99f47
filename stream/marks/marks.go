// Package marks describes wire protocols as data. It is for code that recognises or changes payloads without
// decoding them: the readers of logs, and the injector of faults. Each protocol package in providers exports
// its marks. [Use] sets them for the whole program.
//
// Many functions need the marks, including functions that detect the format of a file and have no options. So
// the marks are set once, when the program starts or in TestMain, instead of being passed to all of them.
// Nothing fails without marks: payloads are then recognised only by [toolscope/capture.Options].GuessPayload.
package marks

import "sync/atomic"

// Protocol contains the marks of one protocol.
type Protocol struct {
	Name string // name in machine output: "anthropic"

	Events     []Event  // types of its chunks
	Prefixes   []string // prefixes of further types of its chunks
	Terminator string   // data that ends a stream and isn't JSON
	Enders     []string // types of the events after which the client expects no more events
	SocketAsks []string // types of the messages by which a WebSocket client requests a response
	SocketEnds []string // further types that end a response on a WebSocket
	Asides     []string // path suffixes of requests that don't go to a model
	Rules      []Rule   // rules for payloads without a known type

	// Keys of its chunks. A key may be a path: "item.id".
	TypeKeys, IDKeys, ItemKeys, BlockKeys, NumberKeys []string
	// EventID is the path of the response's id in chunks with a known type. It replaces the IDKeys for these
	// chunks. If OnlyEventID is set, it also replaces them for chunks without EventID.
	EventID     string
	OnlyEventID bool

	Ending     string   // key that has a value only in the last chunk of a response and in complete responses
	TopKeys    []string // keys that its payloads have at the top level, and log entries don't
	Blocks     bool     // its chunks contain numbers of content blocks, which distinguish parallel streams
	Unnamed    bool     // its chunks may lack the name of their response
	EventNames bool     // its events have names
	Lines      bool     // its streams are JSON lines instead of server-sent events
	Identity   *Identity

	// The fields below describe the parts of histories and of other content.
	PartTypes   []string // types of the parts of a message
	PartKeys    []string // keys that only parts have
	MessageKeys []string // keys that a message has in addition to its role
	RequestKeys []string // keys that requests have in addition to the history
	HistoryKeys []string // keys of the list of messages
	ToolKeys    []string // keys of the declared tools
	Sent        []Sent   // how a history represents messages from the model

	Arguments []Place  // places of the arguments of calls and of their deltas
	TextKeys  []string // keys of the model's output
	CallIndex string   // path of the index of a parallel call
	Refusal   Refusal
}

// Event is the type of a chunk.
type Event struct {
	Type   string
	Begins bool // a response begins with it
	Ends   bool // a response ends with it, or may end with it
	Last   bool // only the terminator follows
	Common bool // other protocols use it too, so it doesn't mark the beginning of a stream
	Block  BlockPhase
}

// BlockPhase is the effect of an event on a content block.
type BlockPhase int8

// The values of BlockPhase.
const (
	NoBlock BlockPhase = iota
	BlockStart
	BlockDelta
	BlockStop
)

// Kind is the kind of a payload.
type Kind int8

// These are the kinds of payloads. Payloads of the kind Nothing are excluded.
const (
	Nothing Kind = iota
	Chunk
	Body
	Request
)

// Rule recognises payloads by their fields.
//
// When lists conditions, separated by spaces. All must hold. A condition is a path; a|b means alternatives at
// its beginning. In a path, 0 is the first element of a list, and * is any element. A path alone means that the
// value exists. A prefix or suffix adds a condition:
//
//	!path         the value doesn't exist
//	path:{ path:[ the value is an object or a list, possibly cut off
//	path=text     the value is this string
//	path$=text    the value is a string that ends with this text
//	path~text     the JSON of the value contains the text
//	path>key      the value contains the key, and its last occurrence has a string
type Rule struct {
	Is    Kind
	When  string
	Ends  string   // condition for a payload that ends its response
	Last  bool     // if the payload ends its response, only the terminator follows
	Weak  bool     // other data may look like this too
	NoID  bool     // it has neither a type nor an id
	Inner string   // key of an object: the payload is inside it
	Only  []string // all keys that it may have
}

// Identity lists the fields that differ between parallel streams of a protocol whose chunks don't name
// their response. Its values are paths and conditions as in a Rule.
type Identity struct {
	Model   string   // path of the model's name
	Prompt  string   // path of the number of tokens in the request
	Tokens  []string // paths of numbers that never decrease; their values are summed
	Content string   // condition: the chunk has content
	Made    string   // path of the time when the chunk was made
	Took    string   // path of the duration since the request, in ns
}

// Sent describes how a history represents messages from the model, and how to make a response from such a message.
type Sent struct {
	List  string   // key of the history
	When  string   // conditions for a message with calls
	Take  string   // key of the value that the response contains; "" for the complete message
	Body  string   // template of a response: MODEL is replaced with the model's field, and MESSAGE with the value of Take
	Group []string // conditions: each further message of a response meets one; nil if each message is a response
}

// Place is the place of a value in a JSON text. Path contains the last keys that lead to the value, separated by
// dots. "#" is an element of a list. A path that begins with ^ contains all keys.
type Place struct {
	Path string
	With string // a string that the JSON text must contain; "" for any
}

// Refusal is the form of a provider's errors.
type Refusal struct {
	Paths  []string // parts of the paths in requests to the provider
	Bodies []string // parts of its responses
	Header func(status int) (name, value string)
	Body   func(status int, message string) any
}

var current atomic.Pointer[[]Protocol]

// Use sets the marks of all protocols. The more specific protocols must come first.
func Use(all []Protocol) { current.Store(&all) }

// All returns the marks that were set. The pointer identifies the set.
func All() *[]Protocol {
	if all := current.Load(); all != nil {
		return all
	}
	return &none
}

var none []Protocol
