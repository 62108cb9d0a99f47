// Package mock is the mock provider: an http.Handler that answers with captured responses and, if
// asked, injects faults.
//
//	capture.Source ─▶ Read ─▶ Exchange ─▶ choose ─▶ fault.Injector ─▶ output chunks, each flushed
//
// Terms. An [Exchange] is one recorded request and its response. A bare exchange has no request, such
// as a body that curl -N saved.
//
// What always holds:
//   - Without faults, the bytes of a body are sent as recorded, chunk by chunk, and a response that
//     was cut off is cut off again.
//   - Nothing is random: the same requests in the same order get the same responses.
//   - Captures are not trusted: none of them makes the handler panic, except to break a connection.
package mock

import (
	"context"
	"math"
	"net/http"
	"sync"
	"time"

	"toolscope/capture/fault"
)

// Options holds the exchanges to serve, and the settings.
type Options struct {
	Exchanges []Exchange
	Speed     float64       // multiple of the recorded speed; 0 sends at once
	Faults    []fault.Fault // from [fault.ParseFaults]

	// Decode, if set, undoes the codings that a header names. Without it, encoded responses are served
	// encoded, and encoded requests are matched by path only.
	Decode func(h http.Header, coded []byte) ([]byte, error)

	// OnResponse, if set, is called for every request before its response begins. OnUnusedFault, if
	// set, is called once for each fault that changes nothing in an exchange. Both may be called from
	// several goroutines.
	OnResponse    func(Response)
	OnUnusedFault func(f fault.Fault, x *Exchange, why string)
}

// Response describes the response to a request.
type Response struct {
	Method, Path string    // of the request
	Status       int       // of the response
	Exchange     *Exchange // the exchange that is sent; nil if none fits
	Reused       bool      // all exchanges that fit were used, so one is sent again
	Fault        string    // the fault that is sent instead of the exchange
}

// Provider answers requests from recorded exchanges. It chooses the exchange whose request is most
// similar: by path, then by model, tools and length of the conversation. Equally similar exchanges are
// used once each, in the order of the capture; then they are used again.
type Provider struct {
	options Options
	faults  *fault.Set
	mu      sync.Mutex
	entries []*servedExchange
}

// who names this server in error messages.
const who = "toolscope serve"

// New returns a provider.
func New(o Options) *Provider {
	p := &Provider{options: o, faults: fault.NewSet(o.Faults)}
	for i := range o.Exchanges {
		x := &o.Exchanges[i]
		p.entries = append(p.entries, &servedExchange{Exchange: x, asked: readAsked(x.Asked), unfit: map[string]bool{}})
	}
	return p
}

// ServeHTTP answers one request. To break the connection, as the recorded one broke or for a fault,
// it panics with http.ErrAbortHandler.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked := p.readRequest(r)
	e, again := p.chooseExchange(r, &asked, false)
	refusal := p.refusalFault(r, e != nil)
	if e != nil && refusal == nil && !e.Socket {
		e, again = p.chooseExchange(r, &asked, true)
	}
	a := Response{Method: r.Method, Path: r.URL.Path, Status: http.StatusOK, Reused: again}
	if e != nil {
		a.Exchange, a.Status = e.Exchange, e.statusCode()
	}
	answer := func() { p.writeBody(w, r, e) }
	switch {
	case e == nil && r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		answer = func() { p.listExchanges(w) }
	case e == nil:
		a.Status = http.StatusNotFound
		answer = func() { p.notFound(w, r) }
	case refusal != nil:
		a.Status, a.Fault, a.Reused = refusal.Status(), refusal.String(), false
		answer = func() { refusal.Refuse(w, who, r.URL.Path, e.bareStart()) }
	case e.Socket:
		a.Reused = false
		answer = func() { p.serveSocket(w, r, e) }
	}
	p.reportResponse(a)
	answer()
}

func (p *Provider) reportResponse(a Response) {
	if p.options.OnResponse != nil {
		p.options.OnResponse(a)
	}
}

// bareStart returns the beginning of a bare body, which is all that shows its provider, else nil.
func (x *Exchange) bareStart() []byte {
	if x.URL != "" {
		return nil
	}
	return x.startBytes()
}

// writeBody sends the body of an exchange, with the faults injected.
func (p *Provider) writeBody(w http.ResponseWriter, r *http.Request, e *servedExchange) {
	began := time.Now()
	var faults []fault.Fault
	if !fault.IsAside(r) && e.statusCode() < http.StatusBadRequest {
		faults = p.faults.ForNext()
	}
	x := p.decodeExchange(r, e.Exchange, len(faults) > 0)
	b := fault.New(faults, http.Header{}, x.isEncoded())
	list := p.injectFaults(e, b, x.Chunks)
	until := func(after time.Duration) bool {
		return fault.Sleep(r.Context(), time.Until(began.Add(p.atSpeed(after))))
	}
	if !until(x.HeadAfter) || x.isUnanswered() {
		panic(http.ErrAbortHandler)
	}
	copyHeader(w.Header(), x)
	w.WriteHeader(x.statusCode())
	flush := http.NewResponseController(w).Flush
	_ = flush()
	if !p.writeChunks(r.Context(), began, list, func(data []byte) error {
		_, err := w.Write(data)
		_ = flush()
		return err
	}) {
		return
	}
	if b.BreaksHere() {
		panic(http.ErrAbortHandler)
	}
	if began = began.Add(totalPauses(list)); !until(x.EndAfter) {
		return
	}
	if x.Cut {
		panic(http.ErrAbortHandler)
	}
}

// injectFaults injects the faults into chunks, and reports faults that change nothing.
func (p *Provider) injectFaults(e *servedExchange, b *fault.Injector, chunks []Chunk) []fault.OutChunk {
	var list []fault.OutChunk
	for _, c := range chunks {
		list = append(list, b.Write(c.Data, c.After)...)
	}
	last, unfit := b.Close()
	for _, u := range unfit {
		p.faults.GiveBack(u.Fault)
		p.reportUnused(e, u.Fault, u.Why)
	}
	return b.Joined(append(list, last...))
}

// writeChunks writes each output chunk at its time. It reports false if the client is gone.
func (p *Provider) writeChunks(ctx context.Context, began time.Time, list []fault.OutChunk, write func([]byte) error) bool {
	for _, next := range list {
		if !fault.Sleep(ctx, next.Pause) {
			return false
		}
		began = began.Add(next.Pause)
		if !fault.Sleep(ctx, time.Until(began.Add(p.atSpeed(next.After)))) || write(next.Data) != nil {
			return false
		}
	}
	return true
}

// totalPauses returns by how much the pauses delay the end of a body.
func totalPauses(list []fault.OutChunk) (sum time.Duration) {
	for _, p := range list {
		sum += p.Pause
	}
	return sum
}

func (p *Provider) reportUnused(e *servedExchange, f fault.Fault, why string) {
	p.mu.Lock()
	said := e.unfit[f.String()]
	e.unfit[f.String()] = true
	p.mu.Unlock()
	if !said && p.options.OnUnusedFault != nil {
		p.options.OnUnusedFault(f, e.Exchange, why)
	}
}

// atSpeed converts a recorded time to the provider's speed.
func (p *Provider) atSpeed(after time.Duration) time.Duration {
	if p.options.Speed <= 0 {
		return 0
	}
	return time.Duration(min(float64(after)/p.options.Speed, math.MaxInt64/4))
}
