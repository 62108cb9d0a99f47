package ui

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// measured skips a speed test unless its result is meaningful, which requires an otherwise idle machine.
func measured(t *testing.T) {
	if raceEnabled || os.Getenv("TOOLSCOPE_LONG") == "" {
		t.Skip("measured with TOOLSCOPE_LONG=1 alone, and not with the race detector")
	}
}

// ratio returns the time that big takes, divided by the time that small takes. It uses the medians of alternating
// runs, so that a busy machine affects both functions.
func ratio(small, big func()) float64 {
	var times [2][]time.Duration
	for range 41 {
		for i, f := range []func(){small, big} {
			start := time.Now()
			for range 4 {
				f()
			}
			times[i] = append(times[i], time.Since(start))
		}
	}
	return float64(median(times[1])) / float64(median(times[0]))
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// flat fails the test unless big takes at most twice as long as small. In these tests, a cost that depends on the
// size would be a hundred times as large.
func flat(t *testing.T, what string, small, big func()) {
	t.Helper()
	var got float64
	for range 3 {
		if got = ratio(small, big); got <= 2 {
			t.Logf("%-40s %.2f", what, got)
			return
		}
	}
	t.Errorf("%s: %.1f times as long", what, got)
}

// TestFrameCostIsFlat checks that the cost of a frame depends only on the window, and not on the length of
// the document, the list, the wire or the findings.
func TestFrameCostIsFlat(t *testing.T) {
	measured(t)
	for _, c := range []struct {
		what       string
		small, big func() *rig
	}{
		{"arguments of 16 KiB and 8 MiB", func() *rig { return big(t, 120, 50, `{"s":"`+code(16<<10)) }, func() *rig { return big(t, 120, 50, `{"s":"`+code(8<<20)) }},
		{"5,000 rows and 50,000", func() *rig { return big(t, 120, 50, members(5_000)) }, func() *rig { return big(t, 120, 50, members(50_000)) }},
		{"100 turns and 50,000", func() *rig { return manyTurns(t, 100) }, func() *rig { return manyTurns(t, 50_000) }},
		{"60 live calls and 6,000", func() *rig { return liveCalls(t, 60) }, func() *rig { return liveCalls(t, 6_000) }},
		{"100 findings and 100,000", func() *rig { return manyFindings(t, 100) }, func() *rig { return manyFindings(t, 100_000) }},
		{"one delta of 1 KiB and of 8 MiB", func() *rig { return oneDelta(t, 1<<10) }, func() *rig { return oneDelta(t, 8<<20) }},
		{"an error of 1 KiB and of 4 MiB", func() *rig { return longNames(t, 1<<10) }, func() *rig { return longNames(t, 4<<20) }},
		{"nesting of 2,000 and of 9,000", func() *rig { return big(t, 120, 50, strings.Repeat(`{"key":[`, 1_000)) }, func() *rig { return big(t, 120, 50, strings.Repeat(`{"key":[`, 4_500)) }},
	} {
		small, big := c.small(), c.big()
		flat(t, c.what, func() { small.View() }, func() { big.View() })
		for _, s := range []*rig{small, big} {
			s.press("2")
			s.doc.GoTo(len(s.doc.Call.Args()) / 2)
			s.linkPanes()
		}
		flat(t, c.what+", in the middle", func() { small.View() }, func() { big.View() })
		for _, s := range []*rig{small, big} {
			s.press("1F")
		}
		if c.what != "60 live calls and 6,000" { // summing up a turn's findings takes a loop over its calls
			flat(t, c.what+", one more record", func() { small.feed(ping) }, func() { big.feed(ping) })
		}
	}
}

var ping = stream.Record{Data: []byte(": ping\n\n")}

// liveCalls returns a screen with n calls that grow.
func liveCalls(t testing.TB, n int) *rig {
	opened, _ := manyCalls(n)
	return newScreen(t, 120, 50).feed(opened...)
}

var remark = &stream.Diagnosis{Code: "REMARK", By: stream.Provider}

// manyFindings returns a screen with n findings about a turn.
func manyFindings(t testing.TB, n int) *rig {
	s := newScreen(t, 160, 50).feed(new(anthropic).open("msg_1").call("toolu_1", "tool", "{").records...)
	for range n {
		found := remark.Finding("something was odd")
		s.in.Timeline.Append(stream.Event{Kind: stream.Found, What: &found})
	}
	return s.feed(ping)
}

// oneDelta returns a screen with a call whose arguments arrive in one delta.
func oneDelta(t testing.TB, size int) *rig {
	return newScreen(t, 160, 50).feed(new(anthropic).open("msg_1").call("toolu_1", "tool", `{"s":"`+code(size)).records...)
}

// longNames returns a screen whose names, ids and errors have the given length.
func longNames(t testing.TB, size int) *rig {
	long := strings.Repeat("name ", size/5)
	a := new(anthropic).open("msg_"+long).call("toolu_"+long, long, `{"`+long+`":1,"b":[`)
	a.say(`{"type":"error","error":{"type":"overloaded_error","message":%s}}`, quote(long))
	a.records[0].Head = &stream.Head{Method: "POST", URL: "http://h/" + long, File: long}
	return newScreen(t, 160, 50).feed(a.records...)
}

// TestLiveFrames checks that with 200 calls growing at 10,000 deltas per second, frames are drawn within a
// millisecond: 99 of 100 on an idle machine, 9 of 10 on any machine.
func TestLiveFrames(t *testing.T) {
	measured(t)
	opened, delta := manyCalls(200)
	s := newScreen(t, 120, 50).feed(opened...)
	n := 0
	for range 3 {
		var views, updates []time.Duration
		for range 200 {
			for range 167 {
				s.inbox.Put(delta(n))
				n++
			}
			start := time.Now()
			s.send(inboxReady{})
			updated := time.Now()
			s.View()
			views, updates = append(views, time.Since(updated)), append(updates, updated.Sub(start))
		}
		slices.Sort(views)
		t.Logf("view: median %v, p90 %v, p99 %v; update of a batch: median %v", views[100], views[180], views[198], median(updates))
		if views[180] <= time.Millisecond {
			return
		}
	}
	t.Error("the 9th of 10 frames takes more than a millisecond")
}

// TestDeltaCostIsFlat checks that processing a delta costs the same early and late in a stream.
func TestDeltaCostIsFlat(t *testing.T) {
	measured(t)
	more := func(n int) (*rig, func()) {
		s := big(t, 120, 50, `{"s":"`+code(n))
		r := new(anthropic).args(0, "some more text").records[0]
		return s, func() { s.feed(r) }
	}
	_, small := more(16 << 10)
	_, large := more(8 << 20)
	flat(t, "a delta after 16 KiB and after 8 MiB", small, large)
}
