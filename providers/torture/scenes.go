// Package torture tests a client with short responses that are legal but rare, damaged, or against the rules of their
// protocol. Scenes are such responses, in steps that don't depend on the protocol. Judge judges the client's
// behaviour by the facts of a run. It never reads the client's output.
package torture

import (
	"strings"
	"sync"
	"time"

	"toolscope/providers/protocol"
	"toolscope/stream/json"
)

// Version is the version of the scenes. Results from different versions are not comparable.
const Version = 1

// A Scene is the response to a client's first request with the tools, and the rules for the client.
type Scene struct {
	Name  string
	Sends string // description of the response
	Steps []protocol.Step

	Must, MayNot string   // the rules, in words
	Why, Source  string   // the reason for the rules, and the page or standard that supports it
	OffSpec      []string // protocols whose rules the response breaks; "*" for all

	Calls []Call // calls that must each run once and whose results must be sent back
	May   []Call // calls that may each run at most once
	// WantError says that a call that didn't run must have a result under its id if the client sends it back.
	WantError bool
	// MayRefuse says that the client may also end without running the calls.
	MayRefuse bool
	Retried   bool // the response is broken, so a retried request gets the complete call
	Repeats   bool // whether each request gets the same response, up to maxRepeats+2 times
	Timed     bool // whether the verdict depends on times

	Status     int           // status of an HTTP error that precedes the complete call; 0 for none
	RetryAfter time.Duration // value of the header Retry-After in the error response

	Form Form
}

// A Form describes how frames are written.
type Form struct {
	Split     bool // whether each byte is written separately, with pauses inside characters that have several bytes
	Noise     bool // whether comments, unknown fields and unknown events are added
	ZeroIndex bool
	RepeatID  bool
}

// A Call is a call of one of the tools, note or tick.
type Call struct{ Tool, Args string }

const (
	alpha = `{"text":"alpha"}`
	beta  = `{"text":"beta"}`
	many  = `{"text":"alpha é 日本 😀"}`
	large = `{"text":"a","n":9007199254740993}`

	maxRepeats = 8 // maximum number of requests before a client must notice that it is repeating itself
)

const (
	anthropicStreaming = "https://platform.claude.com/docs/en/build-with-claude/streaming"
	anthropicStops     = "https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons"
	anthropicTools     = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use"
	openAIFunctions    = "https://platform.openai.com/docs/guides/function-calling"
	whatwgSSE          = "https://html.spec.whatwg.org/multipage/server-sent-events.html"
	rfc8259            = "https://www.rfc-editor.org/rfc/rfc8259"
	rfc9110            = "https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3"
	encoding           = "https://encoding.spec.whatwg.org/"
	practice           = "practice"
)

// The next seven functions are shorthands for steps.

func beginCall(call int, tool string) protocol.Step {
	return protocol.Step{Kind: protocol.CallStep, Call: call, Tool: protocol.Tool{Name: tool}}
}
func addArgs(call int, text string) protocol.Step {
	return protocol.Step{Kind: protocol.ArgsStep, Call: call, Text: text}
}
func sealCall(call int) protocol.Step { return protocol.Step{Kind: protocol.SealStep, Call: call} }
func waitFor(ms int) protocol.Step {
	return protocol.Step{Kind: protocol.WaitStep, Wait: time.Duration(ms) * time.Millisecond}
}
func sayText(text string) protocol.Step             { return protocol.Step{Kind: protocol.TextStep, Text: text} }
func endWith(word string) protocol.Step             { return protocol.Step{Kind: protocol.EndStep, Text: word} }
func bareStep(kind protocol.StepKind) protocol.Step { return protocol.Step{Kind: kind} }

// wholeCall returns the steps of a complete call. Each delta of its arguments has five bytes, or a few more to
// complete a character. The last delta may be shorter.
func wholeCall(call int, tool, args string) []protocol.Step {
	steps := []protocol.Step{beginCall(call, tool)}
	for len(args) > 0 {
		n := min(5, len(args))
		for n < len(args) && args[n]&0xC0 == 0x80 {
			n++
		}
		steps, args = append(steps, addArgs(call, args[:n])), args[n:]
	}
	return append(steps, sealCall(call))
}

// joinSteps joins steps and lists of steps.
func joinSteps(lists ...any) (steps []protocol.Step) {
	for _, l := range lists {
		switch l := l.(type) {
		case protocol.Step:
			steps = append(steps, l)
		case []protocol.Step:
			steps = append(steps, l...)
		}
	}
	return steps
}

