package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"toolscope/capture/record"
	"toolscope/stream/count"
)

// foreignCaptureError means that the hub has more of a capture than this machine.
type foreignCaptureError struct{ has, are int64 }

func (e *foreignCaptureError) Error() string {
	return fmt.Sprintf("another program sends this capture: the hub has %s of it, but this machine has %d", count.Of(e.has, "byte"), e.are)
}

func isForeign(err error) bool {
	var foreign *foreignCaptureError
	return errors.As(err, &foreign)
}

// askPosition asks the hub up to where it has the capture.
func (s *sender) askPosition(ctx context.Context, l *link) error {
	seq, has, err := l.lastMessage(ctx, s.subject)
	if err != nil {
		return err
	}
	_, end, _ := s.spool.Span()
	if has.to > end {
		return &foreignCaptureError{has.to, end}
	}
	at, stream := has.to, s.stream
	if seq == 0 || stream.IsZero() {
		e, err := l.capturesExtent(ctx)
		if err != nil {
			return err
		}
		// Nothing was sent, or the hub expired all of it: it was there to be read.
		if seq == 0 && (s.seq == 0 || e.created.Equal(stream) && e.first > s.seq) {
			at = s.at
		}
		stream = e.created
	}
	s.setPosition(at, seq, stream)
	return nil
}

// setPosition sets the hub's position.
func (s *sender) setPosition(at int64, seq uint64, stream time.Time) {
	s.mu.Lock()
	s.at, s.seq, s.stream = at, seq, stream
	if seq > 0 {
		s.most = max(s.most, at)
	}
	if s.had < 0 {
		s.had = at
	}
	s.wakeIndexer()
	s.mu.Unlock()
	var sent time.Time
	if s.wasSent() {
		sent = s.sent // keep the earlier time
	}
	_ = s.saveMark(sent) // without it, the next run asks the hub for more, or sends data again
}

// saveMark saves the hub's position for the next run that sends the spool.
func (s *sender) saveMark(sent time.Time) error {
	return s.spool.SetMark(record.SendMark{Created: s.began, Stream: s.stream, Seq: s.seq, SentTo: s.at, Highest: s.most, Sent: sent})
}

// releaseSpool releases the spool. A spool marked as sent is not sent again, even if the hub expires it.
func (s *sender) releaseSpool(sent bool, now time.Time) (err error) {
	if sent {
		if s.wasSent() {
			now = s.sent
		}
		err = s.saveMark(now)
	}
	s.spool.Release()
	return err
}

// wasSent reports whether an earlier run had sent all of it, and the hub still has it.
func (s *sender) wasSent() bool {
	_, end, _ := s.spool.Span()
	return !s.sent.IsZero() && s.had == end
}

// skipGap continues after bytes that are not in the spool any more, and counts them.
func (s *sender) skipGap(h *record.SpoolGap) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := max(s.at, s.missed)
	if had := min(s.most, h.End); from < had {
		s.losses.add(had-from, "are lost: the hub lost them, and the spool no longer has them")
		from = had
	}
	if from < h.End {
		s.losses.add(h.End-from, "never reached the hub: "+h.Error())
	}
	s.missed = max(s.missed, h.End)
	s.at = h.End
	s.wakeIndexer()
}
