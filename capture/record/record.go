// Package record writes captures. All captures reach a disk through it, and it takes only redacted
// records.
//
//	redact.Clean ─▶ Recorder ─▶ queue ─▶ writer ─▶ a file only for its owner
//
// Invariants:
//   - Put never waits for the disk. Records that exceed the queue or the disk are left out. As soon as
//     there is room again, the capture reports how many bytes of which side of which exchange are
//     missing, at the place where they are missing.
//   - A record is one write, made as soon as the previous one is done. Nothing waits on purpose: a kill
//     loses only the bytes that were waiting for the disk.
//   - A file is new, and only its owner may read it.
package record

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"toolscope/capture"
	"toolscope/capture/redact"
	"toolscope/stream/count"
)

// maxQueueBytes is the maximum number of bytes of records that wait to be written.
const maxQueueBytes = 64 << 20

// queueFull is the reason why records are left out if the disk is too slow.
const queueFull = "the queue is full"

// Recorder writes records without delaying their traffic. It is safe for concurrent use.
type Recorder struct {
	w       *writer
	file    *captureFile // nil unless w is a file to which only this recorder writes
	content fileContent  // content of file
	box     *capture.Queue[capture.Record]
	done    chan struct{} // closed when everything is written

	mu      sync.Mutex
	state   State // the state, except for the facts about the queue
	writing int   // the cost of the record that is being written
	err     error // the result of Close
}

// State is the progress of a recorder.
type State struct {
	Records int64  // number of records in the present file
	Bytes   int64  // number of bytes of bodies in the present file
	Lost    int64  // number of bytes of bodies that were not recorded
	Queued  int    // number of waiting bytes
	Trouble string // reason why bytes are being lost now; empty if they are not
	Path    string // path of the file; empty for another destination
	Damage  string // the damage that another program did to the previous file, and the path where recording continues
}

// New begins a capture on w and records to it. The times of the records count from created. The parameter by
// names the program that makes the capture. At the end, w is closed if it is an io.Closer.
func New(w io.Writer, created time.Time, by string) (*Recorder, error) {
	cw, err := newWriter(w, created, by, "")
	if err != nil {
		return nil, err
	}
	return startRecorder(cw, maxQueueBytes), nil
}

func startRecorder(w *writer, limit int) *Recorder {
	r := newRecorder(w, limit)
	go r.writeAll()
	return r
}

func newRecorder(w *writer, limit int) *Recorder {
	return &Recorder{w: w, box: capture.NewQueue(QueueRules(limit, "were not recorded: "+queueFull)), done: make(chan struct{})}
}

// Put queues a record, whose data must not change any more. It never waits for the disk.
func (r *Recorder) Put(c redact.Clean) {
	rec := c.Unwrap()
	if r.box.Put(rec) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.Lost += lostWith(rec)
}

// State returns the progress of the recorder.
func (r *Recorder) State() State {
	waiting := r.box.State()
	r.mu.Lock()
	defer r.mu.Unlock()
	state := r.state
	state.Queued = waiting.Cost + r.writing
	state.Lost += waiting.Lost
	if waiting.Full {
		state.Trouble = queueFull
	}
	return state
}

// Close writes the waiting records and closes the capture. Its error counts the bytes that were not recorded.
// If ctx ends before everything is written, Close stops waiting, and writing continues while the program
// runs.
func (r *Recorder) Close(ctx context.Context) error {
	r.box.Close(nil)
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return fmt.Errorf("close capture: %s not yet written: %w", count.Of(r.State().Queued, "byte"), ctx.Err())
	}
}

func (r *Recorder) writeAll() {
	defer close(r.done)
	var failed gap // records that could not be written
	var tick <-chan time.Time
	if r.file != nil {
		clock := time.NewTicker(checkEvery)
		defer clock.Stop()
		tick = clock.C
	}
	for ended := false; !ended; {
		batch, more := r.box.Take(1)
		for _, rec := range batch {
			r.writeOrGap(&failed, rec)
		}
		if len(batch) == 0 {
			ended, _ = r.box.Done()
		}
		select {
		case <-tick:
			r.checkFile(&failed)
			continue
		default:
		}
		if len(batch) == 0 && !more && !ended {
			select {
			case <-tick:
				r.checkFile(&failed)
			case <-r.box.Wakeups():
			}
		}
	}
	r.checkFile(&failed)
	why := failed.why
	if failed.isOpen() && r.writeGap(&failed) == nil {
		why = ""
	}
	err := r.w.close()
	state := r.State()
	if state.Damage != "" {
		err = errors.Join(errors.New(state.Damage), err)
	}
	if state.Lost > 0 {
		err = errors.Join(fmt.Errorf("the capture has gaps: %d bytes were not recorded", state.Lost), err)
	}
	if why != "" {
		err = errors.Join(err, errors.New(why))
	}
	r.err = err
}

