package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats.go"

	"toolscope/capture/record"
	"toolscope/stream/count"
)

const (
	mostSlice  = 256 << 10 // of a capture in one message
	leastZstd  = 512       // a slice from which it is worth encoding
	retryFirst = 100 * time.Millisecond
	retryMost  = 2 * time.Second
)

var errDown = errors.New("the hub is not reached")

// errForeign is a capture that goes on where nobody here wrote it.
var errForeign = errors.New("somebody else sends this capture")

// sender sends one spool, one message at a time. The hub says where to go on whenever that is not
// known for sure: at first, after an error, and on a new connection.
type sender struct {
	of      origin
	spool   *record.Spool
	subject string
	created string
	linger  time.Duration // how long what has come waits for more

	mu      sync.Mutex
	at      int64     // the hub has what is before it
	seq     uint64    // of our last message there, 0 for none
	made    time.Time // when the stream was made that has it
	known   int64     // the connection on which the hub was asked; 0 if it has to be
	lost    int64     // bytes that were deleted before they were sent
	missed  int64     // where those end that were counted
	trouble error
	ending  bool      // all that is wanted is that the hub has everything
	had     int64     // what the hub had of it when it was asked first, -1 before that
	index   *indexing // is told when the hub has more; may be nil
}

func newSender(s *record.Spool, o origin, created time.Time, linger time.Duration) *sender {
	return &sender{of: o, had: -1, spool: s, linger: linger, subject: captureSubject(bytesKind, o.host, o.agent, o.id), created: created.UTC().Format(time.RFC3339Nano)}
}

// progress is how far the sender is.
func (s *sender) progress() (spooled, lost int64, trouble error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, end, _ := s.spool.Span()
	return max(0, end-s.at), s.lost, s.trouble
}

// reached is what the hub has.
func (s *sender) reached() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

// end has run return as soon as the hub has everything.
func (s *sender) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = true
	s.spool.Ring()
}

func (s *sender) isEnding() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ending
}

// run sends what there is and comes, until ctx ends or, once that is all that is wanted, the hub has
// everything: then it reports true. Before that it goes on when there is nothing more to send, as
// the hub may forget.
func (s *sender) run(ctx context.Context, l *link) (done bool) {
	pause := retryFirst
	for ctx.Err() == nil {
		_, end, closed := s.spool.Span()
		switch known := s.known == l.made.Load() && s.known > 0; {
		case known && s.at >= end && closed && s.isEnding():
			return true
		case known && s.at >= end:
			s.sleep(ctx, time.Hour)
			continue
		case known && end-s.at < mostSlice && !closed:
			s.gather(ctx, end)
		}
		err := s.step(ctx, l)
		s.mu.Lock()
		s.trouble = err
		s.mu.Unlock()
		if err == nil {
			pause = retryFirst
			continue
		}
		if errors.Is(err, errForeign) && s.isEnding() {
			return false
		}
		s.known = 0
		s.sleep(ctx, pause)
		pause = min(2*pause, retryMost)
	}
	return false
}

// sleep waits until there is news, or so long.
func (s *sender) sleep(ctx context.Context, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-s.spool.Bell():
	}
}

// gather waits a moment for more than there is up to end, so that not every line is a message.
func (s *sender) gather(ctx context.Context, end int64) {
	for deadline := time.Now().Add(s.linger); ctx.Err() == nil; {
		left := time.Until(deadline)
		if left <= 0 {
			return
		}
		s.sleep(ctx, left)
		if _, now, closed := s.spool.Span(); closed || now-s.at >= mostSlice {
			return
		}
	}
}

// step asks the hub, or sends one slice.
func (s *sender) step(ctx context.Context, l *link) error {
	if !l.IsConnected() {
		return errDown
	}
	if made := l.made.Load(); s.known != made {
		if err := s.find(ctx, l); err != nil {
			return err
		}
		s.known = made
		return nil
	}
	return s.send(ctx, l)
}

// find asks the hub where to go on.
func (s *sender) find(ctx context.Context, l *link) error {
	seq, has, err := l.last(ctx, s.subject)
	if err != nil {
		return err
	}
	var e extent
	if s.made.IsZero() || seq == 0 {
		if e, err = l.extent(ctx); err != nil {
			return err
		}
	}
	_, end, _ := s.spool.Span()
	at := has.to
	switch {
	case has.to > end:
		return fmt.Errorf("%w: the hub has %d bytes of it, and there are %d", errForeign, has.to, end)
	case seq == 0 && s.seq > 0 && (e.first <= s.seq || !e.created.Equal(s.made)): // the hub forgot it
	case seq == 0:
		at = s.at // nothing was sent, or it had its time: the hub had it, and whoever wanted it could read it
	}
	if !e.created.IsZero() {
		s.made = e.created
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.seq = at, seq
	if s.had < 0 {
		s.had = at
	}
	s.ring()
	return nil
}

// send sends the next slice.
func (s *sender) send(ctx context.Context, l *link) error {
	first, end, _ := s.spool.Span()
	if s.at >= end {
		return nil
	}
	if s.at < first {
		s.skip(first)
	}
	room := min(mostSlice, l.MaxPayload()/2)
	p := make([]byte, min(room, end-s.at))
	n, err := s.spool.ReadAt(p, s.at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was deleted just now
	}
	if err != nil {
		return err
	}
	if p = p[:n]; s.at+int64(n) < end {
		if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
			p = p[:i+1]
		}
	}
	msg := s.message(p, end)
	seq, err := l.publish(ctx, msg)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.seq = s.at+int64(len(p)), seq
	s.ring()
	return nil
}

// skip goes on behind what was deleted.
func (s *sender) skip(to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if from := max(s.at, s.missed); from < to {
		s.lost += to - from
		s.missed = to
	}
	s.at = to
}

func (s *sender) message(p []byte, end int64) *nats.Msg {
	msg := nats.NewMsg(s.subject)
	msg.Data = p
	msg.Header.Set(headSpan, span{s.at, s.at + int64(len(p))}.String())
	msg.Header.Set(headCreated, s.created)
	msg.Header.Set(headSent, strconv.FormatInt(time.Now().UnixMilli(), 10))
	msg.Header.Set(headSpooled, strconv.FormatInt(end-s.at-int64(len(p)), 10))
	msg.Header.Set(headExpect, strconv.FormatUint(s.seq, 10))
	if len(p) >= leastZstd {
		if packed := pack(p); len(packed) < len(p) {
			msg.Data = packed
			msg.Header.Set(headEnc, "zstd")
		}
	}
	return msg
}

// encoder is made when it is needed first. Two slices at a time are enough, for all senders.
var encoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(mostSlice), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // the options are wrong
	}
	return e
})

func pack(p []byte) []byte { return encoder().EncodeAll(p, nil) }

// decoder is one that takes no more than a message may hold.
var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(mostSpan))
	if err != nil {
		panic(err) // the options are wrong
	}
	return d
})

// unpack is the bytes of a message, which must be as many as its span has.
func unpack(enc string, data []byte, s span) ([]byte, error) {
	switch enc {
	case "":
	case "zstd":
		var err error
		if data, err = decoder().DecodeAll(data, make([]byte, 0, s.to-s.from)); err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
	default:
		return nil, fmt.Errorf("encoded as %s, which is not known", enc)
	}
	if int64(len(data)) != s.to-s.from {
		return nil, fmt.Errorf("%s for the span %s", count.Of(len(data), "byte"), s)
	}
	return data, nil
}
