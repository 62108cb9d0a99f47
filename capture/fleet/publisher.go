package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"toolscope/capture/record"
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
