package cli

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"runtime"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/providers/price"
)

// maxEarlyOutput is the maximum size of the output of a file that is kept until the files before it are printed.
const maxEarlyOutput = 4 << 20

// orderedWriter keeps the output of a file until it is the file's turn, and then writes it. Beyond maxEarlyOutput,
// writing waits for that moment.
type orderedWriter struct {
	to   io.Writer
	turn chan struct{} // closed when the output may be written
	kept bytes.Buffer
	open bool // the kept output has been written
}

// Write keeps p if there is room. Otherwise, it waits for the file's turn and writes p.
func (w *orderedWriter) Write(p []byte) (int, error) {
	if !w.open && w.kept.Len()+len(p) <= maxEarlyOutput {
		return w.kept.Write(p)
	}
	if err := w.writeKept(); err != nil {
		return 0, err
	}
	return w.to.Write(p)
}

// writeKept waits for the file's turn and writes the kept output.
func (w *orderedWriter) writeKept() error {
	if w.open {
		return nil
	}
	<-w.turn
	w.open = true
	_, err := w.kept.WriteTo(w.to)
	w.kept = bytes.Buffer{}
	return err
}

// fileJob prints one of several files with an app and a printer of its own.
type fileJob struct {
	app       *app
	printer   printer
	out, errs *orderedWriter
	done      chan struct{} // closed at the end of the job
}

// printTogether reads as many files at the same time as there are processors, and prints them one after the other.
func (pr *printing) printTogether(ctx context.Context, files []capture.FoundFile, to lineWriter, p printer, prices *price.Table, prepare func(*providers.Inspector)) (failed error) {
	a, room, jobs := pr.app, make(chan struct{}, runtime.GOMAXPROCS(0)), make(chan *fileJob, runtime.GOMAXPROCS(0))
	go func() {
		defer close(jobs)
		for _, file := range files {
			room <- struct{}{}
			turn := make(chan struct{})
			job := &fileJob{out: &orderedWriter{to: to.to, turn: turn}, errs: &orderedWriter{to: a.stderr.to, turn: turn}, done: make(chan struct{})}
			job.app = (&app{stdin: a.stdin, stdout: lineWriter{to: job.out}, messageOutput: messageOutput{stderr: lineWriter{to: job.errs}}, output: a.output, ending: a.ending}).linkParts()
			job.app.reading, job.app.found, job.app.format = a.reading, file, pr.format
			job.printer = job.app.printerOf(job.app.stdout, pr.format, prices)
			go func() {
				defer func() { <-room; close(job.done) }()
				in := new(providers.Inspector)
				prepare(in)
				src, err := job.app.openInParts(ctx, file.Path)
				if err == nil {
					err = job.app.printSource(job.app.failOnDamage(src), file.Path, in, job.printer)
				}
				job.app.failIf(err)
			}()
			jobs <- job
		}
	}()
	for job := range jobs {
		close(job.out.turn)
		<-job.done
		_, _ = job.out.writeKept(), job.errs.writeKept()
		a.code, a.failed = max(a.code, job.app.code), a.failed || job.app.failed
		a.unrecognised = append(a.unrecognised, job.app.unrecognised...)
		if t, is := p.(*textPrinter); is {
			t.summaryTotals.addTotals(&job.printer.(*textPrinter).summaryTotals)
		}
		failed = cmp.Or(failed, p.flush())
	}
	return failed
}
