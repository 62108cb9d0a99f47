package toolrun

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"toolscope/providers/mcp"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// Findings lists all diagnoses that this package makes.
var Findings = []*stream.Diagnosis{
	altered, twice, repeated, cut, orphaned, early, notRun, unasked, resultCut, resultHalf, resultAltered, resultFlipped, schemaDrift,
}

var (
	altered = &stream.Diagnosis{
		Code: "EXEC_ALTERED", Severity: stream.Error, By: stream.Client, OtherSeverities: []stream.Severity{stream.Info},
		Verdict:      "changed",
		SeverityNote: "info if only repeated keys were lost, or digits that a double can't store: most JSON libraries lose these",
		Meaning:      "A tool got arguments that the model didn't write: the client changed the arguments.",
		Advice:       "Make the client pass on the arguments unchanged, or make it tell the model about the change.",
	}
	twice = &stream.Diagnosis{
		Code: "EXEC_TWICE", Severity: stream.Error, By: stream.Client,
		Verdict: "run twice",
		Meaning: "The tool was run more than once for one call. Its effects happened each time, but the model got only one result.",
		Advice:  "Make the client run each call only once, even if the end of the call is sent twice.",
	}
	repeated = &stream.Diagnosis{
		Code: "EXEC_REPEATED", Severity: stream.Warn, By: stream.Client,
		Verdict: "run again",
		Meaning: "A tool was run with the same arguments as in an earlier turn that was cut off. The client retried the request without regard to the first run.",
		Advice:  "Run tools only when their turn is complete, or make the client remember tool runs across retries.",
	}
	cut = &stream.Diagnosis{
		Code: "EXEC_CUT", Severity: stream.Error, By: stream.Client,
		Verdict: "run cut short",
		Meaning: "A tool was run with incomplete arguments: the arguments were cut off or malformed, or more of them arrived later.",
		Advice:  "Run a call when the provider signals that the arguments are final, not as soon as they parse.",
	}
	orphaned = &stream.Diagnosis{
		Code: "EXEC_ORPHANED", Severity: stream.Error, By: stream.Client,
		Verdict: "run in vain",
		Meaning: "A tool was run for a turn that was then cut off, refused, or ended by a limit. The tool's effects remain, but the conversation might not mention them.",
		Advice:  "Run tools only when their turn is complete, or tell the model about the tools that were run.",
	}
	early = &stream.Diagnosis{
		Code: "EXEC_EARLY", Severity: stream.Info, OtherSeverities: []stream.Severity{stream.Error}, By: stream.Client,
		Verdict:      "run early",
		SeverityNote: "error if the arguments were not final",
		Meaning:      "A tool was run before its turn ended. If the severity is error, not even the arguments were final.",
		Advice:       "Nothing, if the client tolerates turns that are cut off later. Never run a call before its arguments are final.",
	}
	notRun = &stream.Diagnosis{
		Code: "EXEC_NOT", Severity: stream.Warn, By: stream.Client,
		Verdict: "not run",
		Meaning: "The model got a result for a call that never reached its tool. The client wrote the result, because the user or the client's rules refused the call, or because the client couldn't run the tool.",
		Advice:  "Treat the result as the client's output, not the tool's.",
	}
	unasked = &stream.Diagnosis{
		Code: "EXEC_UNASKED", Severity: stream.Info, By: stream.Client,
		Meaning: "A tool was run, but no recorded call asked for it. Either the client ran the tool without a call, or the model's response was not recorded.",
		Advice:  "Nothing, if you expected the tool to run.",
	}
	resultCut = &stream.Diagnosis{
		Code: "RESULT_CUT", Severity: stream.Warn, By: stream.Client,
		Verdict: "result cut",
		Meaning: "The model got less than the tool returned: the client truncated the result.",
		Advice:  "Make the tool return less, or split its results into pages. The model doesn't know which part is missing.",
	}
	resultHalf = &stream.Diagnosis{
		Code: "RESULT_HALF", Severity: stream.Info, By: stream.Client,
		Meaning: "The tool returned text and structured content that differ. The model got only the text, or only the structured content.",
		Advice:  "Make the server return the same content in both forms.",
	}
	resultAltered = &stream.Diagnosis{
		Code: "RESULT_ALTERED", Severity: stream.Error, By: stream.Client,
		Verdict: "wrong result",
		Meaning: "The model got a result that differs from the tool's result.",
		Advice:  "Compare both results, and find the part of the client that changes results.",
	}
	resultFlipped = &stream.Diagnosis{
		Code: "RESULT_FLIPPED", Severity: stream.Error, By: stream.Client,
		Verdict: "flag flipped",
		Meaning: "The tool reported a failure, but the result that the model got reports a success, or the other way round.",
		Advice:  "Make the client pass on the error flag. Without the flag, the model acts on the wrong outcome.",
	}
	schemaDrift = &stream.Diagnosis{
		Code: "TOOL_SCHEMA_DRIFT", Severity: stream.Warn, By: stream.Client, OtherSeverities: []stream.Severity{stream.Info},
		Verdict:      "schema drift",
		SeverityNote: "info if only descriptions and other annotations differ",
		Meaning:      "The model got a different schema for a tool than the tool's server published. The server may refuse calls that follow the changed schema.",
		Advice:       "Compare both schemas. A client that rewrites a schema must convert the arguments back to the original schema.",
	}
)

