package tunnel

import (
	"mime"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"toolscope/capture"
)

// Filter passes on the records of requests to models, and counts the other requests to decrypted hosts. A client sends its
// telemetry and its settings to the same hosts.
//
// The path of a request decides, if it is known. Otherwise the records wait for the head of the response: an exchange is
// passed on if its response is a stream, or if its request is a request to a model.
type Filter struct {
	rules FilterRules
	next  func(capture.Record)

	mu      sync.Mutex
	waiting map[int]*waitingExchange
	dropped map[int]bool // exchanges that have not ended yet
	counts  map[string]RequestCount
}

// FilterRules say which requests are passed on.
type FilterRules struct {
	All         bool                                 // every request
	Hosts       []string                             // every request to these hosts
	IsKnown     func(method string, u *url.URL) bool // reports whether the path is that of a request to a model
	IsRequestTo func(body []byte) bool               // reports whether a body is a request to a model
}

// RequestCount counts the requests to a host.
type RequestCount struct{ Passed, Dropped int }

// waitingExchange is an exchange that is neither passed on nor dropped yet.
type waitingExchange struct {
	host    string
	records []capture.Record
	body    []byte
}

// maxWaiting is the maximum size of a request that waits. A larger one is passed on.
const maxWaiting = 1 << 20

// NewFilter returns a filter that passes records to next, in the order of each exchange.
func NewFilter(rules FilterRules, next func(capture.Record)) *Filter {
	return &Filter{rules: rules, next: next, waiting: map[int]*waitingExchange{}, dropped: map[int]bool{}, counts: map[string]RequestCount{}}
}

// Count returns the number of requests to a host so far.
func (f *Filter) Count(host string) RequestCount {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[host]
}

// Put takes the next record of an exchange.
func (f *Filter) Put(r capture.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch w := f.waiting[r.Exchange]; {
	case f.dropped[r.Exchange]:
		if r.End != "" {
			delete(f.dropped, r.Exchange)
		}
	case w != nil:
		f.addWaiting(w, r)
	case r.Side == capture.Request && r.Head != nil:
		u, err := url.Parse(r.Head.URL)
		if err != nil || f.rules.All || slices.Contains(f.rules.Hosts, u.Hostname()) || f.rules.IsKnown(r.Head.Method, u) {
			f.passOn(hostOf(u), r)
			return
		}
		f.waiting[r.Exchange] = &waitingExchange{host: u.Hostname(), records: []capture.Record{r}}
	default:
		f.next(r)
	}
}

func hostOf(u *url.URL) string {
	if u == nil {
		return ""
	}
	return u.Hostname()
}

// addWaiting adds a record to an exchange that waits, and decides about the exchange if possible.
func (f *Filter) addWaiting(w *waitingExchange, r capture.Record) {
	w.records = append(w.records, r)
	if r.Side == capture.Request {
		w.body = append(w.body, r.Data...)
	}
	answered := r.Side == capture.Response && r.Head != nil
	switch {
	case len(w.body) > maxWaiting, answered && (isStream(r.Head) || f.rules.IsRequestTo(w.body)):
		delete(f.waiting, r.Exchange)
		f.passOn(w.host, w.records...)
	case answered || r.End != "":
		delete(f.waiting, r.Exchange)
		if r.End == "" {
			f.dropped[r.Exchange] = true
		}
		n := f.counts[w.host]
		n.Dropped++
		f.counts[w.host] = n
	}
}

// passOn passes on the first records of an exchange.
func (f *Filter) passOn(host string, records ...capture.Record) {
	n := f.counts[host]
	n.Passed++
	f.counts[host] = n
	for _, r := range records {
		f.next(r)
	}
}

// isStream reports whether a response is a stream of events.
func isStream(h *capture.Head) bool {
	kind, _, _ := mime.ParseMediaType(h.Header.Get("Content-Type"))
	return h.Status == http.StatusSwitchingProtocols ||
		slices.Contains([]string{"text/event-stream", "application/x-ndjson", "application/vnd.amazon.eventstream"}, kind)
}
