package torture

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"toolscope/providers/protocol"
	"toolscope/stream/count"
)

// Facts describes the behaviour of a client in one scene. Times are measured from the start of the scene.
type Facts struct {
	Protocol string // protocol of the requests; "" if there were none
	Seals    bool   // whether the protocol marks the end of each call
	Unfit    string // why the protocol can't express the scene; "" if it can
	Missing  string // why evidence is missing; "" if none is missing

	Requests []Request // requests with the tools, in order
	Side     int       // number of other requests
	Runs     []Run

	Exit   int
	Signal string        // signal that ended the client; "" for none
	Ended  bool          // whether toolscope ended the client because the client did nothing until the time limit
	Took   time.Duration // time until the client ended
}

// A Request is a request with the tools, together with the response that it got.
type Request struct {
	At       time.Duration
	Answer   AnswerKind
	Script   *protocol.Script
	Finished []time.Duration // when the end of each of the script's calls was sent; 0 for calls without an end
	EndedAt  time.Duration   // when the response ended; 0 if it didn't end
	History  []SentBack      // calls in the request's history
}

// SentBack is a call in the history of a request, with its results.
type SentBack struct {
	ID, Name, Args string
	Results        []Result
	Lone           bool // whether there is only a result, without the call
}

// A Result is a result in the history of a request.
type Result struct {
	Text   string
	Failed bool
}

// A Run is one execution of a tool.
type Run struct {
	Tool, Args string
	At         time.Duration
	Number     int // number of the run, which its result contains
}

// RunTimes returns the number of requests before a run, the time from the end of the run's call to the run, and the
// time from the run to the end of the response. The first time is -1 if the call didn't end before the run. The
// second time is negative if the response ended before the run or didn't end.
func (f *Facts) RunTimes(r *Run) (request int, afterSeal, beforeEnd time.Duration) {
	afterSeal, beforeEnd = -1, -1
	for i := range f.Requests {
		q := &f.Requests[i]
		if q.At > r.At {
			break
		}
		request++
		if q.Script == nil {
			continue
		}
		calls := scriptCalls(q.Script)
		for k, c := range calls {
			if at := q.Finished[k]; c.Sealed && at != 0 && at <= r.At && (len(calls) == 1 || sameArgs(c.Args, r.Args)) {
				afterSeal = r.At - at
			}
		}
		if len(calls) > 0 && q.EndedAt > 0 {
			beforeEnd = q.EndedAt - r.At
		}
	}
	return request, afterSeal, beforeEnd
}

// ResultText returns the result of the run with the given number.
func ResultText(number int) string { return fmt.Sprintf("noted %d", number) }

// A Verdict is the judgement of a client's behaviour in a scene.
type Verdict struct {
	Kind    VerdictKind
	Rule    string // the rule that decided, e.g. must_not:run_twice, or ""
	Words   string // description of the client's behaviour
	OffSpec bool   // whether the scene breaks the protocol's rules
}

// VerdictKind is the kind of a Verdict.
type VerdictKind uint8

const (
	Right VerdictKind = iota
	Wrong
	Unknown // evidence is missing
	Unfit   // the protocol can't express the scene
)

// String returns the verdict as a word.
func (k VerdictKind) String() string { return [...]string{"right", "wrong", "unknown", "unfit"}[k] }

// Judge judges a client's run of a scene.
func Judge(s *Scene, f *Facts) Verdict {
	j := judge{s, f}
	v := Verdict{OffSpec: s.IsOffSpec(f.Protocol)}
	switch {
	case f.Unfit != "":
		v.Kind, v.Words = Unfit, f.Unfit
	case f.Missing != "":
		v.Kind, v.Words = Unknown, f.Missing
	default:
		for _, rule := range []func() Verdict{j.checkRuns, j.checkHang, j.checkMissing, j.checkHistory, j.checkRequests} {
			if found := rule(); found.Kind != Right {
				found.OffSpec = v.OffSpec
				found.Words += j.endWords()
				return found
			}
		}
		v.Words = j.rightWords()
	}
	return v
}

type judge struct {
	*Scene
	*Facts
}

func newWrong(rule, format string, args ...any) Verdict {
	return Verdict{Kind: Wrong, Rule: rule, Words: fmt.Sprintf(format, args...)}
}

// finishedBefore reports whether a request before the run had a response with a finished call. If calls with the
// run's arguments exist but all of them ended after the run, early is true.
func (j judge) finishedBefore(r *Run) (finished, early bool) {
	for i := range j.Requests {
		q := &j.Requests[i]
		if q.At > r.At || q.Script == nil {
			continue
		}
		for k, c := range scriptCalls(q.Script) {
			if !c.Sealed {
				continue
			}
			finished = true
			if sameArgs(c.Args, r.Args) {
				if at := q.Finished[k]; at != 0 && at <= r.At {
					return true, false
				}
				early = true
			}
		}
	}
	return finished, early
}

