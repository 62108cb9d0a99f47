//go:build !nootlp

package otlp

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"

	"toolscope/ui/report"
)

const (
	mostRoom  = 64 << 20 // bytes of spans that may wait
	mostSpans = 512      // of one request
	mostBytes = 1 << 20  // of one request, about
	patience  = 10 * time.Second
	soon      = 250 * time.Millisecond // after which it is tried again, first
	late      = 30 * time.Second       // and at most
)

// A Sender sends spans to a collector, one request after the other. All of it may be used by several
// goroutines.
type Sender struct {
	client  otlptrace.Client
	answers *answers
	options Options
	begun   context.Context // until what is going on is given up
	giveUp  context.CancelFunc
	come    chan struct{}
	closing chan struct{}
	done    chan struct{}
	once    sync.Once

	mu    sync.Mutex
	queue []report.Span
	costs []int64 // of each in it
	room  int64
	state State
}

// New begins to send. It fails where the endpoint is no address; whether somebody answers there shows
// later.
func New(o Options) (*Sender, error) {
	to, err := o.target()
	if err != nil {
		return nil, err
	}
	s := &Sender{
		answers: newAnswers(), options: o, room: cmp.Or(o.Room, mostRoom),
		come: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{}),
	}
	with := []otlptracehttp.Option{
		otlptracehttp.WithEndpoint(to.Host), otlptracehttp.WithURLPath(to.Path), otlptracehttp.WithCompression(otlptracehttp.GzipCompression),
		otlptracehttp.WithHTTPClient(&http.Client{Transport: s.answers, Timeout: patience}),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}), // who asks again has to know what was said
	}
	if to.Scheme == "http" {
		with = append(with, otlptracehttp.WithInsecure())
	}
	s.client = otlptracehttp.NewClient(with...)
	s.begun, s.giveUp = context.WithCancel(context.Background())
	if err := s.client.Start(s.begun); err != nil {
		return nil, err
	}
	go s.run()
	return s, nil
}

// Put takes spans that are to be sent. It never waits.
func (s *Sender) Put(spans []report.Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range spans {
		cost := costOf(&spans[i])
		if cost > s.room {
			s.state.Dropped++
			continue
		}
		s.room -= cost
		s.queue = append(s.queue, spans[i])
		s.costs = append(s.costs, cost)
		s.state.Waiting++
	}
	select {
	case s.come <- struct{}{}:
	default:
	}
}

// Await waits until half of the room is free, for who can wait. It does not wait for a collector that
// does not take what it is sent.
func (s *Sender) Await() {
	for {
		s.mu.Lock()
		free := s.room >= cmp.Or(s.options.Room, mostRoom)/2 || s.state.Trouble != ""
		s.mu.Unlock()
		if free {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// State is what became of the spans so far.
func (s *Sender) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Close sends what waits, until the context ends. Nothing may be put in any more.
func (s *Sender) Close(ctx context.Context) {
	s.once.Do(func() { close(s.closing) })
	defer context.AfterFunc(ctx, s.giveUp)()
	<-s.done
	s.giveUp()
	_ = s.client.Stop(context.Background()) // it only closes a channel
}

func (s *Sender) run() {
	defer close(s.done)
	for {
		batch := s.take()
		if len(batch) > 0 {
			s.send(batch)
			continue
		}
		select {
		case <-s.come:
		case <-s.closing:
			if batch := s.take(); len(batch) == 0 {
				return
			} else {
				s.send(batch)
			}
		}
	}
}

// take takes what goes into one request out of the queue. It counts as waiting.
func (s *Sender) take() (batch []report.Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, bytes := 0, int64(0)
	for n < len(s.queue) && n < mostSpans && (n == 0 || bytes+s.costs[n] <= mostBytes) {
		bytes += s.costs[n]
		n++
	}
	batch = append(batch, s.queue[:n]...)
	clear(s.queue[:n])
	if s.queue, s.costs = s.queue[n:], s.costs[n:]; len(s.queue) == 0 {
		s.queue, s.costs = nil, nil
	}
	s.room += bytes
	return batch
}

// send sends a batch until the collector has said something that is final, or the end has come.
func (s *Sender) send(batch []report.Span) {
	for again := soon; ; again = min(2*again, late) {
		err := s.begun.Err()
		var a answer
		if err == nil {
			s.answers.set(answer{})
			err = s.client.UploadTraces(s.begun, request(batch, s.options.Version))
			a = s.answers.last()
		}
		switch {
		case s.begun.Err() != nil && !a.final():
			s.count(0, 0, int64(len(batch)), cmp.Or(s.State().Trouble, "it did not answer in time"))
			return
		case a.taken():
			s.count(int64(len(batch))-a.rejected, a.rejected, 0, a.why)
			return
		case a.status == http.StatusRequestEntityTooLarge && len(batch) > 1:
			s.send(batch[:len(batch)/2])
			s.send(batch[len(batch)/2:])
			return
		case a.final():
			s.count(0, int64(len(batch)), 0, a.why)
			return
		}
		s.trouble(cmp.Or(a.why, reason(err)))
		select {
		case <-s.begun.Done():
		case <-time.After(max(again, min(a.after, late))):
		}
	}
}

// count counts what became of spans that waited.
func (s *Sender) count(taken, refused, left int64, why string) {
	s.mu.Lock()
	s.state.Waiting -= taken + refused + left
	s.state.Taken += taken
	s.state.Refused += refused
	s.state.Left += left
	s.mu.Unlock()
	s.trouble(why)
}

// trouble takes why spans are not taken, "" when they are.
func (s *Sender) trouble(why string) {
	s.mu.Lock()
	before := s.state.Trouble
	s.state.Trouble = why
	s.mu.Unlock()
	if before == "" && why != "" && s.options.Say != nil {
		s.options.Say(why)
	}
}

// reason is why nobody answered, without what is known: the address, and that something was posted.
func reason(err error) string {
	var at *url.Error
	switch {
	case err == nil:
		return "it said something that is no answer"
	case errors.As(err, &at):
		return at.Err.Error()
	}
	return err.Error()
}

// costOf is about how many bytes a span takes.
func costOf(s *report.Span) int64 {
	n := 256 + len(s.Name) + len(s.Failure) + costOfAll(s.Attributes)
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
