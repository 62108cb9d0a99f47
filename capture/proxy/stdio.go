package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"toolscope/capture"
)

// RunStdio runs a server process and records its standard streams. Most servers of the Model Context Protocol
// use these streams, and so do agents that an editor starts:
//
//	client ─▶ our standard input  ─▶ stamped, recorded ─▶ the process's
//	client ◀─ our standard output ◀─ stamped, recorded ◀─ the process's
//
// Invariants:
//   - Bytes are passed on exactly as they arrived, and none are added.
//   - A chunk gets its time and is recorded before it is passed on, so a response is never recorded before
//     its request. Record must not wait, so recording doesn't delay any bytes.
//   - The process runs in our process group and sees the same as without toolscope: the end of its input,
//     the end of its output's reader, and signals. This program ends in the same way as the process.
//   - If the system allows it, the process ends with this program at the latest. It ends soon after the
//     client.

// StdioOptions holds options for running a process.
type StdioOptions struct {
	URL                   string    // URL of the exchange: mcp:NAME, acp:NAME or shell:NAME
	CommandLine           []string  // the command line, redacted for the record
	Began                 time.Time // the start of the records' times
	Stdin, Stdout, Stderr *os.File
	Record                func(capture.Record) // owns the record, and must not wait
}

// Ending describes how the process ended: by a signal, or with an exit code.
type Ending struct {
	Signal syscall.Signal // 0 for none
	Code   int
}

const (
	chunkBytes = 64 << 10        // maximum size of a chunk, which is the size of a pipe
	graceTime  = 2 * time.Second // time that a process has to end on its own after its client is gone
)

// wrapper is a running process.
type wrapper struct {
	o         StdioOptions
	cmd       *exec.Cmd
	mu        sync.Mutex // protects the order of the records' times
	exited    chan struct{}
	signalled atomic.Bool // a signal was forwarded to the process
}

// RunStdio runs a command to its end. An error means that the command could not be started.
func RunStdio(args []string, o StdioOptions) (Ending, error) {
	// A child can be tied to its parent. The parent is then the thread that started the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w := &wrapper{o: o, cmd: exec.Command(args[0], args[1:]...), exited: make(chan struct{})}
	if errors.Is(w.cmd.Err, exec.ErrDot) { // a command without a path, e.g. "server", may be a file in the current folder
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
	KillWithParent(w.cmd)
	err = w.cmd.Start()
	for _, f := range ends.theirs {
		f.Close()
	}
	if err != nil {
		ends.close()
		why := capture.WithoutPath(err).Error()
		if len(o.CommandLine) > 0 {
			why = strings.ReplaceAll(why, args[0], o.CommandLine[0])
		}
		w.putRecord(capture.Record{End: capture.EndEOF, Why: "can't start it: " + why, By: capture.Toolscope})
		return Ending{}, err
	}
	go w.forwardSignals(signals)
	out, errs := new(pump), new(pump)
	go w.forwardInput(ends.in, parent)
	go out.copyPipe(ends.out, o.Stdout, func(p []byte) { w.putRecord(capture.Record{Data: p}) }, func() { w.addNote(capture.Unwanted) })
	heard := &lineSplitter{to: func(text []byte) { w.addNote(capture.Stderr + string(text)) }}
	go errs.copyPipe(ends.err, o.Stderr, heard.add, func() {})
	_ = w.cmd.Wait()
	close(w.exited)
	out.waitDrained(&w.signalled)
	errs.waitDrained(&w.signalled)
	heard.flush()
	return w.recordEnd(), nil
}

// processPipes holds our ends of the process's pipes. The field theirs holds the process's ends.
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
		f.Fd() // make reads block in the system, which is faster than the poller
	}
	p.theirs = []*os.File{all[0][0], all[1][1], all[2][1]}
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = p.theirs[0], p.theirs[1], p.theirs[2]
	return p, nil
}

// putRecord adds the time to a record and passes the record on.
func (w *wrapper) putRecord(r capture.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.Exchange, r.At = 1, time.Since(w.o.Began)
	w.o.Record(r)
}

func (w *wrapper) addNote(text string) { w.putRecord(capture.Record{Note: text}) }

// noteCommand records the command line.
func (w *wrapper) noteCommand() {
	list, _ := json.Marshal(w.o.CommandLine)
	w.putRecord(capture.Record{
		Side: capture.Request, Note: capture.Argv + string(list),
		Head: &capture.Head{Method: capture.Stdio, URL: w.o.URL, Start: w.o.Began},
	})
}

// forwardInput forwards the input to the process until the input ends or the process closes its end.
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

