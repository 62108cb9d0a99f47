package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"toolscope/capture/record"
	"toolscope/stream/count"
)

// foreignCaptureError is a capture of which the hub has more than was written here.
type foreignCaptureError struct{ has, are int64 }

func (e *foreignCaptureError) Error() string {
	return fmt.Sprintf("somebody else sends this capture: the hub has %s of it, and there are %d", count.Of(e.has, "byte"), e.are)
}

func isForeign(err error) bool {
	var foreign *foreignCaptureError
	return errors.As(err, &foreign)
}

// askPosition asks the hub where to go on.
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
		// Nothing was sent, or it had its time: the hub had it, and whoever wanted it could read it.
		if seq == 0 && (s.seq == 0 || e.created.Equal(stream) && e.first > s.seq) {
			at = s.at
		}
		stream = e.created
	}
	s.setPosition(at, seq, stream)
	return nil
}

// setPosition takes where the hub is.
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
		sent = s.sent // that stays so, whatever ends us
	}
	_ = s.saveMark(sent) // else the next run has to ask for more, or sends something again
}

// saveMark keeps where the hub is for who sends the spool next.
func (s *sender) saveMark(sent time.Time) error {
	return s.spool.SetMark(record.SendMark{Created: s.began, Stream: s.stream, Seq: s.seq, SentTo: s.at, Highest: s.most, Sent: sent})
}

// releaseSpool lets go of the spool. What was sent is not sent again, even when the hub lets go of it.
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

// skipGap goes on behind what is not there any more.
func (s *sender) skipGap(h *record.SpoolGap) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := max(s.at, s.missed)
	if had := min(s.most, h.End); from < had {
		s.losses.add(had-from, "are gone: the hub forgot them, and the spool has them no more")
		from = had
	}
	if from < h.End {
		s.losses.add(h.End-from, "never reached the hub: "+h.Error())
	}
	s.missed = max(s.missed, h.End)
	s.at = h.End
	s.wakeIndexer()
}
