package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
	"toolscope/stream/count"
)

// simulated makes runs directly, without reading captures. The length of a run is geometric. Each turn has the
// finding F with a probability that is the same in all turns, or differs between runs.
type simulated struct {
	random *rand.Rand
	mean   float64 // turns in a run
	rate   float64 // findings in a turn
	shape  float64 // shape of the gamma distribution of the rates; 0 if all runs have the same rate
}

func (s simulated) length() int {
	return 1 + int(math.Log(1-s.random.Float64())/math.Log(1-1/s.mean))
}

// gamma returns a gamma-distributed random number with the mean 1.
func (s simulated) gamma() float64 {
	if s.shape == 0 {
		return 1
	}
	// Marsaglia and Tsang, for shape+1, reduced to a shape below 1.
	d := s.shape + 1 - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := s.random.NormFloat64()
		v := math.Pow(1+c*x, 3)
		if v > 0 && math.Log(1-s.random.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v * math.Pow(1-s.random.Float64(), 1/s.shape) / s.shape
		}
	}
}

// group returns a group of runs, and the number of turns with the finding.
func (s simulated) group(runs int) (g *Group, turnsWith int) {
	g = &Group{rates: map[string]*Rate{}, runs: map[runKey]*run{}}
	for range runs {
		r := &run{turns: s.length()}
		g.order = append(g.order, r)
		rate := min(s.rate*s.gamma(), 1)
		for range r.turns {
			g.Turns++
			if s.random.Float64() < rate {
				turnsWith++
				g.countMetric(r, "F", 1)
			}
		}
	}
	return g, turnsWith
}

// size returns the first size or, with TOOLSCOPE_LONG, the second.
func size(small, large int) int {
	if os.Getenv("TOOLSCOPE_LONG") != "" {
		return large
	}
	return small
}

// fisher returns the p-value of Fisher's exact test.
func fisher(before, beforeWith, after, afterWith int) float64 {
	p, _, _ := testStrata([]stratum{{before, after, beforeWith, afterWith}})
	return p
}

// TestFalseAlarms compares sets without a difference, by turns, by runs and by runs of similar length. Only the last
// method keeps the rate of false alarms in all cases.
func TestFalseAlarms(t *testing.T) {
	pairs := size(500, 4000)
	for _, c := range []struct {
		name            string
		shape, longer   float64
		turnsFail, runs bool // the test by turns, or by runs, reports far too many differences
	}{
		{"independent", 0, 1, false, false},
		{"clustered", 0.3, 1, true, false},
		{"clustered, longer runs", 0.3, 2, true, true},
		{"independent, longer runs", 0, 2, false, true},
	} {
		random := rand.New(rand.NewPCG(39, 1))
		var byTurns, byRuns, byLength int
		for range pairs {
			old, n := simulated{random, 15, 0.03, c.shape}.group(120)
			new, m := simulated{random, 15 * c.longer, 0.03, c.shape}.group(120)
			byTurns += count.If(fisher(old.Turns, n, new.Turns, m) < falseAlarms)
			byRuns += count.If(fisher(120, old.Rate("F").RunsWith, 120, new.Rate("F").RunsWith) < falseAlarms)
			change := compareMetric(old, new, "F")
			byLength += count.If(change.P < falseAlarms)
		}
		share := func(n int) float64 { return float64(n) / float64(pairs) }
		t.Logf("%s: by turns %.3f, by runs %.3f, by runs of similar length %.3f", c.name, share(byTurns), share(byRuns), share(byLength))
		if share(byLength) > falseAlarms+2*math.Sqrt(falseAlarms*(1-falseAlarms)/float64(pairs)) { // the limit allows for chance with this number of pairs
			t.Errorf("%s: %.3f of pairs differ", c.name, share(byLength))
		}
		if failing := share(byTurns) > 0.2; failing != c.turnsFail {
			t.Errorf("%s: by turns, %.3f of pairs differ", c.name, share(byTurns))
		}
		if failing := share(byRuns) > 0.15; failing != c.runs {
			t.Errorf("%s: by runs, %.3f of pairs differ", c.name, share(byRuns))
		}
	}
}

