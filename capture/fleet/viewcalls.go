package fleet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"toolscope/capture"
)

// indexReader is the state of a view that reads the index and only the exchanges that the index mentions.
type indexReader struct {
	captures  jetstream.Stream
	line      func([]byte) bool // if set, line is called with the lines, and no captures are read
	seenCalls recentKeys[callKey, bool]
	found     recentKeys[foundKey, *foundExchange]
	open      []*foundExchange // exchanges that have not ended
}

// callKey identifies a call, which may be in the index several times.
type callKey struct {
	capture              string
	exchange, turn, call int
}

type foundKey struct {
	capture  string
	exchange int
}

// maxRememberedKeys is the number of latest keys that are always remembered. Up to twice as many may be remembered at
// times.
const maxRememberedKeys = 1 << 17

// recentKeys is a map that keeps only the latest keys.
type recentKeys[K comparable, V any] struct{ now, before map[K]V }

func (r *recentKeys[K, V]) get(key K) (value V, ok bool) {
	if value, ok = r.now[key]; ok {
		return value, true
	}
	value, ok = r.before[key]
	return value, ok
}

func (r *recentKeys[K, V]) add(key K, value V) {
	if r.now == nil || len(r.now) >= maxRememberedKeys {
		r.now, r.before = map[K]V{}, r.now
	}
	r.now[key] = value
}

func newIndexReader(ctx context.Context, l *link) (*indexReader, error) {
	captures, err := l.js.Stream(ctx, StreamName)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, errNoStream
	}
	if err != nil {
		return nil, plainReason(err)
	}
	return &indexReader{captures: captures}, nil
}

// endOpen ends the open exchanges at the end of the view.
func (s *indexReader) endOpen(recs []capture.Record) []capture.Record {
	if s == nil {
		return recs
	}
	for _, f := range s.open {
		recs = f.feed.Close(recs)
	}
	return recs
}

// Lines reads the lines of the selected calls, as print writes them. It may be called only once, and it reads no
// captures. It ends with ctx, at the end of the address's period, or when the function each returns false. A line is
// one JSON object. Nothing else about it is certain, because any publisher may have sent it.
func (v *View) Lines(ctx context.Context, each func(line []byte) bool) (err error) {
	v.index.line = each
	for _, failed := range v.Source(ctx) {
		err = failed
	}
	return err
}

// callLine has the fields of a line that are needed here.
type callLine struct {
	Type, File, Status string
	Turn, Call         int
	Opened             OpenedExchange
}

// takeCall reads a message of the index. The parameter at is the time when the hub got the message, by the hub's
// clock. The result is false if reading must end.
func (v *View) takeCall(ctx context.Context, msg jetstream.Msg, at time.Time, yield func(capture.Record, error) bool) bool {
	o, status, ok := callOriginOf(msg.Subject())
	if !ok || o.version != version {
		v.reportNewer(msg.Subject())
		return true
	}
	data, call, err := readCall(msg, o, status)
	upto, noUpto := strconv.ParseInt(msg.Headers().Get(headUpto), 10, 64)
	if noUpto == nil && upto > maxCaptureBytes {
		noUpto = fmt.Errorf("byte %d is beyond the end of any capture", upto)
	}
	if err = cmp.Or(err, noUpto); err != nil {
		v.reportInvalid(o, err)
		return true
	}
	s, opened := v.index, call.Opened
	o.id = opened.Capture
	v.signCall(o, at)
	key := callKey{opened.Capture, opened.Exchange, call.Turn, call.Call}
	if _, known := s.seenCalls.get(key); known {
		return true
	}
	s.seenCalls.add(key, true)
	if s.line != nil {
		return s.line(data)
	}
	f, known := s.found.get(foundKey{opened.Capture, opened.Exchange})
	if !known {
		f = &foundExchange{subjectParts: o, feed: v.feeds.OpenExchange(machineOf(o), v.runKey(o), opened.Exchange, opened.Offset), next: opened.Offset}
		s.found.add(foundKey{opened.Capture, opened.Exchange}, f)
	}
	if f.feed == nil { // the exchange has ended
		return true
	}
	f.read, f.indexedAt = v.now(), at
	ok = v.readFound(ctx, f, upto, yield)
	return ok && v.deliverEnds(yield, s.updateOpen(f))
}

