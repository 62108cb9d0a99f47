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
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"toolscope/capture"
	"toolscope/capture/queue"
	"toolscope/capture/redact"
	"toolscope/stream/count"
)

// maxQueueBytes is how many bytes of records may wait to be written.
const maxQueueBytes = 64 << 20

// queueFull is the reason for left out records if the disk is too slow.
const queueFull = "the queue is full"

// Recorder writes records without delaying their traffic. It is safe for concurrent use.
type Recorder struct {
	w       *writer
	file    *captureFile // nil if w is not the only one who writes to a file
	content fileContent  // of file
	box     *queue.Queue[capture.Record]
	done    chan struct{} // closed when everything is written

	mu      sync.Mutex
	state   State // without the queue's part
	writing int   // the cost of the record that is being written
	err     error // of Close
}

// State is the progress of a recorder.
type State struct {
	Records int64  // written, to the present file
	Bytes   int64  // of bodies, written to it
	Lost    int64  // of bodies, not recorded
	Queued  int    // waiting bytes
	Trouble string // why bytes are being lost now; empty if they are not
	Path    string // of the file; empty for another destination
	Damage  string // what another program did to the previous file, and where recording continues
}

// New begins a capture on w and records to it. created is the wall clock time from which the records'
// times count; by names the program that made the capture. At the end, w is closed if it can be.
func New(w io.Writer, created time.Time, by string) (*Recorder, error) {
	cw, err := newWriter(w, created, by)
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
	return &Recorder{w: w, box: queue.New(QueueRules(limit, "were not recorded: "+queueFull)), done: make(chan struct{})}
}

// Put takes a record, whose data must not change any more. It never waits for the disk.
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

// Close writes the waiting records and closes the capture. Its error lists bytes that were not recorded.
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
	case unfit != nil: // no capture can hold it, so it is not a gap
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

// writeGap writes all records of a gap, or nothing.
func (r *Recorder) writeGap(g *gap) error {
	var lines []byte
	recs := g.gapRecords()
	for _, rec := range recs {
		line, err := capture.EncodeRecord(rec)
		if err != nil {
			return err
		}
		lines = append(lines, line...)
	}
	if err := r.w.write(lines); err != nil {
		return err
	}
	for _, rec := range recs {
		if r.file != nil {
			r.content.add(rec)
		}
	}
	*g = gap{}
	return nil
}
