package report

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"toolscope/stream"
)

// TracedTurn is a turn with the facts that its spans need.
type TracedTurn struct {
	Turn           *stream.Turn
	Machine        stream.Machine // machine that captured the turn
	File           string         // name of the turn's file
	URL            string         // URL of the request
	Provider       string         // provider's name in the conventions; "" if they have no name for it
	Status         int            // HTTP status of the provider's response; 0 if unknown
	AnsweredHere   bool           // toolscope answered instead of the provider
	RequestedModel string         // model that the request names
	Streaming      bool           // the request asks for a stream
	TraceParent    string         // traceparent header of the request
	TraceState     string         // tracestate header of the request
	RequestAt      time.Duration  // start of the request, or NoTime
	LastBytesAt    time.Duration  // time of the last bytes of the exchange, or NoTime
	TurnOfExchange int            // index of the turn in its exchange

	Clock   func(time.Duration) time.Time // returns the wall-clock time, zero if unknown
	EventAt func(event int) time.Duration // returns the time of an event, or NoTime
}

// A Tracer makes spans from turns, as the OpenTelemetry conventions for generative AI define them. A turn
// becomes one span, and each of its calls becomes a child span. No span says that a tool ran, because that is
// unknown.
type Tracer struct {
	Content bool                // include the texts of models and tools
	Key     []byte              // key for the hashes of arguments; nil for no hashes
	Clean   func(string) string // removes secrets from texts; nil to keep them
	Now     func() time.Time    // returns a substitute for unknown times; nil to leave them zero
}

// Spans returns the spans of a turn and its calls. If the start of the turn is known, the ids depend only on that
// time, the URL, the response, and the turn's index in its exchange. So a turn has the same ids in every run, on
// every machine.
func (tr *Tracer) Spans(of *TracedTurn) []Span {
	t, said := of.Turn, &spanTexts{tr: tr, room: maxTextBytes}
	s := Span{Name: strings.TrimSpace(of.OperationName() + " " + said.limitWord(cmp.Or(of.RequestedModel, t.Model))), Client: true, Machine: of.Machine}
	s.Trace, s.ID = of.spanIDs()
	of.setParent(&s)
	a := of.turnAttributes(said)
	if t.Request != nil {
		a.addText(ownParty, said.limitName(t.Request.Agent))
		a.addText(semAgent, said.limitName(t.Request.Title)) // the title can be text from a model
	}
	s.Began, s.Ended = of.clockTime(turnStart(of)), of.clockTime(turnEnd(of))
	if s.Ended.Before(s.Began) {
		s.Ended = s.Began // nothing arrived after the request
	}
	if s.Began.IsZero() && tr.Now != nil {
		s.Began = tr.Now()
		s.Ended = s.Began
		a.addText(ownClock, "unknown: toolscope read the turn at these times")
	}
	if of.HasFailed() {
		s.Failed, s.Failure = true, said.limitContent(t.Failure)
		a.addText(semError, of.ErrorType())
	}
	a.addText(semMessages, said.outputMessage(t))
	s.Events = said.findingEvents(of, t.Findings, &s)
	a.addFlag(ownCut, said.cut)
	s.Attributes = a
	all := []Span{s}
	for _, c := range t.Calls {
		all = append(all, tr.callSpan(of, &s, c))
	}
	return all
}

// turnStart returns the start of a turn's request or, if that is unknown, the start of the turn.
func turnStart(of *TracedTurn) time.Duration {
	if of.RequestAt >= 0 {
		return of.RequestAt
	}
	return of.Turn.OpenedAt
}

// turnEnd returns the end of a turn. If the turn has no end, it returns the time of the exchange's last bytes.
func turnEnd(of *TracedTurn) time.Duration {
	if of.Turn.ClosedAt >= 0 {
		return max(of.Turn.OpenedAt, of.Turn.ClosedAt)
	}
	return max(of.Turn.OpenedAt, of.LastBytesAt)
}

// clockTime returns the wall-clock time, zero if unknown.
func (of *TracedTurn) clockTime(at time.Duration) (clock time.Time) {
	if at < 0 {
		return clock
	}
	return of.Clock(at)
}

