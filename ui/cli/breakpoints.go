package cli

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"toolscope/capture"
	"toolscope/capture/fault"
	"toolscope/capture/proxy"
	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/filter"
	"toolscope/ui/modes"
	"toolscope/ui/present"
)

// breakFlags are the flags for a breakpoint: a filter for the responses to hold, and the maximum hold time.
type breakFlags struct {
	filter string
	limit  time.Duration
}

func (f *breakFlags) add(to *pflag.FlagSet) {
	to.StringVar(&f.filter, "break", "", "")
	to.DurationVar(&f.limit, "break-timeout", 5*time.Minute, "")
}

// breakpoint holds responses so that the user can resume them on the screen.
type breakpoint struct {
	proxy  *proxy.Proxy
	limit  time.Duration
	prices *price.Table
	clean  func(string) string // removes secrets
	wanted atomic.Pointer[filter.Filter]
}

// newBreakpoint returns the breakpoint that the flags set. It returns nil if there is neither a filter nor a screen.
// A filter needs a screen, because the user resumes held responses there.
func (f *breakFlags) newBreakpoint(screen bool, prices *price.Table) (*breakpoint, error) {
	b := &breakpoint{prices: prices, limit: f.limit}
	switch {
	case f.filter == "" && !screen:
		return nil, nil
	case !screen:
		return nil, usageErrorf("--break: needs the screen, because you resume held responses there\nuse a terminal, and leave out --headless and --format")
	case f.limit <= 0:
		return nil, usageErrorf("--break-timeout %v: too short\nuse a time, e.g. 90s or 5m", f.limit)
	}
	if err := b.Set(f.filter); err != nil {
		return nil, usageErrorf("--break: %w", err)
	}
	return b, nil
}

// Filter returns the text of the filter, or "" if there is none.
func (b *breakpoint) Filter() string {
	if f := b.wanted.Load(); f != nil {
		return f.String()
	}
	return ""
}

// Set sets the filter. The filter applies to the responses of later requests.
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

// Holds returns the held responses.
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

// maxNextBytes is the maximum number of bytes of a held event that the screen shows.
const maxNextBytes = 4 << 10

// Resume resumes the held response of an exchange, or cuts its connection.
func (b *breakpoint) Resume(exchange int, how modes.ResumeMode) {
	b.proxy.ResumeHeld(exchange, [...]proxy.Resume{modes.ResumeUntilMatch: proxy.GoOn, modes.ResumeOneEvent: proxy.Step, modes.CutConnection: proxy.CutOff}[how])
}

// newWatch returns a watch for one response, or nil if there is no filter.
func (b *breakpoint) newWatch() proxy.Watch {
	f := b.wanted.Load()
	if f == nil {
		return nil
	}
	w := &breakWatch{point: b, filter: f, met: map[stream.Ref]bool{}, looked: filter.SearchProgress{}, began: time.Now()}
	w.in.Keep(providers.Retention{Bytes: maxWatchedBytes, ReadOnce: true, Rows: 16}) // limited, because a WebSocket can stay open for hours
	return w
}

// maxWatchedBytes is the maximum number of bytes of ended turns that a watch keeps.
const maxWatchedBytes = 1 << 20

// breakWatch decodes one exchange before its client receives it, and reports the calls that match.
type breakWatch struct {
	point  *breakpoint
	filter *filter.Filter
	began  time.Time

	mu     sync.Mutex // the request may still be in progress when the response arrives
	in     providers.Inspector
	number int
	closed int                 // all turns below this index have ended
	met    map[stream.Ref]bool // calls for which the response has already been held
	looked filter.SearchProgress
}

// See receives a record that is not part of the response body.
func (w *breakWatch) See(r capture.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.number = r.Exchange
	w.in.Write(coreRecord(r))
}

// Look receives an event. If a call matches for the first time, Look returns a reason to hold the event. Otherwise it
// returns "", and the event is not held.
func (w *breakWatch) Look(event []byte) (why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := time.Since(w.began)
	w.in.Write(stream.Record{Exchange: w.number, At: at, Data: event})
	cost := func(t *stream.Turn) price.Figure { return present.CostOf(w.point.prices, w.in.Exchange(t.Exchange), t) }
	from := filter.Source{View: w.in.View(), Cost: cost, Now: at, Progress: w.looked}
	session := from.View.Session()
	for _, t := range session.Turns[max(0, w.closed-session.TrimmedTurns()):] {
		for _, c := range t.Calls {
			if !w.met[c.Ref()] && w.filter.MatchesCall(&from, t, c) {
				w.met[c.Ref()] = true
				why = w.point.clean(fmt.Sprintf("%s, %s, matches %s", c.Name, c.Status(), w.filter))
			}
		}
		if t.Closed() && w.closed == int(t.Number) {
			w.closed++
		}
	}
	w.in.MakeRoom()
	return why
}

// faultFlags are the flags for faults that are injected into responses.
type faultFlags struct{ faults []string }

func (f *faultFlags) add(to *pflag.FlagSet) {
	to.StringArrayVar(&f.faults, "fault", nil, "")
}

// parse returns the faults that the flags name.
func (f *faultFlags) parse() ([]fault.Fault, error) {
	faults, err := fault.ParseFaults(f.faults...)
	if err != nil {
		return nil, usageErrorf("--fault: %w", err)
	}
	return faults, nil
}

// announceFaults prints the injected faults and shows them on the screen.
func (f *faultFlags) announceFaults(l *liveInput, a *app) {
	if len(f.faults) > 0 {
		l.faults = strings.Join(f.faults, " ")
		a.printNote("toolscope injects faults into the responses: --fault %s", strings.Join(f.faults, " --fault "))
	}
}
