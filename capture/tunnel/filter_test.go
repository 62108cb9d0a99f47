package tunnel

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"toolscope/capture"
)

// newQuietFilter returns a filter that recognises no path or body as a request to a model, and the number of records
// that it passed on.
func newQuietFilter() (f *Filter, passed *int) {
	passed = new(int)
	rules := FilterRules{
		IsKnown:     func(string, *url.URL) bool { return false },
		IsRequestTo: func([]byte) bool { return false },
	}
	return NewFilter(rules, func(capture.Record) { *passed++ }), passed
}

// requestTo returns the first record of a request to a host.
func requestTo(exchange int, host string) capture.Record {
	head := &capture.Head{Method: "POST", URL: "https://" + host + "/x", Header: http.Header{}}
	return capture.Record{Exchange: exchange, Side: capture.Request, Head: head}
}

// TestFilterMemory checks that waiting requests are passed on if one of them, or all of them together, are too large,
// and that the filter keeps nothing about an exchange that has ended.
func TestFilterMemory(t *testing.T) {
	body := func(exchange, n int) capture.Record {
		return capture.Record{Exchange: exchange, Side: capture.Request, Data: make([]byte, n)}
	}
	f, passed := newQuietFilter()
	f.Put(requestTo(1, "a"))
	f.Put(body(1, maxWaiting))
	if *passed != 0 || f.bytes != maxWaiting {
		t.Errorf("at the limit: %d records are passed on, %d bytes wait", *passed, f.bytes)
	}
	f.Put(body(1, 1))
	if *passed != 3 || f.bytes != 0 || len(f.waiting) != 0 {
		t.Errorf("above the limit: %d records are passed on, %d bytes wait", *passed, f.bytes)
	}

	f, passed = newQuietFilter()
	for x := 1; x <= maxAllWaiting/maxWaiting; x++ {
		f.Put(requestTo(x, "a"))
		f.Put(body(x, maxWaiting))
	}
	if *passed != 0 {
		t.Errorf("at the limit of all: %d records are passed on", *passed)
	}
	f.Put(requestTo(99, "a"))
	f.Put(body(99, 1))
	if *passed != 2 || f.bytes != maxAllWaiting {
		t.Errorf("above the limit of all: %d records are passed on, %d bytes wait", *passed, f.bytes)
	}

	f, passed = newQuietFilter()
	f.Put(requestTo(1, "a"))
	f.Put(capture.Record{Exchange: 1, Head: &capture.Head{Status: 200, Header: http.Header{}}})
	f.Put(capture.Record{Exchange: 1, Data: []byte("x")})
	if *passed != 0 || len(f.dropped) != 1 {
		t.Errorf("%d records are passed on, %d exchanges are dropped", *passed, len(f.dropped))
	}
	f.Put(capture.Record{Exchange: 1, End: capture.EndEOF})
	if *passed != 0 || len(f.dropped)+len(f.waiting)+f.bytes != 0 {
		t.Errorf("after the end: %d records are passed on, %v", *passed, f.dropped)
	}
}

// TestFilterHosts checks that the requests of only a limited number of hosts are counted by host.
func TestFilterHosts(t *testing.T) {
	f, _ := newQuietFilter()
	for x := 1; x <= maxHosts+2; x++ {
		f.countRequest(fmt.Sprint("host", x), RequestCount{Passed: 1})
	}
	f.countRequest("host1", RequestCount{Dropped: 1})
	last, others := fmt.Sprint("host", maxHosts), f.Count(otherHosts)
	if f.Count("host1") != (RequestCount{1, 1}) || f.Count(last).Passed != 1 || others != (RequestCount{Passed: 2}) {
		t.Errorf("%v, %v, %v", f.Count("host1"), f.Count(last), others)
	}
}

// TestLongName checks the maximum length of a host's name, which is 253 (RFC 1035, without the last dot).
func TestLongName(t *testing.T) {
	for n, want := range map[int]bool{253: true, 254: false} {
		if isName(strings.Repeat("a", n)) != want {
			t.Errorf("%d characters: %v", n, !want)
		}
	}
}

// TestCompressedRequest checks that a compressed body, however short, counts as a request to a model.
func TestCompressedRequest(t *testing.T) {
	for body, want := range map[string]bool{"": false, "x": true} {
		first := requestTo(1, "a")
		first.Head.Header.Set("Content-Encoding", "gzip")
		first.Data = []byte(body)
		w := &waitingExchange{host: "a", records: []capture.Record{first}}
		if got := w.isModelRequest(FilterRules{IsRequestTo: func([]byte) bool { return false }}); got != want {
			t.Errorf("body %q: %t", body, got)
		}
	}
}
