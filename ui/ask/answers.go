package ask

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/present"
)

// These constants limit the text that rows quote, in bytes.
const (
	rowText     = 160
	messageText = 700
	partText    = 240
)

// maxSummaries is the maximum number of runs whose summaries are kept in memory.
const maxSummaries = 1000

// listRuns lists the runs. If a run can't be read within the server's patience, its row has only the id, the time and
// the size.
func (q *query) listRuns() (*answer, error) {
	all, err := q.Library.Runs()
	if err != nil {
		return nil, errors.New("can't list the runs: " + quoteText(err.Error()))
	}
	a := &answer{title: count.Of(len(all), "run") + ", newest first"}
	until := time.Now().Add(q.Patience)
	for _, f := range all {
		a.rows = append(a.rows, row{key: f.ID, later: func() string { return q.runRow(f, until) }})
	}
	return a, nil
}

// runRow returns a run in one row. If the run has not been read yet, runRow reads it, but gives up at the given time.
func (q *query) runRow(f RunFile, until time.Time) string {
	when := f.Written.UTC().Format("2006-01-02 15:04Z")
	if f.Live {
		when = "LIVE"
	}
	line := fmt.Sprintf("%s %s %d B: ", quoteName(f.ID), when, f.Bytes)
	if text, ok := q.summaries[f]; ok {
		return line + text
	}
	left := time.Until(until)
	if left <= 0 {
		return line + "not read yet"
	}
	r, err := q.Library.Open(f, left)
	switch {
	case errors.As(err, new(StillReading)):
		return line + "not read yet"
	case err != nil:
		return line + "can't be read: " + quoteStart(err.Error(), len(err.Error()), rowText)
	}
	if q.summaries == nil || len(q.summaries) >= maxSummaries {
		q.summaries = map[RunFile]string{}
	}
	q.summaries[f] = r.summaryText()
	return line + q.summaries[f]
}

// summaryText returns the models, turns, calls by state, findings and cost of a run.
func (r *Run) summaryText() string {
	s := r.View.Session()
	var models []string
	var worst [stream.Error + 1]int
	var sum price.Sum
	for _, t := range s.Turns {
		if m := quoteName(t.Model); t.Model != "" && !slices.Contains(models, m) && len(models) < 4 {
			models = append(models, m)
		}
		sum.Add(present.CostOf(r.Prices, r.View.Exchange(t.Exchange), t))
	}
	for _, p := range r.findProblems() {
		worst[p.severity]++
	}
	words := append(models, count.Of(len(s.Turns), "turn"))
	counts, calls := r.countCalls()
	for state, n := range counts {
		if n > 0 {
			words = append(words, count.Of(n, "call")+" "+stream.Status(state).String())
		}
	}
	if calls == 0 {
		words = append(words, "0 calls")
	}
	words = append(words, count.Of(worst[stream.Error], "error"), count.Of(worst[stream.Warn], "warning"))
	if sum.Paid > 0 {
		words = append(words, fmt.Sprintf("$%.4f", sum.USD))
	}
	return present.JoinWords(append(words, r.gapText())...)
}

// gapText describes the gaps in a run. It returns "" if there are none.
func (r *Run) gapText() string {
	var gaps present.Gaps
	for _, t := range r.View.Session().Turns {
		gaps.AddTurn(r.View.Exchange(t.Exchange), t)
	}
	return gaps.Text()
}

// problem is a finding, or a tool that failed.
type problem struct {
	severity stream.Severity
	key      string
	text     string
}

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
				text := fmt.Sprintf("WARN TOOL_FAILED %s %s: the tool returned an error: %s", quoteName(r.refOf(t, c)), quoteName(c.Name), quoteStart(res.Result.Text, res.Result.Bytes, partText))
				all = append(all, problem{stream.Warn, "TOOL_FAILED@" + r.refOf(t, c), text})
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

