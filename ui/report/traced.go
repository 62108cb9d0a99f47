package report

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"toolscope/stream"
)

// Traced is a turn, and what its trace needs to know beside it.
type Traced struct {
	Turn    *stream.Turn
	Machine stream.Machine // that it was seen on
	File    string         // it comes from
	URL     string         // that was asked
	Status  int            // of HTTP, 0 where it is not known
	Asked   string         // the model that the request names
	Parent  string         // traceparent of the request
	At      time.Duration  // when the request began, or NoTime
	Nth     int            // of its exchange

	Clock func(time.Duration) time.Time // zero where nobody knows what the clock said
	When  func(event int) time.Duration // that an event came, or NoTime
}

// A Tracer makes spans of turns, by the conventions for generative AI: one for a turn, and below it one
// for each call. Nobody told that a tool ran, so none says so.
type Tracer struct {
	Content bool                // what models and tools said goes along; otherwise nothing of it does
	Key     []byte              // of the hashes of arguments; nil for no hashes
	Clean   func(string) string // takes out secrets of what goes along; nil where there are none
	Now     func() time.Time    // stands for times that nobody knows; nil leaves them out
}

// Spans are a turn and its calls. Those of a turn are the same ones each time, whoever saw it and
// wherever it was read: they are named by when its request was sent, to where, and what answered.
func (tr *Tracer) Spans(of *Traced) []Span {
	t := of.Turn
	s := Span{Name: strings.TrimSpace("chat " + cmp.Or(of.Asked, t.Model)), Client: true, Machine: of.Machine}
	s.Trace, s.ID = of.names()
	if trace, parent, ok := traceParent(of.Parent); ok {
		s.Trace, s.Parent = trace, parent
	}
	a := of.attributes()
	s.Began, s.Ended = of.clock(begin(of)), of.clock(max(t.OpenedAt, t.ClosedAt))
	if s.Began.IsZero() && tr.Now != nil {
		s.Began = tr.Now()
		s.Ended = s.Began
		a.text(ownClock, "not known: this is when it was read")
	}
	if p := t.Phase(); (p == stream.TurnAborted || p == stream.TurnRejected) && t.EndedBy != stream.Client {
		s.Failed, s.Failure = true, tr.content(t.Failure)
		a.text(semError, of.fault())
	}
	a.text(semMessages, tr.message(t))
	s.Attributes, s.Events = a, tr.found(of, t.Findings, &s)
	all := []Span{s}
	for _, c := range t.Calls {
		all = append(all, tr.call(of, &s, c))
	}
	return all
}

// begin is when a turn began: with its request, as far as that was seen.
func begin(of *Traced) time.Duration {
	if of.At >= 0 {
		return of.At
	}
	return of.Turn.OpenedAt
}

// clock is what the clock said, zero where nobody knows.
func (of *Traced) clock(at time.Duration) (clock time.Time) {
	if at < 0 {
		return clock
	}
	return of.Clock(at)
}

// names are those of the turn's trace and span.
func (of *Traced) names() (trace [16]byte, id [8]byte) {
	t := of.Turn
	seed := fmt.Sprint("\x00", of.Machine, "\x00", of.File, "\x00", t.Number)
	if at := of.clock(begin(of)); !at.IsZero() {
		seed = strconv.FormatInt(at.UnixMicro(), 10)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%s\x00%s", seed, of.Nth, of.URL, t.ID))
	copy(trace[:], sum[:])
	copy(id[:], sum[16:])
	return trace, id
}

// traceParent reads a header of that name: https://www.w3.org/TR/trace-context/#traceparent-header
func traceParent(text string) (trace [16]byte, span [8]byte, ok bool) {
	part := strings.Split(strings.TrimSpace(text), "-")
	if len(part) < 4 || len(part[0]) != 2 || part[0] == "ff" || len(part[1]) != 32 || len(part[2]) != 16 {
		return trace, span, false
	}
	_, bad := hex.Decode(trace[:], []byte(part[1]))
	_, worse := hex.Decode(span[:], []byte(part[2]))
	return trace, span, bad == nil && worse == nil && trace != [16]byte{} && span != [8]byte{}
}

func (of *Traced) attributes() (a attributes) {
	t := of.Turn
	a.text(ownSemconv, semconv)
	a.text(semOperation, "chat")
	a.text(semProvider, of.seller())
	a.text(semAsked, of.Asked)
	a.text(semModel, t.Model)
	a.text(semResponse, t.ID)
	a.list(semFinish, t.Finish)
	a.count(semInput, t.Usage.Input)
	a.count(semOutput, t.Usage.Output)
	a.count(semReasoning, t.Usage.Reasoning)
	a.count(semCacheRead, t.Usage.CacheRead)
	a.count(semCacheWrite, t.Usage.CacheWrite)
	if u, err := url.Parse(of.URL); err == nil && u.Host != "" {
		a.text(semServer, u.Hostname())
		port, err := strconv.ParseInt(cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme]), 10, 64)
		if err == nil {
			a.number(semPort, port)
		}
	}
	if of.Status != 0 {
		a.number(semStatus, int64(of.Status))
	}
	if t.Ask != nil {
		a.text(semConversation, t.Ask.Session)
		a.text(semAgent, t.Ask.Agent)
	}
	a.text(ownProtocol, t.Dialect)
	a.text(ownPhase, t.Phase().String())
	a.text(ownEndedBy, t.EndedBy.String())
	a.number(ownCalls, int64(len(t.Calls)))
	if t.Missed > 0 {
		a.number(ownMissed, t.Missed)
	}
	return a
}

