package record

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"toolscope/capture"
	"toolscope/capture/redact"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// put records a record without secrets.
func put(r *Recorder, rec capture.Record) {
	for _, c := range redact.KeepAll().Take(rec) {
		r.Put(c)
	}
}

// disk is a file that can be full or slow.
type disk struct {
	mu     sync.Mutex
	file   bytes.Buffer
	room   int           // number of bytes that fit; negative for no limit
	gate   chan struct{} // if not nil, each write waits for it
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

func writerOn(t *testing.T, d *disk) *writer {
	t.Helper()
	w, err := newWriter(d, noon, "test", "")
	if err != nil {
		t.Fatal(err)
	}
	w.file = true
	return w
}

// recording returns a recorder and the disk that it writes to.
func recording(t *testing.T) (*disk, *Recorder) {
	d := &disk{room: -1}
	return d, startRecorder(writerOn(t, d), maxQueueBytes)
}

func chunkOf(exchange, n int) capture.Record {
	return capture.Record{Exchange: exchange, At: time.Second, Data: bytes.Repeat([]byte("x"), n)}
}

// readBack reads a capture without opening a file.
func readBack(t *testing.T, file string) []capture.Record {
	t.Helper()
	src, err := capture.Open(context.Background(), "-", capture.Options{Stdin: strings.NewReader(file)})
	if err != nil {
		t.Fatal(err)
	}
	return collect(t, src)
}

func collect(t *testing.T, src capture.Source) (recs []capture.Record) {
	t.Helper()
	for r, err := range src {
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, r)
	}
	return recs
}

// outline returns a line for each record, in order.
func outline(recs []capture.Record) string {
	var lines []string
	for _, r := range recs {
		text := fmt.Sprint(r.Exchange, r.Side)
		if r.Head != nil {
			text += fmt.Sprintf(" head %s%d", r.Head.Method, r.Head.Status)
		}
		if r.Lost > 0 {
			text += fmt.Sprintf(" lost %d", r.Lost)
		}
		if len(r.Data) > 0 {
			text += fmt.Sprintf(" %d bytes", len(r.Data))
		}
		if r.Note != "" {
			text += " note " + r.Note
		}
		if r.End != "" {
			text += strings.TrimRight(fmt.Sprintf(" %s %s", r.End, r.Why), " ")
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "\n")
}

func expect(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
