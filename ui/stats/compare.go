package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"toolscope/stream"
	"toolscope/stream/count"
)

// falseAlarms is the probability that a comparison of two sets without a difference reports any difference.
const falseAlarms = 0.05

// A Verdict is the result of a comparison.
type Verdict uint8

const (
	TooFew Verdict = iota // no outcome with these numbers of runs could show a difference
	NoDifference
	Worse
	Better
	Slower
	Faster
	More // More and Fewer are for findings whose severity is info
	Fewer
)

func (v Verdict) String() string {
	return [...]string{"too few", "no difference shown", "worse", "better", "slower", "faster", "more", "fewer"}[v]
}

// IsBad reports whether the newer set is worse or slower.
func (v Verdict) IsBad() bool { return v == Worse || v == Slower }

// A Share is a number of runs, and how many of them have a property.
type Share struct{ Runs, With int }

// A Change compares one metric, or one latency, between two sets.
type Change struct {
	Values        []string // values of the keys
	Metric        string
	Verdict       Verdict
	Before, After Share
	Median        [2]time.Duration // before and after, for a latency
	Latency       bool
	Since         time.Time // the day of the change, for drift; otherwise zero
	P             float64
	least         float64 // the smallest P that the numbers of runs allow
	severity      stream.Severity
	up            bool // the share after the change is higher than it would be without a difference
}

// A Comparison is all changes between two sets.
type Comparison struct {
	Changes       []Change // changes with a difference, sorted by P
	Limit         float64  // a change with a higher P proves nothing
	Tests         int      // number of changes that the numbers of runs can show
	TooFew, Equal int      // number of changes without a difference, by verdict
	Rows          int      // number of rows that are in both sets
	Also          []string // other facts in which the sets differ
	rest          []Change // changes without a difference
	drift         bool     // the sets are the turns before and after a day
}

// lengthLimits are the upper limits for the strata of runs by length, in turns. A longer run has more findings, so
// only runs of similar length are compared.
var lengthLimits = []int{3, 6, 10, 16, 25, 40, 70, math.MaxInt}

// A stratum counts the runs of similar length.
type stratum struct{ before, after, beforeWith, afterWith int }

// Compare compares two sets. It compares groups that have the same values of the keys.
func Compare(before, after *Set, keys []Key) *Comparison {
	c := compareGroups(before.Groups(keys), after.Groups(keys))
	// Also list the keys outside the comparison whose most frequent values differ between the sets. They don't have to
	// be the cause of a change.
	for k := Key(0); k < Tool; k++ {
		if k == Day || slices.Contains(keys, k) {
			continue
		}
		old, n, all := before.usualValue(k)
		new, m, total := after.usualValue(k)
		if old != new && n > 0 && m > 0 {
			c.Also = append(c.Also, fmt.Sprintf("%s %s (%d of %s) → %s (%d of %s)", k, valueText(old), n, count.Of(all, "turn"), valueText(new), m, count.Of(total, "turn")))
		}
	}
	return c
}

// compareGroups compares groups with the same values.
func compareGroups(before, after []*Group) *Comparison {
	var changes []Change
	rows := 0
	for _, new := range after {
		i := slices.IndexFunc(before, func(g *Group) bool { return slices.Equal(g.Values, new.Values) })
		if i < 0 {
			continue
		}
		old := before[i]
		rows++
		for _, metric := range occurringMetrics(old, new) {
			changes = append(changes, compareMetric(old, new, metric))
		}
		for kind := range numTimes {
			if len(old.times[kind]) > 0 && len(new.times[kind]) > 0 {
				changes = append(changes, compareTimes(old, new, kind))
			}
		}
	}
	c := judgeChanges(changes, falseAlarms)
	c.Rows = rows
	return c
}

