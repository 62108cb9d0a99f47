package toolrun

import (
	"fmt"
	"time"

	"toolscope/providers/mcp"
	"toolscope/stream"
	"toolscope/stream/count"
)

// found tells of a call, and of what was asked of its tool, what is found, once. It returns that with the
// event that tells it.
func (j *Join) found(of *Call, a *ToolRequest, f stream.Finding) stream.Finding {
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
	if a != nil { // it is known when all is that it is made from
		at = max(at, of.SealedAt, of.ClosedAt, of.givenAt)
	}
	f.Event = j.Tell(Match{Call: of.Ref, At: at, Text: f.Code, ToolExecution: stream.ToolExecution{Request: request, Finding: f}})
	if a != nil {
		a.Findings = append(a.Findings, f)
	}
	return f
}

// isCertain reports whether a request may be held against a call: a name alone is no proof, and of equal
// calls those of one turn have the same fate.
func (a *ToolRequest) isCertain() bool {
	return a.Basis == stream.ByID || a.Basis == stream.ByArgs && a.EqualCalls == 1
}

// judge holds what a tool got, and when, against what the model wrote.
func (j *Join) judge(of *Call) {
	if of.unseen {
		return
	}
	for _, a := range of.asks {
		if of.settled {
			j.judgeArgs(of, a)
		}
		if a.isCertain() {
			j.judgeTime(of, a)
		}
	}
}

// judgeArgs compares the arguments.
func (j *Join) judgeArgs(of *Call, a *ToolRequest) {
	if of.freeform || a.ArgsSize != len(a.Request.Args) || of.Args == nil && of.Size > 0 || a.Args != "" {
		return
	}
	a.Args = "same"
	a.PrefixBytes, a.IsPrefix = prefixLen(of.Args, a.Request.Args)
	whole := of.syntax == stream.SyntaxObject || of.syntax == stream.SyntaxEmpty
	wrote := of.writtenArgs(a)
	if sameArgs(wrote, a.Request.Args) {
		return
	}
	a.Args = "altered"
	if whole {
		a.Path = firstDifference(orEmpty(withoutTags(wrote)), orEmpty(withoutTags(a.Request.Args)))
	}
	switch {
	case !a.isCertain():
	case of.syntax == stream.SyntaxPrefix:
		j.found(of, a, cut.Finding("%s was run with %s, while those that the model wrote stop after %d", a.Tool, of.partialArgs(a), of.Size))
	case of.syntax == stream.SyntaxBroken:
		j.found(of, a, cut.Finding("%s was run with %s, while those that the model wrote are no JSON", a.Tool, of.partialArgs(a)))
	case of.LastAt >= 0 && a.AskedAt+j.skew(of, a) < of.LastAt:
		j.found(of, a, cut.Finding("%s was run with %s, %s before the last of %d came", a.Tool, of.partialArgs(a), DurationText(of.LastAt-a.AskedAt), of.Size))
	case whole:
		at := a.Path
		if at == "" {
			at = "the whole"
		}
		j.found(of, a, altered.Finding("%s got other arguments than the model wrote: %s differs", a.Tool, at))
	}
}

// partialArgs says which arguments a request has that are not all.
func (of *Call) partialArgs(a *ToolRequest) string {
	if a.IsPrefix {
		return fmt.Sprintf("the first %d of %s of arguments, as a JSON string", a.PrefixBytes, count.Of(of.Size, "byte"))
	}
	return count.Of(a.ArgsSize, "byte") + " of arguments"
}

// judgeTime compares the times.
func (j *Join) judgeTime(of *Call, a *ToolRequest) {
	late := a.AskedAt + j.skew(of, a)
	switch {
	case a.AskedAt < 0:
		return
	case of.SealedAt >= 0 && late < of.SealedAt:
		j.found(of, a, early.WithSeverity(stream.Error).Finding("%s was run %s before its arguments were final", a.Tool, DurationText(of.SealedAt-a.AskedAt)))
	case !of.closed:
		return
	case of.ClosedAt >= 0 && late < of.ClosedAt && of.Phase == stream.TurnComplete:
		j.found(of, a, early.Finding("%s was run %s before its turn had ended", a.Tool, DurationText(of.ClosedAt-a.AskedAt)))
	}
	if of.closed && !of.muted && of.Phase != stream.TurnComplete && of.Phase != stream.TurnIsOpen {
		when := "and then its turn was"
		if of.ClosedAt >= 0 && a.AskedAt > of.ClosedAt {
			when = "although its turn was"
		}
		j.found(of, a, orphaned.Finding("%s was run, %s %s", a.Tool, when, of.Phase))
	}
}

