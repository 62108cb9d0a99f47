package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolscope/capture"
)

// TestRecorderWaitsForNothing checks that a record is passed to the operating system without delay. Nothing waits on
// purpose, so a kill loses only the data that waits for the disk.
func TestRecorderWaitsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, r := recording(t)
		began := time.Now()
		for i := range 100 {
			put(r, capture.Record{Exchange: 1, Data: []byte(fmt.Sprint("n", i, "."))})
			synctest.Wait()
			if !strings.Contains(d.content(), fmt.Sprint("n", i, ".")) || d.writes != i+2 {
				t.Fatalf("record %d is not written; %d writes", i, d.writes)
			}
		}
		if passed := time.Since(began); passed != 0 {
			t.Errorf("%v passed", passed)
		}
		if err := r.Close(context.Background()); err != nil || !d.closed {
			t.Errorf("close: %v", err)
		}
	})
}

// TestRecorderDiskFull checks that a capture whose disk is full for a while is valid, and reports the missing bytes
// and their place. The traffic never waits.
func TestRecorderDiskFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, r := recording(t)
		put(r, chunkOf(1, 5))
		synctest.Wait()
		d.make(10)
		put(r, chunkOf(1, 7))
		put(r, capture.Record{Exchange: 2, Side: capture.Request, At: 2 * time.Second, Head: &capture.Head{Method: "POST"}, Data: []byte("asked")})
		put(r, capture.Record{Exchange: 1, At: 2 * time.Second, Data: []byte("abc"), End: capture.EndEOF})
		synctest.Wait()
		if s := r.State(); s.Lost != 15 || s.Trouble != "no space left on device" || s.Queued != 0 {
			t.Errorf("state %+v", s)
		}
		if got := readBack(t, d.content()); len(got) != 2 || got[0].Note != "" || string(got[0].Data) != "xxxxx" {
			t.Errorf("while it is full: %+v", got)
		}
		d.make(-1)
		put(r, capture.Record{Exchange: 2, Data: []byte("answer"), End: capture.EndEOF})
		synctest.Wait()
		if s := r.State(); s.Trouble != "" || s.Records != 2 || s.Bytes != 11 {
			t.Errorf("state %+v", s)
		}
		err := r.Close(context.Background())
		if err == nil || err.Error() != "the capture has gaps: 15 bytes were not recorded" {
			t.Errorf("close: %v", err)
		}
		expect(t, outline(readBack(t, d.content())), `1 5 bytes
2request head POST0
1 lost 10 note gap: 10 bytes of exchange 1 were not recorded: no space left on device
1 eof
2request lost 5 note gap: 5 bytes of exchange 2 were not recorded: no space left on device
2 6 bytes eof`)
	})
}

// TestRecorderTellsAtTheEnd checks that the missing bytes are reported at the end if the disk has space again only
// after the last record.
func TestRecorderTellsAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, r := recording(t)
		d.make(0)
		put(r, capture.Record{Exchange: 1, At: 3 * time.Second, Data: []byte("abc")})
		put(r, capture.Record{Exchange: 1, At: 5 * time.Second, Data: []byte("de"), Lost: 7})
		synctest.Wait()
		d.make(-1)
		if err := r.Close(context.Background()); err == nil || err.Error() != "the capture has gaps: 12 bytes were not recorded" {
			t.Errorf("close: %v", err)
		}
		got := readBack(t, d.content())
		expect(t, outline(got), `1 lost 12 note gap: 12 bytes of exchange 1 were not recorded: no space left on device`)
		if got[0].At != 3*time.Second {
			t.Errorf("at %v", got[0].At)
		}
	})
}

// TestCost checks that the cost of a record is at least the size of its content.
func TestCost(t *testing.T) {
	bare, long := RecordCost(capture.Record{}), strings.Repeat("x", 1000)
	for name, r := range map[string]capture.Record{
		"data": {Data: []byte(long)}, "why": {Why: long}, "note": {Note: long}, "url": {Head: &capture.Head{URL: long}},
		"name": {Head: &capture.Head{Header: http.Header{long: nil}}}, "value": {Head: &capture.Head{Header: http.Header{"A": {"", long}}}},
	} {
		if n := RecordCost(r); n < bare+1000 || n > bare+1100 {
			t.Errorf("%s: %d, and nothing costs %d", name, n, bare)
		}
	}
}

