// Package torture tests a client with short responses that are legal but rare, damaged, or against the rules of their
// protocol. Scenes are such responses, in steps that don't depend on the protocol. Judge judges the client's
// behaviour by the facts of a run. It never reads the client's output.
package torture

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

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

// AnswerKind is the kind of response that a request gets in a scene.
type AnswerKind uint8

const (
	Hard  AnswerKind = iota // the scene's response
	Good                    // the complete call, after a broken response
	Final                   // text that ends the conversation
)

// FinalText is the text of the last response in a scene, and of responses to requests without the tools.
const FinalText = "FINAL"

// NewScript returns a script for a response in a scene, with the tools of the request. The ids depend on the seed,
// the scene's name and the number of the response.
func (s *Scene) NewScript(kind AnswerKind, tools map[string]protocol.Tool, model string, seed, number int) *protocol.Script {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", s.Name, number)
	random := rand.New(rand.NewPCG(uint64(seed), h.Sum64()))
	id := make([]byte, 12)
	for i := range id {
		id[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[random.IntN(36)]
	}
	script := &protocol.Script{ID: "resp_" + string(id), Model: model}
	steps := []protocol.Step{sayText(FinalText), endWith(protocol.EndStop)}
	switch {
	case kind == Hard:
		steps = s.Steps
		script.ZeroIndex, script.RepeatID = s.Form.ZeroIndex, s.Form.RepeatID
	case kind == Good && len(s.May) > 0:
		steps = joinSteps(wholeCall(0, s.May[0].Tool, s.May[0].Args), tool)
	}
	for _, step := range steps {
		if step.Kind == protocol.CallStep {
			step.ID = fmt.Sprintf("call_%s%d", id, step.Call)
			if t, known := tools[step.Tool.Name]; known {
				step.Tool = t
			}
		}
		script.Steps = append(script.Steps, step)
	}
	if kind == Hard && s.Form.Noise {
		noise := protocol.Step{Kind: protocol.NoiseStep, Text: "torture_event"}
		script.Steps = slices.Insert(script.Steps, len(script.Steps)-1, noise)
		script.Steps = slices.Insert(script.Steps, 0, noise)
	}
	return script
}

// A Write is data that is written at once, and the pause before it.
type Write struct {
	Step  int // index of the script's step that the data belongs to
	Pause time.Duration
	Data  []byte
}

// letterPause is the pause between the bytes of a character that has several. Without a pause, TCP joins small
// writes.
const letterPause = 15 * time.Millisecond

// WriteForm returns the writes that send frames in the given form. If lines is true, frames are JSON lines instead of
// server-sent events.
func WriteForm(frames []protocol.SpokenFrame, form Form, lines bool) (writes []Write) {
	for i, f := range frames {
		text := frameText(f, form, lines, i)
		if !form.Split {
			writes = append(writes, Write{Step: f.Step, Data: text})
			continue
		}
		for k := range text {
			w := Write{Step: f.Step, Data: text[k : k+1]}
			if !utf8.RuneStart(text[k]) {
				w.Pause = letterPause
			}
			writes = append(writes, w)
		}
	}
	return writes
}

// frameText returns the bytes of a frame.
func frameText(f protocol.SpokenFrame, form Form, lines bool, number int) []byte {
	data := f.Data
	if form.Noise && bytes.HasSuffix(data, []byte("}")) {
		data = append(bytes.Clone(data[:len(data)-1]), `,"torture_field":{"a":[1,null]}}`...)
	}
	switch {
	case lines:
		return append(bytes.Clone(data), '\n')
	case f.Data == nil:
		return []byte(": ping\n\n")
	}
	var b bytes.Buffer
	if form.Noise {
		fmt.Fprintf(&b, ": a comment\n\nid: %d\nretry: 3000\n", number)
	}
	if f.Event != "" {
		fmt.Fprintf(&b, "event: %s\n", f.Event)
	}
	fmt.Fprintf(&b, "data: %s\n\n", data)
	return b.Bytes()
}

// FindTools returns the declared tools that match the names note and tick, keyed by these names. If either is
// missing, the result is nil. A tool matches a name if it has that name. It also matches if its namespace and name,
// joined, end with the name and contain the word torture.
func FindTools(declared []protocol.Tool) map[string]protocol.Tool {
	found := map[string]protocol.Tool{}
	for _, name := range []string{"note", "tick"} {
		for _, t := range declared {
			full := []byte(t.Namespace + " " + t.Name)
			if t.Name == name || bytes.HasSuffix(full, []byte(name)) && bytes.Contains(full, []byte("torture")) {
				found[name] = t
			}
		}
	}
	if len(found) < 2 {
		return nil
	}
	return found
}

// ReadHistory returns the calls in a history with their results, and any results without a call. A result without an
// id belongs to the first call with its name that has no result yet.
func ReadHistory(messages []protocol.Message) (sent []SentBack) {
	for _, m := range messages {
		for _, p := range m.Parts {
			switch p.Kind {
			case protocol.CallPart:
				sent = append(sent, SentBack{ID: p.ID, Name: p.Name, Args: string(p.Args)})
			case protocol.ResultPart:
				at := slices.IndexFunc(sent, func(s SentBack) bool {
					if p.ID != "" {
						return s.ID == p.ID
					}
					return len(s.Results) == 0 && (p.Name == "" || s.Name == p.Name)
				})
				if at < 0 {
					at = len(sent)
					sent = append(sent, SentBack{ID: p.ID, Name: p.Name, Lone: true})
				}
				sent[at].Results = append(sent[at].Results, Result{string(p.Text), p.Failed})
			}
		}
	}
	return sent
}

// NextAnswer returns the kind of response that the next request gets. The parameters messages and first are the
// numbers of messages in that request and in the first request.
func (s *Scene) NextAnswer(f *Facts, history []SentBack, messages, first int) AnswerKind {
	asked := len(f.Requests)
	goods := 0
	for _, q := range f.Requests {
		if q.Answer == Good {
			goods++
		}
	}
	again := len(history) == 0 && messages <= first
	switch {
	case asked == 0, s.Repeats && asked < maxRepeats+2, s.Status != 0 && asked == 1:
		return Hard
	case s.Retried && again && goods < 2:
		return Good
	}
	return Final
}

// SideText returns the text of the response to a request without the tools. If such a request asks for JSON with a
// schema, the text is an object with the schema's fields.
func SideText(request []byte) string {
	body := json.Value(request)
	for _, path := range [][]string{
		{"output_config", "format", "schema"}, {"output_format", "schema"}, {"text", "format", "schema"},
		{"response_format", "json_schema", "schema"}, {"generationConfig", "responseJsonSchema"},
		{"generationConfig", "responseSchema"}, {"format"},
	} {
		schema := body
		for _, key := range path {
			schema = schema.Get(key)
		}
		if schema.Kind() == '{' {
			var w json.Writer
			writeExample(&w, schema)
			return string(w.Text)
		}
	}
	return FinalText
}

// writeExample writes a small value that fits a schema.
func writeExample(w *json.Writer, schema json.Value) {
	for first := range schema.Get("enum").Elements() {
		w.Raw(first)
		return
	}
	switch kind := schema.Get("type").Text(); {
	case kind == "object", kind == "OBJECT", schema.Get("properties").Kind() == '{':
		w.Open('{')
		s := schema.Get("properties").Scan()
		for ok := s.Object(); ok; ok = s.Member() {
			w.Key(string(s.Key()))
			writeExample(w, s.Value())
		}
		w.Close('}')
	case kind == "array", kind == "ARRAY":
		w.Open('[').Close(']')
	case kind == "integer", kind == "number", kind == "INTEGER", kind == "NUMBER":
		w.Int(1)
	case kind == "boolean", kind == "BOOLEAN":
		w.Raw([]byte("false"))
	default:
		w.String(FinalText)
	}
}
