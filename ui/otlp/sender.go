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
	mostRoom  = 64 << 20 // bytes of spans that may wait
	mostSpans = 512      // of one request
	mostBytes = 1 << 20  // of one request, about
	patience  = 10 * time.Second
	soon      = 250 * time.Millisecond // after which it is tried again, first
	late      = 30 * time.Second       // and at most
	longest   = 5 * time.Minute        // that a collector may ask to wait
)

// A Sender sends spans to a collector, one request after the other. All of it may be used by several
// goroutines.
type Sender struct {
	poster  *poster
	options Options
	begun   context.Context // until what is going on is given up
	giveUp  context.CancelFunc
	come    chan struct{}
	closing chan struct{}
	hurry   <-chan struct{} // closing, until it was heard: what waits to be tried again is tried at once
	done    chan struct{}
	once    sync.Once

	mu    sync.Mutex
	queue []report.Span
	room  int64
	state State
	moved chan struct{} // closed when spans are counted that waited; then there is another one
	since time.Time     // when that was last, or when something came and nothing waited
}

// New begins to send. It fails where the endpoint is no address, and where the variables for headers
// hold something else; whether somebody answers there shows later.
func New(o Options) (*Sender, error) {
	to, err := o.target()
	if err != nil {
		return nil, err
	}
	headers, err := headersFrom(o.Getenv)
	if err != nil {
		return nil, err
	}
	o.Room, o.Still = cmp.Or(o.Room, mostRoom), cmp.Or(o.Still, patience)
	s := &Sender{
		poster: newPoster(to, headers, o.Version), options: o, room: o.Room,
		come: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{}), moved: make(chan struct{}),
	}
	s.hurry = s.closing
	s.begun, s.giveUp = context.WithCancel(context.Background())
	go s.run()
	return s, nil
}

// Put takes spans that are to be sent. It never waits.
func (s *Sender) Put(spans []report.Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.Waiting == 0 {
		s.since = time.Now()
	}
	for i := range spans {
		cost := costOf(&spans[i])
		if cost > s.room {
			s.state.Dropped++
			continue
		}
		s.room -= cost
		s.queue = append(s.queue, spans[i])
		s.state.Waiting++
	}
	select {
	case s.come <- struct{}{}:
	default:
	}
}

// Await waits until half of the room is free, for who can wait, and no longer than until end is closed,
// which may be nil. It does not wait for a collector that stands still.
func (s *Sender) Await(end <-chan struct{}) {
	for {
		s.mu.Lock()
		free := s.room >= s.options.Room/2
		s.mu.Unlock()
		if free || !s.move(end) {
			return
		}
	}
}

// move waits until spans are counted that waited. It reports whether they were, before end was closed or
// the collector had stood still for too long.
func (s *Sender) move(end <-chan struct{}) bool {
	s.mu.Lock()
	moved, left := s.moved, s.options.Still-time.Since(s.since)
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
}

// Finish is Close for who can wait: it sends what waits until the collector stands still.
func (s *Sender) Finish() {
	s.mu.Lock()
	s.since = time.Now() // it is tried once more now, and that has its time
	s.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		for s.move(nil) && s.State().Waiting > 0 {
		}
	}()
	s.Close(ctx)
}

func (s *Sender) run() {
	defer close(s.done)
	for {
		if batch := s.take(); len(batch) > 0 {
			s.send(batch)
			continue
		}
		select {
		case <-s.come:
		case <-s.closing:
			batch := s.take()
			if len(batch) == 0 {
				return
			}
			s.send(batch)
		}
	}
}

// take takes what goes into one request out of the queue. It counts as waiting, and keeps its room.
func (s *Sender) take() (batch []report.Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, bytes := 0, int64(0)
	for ; n < len(s.queue) && n < mostSpans; n++ {
		if bytes += costOf(&s.queue[n]); n > 0 && bytes > mostBytes {
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

// send sends a batch until the collector has said something that is final, or the end has come.
func (s *Sender) send(batch []report.Span) {
	for again := soon; ; again = min(2*again, late) {
		var a answer
		if s.begun.Err() == nil {
			a = s.poster.post(s.begun, batch)
		}
		n := int64(len(batch))
		switch {
		case a.taken():
			a.rejected = min(a.rejected, n)
			s.count(batch, State{Taken: n - a.rejected, Refused: a.rejected, Trouble: a.why})
			return
		case a.status == http.StatusRequestEntityTooLarge && n > 1:
			s.send(batch[:n/2])
			s.send(batch[n/2:])
			return
		case a.final():
			s.count(batch, State{Refused: n, Trouble: a.why})
			return
		case s.begun.Err() != nil:
			s.count(batch, State{Left: n, Trouble: cmp.Or(s.State().Trouble, "it did not answer in time")})
			return
		}
		s.trouble(a.why)
		select {
		case <-s.begun.Done():
		case <-s.hurry:
			s.hurry, again = nil, soon/2
		case <-time.After(max(again/2, a.after) + rand.N(again)): // not all senders at the same moment
		}
	}
}

// count counts what became of spans that waited, and frees their room.
func (s *Sender) count(batch []report.Span, became State) {
	s.mu.Lock()
	for i := range batch {
		s.room += costOf(&batch[i])
	}
	s.state.Waiting -= int64(len(batch))
	s.state.Taken += became.Taken
	s.state.Refused += became.Refused
	s.state.Left += became.Left
	s.since = time.Now()
	close(s.moved)
	s.moved = make(chan struct{})
	s.mu.Unlock()
	s.trouble(became.Trouble)
}

// trouble takes why spans are not taken, "" when they are. At the end nobody is told: State has it.
func (s *Sender) trouble(why string) {
	s.mu.Lock()
	before := s.state.Trouble
	s.state.Trouble = why
	s.mu.Unlock()
	if before != "" || why == "" || s.options.Say == nil {
		return
	}
	select {
	case <-s.closing:
	default:
		s.options.Say(why)
	}
}

// costOf is about how many bytes a span takes.
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