// occurringMetrics returns the metrics that occur in at least one of two groups, in alphabetical order.
func occurringMetrics(a, b *Group) (list []string) {
	for _, g := range []*Group{a, b} {
		for metric := range g.rates {
			if !slices.Contains(list, metric) {
				list = append(list, metric)
			}
		}
	}
	slices.Sort(list)
	return list
}

// compareMetric compares the shares of runs in which a metric occurs.
func compareMetric(before, after *Group, metric string) Change {
	c := Change{Values: after.Values, Metric: metric, severity: max(before.Rate(metric).Severity, after.Rate(metric).Severity)}
	c.testRuns(before.order, after.order, func(r *run) (bool, bool) { return r.has[metric], true })
	return c
}

// slowShare is the share of all compared runs that count as slow.
const slowShare = 0.2

// compareTimes compares the shares of slow runs. A run is slow if its median is above a quantile of the medians of
// all runs in both groups.
func compareTimes(before, after *Group, kind int) Change {
	c := Change{Values: after.Values, Metric: timeNames[kind], Latency: true, severity: stream.Warn}
	c.Median[0], _ = quantileOf(before.times[kind], 0.5)
	c.Median[1], _ = quantileOf(after.times[kind], 0.5)
	c.testRuns(before.order, after.order, slowRuns(slices.Concat(before.order, after.order), kind))
	return c
}

// slowRuns returns a function that reports whether a run is slow, and whether this is known. At least one of the runs
// must have a latency of the given kind.
func slowRuns(runs []*run, kind int) func(*run) (slow, known bool) {
	var medians []time.Duration
	for _, r := range runs {
		if m, ok := quantileOf(r.times[kind], 0.5); ok {
			medians = append(medians, m)
		}
	}
	slices.Sort(medians)
	limit := medians[int(math.Ceil((1-slowShare)*float64(len(medians))))-1]
	return func(r *run) (slow, known bool) {
		m, ok := quantileOf(r.times[kind], 0.5)
		return m > limit, ok
	}
}

// testRuns counts the runs in their strata and sets the result of the test. The function of reports whether a run has
// the property, and whether this is known.
func (c *Change) testRuns(before, after []*run, of func(*run) (has, known bool)) {
	strata := make([]stratum, len(lengthLimits))
	for _, r := range before {
		if has, known := of(r); known {
			s := &strata[stratumOf(r.turns)]
			s.before++
			s.beforeWith += count.If(has)
		}
	}
	for _, r := range after {
		if has, known := of(r); known {
			s := &strata[stratumOf(r.turns)]
			s.after++
			s.afterWith += count.If(has)
		}
	}
	c.testCounts(strata)
}

// testCounts sets the numbers of runs and the result of the test.
func (c *Change) testCounts(strata []stratum) {
	for _, s := range strata {
		c.Before.Runs += s.before
		c.Before.With += s.beforeWith
		c.After.Runs += s.after
		c.After.With += s.afterWith
	}
	c.P, c.least, c.up = testStrata(strata)
}

func stratumOf(turns int) int {
	return slices.IndexFunc(lengthLimits, func(most int) bool { return turns <= most })
}

// testStrata is an exact conditional test for a common difference in all strata. If nothing differs, the number of
// runs with the property after the change has a hypergeometric distribution in each stratum, given the stratum's
// totals. The test sums the probabilities of all outcomes that are not more likely than the observed one. It also
// returns the smallest p that the totals allow, and whether the observed number is above its expected value.
func testStrata(strata []stratum) (p, least float64, up bool) {
	probabilities, observed, expected := []float64{1}, 0, 0.0
	for _, s := range strata {
		with, all := s.beforeWith+s.afterWith, s.before+s.after
		if s.before == 0 || s.after == 0 || with == 0 || with == all {
			continue // only one outcome is possible
		}
		low, high := max(0, with-s.before), min(with, s.after)
		of := make([]float64, high-low+1)
		total := logChoose(all, s.after)
		for k := low; k <= high; k++ {
			of[k-low] = math.Exp(logChoose(with, k) + logChoose(all-with, s.after-k) - total)
		}
		sum := make([]float64, len(probabilities)+len(of)-1)
		for i, p := range probabilities {
			for k, q := range of {
				sum[i+k] += p * q
			}
		}
		probabilities = sum // the distribution of the sum of two independent numbers
		observed += s.afterWith - low
		expected += float64(with*s.after)/float64(all) - float64(low)
	}
	rarest := slices.Min(probabilities)
	return sumUpTo(probabilities, probabilities[observed]), sumUpTo(probabilities, rarest), float64(observed) > expected
}