// weeks returns two weeks of runs of many models and hosts, with 20 findings, 8 of which never occur. In the second
// week, the first finding occurs in more turns of model 0 at host 0.
func weeks(random *rand.Rand, planted float64) (before, after []*Group) {
	codes := []string{"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L"}
	shares := make([]float64, len(codes)) // frequency of each finding, compared with the first
	for i := range shares {
		shares[i] = math.Pow(0.7, float64(i))
	}
	for model := range 12 {
		for host := range 20 {
			perDay := 60 * math.Pow(1.0/60, float64(host)/19)
			var pair [2]*Group
			for week := range pair {
				g := &Group{Values: []string{string(rune('a' + model)), string(rune('a' + host))}, rates: map[string]*Rate{}, runs: map[runKey]*run{}}
				s := simulated{random: random, mean: 15, shape: 0.3}
				for range int(7 * perDay) {
					r := &run{turns: s.length()}
					g.order = append(g.order, r)
					of := 0.03 * s.gamma()
					for i, code := range codes {
						rate := of * shares[i]
						if week == 1 && model == 0 && host == 0 && i == 0 {
							rate += planted
						}
						if random.Float64() > math.Pow(1-min(rate, 1), float64(r.turns)) {
							g.countMetric(r, code, 1)
						}
					}
				}
				pair[week] = g
			}
			before, after = append(before, pair[0]), append(after, pair[1])
		}
	}
	return before, after
}

// TestManySeries compares two equal weeks over many series. A difference in any of them is a false alarm.
func TestManySeries(t *testing.T) {
	random := rand.New(rand.NewPCG(39, 2))
	weekPairs, alarms, few, all, naive := size(4, 400), 0, 0, 0, 0
	for range weekPairs {
		before, after := weeks(random, 0)
		c := compareGroups(before, after)
		alarms += count.If(len(c.Changes) > 0)
		few += c.TooFew
		all += c.TooFew + c.Equal + len(c.Changes)
		naive += count.If(slices.ContainsFunc(append(c.rest, c.Changes...), func(c Change) bool { return c.P < falseAlarms }))
		if c.Tests != c.Equal+len(c.Changes) || c.Limit > falseAlarms/float64(c.Tests) {
			t.Fatalf("%d tests, limit %g", c.Tests, c.Limit)
		}
	}
	t.Logf("%d of %d comparisons have a false alarm, without correction %d; too few in %.2f of series", alarms, weekPairs, naive, float64(few)/float64(all))
	if float64(alarms) > max(1, 0.05*float64(weekPairs)) {
		t.Errorf("%d of %d comparisons have a false alarm", alarms, weekPairs)
	}
	if naive < weekPairs*9/10 {
		t.Errorf("without correction, only %d comparisons have a false alarm: the test shows nothing", naive)
	}
	before, after := weeks(random, 0.03)
	c := compareGroups(before, after)
	if len(c.Changes) == 0 || c.Changes[0].Verdict != Worse || c.Changes[0].Metric != "A" || c.Changes[0].Values[0]+c.Changes[0].Values[1] != "aa" {
		t.Errorf("the planted change was not found: %+v", c.Changes)
	}
}

// TestExactTest checks the p-values of small tables against values that were counted by hand.
func TestExactTest(t *testing.T) {
	for _, c := range []struct {
		strata   []stratum
		p, least float64
		up       bool
	}{
		{[]stratum{{3, 3, 0, 3}}, 0.1, 0.1, true},                      // 1 of 20 choices, and its mirror image
		{[]stratum{{3, 3, 3, 0}}, 0.1, 0.1, false},                     // 1 of 20 choices, in the other direction
		{[]stratum{{2, 1, 0, 1}}, 1.0 / 3, 1.0 / 3, true},              // 1 of 3 choices
		{[]stratum{{3, 3, 0, 3}, {5, 5, 0, 0}}, 0.1, 0.1, true},        // a stratum without the property adds nothing
		{[]stratum{{3, 3, 0, 3}, {0, 9, 0, 9}}, 0.1, 0.1, true},        // runs only before or only after add nothing
		{[]stratum{{3, 3, 0, 3}, {3, 3, 0, 3}}, 2.0 / 400, .005, true}, // two strata: 1/20 · 1/20, twice
		{[]stratum{{5, 5, 0, 0}}, 1, 1, false},
		{[]stratum{{4, 4, 2, 2}}, 1, 2.0 / 70, false},
	} {
		p, least, up := testStrata(c.strata)
		if math.Abs(p-c.p) > 1e-9 || math.Abs(least-c.least) > 1e-9 || up != c.up {
			t.Errorf("%v: p %g, least %g, up %v", c.strata, p, least, up)
		}
	}
}

