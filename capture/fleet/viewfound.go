package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"toolscope/capture"
)

// foundExchange is an exchange with a selected call.
type foundExchange struct {
	subjectParts
	feed      *capture.Feed // nil once it has ended
	next      int64         // offset of the next byte
	seq       uint64        // the next byte is in this message or a later one; 0 if unknown
	read      time.Time     // when a call of it was last read from the index
	indexedAt time.Time     // when the hub got that call, by its clock: after all bytes of the call
}

// Retries of reading from a capture.
const (
	maxReadTries = 8
	tryPause     = time.Second / 4
)

// readFound reads an exchange up to an offset of its capture. It reports false if reading is to end.
func (v *View) readFound(ctx context.Context, f *foundExchange, upto int64, yield func(capture.Record, error) bool) bool {
	for tries := 0; f.next < upto && ctx.Err() == nil; {
		err := v.readFoundMessage(ctx, f, upto)
		switch {
		case err == nil:
			tries = 0
		case !v.link.IsConnected() && v.lostPatience() == nil:
			sleepFor(ctx, tryPause)
		case !v.link.IsConnected():
			yield(capture.Record{}, v.lostPatience())
			return false
		case tries == maxReadTries:
			v.addNote(fmt.Sprintf("can't read %s/%s: %v", f.host, f.agent, plainReason(err)))
			v.missFound(f, upto)
		default:
			tries++
			sleepFor(ctx, tryPause)
		}
		if !v.deliverRead(yield, true) {
			return false
		}
		if err == nil {
			v.moved = v.now()
		}
	}
	return true
}

// readFoundMessage reads the next message of a capture.
func (v *View) readFoundMessage(ctx context.Context, f *foundExchange, upto int64) error {
	subject := captureSubject(bytesKind, f.host, f.agent, f.id)
	if f.seq == 0 {
		seq, err := v.seqAtOffset(ctx, subject, f.next)
		if err != nil {
			return err
		}
		f.seq = seq
	}
	msg, err := v.firstMessageFrom(ctx, subject, f.seq)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		e, failed := v.link.capturesExtent(ctx)
		if failed == nil && (e.first > f.seq || e.first > e.last || f.indexedAt.Before(e.firstAt)) {
			v.missFound(f, upto)
			return nil
		}
		return errNotThere
	}
	if err != nil {
		return err
	}
	f.seq = msg.Sequence + 1
	s, err := parseSpan(msg.Header.Get(headSpan))
	var data []byte
	if err == nil {
		data, err = decompress(msg.Header.Get(headEnc), msg.Data, s)
	}
	if err != nil {
		v.reportInvalid(f.subjectParts, err)
		return nil
	}
	if s.from > f.next {
		if v.missFound(f, min(s.from, upto)); s.from >= upto {
			return nil
		}
	}
	if s.to > f.next {
		data = data[f.next-s.from:]
		f.next = s.to
		v.bytesRead += int64(len(data))
		if v.recs, err = f.feed.Write(v.recs, data); err != nil {
			v.reportInvalid(f.subjectParts, err)
			f.next = upto
		}
	}
	return nil
}

// errNotThere means that a message is missing though it has not expired. A server of a cluster that lags
// behind the others may answer so.
var errNotThere = errors.New("the hub doesn't have the bytes")

// firstMessageFrom returns the first message of a subject from a number on.
func (v *View) firstMessageFrom(ctx context.Context, subject string, seq uint64) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	return v.index.captures.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(subject))
}

// seqAtOffset finds the last message of a capture that begins at or before an offset, by binary search: the
// hub has them in order. Without such a message it returns the stream's first number.
func (v *View) seqAtOffset(ctx context.Context, subject string, offset int64) (seq uint64, err error) {
	e, err := v.link.capturesExtent(ctx)
	if err != nil {
		return 0, err
	}
	first := max(1, e.first)
	seq = first
	for low, high := first, e.last+1; low < high; {
		middle := low + (high-low)/2
		msg, err := v.firstMessageFrom(ctx, subject, middle)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			high = middle
			continue
		}
		if err != nil {
			return 0, err
		}
		s, err := parseSpan(msg.Header.Get(headSpan))
		if err == nil && s.from > offset {
			high = middle
			continue
		}
		if low = msg.Sequence + 1; err == nil {
			seq = msg.Sequence
		}
		if err == nil && s.to > offset {
			break
		}
	}
	return seq, nil
}

// missFound records that bytes of an exchange are missing.
func (v *View) missFound(f *foundExchange, to int64) {
	n := to - f.next
	why := "are lost: the hub deleted them"
	v.recs = f.feed.AddGap(v.recs, n, why)
	f.next = to
	v.countLost(f.subjectParts, n, why)
}
