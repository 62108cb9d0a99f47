//go:build !nootlp

package otlp

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"toolscope/ui/report"
)

const (
	maxQueueBytes   = 64 << 20 // maximum total size of all waiting spans
	maxRequestSpans = 512      // maximum number of spans in a request
	maxRequestBytes = 1 << 20  // approximate maximum size of a request
	defaultTimeout  = 10 * time.Second
	firstRetryDelay = 250 * time.Millisecond // delay before the first retry
	maxRetryDelay   = 30 * time.Second       // maximum delay between retries
	maxRetryAfter   = 5 * time.Minute        // maximum delay that is accepted from a collector
)

// A Sender sends spans to a collector, one request after another. It is safe for concurrent use.
type Sender struct {
	poster      *httpSender
	options     Options
	sendContext context.Context // ends when the current request is abandoned
	giveUp      context.CancelFunc
	wake        chan struct{}
	closing     chan struct{}
	hurry       <-chan struct{} // closing, or nil after it has fired once; when it fires, a delayed retry starts at once
	done        chan struct{}
	once        sync.Once

	mu           sync.Mutex
	queue        []report.Span
	freeBytes    int64
	state        State
	progress     chan struct{} // closed and replaced whenever waiting spans get an outcome
	lastProgress time.Time     // time of the last outcome, or of the first span in an empty queue
}

