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

// Traced is a turn, and what its trace needs to know beside it.
type Traced struct {
	Turn    *stream.Turn
	Machine stream.Machine // that it was seen on
	File    string         // it comes from
	URL     string         // that was asked
	Status  int            // of HTTP that the provider answered with, 0 where it is not known
	Own     bool           // toolscope answered in the provider's place
	Asked   string         // the model that the request names
	Streams bool           // it asks for an answer in pieces
	Parent  string         // traceparent of the request
	State   string         // its tracestate
	At      time.Duration  // when the request began, or NoTime
	Latest  time.Duration  // when the latest bytes came of its exchange, or NoTime
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
	t, said := of.Turn, &texts{tr: tr, room: mostTexts}
	s := Span{Name: strings.TrimSpace(of.operation() + " " + said.word(cmp.Or(of.Asked, t.Model))), Client: true, Machine: of.Machine}
	s.Trace, s.ID = of.names()
	of.below(&s)
	a := of.attributes(said)
	if t.Request != nil {
		a.text(ownParty, said.name(t.Request.Agent))
		a.text(semAgent, said.name(t.Request.Title)) // a model may have given it
	}
	s.Began, s.Ended = of.clock(begin(of)), of.clock(end(of))
	if s.Ended.Before(s.Began) {
		s.Ended = s.Began // nothing came after the request
	}
	if s.Began.IsZero() && tr.Now != nil {
		s.Began = tr.Now()
		s.Ended = s.Began
		a.text(ownClock, "not known: this is when it was read")
	}
	if of.failed() {
		s.Failed, s.Failure = true, said.content(t.Failure)
		a.text(semError, of.fault())
	}
	a.text(semMessages, said.message(t))
	s.Events = said.found(of, t.Findings, &s)
	a.yes(ownCut, said.cut)
	s.Attributes = a
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

// end is when a turn ended. Of one that was given up, as nothing more came of it, nobody knows when: then
// it is when the latest came.
func end(of *Traced) time.Duration {
	if of.Turn.ClosedAt >= 0 {
		return max(of.Turn.OpenedAt, of.Turn.ClosedAt)
	}
	return max(of.Turn.OpenedAt, of.Latest)
}

// clock is what the clock said, zero where nobody knows.
func (of *Traced) clock(at time.Duration) (clock time.Time) {
	if at < 0 {
		return clock
	}
	return of.Clock(at)
}

func (of *Traced) attributes(said *texts) (a attributes) {
	t := of.Turn
	a.text(ownSemconv, semconv)
	a.text(semOperation, of.operation())
	a.text(semProvider, of.seller())
	a.text(semAsked, said.word(of.Asked))
	a.yes(semStream, of.Streams)
	a.text(semModel, said.word(t.Model))
	a.text(semResponse, said.word(t.ID))
	a.list(semFinish, said.word(t.Finish))
	a.count(semInput, t.Usage.Input)
	a.count(semOutput, t.Usage.Output)
	a.count(semReasoning, t.Usage.Reasoning)
	a.count(semCacheRead, t.Usage.CacheRead)
	a.count(semCacheWrite, t.Usage.CacheWrite)
	if u, err := url.Parse(of.URL); err == nil && u.Host != "" {
		a.text(semServer, said.word(u.Hostname()))
		port, err := strconv.ParseInt(cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme]), 10, 64)
		if err == nil {
			a.number(semPort, port)
		}
	}
	if of.Status != 0 {
		a.number(semStatus, int64(of.Status))
	}
	if t.Request != nil && !t.Request.GeneratedSession {
		a.text(semConversation, said.word(t.Request.Session))
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

// call is the span of a call: from where it began until its arguments could not change any more.
func (tr *Tracer) call(of *Traced, in *Span, c *stream.Call) Span {
	sum := sha256.Sum256(fmt.Appendf(in.ID[:len(in.ID):len(in.ID)], "\x00%d", c.Number))
	said := &texts{tr: tr, room: mostTexts}
	name := said.name(c.Name)
	s := Span{Trace: in.Trace, Parent: in.ID, Name: strings.TrimSpace("toolscope.tool_call " + name), Machine: in.Machine, State: in.State, Flags: in.Flags &^ isRemote}
	copy(s.ID[:], sum[:])
	s.Began, s.Ended = of.clock(c.OpenedAt), of.clock(max(c.OpenedAt, c.LastArgAt, c.SealedAt))
	if s.Began.IsZero() {
		s.Began, s.Ended = in.Began, in.Ended
	}
	var a attributes
	a.text(semTool, name)
	a.yes(ownOddName, name == "" && c.Name != "")
	a.text(semToolKind, said.word(c.Kind))
	a.text(semToolCall, said.name(c.ID))
	a.text(ownCallStatus, c.Status().String())
	a.text(ownCallPhase, c.Phase().String())
	a.text(ownSyntax, c.Syntax().String())
	a.number(ownArgsBytes, int64(c.ArgsLen()))
	a.number(ownDeltas, int64(c.Deltas()))
	a.yes(ownServer, c.RunByProvider)
	a.yes(ownAttempt, c.Discarded)
	if tr.Key != nil && c.ArgsLen() > 0 {
		sum := hmac.New(sha256.New, tr.Key)
		sum.Write(c.Args())
		a.text(ownArgsHMAC, hex.EncodeToString(sum.Sum(nil)))
	}
	a.text(semArguments, said.content(string(c.Args())))
	if r := c.LatestResult(); r != nil {
		a.text(ownResult, map[stream.Code]string{stream.ResultOK: "ok", stream.ResultFailed: "failed"}[r.ResultCode])
		a.text(semResult, said.content(r.Result.Text))
	}
	for _, f := range c.Findings {
		if f.Severity == stream.Error {
			s.Failed = true
			a.text(semError, f.Code)
			break
		}
	}
	s.Events = said.found(of, c.Findings, &s)
	a.yes(ownCut, said.cut)
	s.Attributes = a
	return s
}
