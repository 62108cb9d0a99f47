package cli

import (
	"context"
	"slices"
	"sync"
	"time"

	"toolscope/capture/backoff"
)

// publishNotes collects the notes about publishing while it runs. With a screen they are printed at the end;
// until then the screen shows them.
type publishNotes struct {
	mu      sync.Mutex
	waiting []string

	hub, spool, left troubleNotice
	lost             []string // reasons of losses that were reported
}

// add adds a note.
func (n *publishNotes) add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.waiting = append(n.waiting, text)
}

// printPending prints the notes that wait.
func (n *publishNotes) printPending(a *app) {
	n.mu.Lock()
	all := n.waiting
	n.waiting = nil
	n.mu.Unlock()
	for _, text := range all {
		noteLines(a, text)
	}
}

// watchChanges prints each change in the state of publishing, until stop is called.
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

// noteChanges adds a note for each change.
func (p *hubPublisher) noteChanges(now time.Time) {
	n, s := &p.notes, p.Progress()
	if n.hub.isDue(now, s.Trouble) {
		n.add(ifElse(s.Trouble != "", "the traffic does not reach the hub: "+s.Trouble+ifElse(s.Remedy != "", "\n"+s.Remedy, ""), "the traffic reaches the hub again"))
	}
	if n.left.isDue(now, s.OrphanedTrouble) {
		n.add("data of earlier runs " + ifElse(s.OrphanedTrouble != "", "is not sent: "+s.OrphanedTrouble, "can be sent again"))
	}
	if trouble := p.State().Trouble; n.spool.isDue(now, trouble) {
		n.add(ifElse(trouble != "", "the published data has gaps from here on: "+trouble, "the published data has no more gaps"))
	}
	for _, loss := range slices.Concat(s.Losses, s.OrphanedLosses) {
		if !slices.Contains(n.lost, loss.Why) {
			n.lost = append(n.lost, loss.Why)
			n.add("bytes are lost from here on: they " + loss.Why)
		}
	}
}

// troubleNotice decides when to report a problem that comes and goes: after it has lasted, and less often the
// more often it was reported lately.
type troubleNotice struct {
	reported string    // the latest reported problem, "" for none
	since    time.Time // when the problem changed; zero while it is the reported one
	pace     backoff.Backoff
}

const (
	changeLasts = 2 * time.Second // how long a change must last before it is reported
	firstPause  = 10 * time.Second
	maxPause    = 10 * time.Minute // without a change for this long, the pauses start over
)

// isDue reports whether to report a problem now. "" stands for the end of the problem.
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
