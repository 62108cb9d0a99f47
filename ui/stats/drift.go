package stats

import (
	"slices"
	"time"

	"toolscope/stream/count"
)

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
