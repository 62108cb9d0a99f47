package stats

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// A Table is a table for people. Its first row has the titles of the columns. The first Keys columns have text, and
// the others have numbers.
type Table struct {
	Rows [][]string
	Keys int
}

// minPerThousand is the minimum number of turns, or of calls of a tool, for a rate per thousand.
const minPerThousand = 100

// EmptyText returns the reason why the set has no rows, or "" if groups has some.
func (s *Set) EmptyText(groups []*Group) string {
	if len(groups) > 0 {
		return ""
	}
	return s.Total().noRowsText()
}

// Tables returns the tables of groups: the totals, the states of calls, and the rates of findings. Empty tables are
// left out.
func Tables(keys []Key, groups []*Group) []Table {
	tables := []Table{totalsTable(keys, groups), statesTable(keys, groups), findingsTable(keys, groups)}
	return slices.DeleteFunc(tables, func(t Table) bool { return len(t.Rows) < 2 || len(t.Rows[0]) == t.Keys })
}

// newTable returns a table with the titles of the keys and of the other columns.
func newTable(keys []Key, columns ...string) Table {
	var titles []string
	for _, k := range keys {
		titles = append(titles, k.String())
	}
	return Table{Rows: [][]string{append(titles, columns...)}, Keys: len(keys)}
}

func (t *Table) addRow(g *Group, cells ...string) {
	var row []string
	for _, v := range g.Values {
		row = append(row, valueText(v))
	}
	t.Rows = append(t.Rows, append(row, cells...))
}

func totalsTable(keys []Key, groups []*Group) Table {
	if slices.Contains(keys, Tool) {
		t := newTable(keys, "turns", "runs", "calls", "bad", "tool errors", "run p50/p95")
		for _, g := range groups {
			t.addRow(g, countText(g.Turns), countText(g.Runs()), countText(g.Calls), percentOf(g.Rate(badCalls).Count, g.Calls),
				percentOf(g.Rate(failedTools).Count, g.Results), g.timesText(toolRun))
		}
		return t
	}
	t := newTable(keys, "turns", "runs", "calls", "bad", "failed", "first p50/p95", "whole p50/p95", "cost", "cache")
	for _, g := range groups {
		t.addRow(g, countText(g.Turns), countText(g.Runs()), countText(g.Calls), percentOf(g.Rate(badCalls).Count, g.Calls),
			percentOf(g.Rate(failedTurns).Count, g.Turns), g.timesText(firstToken), g.timesText(wholeTurn), g.costText(), g.cacheText())
	}
	return t
}

// statesTable returns the number of calls in each state. It has a column for each state that occurs.
func statesTable(keys []Key, groups []*Group) Table {
	var states []stream.Status
	var columns []string
	for s := range stream.Status(stream.NumStatus) {
		if slices.ContainsFunc(groups, func(g *Group) bool { return g.States[s] > 0 }) {
			states, columns = append(states, s), append(columns, s.String())
		}
	}
	t := newTable(keys, columns...)
	for _, g := range groups {
		cells := make([]string, len(states))
		for i, s := range states {
			cells[i] = countText(g.States[s])
		}
		if g.Calls > 0 {
			t.addRow(g, cells...)
		}
	}
	return t
}

func findingsTable(keys []Key, groups []*Group) Table {
	t := newTable(keys, "finding", "severity", "count", "per 1,000 turns", "runs with it")
	t.Keys += 2
	for _, g := range groups {
		for _, r := range g.FindingRates() {
			per := "-"
			if g.Turns >= minPerThousand {
				per = shortNumber(1000 * float64(r.Count) / float64(g.Turns))
			}
			t.addRow(g, r.Metric, r.Severity.String(), countText(r.Count), per, fmt.Sprintf("%d of %d", r.RunsWith, g.Runs()))
		}
	}
	return t
}

// countText formats a count.
func countText(n int) string { return screen.Count(n).String() }

// percentOf returns a share in percent, with its count. If the count is zero, it returns only the count. If the total
// is zero, it returns a dash.
func percentOf(n, all int) string {
	switch {
	case all == 0:
		return "-"
	case n == 0:
		return "0"
	}
	return fmt.Sprintf("%s (%s%%)", countText(n), shortNumber(100*float64(n)/float64(all)))
}

// shortNumber formats a number with two significant digits, or more before the decimal point.
func shortNumber(f float64) string {
	if f >= 9.95 {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return strconv.FormatFloat(f, 'g', 2, 64)
}

// timesText returns the median and the 95th percentile of a latency. A dash means that there are too few values.
func (g *Group) timesText(kind int) string {
	half, ok := quantileOf(g.times[kind], 0.5)
	if !ok {
		return "-"
	}
	high := "-"
	if d, ok := quantileOf(g.times[kind], 0.95); ok {
		high = screen.Time(d).String()
	}
	return screen.Time(half).String() + " / " + high
}

// costText returns the known cost. A plus sign means that the cost of other turns is unknown.
func (g *Group) costText() string {
	known := g.Cost
	known.Unknown = 0
	text := known.String()
	switch {
	case text == "":
		return "unknown"
	case g.Cost.Unknown > 0:
		return text + " +"
	}
	return text
}

// cacheText returns the share of input tokens that came from the cache, in turns that report it.
func (g *Group) cacheText() string {
	if g.cacheable == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(g.Tokens[cacheReadTokens])/float64(g.cacheable))
}

