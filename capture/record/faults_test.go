package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"toolscope/capture"
)

// fault is what a disk does at one operation.
type fault struct {
	name  string
	part  bool  // a write stores half of its bytes
	err   error // nil for a write that reports fewer bytes and no error
	stays bool  // all later operations fail too
}

var faults = []fault{
	{"no space", false, syscall.ENOSPC, false},
	{"no space in the middle", true, syscall.ENOSPC, false},
	{"input/output error", false, syscall.EIO, false},
	{"input/output error in the middle", true, syscall.EIO, false},
	{"short write", true, nil, false},
	{"read-only from here on", false, syscall.EROFS, true},
}

// faultyDisk is a file whose operations fail as planned.
type faultyDisk struct {
	file   []byte
	plan   map[int]fault // by the number of the operation
	done   []string      // the names of the operations so far
	failed fault         // the fault that stays
	torn   bool          // whether the latest write failed
	closed bool
}

// fail counts an operation, and returns its fault.
func (d *faultyDisk) fail(operation string) (f fault, is bool) {
	f, is = d.plan[len(d.done)]
	d.done = append(d.done, operation)
	if d.failed.stays {
		return d.failed, true
	}
	if is && f.stays {
		d.failed = f
	}
	return f, is
}

func (d *faultyDisk) Write(p []byte) (int, error) {
	f, is := d.fail("write")
	d.torn = is
	n := len(p)
	if f.part {
		n /= 2
	} else if is {
		n = 0
	}
	d.file = append(d.file, p[:n]...)
	return n, f.err
}

// failPlainly fails as planned. Only writes can be short, so the error is never nil for a fault.
func (d *faultyDisk) failPlainly(operation string) error {
	f, is := d.fail(operation)
	if is && f.err == nil {
		return io.ErrUnexpectedEOF
	}
	return f.err
}

func (d *faultyDisk) Truncate(size int64) error {
	if err := d.failPlainly("truncate"); err != nil {
		return err
	}
	d.file = d.file[:size]
	return nil
}

func (d *faultyDisk) Seek(offset int64, _ int) (int64, error) { return offset, nil }

func (d *faultyDisk) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(d.file).ReadAt(p, at)
}

func (d *faultyDisk) Sync() error { return d.failPlainly("sync") }

func (d *faultyDisk) Close() error {
	d.closed = true
	return d.failPlainly("close")
}

// faultScript is two exchanges at the same time. All bodies differ.
func faultScript() (recs []capture.Record) {
	for n := range 3 {
		for x := 1; x <= 2; x++ {
			rec := capture.Record{Exchange: x, At: time.Duration(n) * time.Second, Data: fmt.Appendf(nil, "<%d:%d>", x, n)}
			switch n {
			case 0:
				rec.Side, rec.Head = capture.Request, &capture.Head{Method: "POST"}
			case 1:
				rec.Head = &capture.Head{Status: 200}
			case 2:
				rec.End = capture.EndEOF
			}
			recs = append(recs, rec)
		}
	}
	return recs
}

// onFile begins a capture on a file.
func onFile(_ *testing.T, d *faultyDisk) (r *Recorder, release func(), err error) {
	w, err := newWriter(d, noon, "test", "")
	if err != nil {
		return nil, nil, err
	}
	w.file = true
	return startRecorder(w, maxQueueBytes), func() {}, nil
}

// onSpool begins a capture on a spool with one segment.
func onSpool(t *testing.T, d *faultyDisk) (r *Recorder, release func(), err error) {
	s := &Spool{limit: 1 << 30, segment: 1 << 30, bell: make(chan struct{}, 1), parts: []segment{{}}, last: d}
	r, err = New(s, noon, "test")
	return r, func() {
		if end := s.end; end != int64(len(d.file)) {
			t.Errorf("the spool ends at %d, the file at %d", end, len(d.file))
		}
		delete(d.plan, len(d.done)) // everything is forced to the disk, so it doesn't matter whether the file can be closed
		s.Release()
	}, err
}

// TestRecorderFaults checks that, on a disk that fails at any one, two or three operations, the capture opens, each
// record is in it or in a gap that reports its bytes, no other record is lost, and Close returns an error.
func TestRecorderFaults(t *testing.T) {
	tryFaults(t, onFile)
}

