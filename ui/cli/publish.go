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
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/capture/redact"
	"toolscope/ui"
)

// publishFlags say where what is seen is sent, and as whose.
type publishFlags struct {
	to, host, agent, spool, limit string
	linger                        time.Duration
	noIndex                       bool
}

// publishFlags adds them; agent is what it is called where nobody says.
func (a *app) publishFlags(cmd *cobra.Command, f *publishFlags, agent string) {
	to := cmd.Flags()
	to.StringVar(&f.to, "publish", "", "send what is seen, without secrets, to the hub at `URL`, as nats://hub:4222")
	to.StringVar(&f.host, "host", "", "with --publish: the `NAME` of this machine, if not its own")
	to.StringVar(&f.agent, "agent", agent, "with --publish: the `NAME` of what is seen")
	to.StringVar(&f.spool, "spool", "", "with --publish: what hubs do not have yet is kept in this `DIR`, of each in a folder of its own")
	to.StringVar(&f.limit, "spool-limit", "1GB", "with --publish: what is kept there of one run at most, a `SIZE`")
	to.DurationVar(&f.linger, "linger", fleet.Linger, "with --publish: how long what has come waits for more to be sent with; longer costs the hub less")
	to.BoolVar(&f.noIndex, "no-index", false, "with --publish: tell the hub of no calls, only what came; who looks for some reads all then")
	addFlagCheck(to, "spool-limit", isSize("--spool-limit"))
	markSettings(to, "", "host", "spool", "spool-limit", "linger", "no-index")
	a.hubFlags(cmd)
}

// maxLinger is how long what has come may wait. Signs of life are as far apart.
const maxLinger = 5 * time.Second

// A hubPublisher is what is sent to a hub.
type hubPublisher struct {
	*fleet.Publisher
	server string
	limit  int64 // of the spool
	notes  publishNotes

	fed  chan struct{} // closed when nothing more comes of what is followed
	feed atomic.Bool   // something is followed
}

// startPublishing begins to send, nil where nobody asks for that.
func (a *app) startPublishing(f *publishFlags, began time.Time, by string) (*hubPublisher, error) {
	if f == nil || f.to == "" {
		return nil, nil
	}
	of, err := fleet.ParseAddress(f.to)
	if err != nil {
		return nil, usageErrorf("--publish: %w", err)
	}
	if strings.Contains(f.to, "?") {
		return nil, usageErrorf("--publish: what stands behind the ? is for who reads\nwanted is %s", of.Server)
	}
	o := fleet.PublishOptions{Server: of.Server, Host: f.host, Agent: f.agent, Spool: f.spool, By: by, Linger: f.linger}
	if o.Auth, err = a.hubAuth(); err != nil {
		return nil, err
	}
	if o.Limit, err = sizeOf("--spool-limit", f.limit); err != nil {
		return nil, err
	}
	if o.Host == "" {
		if o.Host, err = os.Hostname(); err != nil {
			return nil, usageErrorf("--publish: this machine does not tell its name: %w\n--host NAME does", err)
		}
	}
	if err := fleet.CheckNames(o.Host, o.Agent); err != nil {
		return nil, usageErrorf("--host and --agent: %w", err)
	}
	if f.linger < time.Millisecond || f.linger > maxLinger {
		return nil, usageErrorf("--linger %s: wanted is a time from 1ms to %s", f.linger, maxLinger)
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
		if o.Index, err = a.newIndexers(); err != nil {
			return nil, err
		}
	}
	to := &hubPublisher{server: of.Server, limit: o.Limit, fed: make(chan struct{})}
	o.Report = to.notes.add
	p, warning, err := fleet.Publish(began, o)
	if warning != "" {
		a.printNote("--spool: %s", warning)
	}
	if err != nil {
		return nil, fmt.Errorf("--publish: %w", err)
	}
	to.Publisher = p
	return to, nil
}

// finishSending sends what is left and says what could not be sent.
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

// unsentNotes are what the hub does not have at the end, and why.
func (p *hubPublisher) unsentNotes() (all []string) {
	s := p.Progress()
	told := func(n int64, where, why string) {
		if n > 0 {
			all = append(all, fmt.Sprintf("%s %s, and are sent by the next run%s", sizeText(n), where, ifElse(why != "", ": "+why, "")))
		}
	}
	told(s.Spooled-s.Orphaned, "wait in "+p.Path, s.Trouble)
	told(s.Orphaned, "that earlier runs left wait in "+filepath.Dir(p.Path), cmp.Or(s.OrphanedTrouble, s.Trouble))
	if n := len(all); n > 0 && s.Remedy != "" {
		all[n-1] += "\n" + s.Remedy
	}
	return all
}

// noteLines notes what may have a line that says what to do.
func noteLines(a *app, text string) {
	first, how, _ := strings.Cut(text, "\n")
	a.printNote("--publish: %s", first)
	if how != "" {
		a.printNote("%s", how)
	}
}

// statusNotes are how sending is going.
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
		trouble = "left by an earlier run, " + s.OrphanedTrouble
	}
	if trouble != "" {
		text += ": " + trouble
	}
	if trouble != "" || s.Spooled > 1<<20 {
		text += ", " + sizeText(s.Spooled) + " wait"
	}
	return append(words, ui.StatusNote{Text: text})
}

// maxQueuedBytes is how many bytes of a file may wait for the spool.
const maxQueuedBytes = 16 << 20

// fullWait is how long a file that should wait does before it is asked again.
const fullWait = 20 * time.Millisecond

// isFull reports whether a file should wait: for the disk, or for the hub, before the spool has to let
// go of what the hub does not have.
func (p *hubPublisher) isFull() bool {
	queued := p.State().Queued
	return queued > maxQueuedBytes || p.Unsent()+int64(queued) > p.limit/2
}

// fedTime is how long the end waits for what is followed to end.
const fedTime = 2 * time.Second

// publishingSource is a source that is sent as it is read, without its secrets. Whoever looks at it sees it
// as it is. It is read no faster than it can be sent, until ctx ends.
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
				put(r.Take(mine))
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// publishFollowed begins to send what is followed until ctx ends, if that is asked for. end ends that, and
// is called when ctx has ended.
func (a *app) publishFollowed(ctx context.Context, src capture.Source) (_ capture.Source, end func(), err error) {
	if a.sends.to == "" {
		return src, func() {}, nil
	}
	a.sending, err = a.startPublishing(&a.sends, time.Now(), "toolscope -f")
	if err != nil {
		return nil, nil, err
	}
	r := newRedactor()
	return publishingSource(ctx, src, a.sending, r), func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if a.sending.feed.Load() {
			select {
			case <-a.sending.fed: // all of it, the redactor's tail too
			case <-time.After(fedTime):
			}
		}
		err := a.sending.finishSending(ctx, a)
		if err != nil {
			a.printError(err)
		}
		if limit := r.Limit(); limit != "" {
			a.printNote("secrets may have passed: %s", limit)
		} else if err == nil {
			return
		}
		a.code = exitGaps // whatever else ended the program
	}, nil
}
