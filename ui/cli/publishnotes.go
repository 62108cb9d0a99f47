package cli

import (
	"context"
	"slices"
	"sync"
	"time"

	"toolscope/capture/pace"
)

// publishNotes are what is to be said of sending while it goes on. Where there is a screen it is said at
// the end, and the screen has it meanwhile.
type publishNotes struct {
	mu      sync.Mutex
	waiting []string

	hub, spool, left change
	lost             []string // why some is lost, as far as it was said
}

// add adds one.
func (n *publishNotes) add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.waiting = append(n.waiting, text)
}

// tell says what waits to be said.
func (n *publishNotes) tell(a *app) {
	n.mu.Lock()
	all := n.waiting
	n.waiting = nil
	n.mu.Unlock()
	for _, text := range all {
		noteLines(a, text)
	}
}

// watch says on standard error how sending goes, each time that this has changed, until stop is called.
func (p *publication) watch(a *app) (stop func()) {
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
				p.look(now)
				p.notes.tell(a)
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// look notes what has changed.
func (p *publication) look(now time.Time) {
	n, s := &p.notes, p.Progress()
	if n.hub.news(now, s.Trouble) {
		n.add(either(s.Trouble != "", "the hub does not get what is seen: "+s.Trouble+either(s.Remedy != "", "\n"+s.Remedy, ""), "what is seen reaches the hub again"))
	}
	if n.left.news(now, s.OrphanedTrouble) {
		n.add("what earlier runs left " + either(s.OrphanedTrouble != "", "is not sent: "+s.OrphanedTrouble, "can be sent again"))
	}
	if trouble := p.State().Trouble; n.spool.news(now, trouble) {
		n.add(either(trouble != "", "what is sent has gaps from here on: "+trouble, "nothing more is missing of what is sent"))
	}
	for _, loss := range slices.Concat(s.Losses, s.OrphanedLosses) {
		if !slices.Contains(n.lost, loss.Why) {
			n.lost = append(n.lost, loss.Why)
			n.add("from here on bytes are lost: they " + loss.Why)
		}
	}
}

// A change is of a trouble that comes and goes. It is told when it has lasted, and less often the more
// often it was told lately.
type change struct {
	told  string    // the trouble that was told last, "" for none
	since time.Time // when it became another one; zero while it is that one
	pace  pace.Backoff
}

const (
	changeLasts = 2 * time.Second // before it is told
	pauseFirst  = 10 * time.Second
	pauseMost   = 10 * time.Minute // it is as if nothing had been told when there was no change for so long
)

// news reports whether a trouble is to be told now, or that there is none any more.
func (c *change) news(now time.Time, trouble string) bool {
	if trouble == c.told {
		c.since = time.Time{}
		return false
	}
	if c.since.IsZero() {
		c.since = now
	}
	c.pace.First, c.pace.Max = pauseFirst, pauseMost
	if due := c.pace.IsDue(now); !due || now.Sub(c.since) < changeLasts {
		return false
	}
	c.told, c.since = trouble, time.Time{}
	return c.pace.Allow(now)
}
