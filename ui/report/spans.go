package report

import (
	"encoding/hex"
	stdjson "encoding/json"
	"strconv"
	"strings"
	"time"

	"toolscope/stream"
	"toolscope/stream/json"
)

// otlpTraces is the root of OTLP/JSON. This type and the types below are the part that toolscope writes:
// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
type otlpTraces struct {
	Resources []otlpResource `json:"resourceSpans"`
}

type otlpResource struct {
	Resource struct {
		Attributes []otlpAttribute `json:"attributes"`
	} `json:"resource"`
	Scopes []otlpScope `json:"scopeSpans"`
}

type otlpScope struct {
	Scope struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"scope"`
	Spans []otlpSpan `json:"spans"`
}

type otlpSpan struct {
	Trace      string          `json:"traceId"`
	ID         string          `json:"spanId"`
	Parent     string          `json:"parentSpanId,omitempty"`
	State      string          `json:"traceState,omitempty"`
	Flags      uint32          `json:"flags,omitempty"`
	Name       string          `json:"name"`
	Kind       int             `json:"kind"` // 1 means an internal span, 3 a client span
	Start      string          `json:"startTimeUnixNano"`
	End        string          `json:"endTimeUnixNano"`
	Attributes []otlpAttribute `json:"attributes"`
	Events     []otlpEvent     `json:"events,omitempty"`
	Status     otlpStatus      `json:"status"`
}

type otlpStatus struct {
	Code    int    `json:"code,omitempty"` // 2 means error
	Message string `json:"message,omitempty"`
}

type otlpEvent struct {
	Time       string          `json:"timeUnixNano"`
	Name       string          `json:"name"`
	Attributes []otlpAttribute `json:"attributes"`
}

type otlpAttribute struct {
	Key   string    `json:"key"`
	Value otlpValue `json:"value"`
}

type otlpValue struct {
	Text *string  `json:"stringValue,omitempty"`
	Int  *string  `json:"intValue,omitempty"`
	Bool *bool    `json:"boolValue,omitempty"`
	List *otlpAll `json:"arrayValue,omitempty"`
}

type otlpAll struct {
	Values []otlpValue `json:"values"`
}

// OTLP returns spans as OTLP/JSON. The parameter version is toolscope's version. An unknown time becomes 0.
func OTLP(version string, spans []Span) []byte {
	all := otlpTraces{[]otlpResource{}}
	for _, group := range ByMachine(spans) {
		var r otlpResource
		r.Resource.Attributes = otlpAttributes(Resource(group[0].Machine, version))
		var scope otlpScope
		scope.Scope.Name, scope.Scope.Version = "toolscope", version
		for i := range group {
			scope.Spans = append(scope.Spans, otlpOf(&group[i]))
		}
		r.Scopes = []otlpScope{scope}
		all.Resources = append(all.Resources, r)
	}
	return encodeJSON(all)
}

func otlpOf(s *Span) otlpSpan {
	out := otlpSpan{
		Trace: hex.EncodeToString(s.Trace[:]), ID: hex.EncodeToString(s.ID[:]), State: s.State, Flags: s.Flags, Name: s.Name, Kind: 1,
		Start: unixNanos(s.Began), End: unixNanos(s.Ended), Attributes: otlpAttributes(s.Attributes),
	}
	if s.Parent != [8]byte{} {
		out.Parent = hex.EncodeToString(s.Parent[:])
	}
	if s.Client {
		out.Kind = 3
	}
	if s.Failed {
		out.Status = otlpStatus{2, s.Failure}
	}
	for _, e := range s.Events {
		out.Events = append(out.Events, otlpEvent{unixNanos(e.At), e.Name, otlpAttributes(e.Attributes)})
	}
	return out
}

// unixNanos formats a time for OTLP/JSON. An unknown time becomes 0.
func unixNanos(at time.Time) string {
	if at.IsZero() {
		return "0"
	}
	return strconv.FormatInt(at.UnixNano(), 10)
}

func otlpAttributes(of []Attribute) []otlpAttribute {
	all := []otlpAttribute{}
	for _, a := range of {
		var v otlpValue
		switch value := a.Value.(type) {
		case string:
			v.Text = &value
		case int64:
			text := strconv.FormatInt(value, 10)
			v.Int = &text
		case bool:
			v.Bool = &value
		case []string:
			v.List = &otlpAll{[]otlpValue{}}
			for _, text := range value {
				v.List.Values = append(v.List.Values, otlpValue{Text: &text})
			}
		}
		all = append(all, otlpAttribute{a.Key, v})
	}
	return all
}

// A Span is a turn, or a call in a turn, in a trace.
type Span struct {
	Trace      [16]byte
	ID, Parent [8]byte // Parent is zero for a root span
	State      string  // W3C tracestate
	Flags      uint32  // OTLP flags; 0 if unknown
	Name       string
	Client     bool      // the span is a request to a provider; otherwise it is part of a request
	Began      time.Time // zero if unknown
	Ended      time.Time
	Attributes []Attribute
	Events     []SpanEvent
	Failed     bool
	Failure    string         // reason, if Failed
	Machine    stream.Machine // machine that captured the span
}

// An Attribute is a name and a value. The value is a string, an int64, a bool or a []string.
type Attribute struct {
	Key   string
	Value any
}

// A SpanEvent is an event in a span.
type SpanEvent struct {
	At         time.Time
	Name       string
	Attributes []Attribute
}

// Resource returns the attributes that all spans of a machine share. The parameter version is toolscope's
// version.
func Resource(of stream.Machine, version string) []Attribute {
	var a attributes
	a.addText(semService, "toolscope")
	a.addText(semVersion, version)
	a.addText(semMachine, of.Host)
	a.addText(ownAgent, of.Agent)
	return a
}

// ByMachine groups spans by machine.
func ByMachine(spans []Span) (groups [][]Span) {
	at := map[stream.Machine]int{}
	for _, s := range spans {
		i, ok := at[s.Machine]
		if !ok {
			i = len(groups)
			at[s.Machine] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], s)
	}
	return groups
}

// attributes collects the attributes of a span. Its methods leave out unknown values.
type attributes []Attribute

func (a *attributes) addText(key, value string) {
	if value != "" {
		*a = append(*a, Attribute{key, value})
	}
}

func (a *attributes) addNumber(key string, n int64) { *a = append(*a, Attribute{key, n}) }

func (a *attributes) addFlag(key string, is bool) {
	if is {
		*a = append(*a, Attribute{key, true})
	}
}

func (a *attributes) addCount(key string, c stream.Count) {
	if c.Reported {
		a.addNumber(key, c.N)
	}
}

func (a *attributes) addList(key, value string) {
	if value != "" {
		*a = append(*a, Attribute{key, []string{value}})
	}
}

// Semconv is the commit of the OpenTelemetry conventions for generative AI that the spans follow. The conventions
// are in development and have no version yet, so each span names this commit.
const Semconv = "open-telemetry/semantic-conventions-genai@9430220eb6f3f8a0e41d2e0e548aeb5cb9ca5f14"

// These constants are attribute names in the conventions, from docs/gen-ai/gen-ai-spans.md in that
// repository. They are followed by the stable OpenTelemetry attributes to which that file refers.
const (
	semOperation    = "gen_ai.operation.name"
	semProvider     = "gen_ai.provider.name"
	semConversation = "gen_ai.conversation.id"
	semAgent        = "gen_ai.agent.name"
	semAsked        = "gen_ai.request.model"
	semStream       = "gen_ai.request.stream"
	semModel        = "gen_ai.response.model"
	semResponse     = "gen_ai.response.id"
	semFinish       = "gen_ai.response.finish_reasons"
	semInput        = "gen_ai.usage.input_tokens" // including cached tokens
	semOutput       = "gen_ai.usage.output_tokens"
	semReasoning    = "gen_ai.usage.reasoning.output_tokens"
	semCacheRead    = "gen_ai.usage.cache_read.input_tokens"
	semCacheWrite   = "gen_ai.usage.cache_creation.input_tokens"
	semMessages     = "gen_ai.output.messages"
	semTool         = "gen_ai.tool.name"
	semToolKind     = "gen_ai.tool.type"
	semToolCall     = "gen_ai.tool.call.id"
	semArguments    = "gen_ai.tool.call.arguments"
	semResult       = "gen_ai.tool.call.result"

	semError   = "error.type"
	semServer  = "server.address"
	semPort    = "server.port"
	semStatus  = "http.response.status_code"
	semService = "service.name"
	semVersion = "service.version"
	semMachine = "host.name"
)

// These constants are toolscope's own attribute names.
const (
	ownSemconv  = "toolscope.semconv"
	ownProtocol = "toolscope.protocol"
	ownAgent    = "toolscope.agent"      // the watched program's name, from --agent
	ownParty    = "toolscope.turn.agent" // agent of the session that sent the request: "main" or an id
	ownPhase    = "toolscope.turn.phase"
	ownEndedBy  = "toolscope.turn.ended_by"
	ownMissed   = "toolscope.turn.missed.bytes"
	ownCalls    = "toolscope.turn.calls"
	ownClock    = "toolscope.clock" // explains times that are not the times of the exchange
	ownCut      = "toolscope.cut"   // some texts in the span were too long and were cut

	ownCallStatus = "toolscope.call.status"
	ownCallPhase  = "toolscope.call.phase"
	ownSyntax     = "toolscope.call.syntax"
	ownArgsBytes  = "toolscope.call.args.bytes"
	ownArgsHMAC   = "toolscope.call.args.hmac"
	ownDeltas     = "toolscope.call.deltas"
	ownServer     = "toolscope.call.server" // the provider runs the tool
	ownAttempt    = "toolscope.call.attempt"
	ownResult     = "toolscope.call.result"        // outcome of the tool's result in a later request: ok or failed
	ownOddName    = "toolscope.call.name_left_out" // the tool's name is missing, because it is not a plain name

	ownFinding  = "toolscope.finding"
	ownCode     = "toolscope.finding.code"
	ownSeverity = "toolscope.finding.severity"
	ownBy       = "toolscope.finding.by"
	ownOffset   = "toolscope.finding.offset"
	ownMeans    = "toolscope.finding.means"
	ownMessage  = "toolscope.finding.message"
)

// operations maps protocols to the operation names of the conventions. All other protocols have the operation chat.
var operations = map[string]string{"gemini": "generate_content", "aistudio": "generate_content"}

// maxTextBytes is the approximate limit for all texts in a span together. Collectors accept requests of about
// 20 MB.
const maxTextBytes = 4 << 20

// spanTexts prepares the texts for one span. It removes secrets and shortens texts that are too long.
type spanTexts struct {
	tr   *Tracer
	room int  // number of bytes of content that still fit
	cut  bool // a text was cut
}

// limitContent returns a text from a model or tool without secrets, cut to the remaining room. It subtracts the
// length from the room. It returns "" if spans have no content.
func (s *spanTexts) limitContent(text string) string {
	if !s.tr.Content {
		return ""
	}
	if s.tr.Clean != nil {
		text = s.tr.Clean(text)
	}
	if len(text) > s.room {
		text, s.cut = strings.ToValidUTF8(text[:s.room], ""), true
	}
	s.room -= len(text)
	return text
}

// maxNameBytes is the maximum length of a name.
const maxNameBytes = 128

// limitName returns a name from outside, without secrets. A name that is long or contains unusual characters
// may be any text, so limitName treats it as content.
func (s *spanTexts) limitName(name string) string {
	if s.tr.Clean != nil {
		name = s.tr.Clean(name)
	}
	if len(name) <= maxNameBytes && !strings.ContainsFunc(name, isOdd) {
		return name
	}
	name = s.limitContent(name)
	return strings.ToValidUTF8(name[:min(len(name), maxNameBytes)], "")
}

// maxWordBytes is the maximum length that limitWord returns.
const maxWordBytes = 256

// limitWord shortens a word that a provider or a client chose, e.g. a model or an id. The word is not
// content, but it can be very long.
func (s *spanTexts) limitWord(word string) string {
	if len(word) <= maxWordBytes {
		return word
	}
	s.cut = true
	return strings.ToValidUTF8(word[:maxWordBytes], "")
}

// isOdd reports whether c is not allowed in a plain name.
func isOdd(c rune) bool {
	return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && !strings.ContainsRune("_.:/-", c)
}

// findingEvents returns findings as events for a span. Their messages may quote model output, so the messages
// are content.
func (s *spanTexts) findingEvents(of *TracedTurn, list []stream.Finding, in *Span) (all []SpanEvent) {
	for _, f := range list {
		var a attributes
		a.addText(ownCode, f.Code)
		a.addText(ownSeverity, f.Severity.String())
		a.addText(ownBy, f.By.String())
		if f.Offset != stream.NoOffset {
			a.addNumber(ownOffset, int64(f.Offset))
		}
		s.addDetail(&a, f.Detail)
		a.addText(ownMeans, f.Meaning)
		a.addText(ownMessage, s.limitContent(f.Message))
		at := of.clockTime(of.EventAt(f.Event))
		if at.IsZero() {
			at = in.Ended
		}
		all = append(all, SpanEvent{at, ownFinding, a})
	}
	return all
}

// addDetail adds the details of a finding. For a request that breaks a rule, it adds the rule and the place.
// For any other detail, it adds the numbers.
func (s *spanTexts) addDetail(a *attributes, d *stream.Detail) {
	if d == nil {
		return
	}
	for _, f := range d.Fields {
		switch v := f.Value.(type) {
		case string:
			if d.Name == "illegal" && f.Key != "id" {
				a.addText(ownFinding+"."+f.Key, s.limitWord(v))
			}
		case int:
			if d.Name != "illegal" {
				a.addNumber("toolscope."+d.Name+"."+f.Key, int64(v))
			}
		}
	}
}

// outputMessage returns the response in the conventions' JSON format, or "" if spans have no content or the response
// is empty. Arguments that are not a JSON object become a string, as received.
func (s *spanTexts) outputMessage(t *stream.Turn) string {
	if !s.tr.Content {
		return ""
	}
	type part struct {
		Type      string `json:"type"`
		Content   string `json:"content,omitempty"`
		ID        string `json:"id,omitempty"`
		Name      string `json:"name,omitempty"`
		Arguments any    `json:"arguments,omitempty"`
	}
	parts := []part{}
	if len(t.Thinking) > 0 {
		parts = append(parts, part{Type: "reasoning", Content: s.limitContent(string(t.Thinking))})
	}
	if len(t.Text) > 0 {
		parts = append(parts, part{Type: "text", Content: s.limitContent(string(t.Text))})
	}
	for _, c := range t.Calls {
		args := s.limitContent(string(c.Args()))
		p := part{Type: "tool_call", ID: s.limitWord(c.ID), Name: s.limitName(c.Name), Arguments: args}
		if c.Syntax() == json.SyntaxObject && json.Valid([]byte(args)) {
			p.Arguments = stdjson.RawMessage(args)
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return ""
	}
	text, err := stdjson.Marshal([]map[string]any{{"role": "assistant", "parts": parts, "finish_reason": s.limitWord(t.Finish)}})
	if err != nil {
		return ""
	}
	return string(text)
}