// latencies returns a group of runs whose first tokens take about 300 ms. In the first runs, their times are
// multiplied by factor. The parameter slower is the number of these runs.
func latencies(random *rand.Rand, runs, slower int, factor float64) *Group {
	g := &Group{rates: map[string]*Rate{}, runs: map[runKey]*run{}}
	for n := range runs {
		r := &run{}
		g.order = append(g.order, r)
		for range 5 {
			ms := 300 * math.Exp(random.NormFloat64()/4)
			if n < slower {
				ms *= factor
			}
			r.turns++
			g.addTime(r, firstToken, time.Duration(ms*float64(time.Millisecond)))
		}
	}
	return g
}

// TestSlowerRuns checks how often slower runs are reported, and that a single slower run is not reported as a
// difference.
func TestSlowerRuns(t *testing.T) {
	for _, c := range []struct {
		factor       float64
		runs, slower int
		verdict      Verdict
		least, most  float64 // share of pairs with this verdict
	}{
		{3, 60, 60, Slower, 1, 1}, {0.2, 60, 60, Faster, 1, 1}, {3, 2, 2, TooFew, 1, 1},
		{1, 60, 60, NoDifference, 1 - falseAlarms, 1}, {50, 60, 1, NoDifference, 1 - falseAlarms, 1},
	} {
		random, pairs, found := rand.New(rand.NewPCG(39, 3)), size(300, 3000), 0
		for range pairs {
			compared := compareGroups([]*Group{latencies(random, c.runs, 0, 1)}, []*Group{latencies(random, c.runs, c.slower, c.factor)})
			all := append(compared.Changes, compared.rest...)
			found += count.If(len(all) == 1 && all[0].Verdict == c.verdict)
		}
		if share := float64(found) / float64(pairs); share < c.least-2*math.Sqrt(c.least*(1-c.least)/float64(pairs)) || share > c.most {
			t.Errorf("factor %g in %d of %d runs: %.3f of pairs are %q", c.factor, c.slower, c.runs, share, c.verdict)
		}
	}
}

var firstDay = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// month returns a group with the runs of 30 days. The finding F occurs in a share of turns, and from the given day on
// in another share.
func month(random *rand.Rand, perDay int, before, after float64, from int) *Group {
	g := &Group{Values: []string{fmt.Sprint("m", perDay)}, rates: map[string]*Rate{}, runs: map[runKey]*run{}}
	s := simulated{random: random, mean: 15, shape: 0.3}
	for day := range DriftDays {
		rate := before
		if day >= from {
			rate = after
		}
		for range perDay {
			r := &run{began: firstDay.AddDate(0, 0, day), turns: s.length()}
			g.order = append(g.order, r)
			if random.Float64() > math.Pow(1-min(rate*s.gamma(), 1), float64(r.turns)) {
				g.countMetric(r, "F", stream.Warn)
			}
		}
	}
	return g
}

// TestDriftFound checks how often a change on day 15 is found, and that its date is correct. The limit is that of 100
// series with one false alarm a year.
func TestDriftFound(t *testing.T) {
	for _, c := range []struct {
		perDay        int
		before, after float64
		found         float64 // minimum share of months in which the change is found
		most          float64 // maximum share
	}{
		{60, 0, 0.015, 1, 1}, {60, 0.03, 0.09, 0.9, 1}, {15, 0.005, 0.03, 0.1, 0.8}, {2, 0, 0.05, 0, 0.05},
	} {
		random, months, found := rand.New(rand.NewPCG(39, 4)), size(20, 200), 0
		for range months {
			compared := driftOfGroups([]*Group{month(random, c.perDay, c.before, c.after, 15)}, 0.01)
			if len(compared.Changes) == 0 {
				continue
			}
			found++
			change := compared.Changes[0]
			if off := change.Since.Sub(firstDay.AddDate(0, 0, 15)).Abs(); change.Verdict != Worse || c.found == 1 && off > 24*time.Hour {
				t.Errorf("%+v: %s since %v", c, change.Verdict, change.Since)
			}
		}
		share := float64(found) / float64(months)
		t.Logf("%+v: found in %.2f of months", c, share)
		if share < c.found || share > c.most {
			t.Errorf("%+v: found in %.2f of months", c, share)
		}
	}
}

