package capture

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// lineOf returns a record as a line of a capture.
func lineOf(t *testing.T, r Record) []byte {
	t.Helper()
	line, err := EncodeRecord(r)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// started returns a feed that has read the header of its capture.
func started(t *testing.T, f *Feeds, host string) *Feed {
	t.Helper()
	line, err := EncodeHeader(time.Now(), "test", "")
	if err != nil {
		t.Fatal(err)
	}
	feed := f.Open(Machine{Host: host, Agent: "main"})
	if _, err := feed.Write(nil, line); err != nil {
		t.Fatal(err)
	}
	return feed
}

func write(t *testing.T, f *Feed, recs ...Record) (got []Record) {
	t.Helper()
	for _, r := range recs {
		var err error
		if got, err = f.Write(got, lineOf(t, r)); err != nil {
			t.Fatal(err)
		}
	}
	return got
}

// TestFeedGoesOn checks that an exchange that was cut and continues has a note about that, and doesn't report too
// many missing bytes. An unknown exchange is joined midway. Exchanges that had ended before don't change.
func TestFeedGoesOn(t *testing.T) {
	f := started(t, new(Feeds), "a")
	got := write(t, f, Record{Exchange: 1, Head: &Head{Status: 200}, Data: []byte(strings.Repeat("x", 1000))},
		Record{Exchange: 2, Head: &Head{Status: 200}, Data: []byte("x")}, Record{Exchange: 2, End: EndEOF})
	cut := f.Cut(nil, "nothing was heard of a/main for 30s")
	if len(cut) != 1 || cut[0].Exchange != got[0].Exchange || cut[0].By != Toolscope {
		t.Fatalf("%+v", cut)
	}
	got = write(t, f, Record{Exchange: 1, Data: []byte("on")}, Record{Exchange: 2, Data: []byte("late")}, Record{Exchange: 3, Data: []byte("new")}, Record{Exchange: 1, Data: []byte("and on")})
	var told []string
	for _, r := range got {
		if r.Note != "" {
			told = append(told, fmt.Sprint(r.Lost, " ", r.Note))
		}
	}
	want := []string{"1 continues an exchange that was cut off above: nothing was heard of a/main for 30s", "1 joined midway: earlier bytes are missing"}
	if fmt.Sprint(told) != fmt.Sprint(want) || got[0].Exchange == cut[0].Exchange {
		t.Errorf("%q, wanted %q", told, want)
	}
}

// TestFeedNamesItsMachine checks that records from a file on another machine, and notes about the source
// there, have the machine's name.
func TestFeedNamesItsMachine(t *testing.T) {
	got := write(t, started(t, new(Feeds), "a"), Record{Exchange: 1, At: NoTime, Note: "waiting for proxy.log"},
		Record{Exchange: 1, Head: &Head{File: "logs/proxy.log", Status: 200}, Data: []byte("x")})
	if len(got) != 2 || got[0].Note != "a/main: waiting for proxy.log" || got[1].Head.File != "a/main" || got[1].Note != "" {
		t.Errorf("%+v", got)
	}
}

// TestFeedMissOrder checks that the records about a gap are in the order of the exchanges.
func TestFeedMissOrder(t *testing.T) {
	f := started(t, new(Feeds), "a")
	for x := range 50 {
		write(t, f, Record{Exchange: x + 1, Data: []byte("x")})
	}
	last := 0
	for _, r := range f.AddGap(nil, 10, "never came") {
		if r.Exchange < last {
			t.Fatalf("exchange %d comes behind %d", r.Exchange, last)
		}
		last = r.Exchange
	}
}

// TestFeedForgets checks that data about ended exchanges is not kept for long, whatever was missing before. It
// also checks that captures share the buffer for their lines.
func TestFeedForgets(t *testing.T) {
	var all Feeds
	f := started(t, &all, "a")
	f.AddGap(nil, 10, "never came")
	write(t, f, Record{Exchange: 1, End: EndEOF})
	for x := 2; x < 3000; x++ {
		write(t, f, Record{Exchange: x, Data: []byte("x")}, Record{Exchange: x, End: EndEOF})
	}
	if n := len(f.c.names.known) + len(f.begun) + len(all.numbers.used); n > 4*maxRecentExchanges {
		t.Errorf("%d are known, %d have begun, %d numbers are in use", len(f.c.names.known), len(f.begun), len(all.numbers.used))
	}
	got := write(t, f, Record{Exchange: 1, Note: "of the source"}, Record{Exchange: 3000, Data: []byte("x"), End: EndEOF})
	if len(got) < 2 || got[0].Note == "" || got[len(got)-1].Exchange != 3000 {
		t.Errorf("exchange 3000 is %+v", got)
	}
	if other := started(t, &all, "b"); other.c.room != f.c.room || !f.Idle() {
		t.Error("each capture has a room of its own")
	}
}

// TestNumbersForget checks that the memory for numbers is limited, however far apart the requested numbers
// are.
func TestNumbersForget(t *testing.T) {
	var n exchangeNumbers
	seen := map[int]bool{}
	for i := range 3 * maxUnusedNumbers {
		got := n.claimNumber(2 + 3*i)
		if seen[got] {
			t.Fatalf("%d is given out twice", got)
		}
		seen[got] = true
	}
	if len(n.used) > maxUnusedNumbers {
		t.Errorf("%d are remembered", len(n.used))
	}
}
