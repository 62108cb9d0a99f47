package protocol

import (
	"strconv"
	"strings"
)

// A Target is where history can be sent: a wire protocol, or a provider that is stricter than its
// protocol. Its rules are data; its functions write and read messages and requests.
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

	// Encode writes messages in the form of the request, each as a JSON text: a message, or an item if
	// the protocol has items. It writes ids, names and arguments unchanged: the caller has fitted them
	// to the target. A part with a Raw is written as that Raw. System messages are omitted if they have
	// another place in the request.
	Encode func([]Message) [][]byte
	// Request writes a request that asks for a stream and its usage: the path, relative to the
	// provider's address, and the body. It writes only the EncodedMessages; BuildRequest encodes the
	// others first. It is nil for protocols that toolscope sends no requests with.
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

// DepthRule limits the nesting of arguments. Limit is in levels: the structure around the arguments
// takes Base of them, each object Object and each array Array. The zero value has no limit.
type DepthRule struct {
	Limit, Base, Object, Array int
}

// Objects returns how many objects may nest in one another.
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
}

// FillRefusal inserts the facts of a call into a refusal.
func FillRefusal(refusal, id, name string) string {
	return strings.NewReplacer("{id}", id, "{name}", name, "{n}", strconv.Itoa(len(id))).Replace(refusal)
}
