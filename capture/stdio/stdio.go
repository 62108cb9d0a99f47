// Package stdio stands between a program and a server process that it speaks with over standard
// streams, as most servers of the Model Context Protocol are used:
//
//	program ─▶ our standard input  ─▶ stamped, taken ─▶ the process's
//	program ◀─ our standard output ◀─ stamped, taken ◀─ the process's
//
// What always holds:
//   - Bytes are passed on exactly as they came, and nothing is added.
//   - A piece has its time and is taken before it is passed on: an answer never stands before what it
//     answers. Whoever takes it must not wait, so what is recorded holds nothing up.
//   - The process sees what it would without us, in our own process group: the end of its input, the
//     end of who reads its output, and signals. We end as it does.
//   - It does not outlive us, where the system can see to that, nor for long whoever started us.
package stdio

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"toolscope/capture"
)

// Options say how a process is wrapped.
type Options struct {
	Name                  string    // of the server
	CommandLine           []string  // the command line as it may be recorded
	Began                 time.Time // what times count from
	Stdin, Stdout, Stderr *os.File
	Record                func(capture.Record) // owns what it is given, and never waits
}

// Ending is how the process ended: by a signal, or with a code.
type Ending struct {
	Signal syscall.Signal // 0 for none
	Code   int
}

const (
	chunkBytes = 64 << 10        // that is passed on at once: what a pipe holds
	graceTime  = 2 * time.Second // for a process to end by itself when nobody is left to speak with
)

// wrapper is a process that runs.
type wrapper struct {
	o         Options
	cmd       *exec.Cmd
	mu        sync.Mutex // times do not decrease in the order of what is taken
	exited    chan struct{}
	signalled atomic.Bool // a signal was passed on
}

// Run starts a command and is over when it is. The error is that it could not be started.
func Run(args []string, o Options) (Ending, error) {
	// Where a child ends with its parent, that is the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w := &wrapper{o: o, cmd: exec.Command(args[0], args[1:]...), exited: make(chan struct{})}
	if errors.Is(w.cmd.Err, exec.ErrDot) { // who wrote "server" in a folder meant that
		w.cmd.Err = nil
	}
	ends, err := w.openPipes()
	if err != nil {
		return Ending{}, err
	}
	w.noteCommand()
	parent := os.Getppid()
	signals, stop := catchSignals()
	defer stop()
	killWithParent(w.cmd)
	err = w.cmd.Start()
	for _, f := range ends.theirs {
		f.Close()
	}
	if err != nil {
		ends.close()
		w.putRecord(capture.Record{End: capture.EndEOF, Why: "it could not be started: " + capture.WithoutPath(err).Error(), By: capture.Toolscope})
		return Ending{}, err
	}
	go w.forwardSignals(signals)
	out, errs := new(pump), new(pump)
	go w.forwardInput(ends.in, parent)
	go out.copyPipe(ends.out, o.Stdout, w.recordOutput, func() { w.addNote(capture.Unwanted) })
	heard := &lineSplitter{to: w.recordStderr}
	go errs.copyPipe(ends.err, o.Stderr, heard.add, func() {})
	_ = w.cmd.Wait()
	close(w.exited)
	out.waitDrained(&w.signalled)
	errs.waitDrained(&w.signalled)
	heard.flush()
	return w.recordEnd(), nil
}

// processPipes are the ends of the pipes that we have; theirs are the process's.
type processPipes struct {
	in, out, err *os.File
	theirs       []*os.File
}

func (p *processPipes) close() {
	for _, f := range []*os.File{p.in, p.out, p.err} {
		f.Close()
	}
}

func (w *wrapper) openPipes() (*processPipes, error) {
	p := new(processPipes)
	var all [3][2]*os.File
	for i := range all {
		r, wr, err := os.Pipe()
		if err != nil {
			for _, pair := range all[:i] {
				pair[0].Close()
				pair[1].Close()
			}
			return nil, err
		}
		all[i] = [2]*os.File{r, wr}
	}
	p.in, p.out, p.err = all[0][1], all[1][0], all[2][0]
	for _, f := range []*os.File{p.in, p.out, p.err} {
		f.Fd() // has who waits for it wait in the system, which is faster than to be told
	}
	p.theirs = []*os.File{all[0][0], all[1][1], all[2][1]}
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = p.theirs[0], p.theirs[1], p.theirs[2]
	return p, nil
}

// putRecord stamps a record and hands it over.
func (w *wrapper) putRecord(r capture.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.Exchange, r.At = 1, time.Since(w.o.Began)
	w.o.Record(r)
}

func (w *wrapper) addNote(text string) { w.putRecord(capture.Record{Note: text}) }

// noteCommand tells what is run.
func (w *wrapper) noteCommand() {
	list, _ := json.Marshal(w.o.CommandLine)
	w.putRecord(capture.Record{
		Side: capture.Request, Note: capture.Argv + string(list),
		Head: &capture.Head{Method: capture.Stdio, URL: "mcp:" + w.o.Name, Start: w.o.Began},
	})
}

// forwardInput passes on what the process is to read, until there is no more or nobody reads it.
func (w *wrapper) forwardInput(to *os.File, parent int) {
	defer to.Close()
	piece := make([]byte, chunkBytes)
	for {
		n, err := w.o.Stdin.Read(piece)
		if n > 0 {
			w.putRecord(capture.Record{Side: capture.Request, Data: bytes.Clone(piece[:n])})
			if _, err := to.Write(piece[:n]); err != nil {
				w.o.Stdin.Close()
				return
			}
		}
		if err != nil {
			w.putRecord(capture.Record{Side: capture.Request, Note: capture.InputEnded})
			to.Close()
			w.killOrphan(parent)
			return
		}
	}
}

// killOrphan ends a process that goes on although whoever started us is gone.
func (w *wrapper) killOrphan(parent int) {
	for tick := 50 * time.Millisecond; os.Getppid() == parent; {
		if w.waitDone(tick) {
			return
		}
	}
	if w.waitDone(graceTime) {
		return
	}
	terminateProcess(w.cmd.Process)
	if !w.waitDone(graceTime) {
		_ = w.cmd.Process.Kill()
	}
}

// waitDone waits for the process to end, for a while.
func (w *wrapper) waitDone(wait time.Duration) bool {
	select {
	case <-w.exited:
		return true
	case <-time.After(wait):
		return false
	}
}

// recordOutput takes what the process writes.
func (w *wrapper) recordOutput(p []byte) { w.putRecord(capture.Record{Data: p}) }

// recordStderr takes what it writes to standard error.
func (w *wrapper) recordStderr(text []byte) { w.addNote(capture.Stderr + string(text)) }

// forwardSignals passes signals on.
func (w *wrapper) forwardSignals(signals <-chan os.Signal) {
	for {
		select {
		case <-w.exited:
			return
		case s := <-signals:
			w.signalled.Store(true)
			w.addNote(capture.Signalled + s.String())
			_ = w.cmd.Process.Signal(s)
		}
	}
}

// recordEnd tells how the process ended.
func (w *wrapper) recordEnd() Ending {
	e := endingOf(w.cmd.ProcessState)
	last := capture.Record{End: capture.EndEOF}
	if s := w.cmd.ProcessState; !s.Success() {
		last.Why, last.By = s.String(), capture.Provider
	}
	w.putRecord(last)
	return e
}
