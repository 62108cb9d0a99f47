package ask

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"toolscope/providers"
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

// listCalls lists the calls in a run that match the arguments, and the turns that failed.
func (q *query) listCalls() (*answer, error) {
	r, err := q.open(q.args["run"])
	if err != nil {
		return nil, err
	}
	a, tools := &answer{}, map[string]int{}
	for _, t := range r.View.Session().Turns {
		if t.Phase() == stream.TurnRefused || t.Failure != "" {
			if q.args["tool"]+q.args["text"] == "" {
				a.add(r.refOf(t, nil), "%s %s: no calls%s", quoteName(r.refOf(t, nil)), t.Phase(), r.turnEnd(t))
			}
		}
		for _, c := range t.Calls {
			tools[c.Name]++
			if want := q.args["tool"]; want != "" && !containsFold(c.Name, want) || want == "" && isOwn(c) {
				continue
			}
			if text := q.args["text"]; text != "" && !r.hasText(c, text) {
				continue
			}
			if q.args["bad"] == "true" && !isBad(c) {
				continue
			}
			a.rows = append(a.rows, row{key: r.refOf(t, c), later: func() string { return r.callRow(t, c) }})
		}
	}
	for n, run := range r.unmatchedRuns() {
		tools[run.Tool]++
		if containsFold(run.Tool, q.args["tool"]) && (containsFold(string(run.Args), q.args["text"]) || containsFold(run.Text, q.args["text"])) && (q.args["bad"] != "true" || runHasFailed(run)) {
			a.add(fmt.Sprintf("%s@run%d", r.ID, n), "%s %s", quoteName(r.ID), runText(run, rowText))
		}
	}
	a.title = fmt.Sprintf("%s%s: %s", quoteName(r.ID), r.liveWord(), count.Of(len(a.rows), "row"))
	if len(a.rows) == 0 && len(tools) > 0 {
		a.add("tools", "no call matches; the run has calls to %s", countedNames(tools))
	}
	return a, nil
}

// isBad reports whether a call has a problem: a bad state, a finding that is not only a note, or an error as its
// result.
func isBad(c *stream.Call) bool {
	return present.HarmOf(c.Status()) < present.HarmOpen || providers.ToolOutcome(c.LatestResult()) == stream.ResultFailed ||
		slices.ContainsFunc(c.Findings, func(f stream.Finding) bool { return f.Severity > stream.Info })
}

// hasText reports whether the arguments of a call, a tool run or the complete result contain a text, in upper or
// lower case.
func (r *Run) hasText(c *stream.Call, text string) bool {
	if containsFold(string(c.Args()), text) {
		return true
	}
	for _, run := range r.View.ToolRuns(c) {
		if containsFold(string(run.Args), text) || containsFold(run.Text, text) {
			return true
		}
	}
	res := c.LatestResult()
	if res == nil {
		return false
	}
	if len(res.Result.Text) < res.Result.Bytes {
		if whole, ok := r.View.Result(c); ok {
			return containsFold(string(whole.Text), text)
		}
	}
	return containsFold(res.Result.Text, text)
}

// containsFold reports whether text contains part, in upper or lower case.
func containsFold(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// countedNames lists names with their counts, the most frequent first.
func countedNames(counts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	var words []string
	for _, name := range names[:min(len(names), 20)] {
		words = append(words, fmt.Sprintf("%s (%d)", quoteName(name), counts[name]))
	}
	if more := len(names) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, ", ")
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
	match := "not matched to a call"
	if run.Join != 0 {
		match = "matched by " + run.Join.String()
	}
	text := fmt.Sprintf("ran %s: %s %s, %s", quoteName(run.Server), quoteName(run.Tool), run.State, match)
	if run.Of > 1 {
		text += fmt.Sprintf(" (%d calls are equal)", run.Of)
	}
	text += fmt.Sprintf(", received %d B %s", run.ArgsSize, quoteStart(string(run.Args), run.ArgsSize, most))
	switch {
	case run.HasText && runHasFailed(run):
		text += ", returned the error " + quoteStart(run.Text, run.Size, most)
	case run.HasText:
		text += ", returned " + quoteStart(run.Text, run.Size, most)
	}
	if run.Took >= 0 {
		text += fmt.Sprintf(", took %d ms", run.Took.Milliseconds())
	}
	if run.IsPrefix {
		text += fmt.Sprintf(" (only the first %d B of the arguments)", run.PrefixBytes)
	}
	return text
}

// runHasFailed reports whether a tool or its server returned an error.
func runHasFailed(run providers.ToolRun) bool { return run.Failed || run.State == "refused" }

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
				return nil, nil, nil, fmt.Errorf("run %s has no %s\nthe run has %s; use the tool 'turns' or 'calls' to list them", quoteName(r.ID), quoteText(cutText(ref[i:], maxName)), count.Of(len(r.View.Session().Turns), "turn"))
			}
			return r, t, c, nil
		}
	}
	all, err := q.Library.Runs()
	if err != nil {
		return nil, nil, nil, errors.New("can't list the runs: " + quoteText(err.Error()))
	}
	if slices.ContainsFunc(all, func(f RunFile) bool { return f.ID == ref }) {
		return nil, nil, nil, fmt.Errorf("%s is a run, not a call\nuse it as the argument 'run' of the tool 'problems', 'turns' or 'calls'", quoteName(ref))
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
		if t.Usage.String() == "" {
			a.add("usage", "usage: not reported")
		}
		for _, f := range present.OfTurn(r.View, r.Prices, t).Labelled("usage", "cost") {
			a.add(f.Word, "%s: %s", f.Word, quoteName(f.Text))
		}
	case "arguments", "result", "sent_back", "request", "text":
		text, err := r.partOf(t, c, part)
		if err != nil {
			return nil, err
		}
		if err := a.addPart(part, text, q.numberArg("offset", 0), q.numberArg("bytes", 1000)); err != nil {
			return nil, err
		}
	default:
		if c != nil {
			r.addCall(a, t, c)
		}
		r.addTurn(a, t, c)
	}
	return a, nil
}

