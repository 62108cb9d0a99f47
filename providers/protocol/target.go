package protocol

import (
	"strconv"
	"strings"
)

// A Target is where history can be sent: a wire protocol, or a host that is stricter than its
// protocol. Its rules are data; its functions write and read messages and requests.
type Target struct {
	Name  string // "anthropic", "mistral"
	Title string
	// Dialect names the protocol. History that came by the same protocol goes back as it was.
	Protocol string

	Form          ArgsForm // of arguments
	JSONOnly      bool     // arguments that are a text must parse, as JSON; an object always must
	IDs           IDRule
	Names         NameRule
	Doubles       bool // numbers become IEEE 754 doubles
	UnorderedKeys bool // the members of an object have no order
	Depth         DepthRule

	Freeform      bool          // a call may be free text: custom tools
	Reasoning     ReasoningRule // what becomes of reasoning
	HasSignatures bool          // calls carry signatures
	Sentinel      string        // stands for the signature of a call of another model; "" when none may be missing
	ErrorFlag     bool          // a result can say that it is an error
	Media         bool          // a result can hold images
	TakesUnpaired bool          // calls without results, and results without calls, are taken
	ResultsFollow bool          // the results of a turn must follow it at once, and its calls stay in one message
	Merges        bool          // messages of one speaker that follow each other are read as one
	HasPreviousID bool          // a request can name the response that it goes on from, by its id
	Refusal       Refusal

	// Encode writes messages as they stand in the request, each a JSON text: a message, or an item
	// where the protocol has items. It writes ids, names and arguments as they are: the caller has
	// fitted them to the target. A part with a Raw is written as that. System messages are left out
	// where they stand elsewhere in a request.
	Encode func([]Message) [][]byte
	// Request writes a request that asks for a stream and its usage: the path, relative to a host's
	// address, and the body. It writes only the messages that are Encoded; Ask encodes the others
	// first. It is nil for protocols that are never asked.
	Request func(Request, HostFeatures) (path string, body []byte)
	// Decode reads the history of a request. If that breaks off, or holds what is not known, it
	// reads what it can.
	Decode func(request []byte) ([]Message, error)
}

// IDRule says which ids of calls the target takes.
type IDRule struct {
	Class    string // characters, as in a regular expression's class: "a-zA-Z0-9_-"; "" for any
	Min      int    // bytes, 0 for no limit
	Max      int
	Required bool   // a call must have one
	Unique   bool   // no two calls of a history may share one
	Trim     string // characters that clients cut from the end of an id to make it fit
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

// NameRule says which names of tools the target takes.
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

// InClass reports whether c is in a class written as in a regular expression: characters and
// ranges, a hyphen last.
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

// DepthRule says how deep arguments may nest. Limit is in levels: what stands around the arguments
// takes Base of them, each object Object and each array Array. The zero value has no limit.
type DepthRule struct {
	Limit, Base, Object, Array int
}

// Objects is how many objects may nest in one another.
func (r DepthRule) Objects() int { return (r.Limit - r.Base) / r.Object }

// ReasoningRule says what a protocol does with reasoning that comes back.
type ReasoningRule uint8

const (
	NoReasoning     ReasoningRule = iota // there is no place for it
	PlainReasoning                       // a field takes its text
	SignedReasoning                      // it must carry the signature this protocol gave it
)

// Refusal is what a provider answers to history that it does not take, in its own words, as far as
// those are documented or have been seen; "" where they are not known. {id} stands for the call's
// id, {name} for its tool, {n} for the length of its id in bytes.
type Refusal struct {
	Args        string // arguments that are no object, or no JSON
	ID          string // an id that breaks the rule
	LongID      string // one that is too long, where that has words of its own
	SameID      string // two calls with one id
	Name        string
	LoneCall    string // a call without a result right after it
	LoneResult  string // a result without a call
	Depth       string // arguments that nest too deep
	Unsigned    string // a call without its signature
	NoReasoning string // reasoning that had to come back
}

// FillRefusal fills the facts of a call into a refusal.
func FillRefusal(refusal, id, name string) string {
	return strings.NewReplacer("{id}", id, "{name}", name, "{n}", strconv.Itoa(len(id))).Replace(refusal)
}
