package fleet

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"toolscope/capture/record"
)

const (
	maxSliceBytes  = 256 << 10 // of a capture in one message
	minZstdBytes   = 512       // a slice from which it is worth encoding
	minRetryPause  = 100 * time.Millisecond
	maxRetryPause  = 2 * time.Second
	maxDeniedPause = time.Minute // where the hub does not let us, which it writes down each time
)

var errDown = errors.New("the hub is not reached")

// sender sends one spool, one message at a time. The hub says where to go on whenever that is not
// known for sure: at first, after an error, and on a new connection.
type sender struct {
	of      subjectParts
	spool   *record.Spool
	subject string
	began   time.Time     // the capture
	sent    time.Time     // when an earlier run had sent all of it
	linger  time.Duration // how long what has come waits for more
	tries   int           // it may fail so often in a row while there is a connection, 0 for any number
	renewed chan struct{} // rings when an error may be over

	mu      sync.Mutex
	at      int64     // the hub has what is before it
	seq     uint64    // of our last message there, 0 for none
	most    int64     // the hub had at some time what is before it
	stream  time.Time // when the stream was made that has our messages
	known   int64     // the connection on which the hub was asked; 0 if it has to be
	losses  Losses    // of what the spool has no more
	missed  int64     // where those end that were counted
	trouble error
	ending  bool         // all that is wanted is that the hub has everything
	had     int64        // what the hub had of it when it was asked first, -1 before that
	index   *indexSender // is told when the hub has more; may be nil
}

// newSender goes on where the spool's mark says that another run was.
func newSender(s *record.Spool, o subjectParts, linger time.Duration) *sender {
	m := s.Mark()
	return &sender{
		of: o, spool: s, linger: linger, had: -1, renewed: newBell(), at: m.SentTo, seq: m.Seq, most: m.Highest, stream: m.Stream,
		subject: captureSubject(bytesKind, o.host, o.agent, o.id), began: m.Created, sent: m.Sent,
	}
}

// progress is how far the sender is.
func (s *sender) progress() (spooled int64, lost Losses, trouble error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, end, _ := s.spool.Span()
	return max(0, end-s.at), slices.Clone(s.losses), s.trouble
}

// hubPosition is what the hub has.
func (s *sender) hubPosition() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

// setEnding has run return as soon as the hub has everything.
func (s *sender) setEnding() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = true
	s.retryNow()
}

// retryNow has what waits look again.
func (s *sender) retryNow() {
	s.spool.Wake()
	select {
	case s.renewed <- struct{}{}:
	default:
	}
}

func (s *sender) isEnding() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ending
}

// run sends what there is and comes, until ctx ends or, once that is all that is wanted, the hub has
// everything: then there is no error. Before that it goes on when there is nothing more to send, as
// the hub may forget.
func (s *sender) run(ctx context.Context, l *link) error {
	pause, failed := minRetryPause, 0
	for ctx.Err() == nil {
		_, end, closed := s.spool.Span()
		known := s.known == l.made.Load() && s.known > 0
		if known && s.at >= end {
			s.setTrouble(nil)
			if closed && s.isEnding() {
				return nil
			}
			s.waitBell(ctx, time.Hour, s.spool.Wakeups())
			continue
		}
		if known && end-s.at < maxSliceBytes && !closed {
			s.waitForMore(ctx, end)
		}
		err := s.askOrSend(ctx, l)
		switch {
		case ctx.Err() != nil: // what went wrong before it still counts
			return ctx.Err()
		case err == nil && !known: // whether the hub takes what comes next is not known yet
			continue
		}
		if s.setTrouble(err); err == nil {
			pause, failed = minRetryPause, 0
			continue
		}
		if l.IsConnected() {
			failed++
		}
		if (isForeign(err) || isDenied(err)) && s.isEnding() || s.tries > 0 && failed >= s.tries {
			return err
		}
		s.known = 0
		s.waitBell(ctx, pause, s.renewed) // what is recorded meanwhile is no reason to try again
		pause = nextBackoff(pause, err)
	}
	return ctx.Err()
}

// nextBackoff is the pause after the next error in a row, which follows this one.
func nextBackoff(pause time.Duration, err error) time.Duration {
	if isDenied(err) {
		return min(2*pause, maxDeniedPause)
	}
	return min(2*pause, maxRetryPause)
}

// setTrouble takes why the hub does not get more just now.
func (s *sender) setTrouble(trouble error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble = trouble
}

// waitBell waits until the bell rings, or so long.
func (s *sender) waitBell(ctx context.Context, most time.Duration, bell <-chan struct{}) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-bell:
	}
}

// waitForMore waits a moment for more than there is up to end, so that not every line is a message.
func (s *sender) waitForMore(ctx context.Context, end int64) {
	for deadline := time.Now().Add(s.linger); ctx.Err() == nil; {
		left := time.Until(deadline)
		if left <= 0 {
			return
		}
		s.waitBell(ctx, left, s.spool.Wakeups())
		if _, now, closed := s.spool.Span(); closed || now-s.at >= maxSliceBytes {
			return
		}
	}
}

// askOrSend asks the hub, or sends one slice.
func (s *sender) askOrSend(ctx context.Context, l *link) error {
	if !l.IsConnected() {
		return errDown
	}
	if made := l.made.Load(); s.known != made {
		if err := s.askPosition(ctx, l); err != nil {
			return err
		}
		s.known = made
		return nil
	}
	return s.sendSlice(ctx, l)
}

// sendSlice sends the next slice.
func (s *sender) sendSlice(ctx context.Context, l *link) error {
	_, end, _ := s.spool.Span()
	if s.at >= end {
		return nil
	}
	room := min(maxSliceBytes, l.MaxPayload()/2)
	if room <= 0 {
		return nats.ErrMaxPayload
	}
	p := make([]byte, min(room, end-s.at))
	n, err := s.spool.ReadAt(p, s.at)
	if hole := (*record.SpoolGap)(nil); errors.As(err, &hole) {
		s.skipGap(hole)
		return nil
	}
	if err != nil {
		return err
	}
	if p = p[:n]; s.at+int64(n) < end {
		if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
			p = p[:i+1]
		}
	}
	msg := s.newMessage(p, end)
	seq, err := l.publish(ctx, msg)
	if err != nil {
		return err
	}
	s.setPosition(s.at+int64(len(p)), seq, s.stream)
	return nil
}

func (s *sender) newMessage(p []byte, end int64) *nats.Msg {
	msg := nats.NewMsg(s.subject)
	msg.Data = p
	msg.Header.Set(headSpan, byteRange{s.at, s.at + int64(len(p))}.String())
	msg.Header.Set(headCreated, s.began.UTC().Format(time.RFC3339Nano))
	msg.Header.Set(headSent, strconv.FormatInt(time.Now().UnixMilli(), 10))
	msg.Header.Set(headSpooled, strconv.FormatInt(end-s.at-int64(len(p)), 10))
	msg.Header.Set(headExpect, strconv.FormatUint(s.seq, 10))
	if len(p) >= minZstdBytes {
		if packed := compress(p); len(packed) < len(p) {
			msg.Data = packed
			msg.Header.Set(headEnc, "zstd")
		}
	}
	return msg
}
