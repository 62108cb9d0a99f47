package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toolscope/capture"
	"toolscope/capture/proxy"
	"toolscope/capture/record"
	"toolscope/capture/redact"
	"toolscope/providers"
	"toolscope/providers/coding"
	"toolscope/stream"
	"toolscope/stream/count"
)

// liveInput passes on everything that arrives from the network: the traffic through a proxy, the responses to
// connect, and the responses to requests from the screen.
//
//	network ─▶ arrived ─▶ redactor ─▶ the recorder's queue ─▶ disk
//	                              ├─▶ shown ─▶ screen, or printer
//	                              └─▶ answers ─▶ screen
//
// Each arrow that leaves a queue is a goroutine. Writers to a queue never wait for its reader. Records that don't
// fit are dropped, and later records mark the gap.
type liveInput struct {
	arrived   *capture.Queue[capture.Record]
	redactor  *redact.Redactor
	rec       *captureWriter            // nil if the input is not recorded
	sent      *hubPublisher             // nil if the input is not published
	traced    *traceSender              // nil without a collector
	metrics   *metricsServer            // nil without --metrics
	seen      func(capture.Record)      // receives the shown records; may be nil
	shown     *screenInbox              // records of the source
	answers   *screenInbox              // responses to requests from the screen
	over      atomic.Pointer[sourceEnd] // nil until the source has ended
	printLess atomic.Bool               // the printer stops after maxQuickBytes
	unwanted  atomic.Bool               // the screen or printer has ended, so only the capture needs further records
	printed   atomic.Int64              // number of bytes that the printer has received
	begun     sync.Once
	done      chan struct{} // closed when all records have been passed on

	hurried   atomic.Bool              // bodies are omitted, because the run must end
	omitted   map[capture.Stream]int64 // number of bytes omitted since the latest record of each stream; only forwardAll uses it
	forwarded map[int]time.Duration    // time of the latest record of each open response; only forwardAll uses it
	missing   atomic.Int64             // total number of omitted bytes

	limited atomic.Bool // the redactor's limit has been printed

	reporting      sync.Mutex // protects the next two fields
	gapReported    bool
	damageReported string // the latest damage to the capture that has been printed

	proxy    *proxy.Proxy           // nil without a proxy
	faults   string                 // injected faults; "" if there are none
	refusal  atomic.Pointer[string] // reason why the latest request was refused
	refusals func() []string        // hosts for which a client refuses the certificate; nil without --tls
	client   atomic.Pointer[string] // state of the client that runs while the screen is open; nil without a client
	began    time.Time              // time 0 of the records
}

// sourceEnd marks the end of the source. The field err is the error that ended it, or nil.
type sourceEnd struct{ err error }

// newLiveInput returns an input whose records the redactor r redacts.
func newLiveInput(r *redact.Redactor, began time.Time) *liveInput {
	return &liveInput{
		arrived: capture.NewQueue(record.QueueRules(maxLiveQueue, "were not recorded: the queue is full")), redactor: r,
		shown: liveInbox(), answers: liveInbox(), done: make(chan struct{}), began: began,
	}
}

// startLive returns the input for a live command. It starts the capture, the connection to the hub, and the
// sender to the collector, as the flags select.
func (lv *liveSession) startLive(command string, f *liveFlags) (l *liveInput, err error) {
	if f.keepSecrets && f.publish != nil && f.publish.to != "" {
		return nil, usageErrorf("--keep-secrets: can't be combined with --publish, because a hub never gets secrets\nleave out one of these flags")
	}
	if f.keepSecrets && f.traces != nil && f.traces.content {
		return nil, usageErrorf("--keep-secrets: can't be combined with --otlp-content, because a collector never gets secrets\nleave out one of these flags")
	}
	r := newRedactor()
	if f.keepSecrets {
		lv.app.printNote("--keep-secrets: keys are shown and recorded unchanged")
		r = redact.KeepAll()
	}
	l = newLiveInput(r, time.Now())
	lv.network = l
	collector := ""
	if f.traces != nil {
		collector = f.traces.to
	}
	if l.traced, err = lv.startTracing(f.traces, thisMachine(f.publish), lv.traceNotices(collector)); err != nil {
		return nil, err
	}
	if l.traced != nil {
		l.traced.watchNetwork()
	}
	if l.sent, err = lv.startPublishing(f.publish, l.began, command); err != nil {
		return nil, err
	}
	if l.sent != nil && f.record == "" {
		return l, nil // no capture, because the spool already contains the records
	}
	if f.kept != nil && f.record == "" {
		l.rec = lv.startKeptCapture(f, l.began, command)
		return l, nil
	}
	l.rec, err = lv.startCapture(f.record, l.began, command)
	return l, err
}

