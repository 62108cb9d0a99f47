package ask

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/present"
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
	when := "written " + f.Written.UTC().Format("2006-01-02 15:04Z")
	if f.Live {
		when = "LIVE"
	}
	line := fmt.Sprintf("%s %s %d B: ", quoteName(f.ID), when, f.Bytes)
	if text, ok := q.summaries[f]; ok {
		return line + text
	}
	left := time.Until(until)
	if left <= 0 {
		return line + "not read yet: call again"
	}
	r, err := q.Library.Open(f, left)
	switch {
	case errors.As(err, new(StillReading)):
		return line + "not read yet: call again"
	case err != nil:
		return line + "can't be read: " + quoteStart(err.Error(), len(err.Error()), rowText)
	}
	if q.summaries == nil || len(q.summaries) >= maxSummaries {
		q.summaries = map[RunFile]string{}
	}
	q.summaries[f] = r.summaryText()
	return line + q.summaries[f]
}

// maxModels is the maximum number of models that the row of a run names.
const maxModels = 4

// summaryText returns the models, turns, calls by state, findings, cost and times of a run.
func (r *Run) summaryText() string {
	var models []string
	var worst [stream.Error + 1]int
	turns := r.View.Session().Turns
	sum := r.sumTurns(modelTurns(turns))
	sum.cost.AsOf = "" // the row would be too long
	for _, t := range turns {
		if m := quoteName(t.Model); t.Model != "" && !slices.Contains(models, m) {
			models = append(models, m)
		}
	}
	for _, p := range r.findProblems() {
		worst[p.severity]++
	}
	if more := len(models) - maxModels; more > 0 {
		models = append(models[:maxModels], count.Of(more, "more model"))
	}
	words := append(models, turnsText(turns))
	counts, calls := r.countCalls()
	for state, n := range counts {
		if n > 0 {
			words = append(words, count.Of(n, "call")+" "+stream.Status(state).String())
		}
	}
	if calls == 0 || len(r.unmatchedRuns()) > 0 {
		words = append(words, r.callsText(calls))
	}
	words = append(words, count.Of(worst[stream.Error], "error"), count.Of(worst[stream.Warn], "warning"))
	return present.JoinWords(append(words, sum.costText(), r.gapText(), sum.timesText())...)
}

// gapText describes the gaps in a run. It returns "" if there are none.
func (r *Run) gapText() string {
	var gaps present.Gaps
	for _, t := range r.View.Session().Turns {
		gaps.AddTurn(r.View.Exchange(t.Exchange), t)
	}
	return gaps.Text()
}

// modelTurns returns the turns with the response of a model. It leaves out other requests of the client, e.g. to count
// tokens.
func modelTurns(all []*stream.Turn) (list []*stream.Turn) {
	for _, t := range all {
		if !present.IsPlain(t) {
			list = append(list, t)
		}
	}
	return list
}

// turnsText returns the number of turns, and the number of other requests of the client.
func turnsText(list []*stream.Turn) string {
	turns := len(modelTurns(list))
	text := count.Of(turns, "turn")
	if others := len(list) - turns; others > 0 {
		text += " and " + count.Of(others, "request") + " without a model's response"
	}
	return text
}

// turnSum is the sum of the tokens and the costs of turns, and the times at which they began.
type turnSum struct {
	turns       int
	tokens      [4]stream.Count // input, cache_read, cache_write, output
	cost        price.Sum
	first, last time.Time // zero if unknown
}

func (r *Run) sumTurns(turns []*stream.Turn) (s turnSum) {
	s.turns = len(turns)
	for _, t := range turns {
		s.cost.Add(present.CostOf(r.Prices, r.View.Exchange(t.Exchange), t))
		for i, n := range []stream.Count{t.Usage.Input, t.Usage.CacheRead, t.Usage.CacheWrite, t.Usage.Output} {
			if n.Reported && n.N >= 0 {
				s.tokens[i] = stream.Tokens(s.tokens[i].N + n.N)
			}
		}
		if at := present.TurnClock(r.View, t); !at.IsZero() {
			if s.first.IsZero() || at.Before(s.first) {
				s.first = at
			}
			if at.After(s.last) {
				s.last = at
			}
		}
	}
	return s
}

func (s *turnSum) tokensText() string {
	return stream.Usage{Input: s.tokens[0], CacheRead: s.tokens[1], CacheWrite: s.tokens[2], Output: s.tokens[3]}.String()
}

