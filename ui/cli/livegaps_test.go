package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolscope/capture"
	"toolscope/capture/record"
)

// piece returns n bytes of a side, starting at an offset. The bytes depend on their offset.
func piece(from, n int) []byte {
	text := make([]byte, n)
	for i := range text {
		text[i] = " abcdefg"[(from+i)*7/3%8]
	}
	return text
}

// TestLiveTooSlow checks the gaps that occur when one reader is too slow: first the redactor, then the disk, then the
// screen. Writers must never wait. All other bytes must arrive, and each gap must be marked with its place and size.
func TestLiveTooSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const exchanges, pieces, size = 20, 40, 3000
		disk := new(gatedDisk)
		l := recorded(t, disk)
		l.arrived = capture.NewQueue(record.QueueRules(600_000, "are missing"))
		l.shown = newScreenInbox(record.QueueRules(400_000, "are missing"))
		disk.gate = make(chan struct{})
		flood := func(from int) {
			for n := from; n < from+pieces; n++ {
				for x := 1; x <= exchanges; x++ {
					for _, side := range []capture.Side{capture.Request, capture.Response} {
						r := capture.Record{Exchange: x, Side: side, At: time.Duration(n), Data: piece(n*size, size)}
						if n == 0 {
							r.Head = &capture.Head{URL: "/"}
						}
						l.addRecord(r)
					}
				}
			}
		}
		flood(0)
		l.start(callDirect)
		synctest.Wait()
		flood(pieces)
		synctest.Wait()
		for x := 1; x <= exchanges; x++ {
			l.addRecord(capture.Record{Exchange: x, End: capture.EndEOF})
		}
		l.endSource(nil)
		close(disk.gate)
		words := fmt.Sprint(l.statusNotes())
		shown := rest(l.shown)
		a, so := appOf(t)
		a.endLive(l)
		if got := so(); got.code != exitGaps || !strings.Contains(got.stderr, "--record: the capture has gaps: ") {
			t.Errorf("%+v", got)
		}
		if !strings.Contains(words, "GAP ") || !strings.Contains(words, "NOT SHOWN ") {
			t.Error(words)
		}
		for name, recs := range map[string][]capture.Record{"shown": shown, "recorded": again(t, disk.file.String())} {
			lost := wantWhole(t, name, recs, 2*pieces*size)
			if lost == 0 || len(holesIn(recs)) != 2*exchanges {
				t.Errorf("%s: %d bytes are missing, on %d sides", name, lost, len(holesIn(recs)))
			}
		}
	})
}

type sideOf struct {
	exchange int
	side     capture.Side
}

// holesIn returns the number of missing bytes of each side.
func holesIn(recs []capture.Record) map[sideOf]int64 {
	lost := map[sideOf]int64{}
	for _, r := range recs {
		if r.Lost > 0 {
			lost[sideOf{r.Exchange, r.Side}] += r.Lost
		}
	}
	return lost
}

// wantWhole checks that each side in the records has the given size, including the marked gaps. It returns the number
// of missing bytes.
func wantWhole(t *testing.T, name string, recs []capture.Record, size int) (lost int64) {
	t.Helper()
	at, ended := map[sideOf]int{}, map[int]bool{}
	for _, r := range recs {
		s := sideOf{r.Exchange, r.Side}
		if ended[r.Exchange] {
			t.Fatalf("%s: %d goes on behind its end", name, r.Exchange)
		}
		at[s] += int(r.Lost)
		lost += r.Lost
		if r.Lost > 0 && !strings.Contains(r.Note, fmt.Sprintf("gap: %d bytes of exchange %d ", r.Lost, r.Exchange)) {
			t.Errorf("%s: %d bytes of %v are lost, and the note is %s", name, r.Lost, s, r.Note)
		}
		if want := piece(at[s], len(r.Data)); !bytes.Equal(want, r.Data) {
			t.Fatalf("%s: %v at %d: other bytes", name, s, at[s])
		}
		at[s] += len(r.Data)
		ended[r.Exchange] = r.End != ""
	}
	for s, n := range at {
		if n != size || !ended[s.exchange] {
			t.Errorf("%s: %d bytes of %d of %v, ended: %t", name, n, size, s, ended[s.exchange])
		}
	}
	return lost
}
