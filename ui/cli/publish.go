package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/capture/redact"
	"toolscope/ui"
)

// publishFlags are the flags for the hub to which traffic is published, and for the names of the source.
type publishFlags struct {
	to, host, agent, spool, limit string
	linger                        time.Duration
	noIndex                       bool
}

// publishFlags adds the flags for publishing to a command. The parameter agent is the default name of the agent.
func (lv *liveSession) publishFlags(cmd *cobra.Command, f *publishFlags, agent string) {
	to := cmd.Flags()
	to.StringVar(&f.to, "publish", "", "")
	to.StringVar(&f.host, "host", "", "")
	to.StringVar(&f.agent, "agent", agent, "")
	to.StringVar(&f.spool, "spool", "", "")
	to.StringVar(&f.limit, "spool-limit", "1GB", "")
	to.DurationVar(&f.linger, "linger", fleet.Linger, "")
	to.BoolVar(&f.noIndex, "no-index", false, "")
	lv.app.hubFlags(cmd)
}

// maxLinger is the maximum value of --linger. Heartbeats are sent at this interval too.
const maxLinger = 5 * time.Second

// hubPublisher publishes traffic to a hub.
type hubPublisher struct {
	*fleet.Publisher
	server string
	limit  int64 // maximum size of the spool
	notes  publishNotes

	fed  chan struct{} // closed when the followed source has ended
	feed atomic.Bool   // a followed source is published
}

// startPublishing starts publishing. It returns nil if --publish is not set.
func (lv *liveSession) startPublishing(f *publishFlags, began time.Time, by string) (*hubPublisher, error) {
	if f == nil || f.to == "" {
		return nil, nil
	}
	of, err := fleet.ParseAddress(f.to)
	if err != nil {
		return nil, usageErrorf("--publish: %w", err)
	}
	if strings.Contains(f.to, "?") {
		return nil, usageErrorf("--publish: the part after the ? works only for reading from a hub\nuse %s", of.Server)
	}
	o := fleet.PublishOptions{Server: of.Server, Host: f.host, Agent: f.agent, Spool: f.spool, By: by, Linger: f.linger}
	if o.Auth, err = lv.app.hubAuth(); err != nil {
		return nil, err
	}
	if o.Limit, err = sizeOf("--spool-limit", f.limit); err != nil {
		return nil, err
	}
	if o.Host == "" {
		if o.Host, err = os.Hostname(); err != nil {
			return nil, usageErrorf("--publish: can't read the name of this machine: %w\nuse --host NAME", err)
		}
	}
	if err := fleet.CheckNames(o.Host, o.Agent); err != nil {
		return nil, usageErrorf("--host and --agent: %w", err)
	}
	if f.linger < time.Millisecond || f.linger > maxLinger {
		return nil, usageErrorf("--linger %s: out of range\nuse a time from 1ms to %s", f.linger, maxLinger)
	}
	if o.Agent == "" {
		return nil, usageErrorf("--agent: the name is empty")
	}
	if o.Spool == "" {
		if o.Spool, err = inStateFolder("spool"); err != nil {
			return nil, err
		}
	}
	if !f.noIndex {
		if o.Index, err = lv.app.newIndexers(); err != nil {
			return nil, err
		}
	}
	to := &hubPublisher{server: of.Server, limit: o.Limit, fed: make(chan struct{})}
	o.Report = to.notes.add
	p, warning, err := fleet.Publish(began, o)
	if warning != "" {
		lv.app.printNote("--spool: %s", warning)
	}
	if err != nil {
		return nil, fmt.Errorf("--publish: %w", err)
	}
	to.Publisher = p
	return to, nil
}

// finishSending sends the remaining data and reports data that could not be sent.
func (p *hubPublisher) finishSending(ctx context.Context, a *app) error {
	err := p.Close(ctx)
	p.notes.printPending(a)
	for _, text := range p.unsentNotes() {
		noteLines(a, text)
	}
	p.reportIndex(a)
	if err != nil {
		return fmt.Errorf("--publish: %w", err)
	}
	return nil
}

// unsentNotes describes the data that is missing from the hub at the end, with the reasons.
func (p *hubPublisher) unsentNotes() (all []string) {
	s := p.Progress()
	told := func(n int64, where, why string) {
		if n > 0 {
			all = append(all, fmt.Sprintf("%s %s; the next run sends this data%s", sizeText(n), where, ifElse(why != "", ": "+why, "")))
		}
	}
	told(s.Spooled-s.Orphaned, "are waiting in "+p.Path, s.Trouble)
	told(s.Orphaned, "from earlier runs are waiting in "+filepath.Dir(p.Path), cmp.Or(s.OrphanedTrouble, s.Trouble))
	if n := len(all); n > 0 && s.Remedy != "" {
		all[n-1] += "\n" + s.Remedy
	}
	return all
}

// noteLines prints a note. The second line of a note is advice.
func noteLines(a *app, text string) {
	first, how, _ := strings.Cut(text, "\n")
	a.printNote("--publish: %s", first)
	if how != "" {
		a.printNote("%s", how)
	}
}