// writeOrGap writes a record, or adds it to the gap.
func (r *Recorder) writeOrGap(failed *gap, rec capture.Record) {
	r.mu.Lock()
	r.writing = RecordCost(rec)
	r.mu.Unlock()
	line, unfit := capture.EncodeRecord(rec)
	err := unfit
	if err == nil && failed.isOpen() {
		err = r.writeGap(failed)
	}
	if err == nil {
		err = r.w.write(line)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writing = 0
	switch {
	case unfit != nil: // no capture can contain the record, so it is not a gap
		r.state.Lost += lostWith(rec)
		r.state.Trouble = unfit.Error()
	case err != nil:
		r.state.Lost += failed.add(rec, capture.WithoutPath(err).Error())
		r.state.Trouble = failed.why
	default:
		if r.file != nil {
			r.content.add(rec)
		}
		r.state.Records++
		r.state.Bytes += int64(len(rec.Data))
		r.state.Trouble = ""
	}
}

// writeGap writes the records of a gap. After an error, it keeps those that are not written.
func (r *Recorder) writeGap(g *gap) error {
	for rec := range g.gapRecords() {
		line, err := capture.EncodeRecord(rec)
		if err == nil {
			err = r.w.write(line)
		}
		if err != nil {
			return err
		}
		g.dropRecord(rec)
		if r.file != nil {
			r.content.add(rec)
		}
	}
	*g = gap{}
	return nil
}

// recordCost is the cost of a record without its data.
const recordCost = 256

// QueueRules returns the rules for a queue of records from the network: Put never waits, and gaps are reported
// where they are. The parameter why is the second part of a gap's note: "were not recorded: …".
func QueueRules(limit int, why string) capture.QueueRules[capture.Record] {
	return capture.QueueRules[capture.Record]{
		Limit: limit, Cost: RecordCost, PartOf: partOf, WithoutBytes: withoutBytes,
		Gap: func(lost int64, near capture.Record) capture.Record {
			near.Lost = lost
			near.Note = capture.JoinNotes(near.Note, fmt.Sprintf("gap: %d bytes of exchange %d %s", lost, near.Exchange, why))
			return near
		},
	}
}

// RecordCost returns the approximate size of a record in memory.
func RecordCost(r capture.Record) int {
	n := recordCost + len(r.Data) + len(r.Why) + len(r.Note)
	if r.Head != nil {
		n += len(r.Head.URL)
		for name, values := range r.Head.Header {
			n += len(name)
			for _, v := range values {
				n += len(v) + 16
			}
		}
	}
	return n
}

// lostWith returns the number of bytes that are missing if the record is missing.
func lostWith(r capture.Record) int64 { return int64(len(r.Data)) + r.Lost }

func partOf(r capture.Record) capture.QueuePart {
	return capture.QueuePart{
		QueueStream: capture.QueueStream{Exchange: r.Exchange, Request: r.Side == capture.Request},
		Bytes:       lostWith(r), EndsExchange: r.End != "",
	}
}

// withoutBytes returns a record without its bytes. It also removes the note of a gap, because the gap becomes
// part of a larger one. It reports whether the remaining record is worth keeping.
func withoutBytes(r capture.Record) (capture.Record, bool) {
	if r.Lost > 0 {
		r.Note = ""
	}
	r.Data, r.Lost = nil, 0
	return r, r.Head != nil || r.End != "" || r.Note != ""
}

// writer writes a capture, each line in one Write, so that written lines survive the end of the program.
type writer struct {
	w    io.Writer
	file bool  // w is a file with only this capture, so it can be truncated
	size int64 // number of bytes in the file
	torn bool  // a write failed in the middle of a line

	damaged error // the damage that another program did to the file; the file is then closed
}

func newWriter(w io.Writer, created time.Time, by, dir string) (*writer, error) {
	line, err := capture.EncodeHeader(created, by, dir)
	if err != nil {
		return nil, fmt.Errorf("begin capture: %w", err)
	}
	cw := &writer{w: w}
	if err := cw.write(line); err != nil {
		return nil, fmt.Errorf("begin capture: %w", err)
	}
	return cw, nil
}

// write appends complete lines. After an error, the capture is undamaged up to these lines, and the caller may
// try again.
func (w *writer) write(line []byte) error {
	if w.damaged != nil {
		return w.damaged
	}
	if w.torn {
		line = append([]byte("\n"), line...)
	}
	n, err := w.w.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	switch {
	case err == nil:
		w.size += int64(n)
		w.torn = false
	case n > 0 && !w.truncateTail():
		w.size += int64(n)
		w.torn = !bytes.HasSuffix(line[:n], []byte("\n"))
	}
	return err
}

// truncateTail removes the part of a line that was written, and reports whether it did. If it didn't, readers report
// the line as damaged.
func (w *writer) truncateTail() bool {
	f, ok := w.w.(interface {
		io.Seeker
		Truncate(size int64) error
	})
	if !w.file || !ok || f.Truncate(w.size) != nil {
		return false
	}
	_, _ = f.Seek(w.size, io.SeekStart) // fails only if the file is closed
	return true
}

// close forces a file to the disk and closes it. Other destinations are closed if they can be.
func (w *writer) close() error {
	if w.damaged != nil {
		return nil
	}
	var err error
	if f, ok := w.w.(interface{ Sync() error }); ok {
		if err = f.Sync(); errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
			err = nil // a pipe, or a device
		}
	}
	if c, ok := w.w.(io.Closer); ok {
		err = cmp.Or(c.Close(), err)
	}
	if err != nil {
		return fmt.Errorf("close capture: %w", capture.WithoutPath(err))
	}
	return nil
}