// ranTwice tells that the tool of one id was run again. What is asked again with the same id of the
// protocol is no other request: a connection was lost. What the server refused did not run.
func (j *Join) ranTwice(of *Call, a *ToolRequest, before []*ToolRequest) {
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
	if j.Doubled(of.Ref) {
		d, why = twice.WithCause(stream.Provider), ": the end of the call was said twice"
	}
	j.found(of, a, d.Finding("%s was run %d times for the one id %s%s", a.Tool, ran, of.ID, why))
}

// ranBefore tells that the same was run for a turn that was cut: not by whoever sits at the client.
func (j *Join) ranBefore(of *Call, a *ToolRequest) {
	if !a.isCertain() {
		return
	}
	for _, other := range j.calls {
		if other.Ref.Turn == of.Ref.Turn || other.Run != of.Run || !other.closed || other.muted || other.Phase == stream.TurnComplete || other.Phase == stream.TurnIsOpen || other.given {
			continue
		}
		for _, b := range other.asks {
			if b != a && b.isCertain() && b.Server.Name == a.Server.Name && b.Tool == a.Tool && b.AskedAt <= a.AskedAt && b.ArgsSize == a.ArgsSize &&
				sameArgs(b.Request.Args, a.Request.Args) {
				j.found(of, a, repeated.Finding("%s was run with these arguments already, for turn %d, which was %s", a.Tool, other.Ref.Turn+1, other.Phase))
				return
			}
		}
	}
}

// notAsked tells that the model was given a result of a call whose tool nobody asked. Nothing is said
// where bytes are missing, or a request may be it.
func (j *Join) notAsked(of *Call) {
	s, tool := j.offered(of)
	if len(of.asks) > 0 || s == nil || j.blind || s.Gaps > 0 || !of.settled || of.Phase != stream.TurnComplete {
		return
	}
	for _, a := range j.asks {
		if a.Call == nil && a.Request.CallID == "" && j.inWindow(of, a) && nameMatch(of.Name, a.Server, a.Tool) != noName {
			return
		}
	}
	for _, other := range j.Log.Servers {
		if other.Gaps > 0 {
			return
		}
	}
	f := notRun.Finding("the model was given a result, and %s was never asked to run %s", s.Name, tool)
	j.not = append(j.not, CallWithoutRun{of, s.Name, tool, j.found(of, nil, f)})
}

// compare holds what the model was told against what the tool answered.
func (j *Join) compare(of *Call, a *ToolRequest, event int, g SentResult) {
	if a.ModelHasResult {
		return
	}
	a.ModelHasResult, a.ResultEvent, a.ResultBytes = true, event, g.Size
	r := a.Request
	if r.Shell() || !r.HasResult() || len(g.Text) < g.Size || len(of.asks) > 1 && a != of.asks[0] {
		return
	}
	a.Result = compareResult(r, g.Text, g.Media)
	if !a.isCertain() || r.Server.Gaps > 0 {
		return
	}
	tell := func(d *stream.Diagnosis, format string, args ...any) { j.found(of, a, d.Finding(format, args...)) }
	sizes := fmt.Sprintf("of %s%s the model was told %d", count.Of(r.TextSize, "byte"), structuredText(r.StructuredSize), g.Size)
	switch a.Result {
	case Cut, None:
		tell(resultCut, "%s", sizes)
	case Half:
		tell(resultHalf, "text and structured content differ, and only one was told: %s", sizes)
	case Altered:
		tell(resultAltered, "what the model was told is not in what %s answered: %s", a.Tool, sizes)
	}
	if g.Flag && g.Failed != r.Failed && a.Result != Altered {
		words := "the tool said that it failed, and the model was told that it did not"
		if g.Failed {
			words = "the tool said that it did not fail, and the model was told that it did"
		}
		tell(resultFlipped, "%s", words)
	}
}

func structuredText(size int) string {
	if size == 0 {
		return ""
	}
	return fmt.Sprintf(" of text and %d structured", size)
}

// DurationText is a time in words.
func DurationText(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
