package stats

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

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