// addRecord adds a record to the queue. It never waits.
func (l *liveInput) addRecord(r capture.Record) { l.arrived.Put(r) }

// endSource ends the source. Readers of the source see its end after all its records. Responses to requests
// from the screen may still arrive.
func (l *liveInput) endSource(err error) {
	l.over.CompareAndSwap(nil, &sourceEnd{err})
	l.arrived.Wake()
}

// start passes on the records in a new goroutine. The goroutine calls run, which must call its argument.
func (l *liveInput) start(run func(pass func())) {
	l.begun.Do(func() { go run(l.forwardAll) })
}

// callDirect calls f. It is the argument for start if nothing else must happen around f.
func callDirect(f func()) { f() }

// maxBatch is the approximate number of bytes that are passed on between two checks for the end of the source.
const maxBatch = 1 << 16

// forwardAll passes on all records until the input is closed.
func (l *liveInput) forwardAll() {
	defer close(l.done)
	for {
		over := l.over.Load() // read before Take: once a source has ended, all its records are in the queue
		batch, more := l.arrived.Take(maxBatch)
		for _, r := range batch {
			if l.rec != nil || l.sent != nil || l.traced != nil || l.metrics != nil || !l.unwanted.Load() {
				l.redactRecord(r)
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
	for _, s := range slices.SortedFunc(maps.Keys(l.omitted), capture.Stream.Compare) {
		l.reportOmitted(capture.Record{Exchange: s.Exchange, Side: s.Side, At: time.Since(l.began)})
	}
	l.forwardRecords(l.redactor.Flush())
	l.shown.Close(nil)
	l.answers.Close(nil)
}

// redactRecord redacts a record and passes it on. When the run must end, it omits bodies, because redacting them may
// take seconds.
func (l *liveInput) redactRecord(r capture.Record) {
	if n := int64(len(r.Data)); n > 0 && l.hurried.Load() {
		r.Data = nil
		if l.omitted == nil {
			l.omitted = map[capture.Stream]int64{}
		}
		l.omitted[r.Stream()] += n
		l.missing.Add(n)
		if r.Head == nil && r.End == "" && r.Note == "" && r.Lost == 0 {
			return // the stream's next record, or the end of the run, reports the gap
		}
	}
	if r.End != "" && r.Side == capture.Response { // the end of a response ends both sides
		l.reportOmitted(capture.Record{Exchange: r.Exchange, Side: capture.Request, At: r.At})
	}
	if l.reportOmitted(r) {
		return
	}
	isResponse, arrival := len(r.Data) > 0 && r.Side == capture.Response && r.Exchange <= sentFrom, redact.Arrival(r)
	clean := l.redactor.Take(r)
	if isResponse && len(clean) == 0 && arrival.Unwrap().At-l.forwarded[r.Exchange] >= capture.ArrivalInterval {
		clean = append(clean, arrival)
	}
	switch {
	case r.End != "":
		delete(l.forwarded, r.Exchange)
	case isResponse && len(clean) > 0:
		if l.forwarded == nil {
			l.forwarded = map[int]time.Duration{}
		}
		l.forwarded[r.Exchange] = r.At
	}
	l.forwardRecords(clean)
}

// omittedRules describe the gaps that omitted bodies leave.
var omittedRules = record.QueueRules(0, "were not recorded: toolscope was ended by a signal")

// reportOmitted passes on r with a note about the gap before it in its stream. If there is no gap, it does nothing
// and returns false.
func (l *liveInput) reportOmitted(r capture.Record) (reported bool) {
	lost := l.omitted[r.Stream()]
	if lost == 0 {
		return false
	}
	delete(l.omitted, r.Stream())
	l.forwardRecords(l.redactor.Take(omittedRules.Gap(lost+r.Lost, r)))
	return true
}

// sentFrom is above the exchange numbers of any source. Requests from the screen have the numbers -1, -2 and
// so on. Captures can't have negative numbers, so request -1 has the number sentFrom + 1 there.
const sentFrom = 1 << 29

// forwardRecords passes on redacted records.
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
		if l.metrics != nil {
			l.metrics.in.Put(r)
		}
		l.shown.Put(r)
	}
}

// drainRecords closes the input and waits until the records in it have been passed on, or until ctx ends.
func (l *liveInput) drainRecords(ctx context.Context) error {
	l.arrived.Close(nil)
	l.start(callDirect)
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s could not be redacted in time: %w", count.Of(l.arrived.State().Cost, "byte"), ctx.Err())
	}
}

