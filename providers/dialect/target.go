package dialect

import (
	"strconv"
	"strings"
)

// A Target is where history can be sent: a wire protocol, or a host that is stricter than its
// protocol. Its rules are data; its functions write and read messages and requests.
type Target struct {
	Name  string // "anthropic", "mistral"
	Title string
	// Dialect names the protocol: replaying what came by it is replaying it to itself.
	Dialect string

	Form     Form // of arguments
	JSONOnly bool // arguments that are a text must parse, as JSON; an object always must
	IDs      IDRule
	Names    NameRule
	Doubles  bool // numbers become IEEE 754 doubles
	Maps     bool // the members of an object have no order
	Depth    DepthRule

	Freeform  bool          // a call may be free text: custom tools
	Reasoning ReasoningRule // what becomes of reasoning
	Signed    bool          // calls carry signatures
	Sentinel  string        // stands for the signature of a call of another model; "" when none may be missing
	ErrorFlag bool          // a result can say that it is an error
	Media     bool          // a result can hold images
	Unpaired  bool          // calls without results, and results without calls, are taken
	Together  bool          // all results of a turn must follow it at once, and its calls stay in one message
	Merges    bool          // messages of one speaker that follow each other are read as one
	Refusal   Refusal

	// Encode writes messages as they stand in the request, each a JSON text: a message, or an item
	// where the protocol has items. Ids, names and arguments are written as they are, and a part
	// with Raw as that: the caller has fitted them to the target. System messages that stand
	// elsewhere in a request are left out.
	Encode func([]Message) [][]byte
	// Request writes a request that asks for a stream and its usage: the path behind a host's
	// address, and the body. Of the conversation it writes what is Encoded; Ask encodes the rest
	// first. It is nil for protocols that are never asked.
	Request func(Request, Quirks) (path string, body []byte)
	// Decode reads the history of a request. Of one that breaks off, or holds what is not known, it
	// reads what it can.
	Decode func(request []byte) ([]Message, error)
}

// IDRule says which ids of calls are taken.
type IDRule struct {
	Class    string // characters, as in a regular expression's class: "a-zA-Z0-9_-"; "" for any
	Least    int    // bytes, 0 for no limit
	Most     int
	Required bool   // a call must have one
	Unique   bool   // no two calls of a history may share one
	Trim     string // what clients that make an id fit cut from its end
}

// Exact reports whether all ids have one length.
func (r IDRule) Exact() bool { return r.Most > 0 && r.Least == r.Most }

// Takes reports whether id obeys the rule.
func (r IDRule) Takes(id string) bool {
	if id == "" {
		return !r.Required
	}
	return len(id) >= r.Least && (r.Most == 0 || len(id) <= r.Most) && allIn(id, r.Class)
}

// NameRule says which names of tools are taken.
type NameRule struct {
	Class string // as in IDRule
	First string // class of the first character, "" for Class
	Most  int    // bytes, 0 for no limit
}

// Takes reports whether name obeys the rule.
func (r NameRule) Takes(name string) bool {
	return name != "" && (r.Most == 0 || len(name) <= r.Most) && allIn(name, r.Class) && (r.First == "" || InClass(r.First, name[0]))
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

// DepthRule says how deep arguments may nest. Each object and array takes levels of Limit, and Base
// of them are taken by what stands around the arguments. The zero value has no limit.
type DepthRule struct {
	Limit, Base, Object, Array int
}

// Objects is how many objects may stand in one another.
func (r DepthRule) Objects() int { return (r.Limit - r.Base) / r.Object }

// ReasoningRule says what a protocol does with reasoning that comes back.
type ReasoningRule uint8

const (
	NoReasoning     ReasoningRule = iota // there is no place for it
	PlainReasoning                       // a field takes its text
	SignedReasoning                      // it must carry the signature this protocol gave it
)

// Refusal is what a provider answers to history it does not take, in its own words, as far as they
// are documented or have been seen; "" where they are not known. {id}, {name} and {n} stand for the
// call's id, its tool and the length of its id.
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

// Say fills the facts of a call into a refusal.
func Say(refusal, id, name string) string {
	return strings.NewReplacer("{id}", id, "{name}", name, "{n}", strconv.Itoa(len(id))).Replace(refusal)
}