// New returns a Sender and starts it. It returns an error if the endpoint is not a URL, or if a variable for headers
// is invalid. It does not check whether a collector responds.
func New(o Options) (*Sender, error) {
	to, err := o.endpointURL()
	if err != nil {
		return nil, err
	}
	headers, err := headersFrom(o.Getenv)
	if err != nil {
		return nil, err
	}
	o.MaxQueueBytes, o.StallTimeout = cmp.Or(o.MaxQueueBytes, maxQueueBytes), cmp.Or(o.StallTimeout, defaultTimeout)
	s := &Sender{
		poster: &httpSender{url: to.String(), headers: headers, hide: hideValues(headers), version: o.Version, client: http.Client{
			Transport: http.DefaultTransport.(*http.Transport).Clone(), Timeout: defaultTimeout,
			// Redirects are not followed. The headers are meant only for the configured collector, and a redirected POST
			// can become a GET.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}},
		options: o, freeBytes: o.MaxQueueBytes,
		wake: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{}), progress: make(chan struct{}),
	}
	s.hurry = s.closing
	s.sendContext, s.giveUp = context.WithCancel(context.Background())
	go s.sendQueue()
	return s, nil
}

// Put adds spans to the queue. It never waits. If the queue has no room for a span, it drops and counts the span.
func (s *Sender) Put(spans []report.Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.Waiting == 0 {
		s.lastProgress = time.Now()
	}
	for i := range spans {
		cost := costOf(&spans[i])
		if cost > s.freeBytes {
			s.state.Dropped++
			continue
		}
		s.freeBytes -= cost
		s.queue = append(s.queue, spans[i])
		s.state.Waiting++
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Await waits until half of the queue is free, end is closed, or the collector has stalled. The channel end
// may be nil. Only callers that can wait should call Await.
func (s *Sender) Await(end <-chan struct{}) {
	for {
		s.mu.Lock()
		free := s.freeBytes >= s.options.MaxQueueBytes/2
		s.mu.Unlock()
		if free || !s.awaitProgress(end) {
			return
		}
	}
}

// awaitProgress waits until waiting spans get an outcome, or until sending has ended. It returns false if end is
// closed first, or if the collector has stalled.
func (s *Sender) awaitProgress(end <-chan struct{}) bool {
	s.mu.Lock()
	moved, left := s.progress, s.options.StallTimeout-time.Since(s.lastProgress)
	s.mu.Unlock()
	if left <= 0 {
		return false
	}
	select {
	case <-moved:
		return true
	case <-s.done:
		return true
	case <-end:
		return false
	case <-time.After(left):
		return false
	}
}

// State returns the number of spans for each outcome so far.
func (s *Sender) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Close sends the waiting spans. It returns when all spans are sent or ctx ends. Put must not be called after Close.
func (s *Sender) Close(ctx context.Context) {
	s.once.Do(func() { close(s.closing) })
	defer context.AfterFunc(ctx, s.giveUp)()
	<-s.done
	s.giveUp()
}

// Finish is like Close, but has no time limit. It sends the waiting spans until the collector has stalled.
func (s *Sender) Finish() {
	s.mu.Lock()
	s.lastProgress = time.Now() // so that the retry that starts now has the full time
	s.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		for s.awaitProgress(nil) && s.State().Waiting > 0 {
		}
	}()
	s.Close(ctx)
}

func (s *Sender) sendQueue() {
	defer close(s.done)
	for {
		if batch := s.takeBatch(); len(batch) > 0 {
			s.sendBatch(batch)
			continue
		}
		select {
		case <-s.wake:
		case <-s.closing:
			batch := s.takeBatch()
			if len(batch) == 0 {
				return
			}
			s.sendBatch(batch)
		}
	}
}

// takeBatch removes the spans for one request from the queue. They still count as waiting, and their space is
// not free yet.
func (s *Sender) takeBatch() (batch []report.Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, bytes := 0, int64(0)
	for ; n < len(s.queue) && n < maxRequestSpans; n++ {
		if bytes += costOf(&s.queue[n]); n > 0 && bytes > maxRequestBytes {
			break
		}
	}
	batch = append(batch, s.queue[:n]...)
	clear(s.queue[:n])
	if s.queue = s.queue[n:]; len(s.queue) == 0 {
		s.queue = nil
	}
	return batch
}

// sendBatch sends a batch until the collector's response is final or the sender stops.
func (s *Sender) sendBatch(batch []report.Span) {
	for again := firstRetryDelay; ; again = min(2*again, maxRetryDelay) {
		var a collectorResponse
		if s.sendContext.Err() == nil {
			a = s.poster.postSpans(s.sendContext, batch)
		}
		n := int64(len(batch))
		switch {
		case !a.refused && a.status/100 == 2:
			a.rejected = min(a.rejected, n)
			s.countBatch(batch, State{Taken: n - a.rejected, Refused: a.rejected, Trouble: a.why})
			return
		case a.status == http.StatusRequestEntityTooLarge && n > 1:
			s.sendBatch(batch[:n/2])
			s.sendBatch(batch[n/2:])
			return
		case a.isFinal():
			s.countBatch(batch, State{Refused: n, Trouble: a.why})
			return
		case s.sendContext.Err() != nil:
			s.countBatch(batch, State{Left: n, Trouble: cmp.Or(s.State().Trouble, "the collector did not respond in time")})
			return
		}
		s.reportTrouble(a.why)
		select {
		case <-s.sendContext.Done():
		case <-s.hurry:
			s.hurry, again = nil, firstRetryDelay/2
		case <-time.After(max(again/2, a.retryAfter) + rand.N(again)): // random, so that senders don't retry together
		}
	}
}

// countBatch counts the outcome of waiting spans and frees their space.
func (s *Sender) countBatch(batch []report.Span, became State) {
	s.mu.Lock()
	for i := range batch {
		s.freeBytes += costOf(&batch[i])
	}
	s.state.Waiting -= int64(len(batch))
	s.state.Taken += became.Taken
	s.state.Refused += became.Refused
	s.state.Left += became.Left
	s.lastProgress = time.Now()
	close(s.progress)
	s.progress = make(chan struct{})
	s.mu.Unlock()
	s.reportTrouble(became.Trouble)
}

// reportTrouble stores the reason why spans are not accepted, or "" if they are accepted. It also reports a new
// failure, except after Close.
func (s *Sender) reportTrouble(why string) {
	s.mu.Lock()
	before := s.state.Trouble
	s.state.Trouble = why
	s.mu.Unlock()
	if before != "" || why == "" || s.options.Report == nil {
		return
	}
	select {
	case <-s.closing:
	default:
		s.options.Report(why)
	}
}

// costOf returns the approximate size of a span in memory, in bytes.
func costOf(s *report.Span) int64 {
	n := 256 + len(s.State) + len(s.Name) + len(s.Failure) + costOfAll(s.Attributes)
	for i := range s.Events {
		n += 64 + len(s.Events[i].Name) + costOfAll(s.Events[i].Attributes)
	}
	return int64(n)
}

func costOfAll(attributes []report.Attribute) (n int) {
	for _, a := range attributes {
		n += 48 + len(a.Key)
		switch value := a.Value.(type) {
		case string:
			n += len(value)
		case []string:
			for _, text := range value {
				n += 16 + len(text)
			}
		}
	}
	return n
}