// sumUpTo returns the sum of the probabilities that are at most the given one. Equal probabilities count as equal
// even if rounding makes them differ.
func sumUpTo(probabilities []float64, most float64) (sum float64) {
	for _, p := range probabilities {
		if p <= most*(1+1e-7) {
			sum += p
		}
	}
	return min(sum, 1)
}

// logChoose returns the logarithm of a binomial coefficient.
func logChoose(n, k int) float64 {
	logGamma := func(n int) float64 {
		v, _ := math.Lgamma(float64(n) + 1)
		return v
	}
	return logGamma(n) - logGamma(k) - logGamma(n-k)
}

// judgeChanges sets the verdicts. It follows Tarone (1990). A test whose smallest possible p is above the limit can't
// show a difference. So it is not counted when the limit is divided by the number of tests. The parameter alarms is the
// probability that any difference is shown if nothing differs.
func judgeChanges(changes []Change, alarms float64) *Comparison {
	c, able := &Comparison{}, 0
	for divisor := 1; ; divisor++ {
		c.Limit = alarms / float64(divisor)
		able = 0
		for i := range changes {
			able += count.If(changes[i].least <= c.Limit)
		}
		if able <= divisor {
			break
		}
	}
	c.Tests = able
	for i := range changes {
		change := &changes[i]
		switch {
		case change.least > c.Limit:
			c.TooFew++
		case change.P > c.Limit:
			change.Verdict = NoDifference
			c.Equal++
		default:
			change.Verdict = change.shownVerdict()
			c.Changes = append(c.Changes, *change)
			continue
		}
		c.rest = append(c.rest, *change)
	}
	slices.SortStableFunc(c.Changes, func(a, b Change) int { return cmp.Compare(a.P, b.P) })
	return c
}

// shownVerdict returns the verdict for a change that is shown.
func (c *Change) shownVerdict() Verdict {
	words := [2]Verdict{Better, Worse}
	switch {
	case c.Latency:
		words = [2]Verdict{Faster, Slower}
	case c.severity == stream.Info:
		words = [2]Verdict{Fewer, More}
	}
	return words[count.If(c.up)]
}

// usualValue returns the most frequent known value of a key, the number of turns that have it, and the number of all
// turns. Background requests don't count.
func (s *Set) usualValue(k Key) (value string, n, all int) {
	counts := map[string]int{}
	for i := range s.turns {
		t := &s.turns[i]
		if t.Background {
			continue
		}
		all++
		of := t.Values[k]
		counts[of]++
		if of != "" && (counts[of] > n || counts[of] == n && strings.Compare(of, value) < 0) {
			value, n = of, counts[of]
		}
	}
	return value, n, all
}

// valueText returns the value of a key as people see it.
func valueText(value string) string { return cmp.Or(value, "(unknown)") }

// DriftDays is the number of days in which FindDrift searches for changes.
const DriftDays = 30

// daysBefore is the minimum number of days before a change.
const daysBefore = 3

// yearDays is the number of days in a year, with one search on each.
const yearDays = 365

// FindDrift searches for the days since which metrics and latencies differ. The set has the turns of the last
// DriftDays days. For each metric, FindDrift compares the runs before each day with the runs since that day, and
// multiplies the smallest p by the number of compared days. If nothing changes and FindDrift is used once a day, it
// finds at most the given number of differences a year.
func FindDrift(set *Set, keys []Key, alarmsPerYear float64) *Comparison {
	return driftOfGroups(set.Groups(keys), alarmsPerYear)
}

