package stats

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolscope/stream/count"
	"toolscope/ui/screen"
)

// minRuns is the minimum number of runs for a statement about a share of runs or a latency.
const minRuns = 30

// A Condition is a condition that makes the command fail.
type Condition struct {
	text   string
	metric string        // "worse", "drift", "cost", or a metric or latency
	kind   int           // kind of latency, or -1
	p      float64       // quantile of the latency
	most   float64       // the command fails above this share of runs, or above this cost
	slow   time.Duration // the command fails above this latency
}

// These constants are conditions. A comparison fails isWorse if the newer set is worse or slower. A search for drift
// fails isDrift if it finds a day since which the runs are worse or slower.
const (
	isWorse = "worse"
	isDrift = "drift"
)

// ConditionHelp lists the conditions, for errors.
const ConditionHelp = "use worse, drift, bad>1%, failed>1%, refused>1%, tool_error>5%, CODE>0.5%, first.p95>10s, whole.p50>30s, run.p99>1m or cost>5"

// latencyWords are the names of latencies in conditions.
var latencyWords = [numTimes]string{"first", "whole", "run"}

// ParseConditions parses conditions that are separated by commas. The parameter codes has the codes of all findings.
// On failure, it returns the invalid condition.
func ParseConditions(text string, codes []string) (list []Condition, wrong string) {
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word == "" && text == "" {
			return nil, ""
		}
		c, ok := parseCondition(word, codes)
		if !ok {
			return nil, strconv.Quote(word)
		}
		list = append(list, c)
	}
	return list, ""
}

func parseCondition(text string, codes []string) (c Condition, ok bool) {
	c = Condition{text: text, metric: text, kind: -1}
	if text == isWorse || text == isDrift {
		return c, true
	}
	name, limit, found := strings.Cut(text, ">")
	if !found {
		return c, false
	}
	name, limit = strings.TrimSpace(name), strings.TrimSpace(limit)
	if word, quantile, is := strings.Cut(name, "."); is {
		c.kind = slices.Index(latencyWords[:], word)
		c.p = map[string]float64{"p50": 0.5, "p95": 0.95, "p99": 0.99}[quantile]
		slow, err := time.ParseDuration(limit)
		c.slow = slow
		return c, c.kind >= 0 && c.p > 0 && err == nil && slow >= 0
	}
	number, isShare := strings.CutSuffix(limit, "%")
	number = strings.TrimSpace(number)
	most, err := strconv.ParseFloat(strings.TrimPrefix(number, "$"), 64)
	if c.metric, c.most = name, most; err != nil || !(most >= 0) {
		return c, false
	}
	if name == "cost" {
		return c, !isShare
	}
	if code := strings.ToUpper(name); slices.Contains(codes, code) {
		c.metric = code
	}
	return c, isShare && most <= 100 && !strings.HasPrefix(number, "$") && (slices.Contains(fixedMetrics, c.metric) || slices.Contains(codes, c.metric))
}

// NeedsComparison reports whether a condition is about a comparison of two sets.
func (c Condition) NeedsComparison() bool { return c.metric == isWorse }

// NeedsDrift reports whether a condition is about a search for drift.
func (c Condition) NeedsDrift() bool { return c.metric == isDrift }

// NeedsTurns reports whether a condition is only about turns, so that it can't be checked by tool.
func (c Condition) NeedsTurns() bool {
	return c.kind == firstToken || c.kind == wholeTurn || c.metric == failedTurns || c.metric == refusedTurns
}

// CountsTurnFinding reports whether a condition is about a finding that turns of the set have. Such a finding is not
// about a tool.
func (c Condition) CountsTurnFinding(s *Set) bool {
	return slices.ContainsFunc(s.turns, func(t Turn) bool {
		return !t.Background && slices.ContainsFunc(t.Findings, func(f Finding) bool { return f.Call == 0 && f.Code == c.metric })
	})
}

// String returns the condition as the user wrote it.
func (c Condition) String() string { return c.text }

// A Result is the result of a condition for one group.
type Result struct {
	Fails  bool
	TooFew bool   // there are too few numbers for a statement
	Text   string // the condition, the group and the numbers
}

// Check checks a condition for each group. A condition about the cost is checked for the total. Check returns only
// results that fail, and results with too few numbers for a statement.
func (c Condition) Check(groups []*Group, total *Group, compared *Comparison) (list []Result) {
	compares := c.NeedsComparison() || c.NeedsDrift()
	switch {
	case !compares && len(groups) == 0 && (c.metric != "cost" || total.Turns == 0):
		return []Result{{TooFew: true, Text: c.text + ": " + total.noRowsText()}}
	case compares:
		bad := 0
		for _, change := range compared.Changes {
			bad += count.If(change.Verdict.IsBad())
		}
		if bad > 0 {
			list = append(list, Result{Fails: true, Text: fmt.Sprintf("%s: %d of %s", c.text, bad, count.Of(compared.Tests+compared.TooFew, "comparison"))})
		} else if compared.Tests == 0 {
			list = append(list, Result{TooFew: true, Text: c.text + ": every comparison has too few runs"})
		}
		return list
	case c.metric == "cost":
		switch {
		case total.Cost.USD > c.most:
			list = append(list, Result{Fails: true, Text: fmt.Sprintf("%s: the turns cost %s", c.text, total.costText())})
		case total.Cost.Unknown > 0:
			list = append(list, Result{TooFew: true, Text: fmt.Sprintf("%s: the cost is unknown for %d of %s", c.text, total.Cost.Unknown, count.Of(total.Turns, "turn"))})
		}
		return list
	}
	few := 0
	for _, g := range groups {
		r := c.checkGroup(g)
		few += count.If(r.TooFew)
		if r.Fails {
			list = append(list, Result{Fails: true, Text: strings.Join([]string{c.text, g.Name(), r.Text}, ": ")})
		}
	}
	if few > 0 {
		list = append(list, Result{TooFew: true, Text: fmt.Sprintf("%s: too few runs in %d of %s", c.text, few, count.Of(len(groups), "row"))})
	}
	return list
}

// noRowsText returns the reason why a report has no rows. It is called for the total of all turns.
func (g *Group) noRowsText() string {
	if g.Turns > 0 {
		return "no turn has a call"
	}
	return "no turns match"
}

// Name returns the values of the keys as one string.
func (g *Group) Name() string {
	var all []string
	for _, v := range g.Values {
		all = append(all, valueText(v))
	}
	return strings.Join(all, ", ")
}

func (c Condition) checkGroup(g *Group) (r Result) {
	if r.TooFew = g.Runs() < minRuns; c.kind >= 0 {
		d, enough := quantileOf(g.times[c.kind], c.p)
		r.TooFew = r.TooFew || !enough
		r.Fails, r.Text = !r.TooFew && d > c.slow, screen.Time(d).String()
		return r
	}
	with := g.Rate(c.metric).RunsWith
	r.Fails, r.Text = !r.TooFew && 100*float64(with) > c.most*float64(g.Runs()), fmt.Sprintf("%d of %s", with, count.Of(g.Runs(), "run"))
	return r
}