// checkRuns checks which calls ran, and how often.
func (j judge) checkRuns() Verdict {
	for i := range j.Runs {
		r := &j.Runs[i]
		finished, early := j.finishedBefore(r)
		before := 0
		for _, other := range j.Runs[:i] {
			if other.Tool == r.Tool && sameArgs(other.Args, r.Args) {
				before++
			}
		}
		allowed := 0 // how often the tool may run with these arguments
		for _, c := range slices.Concat(j.Calls, j.May) {
			if c.Tool == r.Tool && sameArgs(c.Args, r.Args) {
				allowed++
			}
		}
		isCall := func(s protocol.Step) bool { return s.Kind == protocol.CallStep }
		switch {
		case !finished && len(j.Calls) == 0 && slices.ContainsFunc(j.Steps, isCall):
			return newWrong("must_not:run_unfinished", "RAN AN UNFINISHED CALL %s", r.callText())
		case allowed == 0 || !finished:
			return newWrong("must_not:run_other", "RAN %s, which the model didn't write", r.callText())
		case before >= allowed:
			return newWrong("must_not:run_twice", "RAN TWICE %s", r.callText())
		case early && j.Seals:
			return newWrong("must_not:run_early", "RAN %s before its end", r.callText())
		}
	}
	return Verdict{}
}

func (r *Run) callText() string { return r.Tool + " " + r.Args }

// checkHang checks that the client ended without being stopped by toolscope.
func (j judge) checkHang() Verdict {
	if !j.Ended {
		return Verdict{}
	}
	return newWrong("must_not:hang", "HUNG: the client did nothing more and didn't end")
}

// checkMissing checks that each call that must run has run.
func (j judge) checkMissing() Verdict {
	left := slices.Clone(j.Runs)
	for i, c := range j.Calls {
		at := slices.IndexFunc(left, func(r Run) bool { return r.Tool == c.Tool && sameArgs(r.Args, c.Args) })
		if at >= 0 {
			left = slices.Delete(left, at, at+1)
			continue
		}
		if j.MayRefuse && j.IsOffSpec(j.Protocol) && j.wasRefused(i) {
			continue
		}
		if len(j.Requests) == 1 && j.Status != 0 {
			return newWrong("must:retry", "GAVE UP after status %d", j.Status)
		}
		return newWrong("must:run", "NOT RUN %s %s", c.Tool, c.Args)
	}
	return Verdict{}
}

// wasRefused reports whether the client sent back exactly one result for a call that it didn't run. Such a result
// tells the model that the call was refused.
func (j judge) wasRefused(call int) bool {
	last := j.lastHistory()
	if last == nil {
		return false
	}
	sent := j.findSent(last, call)
	return sent != nil && len(sent.Results) == 1
}

// lastHistory returns the last request whose history contains calls, or nil. It ignores the first request.
func (j judge) lastHistory() *Request {
	for i := len(j.Requests) - 1; i > 0; i-- {
		if len(j.Requests[i].History) > 0 {
			return &j.Requests[i]
		}
	}
	return nil
}

// findSent returns one of the scene's calls in a history, or nil. It finds the call by its id, or by its position if
// the call at that position has no id.
func (j judge) findSent(q *Request, call int) *SentBack {
	script := j.hardScript(q)
	if script == nil {
		return nil
	}
	calls := scriptCalls(script)
	if call >= len(calls) {
		return nil
	}
	for i := range q.History {
		if q.History[i].ID == calls[call].ID {
			return &q.History[i]
		}
	}
	if call < len(q.History) && q.History[call].ID == "" {
		return &q.History[call]
	}
	return nil
}

// hardScript returns the script whose calls are expected in a request's history: the latest earlier script with
// calls, or nil.
func (j judge) hardScript(q *Request) (script *protocol.Script) {
	for i := range j.Requests {
		before := &j.Requests[i]
		if before == q {
			break
		}
		if before.Script != nil && len(scriptCalls(before.Script)) > 0 {
			script = before.Script
		}
	}
	return script
}