// matchRun matches a tool request to its call, either by the call's id or by equal arguments.
func (m *Matcher) matchRun(a *ToolRequest) {
	if a.Request.CallID != "" {
		for _, of := range slices.Backward(m.calls) { // the latest call with that id in the same run
			if of.ID == a.Request.CallID && of.Run == a.Server.Run {
				m.join(a, of, stream.ByID, 1)
				break
			}
		}
		return
	}
	var free, taken []*Call
	for _, of := range m.within(a) {
		if !of.settled {
			m.learn(of)
		}
		if m.isOf(of, a) && !of.ambiguous && of.settledOr(a) {
			if len(of.asks) == 0 {
				free = append(free, of)
			} else {
				taken = append(taken, of)
			}
		}
	}
	if len(free) == 0 {
		return
	}
	equals := len(free)
	for _, of := range taken { // if either condition is true, the request may belong to this call instead
		if of.Ref.Turn == free[0].Ref.Turn || of.asks[0].EqualCalls > 1 {
			equals++
		}
	}
	m.join(a, free[0], stream.ByArgs, equals)
}

// settledOr reports whether the arguments of a call and of a request are completely known and equal.
func (of *Call) settledOr(a *ToolRequest) bool {
	return !of.unseen && (of.Args != nil || of.Size == 0) && a.ArgsSize == len(a.Request.Args) && (of.syntax == json.SyntaxObject || of.syntax == json.SyntaxEmpty) && sameArgs(of.writtenArgs(a), a.Request.Args)
}

// within returns the calls to which a request may belong according to its time: calls that had begun, and whose
// result the model had not got yet. The calls are in the order in which they began.
func (m *Matcher) within(a *ToolRequest) (all []*Call) {
	for _, of := range m.calls {
		if m.inWindow(of, a) {
			all = append(all, of)
		}
	}
	slices.SortStableFunc(all, func(x, y *Call) int { return int(x.opened - y.opened) })
	return all
}

func (m *Matcher) inWindow(of *Call, a *ToolRequest) bool {
	if of.Run != a.Server.Run {
		return false
	}
	began := of.FirstAt
	if began < 0 {
		began = of.OpenedAt
	}
	late := of.given && of.givenAt >= 0 && a.AskedAt > of.givenAt+m.skew(of, a)
	return began <= a.AskedAt+m.skew(of, a) && !late
}

// skew returns the maximum difference between the clocks of a call and of a request. It is 0 if both have the
// same clock.
func (m *Matcher) skew(of *Call, a *ToolRequest) (d time.Duration) {
	if m.source.ClocksApart(of.Exchange, a.Exchange) {
		return skew
	}
	return 0
}