// costText returns the cost of the turns, or "" without turns.
func (s *turnSum) costText() string {
	if s.turns == 0 {
		return ""
	}
	return present.CostOfTurns(s.cost, s.turns)
}

// clockLayout is the format of a time of day in answers. The time is in UTC.
const clockLayout = "2006-01-02 15:04:05.000Z"

// timesText returns the times of the first and the last request, or "" if the times are unknown.
func (s *turnSum) timesText() string {
	if s.first.IsZero() {
		return ""
	}
	return "requests from " + s.first.Format("2006-01-02 15:04:05Z") + " to " + s.last.Format("2006-01-02 15:04:05Z")
}

// turnOrders returns, for each value of the argument sort of the tool 'turns', the number that turns are sorted by. The
// largest number is first. A negative number is unknown.
var turnOrders = map[string]func(r *Run, t *stream.Turn) float64{
	"first_token": func(r *Run, t *stream.Turn) float64 { return float64(r.View.Latency(t, nil).FirstToken) },
	"end":         func(r *Run, t *stream.Turn) float64 { return float64(r.View.Latency(t, nil).End) },
	"input":       func(_ *Run, t *stream.Turn) float64 { return countOrNone(t.Usage.Input) },
	"output":      func(_ *Run, t *stream.Turn) float64 { return countOrNone(t.Usage.Output) },
	"cost": func(r *Run, t *stream.Turn) float64 {
		if f := present.CostOf(r.Prices, r.View.Exchange(t.Exchange), t); f.Known() {
			return f.USD
		}
		return -1
	},
}

// countOrNone returns a number of tokens, or -1 if it was not reported.
func countOrNone(c stream.Count) float64 {
	if !c.Reported {
		return -1
	}
	return float64(c.N)
}

// listTurns lists the turns in a run that match the arguments. The title has the sums for these turns.
func (q *query) listTurns() (*answer, error) {
	r, err := q.open(q.args["run"])
	if err != nil {
		return nil, err
	}
	var listed []*stream.Turn
	agents, names := map[string]int{}, map[string]int{}
	for _, t := range r.View.Session().Turns {
		agents[agentOf(t)]++
		names[t.Model]++
		if containsFold(t.Model, q.args["model"]) && containsFold(agentOf(t), q.args["agent"]) {
			listed = append(listed, t)
		}
	}
	sum := r.sumTurns(modelTurns(listed))
	a := &answer{title: fmt.Sprintf("%s%s: %s", quoteName(r.ID), r.liveWord(), present.JoinWords(turnsText(listed), sum.tokensText(), sum.costText(), r.gapText(), sum.timesText()))}
	if by := turnOrders[q.args["sort"]]; by != nil {
		value := map[*stream.Turn]float64{}
		for _, t := range listed {
			value[t] = by(r, t)
		}
		slices.SortStableFunc(listed, func(a, b *stream.Turn) int { return cmp.Compare(value[b], value[a]) })
	}
	for _, t := range listed {
		a.rows = append(a.rows, row{key: r.refOf(t, nil), later: func() string { return r.turnRow(t) }})
	}
	if len(listed) == 0 && len(names) > 0 {
		a.add("none", "no turn matches; models: %s; agents: %s", countedNames(names), countedNames(agents))
	}
	return a, nil
}

// agentOf returns the agent that sent a turn's request, or "" if it is unknown.
func agentOf(t *stream.Turn) string {
	if t.Request == nil {
		return ""
	}
	return t.Request.Agent
}

// turnRow returns a turn in one row.
func (r *Run) turnRow(t *stream.Turn) string {
	words := []string{quoteName(r.refOf(t, nil))}
	if at := present.TurnClock(r.View, t); !at.IsZero() {
		words = append(words, at.Format(clockLayout))
	}
	words = append(words, r.senderText(t), t.Phase().String(), "model="+quoteName(t.Model), "finish="+quoteName(present.FinishText(t)), count.Of(len(t.Calls), "call"))
	text := strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ") + r.turnEnd(t)
	for _, more := range []string{r.timesText(t, nil), r.billText(t)} {
		if more != "" {
			text += "; " + more
		}
	}
	for _, f := range t.Findings {
		text += "; " + f.Code
	}
	return text
}