// checkHistory checks the calls and results that the client sent back.
func (j judge) checkHistory() Verdict {
	last := j.lastHistory()
	if last == nil {
		switch {
		case len(j.Calls) > 0:
			return Verdict{Kind: Unknown, Rule: "must:result", Words: "no later request shows the result"}
		case j.Name == "unknown-tool" && j.Exit == 0 && j.Signal == "":
			return Verdict{Kind: Unknown, Rule: "must:result", Words: "no later request shows what happened to the call"}
		}
		return Verdict{}
	}
	if v := j.checkRepaired(); v.Kind != Right {
		return v
	}
	if !j.WantError && len(j.Calls) == 0 {
		return Verdict{}
	}
	n := len(j.Calls)
	if n == 0 {
		n = 1
	}
	numbers := make([][]int, len(j.Calls)) // for each call that must run, the numbers of the runs that may belong to it
	for i, c := range j.Calls {
		for _, r := range j.Runs {
			if r.Tool == c.Tool && sameArgs(r.Args, c.Args) {
				numbers[i] = append(numbers[i], r.Number)
			}
		}
	}
	for i := range n {
		sent := j.findSent(last, i)
		switch {
		case sent == nil && len(j.Calls) == 0:
			return Verdict{} // the client left the response out
		case sent == nil:
			return newWrong("must:result", "LOST the call and its result in the history")
		case sent.Lone:
			return newWrong("must_not:lone_result", "SENT BACK a result without its call")
		case len(sent.Results) == 0:
			return newWrong("must:result", "SENT BACK the call without a result")
		case len(sent.Results) > 1:
			return newWrong("must_not:two_results", "SENT BACK %s for one call", count.Of(len(sent.Results), "result"))
		case i < len(j.Calls) && !sameArgs(sent.Args, j.Calls[i].Args):
			return newWrong("must:same_arguments", "SENT BACK other arguments: %s", sent.Args)
		case i < len(j.Calls) && !hasOwnResult(sent, numbers[i], len(j.Runs)):
			return newWrong("must_not:swap_results", "SENT BACK another call's result: %s", sent.Results[0].Text)
		}
	}
	return Verdict{}
}

// checkRepaired checks that, after a broken connection, the history contains no unfinished call with arguments that
// the model didn't write.
func (j judge) checkRepaired() Verdict {
	cut := slices.ContainsFunc(j.Steps, func(s protocol.Step) bool { return s.Kind == protocol.CutStep })
	if !cut || len(j.Requests) == 0 || j.Requests[0].Script == nil {
		return Verdict{}
	}
	for _, q := range j.Requests[1:] {
		for _, c := range scriptCalls(j.Requests[0].Script) {
			for _, sent := range q.History {
				if sent.ID == c.ID && !c.Sealed && !sent.Lone && sent.Args != c.Args && !sameArgs(sent.Args, "{}") && strings.HasPrefix(sent.Args, `{"text"`) {
					return newWrong("must_not:keep_repaired", "SENT BACK repaired arguments: %s", sent.Args)
				}
			}
		}
	}
	return Verdict{}
}

// hasOwnResult reports whether a result belongs to one of the runs with the numbers in own. A result that contains no
// run's number also counts, because a client may shorten results.
func hasOwnResult(sent *SentBack, own []int, runs int) bool {
	text := sent.Results[0].Text
	for n := runs; n > 0; n-- {
		if strings.Contains(text, ResultText(n)) {
			return slices.Contains(own, n)
		}
	}
	return true
}

// checkRequests checks how often and how soon the client sent requests.
func (j judge) checkRequests() Verdict {
	if j.Repeats && len(j.Requests) > maxRepeats {
		return newWrong("must_not:loop", "ASKED %s and always got the same response", count.Of(len(j.Requests), "time"))
	}
	if j.Status != 0 && len(j.Requests) > 1 {
		if early := j.RetryAfter - (j.Requests[1].At - j.Requests[0].EndedAt); early > j.RetryAfter/10 {
			return newWrong("must_not:ask_early", "RETRIED sooner than Retry-After allows")
		}
	}
	return Verdict{}
}

// endWords describes how the client ended, unless it succeeded.
func (j judge) endWords() string {
	switch {
	case j.Ended:
		return " · ended by toolscope"
	case j.Signal != "":
		return " · ended by a signal: " + j.Signal
	case j.Exit != 0:
		return fmt.Sprintf(" · exit %d", j.Exit)
	}
	return ""
}

// rightWords describes what a client did right.
func (j judge) rightWords() string {
	words := "ran nothing"
	if n := len(j.Runs); n > 0 {
		var names []string
		for _, r := range j.Runs {
			names = append(names, r.callText())
		}
		slices.Sort(names) // calls that run at the same time have no fixed order
		words = "ran " + strings.Join(names, ", ")
	}
	if last := j.lastHistory(); last != nil {
		if sent := j.findSent(last, 0); sent != nil && len(sent.Results) == 1 {
			words += map[bool]string{true: " · sent back an error", false: " · sent back its result"}[sent.Results[0].Failed || len(j.Runs) == 0]
		}
	}
	if n := len(j.Requests); n > 2 {
		words += " · " + count.Of(n, "request")
	}
	return words + j.endWords()
}

// A scriptCall is a call in a script.
type scriptCall struct {
	ID, Args string
	Sealed   bool
}

// scriptCalls returns the calls of a script.
func scriptCalls(s *protocol.Script) (calls []scriptCall) {
	for _, step := range s.Steps {
		switch step.Kind {
		case protocol.CallStep:
			calls = append(calls, scriptCall{ID: step.ID})
		case protocol.ArgsStep:
			calls[step.Call].Args += step.Text
		case protocol.SealStep:
			calls[step.Call].Sealed = true
		}
	}
	return calls
}