// isOf reports whether the name of a call means the requested tool, and means no other tool with more certainty. It
// sets of.ambiguous if a tool of another server is equally likely.
func (m *Matcher) isOf(of *Call, a *ToolRequest) bool {
	sure := nameMatch(of.Name, a.Server, a.Tool)
	if sure == noName {
		return false
	}
	for _, s := range m.log.Servers {
		if s.Name == a.Server.Name || s.Run != of.Run {
			continue
		}
		for _, t := range s.Tools {
			switch other := nameMatch(of.Name, s, t.Name); {
			case other > sure:
				return false
			case other == sure:
				of.ambiguous = true
			}
		}
	}
	return !slices.ContainsFunc(m.declared, func(d declaration) bool {
		return d.run == of.Run && d.name != of.Name && nameMatch(d.name, a.Server, a.Tool) > sure
	})
}

// tryAgain searches again for requests that belong to a call, because more facts about the call are now known.
func (m *Matcher) tryAgain(of *Call) {
	for _, a := range m.asks {
		switch {
		case a.Call != nil || of.Run != a.Server.Run:
		case a.Request.CallID != "" && a.Request.CallID == of.ID:
			m.join(a, of, stream.ByID, 1)
		case a.Request.CallID == "" && len(of.asks) == 0:
			if m.inWindow(of, a) {
				m.matchRun(a)
			}
		}
	}
}

// resolve matches a call to one of the remaining requests, after all facts about the call are known. If exactly one
// request has equal arguments, resolve matches this request. If none has, resolve matches by the name alone, provided
// that only one request is possible and that this request can't belong to another call.
func (m *Matcher) resolve(of *Call) {
	if len(of.asks) > 0 || of.unseen {
		return
	}
	var equal, named []*ToolRequest
	for _, a := range m.asks {
		if a.Call != nil || a.Request.CallID != "" || !m.inWindow(of, a) || !m.isOf(of, a) {
			continue
		}
		named = append(named, a)
		if of.settledOr(a) {
			equal = append(equal, a)
		}
	}
	may := func(list []*ToolRequest) {
		for _, a := range list {
			if !slices.Contains(a.Candidates, of) {
				a.Candidates = append(a.Candidates, of)
			}
		}
	}
	switch {
	case len(equal) == 1:
		m.join(equal[0], of, stream.ByArgs, 1)
	case len(equal) > 1:
		may(equal)
	case len(named) == 1 && m.rivals(of, named[0]) == 0:
		m.join(named[0], of, stream.ByName, 1)
	default:
		may(named)
	}
}

// rivals returns the number of other calls that a request may belong to.
func (m *Matcher) rivals(of *Call, a *ToolRequest) (n int) {
	for _, other := range m.calls {
		if other != of && len(other.asks) == 0 && m.inWindow(other, a) && m.isOf(other, a) {
			n++
		}
	}
	return n
}

// join records that a request belongs to a call, and checks the request against the call.
func (m *Matcher) join(a *ToolRequest, of *Call, by stream.MatchBasis, equals int) {
	a.Call, a.Basis, a.EqualCalls, a.Candidates = of, by, equals, nil
	before := of.asks
	of.asks = append(of.asks, a)
	m.learn(of)
	m.source.AddToolRun(Match{Call: of.Ref, At: a.AskedAt, Text: fmt.Sprintf("%s of %s, %s", a.Tool, a.Server.Name, a.Explain()), ToolExecution: stream.ToolExecution{Request: a.Number, Join: by, Of: equals}})
	if by == stream.ByID {
		m.ranTwice(of, a, before)
	}
	m.ranBefore(of, a)
	if m.judge(of); of.result != nil { // in the captures, the request came after the result
		m.compare(of, a, of.resultEvent, *of.result)
	}
}

// Explain describes how the request was matched to its call.
func (a *ToolRequest) Explain() string {
	switch {
	case a.Basis == stream.ByID:
		return "by the call's id"
	case a.Basis == stream.ByName:
		return "by its name alone (~)"
	case a.EqualCalls > 1:
		return fmt.Sprintf("by its arguments, which %d calls share", a.EqualCalls)
	}
	return "by its arguments"
}

