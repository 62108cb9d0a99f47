package ui

import (
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// TestWaitingRow checks that the second row of a live source shows the parties that are being waited for, and
// the longest silences.
func TestWaitingRow(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {140, 40}} {
		s := newScreen(t, size[0], size[1], awaiting)
		threeStreams(s)
		row := func() string { return s.rows()[1] }
		silences := "longest silence 41 s  turn 2   next 1 s  turn 3"
		if got := row(); !strings.HasPrefix(got, " Waiting on  providers 3") || !strings.Contains(got, silences) {
			t.Errorf("%v: %q", size, got)
		}
		if n := warmIn(s, strings.Split(s.View(), "\n")[1]); n > 0 {
			t.Errorf("%v: %d warm cells in the row of what is waited on", size, n)
		}
		checkFrame(t, s)
		for _, exchange := range []int{2, 42} {
			s.feed(stream.Record{Exchange: exchange, At: 43 * time.Second, End: true})
		}
		if got := row(); got != " Waiting on the provider: streaming." {
			t.Errorf("%v: one stream: %q", size, got)
		}
		s.now = s.now.Add(9 * time.Second)
		s.send(rateTick(s.now))
		if got := row(); got != " Waiting on the provider for 9 s." {
			t.Errorf("%v: a silent stream: %q", size, got)
		}
		if s.feed(stream.Record{Exchange: 43, At: 60 * time.Second, End: true}); row() != " No stream is open." {
			t.Errorf("%v: nothing is open: %q", size, row())
		}
		if s.end(); strings.Contains(s.text(), "No stream is open") {
			t.Errorf("%v: the source has ended:\n%s", size, s.text())
		}
	}
	newScreen(t, 60, 18, awaiting).feed(asking(1, "curl/8", begun)...).hides("Waiting on")
}

// TestPingsAreSilence checks that a ping does not end the silence of a stream, whether or not a call is open.
func TestPingsAreSilence(t *testing.T) {
	start, _, _ := strings.Cut(begun, "event: content_block_start")
	for _, answer := range []string{start, begun} {
		s := newScreen(t, 140, 40, awaiting).feed(asking(1, "curl/8", answer)...)
		for at := time.Second; at <= 30*time.Second; at += 5 * time.Second {
			s.feed(stream.Record{Exchange: 1, At: at, Data: []byte("event: ping\ndata: {\"type\":\"ping\"}\n\n")})
		}
		s.now = s.now.Add(time.Second)
		s.send(rateTick(s.now))
		if got := s.rows()[1]; !strings.HasPrefix(got, " Waiting on the provider for 2") && !strings.HasPrefix(got, " Waiting on the provider for 3") {
			t.Errorf("%q: a stream with pings alone: %q", answer[:20], got)
		}
	}
}

// TestWaitingClients checks that the second row counts clients that have calls to run. A client is counted until it
// sends the results or has been silent for minutes.
func TestWaitingClients(t *testing.T) {
	records := measuredSession(t)
	s := newScreen(t, 80, 24, awaiting)
	row := func() string { return s.rows()[1] }
	for i, x := range []struct {
		until int // records
		want  string
	}{
		{5, " Waiting on  clients 1"}, {7, " Waiting on the provider"}, {10, " Waiting on  clients 1"}, {15, " No stream is open."},
	} {
		from := 0
		if i > 0 {
			from = []int{5, 7, 10}[i-1]
		}
		if s.feed(records[from:x.until]...); !strings.HasPrefix(row(), x.want) {
			t.Errorf("after %d records: %q, want %q", x.until, row(), x.want)
		}
	}
	s = newScreen(t, 80, 24, awaiting).feed(records[:5]...)
	s.now = s.now.Add(maxClientPause)
	if s.send(rateTick(s.now)); row() != " No stream is open." {
		t.Errorf("after a long pause: %q", row())
	}
}
