package ui

import (
	"cmp"
	"slices"
	"time"

	"toolscope/providers"
	"toolscope/providers/mcp"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// openWait is an open stream from a provider, and the time since its last byte.
type openWait struct {
	turn *stream.Turn // nil before the first byte
	idle time.Duration
}

// showsWaiting reports whether the second row shows the parties that are being waited for. It does so while a
// proxy or a hub is live. Other sources don't show when a stream ends.
func (fd *frameDrawer) showsWaiting() bool {
	return fd.m.showsIdle() && (fd.m.opt.Setup != nil || fd.m.opt.Machines != nil)
}

// waitSummary describes the open streams at a moment.
type waitSummary struct {
	count   int
	unbegun int        // streams without a byte from the provider
	clients int        // conversations whose client has calls to run
	longest []openWait // the two streams that have been silent for longest
}

// waitsKey has the values that the summary of open streams depends on. Searching thousands of streams takes
// longer than drawing a frame, so they are searched again only after new events, or ten times a second.
type waitsKey struct {
	view         *providers.View
	events, open int
	tenths       time.Duration
}

// openWaits returns a summary of the open streams at the shown moment.
func (fd *frameDrawer) openWaits() waitSummary {
	now := fd.m.shownNow()
	key := waitsKey{fd.m.view, fd.m.in.Timeline.Len(), len(fd.m.streams.open), now / (100 * time.Millisecond)}
	if fd.m.moment.isPaused() {
		key.events = fd.m.moment.eventCount()
	}
	if key != fd.waitsKey {
		fd.waitsKey, fd.lastWaits = key, fd.findWaits(now)
	}
	return fd.lastWaits
}

func (fd *frameDrawer) findWaits(now time.Duration) (w waitSummary) {
	v := fd.m.view
	add := func(x *providers.Exchange, t *stream.Turn) {
		if w.count++; t == nil {
			w.unbegun++
		}
		w.longest = append(w.longest, openWait{t, panes.IdleTime(x, t, now)})
		slices.SortStableFunc(w.longest, func(a, b openWait) int { return cmp.Compare(b.idle, a.idle) })
		w.longest = w.longest[:min(2, len(w.longest))]
	}
	if fd.m.moment.isPaused() {
		for _, t := range v.Session().Turns {
			if !t.Closed() {
				add(v.Exchange(t.Exchange), t)
			}
		}
	} else {
		for _, x := range fd.m.streams.open {
			if t := v.LatestOf(x.Number); t == nil || !t.Closed() {
				add(x, t)
			}
		}
		// don't count a client that may have just continued with a new request, or one whose tool is running
		w.clients = max(0, waitingClients(v.Session().Turns, now)-w.unbegun-fd.runningTools())
	}
	return w
}

// maxClientPause is the time after which a client that has not sent the results of calls may have left.
const maxClientPause = 5 * time.Minute

// maxRecentTurns is the maximum number of turns that are searched for clients with calls to run.
const maxRecentTurns = 2000

// waitingClients returns the number of conversations whose latest response has calls for the client, without a later
// request.
func waitingClients(turns []*stream.Turn, now time.Duration) (n int) {
	seen := map[int32]bool{}
	for _, t := range slices.Backward(turns[max(0, len(turns)-maxRecentTurns):]) {
		if t.Request == nil || t.Request.Background || t.Request.Conversation == 0 || seen[t.Request.Conversation] {
			continue
		}
		seen[t.Request.Conversation] = true
		if t.Closed() && t.Phase() != stream.TurnAborted && now-t.ClosedAt < maxClientPause && slices.ContainsFunc(t.Calls, isUnanswered) {
			n++
		}
	}
	return n
}

// isUnanswered reports whether a call is for the client, and no later request contains it.
func isUnanswered(c *stream.Call) bool { return !c.RunByProvider && len(c.SentBack) == 0 }

// runningTools returns the number of tool runs that have no result yet. While the screen is paused, it
// returns 0.
func (fd *frameDrawer) runningTools() (n int) {
	if fd.m.moment.isPaused() {
		return 0
	}
	for _, r := range fd.m.in.Executed().Unanswered() {
		if r.IsCall() && r.State == mcp.Open {
			n++
		}
	}
	return n
}

// drawWaiting draws the parties that are being waited for, and the longest silences.
func (fd *frameDrawer) drawWaiting(p *screen.Pen) {
	waits, tools := fd.openWaits(), fd.runningTools()
	p.Spaces(screen.Bare, 1)
	switch {
	case waits.count == 0 && tools == 0 && waits.clients == 0:
		p.Text(screen.Muted, display.Lit("No stream is open."))
		return
	case waits.count == 1 && tools == 0 && waits.clients == 0:
		fd.drawOneWait(p, waits.longest[0])
		return
	}
	p.Text(screen.Muted, display.Lit("Waiting on"))
	for _, of := range []struct {
		name display.Text
		n    int
	}{{display.Lit("  providers "), waits.count}, {display.Lit("  tools "), tools}, {display.Lit("  clients "), waits.clients}} {
		if of.n > 0 {
			p.Text(screen.Muted, of.name)
			p.Text(screen.Plain, screen.Count(of.n))
		}
	}
	label := display.Lit("   longest silence ")
	switch {
	case fd.m.w >= twoColumns:
		label = display.Lit("     longest silence ")
	case fd.m.w < 80:
		label = display.Lit("   longest ")
	}
	for i, w := range waits.longest {
		if w.idle < time.Second {
			break
		}
		text := screen.WholeSeconds(w.idle)
		where := display.Text{}
		if w.turn != nil {
			where = p.Format("  turn %d", w.turn.Number+1)
		}
		if label.Width()+text.Width()+where.Width() > p.Left {
			break
		}
		p.Text(screen.Muted, label)
		p.Text(screen.Plain, text)
		if i > 0 {
			p.Text(screen.Muted, where)
			break
		}
		p.Text(screen.Plain, where) // the slowest stream
		label = display.Lit("   next ")
	}
}

// drawOneWait draws the only open stream: how long it has been silent, and what it sent last.
func (fd *frameDrawer) drawOneWait(p *screen.Pen, w openWait) {
	p.Text(screen.Muted, display.Lit("Waiting on the provider"))
	if w.idle >= time.Second {
		p.Text(screen.Muted, display.Lit(" for "))
		p.Text(screen.Plain, screen.WholeSeconds(w.idle))
	}
	switch t := w.turn; {
	case t == nil:
		p.Text(screen.Muted, display.Lit(": no byte yet."))
	case len(t.Calls) == 0 && len(t.Text) == 0 && len(t.Thinking) > 0:
		p.Text(screen.Muted, display.Lit(": thinking."))
	case w.idle < time.Second:
		p.Text(screen.Muted, display.Lit(": streaming."))
	default:
		p.Text(screen.Muted, display.Lit("."))
	}
}