// mayBeServed reports whether a call may be for a tool of some server.
func (m *Matcher) mayBeServed(of *Call) bool {
	for _, s := range m.log.Servers {
		for _, t := range s.Tools {
			if s.Run == of.Run && nameMatch(of.Name, s, t.Name) != noName {
				return true
			}
		}
	}
	return false
}

// offered returns the server and the tool that a call's name means with the most certainty, if the server existed from
// the time of the call to the time of the result. It returns nil if no server qualifies. It also returns nil if the
// request offered another name that means the same tool with the same certainty, because that tool may belong to a server
// that toolscope doesn't record.
func (m *Matcher) offered(of *Call) (s *mcp.Server, tool string) {
	sure := bareName
	for _, one := range m.log.Servers {
		for _, t := range one.Tools {
			if is := nameMatch(of.Name, one, t.Name); one.Run == of.Run && is > sure && one.FirstSeenAt <= of.OpenedAt && (one.EndedAt < 0 || one.EndedAt > of.givenAt) {
				s, tool, sure = one, t.Name, is
			}
		}
	}
	if sure == someServer && slices.ContainsFunc(m.declared, func(d declaration) bool {
		return d.run == of.Run && d.name != of.Name && nameMatch(d.name, s, tool) >= sure
	}) {
		return nil, ""
	}
	return s, tool
}

// found reports a finding about a call and the request to its tool, but only once. The request is nil if none is
// known. A new finding is returned with the number of the event that shows it.
func (m *Matcher) found(of *Call, a *ToolRequest, f stream.Finding) stream.Finding {
	seen := &of.finding
	request, at := -1, of.givenAt
	if a != nil {
		seen, request, at = &a.finding, a.Number, a.AskedAt
	}
	if (*seen)[f.Diagnosis] {
		return f
	}
	if *seen == nil {
		*seen = map[*stream.Diagnosis]bool{}
	}
	(*seen)[f.Diagnosis] = true
	if a != nil { // the finding is certain only when all its facts are known
		at = max(at, of.SealedAt, of.ClosedAt, of.givenAt)
	}
	f.Event = m.source.AddToolRun(Match{Call: of.Ref, At: at, Text: f.Code, ToolExecution: stream.ToolExecution{Request: request, Finding: f}})
	if a != nil {
		a.Findings = append(a.Findings, f)
	}
	return f
}

// isCertain reports whether findings about the call can be based on the request. A match by name alone is not
// sufficient, and neither is a match with one of several equal calls.
func (a *ToolRequest) isCertain() bool {
	return a.Basis == stream.ByID || a.Basis == stream.ByArgs && a.EqualCalls == 1
}

// judge compares the arguments and times of a call with those of its tool runs.
func (m *Matcher) judge(of *Call) {
	if of.unseen {
		return
	}
	for _, a := range of.asks {
		if of.settled {
			m.judgeArgs(of, a)
		}
		if a.isCertain() {
			m.judgeTime(of, a)
		}
	}
}

// judgeArgs compares the arguments of a call with the arguments of a request, and reports differences.
func (m *Matcher) judgeArgs(of *Call, a *ToolRequest) {
	if of.freeform || a.ArgsSize != len(a.Request.Args) || of.Args == nil && of.Size > 0 || a.Args != "" {
		return
	}
	a.Args = "same"
	a.PrefixBytes, a.IsPrefix = prefixLen(of.Args, a.Request.Args)
	whole := of.syntax == json.SyntaxObject || of.syntax == json.SyntaxEmpty
	wrote := of.writtenArgs(a)
	if sameArgs(wrote, a.Request.Args) {
		return
	}
	a.Args = "altered"
	if whole {
		a.Path = json.FirstDifference(orEmpty(withoutTags(wrote)), orEmpty(withoutTags(a.Request.Args)))
	}
	var at any = stream.Fact(a.Path)
	if a.Path == "" {
		at = stream.OwnFact("the whole value")
	}
	switch {
	case !a.isCertain():
	case whole && json.SameIn(json.Parsed, withoutTags(wrote), withoutTags(a.Request.Args)):
		m.found(of, a, altered.WithSeverity(stream.Info).Finding("%s got arguments without a repeated field, or without digits that a double can't store, as with most JSON libraries: %s differs", a.Tool, at))
	case of.syntax == json.SyntaxPrefix:
		m.found(of, a, cut.Finding("%s was run with %s, but the arguments that the model wrote stop after %s", a.Tool, of.partialArgs(a), stream.Own(count.Of(of.Size, "byte"))))
	case of.syntax == json.SyntaxBroken:
		m.found(of, a, cut.Finding("%s was run with %s, but the arguments that the model wrote are not JSON", a.Tool, of.partialArgs(a)))
	case of.LastAt >= 0 && a.AskedAt+m.skew(of, a) < of.LastAt:
		m.found(of, a, cut.Finding("%s was run with %s, %s before the last of %s arrived", a.Tool, of.partialArgs(a), stream.Own(DurationText(of.LastAt-a.AskedAt)), stream.Own(count.Of(of.Size, "byte"))))
	case whole:
		m.found(of, a, altered.Finding("%s got arguments that the model didn't write: %s differs", a.Tool, at))
	case of.syntax == json.SyntaxOther || of.syntax == json.SyntaxDouble:
		if kind := nonObjectKind(wrote, a.Request.Args); kind != "" {
			m.found(of, a, altered.Finding("%s got arguments that the model didn't write: the model wrote %s, not an object", a.Tool, stream.OwnFact(kind)))
		}
	}
}

