package replay

import (
	"slices"

	"toolscope/providers/client"
	"toolscope/providers/protocol"
)

// A Policy is a way in which calls are sent back: a behaviour, which is named after what it does and
// has been seen somewhere, or that of a client, which is named after the client.
type Policy struct {
	Name        string
	Description string // what it does with arguments that are no object
	Seen        string // of a behaviour: where

	Client  *client.Client    // whose way it is; nil for a behaviour
	Known   client.Provenance // how it is known of the client
	targets []string          // dialects that the client speaks; nil for all
	own     bool              // it takes history of the protocol only that it goes to
	way     clientRule        // what it sends; where there is none, the members below say so
	shapes  callTemplates     // how it writes a call, where that is not as usual
	idless  []string          // dialects toward which it sends no ids of calls
	joins   []string          // dialects toward which it joins the id of a call with that of its item

	unsigned bool // its calls have no place for a signature
	asText   bool // it sends calls and results as text

	text, object    action // with arguments that are no object, toward targets that take text and objects
	key             string // of the object that wraps them
	reserialises    bool   // it parses what parses, and sends what its JSON library writes: JavaScript's
	again           bool   // it encodes the text once more, whatever it is
	refuses         bool   // it sends nothing that is not by the rules
	reasoningAsText bool   // reasoning that cannot travel is sent as text
	fillsIn         bool   // calls without a result get one, and results are moved to their calls
	firstOfID       bool   // ids are made fit by their first characters alone
}

// Policies are all policies: first the behaviours, the recommended one before the others, and then
// those of clients.
var (
	Policies   = slices.Concat(behaviours, policiesNamed(clients))
	Behaviours = Policies[:len(behaviours)]
	Clients    = Policies[len(behaviours):]
)

// FindPolicy is the policy of that name; the error lists the names there are.
func FindPolicy(name string) (*Policy, error) {
	return protocol.FindNamed("policy", name, Policies, func(p *Policy) string { return p.Name })
}

// Speaks reports whether requests to a target are known of the policy: a behaviour has one for each,
// a client for the protocols that it speaks.
func (p *Policy) Speaks(to *protocol.Target) bool {
	return p.targets == nil || slices.Contains(p.targets, to.Protocol)
}

// Knows reports whether it is known what the policy makes of calls that came by a protocol on their
// way to a target. from is nil where the protocol is not known.
func (p *Policy) Knows(from, to *protocol.Target) bool {
	return p.Speaks(to) && (!p.own || from != nil && from.Protocol == to.Protocol)
}

// Targets are the dialects that a client speaks; nil for all.
func (p *Policy) Targets() []string { return p.targets }

// action is what a policy does with arguments that are no object.
type action uint8

const (
	keep    action = iota // send the text as it is
	unwrap                // the object in a string that holds one; {} for all others
	empty                 // send {}
	wrap                  // put them into an object, as text
	wrapAny               // put them into an object, as the value they are if they are one
	drop                  // leave the call out
	repair                // send what a forgiving parser makes of them
	refuse                // send nothing
)

var behaviours = []Policy{
	{
		Name: "preserve", text: keep, object: unwrap, reasoningAsText: true, fillsIn: true,
		Description: "the raw text goes to providers that take text; the object it holds to those that take objects, {} when it holds none",
		Seen:        "OpenClaw since #61956",
	},
	{
		Name: "wrap", text: wrap, object: wrap, key: "INVALID_JSON",
		Description: `what does not parse is sent as {"INVALID_JSON": "…"}, to every provider`,
		Seen:        "pydantic-ai",
	},
	{
		Name: "wrap-raw", text: wrapAny, object: wrapAny, key: "rawInvalidInput", reserialises: true, firstOfID: true,
		Description: `what is no object is sent as {"rawInvalidInput": …}; ids are cut to their first letters and digits`,
		Seen:        "the AI SDK's useChat toward Anthropic and Bedrock",
	},
	{
		Name: "empty", text: empty, object: empty, reserialises: true,
		Description: "what does not parse is silently sent as {}",
		Seen:        "OpenClaw before #61956, google/adk-python#6867, kagent#2230, kimi-cli#2196",
	},
	{
		Name: "empty-warn", text: keep, object: empty,
		Description: "the raw text goes to providers that take text; to others {}, and the program that asked is warned",
		Seen:        "charmbracelet/fantasy toward Anthropic",
	},
	{
		Name: "drop", text: drop, object: drop,
		Description: "a call that does not parse is left out; its result stays, without a call",
		Seen:        "charmbracelet/fantasy toward Google, gcli2api#406, clients that filter what does not decode",
	},
	{
		Name: "repair", text: repair, object: repair, reserialises: true, reasoningAsText: true, fillsIn: true,
		Description: "what a forgiving parser makes of it is sent as if the model had written that",
		Seen:        "libraries that parse what has come so far, as partial-json does",
	},
	{
		Name: "double-encode", again: true, object: empty,
		Description: "the text is encoded as a JSON string once more",
		Seen:        "OpenClaw before #61956 when it kept the text, litellm#12554",
	},
	{
		Name: "strict", text: refuse, object: refuse, refuses: true,
		Description: "nothing is sent that is not one JSON object, with an id and a name the provider takes",
		Seen:        "providers themselves; a client that prefers an error to a changed history",
	},
}
