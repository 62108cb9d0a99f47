package stats

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"toolscope/providers/price"
	"toolscope/stream"
)

// A Group has the numbers for the turns that have the same values of the keys. If one of the keys is the tool, the
// numbers are about the calls of this tool, and costs and latencies of turns are left out.
type Group struct {
	Values    []string // in the order of the keys
	ByTool    bool
	Turns     int
	Calls     int // without unseen calls
	Unseen    int
	States    [stream.NumStatus]int
	Results   int // number of calls whose result is known
	Cost      price.Sum
	Tokens    [numTokens]int64
	cacheable int64 // input tokens of turns that report how many of them came from the cache
	times     [numTimes][]time.Duration
	rates     map[string]*Rate
	runs      map[runKey]*run
	order     []*run // values of runs, in the order of their first turn
}

// A Rate counts how often something occurs, and in how many runs.
type Rate struct {
	Metric   string // the code of a finding, or one of the metrics below
	Severity stream.Severity
	Count    int
	RunsWith int
}

// These constants are the metrics that are not findings. A bad call is a call that the filter state:bad selects.
const (
	badCalls     = "bad"
	failedTurns  = "failed"
	refusedTurns = "refused"
	failedTools  = "tool_error"
)

// fixedMetrics are the metrics that every group has.
var fixedMetrics = []string{badCalls, failedTurns, refusedTurns, failedTools}

// These constants are the kinds of latencies. firstToken and wholeTurn begin with the request.
const (
	firstToken = iota
	wholeTurn
	toolRun

	numTimes = iota
)

// timeNames are the names of the latencies in JSON lines.
var timeNames = [numTimes]string{"first_token_ms", "duration_ms", "tool_run_ms"}

// runKey identifies a run.
type runKey struct {
	source int // 0 if the name is unique in all sources
	name   string
}

// run has the facts about one run that a comparison needs.
type run struct {
	began time.Time // the earliest known time of a turn
	turns int
	has   map[string]bool // metrics that occur in the run
	times [numTimes][]time.Duration
}

// Groups returns the numbers for each combination of the keys' values, the groups with the most turns first. If one of
// the keys is the day, the groups are sorted by their values instead. Turns that answer background requests are left
// out.
func (s *Set) Groups(keys []Key) []*Group {
	s.resolveModels()
	all := map[string]*Group{}
	byTool := slices.Contains(keys, Tool)
	for i := range s.turns {
		t := &s.turns[i]
		if t.Background {
			continue
		}
		tools := []string{""}
		if byTool {
			tools = tools[:0]
			for _, c := range t.Calls {
				if !slices.Contains(tools, c.Tool) {
					tools = append(tools, c.Tool)
				}
			}
		}
		for _, tool := range tools {
			values := make([]string, len(keys))
			for n, k := range keys {
				if values[n] = t.Values[k]; k == Tool {
					values[n] = tool
				}
			}
			name := strings.Join(values, "\x00")
			g := all[name]
			if g == nil {
				g = &Group{Values: values, ByTool: byTool, rates: map[string]*Rate{}, runs: map[runKey]*run{}}
				all[name] = g
			}
			g.addTurn(t, tool)
		}
	}
	groups := slices.Collect(maps.Values(all))
	slices.SortFunc(groups, func(a, b *Group) int {
		if slices.Contains(keys, Day) {
			return slices.Compare(a.Values, b.Values)
		}
		return cmp.Or(cmp.Compare(b.Turns, a.Turns), slices.Compare(a.Values, b.Values))
	})
	return groups
}

// Total returns the numbers for all turns.
func (s *Set) Total() *Group {
	if all := s.Groups(nil); len(all) > 0 {
		return all[0]
	}
	return &Group{}
}

// Background returns the number of turns that answer background requests.
func (s *Set) Background() (n int) {
	for i := range s.turns {
		if s.turns[i].Background {
			n++
		}
	}
	return n
}

// resolveModels sets the model of turns whose response names none, e.g. because the provider refused the request. If
// the other responses to requests for the same model at the same host all name one model, that is the model.
// Otherwise it is the requested model.
func (s *Set) resolveModels() {
	type request struct{ server, model string }
	of := map[request]string{}
	for i := range s.turns {
		t := &s.turns[i]
		r := request{t.Values[Server], t.RequestedModel}
		if model := t.Values[Model]; model != "" {
			if other, known := of[r]; known && other != model {
				model = r.model
			}
			of[r] = model
		}
	}
	for i := range s.turns {
		t := &s.turns[i]
		if t.Values[Model] == "" && t.RequestedModel != "" {
			t.Values[Model] = cmp.Or(of[request{t.Values[Server], t.RequestedModel}], t.RequestedModel)
		}
	}
}

