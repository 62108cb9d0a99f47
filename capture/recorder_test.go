package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// disk is a file that can be full, and slow.
type disk struct {
	mu     sync.Mutex
	file   bytes.Buffer
	room   int           // bytes that fit; negative is no limit
	gate   chan struct{} // when not nil, each write waits for it
	writes int
	closed bool
}

func (d *disk) Write(p []byte) (int, error) {
	if d.gate != nil {
		<-d.gate
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writes++
	if d.room >= 0 && len(p) > d.room {
		n, _ := d.file.Write(p[:d.room])
		d.room = 0
		return n, syscall.ENOSPC
	}
	if d.room >= 0 {
		d.room -= len(p)
	}
	return d.file.Write(p)
}

func (d *disk) Truncate(size int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.room >= 0 {
		d.room += d.file.Len() - int(size)
	}
	d.file.Truncate(int(size))
	return nil
}

func (d *disk) Seek(offset int64, _ int) (int64, error) { return offset, nil }

func (d *disk) Close() error {
	d.closed = true
	return nil
}

func (d *disk) make(room int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = room
}

func (d *disk) content() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.file.String()
}

func writerOn(t *testing.T, d *disk) *Writer {
	t.Helper()
	w, err := NewWriter(d, noon, "test")
	if err != nil {
		t.Fatal(err)
	}
	w.file = true
	return w
}

func chunkOf(exchange, n int) Record {
	return Record{Exchange: exchange, At: time.Second, Data: bytes.Repeat([]byte("x"), n)}
}

// A record is in the hands of the operating system without any time passing: nothing waits on purpose, so that the
// window of a kill is what the disk itself is behind.
func TestRecorderWaitsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{room: -1}
		r := NewRecorder(writerOn(t, d))
		began := time.Now()
		for i := range 100 {
			r.Record(Record{Exchange: 1, Data: []byte(fmt.Sprint("n", i, "."))})
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

// The disk is full for a while: the capture is whole, says what is missing and where, and the traffic never waits.
func TestRecorderDiskFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{room: -1}
		r := NewRecorder(writerOn(t, d))
		r.Record(chunkOf(1, 5))
		synctest.Wait()
		d.make(10)
		r.Record(chunkOf(1, 7))
		r.Record(Record{Exchange: 2, Side: Request, At: 2 * time.Second, Head: &Head{Method: "POST"}, Data: []byte("asked")})
		r.Record(Record{Exchange: 1, At: 2 * time.Second, Data: []byte("abc"), End: EndEOF})
		synctest.Wait()
		if s := r.State(); s.Lost != 15 || s.Trouble != "no space left on device" || s.Queued != 0 {
			t.Errorf("state %+v", s)
		}
		if got := readBack(t, d.content()); len(got) != 2 || got[0].Note != "" || string(got[0].Data) != "xxxxx" {
			t.Errorf("while it is full: %+v", got)
		}
		d.make(-1)
		r.Record(Record{Exchange: 2, Data: []byte("answer"), End: EndEOF})
		synctest.Wait()
		if s := r.State(); s.Trouble != "" || s.Records != 2 || s.Bytes != 11 {
			t.Errorf("state %+v", s)
		}
		err := r.Close(context.Background())
		if err == nil || err.Error() != "the capture has gaps: 15 bytes were not recorded" {
			t.Errorf("close: %v", err)
		}
		expect(t, outline(readBack(t, d.content())), `1 "xxxxx" note:gap: 10 bytes were not recorded: no space left on device eof
2 request "" note:gap: 5 bytes were not recorded: no space left on device
2 "answer" eof`)
	})
}

// The disk stays full to the end.
func TestRecorderDiskStaysFull(t *testing.T) {
	d := &disk{room: -1}
	r := NewRecorder(writerOn(t, d))
	d.make(0)
	r.Record(chunkOf(1, 9))
	err := r.Close(context.Background())
	if err == nil || err.Error() != "the capture has gaps: 9 bytes were not recorded\nno space left on device" {
		t.Errorf("close: %v", err)
	}
	if got := readBack(t, d.content()); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// The disk is too slow: the queue fills, and what does not fit is a gap that is told where it was.
func TestRecorderQueueFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{room: -1}
		w := writerOn(t, d)
		d.gate = make(chan struct{})
		r := newRecorder(w, 3000)
		for range 10 {
			r.Record(chunkOf(1, 744)) // 1000 with what each costs
		}
		r.Record(Record{Exchange: 2, Head: &Head{Status: 200}, Data: make([]byte, 4000), End: EndCut, Why: "reset"})
		if s := r.State(); s.Lost != 7*744+4000 || s.Queued != 3000 || s.Trouble != "the queue is full" {
			t.Errorf("state %+v", s)
		}
		close(d.gate)
		synctest.Wait()
		r.Record(Record{Exchange: 1, Data: []byte("on"), End: EndEOF})
		if err := r.Close(context.Background()); err == nil {
			t.Error("no error")
		}
		expect(t, outline(readBack(t, d.content())), fmt.Sprintf(`1 %q note:gap: 5208 bytes were not recorded: the queue is full eof
2 "" note:gap: 4000 bytes were not recorded: the queue is full cut:reset`, strings.Repeat("x", 3*744)+"on"))
	})
}

// Close gives up when it is told to, and what waits is written all the same.
func TestRecorderCloseGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{room: -1}
		w := writerOn(t, d)
		d.gate = make(chan struct{})
		r := NewRecorder(w)
		r.Record(chunkOf(1, 5))
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := r.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "261 bytes wait") {
			t.Errorf("close: %v", err)
		}
		r.Record(chunkOf(1, 7)) // too late, and counted
		close(d.gate)
		synctest.Wait()
		if got := readBack(t, d.content()); string(got[0].Data) != "xxxxx" || r.State().Lost != 7 {
			t.Errorf("%+v, %+v", got, r.State())
		}
	})
}

func TestRecorderRefusesNumberless(t *testing.T) {
	d := &disk{room: -1}
	r := NewRecorder(writerOn(t, d))
	r.Record(Record{Data: []byte("abc")})
	r.Record(Record{Exchange: 1, Data: []byte("d"), End: EndEOF})
	if err := r.Close(context.Background()); err == nil {
		t.Error("no error")
	}
	expect(t, outline(readBack(t, d.content())), `1 "d" eof`)
}