// killOrphan waits until the client is gone. It then ends the process if the process doesn't end on its own.
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

// waitDone waits at most the given time for the process to end. It reports whether the process has ended.
func (w *wrapper) waitDone(wait time.Duration) bool {
	select {
	case <-w.exited:
		return true
	case <-time.After(wait):
		return false
	}
}

// forwardSignals records signals and forwards them to the process, until the process has exited.
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

// recordEnd records and returns how the process ended.
func (w *wrapper) recordEnd() Ending {
	e := endingOf(w.cmd.ProcessState)
	last := capture.Record{End: capture.EndEOF}
	if s := w.cmd.ProcessState; !s.Success() {
		last.Why, last.By = s.String(), capture.Provider
		if strings.HasPrefix(w.o.URL, "acp:") {
			last.By = capture.Client
		}
	}
	w.putRecord(last)
	return e
}

const (
	drainTime = 250 * time.Millisecond // how long to wait after the last output of an ended process if other processes keep its output open
	tailTime  = time.Second            // how long to wait for a slow reader of an ended process that got a signal
)

// pump forwards the bytes of one pipe.
type pump struct {
	done    atomic.Bool
	writing atomic.Bool
	pieces  atomic.Int64
}

// copyPipe passes a copy of each chunk to the function take before it forwards the chunk. If the reader has closed
// its end, copyPipe closes the pipe too: without toolscope, the process would also find its pipe closed.
func (p *pump) copyPipe(from, to *os.File, take func([]byte), unwanted func()) {
	defer p.done.Store(true)
	defer from.Close()
	piece := make([]byte, chunkBytes)
	for {
		n, err := from.Read(piece)
		p.writing.Store(true)
		p.pieces.Add(1)
		if n > 0 {
			take(bytes.Clone(piece[:n]))
			if _, err := to.Write(piece[:n]); err != nil {
				unwanted()
				return
			}
		}
		if p.writing.Store(false); err != nil {
			return
		}
	}
}

// waitDrained waits for the rest of the ended process's output. It stops at the end of the output or, if another
// process keeps the output open, after a time without output. It also waits for a slow reader, but not for long if
// the process got a signal.
func (p *pump) waitDrained(told *atomic.Bool) {
	const step = time.Millisecond
	quiet, stuck := time.Duration(0), time.Duration(0)
	for seen := int64(-1); !p.done.Load() && quiet < drainTime && stuck < tailTime; time.Sleep(step) {
		n := p.pieces.Load()
		switch {
		case n != seen:
			quiet, stuck, seen = 0, 0, n
		case !p.writing.Load():
			quiet += step
		case told.Load():
			stuck += step
		}
	}
}

// lineSplitter passes text on in complete lines. Lines that arrived at once are passed on together. A long line is
// split.
type lineSplitter struct {
	to   func([]byte)
	mu   sync.Mutex
	part []byte
}

// maxLinePart is the maximum number of bytes of a line that wait for the end of the line.
const maxLinePart = 8 << 10

func (l *lineSplitter) add(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.part = append(l.part, p...)
	n := bytes.LastIndexByte(l.part, '\n') + 1
	if len(l.part)-n > maxLinePart {
		n = len(l.part)
	}
	l.handLines(n)
}

func (l *lineSplitter) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.handLines(len(l.part))
}

func (l *lineSplitter) handLines(n int) {
	if text := bytes.TrimRight(l.part[:n], "\r\n"); len(text) > 0 {
		l.to(text)
	}
	l.part = append(l.part[:0], l.part[n:]...)
}

// WatchStdio runs a shell command that uses this program's standard streams. It records the command, its start and
// its end. An error means that the command could not be started.
func WatchStdio(args []string, command string, o StdioOptions) (Ending, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w := &wrapper{o: o, cmd: exec.Command(args[0], args[1:]...), exited: make(chan struct{})}
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = o.Stdin, o.Stdout, o.Stderr
	w.putRecord(capture.Record{
		Side: capture.Request, Data: []byte(command),
		Head: &capture.Head{Method: capture.Shell, URL: o.URL, Start: o.Began},
	})
	signals, stop := catchSignals()
	defer stop()
	KillWithParent(w.cmd)
	if err := w.cmd.Start(); err != nil {
		w.putRecord(capture.Record{End: capture.EndEOF, Why: "can't start it: " + capture.WithoutPath(err).Error(), By: capture.Toolscope})
		return Ending{}, err
	}
	go w.forwardSignals(signals)
	_ = w.cmd.Wait()
	close(w.exited)
	return w.recordEnd(), nil
}