// turnEnd describes how a turn's request failed, which earlier turn it repeats, and which later turn repeats it.
func (r *Run) turnEnd(t *stream.Turn) (text string) {
	for _, f := range present.OfTurn(r.View, r.Prices, t).Labelled("HTTP status", "repeats", "retried") {
		if f.Word != "HTTP status" {
			text += " " + f.Word + " " + f.Text
		} else if f.Text != "200" {
			text += " HTTP " + f.Text
		}
	}
	return text
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
	a.title = fmt.Sprintf("%s%s: %s in %s, %s", quoteName(r.ID), r.liveWord(), count.Of(len(a.rows), "problem"), count.Of(len(r.View.Session().Turns), "turn"), present.JoinWords(count.Of(calls, "call"), r.gapText()))
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

// listCalls lists the calls in a run that match the arguments, and the turns that failed.
func (q *query) listCalls() (*answer, error) {
	r, err := q.open(q.args["run"])
	if err != nil {
		return nil, err
	}
	a := &answer{}
	for _, t := range r.View.Session().Turns {
		if t.Phase() == stream.TurnRefused || t.Failure != "" {
			if q.args["tool"]+q.args["text"] == "" {
				a.add(r.refOf(t, nil), "%s %s: no calls%s", quoteName(r.refOf(t, nil)), t.Phase(), r.turnEnd(t))
			}
		}
		for _, c := range t.Calls {
			if want := q.args["tool"]; want != "" && !strings.Contains(c.Name, want) || want == "" && isOwn(c) {
				continue
			}
			res := c.LatestResult()
			if text := q.args["text"]; text != "" && !bytes.Contains(c.Args(), []byte(text)) && (res == nil || !strings.Contains(res.Result.Text, text)) {
				continue
			}
			bad := present.HarmOf(c.Status()) < present.HarmOpen || slices.ContainsFunc(c.Findings, func(f stream.Finding) bool { return f.Severity > stream.Info })
			if q.args["bad"] == "true" && !bad {
				continue
			}
			a.rows = append(a.rows, row{key: r.refOf(t, c), later: func() string { return r.callRow(t, c) }})
		}
	}
	a.title = fmt.Sprintf("%s%s: %s", quoteName(r.ID), r.liveWord(), count.Of(len(a.rows), "row"))
	return a, nil
}

// callRow returns a call in one row.
func (r *Run) callRow(t *stream.Turn, c *stream.Call) string {
	words := []string{quoteName(r.refOf(t, c))}
	if t.Request != nil && t.Request.Agent != "" {
		words = append(words, "agent="+quoteName(t.Request.Agent))
	}
	words = append(words, quoteName(c.Name), "id="+quoteName(c.ID), "state="+c.Status().String(), fmt.Sprintf("%d B", c.ArgsLen()), quoteStart(string(c.Args()), c.ArgsLen(), rowText))
	for _, run := range r.View.ToolRuns(c) {
		words = append(words, runText(run, rowText))
	}
	words = append(words, resultText(c, rowText))
	for _, f := range c.Findings {
		if !slices.Contains(words, f.Code) {
			words = append(words, f.Code)
		}
	}
	return strings.Join(words, " ")
}

// resultText describes the result that a later request carries.
func resultText(c *stream.Call, most int) string {
	res := c.LatestResult()
	switch {
	case res == nil:
		return "no result seen"
	case providers.IsMadeUp(res.Result.Text):
		return "result made up by the client " + quoteStart(res.Result.Text, res.Result.Bytes, most)
	case res.ResultCode == stream.ResultFailed:
		return "error result " + quoteStart(res.Result.Text, res.Result.Bytes, most)
	}
	return "result " + quoteStart(res.Result.Text, res.Result.Bytes, most)
}

// runText describes the arguments that a tool received and the result that it returned.
func runText(run providers.ToolRun, most int) string {
	text := fmt.Sprintf("ran %s: %s %s, matched by %s", quoteName(run.Server), quoteName(run.Tool), run.State, run.Join)
	if run.Of > 1 {
		text += fmt.Sprintf(" (%d calls are equal)", run.Of)
	}
	text += fmt.Sprintf(", received %d B %s", run.ArgsSize, quoteStart(string(run.Args), run.ArgsSize, most))
	if run.HasText {
		text += ", returned " + quoteStart(run.Text, run.Size, most)
	}
	if run.IsPrefix {
		text += fmt.Sprintf(" (only the first %d B of the arguments)", run.PrefixBytes)
	}
	return text
}

// find returns the turn and the call for a ref or an id.
func (q *query) find(ref string) (*Run, *stream.Turn, *stream.Call, error) {
	if i := strings.LastIndexByte(ref, '#'); i >= 0 {
		var turn, number int
		if n, _ := fmt.Sscanf(ref[i+1:], "%d.%d", &turn, &number); n > 0 && turn > 0 {
			r, err := q.open(ref[:i])
			if err != nil {
				return nil, nil, nil, err
			}
			t, c := r.View.Session().Find(stream.Ref{Turn: int32(turn - 1), Call: int32(number)})
			if t == nil || number > 0 && c == nil {
				return nil, nil, nil, fmt.Errorf("run %s has no %s\nthe run has %s; use the tool 'calls' to list them", quoteName(r.ID), quoteText(cutText(ref[i:], maxName)), count.Of(len(r.View.Session().Turns), "turn"))
			}
			return r, t, c, nil
		}
	}
	all, err := q.Library.Runs()
	if err != nil {
		return nil, nil, nil, errors.New("can't list the runs: " + quoteText(err.Error()))
	}
	until := time.Now().Add(q.Patience)
	for i, f := range all {
		r, err := q.Library.Open(f, max(0, time.Until(until)))
		if errors.As(err, new(StillReading)) {
			return nil, nil, nil, fmt.Errorf("no call %s in the newest %s; %w", quoteText(cutText(ref, maxName)), count.Of(i, "run"), err)
		}
		if err != nil {
			continue
		}
		for _, t := range r.View.Session().Turns {
			for _, c := range t.Calls {
				if c.ID == ref && ref != "" {
					return r, t, c, nil
				}
			}
		}
	}
	return nil, nil, nil, fmt.Errorf("no call %s in %s\nuse RUN#TURN.CALL, RUN#TURN, or the id of a call", quoteText(cutText(ref, maxName)), count.Of(len(all), "run"))
}

// showCall shows a call or a turn, or part of it.
func (q *query) showCall() (*answer, error) {
	r, t, c, err := q.find(q.args["ref"])
	if err != nil {
		return nil, err
	}
	a := &answer{title: "turn " + quoteName(r.refOf(t, c))}
	if c != nil {
		a.title = "call " + quoteName(r.refOf(t, c)) + " " + quoteName(c.Name)
	}
	switch part := q.args["part"]; part {
	case "bill":
		for _, f := range present.OfTurn(r.View, r.Prices, t).Labelled("usage", "cost") {
			a.add(f.Word, "%s: %s", f.Word, quoteName(f.Text))
		}
	case "arguments", "result", "request":
		text := r.partOf(t, c, part)
		from := min(q.numberArg("offset", 0), len(text))
		to := min(from+q.numberArg("bytes", 1000), len(text))
		// An escaped byte takes up to six bytes, so the loop shortens the quote until the row is below its limit.
		quoted := quoteText(text[from:to])
		for len(quoted) > maxRow-200 {
			to = from + (to-from)*(maxRow-200)/len(quoted)
			quoted = quoteText(text[from:to])
		}
		a.add(part, "%s, bytes %d to %d of %d: %s", part, from, to, len(text), quoted)
	default:
		if c != nil {
			r.addCall(a, t, c)
		}
		r.addTurn(a, t)
	}
	return a, nil
}

// partOf returns the text of a part. For a result, it returns the complete text if that is available.
func (r *Run) partOf(t *stream.Turn, c *stream.Call, part string) string {
	switch {
	case part == "request":
		if x := r.View.Exchange(t.Exchange); x != nil {
			return string(x.RequestOf(t))
		}
	case c == nil:
	case part == "arguments":
		return string(c.Args())
	default:
		if whole, ok := r.View.Result(c); ok {
			return string(whole.Text)
		}
		if res := c.LatestResult(); res != nil {
			return res.Result.Text
		}
	}
	return ""
}

// addCall adds the facts about a call.
func (r *Run) addCall(a *answer, t *stream.Turn, c *stream.Call) {
	a.add("state", "state=%s provider: %s; bytes: %s, %d B in %s; id=%s", c.Status(), c.Phase(), c.Syntax(), c.ArgsLen(), count.Of(c.Deltas(), "delta"), quoteName(c.ID))
	a.add("arguments", "arguments: %s", quoteStart(string(c.Args()), c.ArgsLen(), partText))
	if l := r.View.Latency(t, c); l.From >= 0 {
		var times []string
		for _, m := range l.TimePoints() {
			if m.At >= 0 {
				times = append(times, fmt.Sprintf("%s %d ms", m.Name, m.At.Milliseconds()))
			}
		}
		since := "response began"
		if l.RequestSeen {
			since = "request"
		}
		a.add("times", "since the %s: %s", since, strings.Join(times, ", "))
	}
	for i, run := range r.View.ToolRuns(c) {
		text := runText(run, partText)
		if c.SealedAt >= 0 {
			text += ", " + run.SinceMoment(c.SealedAt, "its arguments were final")
		}
		a.add(fmt.Sprint("run", i), "%s", text)
	}
	if n := len(c.SentBack); n > 0 {
		a.add("sent", "sent back %s, the last time %s", count.Of(n, "time"), quoteName(c.SentBack[n-1].Outcome))
	}
	a.add("result", "%s", resultText(c, partText))
	for i, f := range c.Findings {
		a.add(fmt.Sprint("finding", i), "%s", r.findingText(f, t, c))
	}
}

// addTurn adds the facts about a turn.
func (r *Run) addTurn(a *answer, t *stream.Turn) {
	ended := ""
	if by := t.EndedBy.String(); by != "" {
		ended = " ended by " + by
	}
	a.add("turn", "turn %s: %s%s model=%s finish=%s %s%s", quoteName(r.refOf(t, nil)), t.Phase(), ended, quoteName(t.Model), quoteName(present.FinishText(t)), count.Of(len(t.Calls), "call"), r.turnEnd(t))
	if t.Failure != "" {
		a.add("error", "error from the provider: %s", quoteStart(t.Failure, len(t.Failure), messageText))
	}
	for i, f := range t.Findings {
		a.add(fmt.Sprint("turnfinding", i), "%s", r.findingText(f, t, nil))
	}
}

// showEvidence shows the captured data in the lines around a finding's evidence.
func (q *query) showEvidence() (*answer, error) {
	r, err := q.open(q.args["run"])
	if err != nil {
		return nil, err
	}
	line := q.numberArg("line", 0)
	a := &answer{title: fmt.Sprintf("%s line %d", quoteName(baseName(r.Path)), line)}
	records := r.Records(line, q.numberArg("around", 0))
	if len(records) == 0 {
		return nil, fmt.Errorf("no response data was found at %s line %d\nuse a line that the tool 'problems' names as evidence", quoteName(baseName(r.Path)), line)
	}
	for _, rec := range records {
		a.add(fmt.Sprint(rec.Line), "line %d: %s", rec.Line, quoteStart(rec.Text, len(rec.Text), messageText))
	}
	return a, nil
}

// explainCode explains a finding code.
func (q *query) explainCode() (*answer, error) {
	code := strings.ToUpper(q.args["code"])
	for _, d := range providers.Findings() {
		if d.Code == code {
			a := &answer{title: d.Code}
			a.add("severity", "severity %s; by %s, unless the finding names another party", d.Severity, d.By)
			a.add("means", "means: %s", d.Meaning)
			a.add("do", "do: %s", d.Advice)
			return a, nil
		}
	}
	return nil, fmt.Errorf("no code %s\nuse the tool 'problems' to list the codes in a run", quoteText(cutText(code, maxName)))
}