// statusNotes returns notes about the state of publishing, for the screen.
func (p *hubPublisher) statusNotes() (words []ui.StatusNote) {
	s := p.Progress()
	alarm := func(text string) { words = append(words, ui.StatusNote{Text: text, Alarm: true}) }
	if t := p.State().Trouble; t != "" {
		alarm("NOT SENT: " + t)
	}
	for _, lost := range slices.Concat(s.Losses, s.OrphanedLosses) {
		alarm("LOST " + sizeText(lost.Bytes) + ": they " + lost.Why)
	}
	text, trouble := "to "+p.server, s.Trouble
	if trouble == "" && s.OrphanedTrouble != "" {
		trouble = "earlier data is not sent: " + s.OrphanedTrouble
	}
	if trouble != "" {
		text += ": " + trouble
	}
	if trouble != "" || s.Spooled > 1<<20 {
		text += ", " + sizeText(s.Spooled) + " waiting"
	}
	return append(words, ui.StatusNote{Text: text})
}

// maxQueuedBytes is the maximum number of bytes of a file that may wait for the spool.
const maxQueuedBytes = 16 << 20

// fullWait is the interval between checks of a full queue.
const fullWait = 20 * time.Millisecond

// isFull reports whether reading a file must wait for the disk or the hub. Without the wait, the spool would
// drop unsent data.
func (p *hubPublisher) isFull() bool {
	queued := p.State().Queued
	return queued > maxQueuedBytes || p.Unsent()+int64(queued) > p.limit/2
}

// fedTime is the maximum time for which toolscope waits for the end of the followed source.
const fedTime = 2 * time.Second

// publishingSource returns a source that is published, without its secrets, while it is read. Its reader gets the
// records unchanged. Until ctx ends, the source is read only as fast as its data can be sent.
func publishingSource(ctx context.Context, src capture.Source, to *hubPublisher, r *redact.Redactor) capture.Source {
	put := func(all []redact.Clean) {
		for _, c := range all {
			for to.isFull() && ctx.Err() == nil {
				time.Sleep(fullWait)
			}
			to.Put(c)
		}
	}
	return func(yield func(capture.Record, error) bool) {
		if !to.feed.Swap(true) {
			defer close(to.fed)
		}
		defer func() { put(r.Flush()) }()
		for rec, err := range src {
			if err == nil {
				mine := rec
				mine.Data = bytes.Clone(rec.Data)
				redactArgvNote(r, &mine)
				put(r.Take(mine))
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// publishFollowed publishes a followed source until ctx ends, if --publish is set. The caller must call end
// once ctx has ended.
func (lv *liveSession) publishFollowed(ctx context.Context, src capture.Source) (_ capture.Source, end func(), err error) {
	if lv.sends.to == "" {
		return src, func() {}, nil
	}
	lv.sending, err = lv.startPublishing(&lv.sends, time.Now(), "toolscope -f")
	if err != nil {
		return nil, nil, err
	}
	r := newRedactor()
	return publishingSource(ctx, src, lv.sending, r), func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if lv.sending.feed.Load() {
			select {
			case <-lv.sending.fed: // all data was published, including the data in the redactor
			case <-time.After(fedTime):
			}
		}
		err := lv.sending.finishSending(ctx, lv.app)
		if err != nil {
			lv.app.printError(err)
		}
		if limit := r.Limit(); limit != "" {
			lv.app.printNote("--publish: secrets may have been published: %s", limit)
		} else if err == nil {
			return
		}
		lv.app.code = exitGaps // takes precedence over the exit code of a signal
	}, nil
}

// publishNotes collects the notes about publishing while it runs. With a screen, the screen shows the state, and
// the notes are printed at the end.
type publishNotes struct {
	mu      sync.Mutex
	waiting []string

	hub, spool, left troubleNotice
	lost             []string // reasons for losses that have been reported
}

// add adds a note that printPending will print.
func (n *publishNotes) add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.waiting = append(n.waiting, text)
}

// printPending prints the notes that have not been printed yet.
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
	return startWatch(func(now time.Time) {
		p.noteChanges(now)
		p.notes.printPending(a)
	})
}

// noteChanges adds a note for each change in the state of publishing.
func (p *hubPublisher) noteChanges(now time.Time) {
	n, s := &p.notes, p.Progress()
	if n.hub.isDue(now, s.Trouble) {
		n.add(ifElse(s.Trouble != "", "the traffic doesn't reach the hub: "+s.Trouble+ifElse(s.Remedy != "", "\n"+s.Remedy, ""), "the traffic reaches the hub again"))
	}
	if n.left.isDue(now, s.OrphanedTrouble) {
		n.add("data from earlier runs " + ifElse(s.OrphanedTrouble != "", "is not sent: "+s.OrphanedTrouble, "can be sent again"))
	}
	if trouble := p.State().Trouble; n.spool.isDue(now, trouble) {
		n.add(ifElse(trouble != "", "the published data has gaps from here on: "+trouble, "the published data has no more gaps"))
	}
	for _, loss := range slices.Concat(s.Losses, s.OrphanedLosses) {
		if !slices.Contains(n.lost, loss.Why) {
			n.lost = append(n.lost, loss.Why)
			n.add("data is lost from here on: the bytes " + loss.Why)
		}
	}
}

// troubleNotice decides when to report a problem that starts and ends repeatedly. A problem must last for
// some time before it is reported. The more often it was reported recently, the less often it is reported
// again.
type troubleNotice struct {
	reported string    // latest reported problem; "" if there is none
	since    time.Time // time at which the problem changed; zero if the current problem is the reported one
	pace     capture.Backoff
}

const (
	changeLasts = 2 * time.Second // minimum time for which a change must last before it is reported
	firstPause  = 10 * time.Second
	maxPause    = 10 * time.Minute // after this time without a change, the pauses start from firstPause again
)

// isDue reports whether the problem should be reported now. If so, it stores the problem as the latest reported one.
// An empty string means that the problem has ended.
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
