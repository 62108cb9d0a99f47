package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toolscope/capture"
	"toolscope/capture/proxy"
	"toolscope/capture/queue"
	"toolscope/capture/record"
	"toolscope/capture/redact"
	"toolscope/providers"
	"toolscope/providers/coding"
	"toolscope/stream/count"
)

// liveInput is the one way of all that comes from the network, be it through a proxy, in answer to
// connect or to what was sent from the screen:
//
//	network ─▶ arrived ─▶ redactor ─▶ the recorder's box ─▶ disk
//	                              ├─▶ shown ─▶ screen, or printer
//	                              └─▶ answers ─▶ screen
//
// Each arrow out of a box is a goroutine of its own. Nobody who puts something in waits for who
// takes it out: what a box has no room for is missing, and the records say so where it is.
type liveInput struct {
	arrived  *queue.Queue[capture.Record]
	redactor *redact.Redactor
	rec      *captureWriter            // nil when nothing is recorded
	sent     *hubPublisher             // nil when nothing is sent to a hub
	traced   *traceSender              // nil when no collector is told
	seen     func(capture.Record)      // sees what is shown, if it is not nil
	shown    *screenInbox              // of the source
	answers  *screenInbox              // to what was sent from the screen
	over     atomic.Pointer[sourceEnd] // nil as long as the source may bring more
	unwanted atomic.Bool               // nobody looks any more at what is not recorded
	begun    sync.Once
	done     chan struct{} // closed when everything has passed

	limited atomic.Bool            // it was said that the redactor came to a limit
	proxy   *proxy.Proxy           // nil where records do not come from one
	faults  string                 // that clients are given, "" without any
	refusal atomic.Pointer[string] // why the last request was not admitted
	client  atomic.Pointer[string] // what becomes of the client that is run behind the screen, nil without one
	began   time.Time              // what the times of records count from
}

// sourceEnd is why a source has ended.
type sourceEnd struct{ err error }

func newLiveInput(r *redact.Redactor, began time.Time) *liveInput {
	return &liveInput{
		arrived: queue.New(record.QueueRules(maxLiveQueue, "were not recorded: the queue is full")), redactor: r,
		shown: liveInbox(), answers: liveInbox(), done: make(chan struct{}), began: began,
	}
}

// startLive is what the command of that name makes of the network that it looks at.
func (a *app) startLive(command string, f *liveFlags) (l *liveInput, err error) {
	if f.keepSecrets && f.publish != nil && f.publish.to != "" {
		return nil, usageErrorf("--keep-secrets: what is sent to a hub never has secrets in it\nwithout --publish, or without --keep-secrets")
	}
	if f.keepSecrets && f.traces != nil && f.traces.content {
		return nil, usageErrorf("--keep-secrets: what a collector is told never has secrets in it\nwithout --otlp-content, or without --keep-secrets")
	}
	r := newRedactor()
	if f.keepSecrets {
		a.printNote("--keep-secrets: keys are shown and recorded as they are")
		r = redact.KeepAll()
	}
	l = newLiveInput(r, time.Now())
	a.network = l
	if l.traced, err = a.startTracing(f.traces, thisMachine(f.publish), a.traceNotices(tracesTo(f.traces))); err != nil {
		return nil, err
	}
	if l.traced != nil {
		l.traced.watchNetwork()
	}
	if l.sent, err = a.startPublishing(f.publish, l.began, command); err != nil {
		return nil, err
	}
	if l.sent != nil && f.record == "" {
		return l, nil // the spool is a recording
	}
	if f.kept != nil && f.record == "" {
		l.rec = a.startKeptCapture(f, l.began, command)
		return l, nil
	}
	l.rec, err = a.startCapture(f.record, l.began, command)
	return l, err
}

// addRecord takes a record as it came. It never waits.
func (l *liveInput) addRecord(r capture.Record) { l.arrived.Put(r) }

// fillFrom takes what a source brings.
func (l *liveInput) fillFrom(src capture.Source) { copySource(src, l.arrived.Put, l.endSource) }

// endSource says that the source brings no more. Who looks at it is told when everything has
// passed; answers may still come.
func (l *liveInput) endSource(err error) {
	l.over.CompareAndSwap(nil, &sourceEnd{err})
	l.arrived.Wake()
}

// start has what arrives pass, in a goroutine; run runs its function.
func (l *liveInput) start(run func(pass func())) {
	l.begun.Do(func() { go run(l.forwardAll) })
}

// callDirect runs a function.
func callDirect(f func()) { f() }

// maxBatch is how much is passed on before it is looked whether the source has ended.
const maxBatch = 1 << 16

func (l *liveInput) forwardAll() {
	defer close(l.done)
	for {
		over := l.over.Load() // before the last look: what the source brought is in the box then
		batch, more := l.arrived.Take(maxBatch)
		for _, r := range batch {
			if l.rec != nil || l.sent != nil || l.traced != nil || !l.unwanted.Load() {
				l.forwardRecords(l.redactor.Take(r))
			}
		}
		if more || len(batch) > 0 {
			continue
		}
		if over != nil {
			l.shown.Close(over.err)
		}
		if ended, _ := l.arrived.Done(); ended {
			break
		}
		<-l.arrived.Wakeups()
	}
	l.forwardRecords(l.redactor.Flush())
	l.shown.Close(nil)
	l.answers.Close(nil)
}

