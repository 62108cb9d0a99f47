package fleet

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"toolscope/capture/record"
	"toolscope/stream/count"
)

const (
	// keepSent is how long sent data is kept, so that it can be sent again to a hub that lost its latest data.
	keepSent = 5 * time.Minute
	// healthEvery is the interval between a sender's heartbeats.
	healthEvery = 5 * time.Second
	// Linger is how long new bytes wait for more by default, so that not every line becomes a message of its own.
	Linger = 50 * time.Millisecond
)

// PublishOptions configures a Publisher.
type PublishOptions struct {
	Server      string // servers of the hub, as in [Address]
	Auth        Credentials
	Host, Agent string
	Spool       string        // directory of unsent data, with a folder for each hub
	Limit       int64         // maximum number of bytes of one spool
	By          string        // the program that made the capture
	Linger      time.Duration // how long new bytes wait for more; 0 means [Linger]

	// Report is called with notices about data that earlier runs left. It may be nil.
	Report func(text string)
	// Index returns an Indexer for the capture with this file name. If Index is nil, the capture is not indexed.
	Index func(file string) Indexer
}

// A Publisher records to a spool and sends the spool to a hub. It also sends the spools that earlier runs left.
// Recording never waits for the hub.
type Publisher struct {
	*record.Recorder
	Path string // path of the spool

	o         PublishOptions
	link      *link
	ours      *sender
	orphans   *orphanSender
	ctx       context.Context
	cancel    context.CancelFunc
	all       sync.WaitGroup
	over      chan struct{} // closed when the sender of our spool has ended
	sent      chan struct{} // closed when the hub has all of the closed capture
	indexDone chan struct{} // closed when no more calls are indexed

	mu       sync.Mutex
	linkDown error         // last error of the connection
	final    *PublishState // the last state; nil until the publisher has ended
}

// Publish begins a capture whose records go to a hub. It doesn't wait for the hub.
func Publish(began time.Time, o PublishOptions) (p *Publisher, warning string, err error) {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	of := subjectParts{version, o.Host, o.Agent, hex.EncodeToString(id)}
	o.Linger = cmp.Or(o.Linger, Linger)
	o.Spool = spoolOf(o.Spool, o.Server)
	o.Auth.inbox = nats.InboxPrefix + subjectToken(o.Host) // a hub can restrict the machine to subscribing there
	p = &Publisher{o: o, over: make(chan struct{}), sent: make(chan struct{}), indexDone: make(chan struct{})}
	p.orphans = findOrphans(&p.o, began)
	p.link, err = dialHub(o.Server, o.Auth, true, p.onConnect, func(err error) {
		p.mu.Lock()
		p.linkDown = err
		p.mu.Unlock()
	})
	if err != nil {
		return nil, "", err
	}
	rec, spool, warning, err := record.CreateSpool(o.Spool, spoolName(of), o.Limit, began, o.By)
	if err != nil {
		p.link.Close()
		return nil, warning, err
	}
	p.Recorder, p.Path = rec, spool.Path()
	ours := newSender(spool, of, o.Linger)
	if o.Index != nil {
		ours.index = newIndexSender(ours, p.sent, o.Index)
	}
	p.mu.Lock()
	p.ours = ours
	p.mu.Unlock()
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.all.Go(func() {
		defer close(p.over)
		if p.ours.run(p.ctx, p.link) == nil {
			close(p.sent)
		}
	})
	p.all.Go(func() { p.orphans.run(p.ctx, p.link) })
	p.all.Go(func() {
		defer close(p.indexDone)
		if p.ours.index != nil {
			p.ours.index.run(p.ctx, p.link)
		}
	})
	p.all.Go(p.sendHeartbeats)
	return p, warning, nil
}

// onConnect makes every sender ask the hub for its position. It is called for each new connection.
func (p *Publisher) onConnect() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.linkDown = nil
	if p.ours != nil {
		p.ours.retryNow()
	}
	p.orphans.retryAll()
}

