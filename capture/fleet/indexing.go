package fleet

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"toolscope/capture"
	"toolscope/capture/record"
	"toolscope/stream/count"
)

const (
	indexChunk   = 64 << 10         // of a spool at a time
	heldCall     = 2 * time.Second  // how long a call waits for the end of its exchange
	indexPause   = time.Second / 4  // before what was not taken is sent again
	noIndexPause = 2 * time.Second  // where there is no stream for it
	mostWait     = 10 * time.Minute // without news
)

// indexing makes the index of one spool, of what the hub has of it: a call that is told can be read.
type indexing struct {
	o     origin
	from  *sender
	to    Indexer
	feed  *capture.Feed
	bell  chan struct{}
	over  <-chan struct{}
	at    int64         // what is before it was read
	line  int64         // where the line begins that is being read
	opens map[int]int64 // where exchanges begin
	ends  []int         // those that have ended, and may have calls that are not held yet
	held  []heldLine

	mu     sync.Mutex
	state  IndexState
	stuck  string // why no call can be told just now
	ended  bool
	unsaid int64 // calls that were held then
}

// heldLine is a call that is to be told.
type heldLine struct {
	subject  string
	line     []byte
	exchange int
	since    time.Time
	upto     int64
	ended    bool
}

// newIndexing begins to; over is closed when the hub has everything.
func newIndexing(from *sender, over <-chan struct{}, make func(file string) Indexer) *indexing {
	o := from.of
	x := &indexing{o: o, from: from, over: over, to: make(o.host + "/" + o.agent), bell: bell(), opens: map[int]int64{}}
	x.feed = new(capture.Feeds).Open(capture.Machine{Host: o.host, Agent: o.agent})
	return x
}

func bell() chan struct{} { return make(chan struct{}, 1) }

// ring says that the hub has more.
func (x *indexing) ring() {
	select {
	case x.bell <- struct{}{}:
	default:
	}
}

// run tells of calls as the hub gets the capture, until ctx ends or, when the hub has everything, all
// are told. While the hub takes none, what follows waits in the spool.
func (x *indexing) run(ctx context.Context, l *link) {
	var stuck error // why the hub does not take what is held
	for ctx.Err() == nil {
		over := false
		select {
		case <-x.over:
			over = true // before it is looked how much there is
		default:
		}
		has := x.from.reached()
		more := x.at < has
		switch {
		case stuck != nil: // more than that is not held
		case more:
			x.read(has)
		case over:
			x.take(x.to.Calls(true), true)
		}
		stuck = x.tellHeld(ctx, l)
		x.stand(stuck)
		switch {
		case stuck != nil && over: // the captures are there, and nobody waits for the index
			x.end()
			return
		case stuck != nil:
			x.wait(ctx, pauseAfter(stuck), nil)
		case more:
		case !over:
			x.sleep(ctx)
		case len(x.held) == 0:
			x.end()
			return
		}
	}
	x.end()
}

// pauseAfter is how long to wait after an error: that a stream is made takes longer than a connection, and
// that the hub lets us longer than that.
func pauseAfter(err error) time.Duration {
	switch {
	case isDenied(err):
		return deniedMost
	case errors.Is(err, errNoIndex) || errors.Is(err, errIndexAway):
		return noIndexPause
	}
	return indexPause
}

// tellHeld tells what need not be held any more.
func (x *indexing) tellHeld(ctx context.Context, l *link) error {
	for len(x.held) > 0 && (x.held[0].ended || time.Since(x.held[0].since) > heldCall) && ctx.Err() == nil {
		if err := x.tell(ctx, l, &x.held[0]); err != nil {
			return err
		}
		x.held = slices.Delete(x.held, 0, 1)
	}
	return nil
}

// sleep waits for more, or until what is held was held for long enough.
func (x *indexing) sleep(ctx context.Context) {
	most := mostWait
	if len(x.held) > 0 {
		most = heldCall / 4
	}
	x.wait(ctx, most, x.bell)
}

// wait waits so long, or until there is news: the bell, or that there will be no more.
func (x *indexing) wait(ctx context.Context, most time.Duration, bell <-chan struct{}) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-x.over:
	case <-bell:
	}
}