// reportLimit reports whether the redactor has reached a limit. It prints this once.
func (l *liveInput) reportLimit(a *app) (reached bool) {
	limit := l.redactor.Limit()
	if limit != "" && l.limited.CompareAndSwap(false, true) {
		a.printNote("secrets may remain in the traffic from here on: %s", limit)
	}
	return limit != ""
}

// endLive passes on the records that have arrived and closes the capture. Even after a signal, it sets the
// exit code for a capture with gaps or a redactor that reached a limit.
func (lv *liveSession) endLive(l *liveInput) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	err := l.drainRecords(ctx)
	if l.rec == nil && l.sent == nil && l.traced != nil {
		l.traced.boxes = append(l.traced.boxes, l.arrived) // no capture reports its losses
	}
	traced := make(chan struct{})
	go func() { defer close(traced); l.traced.finishSending() }()
	if s, missing := l.arrived.State(), l.missing.Load(); s.Gaps+s.Dropped+missing > 0 && (l.rec != nil || l.sent != nil) {
		err = errors.Join(fmt.Errorf("the capture has gaps: %s were not recorded", sizeText(s.Lost+missing)), err)
	}
	of := "--publish"
	if l.rec != nil {
		of, err = "--record", errors.Join(err, l.rec.Close(ctx))
	}
	if err != nil && (l.rec != nil || l.sent != nil) {
		err = fmt.Errorf("%s: %w", of, err)
	}
	if l.sent != nil {
		err = errors.Join(err, l.sent.finishSending(ctx, lv.app))
	}
	if err != nil {
		lv.app.printError(err)
	}
	if l.reportLimit(lv.app) || err != nil {
		lv.app.code = exitGaps
	}
	<-traced
	l.traced.printMissing(lv.app)
}

// newRedactor returns a redactor with a random salt, so its tags are different in every run.
func newRedactor() *redact.Redactor {
	salt := make([]byte, 32)
	_, _ = rand.Read(salt) // never fails
	return redact.New(salt, redact.Options{Decode: func(h http.Header) (redact.Decoder, error) {
		chain, err := coding.New(h)
		if err != nil {
			return nil, err // a nil *Chain would become a Decoder that is not nil
		}
		return chain, nil
	}})
}

// printTurns prints turns as they end, until there are no more records. It prints problems with the capture
// as they occur. If printing fails, it calls failed. Later records are still written to the capture, but not printed.
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
	var reading sync.Mutex // protects the inspector and the printer
	ended := false
	if to, is := to.(*jsonPrinter); is {
		lines := &waitingLines{to: to, file: path, last: map[int]waitingLine{}}
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		go everyTick(ctx, waitingTime, func(now time.Time) {
			reading.Lock()
			defer reading.Unlock()
			if err == nil && !ended {
				lines.writeDue(in, now)
				print(false)
			}
		})
	}
	for r := range l.shown.All {
		l.reportGaps(a)
		l.reportLimit(a)
		if i := strings.Index(r.Note, "gap: "); i >= 0 {
			a.printNote("%s", r.Note[i:])
		}
		reading.Lock()
		switch printed := l.printed.Add(int64(len(r.Data))); {
		case err != nil:
		case l.unwanted.Load(), l.printLess.Load() && printed > maxQuickBytes:
			l.unwanted.Store(true)
			err = errPrintingStopped
		default:
			in.Write(coreRecord(r))
			print(false)
		}
		reading.Unlock()
	}
	reading.Lock()
	defer reading.Unlock()
	ended = true
	if err == nil && l.unwanted.Load() {
		err = errPrintingStopped
	}
	in.Close()
	print(true)
	if _, why := l.shown.Done(); err == nil {
		err = why
	}
	return err
}

// reportGaps reports once that the capture has gaps. It also reports each time that another program has damaged the
// capture.
func (l *liveInput) reportGaps(a *app) {
	if l.rec == nil {
		return
	}
	state := l.rec.State()
	l.reporting.Lock()
	defer l.reporting.Unlock()
	if state.Trouble != "" && !l.gapReported {
		l.gapReported = true
		a.printNote("--record: the capture has gaps from here on: %s", l.redactor.Text(state.Trouble))
	}
	if state.Damage != l.damageReported && state.Trouble == "" {
		l.damageReported = state.Damage
		a.printNote("--record: %s", l.redactor.Text(state.Damage))
	}
}

