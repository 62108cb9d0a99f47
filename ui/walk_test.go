package ui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// longTurn returns a screen that is paused in a turn with the given number of deltas, which alternate between 20
// calls. For every thousand deltas, there is a small turn in between.
func longTurn(t testing.TB, deltas int) *rig {
	opened, delta := manyCalls(20)
	s := newScreen(t, 140, 40).feed(opened...)
	for n := range deltas {
		r := delta(n)
		r.At = time.Duration(n) * time.Millisecond
		if s.inbox.Put(r); n%1000 == 0 {
			for _, r := range exchangeOf(n/1000 + 2) {
				r.At += time.Duration(n) * time.Millisecond
				s.inbox.Put(r)
			}
			s.takeAll()
		}
	}
	return s.takeAll().press(" ")
}

// smallTurns returns a screen that is paused with the given number of small turns.
func smallTurns(t testing.TB, n int) *rig {
	s := newScreen(t, 140, 40)
	for i := range n {
		for _, r := range exchangeOf(i + 1) {
			r.At += time.Duration(i) * time.Second
			s.inbox.Put(r)
		}
		if i%500 == 0 {
			s.takeAll()
		}
	}
	return s.takeAll().press(" ")
}

// takeAll reads all waiting records.
func (s *rig) takeAll() *rig {
	for s.inbox.Waiting() > 0 {
		s.send(inboxReady{})
	}
	return s
}

// walks are ways to go to other moments, including the frame for each moment.
var walks = []struct {
	what string
	walk func(s *rig, rng *rand.Rand)
}{
	{"a delta back, and forward", func(s *rig, _ *rand.Rand) { s.press(",").View(); s.press(".").View() }},
	{"a mark back, and forward", func(s *rig, _ *rand.Rand) { s.press("<").View(); s.press(">").View() }},
	{"anywhere", func(s *rig, rng *rand.Rand) {
		s.moment.goToMoment(rng.IntN(s.in.Timeline.Len()))
		s.send(nil)
		s.View()
	}},
}

// BenchmarkWalk measures keys that go to other moments, and the frames after them, in a long turn and with
// many turns.
func BenchmarkWalk(b *testing.B) {
	for _, c := range []struct {
		what string
		make func(testing.TB, int) *rig
		n    int
	}{{"deltas", longTurn, 100_000}, {"deltas", longTurn, 1_000_000}, {"turns", smallTurns, 1_000}, {"turns", smallTurns, 10_000}} {
		s := c.make(b, c.n)
		for _, w := range walks {
			b.Run(fmt.Sprintf("%d %s/%s", c.n, c.what, w.what), func(b *testing.B) { benchmarkWalk(b, s, w.walk) })
		}
	}
}

func benchmarkWalk(b *testing.B, s *rig, walk func(*rig, *rand.Rand)) {
	rng := rand.New(rand.NewPCG(1, 2))
	s.moment.goToMoment(s.in.Timeline.Len() / 2)
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		walk(s, rng)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms/p99")
}

// TestWalkMemory checks that the memory allocated for a key that goes to another moment, and for the next frame, does
// not grow with the turn. The race detector empties buffer pools at random, so nothing is measured with it.
func TestWalkMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("measured without the race detector")
	}
	small, big := longTurn(t, 4_000), longTurn(t, 40_000)
	for _, w := range walks {
		perWalk := func(s *rig) int64 {
			rng := rand.New(rand.NewPCG(3, 4))
			s.moment.goToMoment(s.in.Timeline.Len() / 2)
			w.walk(s, rng)
			before := allocated()
			for range 40 {
				w.walk(s, rng)
			}
			return (allocated() - before) / 40
		}
		few, many := perWalk(small), perWalk(big)
		t.Logf("%s: %d bytes, and %d in a turn ten times as long", w.what, few, many)
		if many > 2*few+64<<10 {
			t.Errorf("%s: %d bytes, and %d in a turn ten times as long", w.what, few, many)
		}
	}
}

// TestWalkIsFlat checks that the time for a key that goes to another moment grows far less than the turn. Only the
// events between two checkpoints of a turn are applied again.
func TestWalkIsFlat(t *testing.T) {
	measured(t)
	small, big := longTurn(t, 100_000), longTurn(t, 1_000_000)
	for _, w := range walks {
		rng := rand.New(rand.NewPCG(5, 6))
		small.moment.goToMoment(small.in.Timeline.Len() / 2)
		big.moment.goToMoment(big.in.Timeline.Len() / 2)
		got := 0.0
		for range 3 {
			if got = ratio(func() { w.walk(small, rng) }, func() { w.walk(big, rng) }); got <= 4 {
				break
			}
		}
		if t.Logf("%-30s %.2f", w.what, got); got > 4 {
			t.Errorf("%s: %.1f times as long in a million deltas as in 100,000", w.what, got)
		}
	}
}