func driftOfGroups(groups []*Group, alarmsPerYear float64) *Comparison {
	var changes []Change
	rows := 0
	for _, g := range groups {
		days := runsByDay(g)
		if len(changesOfDays(days)) == 0 {
			continue
		}
		rows++
		for _, metric := range occurringMetrics(g, g) {
			c := driftOfRuns(days, func(r *run) (bool, bool) { return r.has[metric], true })
			c.Values, c.Metric, c.severity = g.Values, metric, g.Rate(metric).Severity
			changes = append(changes, c)
		}
		for kind := range numTimes {
			if len(g.times[kind]) == 0 {
				continue
			}
			c := driftOfRuns(days, slowRuns(g.order, kind))
			c.Values, c.Metric, c.Latency = g.Values, timeNames[kind], true
			c.Median = mediansAround(days, c.Since, kind)
			changes = append(changes, c)
		}
	}
	c := judgeChanges(changes, alarmsPerYear/yearDays)
	c.Rows, c.drift = rows, true
	return c
}

// runDay has the runs that began on a day.
type runDay struct {
	day  time.Time
	runs []*run
}

// runsByDay returns the days on which runs of a group began, in order. Runs with an unknown time are left out.
func runsByDay(g *Group) (days []runDay) {
	for _, r := range g.order {
		if r.began.IsZero() {
			continue
		}
		day := r.began.UTC().Truncate(24 * time.Hour)
		n, found := slices.BinarySearchFunc(days, day, func(d runDay, of time.Time) int { return d.day.Compare(of) })
		if !found {
			days = slices.Insert(days, n, runDay{day: day})
		}
		days[n].runs = append(days[n].runs, r)
	}
	return days
}

// changesOfDays returns the days that can be the first day after a change: those with enough days before them.
func changesOfDays(days []runDay) []runDay {
	for n := range days {
		if days[n].day.Sub(days[0].day) >= daysBefore*24*time.Hour {
			return days[n:]
		}
	}
	return nil
}

// driftOfRuns compares the runs before each day with the runs since that day, and returns the comparison with the
// smallest p.
func driftOfRuns(days []runDay, of func(*run) (has, known bool)) (best Change) {
	counts := make([][]Share, len(days)) // the runs of each day, by length
	all := make([]stratum, len(lengthLimits))
	for n, d := range days {
		counts[n] = make([]Share, len(lengthLimits))
		for _, r := range d.runs {
			if has, known := of(r); known {
				s := stratumOf(r.turns)
				counts[n][s].Runs++
				counts[n][s].With += count.If(has)
				all[s].after++
				all[s].afterWith += count.If(has)
			}
		}
	}
	first, least := len(days)-len(changesOfDays(days)), 1.0
	for n := range days {
		if n >= first {
			c := Change{Since: days[n].day}
			c.testCounts(all)
			least = min(least, c.least)
			if n == first || c.P < best.P {
				best = c
			}
		}
		for s, of := range counts[n] {
			all[s].before += of.Runs
			all[s].after -= of.Runs
			all[s].beforeWith += of.With
			all[s].afterWith -= of.With
		}
	}
	tests := float64(len(days) - first)
	best.P, best.least = min(best.P*tests, 1), min(least*tests, 1)
	return best
}

// mediansAround returns the median latency before a day, and since that day.
func mediansAround(days []runDay, since time.Time, kind int) (medians [2]time.Duration) {
	var values [2][]time.Duration
	for _, d := range days {
		side := 0
		if !d.day.Before(since) {
			side = 1
		}
		for _, r := range d.runs {
			values[side] = append(values[side], r.times[kind]...)
		}
	}
	for side := range values {
		medians[side], _ = quantileOf(values[side], 0.5)
	}
	return medians
}