// TestSpoolFaults checks the same for a spool.
func TestSpoolFaults(t *testing.T) {
	tryFaults(t, onSpool)
}

type beginCapture func(*testing.T, *faultyDisk) (r *Recorder, release func(), err error)

func tryFaults(t *testing.T, begin beginCapture) {
	operations := runFaults(t, begin, nil)
	if strings.Join(operations[len(operations)-2:], " ") != "sync close" || len(operations) != len(faultScript())+2 {
		t.Fatalf("without a fault: %v", operations)
	}
	end := len(operations) + 4 // some operations only exist after a fault
	tried := 0
	for i := range len(operations) {
		for _, first := range faults {
			runFaults(t, begin, map[int]fault{i: first})
			for j := i + 1; j < end && !first.stays; j++ {
				for _, second := range faults {
					runFaults(t, begin, map[int]fault{i: first, j: second})
					tried++
					for k := j + 1; k < end && first.err == syscall.EIO && second.err == syscall.EIO; k++ {
						runFaults(t, begin, map[int]fault{i: first, j: second, k: faults[3]})
						tried++
					}
				}
			}
		}
	}
	if tried < 2000 {
		t.Errorf("only %d sets of faults", tried)
	}
}

// runFaults records the script on a disk that fails as planned, and checks the result.
func runFaults(t *testing.T, begin beginCapture, plan map[int]fault) (operations []string) {
	t.Helper()
	d := &faultyDisk{}
	var err error
	var state State
	synctest.Test(t, func(t *testing.T) {
		r, release, failed := begin(t, d)
		if failed != nil {
			t.Fatal(failed)
		}
		d.plan, d.done = plan, nil
		for _, rec := range faultScript() {
			put(r, rec)
			synctest.Wait()
		}
		err = r.Close(context.Background())
		state = r.State()
		release()
	})
	problem := findFaultProblem(t, d, state, err)
	if problem != "" {
		t.Fatalf("%s\nplan %v\noperations %v\nstate %+v, close: %v\n%s", problem, plan, d.done, state, err, d.file)
	}
	return d.done
}

// findFaultProblem returns the first promise that was not kept, or "".
func findFaultProblem(t *testing.T, d *faultyDisk, state State, err error) string {
	var bodies string
	var lost, missing int64
	heads, ends := 0, 0
	for _, rec := range readBack(t, string(d.file)) {
		bodies += string(rec.Data)
		lost += rec.Lost
		if rec.Head != nil {
			heads++
		}
		if rec.End == capture.EndEOF {
			ends++
		}
	}
	at := 0
	for _, rec := range faultScript() {
		if i := strings.Index(bodies[at:], string(rec.Data)); i < 0 {
			missing += int64(len(rec.Data))
		} else if i > 0 {
			return fmt.Sprintf("%q is not where it belongs, in %q", rec.Data, bodies)
		} else {
			at += len(rec.Data)
		}
	}
	failed := missing > 0 || d.failed.stays
	for n, name := range d.done {
		_, is := d.plan[n]
		failed = failed || is && (name == "sync" || name == "close")
	}
	switch {
	case at != len(bodies):
		return fmt.Sprintf("a body is there twice, in %q", bodies)
	case missing != state.Lost:
		return fmt.Sprintf("%d bytes are missing, and the state counts %d", missing, state.Lost)
	case (err != nil) != failed:
		return "the error of Close is wrong"
	case missing > 0 && !strings.Contains(err.Error(), fmt.Sprintf("gaps: %d bytes were not recorded", missing)):
		return "the error of Close doesn't count the bytes"
	case !d.closed:
		return "the file is still open"
	case d.torn: // nothing could be reported in the file after that
		for _, f := range d.plan {
			if f.err == nil || errorNamed(err, f.err) {
				return ""
			}
		}
		return "the error of Close doesn't give the reason"
	case lost != missing:
		return fmt.Sprintf("%d bytes are missing, and the gaps report %d", missing, lost)
	case heads != 4 || ends != 2:
		return fmt.Sprintf("there are %d heads and %d ends", heads, ends)
	}
	return ""
}

func errorNamed(err, want error) bool {
	return errors.Is(err, want) || strings.Contains(err.Error(), want.Error())
}