// Notes returns the facts that the tables of a set leave out.
func (s *Set) Notes() (notes []string) {
	var turns, unseen int
	var cost price.Sum
	for i := range s.turns {
		if t := &s.turns[i]; !t.Background {
			turns++
			cost.Add(t.Cost)
			for c := range t.Calls {
				unseen += count.If(t.Calls[c].State == stream.Unseen)
			}
		}
	}
	if turns > 0 {
		notes = append(notes, "a dash means an unknown value or too few values")
	}
	if n := cost.Unknown; n > 0 {
		notes = append(notes, fmt.Sprintf("the cost of %s is unknown", count.Of(n, "turn")))
	}
	if cost.AsOf != "" {
		notes = append(notes, "prices as of "+cost.AsOf)
	}
	if n := s.Background(); n > 0 {
		notes = append(notes, count.Of(n, "background request")+" not counted")
	}
	if s.untimed > 0 {
		notes = append(notes, count.Of(s.untimed, "turn")+" with unknown time not counted")
	}
	if unseen > 0 {
		notes = append(notes, count.Of(unseen, "unseen call")+" not counted")
	}
	if gaps := s.sumGaps(); gaps.Places > 0 {
		notes = append(notes, gaps.Text())
	}
	return notes
}

// sumGaps returns the gaps in the turns that are counted.
func (s *Set) sumGaps() (sum present.Gaps) {
	for i := range s.turns {
		if t := &s.turns[i]; !t.Background {
			sum.Places += t.Gaps.Places
			sum.Bytes += t.Gaps.Bytes
		}
	}
	return sum
}

// Text returns a change in the columns of a table: the verdict, the values of the keys, the metric and the numbers.
func (c *Change) Text(limit float64, tests int) []string {
	row := []string{c.Verdict.String()}
	if !c.Since.IsZero() {
		row = append(row, "since "+c.Since.Format(time.DateOnly))
	}
	for _, v := range c.Values {
		row = append(row, valueText(v))
	}
	runs := fmt.Sprintf("%d of %s → %d of %d", c.Before.With, count.Of(c.Before.Runs, "run"), c.After.With, c.After.Runs)
	if c.Latency {
		runs = fmt.Sprintf("p50 %s → %s, slow runs %s", screen.Time(c.Median[0]), screen.Time(c.Median[1]), runs)
	}
	return append(row, cmp.Or(metricTexts[c.Metric], c.Metric), runs, fmt.Sprintf("p %s (limit %s, %s)", shortNumber(c.P), shortNumber(limit), count.Of(tests, "test")))
}

// metricTexts are the metrics as people see them. The codes of findings are not in the table.
var metricTexts = map[string]string{
	badCalls: "bad calls", failedTurns: "failed turns", refusedTurns: "refused turns", failedTools: "tool errors",
	timeNames[firstToken]: "first token", timeNames[wholeTurn]: "whole turn", timeNames[toolRun]: "tool run",
}

// RestText returns a sentence about the changes that are not shown, or "" if all are shown.
func (c *Comparison) RestText() string {
	var parts []string
	switch {
	case c.Rows == 0 && c.drift:
		return "nothing to compare: no row has turns that are " + count.Of(daysBefore, "day") + " apart"
	case c.Rows == 0:
		return "nothing to compare: no row is in both sets"
	case c.Tests+c.TooFew == 0:
		return "nothing to compare: no metric and no latency is known in both sets"
	case len(c.Changes) == 0 && c.Tests > 0:
		parts = append(parts, "no difference shown")
	case c.Equal > 0:
		parts = append(parts, "no difference shown in "+count.Of(c.Equal, "other comparison"))
	}
	if c.TooFew > 0 {
		parts = append(parts, "too few runs for "+count.Of(c.TooFew, "comparison"))
	}
	return strings.Join(parts, "; ")
}

