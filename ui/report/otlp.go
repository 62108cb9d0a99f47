package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"toolscope/stream"
)

// A Span is a turn, as a trace has it.
type Span struct {
	File    string
	Turn    *stream.Turn
	Host    string                             // that was asked, "" where it is not known
	Status  int                                // of HTTP, 0 where it is not known
	Clock   func(time.Duration) time.Time      // zero where nobody knows what the clock said
	Brought func(*stream.Return) time.Duration // when a request brought a result, or negative
}

// The part of OTLP/JSON that is written: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
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
	Name       string          `json:"name"`
	Kind       int             `json:"kind"` // 1 internal, 3 client
	Start      string          `json:"startTimeUnixNano"`
	End        string          `json:"endTimeUnixNano"`
	Attributes []otlpAttribute `json:"attributes"`
	Events     []otlpEvent     `json:"events,omitempty"`
	Status     otlpStatus      `json:"status"`
}

type otlpStatus struct {
	Code    int    `json:"code,omitempty"` // 2 is an error
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

// attributes are those of a span; what is not known is left out.
type attributes []otlpAttribute

func (a *attributes) text(key, value string) {
	if value != "" {
		*a = append(*a, otlpAttribute{key, otlpValue{Text: &value}})
	}
}

func (a *attributes) int(key string, n int64) {
	text := strconv.FormatInt(n, 10)
	*a = append(*a, otlpAttribute{key, otlpValue{Int: &text}})
}

func (a *attributes) count(key string, c stream.Count) {
	if c.Told {
		a.int(key, c.N)
	}
}

func (a *attributes) list(key, value string) {
	if value != "" {
		*a = append(*a, otlpAttribute{key, otlpValue{List: &otlpAll{[]otlpValue{{Text: &value}}}}})
	}
}

// sellers are how the conventions call who speaks a protocol.
var sellers = map[string]string{
	"anthropic": "anthropic", "openai-chat": "openai", "openai-responses": "openai", "gemini": "gcp.gemini", "gemini-interactions": "gcp.gemini",
	"aistudio": "gcp.gemini", "bedrock": "aws.bedrock", "cohere": "cohere", "ollama": "ollama",
}

// OTLP is turns as a trace in OTLP/JSON, by the conventions for generative AI: a span a turn, and
// below it one a call whose result a request brought, from its seal to then. All turns of a file are
// one trace. Times are 0 where nobody knows them.
func OTLP(version string, turns []Span) []byte {
	var r otlpResource
	r.Resource.Attributes = attributes{}
	(*attributes)(&r.Resource.Attributes).text("service.name", "toolscope")
	var scope otlpScope
	scope.Scope.Name, scope.Scope.Version = "toolscope", version
	scope.Spans = []otlpSpan{}
	for i := range turns {
		scope.Spans = append(scope.Spans, turns[i].spans()...)
	}
	r.Scopes = []otlpScope{scope}
	return encoded(otlpTraces{[]otlpResource{r}})
}

// number is an id of so many bytes that is the same each time.
func number(size int, of ...any) string {
	sum := sha256.Sum256([]byte(fmt.Sprintln(of...)))
	return hex.EncodeToString(sum[:size])
}

// nanos is a time as OTLP writes it, 0 where it is not known.
func (s *Span) nanos(at time.Duration) string {
	if at < 0 {
		return "0"
	}
	clock := s.Clock(at)
	if clock.IsZero() {
		return "0"
	}
	return strconv.FormatInt(clock.UnixNano(), 10)
}

func (s *Span) spans() []otlpSpan {
	t := s.Turn
	var a attributes
	a.text("gen_ai.operation.name", "chat")
	a.text("gen_ai.provider.name", sellers[t.Dialect])
	a.text("gen_ai.response.model", t.Model)
	a.text("gen_ai.response.id", t.ID)
	a.list("gen_ai.response.finish_reasons", t.Finish)
	a.count("gen_ai.usage.input_tokens", t.Usage.Input)
	a.count("gen_ai.usage.output_tokens", t.Usage.Output)
	a.count("gen_ai.usage.cache_read.input_tokens", t.Usage.CacheRead)
	a.count("gen_ai.usage.cache_creation.input_tokens", t.Usage.CacheWrite)
	a.text("server.address", s.Host)
	if s.Status != 0 {
		a.int("http.response.status_code", int64(s.Status))
	}
	if t.Ask != nil {
		a.text("gen_ai.conversation.id", t.Ask.Session)
		a.text("gen_ai.agent.name", t.Ask.Agent)
	}
	a.text("gen_ai.output.messages", s.message())
	span := otlpSpan{
		Trace: number(16, s.File), ID: number(8, s.File, t.Number), Name: strings.TrimSpace("chat " + t.Model), Kind: 3,
		Start: s.nanos(t.OpenedAt), End: s.nanos(max(t.OpenedAt, t.ClosedAt)), Events: s.found(t.Findings),
	}
	if t.Phase() == stream.TurnAborted || t.Phase() == stream.TurnRejected {
		span.Status = otlpStatus{2, t.Failure}
		a.text("error.type", t.Phase().String())
	}
	span.Attributes = a
	all := []otlpSpan{span}
	for _, c := range t.Calls {
		all[0].Events = append(all[0].Events, s.found(c.Findings)...)
		if r := c.Given(); r != nil {
			all = append(all, s.executed(&span, c, r))
		}
	}
	return all
}

// executed is a call whose result a request brought.
func (s *Span) executed(in *otlpSpan, c *stream.Call, r *stream.Return) otlpSpan {
	var a attributes
	a.text("gen_ai.operation.name", "execute_tool")
	a.text("gen_ai.tool.name", c.Name)
	a.text("gen_ai.tool.call.id", c.ID)
	a.text("gen_ai.tool.type", c.Kind)
	a.text("gen_ai.tool.call.arguments", string(c.Args()))
	a.text("gen_ai.tool.call.result", r.Gave.Text)
	span := otlpSpan{
		Trace: in.Trace, Parent: in.ID, ID: number(8, s.File, s.Turn.Number, c.Number), Name: strings.TrimSpace("execute_tool " + c.Name), Kind: 1,
		Start: s.nanos(c.SealedAt), End: s.nanos(max(c.SealedAt, s.Brought(r))),
	}
	if r.Result == stream.AnswerFailed {
		span.Status = otlpStatus{Code: 2}
		a.text("error.type", "tool_error")
	}
	span.Attributes = a
	return span
}

// found are findings as events of a span.
func (s *Span) found(list []stream.Finding) (all []otlpEvent) {
	for _, f := range list {
		var a attributes
		a.text("code", f.Code)
		a.text("severity", f.Severity.String())
		a.text("by", f.By.String())
		a.text("message", f.Message)
		all = append(all, otlpEvent{s.nanos(s.Turn.ClosedAt), "toolscope.finding", a})
	}
	return all
}

// message is what the model said, as the conventions write it: arguments that are no JSON object are
// the text that came.
func (s *Span) message() string {
	type part struct {
		Type      string `json:"type"`
		Content   string `json:"content,omitempty"`
		ID        string `json:"id,omitempty"`
		Name      string `json:"name,omitempty"`
		Arguments any    `json:"arguments,omitempty"`
	}
	parts := []part{}
	t := s.Turn
	if len(t.Thinking) > 0 {
		parts = append(parts, part{Type: "reasoning", Content: string(t.Thinking)})
	}
	if len(t.Text) > 0 {
		parts = append(parts, part{Type: "text", Content: string(t.Text)})
	}
	for _, c := range t.Calls {
		p := part{Type: "tool_call", ID: c.ID, Name: c.Name, Arguments: string(c.Args())}
		if c.Syntax() == stream.SyntaxObject {
			p.Arguments = json.RawMessage(c.Args())
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return ""
	}
	text, err := json.Marshal([]map[string]any{{"role": "assistant", "parts": parts, "finish_reason": t.Finish}})
	if err != nil {
		return ""
	}
	return string(text)
}