// nonObjectKind describes the JSON value that a model wrote instead of an object. It returns "" if got has the same
// meaning: the object inside the string that the model wrote, or an empty object for an empty value.
func nonObjectKind(wrote []byte, got json.Value) string {
	v := json.Value(bytes.TrimSpace(wrote))
	switch kind := v.Kind(); {
	case (string(v) == `""` || kind == '[' && json.FirstElement(v) == nil) && sameArgs(nil, got), v.IsString() && sameArgs(v.Unquoted(), got):
		return ""
	case kind == '"':
		return "a string"
	case kind == '[':
		return "an array"
	case v.IsNumber():
		return "a number"
	default:
		return string(v)
	}
}

// partialArgs describes the arguments of a request that differ from the model's.
func (of *Call) partialArgs(a *ToolRequest) stream.Own {
	if a.IsPrefix {
		return stream.Own(fmt.Sprintf("the first %d of %s of arguments, as a JSON string", a.PrefixBytes, count.Of(of.Size, "byte")))
	}
	return stream.Own(count.Of(a.ArgsSize, "byte") + " of arguments")
}

// judgeTime reports a request that came before its call was final or before its turn ended. It also reports a request
// whose turn was not completed.
func (m *Matcher) judgeTime(of *Call, a *ToolRequest) {
	late := a.AskedAt + m.skew(of, a)
	switch {
	case a.AskedAt < 0:
		return
	case of.SealedAt >= 0 && late < of.SealedAt:
		m.found(of, a, early.WithSeverity(stream.Error).Finding("%s was run %s before its arguments were final", a.Tool, stream.Own(DurationText(of.SealedAt-a.AskedAt))))
	case of.ClosedAt >= 0 && late < of.ClosedAt && of.Phase == stream.TurnComplete:
		m.found(of, a, early.Finding("%s was run %s before its turn ended", a.Tool, stream.Own(DurationText(of.ClosedAt-a.AskedAt))))
	}
	if !of.muted && of.Phase != stream.TurnComplete && of.Phase != stream.TurnIsOpen {
		when := "and then its turn was"
		if of.ClosedAt >= 0 && a.AskedAt > of.ClosedAt {
			when = "although its turn was"
		}
		m.found(of, a, orphaned.Finding("%s was run, %s %s", a.Tool, stream.Own(when), stream.OwnFact(of.Phase.String())))
	}
}

// ranTwice reports that the tool was run again for the same call id. Two kinds of requests don't count. A request
// with the same protocol id was only sent again, because a connection was lost. A request that the server refused
// didn't run the tool.
func (m *Matcher) ranTwice(of *Call, a *ToolRequest, before []*ToolRequest) {
	ran := 1
	for _, b := range before {
		if b.State == mcp.Refused {
			continue
		}
		ran++
		if b.Basis != stream.ByID || b.ID == a.ID && b.Exchange != a.Exchange && b.Server == a.Server {
			return
		}
	}
	if ran == 1 {
		return
	}
	d, why := twice, ""
	if m.source.EndedTwice(of.Ref) {
		d, why = twice.WithCause(stream.Provider), ": the end of the call was sent twice"
	}
	m.found(of, a, d.Finding("%s was run %d times for the same call id %s%s", a.Tool, ran, of.ID, stream.Own(why)))
}

