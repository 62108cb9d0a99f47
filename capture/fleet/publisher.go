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
	// keepSent is how long what was sent is kept: a hub that lost its last moments is told again.
	keepSent = 5 * time.Minute
	// healthEvery is how often a sender says that it is there.
	healthEvery = 5 * time.Second
	// Linger is how long what has come waits for more, where nobody says, so that not every line is a
	// message.
	Linger = 50 * time.Millisecond
)

// PublishOptions says where what is recorded goes.
type PublishOptions struct {
	Server      string // of an [Address]
	Auth        Credentials
	Host, Agent string
	Spool       string        // the directory that holds what hubs do not have, of each in a folder of its own
	Limit       int64         // bytes of one spool
	By          string        // what made the capture
	Linger      time.Duration // how long what has come waits for more, 0 for [Linger]

	// Say is told what happened to what earlier runs left; nil: nobody is.
	Report func(text string)
	// Index makes what makes lines of the calls of a capture of that file; nil: none are told.
	Index func(file string) Indexer
}

// A Publisher sends what it records to a hub, and what others left in its spool as well. Whoever
// records never waits for the hub, whether it is there or not.
type Publisher struct {
	*record.Recorder
	Path string // of the spool

	o         PublishOptions
	link      *link
	ours      *sender
	orphans   *orphanSender
	ctx       context.Context
	cancel    context.CancelFunc
	all       sync.WaitGroup
	over      chan struct{} // closed when ours is not sent any more
	sent      chan struct{} // closed when the hub has all of a capture that was closed
	indexDone chan struct{} // closed when the index has all that it will get

	mu       sync.Mutex
	linkDown error         // what the connection complained of last
	final    *PublishState // once it has ended
}

// Publish begins a capture whose records go to a hub. It does not wait for the hub.
func Publish(began time.Time, o PublishOptions) (p *Publisher, warning string, err error) {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // it never fails
	of := subjectParts{version, o.Host, o.Agent, hex.EncodeToString(id)}
	o.Linger = cmp.Or(o.Linger, Linger)
	o.Spool = spoolOf(o.Spool, o.Server)
	o.Auth.inbox = inboxOf(o.Host)
	p = &Publisher{o: o, over: make(chan struct{}), sent: make(chan struct{}), indexDone: make(chan struct{})}
	p.orphans = findOrphans(&p.o, began)
	p.link, err = dialHub(o.Server, o.Auth, true, p.onConnect, p.onLinkError)
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
	p.startTasks()
	return p, warning, nil
}

// startTasks begins all that is done beside recording.
func (p *Publisher) startTasks() {
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
}

// onConnect has every sender ask where it is. It is called for each connection.
func (p *Publisher) onConnect() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.linkDown = nil
	if p.ours != nil {
		p.ours.retryNow()
	}
	p.orphans.retryAll()
}

func (p *Publisher) onLinkError(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.linkDown = err
}

// sendHeartbeats says now and then that we are there, to whoever looks just then.
func (p *Publisher) sendHeartbeats() {
	tick := time.NewTicker(healthEvery)
	defer tick.Stop()
	for {
		p.ours.spool.Refresh(time.Now())
		if p.link.IsConnected() {
			_ = p.link.PublishMsg(p.ours.newHeartbeat()) // who does not hear it thinks that we are silent
		}
		select {
		case <-p.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// newHeartbeat is a sign of life.
func (s *sender) newHeartbeat() *nats.Msg {
	spooled, _, _ := s.progress()
	msg := nats.NewMsg(strings.Replace(s.subject, "."+bytesKind+".", "."+healthKind+".", 1))
	msg.Header.Set(headSent, strconv.FormatInt(time.Now().UnixMilli(), 10))
	msg.Header.Set(headSpooled, strconv.FormatInt(spooled, 10))
	return msg
}

// sendOver says that the capture has ended and the hub has all of it, so that nobody waits for a sign of it.
func (s *sender) sendOver(to *link) {
	msg := s.newHeartbeat()
	msg.Header.Set(headOver, "1")
	if to.IsConnected() && to.PublishMsg(msg) == nil {
		_ = to.FlushTimeout(time.Second) // else it is said to be silent
	}
}

// Progress is how far sending is; State, the recorder's, tells of the spool.
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

// Unsent is how many bytes of its capture the hub does not have yet.
func (p *Publisher) Unsent() int64 {
	spooled, _, _ := p.ours.progress()
	return spooled
}

// Close ends the capture and waits until the hub has it, or ctx ends. What it does not have then
// stays in the spool for the next run; so does, for a while, what it has. The error says what nobody
// will ever have, of what earlier runs left as well.
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
	stalled := time.AfterFunc(time.Second, p.link.dialer.stop) // who writes to the connection hears of nothing else
	p.all.Wait()
	stalled.Stop()
	sent := isClosed(p.sent)
	if sent {
		p.ours.sendOver(p.link)
	}
	state := p.Progress() // before the connection goes, which would be all the trouble then
	p.mu.Lock()
	p.final = &state
	p.mu.Unlock()
	p.link.Close()
	if unmarked := p.ours.releaseSpool(sent, time.Now()); unmarked != nil {
		err = errors.Join(err, fmt.Errorf("the next run may send again what was sent: %w", plainReason(unmarked)))
	}
	return errors.Join(err, state.Losses.asError("the capture"), state.OrphanedLosses.asError("what earlier runs left"))
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}