func (of *TracedTurn) turnAttributes(said *spanTexts) (a attributes) {
	t := of.Turn
	a.addText(ownSemconv, Semconv)
	a.addText(semOperation, of.OperationName())
	a.addText(semProvider, of.Provider)
	a.addText(semAsked, said.limitWord(of.RequestedModel))
	a.addFlag(semStream, of.Streaming)
	a.addText(semModel, said.limitWord(t.Model))
	a.addText(semResponse, said.limitWord(t.ID))
	a.addList(semFinish, said.limitWord(t.Finish))
	a.addCount(semInput, t.Usage.Input)
	a.addCount(semOutput, t.Usage.Output)
	a.addCount(semReasoning, t.Usage.Reasoning)
	a.addCount(semCacheRead, t.Usage.CacheRead)
	a.addCount(semCacheWrite, t.Usage.CacheWrite)
	if u, err := url.Parse(of.URL); err == nil && u.Host != "" {
		a.addText(semServer, said.limitWord(u.Hostname()))
		port, err := strconv.ParseInt(cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme]), 10, 64)
		if err == nil {
			a.addNumber(semPort, port)
		}
	}
	if of.Status != 0 {
		a.addNumber(semStatus, int64(of.Status))
	}
	if t.Request != nil && !t.Request.GeneratedSession {
		a.addText(semConversation, said.limitWord(t.Request.Session))
	}
	a.addText(ownProtocol, t.Protocol)
	a.addText(ownPhase, t.Phase().String())
	a.addText(ownEndedBy, t.EndedBy.String())
	a.addNumber(ownCalls, int64(len(t.Calls)))
	if t.Missed > 0 {
		a.addNumber(ownMissed, t.Missed)
	}
	return a
}

// callSpan returns the span of a call. The span starts with the call and ends when its arguments are final or stop
// arriving.
func (tr *Tracer) callSpan(of *TracedTurn, in *Span, c *stream.Call) Span {
	sum := sha256.Sum256(fmt.Appendf(in.ID[:len(in.ID):len(in.ID)], "\x00%d", c.Number))
	said := &spanTexts{tr: tr, room: maxTextBytes}
	name := said.limitName(c.Name)
	s := Span{Trace: in.Trace, Parent: in.ID, Name: strings.TrimSpace("toolscope.tool_call " + name), Machine: in.Machine, State: in.State, Flags: in.Flags &^ isRemote}
	copy(s.ID[:], sum[:])
	s.Began, s.Ended = of.clockTime(c.OpenedAt), of.clockTime(max(c.OpenedAt, c.LastArgAt, c.SealedAt))
	if s.Began.IsZero() {
		s.Began, s.Ended = in.Began, in.Ended
	}
	var a attributes
	a.addText(semTool, name)
	a.addFlag(ownOddName, name == "" && c.Name != "")
	a.addText(semToolKind, said.limitWord(c.Kind))
	a.addText(semToolCall, said.limitName(c.ID))
	a.addText(ownCallStatus, c.Status().String())
	a.addText(ownCallPhase, c.Phase().String())
	a.addText(ownSyntax, c.Syntax().String())
	a.addNumber(ownArgsBytes, int64(c.ArgsLen()))
	a.addNumber(ownDeltas, int64(c.Deltas()))
	a.addFlag(ownServer, c.RunByProvider)
	a.addFlag(ownAttempt, c.Discarded)
	if tr.Key != nil && c.ArgsLen() > 0 {
		sum := hmac.New(sha256.New, tr.Key)
		sum.Write(c.Args())
		a.addText(ownArgsHMAC, hex.EncodeToString(sum.Sum(nil)))
	}
	a.addText(semArguments, said.limitContent(string(c.Args())))
	if r := c.LatestResult(); r != nil {
		a.addText(ownResult, map[stream.Code]string{stream.ResultOK: "ok", stream.ResultFailed: "failed"}[r.ResultCode])
		a.addText(semResult, said.limitContent(r.Result.Text))
	}
	for _, f := range c.Findings {
		if f.Severity == stream.Error {
			s.Failed = true
			a.addText(semError, f.Code)
			break
		}
	}
	s.Events = said.findingEvents(of, c.Findings, &s)
	a.addFlag(ownCut, said.cut)
	s.Attributes = a
	return s
}