// addPart adds the bytes of a part from an offset, at most the given number. It doesn't split a character.
func (a *answer) addPart(part, text string, offset, most int) error {
	if offset > len(text) {
		return fmt.Errorf("offset=%d is after the end of the %s\nit has %s", offset, part, count.Of(len(text), "byte"))
	}
	from := offset
	for from > 0 && from < len(text) && from > offset-utf8.UTFMax && !utf8.RuneStart(text[from]) {
		from--
	}
	chunk := cutText(text[from:], most)
	if chunk == "" {
		_, n := utf8.DecodeRuneInString(text[from:])
		chunk = text[from : from+n]
	}
	// An escaped byte takes up to six bytes, so the loop shortens the quote until the row is below its limit.
	for quoted := quoteText(chunk); ; quoted = quoteText(chunk) {
		if len(quoted) <= maxRow-200 {
			to := from + len(chunk)
			a.add(part, "%s, bytes %d to %d of %d: %s", part, from, to, len(text), quoted)
			if to < len(text) {
				a.add("more", "more bytes: %d; call again with offset=%d", len(text)-to, to)
			}
			return nil
		}
		chunk = cutText(chunk, len(chunk)*(maxRow-200)/len(quoted))
	}
}

// partOf returns the text of a part. For a result, it returns the complete text if that is available. It fails if
// the call or the turn doesn't have the part.
func (r *Run) partOf(t *stream.Turn, c *stream.Call, part string) (string, error) {
	switch {
	case part == "text":
		return string(t.Text), nil
	case part == "request":
		if x := r.View.Exchange(t.Exchange); x != nil && len(x.RequestOf(t)) > 0 {
			return string(x.RequestOf(t)), nil
		}
		return "", fmt.Errorf("the request of %s is not in the capture", quoteName(r.refOf(t, nil)))
	case c == nil:
		help := "the turn has no calls"
		if n := len(t.Calls); n > 0 {
			help = fmt.Sprintf("the turn has %s; use e.g. ref=%s", count.Of(n, "call"), quoteName(r.refOf(t, t.Calls[0])))
		}
		return "", fmt.Errorf("part=%s needs a call, but %s is a turn\n%s", part, quoteName(r.refOf(t, nil)), help)
	case part == "arguments":
		return string(c.Args()), nil
	case part == "sent_back":
		if n := len(c.SentBack); n > 0 {
			if text, ok := r.sentBackArgs(c, &c.SentBack[n-1]); ok {
				return text, nil
			}
		}
		return "", errors.New("no later request in the capture carries the arguments of the call")
	}
	if whole, ok := r.View.Result(c); ok {
		return string(whole.Text), nil
	}
	if res := c.LatestResult(); res != nil {
		return res.Result.Text, nil
	}
	return "", errors.New("no result seen: no later request in the capture carries a result of the call")
}

// sentBackArgs returns the arguments of a call in the form in which a later request carries them. The result ok is
// false if the request doesn't contain them.
func (r *Run) sentBackArgs(c *stream.Call, back *stream.SentBackCall) (text string, ok bool) {
	carried, ok := r.View.Carried(c, back.Exchange)
	if !ok || carried.Part == nil {
		return "", false
	}
	return string(carried.Args), true
}

// addCall adds the facts about a call.
func (r *Run) addCall(a *answer, t *stream.Turn, c *stream.Call) {
	a.add("state", "state=%s provider: %s; bytes: %s, %d B in %s; id=%s", c.Status(), c.Phase(), c.Syntax(), c.ArgsLen(), count.Of(c.Deltas(), "delta"), quoteName(c.ID))
	a.add("arguments", "arguments: %s", quoteStart(string(c.Args()), c.ArgsLen(), partText))
	var same []string
	for _, other := range r.View.Session().Turns {
		for _, twin := range other.Calls {
			if twin != c && twin.ID == c.ID && c.ID != "" && len(same) < 5 {
				same = append(same, quoteName(r.refOf(other, twin)))
			}
		}
	}
	if len(same) > 0 {
		a.add("same", "other calls with this id: %s", strings.Join(same, ", "))
	}
	if text := r.timesText(t, c); text != "" {
		a.add("times", "%s", text)
	}
	for i, run := range r.View.ToolRuns(c) {
		text := runText(run, partText)
		if c.SealedAt >= 0 {
			text += ", " + run.SinceMoment(c.SealedAt, "its arguments were final")
		}
		a.add(fmt.Sprint("run", i), "%s", text)
	}
	if n := len(c.SentBack); n > 0 {
		back := &c.SentBack[n-1]
		a.add("sent", "sent back %s, the last time %s", count.Of(n, "time"), quoteName(back.Outcome))
		if text, ok := r.sentBackArgs(c, back); ok && text != string(c.Args()) {
			a.add("sent_back", "sent back as: %s", quoteStart(text, len(text), partText))
		}
	}
	a.add("result", "%s", resultText(c, partText))
	for i, f := range c.Findings {
		a.add(fmt.Sprint("finding", i), "%s", r.findingText(f, t, c))
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
