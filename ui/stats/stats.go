// Package stats computes rates, latencies and costs of turns, and compares two sets of turns. The unit of
// comparison is the run. Findings come in clusters: a run that has a finding often has more of them. A test that
// counts turns would report differences where there are none.
//
//	View, Turn ─▶ ReadTurn ─▶ Set ─▶ Groups ─▶ tables, JSON lines
//	                           │         └───▶ Compare ─▶ Comparison
//	                           └───▶ Prometheus text
package stats

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/present"
	"toolscope/ui/report"
)

// A Key is a fact by which turns or calls are grouped.
type Key uint8

const (
	Model Key = iota
	Server
	Provider
	Client
	Day
	Tool

	numKeys = iota
)

// keyNames are the names of the keys in --by and in JSON lines.
var keyNames = [numKeys]string{"model", "server", "provider", "client", "day", "tool"}

// KeyNames returns the names of the keys.
func KeyNames() []string { return keyNames[:] }

func (k Key) String() string { return keyNames[k] }

// ParseKeys parses the names of keys, which are separated by commas. On failure, it returns the unknown name.
func ParseKeys(text string) (keys []Key, unknown string) {
	for name := range strings.SplitSeq(text, ",") {
		i := slices.Index(keyNames[:], strings.TrimSpace(name))
		if i < 0 {
			return nil, strings.TrimSpace(name)
		}
		if !slices.Contains(keys, Key(i)) {
			keys = append(keys, Key(i))
		}
	}
	return keys, ""
}

// A Turn has the facts about a turn that statistics need. It has no reference to the turn itself, which can be
// evicted.
type Turn struct {
	Values         [numKeys]string // values of the keys, "" if unknown; for the tool, see the calls
	RequestedModel string
	Run            string    // identifies the run; see localRun
	source         int       // source of the run, if its name is unique only there; else 0
	At             time.Time // time at which the request began; zero if unknown
	Background     bool      // the turn answers a background request
	Failed         bool      // the turn was aborted, rejected or refused, and not by the client
	Refused        bool      // the provider refused the request
	Stopped        bool      // the client ended the turn
	Phase          string
	Operation      string // operation name in OpenTelemetry's conventions
	ErrorType      string // error type in OpenTelemetry's conventions, "" if the turn has not failed
	FirstToken     time.Duration
	Duration       time.Duration
	Cost           price.Figure
	Usage          [numTokens]stream.Count
	Gaps           present.Gaps
	Calls          []Call
	Findings       []Finding // findings about the turn and its calls
}

// These constants are the kinds of tokens in Turn.Usage.
const (
	inputTokens = iota
	cacheReadTokens
	cacheWriteTokens
	outputTokens

	numTokens = iota
)

// localRun begins the name of a run that is unique only in its source.
const localRun = "\x00"

// tokenNames are the names of the kinds of tokens in JSON lines.
var tokenNames = [numTokens]string{"input", "cache_read", "cache_write", "output"}

// A Call has the facts about a call that statistics need.
type Call struct {
	Number int
	Tool   string
	State  stream.Status
	Bad    bool // the filter state:bad selects the call
	Result stream.Code
	Runs   []time.Duration // durations of its tool runs
}

// A Finding is a finding about a turn, or about the call with the given number.
type Finding struct {
	Call     int // 0 for the turn
	Code     string
	Severity stream.Severity
	By       stream.Party
}

// turnRef identifies a turn in a set.
type turnRef struct {
	source int
	number int32
}

// A Set is a set of turns from several sources.
type Set struct {
	sources int // number of sources so far
	first   int // number of turns before those of the latest source
	turns   []Turn
	index   map[turnRef]int
	period  bool // the set has only turns from a period
	untimed int  // with period: number of turns that are left out because their time is unknown
}

// SelectPeriod returns the turns that began in a period, from since up to but not including until. A zero time sets
// no limit. Without limits, it returns the set itself.
func (s *Set) SelectPeriod(since, until time.Time) *Set {
	if since.IsZero() && until.IsZero() {
		return s
	}
	of := &Set{sources: s.sources, period: true}
	for _, t := range s.turns {
		switch {
		case t.At.IsZero():
			of.untimed += count.If(!t.Background)
		case !t.At.Before(since) && (until.IsZero() || t.At.Before(until)):
			of.turns = append(of.turns, t)
		}
	}
	return of
}

// AddTurn adds a turn of the latest source.
func (s *Set) AddTurn(number int32, t Turn) {
	if s.index == nil {
		s.index = map[turnRef]int{}
	}
	s.index[turnRef{s.sources, number}] = len(s.turns)
	s.setSource(&t)
	s.turns = append(s.turns, t)
}

// setSource sets the source of a turn to the latest source, if the name of its run is unique only within a source.
func (s *Set) setSource(t *Turn) {
	if strings.HasPrefix(t.Run, localRun) {
		t.source = s.sources
	}
}

// StartSource begins a new source.
func (s *Set) StartSource() { s.sources, s.first = s.sources+1, len(s.turns) }

