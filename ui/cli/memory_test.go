package cli

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
	"toolscope/providers"
)

// TestPrintingStops checks that a proxy that is shutting down stops printing only if it has printed a lot. A few
// turns must always be printed, even on a slow machine. No data may be missing from the capture.
func TestPrintingStops(t *testing.T) {
	const turn = `data: {"type":"message_start","message":{"id":"m","model":"c"}}` + "\n\n" +
		`data: {"type":"message_stop"}` + "\n\n"
	for _, test := range []struct {
		before, after int64 // number of bytes printed before the signal, and number of bytes that arrive after it
		stops         bool  // printing stops
		cut           bool  // some turns are not printed
	}{{0, 0, false, false}, {maxQuickBytes, 0, false, true}, {maxQuickBytes + 1, 0, true, true}, {0, maxQuickBytes + 1, false, true}} {
		a, _ := appOf(t)
		l := newLiveInput(newRedactor(), time.Now())
		l.printed.Store(test.before)
		stopped := make(chan struct{})
		l.stopPrinting(stopped)
		for n := range 3 {
			head := &capture.Head{Method: "POST", URL: "https://api.anthropic.com/v1/messages"}
			l.addRecord(capture.Record{Exchange: n + 1, Side: capture.Request, Head: head})
			head = &capture.Head{Status: 200}
			text := turn + strings.Repeat(":\n", int(test.after/2))
			l.addRecord(capture.Record{Exchange: n + 1, Head: head, Data: []byte(text), End: capture.EndEOF})
		}
		if err := l.drainRecords(t.Context()); err != nil {
			t.Fatal(err)
		}
		seen := new(turnCounter)
		err := l.printTurns(a, new(providers.Inspector), "proxy", seen, func(error) {})
		select {
		case <-stopped:
		default:
			if test.stops {
				t.Errorf("%d bytes before: printing goes on", test.before)
			}
		}
		if errors.Is(err, errPrintingStopped) != test.cut || (seen.turns == 3) == test.cut {
			t.Errorf("%d bytes before, %d after: %d turns were printed: %v", test.before, test.after, seen.turns, err)
		}
	}
}

// TestPreferNetwork checks that a proxy on a machine with few cores may run more goroutines at once. If the user
// set a number, that number applies.
func TestPreferNetwork(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	defer proxying.Store(proxying.Load())
	t.Setenv("GOMAXPROCS", "2")
	if preferNetwork(); runtime.GOMAXPROCS(0) != 2 {
		t.Errorf("the user's choice is replaced by %d", runtime.GOMAXPROCS(0))
	}
	t.Setenv("GOMAXPROCS", "")
	if preferNetwork(); runtime.GOMAXPROCS(0) != proxyProcs || !proxying.Load() {
		t.Errorf("%d goroutines at once", runtime.GOMAXPROCS(0))
	}
	runtime.GOMAXPROCS(proxyProcs + 3)
	if preferNetwork(); runtime.GOMAXPROCS(0) != proxyProcs+3 {
		t.Errorf("fewer goroutines at once: %d", runtime.GOMAXPROCS(0))
	}
}

// TestPercentFor checks that a small heap may grow by a fixed amount, and a large heap by a fraction of its size.
func TestPercentFor(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 1 << 20: 400, 16 << 20: 100, 40 << 20: 40, 128 << 20: 12, 160 << 20: 12, 256 << 20: 25, 640 << 20: 40, 10 << 30: 49} {
		if got := percentFor(live, false); got != want {
			t.Errorf("%d bytes: %d percent, want %d", live, got, want)
		}
	}
	proxy := map[uint64]int{0: 400, 16 << 20: 100, 40 << 20: 100, 128 << 20: 50, 256 << 20: 25, 640 << 20: 40}
	for live, want := range proxy {
		if got := percentFor(live, true); got != want {
			t.Errorf("with a proxy, %d bytes: %d percent, want %d", live, got, want)
		}
	}
}
