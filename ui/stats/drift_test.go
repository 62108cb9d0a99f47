package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
	"toolscope/stream/count"
)

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