// SourceTurns returns the turns of the latest source.
func (s *Set) SourceTurns() []Turn { return s.turns[s.first:] }

// AddSourceTurns adds to the latest source turns that SourceTurns returned earlier. The set may keep the slice
// itself, so the caller must not use it again.
func (s *Set) AddSourceTurns(turns []Turn) {
	for i := range turns {
		s.setSource(&turns[i])
	}
	if len(s.turns) == 0 {
		s.turns = turns // not copied, because there may be many
	} else {
		s.turns = append(s.turns, turns...)
	}
}

// AddFindings adds findings about a call, or about a turn if the call's number is 0. The turn must be in the latest
// source; findings about other turns are ignored.
func (s *Set) AddFindings(of stream.Ref, list []stream.Finding) {
	if i, ok := s.index[turnRef{s.sources, of.Turn}]; ok {
		s.turns[i].addFindings(int(of.Call), list)
	}
}

// AddResult sets the outcome of a call's result, which a later request carried.
func (s *Set) AddResult(of stream.Ref, result stream.Code) {
	i, ok := s.index[turnRef{s.sources, of.Turn}]
	if !ok || result == 0 {
		return
	}
	for n := range s.turns[i].Calls {
		if c := &s.turns[i].Calls[n]; c.Number == int(of.Call) {
			c.Result = result
		}
	}
}

func (t *Turn) addFindings(call int, list []stream.Finding) {
	for i := range list {
		f := &list[i]
		t.Findings = append(t.Findings, Finding{call, f.Code, f.Severity, f.By})
	}
}

// ReadTurn returns the facts about a turn that has ended. It returns false if the turn is not the response of a
// model.
func ReadTurn(v *providers.View, prices *price.Table, t *stream.Turn) (of Turn, ok bool) {
	x := v.Exchange(t.Exchange)
	if present.IsPlain(t) || t.Protocol == "unknown" && t.Failure == "" && t.Request == nil || x != nil && x.Refused() != "" {
		return of, false
	}
	about := report.TracedTurn{Turn: t}
	of.RequestedModel, of.Phase = v.RequestedModel(t.Exchange), t.Phase().String()
	of.Values[Model] = t.Model
	if x != nil {
		about.URL, about.AnsweredHere = x.Head.URL, x.AnsweredHere
		if !about.AnsweredHere {
			about.Status = x.Head.Status
		}
		of.Values[Server], of.Values[Provider] = x.Host(), providers.NameProvider(x.Head.URL, t.Protocol)
	}
	verdict := present.VerdictOfTurn(x, t)
	of.Stopped = t.EndedBy == stream.Client
	of.Operation, of.Failed, of.Refused = about.OperationName(), about.HasFailed(), verdict.Refused || t.Phase() == stream.TurnRefused
	if of.Failed {
		of.ErrorType = about.ErrorType()
	}
	of.Run = localRun
	if r := t.Request; r != nil {
		of.Values[Client], of.Background = r.Client, r.Background
		if of.Run = hashRun(r.Session, r.Agent); r.GeneratedSession || r.Session == "" {
			of.Run = localRun + hashRun(r.Session, r.Agent, r.Conversation)
		}
	}
	if of.At = present.TurnClock(v, t); !of.At.IsZero() {
		of.Values[Day] = of.At.Format(time.DateOnly)
	}
	of.ForgetLatency()
	if l := v.Latency(t, nil); l.RequestSeen {
		if of.Duration = l.End; t.LastFrame > t.FirstFrame { // a response in one piece has no time of the first token
			of.FirstToken = l.FirstToken
		}
	}
	of.Cost = present.CostOf(prices, x, t)
	u := &t.Usage
	of.Usage = [numTokens]stream.Count{u.Input, u.CacheRead, u.CacheWrite, u.Output}
	for i := range of.Usage {
		if of.Usage[i].N < 0 { // not a valid number of tokens
			of.Usage[i] = stream.Count{}
		}
	}
	of.Gaps.AddTurn(x, t)
	of.addFindings(0, t.Findings)
	calls, _ := present.Calls(t)
	for _, c := range calls {
		of.addCall(v, c)
	}
	return of, true
}

// hashRun returns a name for a run that doesn't reveal its session or agent.
func hashRun(of ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", of))
	return hex.EncodeToString(sum[:12])
}

// ForgetLatency makes the times since the request unknown, for a source whose times are not those of the traffic.
func (of *Turn) ForgetLatency() { of.FirstToken, of.Duration = stream.NoTime, stream.NoTime }

func (of *Turn) addCall(v *providers.View, c *stream.Call) {
	add := Call{Number: c.Number, Tool: c.Name, State: c.Status(), Bad: present.VerdictOfCall(c).Harm.IsBad(),
		Result: providers.ToolOutcome(c.LatestResult())}
	for _, r := range v.ToolRuns(c) {
		if r.Took >= 0 {
			add.Runs = append(add.Runs, r.Took)
		}
	}
	of.Calls = append(of.Calls, add)
	of.addFindings(c.Number, present.OwnFindings(c))
}
