package cli

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"toolscope/capture"
	"toolscope/capture/proxy"
	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/filter"
	"toolscope/ui/modes"
)

// breakFlags say which answers are held back from clients.
type breakFlags struct {
	filter string
	limit  time.Duration
}

func (f *breakFlags) add(to *pflag.FlagSet) {
	to.StringVar(&f.filter, "break", "", "hold answers with a call that fits `FILTER`, as in tool:run_shell, until the screen lets them go")
	to.DurationVar(&f.limit, "break-time", 5*time.Minute, "for how long at most")
	markSettings(to, "", "break-time")
}

// breakpoint holds answers back, for the screen.
type breakpoint struct {
	proxy  *proxy.Proxy
	limit  time.Duration
	prices *price.Table
	clean  func(string) string // takes secrets out
	wanted atomic.Pointer[filter.Filter]
}

// newBreakpoint is the breakpoint that the flags ask for. It wants a screen: somebody has to let go what is
// held.
func (f *breakFlags) newBreakpoint(screen bool, prices *price.Table) (*breakpoint, error) {
	b := &breakpoint{prices: prices, limit: f.limit}
	switch {
	case f.filter == "" && !screen:
		return nil, nil
	case !screen:
		return nil, usageErrorf("--break: nobody could let go what is held\nit wants the screen: without --headless and --format, on a terminal")
	case f.limit <= 0:
		return nil, usageErrorf("--break-time %v: wanted is a time, as in 90s or 5m", f.limit)
	}
	if err := b.Set(f.filter); err != nil {
		return nil, usageErrorf("--break: %w", err)
	}
	return b, nil
}

// applyTo has a proxy hold what the breakpoint says.
func (b *breakpoint) applyTo(o *proxy.Options, clean func(string) string) {
	b.clean = clean
	o.Watch, o.HoldTime = b.newWatch, b.limit
}

// Filter is what is held.
func (b *breakpoint) Filter() string {
	if f := b.wanted.Load(); f != nil {
		return f.String()
	}
	return ""
}

// Set has what fits a filter be held, of the answers to what is asked from now on.
func (b *breakpoint) Set(text string) error {
	f, faults := filter.Parse(text)
	if len(faults) > 0 {
		return faults[0]
	}
	if f.Empty() {
		f = nil
	}
	b.wanted.Store(f)
	return nil
}

// Holds are the answers that are held.
func (b *breakpoint) Holds() (all []modes.Hold) {
	now := time.Now()
	for _, h := range b.proxy.Holds() {
		all = append(all, modes.Hold{
			Exchange: h.Exchange, Why: h.Why, For: now.Sub(h.Since), Left: h.Until.Sub(now), Given: h.Delivered, Waiting: h.Waiting,
			Next: []byte(b.clean(string(h.Next[:min(len(h.Next), maxNextBytes)]))), Ended: h.Ended,
		})
		if h.Next == nil {
			all[len(all)-1].Next = nil
		}
	}
	return all
}

// maxNextBytes is how many bytes of an event that is held are shown.
const maxNextBytes = 4 << 10

// Resume has what is held of an exchange go on.
func (b *breakpoint) Resume(exchange int, how modes.ResumeMode) {
	b.proxy.ResumeHeld(exchange, [...]proxy.Resume{modes.ResumeUntilMatch: proxy.GoOn, modes.ResumeOneEvent: proxy.Step, modes.CutConnection: proxy.CutOff}[how])
}

// newWatch looks at an answer, if something is to be held.
func (b *breakpoint) newWatch() proxy.Watch {
	f := b.wanted.Load()
	if f == nil {
		return nil
	}
	w := &breakWatch{point: b, filter: f, met: map[stream.Ref]bool{}, looked: filter.SearchProgress{}, began: time.Now()}
	w.in.Keep(providers.Retention{Bytes: maxWatchedBytes, ReadOnce: true, Rows: 16}) // a WebSocket lasts for hours
	return w
}

// maxWatchedBytes is how many bytes a watch keeps of turns that have ended.
const maxWatchedBytes = 1 << 20

// breakWatch decodes one exchange for itself, before its client gets it, and says when a call fits.
type breakWatch struct {
	point  *breakpoint
	filter *filter.Filter
	began  time.Time

	mu     sync.Mutex // the request may still be sent while the answer comes
	in     providers.Inspector
	number int
	closed int                 // turns that had ended, all that came before them too
	met    map[stream.Ref]bool // calls for which it was held
	looked filter.SearchProgress
}

// See takes what is known besides the answer's body.
func (w *breakWatch) See(r capture.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.number = r.Exchange
	w.in.Write(coreRecord(r))
}

// Look has words when a call fits that did not before.
func (w *breakWatch) Look(event []byte) (why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := time.Since(w.began)
	w.in.Write(stream.Record{Exchange: w.number, At: at, Data: event})
	from := filter.Source{View: w.in.View(), Cost: w.turnCost, Now: at, Progress: w.looked}
	session := from.View.Session()
	for _, t := range session.Turns[max(0, w.closed-session.TrimmedTurns()):] {
		for _, c := range t.Calls {
			if !w.met[c.Ref()] && w.filter.MatchesCall(&from, t, c) {
				w.met[c.Ref()] = true
				why = w.point.clean(fmt.Sprintf("%s, %s, fits %s", c.Name, c.Status(), w.filter))
			}
		}
		if t.Closed() && w.closed == int(t.Number) {
			w.closed++
		}
	}
	w.in.MakeRoom()
	return why
}

func (w *breakWatch) turnCost(t *stream.Turn) price.Figure {
	return costOf(w.point.prices, w.in.Exchange(t.Exchange), t)
}