// seller is who answers, as the conventions call it: by its host, or by its protocol.
func (of *Traced) seller() string {
	if u, err := url.Parse(of.URL); err == nil {
		for _, s := range sellers {
			if strings.HasSuffix(u.Hostname(), s.host) {
				return s.name
			}
		}
	}
	return cmp.Or(flavours[of.Turn.Dialect], of.Turn.Dialect)
}

// fault is the class of what a turn failed with.
func (of *Traced) fault() string {
	if of.Status >= 400 {
		return strconv.Itoa(of.Status)
	}
	return of.Turn.Phase().String()
}

// call is the span of a call: from where it began until its arguments could not change any more.
func (tr *Tracer) call(of *Traced, in *Span, c *stream.Call) Span {
	sum := sha256.Sum256(fmt.Appendf(in.ID[:len(in.ID):len(in.ID)], "\x00%d", c.Number))
	s := Span{Trace: in.Trace, Parent: in.ID, Name: strings.TrimSpace("toolscope.tool_call " + c.Name), Machine: in.Machine}
	copy(s.ID[:], sum[:])
	s.Began, s.Ended = of.clock(c.OpenedAt), of.clock(max(c.OpenedAt, c.LastArgAt, c.SealedAt))
	if s.Began.IsZero() {
		s.Began, s.Ended = in.Began, in.Ended
	}
	var a attributes
	a.text(semTool, c.Name)
	a.text(semToolKind, c.Kind)
	a.text(semToolCall, c.ID)
	a.text(ownCallStatus, c.Status().String())
	a.text(ownCallPhase, c.Phase().String())
	a.text(ownSyntax, c.Syntax().String())
	a.number(ownArgsBytes, int64(c.Size()))
	a.number(ownDeltas, int64(c.Deltas()))
	a.yes(ownServer, c.Server)
	a.yes(ownAttempt, c.Attempt)
	if tr.Key != nil && c.Size() > 0 {
		sum := hmac.New(sha256.New, tr.Key)
		sum.Write(c.Args())
		a.text(ownArgsHMAC, hex.EncodeToString(sum.Sum(nil)))
	}
	a.text(semArguments, tr.content(string(c.Args())))
	if r := c.Given(); r != nil {
		a.text(ownResult, map[stream.Code]string{stream.AnswerOK: "ok", stream.AnswerFailed: "failed"}[r.Result])
		a.text(semResult, tr.content(r.Gave.Text))
	}
	for _, f := range c.Findings {
		if f.Severity == stream.Error {
			s.Failed = true
			a.text(semError, f.Code)
			break
		}
	}
	s.Attributes, s.Events = a, tr.found(of, c.Findings, &s)
	return s
}

// content is what was said, "" where that is to stay here.
func (tr *Tracer) content(text string) string {
	switch {
	case !tr.Content:
		return ""
	case tr.Clean != nil:
		return tr.Clean(text)
	}
	return text
}

// found are findings as events of a span. Their messages may hold what models said.
func (tr *Tracer) found(of *Traced, list []stream.Finding, in *Span) (all []SpanEvent) {
	for _, f := range list {
		var a attributes
		a.text(ownCode, f.Code)
		a.text(ownSeverity, f.Severity.String())
		a.text(ownBy, f.By.String())
		if f.Offset != stream.NoOffset {
			a.number(ownOffset, int64(f.Offset))
		}
		a.text(ownMeans, f.Means)
		a.text(ownMessage, tr.content(f.Message))
		at := of.clock(of.When(f.Event))
		if at.IsZero() {
			at = in.Ended
		}
		all = append(all, SpanEvent{at, ownFinding, a})
	}
	return all
}

// message is what the model said, as the conventions write it: arguments that are no JSON object are
// the text that came.
func (tr *Tracer) message(t *stream.Turn) string {
	if !tr.Content {
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
		parts = append(parts, part{Type: "reasoning", Content: tr.content(string(t.Thinking))})
	}
	if len(t.Text) > 0 {
		parts = append(parts, part{Type: "text", Content: tr.content(string(t.Text))})
	}
	for _, c := range t.Calls {
		args := tr.content(string(c.Args()))
		p := part{Type: "tool_call", ID: c.ID, Name: c.Name, Arguments: args}
		if c.Syntax() == stream.SyntaxObject && json.Valid([]byte(args)) {
			p.Arguments = json.RawMessage(args)
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