// spanIDs returns the ids of the turn's trace and span. They come from a hash of the turn's start, its index in the
// exchange, the URL and the response's id or content. If the start is unknown, the hash uses the machine, the file and
// the number of the turn instead.
func (of *TracedTurn) spanIDs() (trace [16]byte, id [8]byte) {
	t := of.Turn
	seed := fmt.Sprint("\x00", of.Machine, "\x00", of.File, "\x00", t.Number)
	if at := of.clockTime(turnStart(of)); !at.IsZero() {
		seed = strconv.FormatInt(at.UnixMicro(), 10)
	}
	response := t.ID
	if response == "" {
		content := sha256.New()
		for _, text := range [][]byte{t.Text, t.Thinking, []byte(t.Failure)} {
			content.Write(text)
		}
		for _, c := range t.Calls {
			content.Write(c.Args())
		}
		response = string(content.Sum(nil))
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%s\x00%s", seed, of.TurnOfExchange, of.URL, response))
	copy(trace[:], sum[:])
	copy(id[:], sum[16:])
	return trace, id
}

// These constants are span flags in OTLP. isRemote means that the parent is remote. knowsRemote means that isRemote
// is valid.
const (
	knowsRemote = 0x100
	isRemote    = 0x200
)

// setParent makes the request's span the parent of a turn's span. If the trace is not sampled, the spans are created
// anyway. They have the trace's flags, so that the collector can decide whether to keep them.
func (of *TracedTurn) setParent(s *Span) {
	trace, parent, flags, ok := traceParent(of.TraceParent)
	if !ok {
		return
	}
	s.Trace, s.Parent, s.Flags = trace, parent, knowsRemote|isRemote|uint32(flags)
	if len(of.TraceState) <= maxStateLen && !strings.ContainsFunc(of.TraceState, func(c rune) bool { return c < ' ' || c > '~' }) {
		s.State = of.TraceState
	}
}

// maxStateLen is the maximum length of a tracestate: https://www.w3.org/TR/trace-context/#tracestate-limits
const maxStateLen = 512

// traceParent parses a traceparent header. The result ok is false if the header is invalid. Later versions of
// the header may append parts: https://www.w3.org/TR/trace-context/#traceparent-header
func traceParent(text string) (trace [16]byte, span [8]byte, flags byte, ok bool) {
	part := strings.Split(text, "-")
	if len(part) < 4 || part[0] == "00" && len(part) > 4 || part[0] == "ff" {
		return trace, span, 0, false
	}
	var version, bits [1]byte
	for i, to := range [][]byte{version[:], trace[:], span[:], bits[:]} {
		if len(part[i]) != 2*len(to) || part[i] != strings.ToLower(part[i]) {
			return trace, span, 0, false
		}
		if _, err := hex.Decode(to, []byte(part[i])); err != nil {
			return trace, span, 0, false
		}
	}
	return trace, span, bits[0], trace != [16]byte{} && span != [8]byte{}
}

// OperationName returns the name that the conventions give the requested operation.
func (of *TracedTurn) OperationName() string {
	if u, err := url.Parse(of.URL); err == nil {
		path := strings.TrimSuffix(u.Path, "/")
		if strings.HasSuffix(path, "/completions") && !strings.HasSuffix(path, "/chat/completions") || strings.HasSuffix(path, "/api/generate") {
			return "text_completion"
		}
	}
	return cmp.Or(operations[of.Turn.Protocol], "chat")
}

// HasFailed reports whether the turn was aborted, rejected or refused. It returns false if the client ended the
// turn or toolscope did not see its end, because a failure is then unknown.
func (of *TracedTurn) HasFailed() bool {
	t := of.Turn
	if p := t.Phase(); p != stream.TurnAborted && p != stream.TurnRejected && p != stream.TurnRefused {
		return false
	}
	return t.EndedBy != stream.Client && (t.EndedBy != stream.Toolscope || of.AnsweredHere)
}

// ErrorType returns the class of a turn's failure: the HTTP status if it is an error, else the phase.
func (of *TracedTurn) ErrorType() string {
	if of.Status >= 400 {
		return strconv.Itoa(of.Status)
	}
	return of.Turn.Phase().String()
}