// TestDriftFalseAlarms searches months without a change. It allows a false alarm in a tenth of all searches, to see
// some of them. Without the correction for the number of days, far more searches report a change.
func TestDriftFalseAlarms(t *testing.T) {
	const share = 0.1
	random, searches, alarms, naive := rand.New(rand.NewPCG(39, 5)), size(20, 600), 0, 0
	for range searches {
		var groups []*Group
		for _, perDay := range []int{30, 8, 2} {
			for _, rate := range []float64{0.03, 0.005} {
				groups = append(groups, month(random, perDay, rate, rate, 0))
			}
		}
		c := driftOfGroups(groups, share*yearDays)
		alarms += count.If(len(c.Changes) > 0)
		all, small := append(c.Changes, c.rest...), false
		for i := range all {
			small = small || all[i].P < 1 // the smallest p of 27 days is below 1/27
		}
		naive += count.If(small)
	}
	t.Logf("%d of %d searches have a false alarm, without correction %d", alarms, searches, naive)
	if limit := share * float64(searches); float64(alarms) > limit+2*math.Sqrt(limit*(1-share)) {
		t.Errorf("%d of %d searches have a false alarm", alarms, searches)
	}
	if naive < searches/2 {
		t.Errorf("without correction, only %d searches have a false alarm: the test shows nothing", naive)
	}
}

// TestRunsByDay checks that the runs of a day are together, and that runs with an unknown time are left out.
func TestRunsByDay(t *testing.T) {
	g := &Group{order: []*run{{}, {began: firstDay.Add(25 * time.Hour)}, {began: firstDay}, {began: firstDay.Add(time.Hour)}}}
	days := runsByDay(g)
	if len(days) != 2 || len(days[0].runs) != 2 || len(days[1].runs) != 1 || !days[0].day.Equal(firstDay) {
		t.Errorf("%+v", days)
	}
}

// TestDriftOfTurns checks the day, the numbers and the direction of changes, and the text if there are too few days.
func TestDriftOfTurns(t *testing.T) {
	set := func(days int) *Set {
		s := &Set{sources: 1}
		for n := range days * 20 {
			at := firstDay.AddDate(0, 0, n/20).Add(time.Hour)
			turn := Turn{Run: fmt.Sprint("s", n), At: at, FirstToken: time.Duration(300+n%7) * time.Millisecond, Duration: -1}
			turn.Values[Model] = "m"
			if code := "OLD"; n/20 < 6 {
				turn.Findings = []Finding{{0, code, stream.Warn, stream.Model}}
			} else {
				turn.Findings = []Finding{{0, "NEW", stream.Error, stream.Model}, {0, "HINT", stream.Info, stream.Model}}
				turn.FirstToken *= 2
			}
			s.AddTurn(int32(n), turn)
		}
		s.AddTurn(1e6, Turn{Run: "untimed", FirstToken: -1, Duration: -1, Findings: []Finding{{0, "OLD", stream.Warn, stream.Model}}})
		return s
	}
	c := FindDrift(set(12), []Key{Model}, 1)
	var got []string
	for i := range c.Changes {
		got = append(got, strings.Join(c.Changes[i].Text(c.Limit, c.Tests)[:5], " · "))
	}
	runs := " · since 2026-11-07 · m · "
	for _, want := range []string{"worse" + runs + "NEW · 0 of 120 runs → 120 of 120", "better" + runs + "OLD · 120 of 120 runs → 0 of 120", "more" + runs + "HINT · 0 of 120 runs → 120 of 120",
		"slower" + runs + "first token · p50 303 ms → 606 ms, slow runs 0 of 120 runs → 34 of 120"} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("no %q in\n%s", want, strings.Join(got, "\n"))
		}
	}
	if want := 1.0 / yearDays / 4; c.Tests != 4 || c.Limit != want {
		t.Errorf("%d tests, limit %g, want 4 and %g", c.Tests, c.Limit, want)
	}
	if got, want := FindDrift(set(3), []Key{Model}, 1).RestText(), "nothing to compare: no row has turns that are 3 days apart"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
