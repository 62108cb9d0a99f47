package redact

import (
	"bytes"
	"strings"
	"testing"

	"toolscope/capture"
)

// openingEvents returns events that begin alike. Some of these beginnings contain a secret. In other events, earlier
// text makes the following text a secret.
func openingEvents() (events []string) {
	value, word := sample("{32}"), sample("{15}")
	kinds := []string{
		`event: d
data: {"id":"` + value + `","delta":{"text":"a"}}`, `data: {"delta":{"text":"b"}}`, `data: {"token":"` + value + `","delta":{"text":"c"}}`,
		`data: {"list":[{"index":1},"AKI","` + value + `",{"index":1,"delta":"d"}]}`, `data: {"index":2,"delta":{"text":"e sk-ant-"}}`,
		`data: api_key= {"index":2,"delta":"` + value + `"}`, "id: 1 password: ", `data: {` + "\n" + `"delta":"f"}`, `data: {"delta":[token="` + word + `\" "]}`,
		`data: the password ` + word + ` {"delta":"g"}`, `data: machine h`, `data: the password ` + word + ` {"delta":"h"}`,
	}
	for i, kind := range kinds {
		for range 2 * tailSize / 3 {
			events = append(events, kind+"\n\n")
		}
		events = append(events, kinds[0]+"\n\n", kind+"\n\n", kinds[(i+3)%len(kinds)]+"\n\n", kind+"\n\n")
	}
	return append(events, events...)
}

// TestOpenings checks that events with a known beginning have the same output whether or not the beginnings are
// cached. To avoid the cache, each beginning is cut into several records. The outputs must also agree if a value
// becomes known between the events.
func TestOpenings(t *testing.T) {
	events := openingEvents()
	said := func(size int) (out []string) {
		r := redactor()
		for i, event := range events {
			if i == len(events)/2+tailSize/2 {
				r.Learn(sample("{32}"), "late")
			}
			var said strings.Builder
			for at := 0; at < len(event); at += size {
				for _, rec := range take(r, capture.Record{Exchange: 1, Data: []byte(event[at:min(len(event), at+size)])}) {
					said.Write(rec.Data)
				}
			}
			out = append(out, said.String())
		}
		return out
	}
	want := said(5)
	for i, got := range said(1 << 10) {
		if got != want[i] {
			t.Fatalf("event %d is %q, want %q", i, got, want[i])
		}
	}
	all := strings.Join(want, "")
	if late, netrc := strings.Count(all, "[redacted:late:"), strings.Count(all, "the password [redacted:password:"); late < 100 || netrc < 2 || netrc > 20 {
		t.Errorf("a value that became known was found %d times, and a password behind a machine %d times", late, netrc)
	}
}

// TestOpeningIsKnown checks that a beginning is skipped if it has occurred before, unless a value has become known
// since.
func TestOpeningIsKnown(t *testing.T) {
	event := []byte("event: d\ndata: {\"index\":1,\"delta\":{\"text\":\"some words\"}}\n\n")
	r := redactor()
	s := newTextRedactor(r)
	for range tailSize {
		s.write(bytes.Clone(event))
	}
	r.Learn(sample("{30}"), "other")
	if n := s.lex.skipPrefix(event, s.pos); n > 0 {
		t.Errorf("%d bytes were passed over, and a value is new", n)
	}
	s.write(bytes.Clone(event))
	if n := s.lex.skipPrefix(event, s.pos); n != bytes.Index(event, []byte("some")) || !s.lex.inString {
		t.Errorf("%d bytes were passed over, in a string: %v", n, s.lex.inString)
	}
}