// watchCapture calls reportGaps regularly, even if no records arrive, until stop is called.
func (l *liveInput) watchCapture(a *app) (stop func()) {
	return startWatch(func(time.Time) { l.reportGaps(a) })
}

// exitGaps is the exit code if a capture has gaps, data did not reach a hub or a collector, or secrets may
// remain.
const exitGaps = 3

// closeTime is the maximum time to finish a capture after everything else has ended.
const closeTime = 10 * time.Second

// coreRecord converts a record of package capture to a record of package stream.
func coreRecord(r capture.Record) stream.Record {
	out := stream.Record{
		Exchange: r.Exchange, Request: r.Side == capture.Request, At: r.At, Data: r.Data,
		End: r.End != "", Why: r.Why, By: string(r.By), Lost: r.Lost, Note: r.Note, Open: r.Open,
		Before: r.Before, After: r.After, Others: r.Others, OtherLines: r.OtherLines, Chunks: r.Chunks,
	}
	if r.Head != nil {
		out.Head = &stream.Head{
			File: r.Head.File, Run: cmp.Or(r.Head.Run, r.Head.File), Method: r.Head.Method, URL: r.Head.URL, Status: r.Head.Status, Header: r.Head.Header, Start: r.Head.Start,
			Wrappers: r.Head.Wrappers, Incremental: r.Head.Incremental, Origin: (*stream.Machine)(r.Head.Origin),
		}
		out.Head.Reconstructed = slices.Contains(r.Head.Lacks, capture.Composed)
		for _, lack := range r.Head.Lacks {
			out.Head.EndUnknown = out.Head.EndUnknown || lack == capture.NoEnding
			out.Head.NoDeltas = out.Head.NoDeltas || lack == capture.NoDeltas
			out.Head.UsageBefore = out.Head.UsageBefore || lack == capture.UsageBefore
			out.Head.Rewound = out.Head.Rewound || lack == capture.Rewound
			out.Head.CutLines = out.Head.CutLines || lack == capture.CutLines
			out.Head.EventNamesUnknown = out.Head.EventNamesUnknown || lack == capture.NoNames
			out.Head.ResponseFromHistory = out.Head.ResponseFromHistory || lack == capture.Resent
			out.Head.Lacks = append(out.Head.Lacks, string(lack))
		}
	}
	if f := r.Location.File; f != nil {
		out.Location = stream.Location{Source: (*coreFile)(f), Start: r.Location.Start, End: r.Location.End}
		switch {
		case r.Location.Bare:
			out.Location.Source = (*bareFile)(f)
		case r.Location.Lines != nil:
			out.Location.Source = (*logLines)(r.Location.Lines)
		case r.Location.Entries != nil:
			out.Location.Source = (*fileEntries)(r.Location.Entries)
		}
	}
	return out
}

// coreFile adapts a capture.File to package stream.
type coreFile capture.File

// Again reads a range of the file again.
func (f *coreFile) Again(exchange int, start, end int64, to func(stream.Record)) error {
	return handOver((*capture.File)(f).Again(context.Background(), exchange, start, end), to)
}

// logLines adapts the lines of an exchange in a log to package stream.
type logLines capture.Lines

// Again reads the lines again.
func (l *logLines) Again(exchange int, _, _ int64, to func(stream.Record)) error {
	return handOver((*capture.Lines)(l).Again(context.Background(), exchange), to)
}

// fileEntries adapts a file with one entry per exchange to package stream.
type fileEntries capture.Entries

// Again reads a range of entries again.
func (e *fileEntries) Again(exchange int, start, end int64, to func(stream.Record)) error {
	return handOver((*capture.Entries)(e).Again(context.Background(), exchange, start, end), to)
}

// handOver converts a source's records and passes each of them to a function.
func handOver(src capture.Source, to func(stream.Record)) error {
	for r, err := range src {
		if err != nil {
			return err
		}
		to(coreRecord(r))
	}
	return nil
}

// bareFile adapts a file that is the body of one response to package stream.
type bareFile capture.File

// Again reads a range of the file again.
func (f *bareFile) Again(exchange int, start, end int64, to func(stream.Record)) error {
	return (*coreFile)(f).Again(exchange, start, end, to)
}

// Bytes reads a range of the file.
func (f *bareFile) Bytes(start, end int64) ([]byte, error) {
	return (*capture.File)(f).Bytes(start, end)
}
