// Package record writes captures: whatever of one reaches a disk goes through here, and nothing
// that was not searched for secrets can.
//
//	redact.Clean ─▶ Recorder ─▶ mailbox ─▶ writer ─▶ a file of its owner's own
//
// What always holds:
//   - Who records never waits for the disk. What the box or the disk cannot take is left out, and
//     the capture says how many bytes of which side of which exchange that are, where they are
//     missing, as soon as there is room again.
//   - A record is one write, made as soon as the one before it is done. Nothing waits on purpose:
//     what a kill can cost is what the disk was behind at that moment.
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

// queueFull is why records are left out when the disk is too slow.
const queueFull = "the queue is full"

// Recorder writes records beside the traffic that they come from. It may be used from several
// goroutines.
type Recorder struct {
	w    *writer
	box  *queue.Queue[capture.Record]
	done chan struct{} // closed when everything is written

	mu      sync.Mutex
	state   State // without what the box knows
	writing int   // the cost of the record that is being written
	err     error // of Close
}

// State is how far a recorder has come.
type State struct {
	Records int64  // written
	Bytes   int64  // of bodies, written
	Lost    int64  // of bodies, not recorded
	Queued  int    // bytes that wait
	Trouble string // why bytes are being lost just now; empty when they are not
}

// New begins a capture on w and records to it. created is the wall clock time that the records'
// times count from; by says what made the capture. What can be closed is closed at the end.
func New(w io.Writer, created time.Time, by string) (*Recorder, error) {
	cw, err := newWriter(w, created, by)
	if err != nil {
		return nil, err
	}
	return startRecorder(cw, maxQueueBytes), nil
}

func startRecorder(w *writer, limit int) *Recorder {
	r := &Recorder{w: w, box: queue.New(QueueRules(limit, "were not recorded: "+queueFull)), done: make(chan struct{})}
	go r.writeAll()
	return r
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

// State is how far the recorder has come.
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

// Close writes what waits and closes the capture. Its error says what was not recorded. When ctx
// ends before everything is written, it stops waiting, and the rest is written as far as the
// program goes on.
func (r *Recorder) Close(ctx context.Context) error {
	r.box.Close(nil)
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return fmt.Errorf("close capture: still to be written: %s: %w", count.Of(r.State().Queued, "byte"), ctx.Err())
	}
}

func (r *Recorder) writeAll() {
	defer close(r.done)
	var failed gap // what the disk did not take
	for rec := range r.box.All {
		r.writeOrGap(&failed, rec)
	}
	why := failed.why
	if failed.isOpen() && r.writeGap(&failed) == nil {
		why = ""
	}
	err := r.w.close()
	if lost := r.State().Lost; lost > 0 {
		err = errors.Join(fmt.Errorf("the capture has gaps: %d bytes were not recorded", lost), err)
	}
	if why != "" {
		err = errors.Join(err, errors.New(why))
	}
	r.err = err
}

// writeOrGap writes a record, or makes it part of the gap.
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
	case unfit != nil: // no capture could hold it, so it is no gap
		r.state.Lost += lostWith(rec)
		r.state.Trouble = unfit.Error()
	case err != nil:
		r.state.Lost += failed.add(rec, capture.WithoutPath(err).Error())
		r.state.Trouble = failed.why
	default:
		r.state.Records++
		r.state.Bytes += int64(len(rec.Data))
		r.state.Trouble = ""
	}
}

// writeGap writes what is known about a gap, all of it or nothing.
func (r *Recorder) writeGap(g *gap) error {
	var lines []byte
	for _, rec := range g.gapRecords() {
		line, err := capture.EncodeRecord(rec)
		if err != nil {
			return err
		}
		lines = append(lines, line...)
	}
	if err := r.w.write(lines); err != nil {
		return err
	}
	*g = gap{}
	return nil
}
