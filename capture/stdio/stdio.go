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
	Shown                 []string  // the command line as it may be recorded
	Began                 time.Time // what times count from
	Stdin, Stdout, Stderr *os.File
	Take                  func(capture.Record) // owns what it is given, and never waits
}

// Ending is how the process ended: by a signal, or with a code.
type Ending struct {
	Signal syscall.Signal // 0 for none
	Code   int
}

const (
	pieceSize = 64 << 10        // that is passed on at once: what a pipe holds
	graceTime = 2 * time.Second // for a process to end by itself when nobody is left to speak with
)

// wrap is a process that runs.
type wrap struct {
	o    Options
	cmd  *exec.Cmd
	mu   sync.Mutex // times do not decrease in the order of what is taken
	gone chan struct{}
	told atomic.Bool // a signal was passed on
}

// Run starts a command and is over when it is. The error is that it could not be started.
func Run(args []string, o Options) (Ending, error) {
	// Where a child ends with its parent, that is the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w := &wrap{o: o, cmd: exec.Command(args[0], args[1:]...), gone: make(chan struct{})}
	if errors.Is(w.cmd.Err, exec.ErrDot) { // who wrote "server" in a folder meant that
		w.cmd.Err = nil
	}
	ends, err := w.pipes()
	if err != nil {
		return Ending{}, err
	}
	w.begin()
	parent := os.Getppid()
	signals, stop := catch()
	defer stop()
	tie(w.cmd)
	err = w.cmd.Start()
	for _, f := range ends.theirs {
		f.Close()
	}
	if err != nil {
		ends.close()
		w.take(capture.Record{End: capture.EndEOF, Why: "it could not be started: " + capture.WithoutPath(err).Error(), By: capture.Toolscope})
		return Ending{}, err
	}
	go w.pass(signals)
	out, errs := new(pump), new(pump)
	go w.input(ends.in, parent)
	go out.run(ends.out, o.Stdout, w.output, func() { w.note(capture.Unwanted) })
	heard := &lines{to: w.heard}
	go errs.run(ends.err, o.Stderr, heard.add, func() {})
	_ = w.cmd.Wait()
	close(w.gone)
	out.drain(&w.told)
	errs.drain(&w.told)
	heard.flush()
	return w.end(), nil
}

// pipes are the ends of the pipes that we have; theirs are the process's.
type pipes struct {
	in, out, err *os.File
	theirs       []*os.File
}

func (p *pipes) close() {
	for _, f := range []*os.File{p.in, p.out, p.err} {
		f.Close()
	}
}

func (w *wrap) pipes() (*pipes, error) {
	p := new(pipes)
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

// take stamps a record and hands it over.
func (w *wrap) take(r capture.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.Exchange, r.At = 1, time.Since(w.o.Began)
	w.o.Take(r)
}

func (w *wrap) note(text string) { w.take(capture.Record{Note: text}) }

// begin tells what is run.
func (w *wrap) begin() {
	list, _ := json.Marshal(w.o.Shown)
	w.take(capture.Record{
		Side: capture.Request, Note: capture.Argv + string(list),
		Head: &capture.Head{Method: capture.Stdio, URL: "mcp:" + w.o.Name, Start: w.o.Began},
	})
}

// input passes on what the process is to read, until there is no more or nobody reads it.
func (w *wrap) input(to *os.File, parent int) {
	defer to.Close()
	piece := make([]byte, pieceSize)
	for {
		n, err := w.o.Stdin.Read(piece)
		if n > 0 {
			w.take(capture.Record{Side: capture.Request, Data: bytes.Clone(piece[:n])})
			if _, err := to.Write(piece[:n]); err != nil {
				w.o.Stdin.Close()
				return
			}
		}
		if err != nil {
			w.take(capture.Record{Side: capture.Request, Note: capture.InputEnded})
			to.Close()
			w.bereaved(parent)
			return
		}
	}
}

// bereaved ends a process that goes on although whoever started us is gone.
func (w *wrap) bereaved(parent int) {
	for tick := 50 * time.Millisecond; os.Getppid() == parent; {
		if w.over(tick) {
			return
		}
	}
	if w.over(graceTime) {
		return
	}
	terminate(w.cmd.Process)
	if !w.over(graceTime) {
		_ = w.cmd.Process.Kill()
	}
}

// over waits for the process to end, for a while.
func (w *wrap) over(wait time.Duration) bool {
	select {
	case <-w.gone:
		return true
	case <-time.After(wait):
		return false
	}
}

// output takes what the process writes.
func (w *wrap) output(p []byte) { w.take(capture.Record{Data: p}) }

// heard takes what it writes to standard error.
func (w *wrap) heard(text []byte) { w.note(capture.Stderr + string(text)) }

// pass passes signals on.
func (w *wrap) pass(signals <-chan os.Signal) {
	for {
		select {
		case <-w.gone:
			return
		case s := <-signals:
			w.told.Store(true)
			w.note(capture.Signalled + s.String())
			_ = w.cmd.Process.Signal(s)
		}
	}
}

// end tells how the process ended.
func (w *wrap) end() Ending {
	e := endingOf(w.cmd.ProcessState)
	last := capture.Record{End: capture.EndEOF}
	if s := w.cmd.ProcessState; !s.Success() {
		last.Why, last.By = s.String(), capture.Provider
	}
	w.take(last)
	return e
}
