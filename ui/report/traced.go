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

// TracedTurn is a turn, and what its trace needs to know beside it.
type TracedTurn struct {
	Turn           *stream.Turn
	Machine        stream.Machine // that it was seen on
	File           string         // it comes from
	URL            string         // that was asked
	Status         int            // of HTTP that the provider answered with, 0 where it is not known
	AnsweredHere   bool           // toolscope answered in the provider's place
	RequestedModel string         // the model that the request names
	Streaming      bool           // it asks for an answer in pieces
	TraceParent    string         // traceparent of the request
	TraceState     string         // its tracestate
	RequestAt      time.Duration  // when the request began, or NoTime
	LastBytesAt    time.Duration  // when the latest bytes came of its exchange, or NoTime
	TurnOfExchange int            // of its exchange

	Clock   func(time.Duration) time.Time // zero where nobody knows what the clock said
	EventAt func(event int) time.Duration // that an event came, or NoTime
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
func (tr *Tracer) Spans(of *TracedTurn) []Span {
	t, said := of.Turn, &spanTexts{tr: tr, room: maxTextBytes}
	s := Span{Name: strings.TrimSpace(of.operationName() + " " + said.limitWord(cmp.Or(of.RequestedModel, t.Model))), Client: true, Machine: of.Machine}
	s.Trace, s.ID = of.spanIDs()
	of.setParent(&s)
	a := of.turnAttributes(said)
	if t.Request != nil {
		a.addText(ownParty, said.limitName(t.Request.Agent))
		a.addText(semAgent, said.limitName(t.Request.Title)) // a model may have given it
	}
	s.Began, s.Ended = of.clockTime(turnStart(of)), of.clockTime(turnEnd(of))
	if s.Ended.Before(s.Began) {
		s.Ended = s.Began // nothing came after the request
	}
	if s.Began.IsZero() && tr.Now != nil {
		s.Began = tr.Now()
		s.Ended = s.Began
		a.addText(ownClock, "not known: this is when it was read")
	}
	if of.hasFailed() {
		s.Failed, s.Failure = true, said.limitContent(t.Failure)
		a.addText(semError, of.errorType())
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

// turnStart is when a turn began: with its request, as far as that was seen.
func turnStart(of *TracedTurn) time.Duration {
	if of.RequestAt >= 0 {
		return of.RequestAt
	}
	return of.Turn.OpenedAt
}

// turnEnd is when a turn ended. Of one that was given up, as nothing more came of it, nobody knows when: then
// it is when the latest came.
func turnEnd(of *TracedTurn) time.Duration {
	if of.Turn.ClosedAt >= 0 {
		return max(of.Turn.OpenedAt, of.Turn.ClosedAt)
	}
	return max(of.Turn.OpenedAt, of.LastBytesAt)
}

// clockTime is what the clock said, zero where nobody knows.
func (of *TracedTurn) clockTime(at time.Duration) (clock time.Time) {
	if at < 0 {
		return clock
	}
	return of.Clock(at)
}

func (of *TracedTurn) turnAttributes(said *spanTexts) (a attributes) {
	t := of.Turn
	a.addText(ownSemconv, semconv)
	a.addText(semOperation, of.operationName())
	a.addText(semProvider, of.providerName())
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

// callSpan is the span of a call: from where it began until its arguments could not change any more.
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
