package tunnel

import (
	"mime"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"toolscope/capture"
)

// Filter passes on the records of requests to models, and counts the other requests to decrypted hosts. A client sends
// its telemetry and its settings to the same hosts.
//
// The path of a request decides, if it is known. Otherwise the records wait for the head of the response, or for the
// end of the exchange. Then an exchange is passed on in four cases: the response is a stream, the request is to a
// model, the request is compressed, or toolscope itself answered.
type Filter struct {
	rules FilterRules
	next  func(capture.Record)

	mu      sync.Mutex
	waiting map[int]*waitingExchange
	dropped map[int]bool // dropped exchanges that have not ended yet
	bytes   int          // size of all waiting exchanges
	counts  map[string]RequestCount
}

// FilterRules say which requests are passed on.
type FilterRules struct {
	All         bool                                 // every request
	Hosts       []string                             // every request to these hosts is passed on
	IsKnown     func(method string, u *url.URL) bool // reports whether the path is that of a request to a model
	IsRequestTo func(body []byte) bool               // reports whether a body is a request to a model
}

// RequestCount counts the requests to a host.
type RequestCount struct{ Passed, Dropped int }

// waitingExchange is an exchange that is neither passed on nor dropped yet.
type waitingExchange struct {
	host    string
	records []capture.Record
	bytes   int
}

// These are the maximum sizes of one waiting request, and of all waiting requests. Beyond these sizes, a request is
// passed on.
const (
	maxWaiting    = 1 << 20
	maxAllWaiting = 32 << 20
)

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
	w.bytes += len(r.Data)
	f.bytes += len(r.Data)
	answered := r.Side == capture.Response && r.Head != nil
	over := answered || r.End != ""
	tooLarge := w.bytes > maxWaiting || f.bytes > maxAllWaiting
	if !over && !tooLarge {
		return
	}
	delete(f.waiting, r.Exchange)
	f.bytes -= w.bytes
	switch {
	case tooLarge, answered && (isStream(r.Head) || r.By == capture.Toolscope), w.isModelRequest(f.rules):
		f.passOn(w.host, w.records...)
	default:
		if r.End == "" {
			f.dropped[r.Exchange] = true
		}
		f.countRequest(w.host, RequestCount{Dropped: 1})
	}
}

// countRequest adds a request to the counts. A client can name any host, so the number of hosts is limited.
func (f *Filter) countRequest(host string, more RequestCount) {
	n, ok := f.counts[host]
	if !ok && len(f.counts) >= maxHosts {
		host = otherHosts
		n = f.counts[host]
	}
	f.counts[host] = RequestCount{n.Passed + more.Passed, n.Dropped + more.Dropped}
}

// isModelRequest reports whether the request is one to a model. A compressed body counts as one.
func (w *waitingExchange) isModelRequest(rules FilterRules) bool {
	var body []byte
	for _, r := range w.records {
		if r.Side == capture.Request {
			body = append(body, r.Data...)
		}
	}
	return len(body) > 0 && (w.records[0].Head.Header.Get("Content-Encoding") != "" || rules.IsRequestTo(body))
}

// passOn passes on the first records of an exchange.
func (f *Filter) passOn(host string, records ...capture.Record) {
	f.countRequest(host, RequestCount{Passed: 1})
	for _, r := range records {
		f.next(r)
	}
}

// isStream reports whether a response is a stream of events, or switches to another protocol.
func isStream(h *capture.Head) bool {
	kind, _, _ := mime.ParseMediaType(h.Header.Get("Content-Type"))
	return h.Status == http.StatusSwitchingProtocols ||
		slices.Contains([]string{"text/event-stream", "application/x-ndjson", "application/vnd.amazon.eventstream"}, kind)
}
