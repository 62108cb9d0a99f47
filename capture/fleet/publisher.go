package fleet

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"toolscope/capture/record"
	"toolscope/stream/count"
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

// Sending says where what is recorded goes.
type Sending struct {
	Server      string // of an [Address]
	Auth        Auth
	Host, Agent string
	Spool       string        // the directory that holds what the hub does not have
	Limit       int64         // bytes of one spool
	By          string        // what made the capture
	Linger      time.Duration // how long what has come waits for more, 0 for [Linger]

	// Index makes what makes lines of the calls of a capture of that file; nil: none are told.
	Index func(file string) Indexer
}

// A Publisher sends what it records to a hub, and what others left in its spool as well. Whoever
// records never waits for the hub, whether it is there or not.
type Publisher struct {
	*record.Recorder
	Path string // of the spool

	o      Sending
	link   *link
	ours   *sender
	left   []*sender
	ctx    context.Context
	cancel context.CancelFunc
	all    sync.WaitGroup
	sent   chan struct{} // closed when the hub has all of a capture that was closed
	told   chan struct{} // closed when the index has all that it will get

	again chan struct{} // rings when there is a new connection

	mu       sync.Mutex
	senders  []*sender // ours, and those of what was left
	linkDown error     // what the connection complained of last
}

// PublishState is how far a publisher is.
type PublishState struct {
	Spooled int64  // bytes that the hub does not have
	Lost    int64  // bytes that it will never have
	Trouble string // why it does not get them just now
	Remedy  string // what would help, if that is known
	Index   IndexState
}

// Publish begins a capture whose records go to a hub. It does not wait for the hub.
func Publish(began time.Time, o Sending) (p *Publisher, warning string, err error) {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // it never fails
	of := origin{version, o.Host, o.Agent, hex.EncodeToString(id)}
	p = &Publisher{o: o, sent: make(chan struct{}), told: make(chan struct{}), again: make(chan struct{}, 1)}
	o.Linger = cmp.Or(o.Linger, Linger)
	o.Auth.inbox = inboxOf(o.Host)
	p.link, err = dial(o.Server, o.Auth, true, p.renew, p.down)
	if err != nil {
		return nil, "", err
	}
	left := record.LeftSpools(o.Spool, keepSent, began)
	name := token(of.host) + "." + token(of.agent) + "." + of.id
	rec, spool, warning, err := record.CreateSpool(o.Spool, name, o.Limit, began, o.By)
	if err != nil {
		p.link.Close()
		return nil, warning, err
	}
	p.Recorder, p.Path = rec, spool.Path()
	p.ours = newSender(spool, of, began, o.Linger)
	if o.Index != nil {
		p.ours.index = newIndexing(p.ours, p.sent, o.Index)
	}
	for _, s := range left {
		part := strings.Split(s.Name(), ".")
		if len(part) != 3 {
			s.Release(false) // nothing of ours
			continue
		}
		one := newSender(s, origin{version, plain(part[0]), plain(part[1]), part[2]}, createdOf(s), o.Linger)
		one.ending = true
		p.left = append(p.left, one)
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.mu.Lock()
	p.senders = append([]*sender{p.ours}, p.left...)
	p.mu.Unlock()
	p.all.Go(func() {
		if p.ours.run(p.ctx, p.link) {
			close(p.sent)
		}
	})
	p.all.Go(p.sendLeft)
	p.all.Go(func() {
		defer close(p.told)
		if p.ours.index != nil {
			p.ours.index.run(p.ctx, p.link)
		}
	})
	p.all.Go(p.tellHealth)
	return p, warning, nil
}

// createdOf is when a spool that was left began, as its first line says.
func createdOf(s *record.Spool) time.Time {
	line, _ := bufio.NewReader(io.NewSectionReader(s, 0, math.MaxInt64)).ReadBytes('\n')
	var header struct {
		Created time.Time `json:"created"`
	}
	_ = json.Unmarshal(line, &header) // else nobody knows
	return header.Created
}

// renew has every sender ask where it is. It is called for each connection.
func (p *Publisher) renew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.linkDown = nil
	for _, s := range p.senders {
		s.spool.Ring()
	}
	select {
	case p.again <- struct{}{}:
	default:
	}
}

