package ui

import (
	"fmt"
	"runtime"
	"testing"

	"toolscope/stream"
	"toolscope/ui/panes"
)

// exchangeOf returns the records of a small exchange with the given number and one call.
func exchangeOf(number int) []stream.Record {
	a := &anthropic{exchange: number}
	return a.open(fmt.Sprint("msg_", number)).call(fmt.Sprint("toolu_", number), "tool", `{"n":`, fmt.Sprint(number), `}`).seal().stop("tool_use").records
}

// day returns a screen that has received n small exchanges. The first one is still open.
func day(t testing.TB, n int) *rig {
	s := newScreen(t, 120, 50)
	s.inbox.Put(exchangeOf(1)[0])
	for i := range n {
		for _, r := range exchangeOf(i + 2) {
			s.inbox.Put(r)
		}
	}
	for s.inbox.Waiting() > 0 {
		s.send(inboxReady{})
	}
	return s
}

// TestLongDay checks that batches, frames and keys that move use no turn or exchange from the first half of a day.
// The test removes these turns and exchanges, so that using one would panic.
func TestLongDay(t *testing.T) {
	const n = 3_000
	s := day(t, n)
	turns, exchanges := s.in.Session().Turns, s.in.Exchanges()
	clear(turns[1 : n/2])
	clear(exchanges[1 : n/2])
	more := func(number int) {
		for i, r := range exchangeOf(number) {
			s.feed(r)
			if checkFrame(t, s); i == 2 {
				s.press("kkk2jl4jj<enter>3j1G").shows("3,00")
			}
		}
	}
	more(n + 2)
	s.feed(new(anthropic).bytes("event: ping\ndata: {\"type\":\"ping\"}\n\n").records...) // a ping for the first exchange, which is still open
	s.press("m1kkkm=")
	more(n + 3)
	s.press("<esc><esc>p")
	more(n + 4)
	s.press("<esc><esc>zF")
	more(n + 5)
	if s.wire.At >= len(s.wire.Events) || s.follow == false {
		t.Errorf("row %d of %d, follows: %t", s.wire.At, len(s.wire.Events), s.follow)
	}
}

// TestFramesOfDropped checks every view after the turns have been evicted or dropped without an event.
func TestFramesOfDropped(t *testing.T) {
	for what, letGo := range map[string]func(*stream.Timeline, int32){
		"cold": (*stream.Timeline).Evict, "dropped": (*stream.Timeline).Drop, "some gone": func(line *stream.Timeline, turn int32) {
			line.Drop(turn)
			line.TrimRows(2)
		},
	} {
		for _, name := range []string{"history", "malformed", "protocols", "parallel"} {
			for i, look := range looks {
				if i%thin() != 0 {
					continue
				}
				s := newScreen(t, 120, 40).feed(demo(t, name)...).press("1gj" + look.keys)
				for n := range int32(len(s.in.Session().Turns)) {
					letGo(&s.in.Timeline, n)
				}
				s.feed(ping)
				checkFrame(t, s)
				s.press(look.back)
				tour(t, sizes[3:4], s)
				s.setOrder(panes.ByTime)
				rows := 0
				for _, turn := range s.in.Session().Turns {
					rows += max(1, len(turn.Calls))
				}
				if got := s.list.Rows; got != rows {
					t.Errorf("%s of %s, %q: %d rows, want %d", what, name, look.keys, got, rows)
				}
			}
		}
	}
}

// TestFrameMemory checks that the memory that a frame and a batch allocate does not grow with the data: with
// a delta of megabytes, a long error, or many turns.
func TestFrameMemory(t *testing.T) {
	perFrame := func(s *rig) int64 {
		s.feed(ping).View()
		before := allocated()
		for range 20 {
			s.feed(ping).View()
		}
		return (allocated() - before) / 20
	}
	for _, c := range []struct {
		what       string
		small, big func() *rig
	}{
		{"one delta", func() *rig { return oneDelta(t, 1<<10) }, func() *rig { return oneDelta(t, 1<<20) }},
		{"an error", func() *rig { return longNames(t, 1<<10) }, func() *rig { return longNames(t, 1<<20) }},
		{"findings", func() *rig { return manyFindings(t, 100) }, func() *rig { return manyFindings(t, 5_000) }},
		{"turns", func() *rig { return day(t, 50) }, func() *rig { return day(t, 2_000) }},
	} {
		small, big := perFrame(c.small()), perFrame(c.big())
		if big > 2*small+4096 {
			t.Errorf("%s: %d bytes a frame, and %d with more", c.what, small, big)
		}
	}
}

// allocated returns the total number of bytes allocated so far.
func allocated() int64 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.TotalAlloc)
}

// BenchmarkDay measures how long one more exchange and a key take late in a day.
func BenchmarkDay(b *testing.B) {
	for _, n := range []int{500, 5_000, 100_000} {
		s := day(b, n)
		next := n + 2
		b.Run(fmt.Sprintf("%d/exchange", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.feed(exchangeOf(next)...)
				next++
			}
		})
		b.Run(fmt.Sprintf("%d/record", n), func(b *testing.B) {
			b.ReportAllocs()
			all := exchangeOf(next)
			next++
			i := 0
			for b.Loop() {
				if i == len(all) {
					all, i = exchangeOf(next), 0
					next++
				}
				s.feed(all[i])
				i++
			}
		})
		b.Run(fmt.Sprintf("%d/view", n), func(b *testing.B) { benchmarkView(b, s) })
		for _, keys := range []string{"1gG", "1kkkk", "1g!", "1g/tool_5<esc>", "1/oslo<enter>", "1g34"} {
			b.Run(fmt.Sprintf("%d/keys %s", n, keys), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s.press(keys)
				}
			})
			s.press("<esc>F")
		}
	}
}
