// Package marks describes wire protocols as data, for code that recognises or changes payloads without decoding
// them: the readers of logs, and the injector of faults. Each protocol package of providers exports its marks;
// [Use] makes them known to the whole program.
//
// Many functions need the marks, also those that detect the format of a file and have no options. So they are set
// once, when the program starts or in TestMain, instead of being passed to all of them. Without marks nothing
// fails: payloads are then recognised only by [toolscope/capture.Options].GuessPayload.
package marks

import "sync/atomic"

// Protocol holds the marks of one protocol.
type Protocol struct {
	Name string // as in machine output: "anthropic"

	Events     []Event  // types of its chunks
	Prefixes   []string // beginnings of further types of its chunks
	Terminator string   // data that ends a stream and isn't JSON
	Enders     []string // types of the events after which the client expects no more
	SocketAsks []string // types by which a WebSocket client requests a response
	SocketEnds []string // further types that end a response on a WebSocket
	Asides     []string // ends of the paths of requests that no model answers
	Rules      []Rule   // for payloads without a known type

	// Keys of its chunks. A key may be a path: "item.id".
	TypeKeys, IDKeys, ItemKeys, BlockKeys, NumberKeys []string
	// EventID is the path of the response's id in chunks with a known type. It replaces the IDKeys; if OnlyEventID
	// is set, also in chunks without it.
	EventID     string
	OnlyEventID bool

	Ending     string   // key that has a value only in the last chunk of a response and in complete responses
	TopKeys    []string // keys at the top of its payloads that no log entry has there
	Blocks     bool     // its chunks number content blocks, which separates parallel streams
	Unnamed    bool     // its chunks may lack the name of their response
	EventNames bool     // its events have names
	Lines      bool     // its streams are JSON lines instead of server-sent events
	Identity   *Identity

	// The parts of histories and of other content.
	PartTypes   []string // types of the parts of a message
	PartKeys    []string // keys that only parts have
	MessageKeys []string // keys that a message has in addition to its role
	RequestKeys []string // keys that requests have in addition to the history
	HistoryKeys []string // keys of the list of messages
	ToolKeys    []string // keys of the declared tools
	Sent        []Sent   // how a history contains messages of the model

	Arguments []Place  // where arguments of calls are, and deltas of them
	TextKeys  []string // keys of the model's output
	CallIndex string   // path of the number of a parallel call
	Refusal   Refusal
}

// Event is the type of a chunk.
type Event struct {
	Type   string
	Begins bool // a response begins with it
	Ends   bool // a response ends with it, or may end
	Last   bool // only the terminator follows
	Common bool // other protocols have it as well; it begins no stream
	Block  BlockPhase
}

// BlockPhase says what an event does to a content block.
type BlockPhase int8

// What an event does to a content block.
const (
	NoBlock BlockPhase = iota
	BlockStart
	BlockDelta
	BlockStop
)

// Kind says what a payload is.
type Kind int8

// The kinds of payloads. Nothing is for payloads of any other kind, which are excluded.
const (
	Nothing Kind = iota
	Chunk
	Body
	Request
)

// Rule recognises payloads by their fields.
//
// When lists conditions, separated by spaces; all must hold. A condition is a path, a|b for alternatives at its
// beginning. In a path, 0 is the first element of a list, * any element. The path alone means that the value
// exists. Its suffix can say more:
//
//	!path         it is not there
//	path:{ path:[ it is an object, a list, or may be one that is cut off
//	path=text     it is the string
//	path$=text    it is a string with this end
//	path~text     its JSON contains the text
//	path>key      it contains the key, the last time with a string
type Rule struct {
	Is    Kind
	When  string
	Ends  string   // condition: a response ends with it
	Last  bool     // if it ends, only the terminator follows
	Weak  bool     // other data looks like this too
	NoID  bool     // it has neither a type nor an id
	Inner string   // key of an object: the payload is inside it
	Only  []string // all keys that it may have
}

// Identity lists the fields that differ between parallel streams of a protocol whose chunks don't name
// their response. Its values are paths and conditions as in a Rule.
type Identity struct {
	Model   string   // path of the model's name
	Prompt  string   // path of the number of tokens of the request
	Tokens  []string // paths of numbers that never decrease, which are summed
	Content string   // condition: the chunk has content
	Made    string   // path of the time when the chunk was made
	Took    string   // path of the duration since the request, in ns
}

// Sent says how a history contains messages of the model, and how to make a response from such a message.
type Sent struct {
	List  string   // key of the history
	When  string   // conditions for a message with calls
	Take  string   // key of the message that the response contains; "" for the complete message
	Body  string   // a response: MODEL stands for the model's field, MESSAGE for the taken value
	Group []string // conditions, one of which holds for other messages of the same response; nil if each is one
}

// Place says where a value is in a JSON text. Path is the last keys that lead to it, separated by dots, "#" for an
// element of a list; ^ at its beginning means that these are all keys.
type Place struct {
	Path string
	With string // the text contains it; "" for any
}

// Refusal is the form of a provider's errors.
type Refusal struct {
	Paths  []string // parts of the paths of its requests
	Bodies []string // parts of its responses
	Header func(status int) (name, value string)
	Body   func(status int, message string) any
}

var current atomic.Pointer[[]Protocol]

// Use sets the marks of all protocols, the more specific protocols first.
func Use(all []Protocol) { current.Store(&all) }

// All returns the marks that were set. The pointer identifies the set.
func All() *[]Protocol {
	if all := current.Load(); all != nil {
		return all
	}
	return &none
}

var none []Protocol
