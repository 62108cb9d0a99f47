package ui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// longTurn is a screen that is held over a turn of so many deltas, of 20 calls by turns, with as many
// small turns in between as there are thousands of them.
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

// smallTurns is a screen that is held over so many small turns.
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

// takeAll takes what waits.
func (s *rig) takeAll() *rig {
	for s.inbox.Waiting() > 0 {
		s.send(arrived{})
	}
	return s
}

// walks are ways to another moment.
var walks = []struct {
	what string
	walk func(s *rig, rng *rand.Rand)
}{
	{"a delta back", func(s *rig, _ *rand.Rand) { s.press(",") }},
	{"a delta forward", func(s *rig, _ *rand.Rand) { s.press(".") }},
	{"a mark back", func(s *rig, _ *rand.Rand) { s.press("<") }},
	{"anywhere", func(s *rig, rng *rand.Rand) { s.walkTo(rng.IntN(s.in.Timeline.Len())); s.send(nil) }},
}

// BenchmarkWalk is a key that walks and the frame after it: in a long turn, and where there are many.
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
	s.walkTo(s.in.Timeline.Len() / 2)
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		walk(s, rng)
		s.View()
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms/p99")
}
