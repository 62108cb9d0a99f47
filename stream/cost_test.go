package stream

import (
	"runtime"
	"testing"
	"unsafe"

	"toolscope/stream/json"
)

// perDelta returns the cost of f for each of n deltas: the number of allocations and of allocated bytes.
func perDelta(n int, f func()) (allocs, bytes float64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(n), float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
}

func TestLexerAllocates(t *testing.T) {
	var deltas [][]byte
	for _, d := range sampleDeltas(sampleArgs(1<<20), 8, 20) {
		deltas = append(deltas, []byte(d))
	}
	var l json.Lexer
	lex := func() {
		l = json.Lexer{}
		for _, d := range deltas {
			l.Write(d)
		}
	}
	if allocs, _ := perDelta(len(deltas), lex); allocs > 0.005 {
		t.Errorf("%.4f allocations a delta", allocs)
	}
}

func TestFramersAllocate(t *testing.T) {
	wire := sampleSSE("\n")
	var s SSESplitter
	frames := 0
	count := func(Frame) { frames++ }
	if n := testing.AllocsPerRun(3, func() { s.Write(wire, count) }); n > 1 {
		t.Errorf("SSE: %.0f allocations for %d frames", n, frames)
	}
}

// TestApplyIsLinear checks that the allocations for a delta don't depend on the size of the earlier arguments.
func TestApplyIsLinear(t *testing.T) {
	cost := func(size int) (allocs, bytes float64) {
		events := sampleEvents(size)
		return perDelta(len(events), func() { applyAll(events) })
	}
	allocs, bytes := cost(32 << 10)
	manyAllocs, manyBytes := cost(8 << 20)
	if manyAllocs > 0.01 || manyAllocs > allocs {
		t.Errorf("8 MiB: %.4f allocations a delta, 32 KiB: %.4f", manyAllocs, allocs)
	}
	if manyBytes > 2*bytes || manyBytes > 250 {
		t.Errorf("8 MiB: %.0f bytes allocated a delta, 32 KiB: %.0f", manyBytes, bytes)
	}
}

func applyAll(events []Event) *Session {
	s := new(Session)
	for _, e := range events {
		s.Apply(e)
		s.Turns[0].Calls[0].Status()
	}
	return s
}

// TestApplyReadsNothingAgain checks that no event reads earlier arguments while a call grows. So the cost of an
// event can't depend on their size.
func TestApplyReadsNothingAgain(t *testing.T) {
	events := sampleEvents(64 << 10)
	events = events[:len(events)-1] // the seal reads all arguments once
	want := applyAll(events).Turns[0].Calls[0]
	s := new(Session)
	for _, e := range events {
		s.Apply(e)
		c := s.Turns[0].Calls[0]
		c.Status()
		for i := range c.args.s {
			c.args.s[i] = 0xff
		}
		for i := range c.lex.Ended().Len() {
			c.lex.Ended().Ptr(i).Kind = 0
		}
	}
	got := s.Turns[0].Calls[0]
	if got.Status() != want.Status() || len(got.Findings) != len(want.Findings) || got.Deltas() != want.Deltas() {
		t.Errorf("%s with %d findings, want %s with %d", got.Status(), len(got.Findings), want.Status(), len(want.Findings))
	}
	for i, token := range want.Lexer().Tokens().All() {
		if last := got.Lexer().Tokens().Len() - 1; got.Lexer().Tokens().At(min(i, last)).End != token.End || last < i {
			t.Fatalf("token %d of %d is another", i, last+1)
		}
	}
}

func TestEventIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(packedEvent{}); size > 16 {
		t.Errorf("an event takes %d bytes", size)
	}
	if size := unsafe.Sizeof(json.Token{}) + unsafe.Sizeof(Delta{}); size > 16 {
		t.Errorf("a token and a delta take %d bytes", size)
	}
}