// maxOpenExchanges is the maximum number of open exchanges of an indexReader.
const maxOpenExchanges = 1 << 10

// updateOpen updates the list of open exchanges after reading f. If there are too many, it cuts off the one that was
// read longest ago.
func (s *indexReader) updateOpen(f *foundExchange) (ends []capture.Record) {
	s.open = slices.DeleteFunc(s.open, func(other *foundExchange) bool { return other == f })
	switch {
	case f.feed.CountOpen() > 0:
		s.open = append(s.open, f)
	case f.feed.Done():
		f.feed = nil
	}
	if len(s.open) > maxOpenExchanges {
		ends = s.open[0].feed.Cut(nil, fmt.Sprintf("toolscope follows at most %d open exchanges", maxOpenExchanges))
		s.open = slices.Delete(s.open, 0, 1)
	}
	return ends
}

// readCall parses a message of the index. A machine may index only its own calls, but the hub checks the permission
// only for the subject. So the line must match the subject.
func readCall(msg jetstream.Msg, o subjectParts, status string) (line []byte, c callLine, err error) {
	line = msg.Data()
	switch enc := msg.Headers().Get(headEnc); enc {
	case "":
	case "zstd":
		if line, err = decoder().DecodeAll(line, nil); err != nil {
			return nil, c, fmt.Errorf("zstd: %w", err)
		}
	default:
		return nil, c, fmt.Errorf("unknown encoding %s", enc)
	}
	if err := json.Unmarshal(line, &c); err != nil {
		return nil, c, err
	}
	end := bytes.LastIndex(line, []byte(openedKey))
	switch {
	case c.Type != "call" || end < 0 || bytes.IndexByte(line, '\n') >= 0 || c.Opened.Exchange < 1 || c.Opened.Offset < 0 || c.Opened.Offset > maxCaptureBytes || subjectToken(c.Opened.Capture) != c.Opened.Capture || c.Opened.Capture == "":
		return nil, c, errors.New("this is not the line of a call")
	case c.File != /* JSON replaces invalid UTF-8 in the names */ string([]rune(o.host+"/"+o.agent)) || callToken(c.Status) != status:
		return nil, c, errors.New("the line doesn't match its subject")
	}
	if line = append(line[:end:end], '}'); !json.Valid(line) {
		return nil, c, errors.New("the line doesn't end like the line of a call")
	}
	return line, c, nil
}

// callOriginOf parses a subject of the index. The status stays escaped. If the subject has another form, ok is false.
func callOriginOf(subject string) (o subjectParts, status string, ok bool) {
	part := strings.Split(subject, ".")
	if len(part) != 8 {
		return o, "", false
	}
	return subjectParts{version: part[1], host: unescapeToken(part[4]), agent: unescapeToken(part[5])}, part[7], true
}

// foundExchange is an exchange with a selected call.
type foundExchange struct {
	subjectParts
	feed      *capture.Feed // nil once the exchange has ended
	next      int64         // offset of the next byte
	seq       uint64        // the next byte is in this message or a later one; 0 if the message is unknown
	read      time.Time     // time when a call of the exchange was last read from the index
	indexedAt time.Time     // time when the hub got that call, by its clock; the hub got all bytes of the call earlier
}

// These constants control how reading from a capture is retried.
const (
	maxReadTries = 8
	tryPause     = time.Second / 4
)

// readFound reads an exchange up to an offset in its capture. It returns false if reading must end.
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

// errNotThere means that a message is missing although it has not expired. The answer may have come from a server of
// a cluster that lags behind the others.
var errNotThere = errors.New("the hub doesn't have the bytes")

// firstMessageFrom returns the first message of a subject with this number or a higher one.
func (v *View) firstMessageFrom(ctx context.Context, subject string, seq uint64) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	return v.index.captures.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(subject))
}

// seqAtOffset finds the last message of a capture that begins at or before an offset. The hub has the messages in
// order, so a binary search finds it. If there is no such message, seqAtOffset returns the stream's first number.
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

// missFound records that an exchange's bytes are missing up to the offset in the parameter to.
func (v *View) missFound(f *foundExchange, to int64) {
	n := to - f.next
	why := "are lost: the hub deleted them"
	v.recs = f.feed.AddGap(v.recs, n, why)
	f.next = to
	v.countLost(f.subjectParts, n, why)
}
