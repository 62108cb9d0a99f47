package cli

import (
	"context"
	"slices"
	"sync"
	"time"

	"toolscope/capture/backoff"
)

// publishNotes are what is to be said of sending while it goes on. Where there is a screen it is said at
// the end, and the screen has it meanwhile.
type publishNotes struct {
	mu      sync.Mutex
	waiting []string

	hub, spool, left troubleNotice
	lost             []string // why some is lost, as far as it was said
}

// add adds one.
func (n *publishNotes) add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.waiting = append(n.waiting, text)
}

// printPending says what waits to be said.
func (n *publishNotes) printPending(a *app) {
	n.mu.Lock()
	all := n.waiting
	n.waiting = nil
	n.mu.Unlock()
	for _, text := range all {
		noteLines(a, text)
	}
}

// watchChanges says on standard error how sending goes, each time that this has changed, until stop is called.
func (p *hubPublisher) watchChanges(a *app) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(lookTime); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case now := <-tick.C:
				p.noteChanges(now)
				p.notes.printPending(a)
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// noteChanges notes what has changed.
func (p *hubPublisher) noteChanges(now time.Time) {
	n, s := &p.notes, p.Progress()
	if n.hub.isDue(now, s.Trouble) {
		n.add(ifElse(s.Trouble != "", "the hub does not get what is seen: "+s.Trouble+ifElse(s.Remedy != "", "\n"+s.Remedy, ""), "what is seen reaches the hub again"))
	}
	if n.left.isDue(now, s.OrphanedTrouble) {
		n.add("what earlier runs left " + ifElse(s.OrphanedTrouble != "", "is not sent: "+s.OrphanedTrouble, "can be sent again"))
	}
	if trouble := p.State().Trouble; n.spool.isDue(now, trouble) {
		n.add(ifElse(trouble != "", "what is sent has gaps from here on: "+trouble, "nothing more is missing of what is sent"))
	}
	for _, loss := range slices.Concat(s.Losses, s.OrphanedLosses) {
		if !slices.Contains(n.lost, loss.Why) {
			n.lost = append(n.lost, loss.Why)
			n.add("from here on bytes are lost: they " + loss.Why)
		}
	}
}

// A troubleNotice is of a trouble that comes and goes. It is told when it has lasted, and less often the more
// often it was told lately.
type troubleNotice struct {
	reported string    // the trouble that was told last, "" for none
	since    time.Time // when it became another one; zero while it is that one
	pace     backoff.Backoff
}

const (
	changeLasts = 2 * time.Second // before it is told
	firstPause  = 10 * time.Second
	maxPause    = 10 * time.Minute // it is as if nothing had been told when there was no change for so long
)

// isDue reports whether a trouble is to be told now, or that there is none any more.
func (c *troubleNotice) isDue(now time.Time, trouble string) bool {
	if trouble == c.reported {
		c.since = time.Time{}
		return false
	}
	if c.since.IsZero() {
		c.since = now
	}
	c.pace.First, c.pace.Max = firstPause, maxPause
	if due := c.pace.IsDue(now); !due || now.Sub(c.since) < changeLasts {
		return false
	}
	c.reported, c.since = trouble, time.Time{}
	return c.pace.Allow(now)
}