// read reads the next bytes of the spool.
func (x *indexing) read(has int64) {
	p := make([]byte, min(indexChunk, has-x.at))
	n, err := x.from.spool.ReadAt(p, x.at)
	hole := (*record.SpoolGap)(nil)
	switch {
	case errors.As(err, &hole):
		x.miss(min(hole.End, has), err)
		return
	case err != nil:
		x.miss(has, err)
		return
	}
	for p = p[:n]; len(p) > 0; {
		_, rest, whole := bytes.Cut(p, []byte("\n"))
		piece := p[:len(p)-len(rest)] // with its line break
		p = rest
		recs, err := x.feed.Write(nil, piece)
		x.pass(recs)
		if x.at += int64(len(piece)); whole {
			x.line = x.at
		}
		if err != nil {
			x.trouble(err)
		}
		runtime.Gosched() // the traffic, which runs in the same process, goes first
	}
	x.take(x.to.Calls(false), false)
}

// miss passes over what cannot be read any more.
func (x *indexing) miss(to int64, why error) {
	x.pass(x.feed.AddGap(nil, to-x.at, "never came: "+plainReason(why).Error()))
	x.mu.Lock()
	x.state.Bytes += to - x.at
	x.mu.Unlock()
	x.trouble(why)
	x.at, x.line = to, to
}

// pass has records looked at.
func (x *indexing) pass(recs []capture.Record) {
	for _, r := range recs {
		if _, known := x.opens[r.Exchange]; !known && !r.OfSource() {
			x.opens[r.Exchange] = x.line
		}
		if r.End != "" {
			x.ends = append(x.ends, r.Exchange)
		}
		x.to.Write(r)
	}
}

// take holds calls until their exchange has ended, or a while: who reads it then has its end.
func (x *indexing) take(calls []Call, all bool) {
	for _, c := range calls {
		at := Opened{x.o.id, c.Exchange, x.opens[c.Exchange]}
		x.held = append(x.held, heldLine{subject: indexSubject(x.o, c.Model, c.Status), line: withOpened(c.Line, at), exchange: c.Exchange, since: time.Now()})
	}
	for i := range x.held {
		h := &x.held[i]
		if !h.ended {
			h.upto, h.ended = x.at, all || slices.Contains(x.ends, h.exchange)
		}
	}
	if x.to.Holds() {
		return
	}
	for _, exchange := range x.ends {
		delete(x.opens, exchange)
	}
	x.ends = x.ends[:0]
}

// tell sends a call. What the hub refuses is not sent again.
func (x *indexing) tell(ctx context.Context, l *link, h *heldLine) error {
	if !l.IsConnected() {
		return errDown
	}
	msg := nats.NewMsg(h.subject)
	msg.Data = h.line
	msg.Header.Set(headUpto, strconv.FormatInt(h.upto, 10))
	if len(h.line) >= leastZstd {
		if packed := pack(h.line); len(packed) < len(h.line) {
			msg.Data = packed
			msg.Header.Set(headEnc, "zstd")
		}
	}
	var err error
	if room := l.MaxPayload() / 2; int64(len(msg.Data)) > room || len(h.line) > mostSpan {
		err = &refusal{"a call of " + count.Of(len(h.line), "byte") + " is too large for it"}
	} else {
		_, err = l.publish(ctx, msg)
	}
	switch refused := (*refusal)(nil); {
	case errors.As(err, &refused):
		x.trouble(err)
		x.mu.Lock()
		defer x.mu.Unlock()
		x.state.Calls++
		return nil
	}
	return err
}

func (x *indexing) trouble(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.state.Why = plainReason(err).Error()
}

// stand says how telling goes.
func (x *indexing) stand(stuck error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stuck = ""; stuck != nil {
		x.stuck = plainReason(stuck).Error()
	}
}

// end says that no more is told.
func (x *indexing) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ended, x.unsaid = true, int64(len(x.held))
	x.held = nil
}

// missing is what is not in the index, and will not be. What the next run sends it tells anew.
func (x *indexing) missing() (s IndexState) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s = x.state; x.ended && !x.from.toldAnew(x.from.reached()) {
		_, end, _ := x.from.spool.Span()
		s.Calls, s.Bytes = s.Calls+x.unsaid, s.Bytes+max(0, end-x.at)
	}
	switch lacks := s.Calls+s.Bytes > 0; {
	case x.stuck != "" && (lacks || !x.ended):
		s.Why = x.stuck
	case !lacks:
		s.Why = ""
	}
	return s
}