// TestRecorderDiskStaysFull checks that Close reports the missing bytes if the disk stays full to the end.
func TestRecorderDiskStaysFull(t *testing.T) {
	d, r := recording(t)
	d.make(0)
	put(r, chunkOf(1, 9))
	err := r.Close(context.Background())
	if err == nil || err.Error() != "the capture has gaps: 9 bytes were not recorded\nno space left on device" {
		t.Errorf("close: %v", err)
	}
	if got := readBack(t, d.content()); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestGapIsBounded checks that the memory for losses on a full disk is limited, but that all lost bytes are counted.
func TestGapIsBounded(t *testing.T) {
	var g gap
	lost := int64(0)
	for x := range 2 * maxLossSides {
		lost += g.add(capture.Record{Exchange: x + 1, Lost: 2, Data: []byte("abc"), Head: &capture.Head{URL: strings.Repeat("u", 1000)}}, "full")
	}
	if g.size > maxKeptBytes || len(g.kept) < maxKeptBytes/2000 || len(g.lost) != maxLossSides || lost != 5*2*maxLossSides {
		t.Errorf("%d bytes in %d records, %d losses, %d bytes lost", g.size, len(g.kept), len(g.lost), lost)
	}
	if made := testing.AllocsPerRun(5, func() {
		for range g.gapRecords() {
			break
		}
	}); made > 20 {
		t.Errorf("a disk that is still full costs %v allocations for each record", made)
	}
	got, want := 0, len(g.kept)+len(g.lost)
	for rec := range g.gapRecords() {
		g.dropRecord(rec)
		got++
	}
	if got != want || g.size != 0 {
		t.Errorf("%d records report the gap, want %d; %d bytes are left", got, want, g.size)
	}
}

// TestRecorderBoxFull checks that, if the disk is too slow, the queue fills, and the bytes that don't fit are
// reported at their place.
func TestRecorderBoxFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{room: -1}
		w := writerOn(t, d)
		d.gate = make(chan struct{})
		r := startRecorder(w, 100_000)
		for range 12 {
			put(r, chunkOf(1, 10_000-recordCost))
			synctest.Wait() // the first record is being written and no longer waits in the queue
		}
		head := &capture.Head{Status: 200}
		put(r, capture.Record{Exchange: 2, Head: head, Data: make([]byte, 4000), End: capture.EndCut, Why: "reset"})
		if s := r.State(); s.Lost != 9744+4000 || s.Queued < 110_000 || s.Queued > 111_000 || s.Trouble != queueFull {
			t.Errorf("state %+v", s)
		}
		close(d.gate)
		synctest.Wait()
		put(r, capture.Record{Exchange: 1, Data: []byte("on"), End: capture.EndEOF})
		if err := r.Close(context.Background()); err == nil || err.Error() != "the capture has gaps: 13744 bytes were not recorded" {
			t.Errorf("close: %v", err)
		}
		expect(t, outline(readBack(t, d.content())), strings.Repeat("1 9744 bytes\n", 11)+
			`1 lost 9744 note gap: 9744 bytes of exchange 1 were not recorded: the queue is full
2 head 200 lost 4000 note gap: 4000 bytes of exchange 2 were not recorded: the queue is full cut reset
1 2 bytes eof`)
	})
}

// TestGapOfGaps checks that a gap from the source is reported as it arrived, and only once if its record is left out
// too.
func TestGapOfGaps(t *testing.T) {
	rules := QueueRules(1<<20, "are missing")
	told := rules.Gap(5, capture.Record{Exchange: 3, At: 7, Note: "a note"})
	if told.Lost != 5 || told.Note != "a note; gap: 5 bytes of exchange 3 are missing" || told.At != 7 {
		t.Errorf("%+v", told)
	}
	if p := rules.PartOf(told); p.Bytes != 5 || p.Exchange != 3 || p.Request || p.EndsExchange {
		t.Errorf("%+v", p)
	}
	if kept, worth := rules.WithoutBytes(told); worth || kept.Lost != 0 || kept.Note != "" {
		t.Errorf("%+v", kept)
	}
	if kept, worth := rules.WithoutBytes(capture.Record{Exchange: 3, Data: []byte("abc"), Note: "a note"}); !worth || kept.Note != "a note" {
		t.Errorf("%+v", kept)
	}
	last := capture.Record{Exchange: 3, Side: capture.Request, Data: []byte("abc"), End: capture.EndEOF, Note: "a note"}
	if p := rules.PartOf(last); p.Bytes != 3 || !p.Request || !p.EndsExchange {
		t.Errorf("%+v", p)
	}
	if kept, worth := rules.WithoutBytes(last); !worth || kept.Data != nil || kept.Note == "" || kept.End == "" {
		t.Errorf("%+v", kept)
	}
}

// TestRecorderCloseGivesUp checks that Close stops waiting when its context ends, and that the waiting records are
// still written.
func TestRecorderCloseGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{room: -1}
		w := writerOn(t, d)
		d.gate = make(chan struct{})
		r := startRecorder(w, maxQueueBytes)
		put(r, chunkOf(1, 5))
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := r.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "261 bytes not yet written") {
			t.Errorf("close: %v", err)
		}
		put(r, chunkOf(1, 7)) // too late; its bytes are counted as lost
		close(d.gate)
		synctest.Wait()
		if got := readBack(t, d.content()); string(got[0].Data) != "xxxxx" || r.State().Lost != 7 {
			t.Errorf("%+v, %+v", got, r.State())
		}
	})
}

func TestRecorderRefusesNumberless(t *testing.T) {
	d, r := recording(t)
	put(r, capture.Record{Data: []byte("abc")})
	put(r, capture.Record{Exchange: 1, Data: []byte("d"), End: capture.EndEOF})
	if err := r.Close(context.Background()); err == nil {
		t.Error("no error")
	}
	expect(t, outline(readBack(t, d.content())), `1 1 bytes eof`)
}

// TestNew checks that a capture can be written to any writer.
func TestNew(t *testing.T) {
	var file bytes.Buffer
	r, err := New(&file, noon, "test")
	if err != nil {
		t.Fatal(err)
	}
	put(r, chunkOf(1, 3))
	if err := r.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if !strings.HasPrefix(file.String(), `{"toolscope":1,"created":"2026-03-01T12:00:00Z","by":"test"`) || !strings.Contains(file.String(), `"d":"xxx"`) {
		t.Error(file.String())
	}
	if _, err := New(&disk{}, noon, "test"); err == nil || err.Error() != "begin capture: no space left on device" {
		t.Error(err)
	}
}
