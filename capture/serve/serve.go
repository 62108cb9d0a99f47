// Package serve is the mock provider: an http.Handler that answers like the provider whose
// responses were captured, and, where it is asked to, like one that fails.
//
//	capture.Source ─▶ Read ─▶ Exchange ─▶ choose ─▶ script ─▶ faults ─▶ writes, each flushed
//
// Words. An [Exchange] is one recorded request and its response. It is bare when its source shows
// no request, as with a body that curl -N saved. A script is what is going to be sent: a response
// cut into events. A [Fault] bends a script.
//
// What always holds:
//   - Without faults, the bytes of a body are sent as they were recorded, chunk by chunk, and a
//     response that was cut off is cut off again.
//   - Nothing is random: the same requests in the same order get the same answers.
//   - Captures are not trusted: none of them makes the handler panic, other than to break a
//     connection.
package serve

import (
	"context"
	"io"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Options says what is served, and how.
type Options struct {
	Exchanges []Exchange
	Speed     float64 // how many times as fast as recorded; 0 is at once
	Faults    []Fault // from [ParseFaults]

	// Answering, if set, is told of every request before its answer begins. Unfit, if set, is told
	// once of every fault that changes nothing about an exchange, and why. Both may be called from
	// several goroutines.
	Answering func(Answer)
	Unfit     func(f Fault, x *Exchange, why string)
}

// Answer is what a request gets.
type Answer struct {
	Method, Path string    // of the request
	Status       int       // of the answer
	Exchange     *Exchange // that answers; nil when none fits
	Again        bool      // all that fit were used, so the last one answers again
	Fault        string    // the fault that answers in place of the exchange
}

// Provider answers requests from recorded exchanges. Each of them is used once, in the order of the
// recording; when all that fit a request were used, the last one answers again.
type Provider struct {
	options Options
	mu      sync.Mutex
	entries []*entry
	refused int // requests answered by a status fault
}

// entry is an exchange and what became of it.
type entry struct {
	*Exchange
	used  bool
	unfit map[string]bool // faults that it was said of
}

// New makes a provider.
func New(o Options) *Provider {
	o.Faults = slices.Clone(o.Faults)
	slices.SortStableFunc(o.Faults, func(a, b Fault) int { return a.order() - b.order() })
	p := &Provider{options: o}
	for i := range o.Exchanges {
		p.entries = append(p.entries, &entry{Exchange: &o.Exchanges[i], unfit: map[string]bool{}})
	}
	return p
}

// ServeHTTP answers one request. It breaks the connection where the recorded one broke or a fault
// says so, which net/http has a panic for.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // only after its end does net/http notice that the client goes away
	refusal := p.refusal(r)
	e, again := p.choose(r, refusal == nil)
	a := Answer{Method: r.Method, Path: r.URL.Path, Status: http.StatusOK, Again: again}
	if e != nil {
		a.Exchange, a.Status = e.Exchange, e.status()
	}
	answer := func() { p.play(w, r, e) }
	switch {
	case e == nil && r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		answer = func() { p.describe(w) }
	case e == nil:
		a.Status = http.StatusNotFound
		answer = func() { p.notFound(w, r) }
	case refusal != nil:
		a.Status, a.Fault, a.Again = refusal.n, refusal.String(), false
		answer = func() { refuse(w, shapeOf(r.URL.Path, e.Exchange), *refusal) }
	case e.Status >= 100 && e.Status < 200:
		a.Status = http.StatusNotImplemented
		answer = func() {
			sendError(w, a.Status, "not_implemented", "this exchange went on as another protocol, as a WebSocket does; only HTTP is served")
		}
	}
	if p.options.Answering != nil {
		p.options.Answering(a)
	}
	answer()
}

// refusal is the status fault this request is answered with, or nil. A request that nothing fits is
// not counted.
func (p *Provider) refusal(r *http.Request) *Fault {
	for i, f := range p.options.Faults {
		if f.kind.name != "status" {
			continue
		}
		if e, _ := p.choose(r, false); e == nil {
			return nil
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.refused++; f.times == 0 || p.refused <= f.times {
			return &p.options.Faults[i]
		}
	}
	return nil
}

// choose finds the exchange that answers a request, and whether it did so before. It counts as used
// only if use says so.
func (p *Provider) choose(r *http.Request, use bool) (found *entry, again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	best := 0
	for _, e := range p.entries {
		fit := e.fits(r.Method, r.URL)
		if fit == 0 {
			continue
		}
		if fit = 4 * fit; !e.used { // an unused one of the same path goes before a better query
			fit += 2
		}
		if e.Query() == r.URL.RawQuery {
			fit++
		}
		if fit > best || fit == best && e.used {
			found, best = e, fit
		}
	}
	if found == nil {
		return nil, false
	}
	again = found.used
	found.used = found.used || use
	return found, again
}

// play sends the script of an exchange, as bent by the faults.
func (p *Provider) play(w http.ResponseWriter, r *http.Request, e *entry) {
	began := time.Now()
	s := newScript(e.Exchange)
	for _, f := range p.options.Faults {
		if f.kind.bend == nil {
			continue
		}
		if why := f.kind.bend(s, f); why != "" {
			p.unfit(e, f, why)
		}
	}
	until := func(after time.Duration) bool { return wait(r.Context(), time.Until(began.Add(p.scaled(after)))) }
	if !until(e.HeadAfter) || e.silent() {
		panic(http.ErrAbortHandler)
	}
	copyHeader(w.Header(), e.Exchange)
	w.WriteHeader(e.status())
	flush := http.NewResponseController(w).Flush
	_ = flush()
	for _, next := range s.writes() {
		if !wait(r.Context(), next.pause) {
			return
		}
		began = began.Add(next.pause)
		if !until(next.after) {
			return
		}
		if _, err := w.Write(next.data); err != nil {
			return
		}
		_ = flush()
	}
	if s.whole && !until(e.EndAfter) {
		return
	}
	if s.broken {
		panic(http.ErrAbortHandler)
	}
}

func (p *Provider) unfit(e *entry, f Fault, why string) {
	p.mu.Lock()
	said := e.unfit[f.String()]
	e.unfit[f.String()] = true
	p.mu.Unlock()
	if !said && p.options.Unfit != nil {
		p.options.Unfit(f, e.Exchange, why)
	}
}

// scaled is a recorded time at the provider's speed.
func (p *Provider) scaled(after time.Duration) time.Duration {
	if p.options.Speed <= 0 {
		return 0
	}
	return time.Duration(min(float64(after)/p.options.Speed, math.MaxInt64/4))
}

// wait reports false when ctx ended first.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