var tool = endWith(protocol.EndTool)

// Scenes returns the scenes. The first one is the control: if the client fails it, the other scenes show nothing.
var Scenes = sync.OnceValue(func() []Scene {
	return []Scene{
		{
			Name: "plain", Sends: "text and one complete call", Steps: joinSteps(sayText("I note."), wholeCall(0, "note", alpha), waitFor(300), tool),
			Must: "run the call once, with the same values, and send its result back under its id", MayNot: "anything else",
			Why: "this scene is the control", Source: practice, Calls: []Call{{"note", alpha}},
		},
		{
			Name: "two-calls", Sends: "two calls, one after the other", Steps: joinSteps(wholeCall(0, "note", alpha), wholeCall(1, "note", beta), waitFor(300), tool),
			Must: "run each call once, and send back each result under its own id", MayNot: "join, lose or swap calls",
			Why: "a response may contain several calls", Source: openAIFunctions, Calls: []Call{{"note", alpha}, {"note", beta}},
		},
		{
			Name: "interleaved", Sends: "two calls whose deltas alternate",
			Steps: joinSteps(beginCall(0, "note"), beginCall(1, "note"), addArgs(0, `{"text":`), addArgs(1, `{"text":"b`), addArgs(0, `"alpha"}`), addArgs(1, `eta"}`), sealCall(0), sealCall(1), waitFor(300), tool),
			Must:  "run each call once, and send back each result under its own id", MayNot: "join, lose or swap calls",
			Why: "each delta names its call by an index", Source: anthropicStreaming, Calls: []Call{{"note", alpha}, {"note", beta}},
		},
		{
			Name: "twins", Sends: "two calls with equal arguments", Steps: joinSteps(wholeCall(0, "note", alpha), wholeCall(1, "note", alpha), waitFor(300), tool),
			Must: "run both calls, and send back a result for each", MayNot: "run only one, or send back two results for one call",
			Why: "an id identifies a call", Source: openAIFunctions, Calls: []Call{{"note", alpha}, {"note", alpha}},
		},
		{
			Name: "no-arguments", Sends: "a call without a delta of arguments", Steps: joinSteps(beginCall(0, "tick"), sealCall(0), waitFor(300), tool),
			Must: "run the call with {}", MayNot: "tell the model that its arguments are not JSON",
			Why: "a call to a tool without parameters has no delta", Source: anthropicStreaming, Calls: []Call{{"tick", "{}"}},
			OffSpec: []string{"openai-chat", "openai-responses"},
		},
		{
			Name: "one-byte", Sends: "each byte in a separate write, with pauses inside characters", Steps: joinSteps(wholeCall(0, "note", many), waitFor(100), tool),
			Must: "run the call with the same values", MayNot: "replace characters that arrive in two parts",
			Why: "a chunk may end in the middle of a character", Source: encoding, Calls: []Call{{"note", many}}, Form: Form{Split: true},
		},
		{
			Name: "noise", Sends: "comments, pings, unknown events and unknown fields between the usual ones",
			Steps: joinSteps(wholeCall(0, "note", alpha), waitFor(100), tool), Form: Form{Noise: true},
			Must: "skip unknown events and run the call once", MayNot: "stop, or lose the call",
			Why: "new event types may be added, and comments are part of SSE", Source: "https://platform.claude.com/docs/en/api/versioning", Calls: []Call{{"note", alpha}},
		},
		{
			Name: "cut-in-string", Sends: "a connection that breaks within the arguments",
			Steps:  joinSteps(beginCall(0, "note"), addArgs(0, `{"text":"al`), waitFor(200), bareStep(protocol.CutStep)),
			MayNot: "run the unfinished call, or keep repaired arguments in the history", Retried: true, May: []Call{{"note", alpha}},
			Why: "the end of the arguments never arrived", Source: whatwgSSE,
		},
		{
			Name: "cut-before-arguments", Sends: "a connection that breaks before the arguments", Steps: joinSteps(beginCall(0, "note"), waitFor(200), bareStep(protocol.CutStep)),
			MayNot: "run the unfinished call, even with {}", Retried: true, May: []Call{{"note", alpha}},
			Why: "the arguments never arrived", Source: whatwgSSE,
		},
		{
			Name: "cut-after-seal", Sends: "a complete call, then a connection that breaks", Steps: joinSteps(wholeCall(0, "note", alpha), waitFor(1200), bareStep(protocol.CutStep)),
			MayNot: "run the call twice", Retried: true, May: []Call{{"note", alpha}},
			Why: "a retry of the request must not repeat what a tool has done", Source: "https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2",
		},
		{
			Name: "error-after-seal", Sends: "a complete call, then an error event", Steps: joinSteps(wholeCall(0, "note", alpha), waitFor(1200), bareStep(protocol.FailStep)),
			MayNot: "run the call twice", Retried: true, May: []Call{{"note", alpha}},
			Why: "a retry of the request must not repeat what a tool has done", Source: "https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2",
		},
		{
			Name: "length-in-string", Sends: "a token limit within the arguments",
			Steps:  joinSteps(beginCall(0, "note"), addArgs(0, `{"text":"al`), addArgs(0, "pha"), endWith(protocol.EndLength)),
			MayNot: "run the unfinished call, even with repaired arguments", Retried: true, May: []Call{{"note", alpha}},
			Why: "the model didn't finish the arguments", Source: anthropicStops,
		},
		{
			Name: "length-before-arguments", Sends: "a token limit before the arguments", Steps: joinSteps(beginCall(0, "tick"), endWith(protocol.EndLength)),
			MayNot: "run the unfinished call, even with {}", Retried: true, May: []Call{},
			Why: "the model didn't begin the arguments", Source: anthropicStops,
		},
		{
			Name: "length-second-call", Sends: "a complete call, then a token limit within the second call",
			Steps:  joinSteps(wholeCall(0, "note", alpha), beginCall(1, "note"), addArgs(1, `{"text":"be`), endWith(protocol.EndLength)),
			MayNot: "run the unfinished call, even with repaired arguments", Retried: true, May: []Call{{"note", alpha}},
			Why: "the model didn't finish the arguments", Source: anthropicStops,
		},
		{
			Name: "broken", Sends: "a complete call whose arguments are not JSON", Steps: joinSteps(wholeCall(0, "note", `{"text": "al" "pha"}`), waitFor(100), tool),
			Must: "report the error to the model under the call's id, or leave out the response", MayNot: "run the call with arguments that the model didn't write",
			WantError: true, Why: "text that is not JSON has no value", Source: rfc8259,
		},
		{
			Name: "array", Sends: "a complete call whose arguments are a list", Steps: joinSteps(wholeCall(0, "note", `["alpha"]`), waitFor(100), tool),
			Must: "report the error to the model under the call's id, or pass on the list", MayNot: "run the call with arguments that the model didn't write",
			WantError: true, May: []Call{{"note", `["alpha"]`}}, Why: "the parameters must be the fields of an object", Source: anthropicTools,
		},
		{
			Name: "wrong-type", Sends: "a number for a parameter that must be a string", Steps: joinSteps(wholeCall(0, "note", `{"text":5}`), waitFor(100), tool),
			MayNot: "", WantError: true, May: []Call{{"note", `{"text":5}`}, {"note", `{"text":"5"}`}},
			Why: "the client may refuse, pass on or convert the value", Source: practice,
		},
		{
			Name: "big-number", Sends: "an integer that a double can't represent", Steps: joinSteps(wholeCall(0, "note", large), waitFor(100), tool),
			MayNot: "", WantError: true, May: []Call{{"note", large}, {"note", `{"text":"a","n":9007199254740992}`}},
			Why: "JSON allows numbers that many parsers round", Source: rfc8259 + "#section-6",
		},
		{
			Name: "unknown-tool", Sends: "a call to a tool that the client didn't declare", Steps: joinSteps(wholeCall(0, "no_such_tool", alpha), waitFor(100), tool),
			Must: "send back an error under the call's id, or end with an error", MayNot: "run a tool, or leave the call without a result",
			WantError: true, Why: "providers refuse every later request that contains a call without a result", Source: anthropicTools,
		},
		{
			Name: "seal-twice", Sends: "a complete call whose end is sent twice", Steps: joinSteps(wholeCall(0, "note", alpha), sealCall(0), waitFor(300), tool),
			Must: "run the call once", MayNot: "run the call twice", OffSpec: []string{"*"}, MayRefuse: true,
			Why: "an id identifies a call, however often its end is sent", Source: practice, Calls: []Call{{"note", alpha}},
		},
		{
			Name: "index-zero", Sends: "two calls with different ids and the same index", Steps: joinSteps(wholeCall(0, "note", alpha), wholeCall(1, "note", beta), tool), Form: Form{ZeroIndex: true},
			Must: "run each call once", MayNot: "join calls, or lose one without an error", OffSpec: []string{"*"}, MayRefuse: true,
			Why: "some gateways give every call the index 0", Source: "https://github.com/BerriAI/litellm/issues/33678", Calls: []Call{{"note", alpha}, {"note", beta}},
		},
		{
			Name: "null-arguments", Sends: "a complete call, then a delta whose arguments are null", Steps: joinSteps(wholeCall(0, "note", alpha), protocol.Step{Kind: protocol.NullStep}, tool),
			Must: "run the call once", MayNot: "append the word null, or exit", OffSpec: []string{"*"}, MayRefuse: true,
			Why: "some gateways send null for an empty delta", Source: practice, Calls: []Call{{"note", alpha}},
		},
		{
			Name: "id-again", Sends: "a call whose id and name are in each delta", Steps: joinSteps(wholeCall(0, "note", alpha), tool), Form: Form{RepeatID: true},
			Must: "run the call once", MayNot: "begin a new call at each delta, or join the names", OffSpec: []string{"*"}, MayRefuse: true,
			Why: "some gateways repeat the id and the name", Source: practice, Calls: []Call{{"note", alpha}},
		},
		{
			Name: "stop-says-stop", Sends: "a complete call, then the finish reason for text", Steps: joinSteps(wholeCall(0, "note", alpha), waitFor(100), endWith(protocol.EndStop)),
			MayNot: "", OffSpec: []string{"anthropic", "openai-chat"}, May: []Call{{"note", alpha}},
			Why: "the client may trust either the call or the finish reason", Source: practice,
		},
		{
			Name: "tool-stop-no-call", Sends: "text, then the finish reason for calls", Steps: joinSteps(sayText("I will note it."), tool), Repeats: true,
			MayNot: "run a tool, or send more than 8 requests", Why: "a repeated request gets the same response", Source: practice,
		},
		{
			Name: "call-as-text", Sends: "a call that the model wrote as text", Repeats: true,
			Steps:  joinSteps(sayText("court\n<invoke name=\"note\">\n<parameter name=\"text\">alpha</parameter>\n</invoke>"), endWith(protocol.EndStop)),
			MayNot: "run a tool, or send more than 8 requests", Why: "only the protocol's own form is a call", Source: practice,
		},
		{
			Name: "busy-once", Sends: "status 429 with Retry-After: 1, then a complete call", Status: 429, RetryAfter: time.Second, Timed: true,
			Steps: joinSteps(wholeCall(0, "note", alpha), tool), Must: "wait, retry the request, and run the call once", MayNot: "give up, or retry sooner than the header allows",
			Why: "the header says when the provider accepts the next request", Source: rfc9110, Calls: []Call{{"note", alpha}},
		},
		{
			Name: "pings", Sends: "a connection that sends only pings for 20 s, then breaks", Timed: true, Retried: true, May: []Call{{"note", alpha}},
			Steps:  joinSteps(beginCall(0, "note"), addArgs(0, `{"text":"al`), protocol.Step{Kind: protocol.PingStep, Wait: time.Second}, waitFor(0), bareStep(protocol.CutStep)),
			MayNot: "run the unfinished call, or keep running after the time limit", Why: "a client must not wait forever for a stream without progress", Source: practice,
		},
	}
})

// PingTime is the time for which a scene sends pings.
const PingTime = 20 * time.Second

// IsOffSpec reports whether the scene breaks the rules of a protocol.
func (s *Scene) IsOffSpec(dialect string) bool {
	for _, name := range s.OffSpec {
		if name == "*" || name == dialect {
			return true
		}
	}
	return false
}

// HasNoRule reports whether the scene has no rule. In that case, the client's behaviour is only shown, not judged.
func (s *Scene) HasNoRule() bool { return s.Must == "" && s.MayNot == "" }

// WaitTime returns how long the scene itself takes.
func (s *Scene) WaitTime() (sum time.Duration) {
	for _, step := range s.Steps {
		switch step.Kind {
		case protocol.WaitStep:
			sum += step.Wait
		case protocol.PingStep:
			sum += PingTime
		}
	}
	return sum + s.RetryAfter
}

// sameArgs reports whether two calls' arguments have the same value. Missing arguments count as {}.
func sameArgs(a, b string) bool {
	if strings.TrimSpace(a) == "" {
		a = "{}"
	}
	if strings.TrimSpace(b) == "" {
		b = "{}"
	}
	return json.Same([]byte(a), []byte(b))
}
