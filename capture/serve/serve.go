// Package serve is the mock provider: an http.Handler that answers like the provider whose
// responses were captured, and, where it is asked to, like one that fails.
//
//	capture.Source ─▶ Read ─▶ Exchange ─▶ choose ─▶ bend.Bender ─▶ pieces, each flushed
//
// Words. An [Exchange] is one recorded request and its response. It is bare when its source shows
// no request, as with a body that curl -N saved.
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
	"math"
	"net/http"
	"sync"
	"time"

	"toolscope/capture/bend"
)

// Options says what is served, and how.
type Options struct {
	Exchanges []Exchange
	Speed     float64      // how many times as fast as recorded; 0 is at once
	Faults    []bend.Fault // from [bend.ParseFaults]

	// Decode, if set, undoes the codings that a header names. Without it, what is coded is served so,
	// and nothing is known of requests that are.
	Decode func(h http.Header, coded []byte) ([]byte, error)

	// Answering, if set, is told of every request before its answer begins. Unfit, if set, is told
	// once of every fault that changes nothing about an exchange, and why. Both may be called from
	// several goroutines.
	Answering func(Answer)
	Unfit     func(f bend.Fault, x *Exchange, why string)
}

// Answer is what a request gets.
type Answer struct {
	Method, Path string    // of the request
	Status       int       // of the answer
	Exchange     *Exchange // that answers; nil when none fits
	Again        bool      // all that fit were used, so one of them answers again
	Fault        string    // the fault that answers in place of the exchange
}

// Provider answers requests from recorded exchanges. A request gets the one whose request is most
// like it: by path, then by model and tools and how long the conversation is. Among those that are
// equally alike each is used once, in the order of the recording; then they answer again.
type Provider struct {
	options Options
	faults  *bend.Set
	mu      sync.Mutex
	entries []*entry
}

// who answers in the provider's place.
const who = "toolscope serve"

// New makes a provider.
func New(o Options) *Provider {
	p := &Provider{options: o, faults: bend.NewSet(o.Faults)}
	for i := range o.Exchanges {
		x := &o.Exchanges[i]
		p.entries = append(p.entries, &entry{Exchange: x, asked: readAsked(x.Asked), unfit: map[string]bool{}})
	}
	return p
}

// ServeHTTP answers one request. It breaks the connection where the recorded one broke or a fault
// says so, which net/http has a panic for.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked := p.read(r)
	e, again := p.choose(r, &asked, false)
	refusal := p.refusal(r, e != nil)
	if e != nil && refusal == nil && !e.Socket {
		e, again = p.choose(r, &asked, true)
	}
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
		a.Status, a.Fault, a.Again = refusal.Status(), refusal.String(), false
		answer = func() { refusal.Refuse(w, who, r.URL.Path, e.bare()) }
	case e.Socket:
		a.Again = false
		answer = func() { p.talk(w, r, e) }
	}
	p.tell(a)
	answer()
}

func (p *Provider) tell(a Answer) {
	if p.options.Answering != nil {
		p.options.Answering(a)
	}
}

// bare is how the body begins, where that alone tells whose it is.
func (x *Exchange) bare() []byte {
	if x.URL != "" {
		return nil
	}
	return x.start()
}

// play sends the body of an exchange, as bent by the faults.
func (p *Provider) play(w http.ResponseWriter, r *http.Request, e *entry) {
	began := time.Now()
	var faults []bend.Fault
	if !bend.IsAside(r) && e.status() < http.StatusBadRequest {
		faults = p.faults.ForNext()
	}
	x := p.decoded(r, e.Exchange, len(faults) > 0)
	b := bend.New(faults, http.Header{}, x.encoded())
	list := p.bent(e, b, x.Chunks)
	until := func(after time.Duration) bool { return bend.Sleep(r.Context(), time.Until(began.Add(p.scaled(after)))) }
	if !until(x.HeadAfter) || x.silent() {
		panic(http.ErrAbortHandler)
	}
	copyHeader(w.Header(), x)
	w.WriteHeader(x.status())
	flush := http.NewResponseController(w).Flush
	_ = flush()
	if !p.pieces(r.Context(), began, list, func(data []byte) error {
		_, err := w.Write(data)
		_ = flush()
		return err
	}) {
		return
	}
	if b.BreaksHere() {
		panic(http.ErrAbortHandler)
	}
	if began = began.Add(pauses(list)); !until(x.EndAfter) {
		return
	}
	if x.Cut {
		panic(http.ErrAbortHandler)
	}
}

// bent is what a bender makes of chunks; a fault that does nothing to them is told.
func (p *Provider) bent(e *entry, b *bend.Injector, chunks []Chunk) []bend.OutChunk {
	var list []bend.OutChunk
	for _, c := range chunks {
		list = append(list, b.Write(c.Data, c.After)...)
	}
	last, unfit := b.Close()
	for _, u := range unfit {
		p.faults.GiveBack(u.Fault)
		p.unfit(e, u.Fault, u.Why)
	}
	return b.Joined(append(list, last...))
}

// pieces writes each piece when it is time to; it reports false when the client is gone.
func (p *Provider) pieces(ctx context.Context, began time.Time, list []bend.OutChunk, write func([]byte) error) bool {
	for _, next := range list {
		if !bend.Sleep(ctx, next.Pause) {
			return false
		}
		began = began.Add(next.Pause)
		if !bend.Sleep(ctx, time.Until(began.Add(p.scaled(next.After)))) || write(next.Data) != nil {
			return false
		}
	}
	return true
}

// pauses is how much later a body ends because of them.
func pauses(list []bend.OutChunk) (sum time.Duration) {
	for _, p := range list {
		sum += p.Pause
	}
	return sum
}

func (p *Provider) unfit(e *entry, f bend.Fault, why string) {
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