// Lines returns the objects about a group for JSON lines.
func (g *Group) Lines(keys []Key) (lines []present.Facts) {
	by := byFact(keys, g.Values)
	line := func(kind string, facts ...present.Fact) {
		lines = append(lines, append(present.Facts{{Key: "type", JSON: kind}, by}, facts...))
	}
	rate := func(r Rate, isFinding bool) {
		facts := present.Facts{{Key: "metric", JSON: r.Metric}}
		if isFinding {
			facts = append(facts, present.Fact{Key: "severity", JSON: r.Severity.String()})
		}
		facts = append(facts, present.Fact{Key: "turns", JSON: g.Turns}, present.Fact{Key: "calls", JSON: g.Calls}, present.Fact{Key: "runs", JSON: g.Runs()},
			present.Fact{Key: "runs_with", JSON: r.RunsWith}, present.Fact{Key: "count", JSON: r.Count})
		line("rate", facts...)
	}
	for _, metric := range fixedMetrics {
		if !g.ByTool || metric != failedTurns && metric != refusedTurns {
			rate(g.Rate(metric), false)
		}
	}
	for _, r := range g.FindingRates() {
		rate(r, true)
	}
	var states present.Facts
	for s, n := range g.States {
		if n > 0 {
			states = append(states, present.Fact{Key: stream.Status(s).String(), JSON: n})
		}
	}
	line("calls", present.Fact{Key: "calls", JSON: g.Calls}, present.Fact{Key: "states", JSON: states}, present.Fact{Key: "results", JSON: g.Results}, present.Fact{Key: "unseen", JSON: g.Unseen})
	for kind, values := range g.times {
		if facts := quantileFacts(values); facts != nil {
			line("latency", append(present.Facts{{Key: "metric", JSON: timeNames[kind]}}, facts...)...)
		}
	}
	if g.ByTool {
		return lines
	}
	cost := present.Facts{}
	if g.Cost.Paid+g.Cost.Free > 0 {
		cost = append(cost, present.Fact{Key: "cost_usd", JSON: g.Cost.USD})
		if g.Cost.Approximate {
			cost = append(cost, present.Fact{Key: "cost_approximate", JSON: true})
		}
		if g.Cost.AsOf != "" {
			cost = append(cost, present.Fact{Key: "prices_date", JSON: g.Cost.AsOf})
		}
	}
	line("cost", append(cost, present.Fact{Key: "cost_unknown", JSON: g.Cost.Unknown}, present.Fact{Key: "turns", JSON: g.Turns})...)
	tokens := present.Facts{}
	for i, name := range tokenNames {
		tokens = append(tokens, present.Fact{Key: name, JSON: int(g.Tokens[i])})
	}
	line("tokens", tokens...)
	return lines
}

// byFact returns the values of the keys as an object.
func byFact(keys []Key, values []string) present.Fact {
	by := present.Facts{}
	for i, k := range keys {
		by = append(by, present.Fact{Key: k.String(), JSON: values[i]})
	}
	return present.Fact{Key: "by", JSON: by}
}

// quantileFacts returns the number of values and their quantiles, or nil if there are no values. A quantile for which
// there are too few values is left out.
func quantileFacts(values []time.Duration) present.Facts {
	if len(values) == 0 {
		return nil
	}
	facts := present.Facts{{Key: "n", JSON: len(values)}}
	for _, q := range []struct {
		name string
		p    float64
	}{{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}} {
		if d, ok := quantileOf(values, q.p); ok {
			facts = append(facts, present.Fact{Key: q.name, JSON: d})
		}
	}
	return facts
}

// Lines returns the objects about a comparison for JSON lines. It includes the changes that are not shown.
func (c *Comparison) Lines(keys []Key) (lines []present.Facts) {
	for _, change := range slices.Concat(c.Changes, c.rest) {
		facts := present.Facts{{Key: "type", JSON: "change"}, byFact(keys, change.Values), {Key: "metric", JSON: change.Metric},
			{Key: "verdict", JSON: change.Verdict.String()}, {Key: "before", JSON: shareFacts(change.Before)}, {Key: "after", JSON: shareFacts(change.After)}}
		if c.drift {
			facts = append(facts, present.Fact{Key: "since", JSON: change.Since.Format(time.DateOnly)})
		}
		if change.Latency {
			facts = append(facts, present.Fact{Key: "before_p50", JSON: change.Median[0]}, present.Fact{Key: "after_p50", JSON: change.Median[1]})
		}
		lines = append(lines, append(facts, present.Fact{Key: "p", JSON: change.P}, present.Fact{Key: "limit", JSON: c.Limit}))
	}
	return append(lines, present.Facts{{Key: "type", JSON: "comparison"}, {Key: "tests", JSON: c.Tests}, {Key: "shown", JSON: len(c.Changes)},
		{Key: "no_difference", JSON: c.Equal}, {Key: "too_few", JSON: c.TooFew}, {Key: "limit", JSON: c.Limit}, {Key: "also", JSON: c.Also}})
}

func shareFacts(s Share) present.Facts {
	return present.Facts{{Key: "runs", JSON: s.Runs}, {Key: "with", JSON: s.With}}
}

// Summary returns the last object in JSON lines: the totals of a set.
func (s *Set) Summary() present.Facts {
	total, gaps := s.Total(), s.sumGaps()
	facts := present.Facts{{Key: "type", JSON: "stats"}, {Key: "turns", JSON: total.Turns}, {Key: "calls", JSON: total.Calls}, {Key: "runs", JSON: total.Runs()},
		{Key: "background", JSON: s.Background()}, {Key: "unseen_calls", JSON: total.Unseen},
		{Key: "recording_gaps", JSON: gaps.Places}, {Key: "missed_bytes", JSON: int(gaps.Bytes)}}
	if s.period {
		facts = append(facts, present.Fact{Key: "unknown_time", JSON: s.untimed})
	}
	return facts
}