// sendHeartbeats sends heartbeats to all views that are open now.
func (p *Publisher) sendHeartbeats() {
	tick := time.NewTicker(healthEvery)
	defer tick.Stop()
	for {
		p.ours.spool.Refresh(time.Now())
		if p.link.IsConnected() {
			_ = p.link.PublishMsg(p.ours.newHeartbeat()) // best effort: a view that misses heartbeats shows this machine as silent
		}
		select {
		case <-p.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// newHeartbeat returns a heartbeat.
func (s *sender) newHeartbeat() *nats.Msg {
	spooled, _, _ := s.progress()
	msg := nats.NewMsg(strings.Replace(s.subject, "."+bytesKind+".", "."+healthKind+".", 1))
	msg.Header.Set(headSent, strconv.FormatInt(time.Now().UnixMilli(), 10))
	msg.Header.Set(headSpooled, strconv.FormatInt(spooled, 10))
	return msg
}

// sendOver sends a heartbeat that says that the capture has ended and that the hub has all of it. Views then stop
// waiting for heartbeats.
func (s *sender) sendOver(to *link) {
	msg := s.newHeartbeat()
	msg.Header.Set(headOver, "1")
	if to.IsConnected() && to.PublishMsg(msg) == nil {
		_ = to.FlushTimeout(time.Second) // best effort: without this heartbeat, views show the sender as silent
	}
}

// Progress returns the progress of sending. The recorder's State describes the spool instead.
func (p *Publisher) Progress() (s PublishState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.final != nil {
		return *p.final
	}
	spooled, lost, trouble := p.ours.progress()
	s.Spooled, s.Losses = spooled, lost
	s.Index.addSender(p.ours)
	if trouble != nil {
		s.Trouble, s.Remedy = inWords(trouble)
	}
	p.orphans.addProgress(&s)
	if !p.link.IsConnected() {
		s.Trouble, s.Remedy, s.OrphanedTrouble = errDown.Error(), "", ""
		if p.linkDown != nil {
			why, remedy := inWords(p.linkDown)
			s.Trouble, s.Remedy = s.Trouble+": "+why, remedy
		}
	}
	return s
}

// Unsent returns the number of bytes of the capture that the hub doesn't have yet.
func (p *Publisher) Unsent() int64 {
	spooled, _, _ := p.ours.progress()
	return spooled
}

// Close ends the capture. It waits until the hub has the capture, or until ctx ends. If there is no connection, it
// waits at most a second. Unsent data then stays in the spool for the next run, and sent data stays for a while. The
// error lists bytes that are lost for good, including bytes from earlier runs.
func (p *Publisher) Close(ctx context.Context) error {
	err := p.Recorder.Close(ctx)
	p.ours.setEnding()
	late := ctx.Done()
	if !p.link.IsConnected() {
		p.link.retryNow()
		soon, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		late = soon.Done()
	}
	select {
	case <-p.over:
	case <-late:
	}
	if isClosed(p.sent) {
		select {
		case <-p.indexDone:
		case <-late:
		}
	}
	p.cancel()
	stalled := time.AfterFunc(time.Second, p.link.dialer.stop) // nothing else ends a blocked write
	p.all.Wait()
	stalled.Stop()
	sent := isClosed(p.sent)
	if sent {
		p.ours.sendOver(p.link)
	}
	state := p.Progress() // read before the link closes, because closing it would replace the trouble
	p.mu.Lock()
	p.final = &state
	p.mu.Unlock()
	p.link.Close()
	if unmarked := p.ours.releaseSpool(sent, time.Now()); unmarked != nil {
		err = errors.Join(err, fmt.Errorf("the next run may send data twice: %w", plainReason(unmarked)))
	}
	return errors.Join(err, state.Losses.asError("the capture"), state.OrphanedLosses.asError("earlier runs"))
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

const (
	maxSliceBytes  = 256 << 10 // maximum number of bytes of a capture in one message
	minZstdBytes   = 512       // smallest slice that is worth encoding
	minRetryPause  = 100 * time.Millisecond
	maxRetryPause  = 2 * time.Second
	maxDeniedPause = time.Minute // maximum pause after a denied permission; long because the hub logs each attempt
)

var errDown = errors.New("the hub can't be reached")

// sender sends one spool, one message at a time. It asks the hub for its position whenever the position is uncertain:
// at the start, after an error, and on a new connection.
type sender struct {
	of      subjectParts
	spool   *record.Spool
	subject string
	began   time.Time     // start of the capture
	sent    time.Time     // time when an earlier run had sent the complete capture, or zero
	linger  time.Duration // how long new bytes wait for more
	tries   int           // maximum number of failures in a row while connected; 0 for no limit
	renewed chan struct{} // receives a value when a retry may succeed

	mu      sync.Mutex
	at      int64     // the hub has the bytes before this offset
	seq     uint64    // number of our last message at the hub; 0 for none
	most    int64     // highest value that the field at has had
	stream  time.Time // creation time of the stream that has our messages
	known   int64     // number of the connection for which the field at is valid; 0 if the hub must be asked
	losses  Losses    // bytes that the spool no longer has
	missed  int64     // losses before this offset have been counted
	trouble error
	ending  bool         // run returns once the hub has everything
	had     int64        // position in the hub's first answer; -1 before that answer
	index   *indexSender // woken when the hub has more; may be nil
}

// newSender returns a sender that continues at the position that an earlier run saved in the spool.
func newSender(s *record.Spool, o subjectParts, linger time.Duration) *sender {
	m := s.Mark()
	return &sender{
		of: o, spool: s, linger: linger, had: -1, renewed: newBell(), at: m.SentTo, seq: m.Seq, most: m.Highest, stream: m.Stream,
		subject: captureSubject(bytesKind, o.host, o.agent, o.id), began: m.Created, sent: m.Sent,
	}
}

// progress returns the unsent bytes, the losses and the current trouble.
func (s *sender) progress() (spooled int64, lost Losses, trouble error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, end, _ := s.spool.Span()
	return max(0, end-s.at), slices.Clone(s.losses), s.trouble
}

// hubPosition returns the offset up to which the hub has the capture.
func (s *sender) hubPosition() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at
}

// setEnding makes run return as soon as the hub has everything.
func (s *sender) setEnding() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = true
	s.retryNow()
}

// retryNow ends the current wait.
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

// run sends the spool as it grows, until ctx ends. After setEnding, it returns nil as soon as the hub has everything.
// Before that, it keeps waiting when there is nothing to send, because the hub may lose data. It returns an error
// when ctx ends or when it gives up.
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
			s.waitForMore(ctx)
		}
		err := s.askOrSend(ctx, l)
		switch {
		case ctx.Err() != nil: // keep the earlier trouble
			return ctx.Err()
		case err == nil && !known: // the hub answered, but has not accepted a message yet
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
		s.waitBell(ctx, pause, s.renewed) // new records don't end this pause
		pause = nextBackoff(pause, err)
	}
	return ctx.Err()
}

