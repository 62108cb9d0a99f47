package ask

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/present"
)

// problem is a finding, or an error that the model got as the result of a call.
type problem struct {
	severity stream.Severity
	key      string
	text     string
}

// These constants describe the code for an error that the model got as the result of a call. It is not a finding,
// because an error may be the correct result. The result doesn't show the party at fault: it may be the tool, but also
// the arguments, or a user who refused the call.
const (
	toolFailed      = "TOOL_FAILED"
	toolFailedMeans = "The result of a call that a later request carries is marked as an error. Only toolscope's MCP server reports this code, because an error may be the correct result."
	toolFailedDo    = "Read the arguments and the result of the call with the tool 'call'."
)

// findProblems returns the problems in a run, sorted by severity with the worst first. It leaves out the calls of
// toolscope's own tools.
func (r *Run) findProblems() (all []problem) {
	s := r.View.Session()
	add := func(f stream.Finding, t *stream.Turn, c *stream.Call) {
		all = append(all, problem{f.Severity, fmt.Sprintf("%s@%s@%d", f.Code, r.refOf(t, c), f.Event), r.findingText(f, t, c)})
	}
	for _, f := range s.Findings {
		add(f, nil, nil)
	}
	for n, server := range r.View.Servers() {
		for i, f := range server.Findings() {
			text := fmt.Sprintf("%s %s by=%s %s server=%s: %s", strings.ToUpper(f.Severity.String()), f.Code, f.By, quoteName(r.ID), quoteName(server.Name), quoteStart(f.Message, len(f.Message), messageText))
			all = append(all, problem{f.Severity, fmt.Sprintf("%s@%s@server%d.%d", f.Code, r.ID, n, i), text})
		}
	}
	for _, t := range s.Turns {
		for _, f := range t.Findings {
			add(f, t, nil)
		}
		for _, c := range t.Calls {
			if isOwn(c) {
				continue
			}
			for _, f := range c.Findings {
				add(f, t, c)
			}
			if res := c.LatestResult(); providers.ToolOutcome(res) == stream.ResultFailed {
				text := fmt.Sprintf("WARN %s by=%s %s %s: the model got an error as the result: %s", toolFailed, stream.UnknownParty, quoteName(r.refOf(t, c)), quoteName(c.Name), quoteStart(res.Result.Text, res.Result.Bytes, partText))
				if later := r.View.TurnAfter(res); later != nil {
					text += " [evidence: the request of " + quoteName(r.refOf(later, nil)) + "]"
				}
				all = append(all, problem{stream.Warn, toolFailed + "@" + r.refOf(t, c), text})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b problem) int { return cmp.Compare(b.severity, a.severity) })
	return all
}

// refOf returns the reference to a turn or a call.
func (r *Run) refOf(t *stream.Turn, c *stream.Call) string {
	switch {
	case t == nil:
		return r.ID
	case c == nil:
		return fmt.Sprintf("%s#%d", r.ID, t.Number+1)
	}
	return fmt.Sprintf("%s#%d.%d", r.ID, t.Number+1, c.Number)
}

// findingText returns a finding with its place and its evidence.
func (r *Run) findingText(f stream.Finding, t *stream.Turn, c *stream.Call) string {
	words := []string{strings.ToUpper(f.Severity.String()), f.Code, "by=" + f.By.String(), quoteName(r.refOf(t, c))}
	if c != nil {
		words = append(words, quoteName(c.Name))
	}
	text := strings.Join(words, " ") + ": " + quoteStart(f.Message, len(f.Message), messageText)
	var evidence []string
	if later := r.laterRequest(f, c); later != nil {
		evidence = append(evidence, "the request of "+quoteName(r.refOf(later, nil)))
	} else if first, last := r.Lines(f.Event); first > 0 {
		at := fmt.Sprintf("%s line %d", quoteName(baseName(r.Path)), first)
		if last > first {
			at += fmt.Sprintf(" to %d", last)
		}
		evidence = append(evidence, at)
	}
	if f.Offset != stream.NoOffset {
		evidence = append(evidence, fmt.Sprintf("argument byte %d", f.Offset))
	}
	if len(evidence) > 0 {
		text += " [evidence: " + strings.Join(evidence, ", ") + "]"
	}
	if c == nil && t != nil && f.Severity > stream.Info {
		text += r.turnEnd(t)
	}
	return text
}

// laterRequest returns the turn whose request revealed a finding about a call of an earlier turn, or nil if a
// response did. Findings about a request directly follow the event that reports the call in the request's history.
func (r *Run) laterRequest(f stream.Finding, c *stream.Call) *stream.Turn {
	if c == nil {
		return nil
	}
	n := f.Event
	for ; n > 0; n-- {
		if kind, _ := r.View.Subject(n); kind != stream.Found {
			break
		}
	}
	for i := range c.SentBack {
		if back := &c.SentBack[i]; back.Event == n {
			return r.View.TurnAfter(back)
		}
	}
	return nil
}

// baseName returns the last element of a path.
func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// isOwn reports whether a call uses toolscope's own tools. Such calls are left out, because otherwise an
// answer would contain earlier answers.
func isOwn(c *stream.Call) bool {
	return c.MCPServer == "toolscope" || c.Namespace == "mcp__toolscope" || c.Namespace == "toolscope" ||
		slices.ContainsFunc(ownPrefixes, func(p string) bool { return strings.HasPrefix(c.Name, p) })
}

// ownPrefixes are the prefixes that clients give the names of toolscope's own tools. Codex sends the names without a
// prefix, in a namespace.
var ownPrefixes = []string{"mcp__toolscope__", "mcp_toolscope_", "toolscope_", "toolscope-"}

// countCalls counts the calls by state, without those of toolscope's own tools.
func (r *Run) countCalls() (counts [stream.NumStatus]int, all int) {
	for _, t := range r.View.Session().Turns {
		for _, c := range t.Calls {
			if !isOwn(c) {
				counts[c.Status()]++
				all++
			}
		}
	}
	return counts, all
}

// listProblems lists the problems in a run. With the argument wait_s, it first waits for a new problem.
func (q *query) listProblems() (*answer, error) {
	least := stream.Warn
	switch q.args["severity"] {
	case "error":
		least = stream.Error
	case "info":
		least = stream.Info
	}
	until, first := time.Now().Add(time.Duration(q.numberArg("wait_s", 0))*time.Second), -1
	for {
		r, err := q.open(q.args["run"])
		var still StillReading
		if err != nil && (!errors.As(err, &still) || !time.Now().Before(until)) {
			return nil, err
		}
		if err == nil {
			a, n := r.problemAnswer(least)
			if first < 0 {
				first = n
			}
			if n > first || !time.Now().Before(until) {
				return a, nil
			}
		}
		select {
		case <-q.ended:
			until = time.Time{}
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// unmatchedRuns returns the tool runs that are not matched to a call, without those of toolscope's own tools.
func (r *Run) unmatchedRuns() []providers.ToolRun {
	return slices.DeleteFunc(r.View.UnmatchedToolRuns(), func(run providers.ToolRun) bool { return run.Server == "toolscope" })
}

// callsText returns the number of calls, and the number of tool runs that are not matched to one.
func (r *Run) callsText(calls int) string {
	text := count.Of(calls, "call")
	if n := len(r.unmatchedRuns()); n > 0 {
		text += " and " + count.Of(n, "tool run") + " not matched to a call"
	}
	return text
}

// problemAnswer returns the problems in a run as an answer, and their number.
func (r *Run) problemAnswer(least stream.Severity) (*answer, int) {
	a, hidden := &answer{}, 0
	for _, p := range r.findProblems() {
		if p.severity < least {
			hidden++
		} else {
			a.add(p.key, "%s", p.text)
		}
	}
	_, calls := r.countCalls()
	a.title = fmt.Sprintf("%s%s: %s in %s, %s", quoteName(r.ID), r.liveWord(), count.Of(len(a.rows), "problem"), turnsText(r.View.Session().Turns), present.JoinWords(r.callsText(calls), r.gapText()))
	if hidden > 0 {
		a.title += fmt.Sprintf(" (%d of lower severity not shown: use severity=info)", hidden)
	}
	return a, len(a.rows)
}

// liveWord returns the time of the last write if a program is still recording the run. Otherwise it returns "".
func (r *Run) liveWord() string {
	if r.Live {
		return r.Written.UTC().Format(" LIVE at 15:04:05Z")
	}
	return ""
}

// explainCode explains a finding code.
func (q *query) explainCode() (*answer, error) {
	code := strings.ToUpper(q.args["code"])
	var similar []string
	explain := func(severity string, by stream.Party, means, do string) (*answer, error) {
		a := &answer{title: code}
		a.add("severity", "severity %s; by %s, unless the finding names another party", severity, by)
		a.add("means", "means: %s", means)
		a.add("do", "do: %s", do)
		return a, nil
	}
	if code == toolFailed {
		return explain(stream.Warn.String(), stream.UnknownParty, toolFailedMeans, toolFailedDo)
	}
	for _, d := range providers.Findings() {
		if d.Code == code {
			return explain(present.SeverityText(d), d.By, d.Meaning, d.Advice)
		}
		if len(code) > 2 && (strings.Contains(d.Code, code) || strings.Contains(code, d.Code)) {
			similar = append(similar, d.Code)
		}
	}
	help := "use the tool 'problems' to list the codes in a run"
	if len(similar) > 0 {
		help = "similar codes: " + strings.Join(similar[:min(len(similar), 5)], ", ")
	}
	return nil, fmt.Errorf("no code %s\n%s", quoteText(cutText(code, maxName)), help)
}