func (p *Publisher) down(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.linkDown = err
}

// sendLeft sends what other runs left. A hub that forgets it within a while is told again.
func (p *Publisher) sendLeft() {
	sent := make([]bool, len(p.left))
	defer func() {
		for i, s := range p.left {
			s.spool.Release(sent[i])
		}
	}()
	var over <-chan time.Time
	for len(p.left) > 0 {
		for i, s := range p.left {
			sent[i] = s.run(p.ctx, p.link)
			if sent[i] {
				p.indexLeft(s)
			}
		}
		if over == nil {
			over = time.After(keepSent)
		}
		select {
		case <-p.ctx.Done():
			return
		case <-over:
			return
		case <-p.again:
		}
	}
}

// indexLeft makes the index of what was left and is sent now. Calls that are in it already are there
// twice then, which whoever reads it knows.
func (p *Publisher) indexLeft(s *sender) {
	if p.o.Index == nil || s.index != nil || !s.toldAnew(s.had) {
		return
	}
	over := make(chan struct{})
	close(over)
	x := newIndexing(s, over, p.o.Index)
	s.mu.Lock()
	s.index = x
	s.mu.Unlock()
	x.run(p.ctx, p.link)
}

// tellHealth says now and then that we are there, to whoever looks just then.
func (p *Publisher) tellHealth() {
	tick := time.NewTicker(healthEvery)
	defer tick.Stop()
	for {
		if p.link.IsConnected() {
			_ = p.link.PublishMsg(p.health()) // who does not hear it thinks that we are silent
		}
		select {
		case <-p.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// health is a sign of life.
func (p *Publisher) health() *nats.Msg {
	spooled, _, _ := p.ours.progress()
	msg := nats.NewMsg(strings.Replace(p.ours.subject, "."+bytesKind+".", "."+healthKind+".", 1))
	msg.Header.Set(headSent, strconv.FormatInt(time.Now().UnixMilli(), 10))
	msg.Header.Set(headSpooled, strconv.FormatInt(spooled, 10))
	return msg
}

// tellOver says that the capture has ended, so that nobody takes us for silent.
func (p *Publisher) tellOver() {
	msg := p.health()
	msg.Header.Set(headOver, "1")
	if p.link.IsConnected() && p.link.PublishMsg(msg) == nil {
		_ = p.link.FlushTimeout(time.Second) // else we are said to be silent
	}
}

// Progress is how far sending is; State, the recorder's, tells of the spool.
func (p *Publisher) Progress() (s PublishState) {
	for _, one := range p.senders {
		spooled, lost, trouble := one.progress()
		s.Spooled, s.Lost = s.Spooled+spooled, s.Lost+lost
		if trouble != nil && s.Trouble == "" {
			s.Trouble, s.Remedy = inWords(trouble)
		}
		s.Index.add(one)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.link.IsConnected() {
		s.Trouble, s.Remedy = errDown.Error(), ""
		if p.linkDown != nil {
			why, remedy := inWords(p.linkDown)
			s.Trouble, s.Remedy = s.Trouble+": "+why, remedy
		}
	}
	return s
}

// Close ends the capture and waits until the hub has it, or ctx ends. What it does not have then
// stays in the spool for the next run; so does, for a while, what it has.
func (p *Publisher) Close(ctx context.Context) error {
	err := p.Recorder.Close(ctx)
	p.ours.end()
	over := ctx.Done()
	if !p.link.IsConnected() {
		p.link.hurry()
		soon, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		over = soon.Done()
	}
	select {
	case <-p.sent:
		select {
		case <-p.told:
		case <-over:
		}
	case <-over:
	}
	p.cancel()
	p.all.Wait()
	sent := false
	select {
	case <-p.sent:
		sent = true
		p.tellOver()
	default:
	}
	p.ours.spool.Release(sent)
	p.link.Close()
	if _, lost, _ := p.ours.progress(); lost > 0 && err == nil {
		err = fmt.Errorf("%s of the capture never reached the hub: the spool was full", count.Of(lost, "byte"))
	}
	return err
}