// nextBackoff returns the next pause in a series of errors.
func nextBackoff(pause time.Duration, err error) time.Duration {
	if isDenied(err) {
		return min(2*pause, maxDeniedPause)
	}
	return min(2*pause, maxRetryPause)
}

// setTrouble sets the reason why the hub gets no data at the moment, or nil if it gets data.
func (s *sender) setTrouble(trouble error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble = trouble
}

// waitBell waits until bell receives a value or ctx is done, for at most the given time.
func (s *sender) waitBell(ctx context.Context, most time.Duration, bell <-chan struct{}) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-bell:
	}
}

// waitForMore waits a moment for more bytes, so that not every line becomes a message of its own.
func (s *sender) waitForMore(ctx context.Context) {
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

// askOrSend sends one slice or, if the hub's position is uncertain, asks the hub for it.
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

// foreignCaptureError means that the hub has more of a capture than this machine has.
type foreignCaptureError struct{ has, are int64 }

func (e *foreignCaptureError) Error() string {
	return fmt.Sprintf("another program is sending this capture: the hub has %s of it, but this machine has only %d", count.Of(e.has, "byte"), e.are)
}

func isForeign(err error) bool {
	var foreign *foreignCaptureError
	return errors.As(err, &foreign)
}

// askPosition asks the hub for the position up to which it has the capture.
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
		// Nothing was sent, or all of it has expired at the hub. Readers had time to read expired data, so it need
		// not be sent again.
		if seq == 0 && (s.seq == 0 || e.created.Equal(stream) && e.first > s.seq) {
			at = s.at
		}
		stream = e.created
	}
	s.setPosition(at, seq, stream)
	return nil
}

// setPosition records the position up to which the hub has the capture.
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
	_ = s.saveMark(sent) // without the mark, the next run only makes more requests or sends data again
}

// saveMark saves the hub's position for the next run that sends the spool.
func (s *sender) saveMark(sent time.Time) error {
	return s.spool.SetMark(record.SendMark{Created: s.began, Stream: s.stream, Seq: s.seq, SentTo: s.at, Highest: s.most, Sent: sent})
}

// releaseSpool releases the spool. A spool that is marked as sent is not sent again, even when its data on the hub
// expires.
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

// wasSent reports whether an earlier run sent the complete spool and the hub still has it.
func (s *sender) wasSent() bool {
	_, end, _ := s.spool.Span()
	return !s.sent.IsZero() && s.had == end
}

// skipGap moves past bytes that are no longer in the spool, and counts them.
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
