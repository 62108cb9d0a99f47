package capture

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

const (
	queueLimit  = 64 << 20 // bytes of records that may wait to be written
	recordCost  = 256      // bytes that a record is counted as beyond its data
	keptRecords = 4096     // heads and ends that outlive their data in a gap
)

// Recorder writes records beside the traffic that they come from. It never makes that wait: records go through a
// queue, and what the queue or the disk cannot take is left out. The capture says so, in a note, as soon as there is
// room again, and heads and ends are written then too.
//
// A record is one write, made as soon as the one before it is done. Nothing waits on purpose: what a kill can cost is
// what the disk was behind at that moment. It may be used from several goroutines.
type Recorder struct {
	w     *Writer
	limit int
	wake  chan struct{} // holds one
	done  chan struct{} // closed when everything is written

	mu     sync.Mutex
	queue  []Record
	size   int // of the queue, and of what is being written
	missed gap // what the queue did not take
	closed bool
	state  Recording
	err    error // of the end
}

// Recording is how far a recorder has come.
type Recording struct {
	Records int64  // written
	Bytes   int64  // of bodies, written
	Lost    int64  // of bodies, not recorded
	Queued  int    // bytes that wait
	Trouble string // why bytes are being lost just now; empty when they are not
}

// NewRecorder records to w, which it closes at the end.
func NewRecorder(w *Writer) *Recorder { return newRecorder(w, queueLimit) }

func newRecorder(w *Writer, limit int) *Recorder {
	r := &Recorder{w: w, limit: limit, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go r.run()
	return r
}

// Record takes a record, whose data must not change any more. It never waits for the disk.
func (r *Recorder) Record(rec Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		r.state.Lost += int64(len(rec.Data))
		return
	}
	room := r.limit
	if r.missed.open() { // not one gap for each record that finds room
		room = r.limit / 4 * 3
	}
	if r.size+len(rec.Data)+recordCost > room {
		r.lose(&r.missed, rec, "the queue is full")
		return
	}
	for _, told := range r.missed.close() {
		r.enqueue(told)
	}
	r.enqueue(rec)
}

func (r *Recorder) enqueue(rec Record) {
	r.queue = append(r.queue, rec)
	r.size += len(rec.Data) + recordCost
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *Recorder) lose(g *gap, rec Record, why string) {
	g.add(rec, why)
	r.state.Lost += int64(len(rec.Data))
	r.state.Trouble = why
}

// State is how far the recorder has come.
func (r *Recorder) State() Recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	state := r.state
	state.Queued = r.size
	return state
}

// Close writes what waits and closes the capture. Its error says what was not recorded. When ctx ends before
// everything is written, it stops waiting, and the rest is written as far as the program goes on.
func (r *Recorder) Close(ctx context.Context) error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.wake)
	}
	r.mu.Unlock()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return fmt.Errorf("close capture: %d bytes wait to be written: %w", r.State().Queued, ctx.Err())
	}
}

func (r *Recorder) run() {
	defer close(r.done)
	var failed gap // what the disk did not take
	for more := true; more; {
		_, more = <-r.wake
		for _, rec := range r.take(!more) {
			r.put(&failed, rec)
		}
	}
	why := failed.why
	if failed.open() && r.tell(&failed) == nil {
		why = ""
	}
	err := r.w.Close()
	if lost := r.State().Lost; lost > 0 {
		err = errors.Join(fmt.Errorf("the capture has gaps: %d bytes were not recorded", lost), err)
	}
	if why != "" {
		err = errors.Join(err, errors.New(why))
	}
	r.err = err
}

// take empties the queue. At the end that includes what it has to say about itself.
func (r *Recorder) take(last bool) []Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last {
		r.queue = append(r.queue, r.missed.close()...)
	}
	recs := r.queue
	r.queue = nil
	return recs
}

// put writes a record, or makes it part of the gap.
func (r *Recorder) put(failed *gap, rec Record) {
	line, unfit := encodeRecord(rec)
	err := unfit
	if err == nil && failed.open() {
		err = r.tell(failed)
	}
	if err == nil {
		err = r.w.write(line)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.size = max(0, r.size-len(rec.Data)-recordCost)
	switch {
	case unfit != nil: // no capture could hold it, so it is no gap
		r.state.Lost += int64(len(rec.Data))
		r.state.Trouble = unfit.Error()
		return
	case err != nil:
		r.lose(failed, rec, reason(err).Error())
		return
	}
	r.state.Records++
	r.state.Bytes += int64(len(rec.Data))
	if !r.missed.open() {
		r.state.Trouble = ""
	}
}

// tell writes what is known about a gap, all of it or nothing.
func (r *Recorder) tell(g *gap) error {
	var lines []byte
	for _, rec := range g.records() {
		line, err := encodeRecord(rec)
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
