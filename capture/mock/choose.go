package mock

import (
	"bytes"
	"cmp"
	"io"
	"math"
	"net/http"
	"strings"

	"toolscope/capture/fault"
	"toolscope/capture/websocket"
)

// servedExchange is an exchange with the state of serving it.
type servedExchange struct {
	*Exchange
	asked requestFacts
	used  bool
	unfit map[string]bool // faults already reported as unused for it
}

// likeness is how well an exchange fits a request. The first field that differs decides.
type likeness struct {
	entry         *servedExchange
	path, alike   int
	shared        float64
	unused, query int
}

// nearly is the largest difference between two overlaps that count as equal.
const nearly = 0.005

// compare orders likenesses, the worse fit first.
func (f likeness) compare(g likeness) int {
	order := cmp.Or(cmp.Compare(f.path, g.path), cmp.Compare(f.alike, g.alike))
	if order == 0 && math.Abs(f.shared-g.shared) > nearly {
		order = cmp.Compare(f.shared, g.shared)
	}
	return cmp.Or(order, cmp.Compare(f.unused, g.unused), cmp.Compare(f.query, g.query), cmp.Compare(f.shared, g.shared))
}

// chooseExchange finds the exchange that answers a request. again reports whether it was used before.
// It counts as used now only if use is set.
func (p *Provider) chooseExchange(r *http.Request, a *requestFacts, use bool) (found *servedExchange, again bool) {
	socket := websocket.IsRequest(r)
	return p.chooseAmong(func(e *servedExchange) int {
		switch fit := e.pathFit(r.Method, r.URL); {
		case e.Socket && !socket:
			return 0
		case socket && !e.Socket: // the provider refused to open a WebSocket there
			return min(fit, fitsBare)
		default:
			return fit
		}
	}, r.URL.RawQuery, a, use)
}

// chooseAmong chooses among the exchanges whose path fits; fits returns 0 for the others.
func (p *Provider) chooseAmong(fits func(*servedExchange) int, query string, a *requestFacts, use bool) (found *servedExchange, again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var best likeness
	for _, e := range p.entries {
		f := likeness{entry: e, path: fits(e)}
		if f.path == 0 {
			continue
		}
		if f.alike = e.asked.matchScore(a); f.alike > 0 {
			f.shared = e.asked.overlapWith(a)
		}
		if !e.used {
			f.unused = 1
		}
		if e.Query() == query {
			f.query = 1
		}
		if order := f.compare(best); best.entry == nil || order > 0 || order == 0 && e.used {
			best = f
		}
	}
	if best.entry == nil {
		return nil, false
	}
	again = best.entry.used
	best.entry.used = again || use
	return best.entry, again
}

// readRequest returns the facts of a request, after it undoes the coding of the body.
func (p *Provider) readRequest(r *http.Request) requestFacts {
	coded, _ := io.ReadAll(r.Body) // net/http notices that the client goes away only after the body's end
	return readAsked(p.decodeBody(r.Header, coded))
}

// decodeBody undoes the coding that the header names, if it can, else returns the body unchanged.
func (p *Provider) decodeBody(h http.Header, coded []byte) []byte {
	if h.Get("Content-Encoding") == "" || p.options.Decode == nil || bytes.HasPrefix(coded, []byte("{")) {
		return coded
	}
	if body, err := p.options.Decode(h, coded); err == nil {
		return body
	}
	return coded
}

// decodeExchange returns the exchange to send. It undoes the coding, if it can, when faults need to see
// the bytes or the client doesn't accept the coding.
func (p *Provider) decodeExchange(r *http.Request, x *Exchange, bending bool) *Exchange {
	coding := x.Header.Get("Content-Encoding")
	if !x.isEncoded() || p.options.Decode == nil || !bending && acceptsCoding(r.Header, coding) {
		return x
	}
	body, err := p.options.Decode(x.Header, x.Body())
	if err != nil {
		return x
	}
	plain := *x
	plain.Header = x.Header.Clone()
	plain.Header.Del("Content-Encoding")
	plain.Chunks = []Chunk{{x.Chunks[0].After, body}}
	return &plain
}

// acceptsCoding reports whether the client's headers accept a coding.
func acceptsCoding(h http.Header, coding string) bool {
	for _, value := range h.Values("Accept-Encoding") {
		for one := range strings.SplitSeq(value, ",") {
			name, weight, _ := strings.Cut(strings.TrimSpace(one), ";")
			if (strings.EqualFold(name, coding) || name == "*") && strings.TrimSpace(weight) != "q=0" {
				return true
			}
		}
	}
	return false
}

// refusalFault returns the status fault that answers this request, or nil. Requests that no exchange
// fits, or that no model answers, are not counted.
func (p *Provider) refusalFault(r *http.Request, fits bool) *fault.Fault {
	if !fits || fault.IsAside(r) {
		return nil
	}
	return p.faults.Refusal()
}