// senderText returns the agent that sent a turn's request, the agent that started it, and the purpose of a background
// request.
func (r *Run) senderText(t *stream.Turn) string {
	q := t.Request
	if q == nil {
		return ""
	}
	var words []string
	if q.Agent != "" {
		words = append(words, "agent="+quoteName(q.Agent))
	}
	if q.Parent != "" {
		words = append(words, "parent_agent="+quoteName(q.Parent))
	}
	if q.Background {
		words = append(words, "background purpose="+quoteName(q.Purpose))
	}
	return strings.Join(words, " ")
}

// timesText returns the times of a call, or of a turn if c is nil, in milliseconds since the request. It returns "" if
// the times are unknown.
func (r *Run) timesText(t *stream.Turn, c *stream.Call) string {
	l := r.View.Latency(t, c)
	x := r.View.Exchange(t.Exchange)
	if l.From < 0 || x != nil && x.Head.NoDeltas {
		return ""
	}
	var times []string
	for _, m := range l.TimePoints() {
		if m.At >= 0 {
			times = append(times, fmt.Sprintf("%s %d ms", m.Name, m.At.Milliseconds()))
		}
	}
	since := "the response began"
	if l.RequestSeen {
		since = "the request"
	}
	if len(times) == 0 {
		return ""
	}
	return "since " + since + ": " + strings.Join(times, ", ")
}

// billText returns the usage and the cost of a turn, or "" if both are unknown.
func (r *Run) billText(t *stream.Turn) string {
	usage, cost := t.Usage, present.CostOf(r.Prices, r.View.Exchange(t.Exchange), t)
	words := []string{}
	if text := usage.String(); text != "" {
		if usage.Tier != "" { // the provider's own word
			text = quoteText(text)
		}
		if words = append(words, "usage: "+text); !cost.Known() {
			words = append(words, "cost unknown")
		}
	}
	if cost.Known() {
		words = append(words, "cost "+cost.String())
	}
	return strings.Join(words, ", ")
}

// addTurn adds the facts about a turn. The parameter c is the call that the answer is about, or nil.
func (r *Run) addTurn(a *answer, t *stream.Turn, c *stream.Call) {
	ended := ""
	if by := t.EndedBy.String(); by != "" {
		ended = " ended by " + by
	}
	a.add("turn", "turn %s: %s%s model=%s finish=%s %s%s", quoteName(r.refOf(t, nil)), t.Phase(), ended, quoteName(t.Model), quoteName(present.FinishText(t)), count.Of(len(t.Calls), "call"), r.turnEnd(t))
	x := r.View.Exchange(t.Exchange)
	var request []string
	if at := present.TurnClock(r.View, t); !at.IsZero() {
		request = append(request, "at "+at.Format(clockLayout))
	}
	if x != nil && x.Host() != "" {
		request = append(request, "to "+quoteName(x.Host()))
	}
	if t.Request != nil && t.Request.Client != "" {
		request = append(request, "client="+quoteName(t.Request.Client))
	}
	if sender := r.senderText(t); sender != "" {
		request = append(request, sender)
	}
	if len(request) > 0 {
		a.add("request", "request: %s", strings.Join(request, " "))
	}
	if c == nil {
		if times := r.timesText(t, nil); times != "" {
			a.add("turntimes", "%s", times)
		}
		if text, thinking := t.TextLens(); text+thinking > 0 {
			a.add("text", "text: %s; reasoning: %d B", quoteStart(string(t.Text[:min(len(t.Text), partText+utf8.UTFMax)]), text, partText), thinking)
		}
	}
	if bill := r.billText(t); bill != "" {
		a.add("bill", "%s", bill)
	}
	if retry, ok := r.View.Retry(t); ok && retry.Wanted >= 0 {
		a.add("wanted", "the server told the client to wait %d ms", retry.Wanted.Milliseconds())
	}
	if t.Failure != "" {
		a.add("error", "error from the provider: %s", quoteStart(t.Failure, len(t.Failure), messageText))
	}
	if x != nil {
		if lacks := present.UnknownFacts(x); len(lacks) > 0 {
			a.add("lacks", "not in this source: %s", quoteText(strings.Join(lacks, "; ")))
		}
	}
	for i, f := range t.Findings {
		a.add(fmt.Sprint("turnfinding", i), "%s", r.findingText(f, t, nil))
	}
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