// sentFrom is above the numbers of all exchanges of a source. The screen counts what it sends
// downwards from -1, and captures know no such numbers.
const sentFrom = 1 << 29

// forwardRecords hands on what holds no secrets any more.
func (l *liveInput) forwardRecords(all []redact.Clean) {
	for _, c := range all {
		if l.rec != nil {
			l.rec.Put(c)
		}
		if l.sent != nil {
			l.sent.Put(c)
		}
		r := c.Unwrap()
		if r.Exchange > sentFrom {
			r.Exchange = sentFrom - r.Exchange
			l.answers.Put(r)
			continue
		}
		if l.seen != nil {
			l.seen(r)
		}
		if l.traced != nil {
			l.traced.in.Put(r)
		}
		l.shown.Put(r)
	}
}

// drainRecords has nothing more be taken, and waits until the rest has passed.
func (l *liveInput) drainRecords(ctx context.Context) error {
	l.arrived.Close(nil)
	l.start(callDirect)
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s of what came did not get through the redactor: %w", count.Of(l.arrived.State().Cost, "byte"), ctx.Err())
	}
}

// reportLimit says once that the redactor came to a limit, if it did.
func (l *liveInput) reportLimit(a *app) (reached bool) {
	limit := l.redactor.Limit()
	if limit != "" && l.limited.CompareAndSwap(false, true) {
		a.printNote("from here on secrets may pass: %s", limit)
	}
	return limit != ""
}

// endLive lets pass what has come and closes the recording. A recording that lacks something, and a
// redactor that came to a limit, have an exit code of their own, whatever else ended the program.
func (a *app) endLive(l *liveInput) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	err := l.drainRecords(ctx)
	if l.rec == nil && l.sent == nil && l.traced != nil {
		l.traced.boxes = append(l.traced.boxes, l.arrived) // no recording tells of what it had no room for
	}
	traced := make(chan struct{})
	go func() { defer close(traced); l.traced.finishSending() }()
	if s := l.arrived.State(); s.Gaps+s.Dropped > 0 && (l.rec != nil || l.sent != nil) {
		err = errors.Join(fmt.Errorf("the capture has gaps: %s were not recorded", sizeText(s.Lost)), err)
	}
	of := "--publish"
	if l.rec != nil {
		of, err = "--record", errors.Join(err, l.rec.Close(ctx))
	}
	if err != nil && (l.rec != nil || l.sent != nil) {
		err = fmt.Errorf("%s: %w", of, err)
	}
	if l.sent != nil {
		err = errors.Join(err, l.sent.finishSending(ctx, a))
	}
	if err != nil {
		a.printError(err)
	}
	if l.reportLimit(a) || err != nil {
		a.code = exitGaps
	}
	<-traced
	l.traced.printMissing(a)
}

// newRedactor makes what takes the secrets out of everything live, before it is recorded or shown.
// Its tags mean nothing to another run.
func newRedactor() *redact.Redactor {
	salt := make([]byte, 32)
	_, _ = rand.Read(salt) // it never fails
	return redact.New(salt, redact.Options{Decode: func(h http.Header) (redact.Decoder, error) {
		chain, err := coding.New(h)
		if err != nil {
			return nil, err // not a chain that is nil and a Decoder that is not
		}
		return chain, nil
	}})
}

// printTurns prints turns as they end, until no more records come. What goes wrong with what is
// recorded is said when it does. When printing fails, failed is told; what still comes is for the
// recording alone.
func (l *liveInput) printTurns(a *app, in *providers.Inspector, path string, to printer, failed func(error)) (err error) {
	q := newTurnPrinter(in, path, to)
	print := func(all bool) {
		if err == nil {
			err = q.printEnded(all)
			q.in.MakeRoom()
			if err != nil {
				l.unwanted.Store(true)
				failed(err)
			}
		}
	}
	told := false // that the recording has gaps
	for r := range l.shown.All {
		if trouble := l.gapReason(); trouble != "" && !told {
			told = true
			a.printNote("--record: the capture has gaps from here on: %s", l.redactor.Text(trouble))
		}
		l.reportLimit(a)
		if i := strings.Index(r.Note, "gap: "); i >= 0 {
			a.printNote("%s", r.Note[i:])
		}
		if err == nil {
			in.Write(coreRecord(r))
			print(false)
		}
	}
	in.Close()
	print(true)
	if _, why := l.shown.Done(); err == nil {
		err = why
	}
	return err
}

// gapReason is why what is recorded has gaps just now, empty when it has none.
func (l *liveInput) gapReason() string {
	if l.rec == nil {
		return ""
	}
	return l.rec.State().Trouble
}
