package providers

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolscope/stream"
)

// checkPast fails unless every past of a timeline is the fold of its events up to then, even if it is
// requested while more events are appended. For long timelines, it checks only some pasts.
func checkPast(t *testing.T, in *Inspector) {
	t.Helper()
	total := in.Timeline.Len()
	rng := rand.New(rand.NewPCG(9, uint64(total)))
	every := 400
	if os.Getenv("TOOLSCOPE_LONG") != "" {
		every = 2000
	}
	looked := func(n int) bool { return n <= every && (total <= 400 || every > 400) || rng.IntN(total) < 40 }
	var growing stream.Session
	tl := stream.Timeline{Every: 1 + rng.IntN(1+total/20)}
	type moment struct {
		n    int
		want string
		past *stream.Session
	}
	var moments []moment
	for n := range total {
		e, kept := in.Timeline.Event(n)
		if !kept {
			t.Fatalf("event %d is not kept", n)
		}
		growing.Apply(e)
		tl.Append(e)
		if looked(n) {
			moments = append(moments, moment{n + 1, state(&growing), tl.At(n + 1)})
		}
	}
	for _, m := range moments {
		for what, s := range map[string]*stream.Session{"then": m.past, "now": tl.At(m.n)} {
			if diff := cmp.Diff(m.want, state(s)); diff != "" || s.Events() != m.n || s.Counts != countsOf(s) {
				t.Fatalf("At(%d) of %d, every %d, asked for %s (-fold +past):\n%s", m.n, total, tl.Every, what, diff)
			}
		}
	}
}

// countsOf returns the number of calls in a session by state.
func countsOf(s *stream.Session) (counts [stream.NumStatus]int) {
	for _, t := range s.Turns {
		for _, c := range t.Calls {
			counts[c.Status()]++
		}
	}
	return counts
}

// TestPast checks that every past of every fixture is the fold of the events up to that moment.
func TestPast(t *testing.T) {
	rarely(t)
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) { checkPast(t, f.inspect(f.wire)) })
	}
}

// TestCorpusPast does the checks of TestPast for recorded streams, with many of them in one session.
func TestCorpusPast(t *testing.T) {
	if os.Getenv("TOOLSCOPE_CORPUS") == "" {
		t.Skip("TOOLSCOPE_CORPUS names no corpus")
	}
	in, rng := new(Inspector), rand.New(rand.NewPCG(1, 2))
	for i, s := range spokenAll(t) {
		if i%7 == 0 {
			checkPast(t, in)
			in = new(Inspector)
		}
		if len(s.wire) > 1<<20 {
			continue
		}
		for _, r := range s.records(i+1, rng) {
			in.Write(r)
		}
		in.End(i + 1)
	}
}