// addTurn adds a turn, or its calls of one tool if the group is about a tool.
func (g *Group) addTurn(t *Turn, tool string) {
	key := runKey{t.source, t.Run}
	r := g.runs[key]
	if r == nil {
		r = &run{}
		g.runs[key] = r
		g.order = append(g.order, r)
	}
	if r.turns++; !t.At.IsZero() && (r.began.IsZero() || t.At.Before(r.began)) {
		r.began = t.At
	}
	g.Turns++
	var counted map[int]bool // calls whose findings count; 0 is the turn
	if len(t.Findings) > 0 {
		counted = map[int]bool{0: !g.ByTool}
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		if g.ByTool && c.Tool != tool {
			continue
		}
		if counted != nil {
			counted[c.Number] = true
		}
		g.addCall(r, c)
	}
	for i := range t.Findings {
		if f := &t.Findings[i]; counted[f.Call] {
			g.countMetric(r, f.Code, f.Severity)
		}
	}
	if g.ByTool {
		return
	}
	if t.Failed {
		g.countMetric(r, failedTurns, stream.Error)
	}
	if t.Refused {
		g.countMetric(r, refusedTurns, stream.Error)
	}
	g.Cost.Add(t.Cost)
	for i, u := range t.Usage {
		g.Tokens[i] = addTokens(g.Tokens[i], u.N)
	}
	if t.Usage[cacheReadTokens].Reported {
		g.cacheable = addTokens(g.cacheable, t.Usage[inputTokens].N)
	}
	if !t.Failed && !t.Stopped {
		g.addTime(r, firstToken, t.FirstToken)
		g.addTime(r, wholeTurn, t.Duration)
	}
}

// addTokens adds two numbers of tokens. If the sum is too large, it returns the largest possible number.
func addTokens(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func (g *Group) addCall(r *run, c *Call) {
	if c.State == stream.Unseen {
		g.Unseen++
		return
	}
	g.Calls++
	g.States[c.State]++
	if c.Bad {
		g.countMetric(r, badCalls, stream.Error)
	}
	if c.Result != 0 {
		g.Results++
	}
	if c.Result == stream.ResultFailed {
		g.countMetric(r, failedTools, stream.Warn)
	}
	for _, d := range c.Runs {
		g.addTime(r, toolRun, d)
	}
}

func (g *Group) addTime(r *run, kind int, d time.Duration) {
	if d >= 0 {
		g.times[kind] = append(g.times[kind], d)
		r.times[kind] = append(r.times[kind], d)
	}
}

// countMetric counts an occurrence of a metric in a run.
func (g *Group) countMetric(r *run, metric string, severity stream.Severity) {
	rate := g.rates[metric]
	if rate == nil {
		rate = &Rate{Metric: metric}
		g.rates[metric] = rate
	}
	rate.Count++
	rate.Severity = max(rate.Severity, severity)
	if !r.has[metric] {
		if r.has == nil {
			r.has = map[string]bool{}
		}
		r.has[metric] = true
		rate.RunsWith++
	}
}

// Runs returns the number of runs.
func (g *Group) Runs() int { return len(g.order) }

// Rate returns the rate of a metric.
func (g *Group) Rate(metric string) Rate {
	if r := g.rates[metric]; r != nil {
		return *r
	}
	return Rate{Metric: metric}
}

// FindingRates returns the rates of findings, the most severe and then the most frequent first.
func (g *Group) FindingRates() (list []Rate) {
	for metric, r := range g.rates {
		if !slices.Contains(fixedMetrics, metric) {
			list = append(list, *r)
		}
	}
	slices.SortFunc(list, func(a, b Rate) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Metric, b.Metric))
	})
	return list
}

// quantileOf returns the quantile p: the smallest value that at least the fraction p of the values do not exceed. It
// returns false if there are too few values for at least one to lie above the quantile.
func quantileOf(values []time.Duration, p float64) (time.Duration, bool) {
	if n := len(values); n == 0 || p > 0.5 && float64(n)*(1-p) < 1-1e-9 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(int(math.Ceil(p*float64(len(sorted))-1e-9)), 1)-1], true
}
