package replay

import (
	"slices"

	"toolscope/providers/client"
	"toolscope/providers/protocol"
)

// A Policy is a way in which calls are sent back. It is either a behaviour, named after its effect and
// observed somewhere, or the rule of a client, named after the client.
type Policy struct {
	Name        string
	Description string // its effect on arguments that are not an object
	Seen        string // where a behaviour was observed

	Client  *client.Client    // the client of the policy; nil for a behaviour
	Known   client.Provenance // how the policy is known
	targets []string          // protocols that the client uses; nil for all
	own     bool              // it takes only history of the target's own protocol
	way     clientRule        // what it sends; if nil, the fields below say so
	shapes  callTemplates     // how it writes a call, if not as usual
	idless  []string          // protocols for which it sends no call ids
	joins   []string          // protocols for which it joins the id of a call with its item's id

	unsigned bool // its calls have no place for a signature
	asText   bool // it sends calls and results as text

	text, object    action // for arguments that are not an object, for targets that take text and objects
	key             string // of the object that wraps them
	reserialises    bool   // it parses arguments and sends the output of JavaScript's JSON library
	again           bool   // it encodes any text once more
	refuses         bool   // it sends nothing that breaks the target's rules
	reasoningAsText bool   // it sends reasoning as text if the target can't take it
	fillsIn         bool   // it adds missing results, and moves results to their calls
	firstOfID       bool   // it fits an id to a target by its first characters
}

// Policies lists all policies: the behaviours, with the recommended one first, then those of clients.
var (
	Policies   = slices.Concat(behaviours, policiesNamed(clients))
	Behaviours = Policies[:len(behaviours)]
	Clients    = Policies[len(behaviours):]
)

// FindPolicy returns the policy of a name. The error lists the known names.
func FindPolicy(name string) (*Policy, error) {
	return protocol.FindNamed("policy", name, Policies, func(p *Policy) string { return p.Name })
}

// Speaks reports whether the policy sends requests to a target. A behaviour does for all targets, a client
// for the protocols that it uses.
func (p *Policy) Speaks(to *protocol.Target) bool {
	return p.targets == nil || slices.Contains(p.targets, to.Protocol)
}

// Knows reports whether the policy's effect on calls of a protocol is known for a target. from is nil if
// the protocol is unknown.
func (p *Policy) Knows(from, to *protocol.Target) bool {
	return p.Speaks(to) && (!p.own || from != nil && from.Protocol == to.Protocol)
}

// Targets returns the protocols that a client uses, nil for all.
func (p *Policy) Targets() []string { return p.targets }

// action is what a policy does with arguments that are not an object.
type action uint8

const (
	keep    action = iota // send the text as it is
	unwrap                // send the object in a string that holds one, else {}
	empty                 // send {}
	wrap                  // put them into an object, as text
	wrapAny               // put them into an object, as a value if they are JSON
	drop                  // leave the call out
	repair                // send a forgiving parser's result
	refuse                // send nothing
)

var behaviours = []Policy{
	{
		Name: "preserve", text: keep, object: unwrap, reasoningAsText: true, fillsIn: true,
		Description: "providers that accept text get the raw text; others get the object in the text, or {} if there is none",
		Seen:        "OpenClaw since #61956",
	},
	{
		Name: "wrap", text: wrap, object: wrap, key: "INVALID_JSON",
		Description: `arguments that don't parse are sent as {"INVALID_JSON": "…"}, to every provider`,
		Seen:        "pydantic-ai",
	},
	{
		Name: "wrap-raw", text: wrapAny, object: wrapAny, key: "rawInvalidInput", reserialises: true, firstOfID: true,
		Description: `arguments that are not an object are sent as {"rawInvalidInput": …}; ids that don't fit are cut to their first letters and digits`,
		Seen:        "the AI SDK's useChat with Anthropic and Bedrock",
	},
	{
		Name: "empty", text: empty, object: empty, reserialises: true,
		Description: "arguments that don't parse are silently sent as {}",
		Seen:        "OpenClaw before #61956, google/adk-python#6867, kagent#2230, kimi-cli#2196",
	},
	{
		Name: "empty-warn", text: keep, object: empty,
		Description: "providers that accept text get the raw text; others get {}, and the calling program gets a warning",
		Seen:        "charmbracelet/fantasy with Anthropic",
	},
	{
		Name: "drop", text: drop, object: drop,
		Description: "a call whose arguments don't parse is left out; its result stays, without a call",
		Seen:        "charmbracelet/fantasy with Google, gcli2api#406, clients that filter calls that don't decode",
	},
	{
		Name: "repair", text: repair, object: repair, reserialises: true, reasoningAsText: true, fillsIn: true,
		Description: "a repairing parser's result is sent as if the model had written it",
		Seen:        "libraries that parse incomplete JSON, e.g. partial-json",
	},
	{
		Name: "double-encode", again: true, object: empty,
		Description: "the text is encoded as a JSON string once more",
		Seen:        "OpenClaw before #61956 if it kept the text, litellm#12554",
	},
	{
		Name: "strict", text: refuse, object: refuse, refuses: true,
		Description: "the request is sent only if the arguments are one JSON object, and the provider accepts the id and the name",
		Seen:        "providers themselves; a client that prefers an error to a changed history",
	},
}