// ranBefore reports that the same tool was run with the same arguments before, for a turn that was cut off. It
// ignores turns that the client or toolscope ended, and calls whose result the model got.
func (m *Matcher) ranBefore(of *Call, a *ToolRequest) {
	if !a.isCertain() {
		return
	}
	for _, other := range m.calls {
		if other.Ref.Turn == of.Ref.Turn || other.Run != of.Run || other.muted || other.Phase == stream.TurnComplete || other.Phase == stream.TurnIsOpen || other.given {
			continue
		}
		for _, b := range other.asks {
			if b != a && b.isCertain() && b.Server.Name == a.Server.Name && b.Tool == a.Tool && b.AskedAt <= a.AskedAt && b.ArgsSize == a.ArgsSize &&
				sameArgs(b.Request.Args, a.Request.Args) {
				m.found(of, a, repeated.Finding("%s was already run with these arguments, for turn %d, which was %s", a.Tool, other.Ref.Turn+1, stream.OwnFact(other.Phase.String())))
				return
			}
		}
	}
}

// notAsked reports a call that has a result although no request to its tool matches the call. It reports nothing if
// bytes are missing, or if a request may belong to the call.
func (m *Matcher) notAsked(of *Call) {
	s, tool := m.offered(of)
	if len(of.asks) > 0 || s == nil || m.blind || s.Gaps > 0 || !of.settled || of.Phase != stream.TurnComplete {
		return
	}
	for _, a := range m.asks {
		if a.Call == nil && a.Request.CallID == "" && m.inWindow(of, a) && nameMatch(of.Name, a.Server, a.Tool) != noName {
			return
		}
	}
	for _, other := range m.log.Servers {
		if other.Gaps > 0 {
			return
		}
	}
	f := notRun.Finding("the model got a result, but no request for %s reached %s", tool, s.Name)
	m.not = append(m.not, CallWithoutRun{of, s.Name, tool, m.found(of, nil, f)})
}

// compare compares the result that the tool returned with the result that the model got, and reports differences.
func (m *Matcher) compare(of *Call, a *ToolRequest, event int, g SentResult) {
	a.ModelHasResult, a.ResultEvent, a.ResultBytes = true, event, g.Size
	r := a.Request
	if r.Shell() || !r.HasResult() || len(g.Text) < g.Size || a != of.asks[0] {
		return
	}
	a.Result = compareResult(r, g.Text, g.Media)
	if !a.isCertain() || r.Server.Gaps > 0 {
		return
	}
	tell := func(d *stream.Diagnosis, format string, args ...any) { m.found(of, a, d.Finding(format, args...)) }
	returned := count.Of(r.TextSize, "byte")
	if r.StructuredSize > 0 {
		returned += fmt.Sprintf(" of text and %d of structured content", r.StructuredSize)
	}
	sizes := stream.Own(fmt.Sprintf("the tool returned %s, but the model got %d", returned, g.Size))
	switch a.Result {
	case Cut, None:
		tell(resultCut, "%s", sizes)
	case Half:
		tell(resultHalf, "the text and the structured content differ, and the model got only one of them: %s", sizes)
	case Altered:
		tell(resultAltered, "the result that the model got is not part of the result that %s returned: %s", a.Tool, sizes)
	}
	if g.Flag && g.Failed != r.Failed && a.Result != Altered {
		words := "the tool reported a failure, but the result that the model got reports a success"
		if g.Failed {
			words = "the tool reported a success, but the result that the model got reports a failure"
		}
		tell(resultFlipped, "%s", stream.Own(words))
	}
}

// DurationText formats a duration. It uses milliseconds if the duration is shorter than a second, and seconds
// otherwise.
func DurationText(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
