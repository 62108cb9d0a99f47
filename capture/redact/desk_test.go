package redact

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"toolscope/capture"
)

// redactor returns a redactor that has already loaded its rules.
func redactor() *Redactor {
	r := New([]byte("salt"), Options{})
	r.Learn("", "")
	return r
}

// through sends a body through a redactor in chunks of n bytes.
func through(r *Redactor, body string, n int) string {
	var out strings.Builder
	for _, rec := range records(r, body, n) {
		out.Write(rec.Data)
	}
	return out.String()
}

func records(r *Redactor, body string, n int) []capture.Record {
	out := take(r, capture.Record{Exchange: 1, Head: &capture.Head{Status: 200}})
	for len(body) > 0 {
		m := min(n, len(body))
		out = append(out, take(r, capture.Record{Exchange: 1, Data: []byte(body[:m])})...)
		body = body[m:]
	}
	return append(out, take(r, capture.Record{Exchange: 1, End: capture.EndEOF})...)
}

// body returns a request body without its secrets.
func body(r *Redactor, s string) string {
	var out strings.Builder
	for _, rec := range append(take(r, capture.Record{Exchange: 1, Side: capture.Request, Data: []byte(s)}), flushed(r)...) {
		out.Write(rec.Data)
	}
	return out.String()
}

// take returns the records that Take passes on, and flushed returns those that Flush passes on.
func take(r *Redactor, rec capture.Record) []capture.Record { return unwrapped(r.Take(rec)) }
func flushed(r *Redactor) []capture.Record                  { return unwrapped(r.Flush()) }

func unwrapped(list []Clean) (recs []capture.Record) {
	for _, c := range list {
		recs = append(recs, c.Unwrap())
	}
	return recs
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func unquoted(t *testing.T, s string) (text string) {
	t.Helper()
	if err := json.Unmarshal([]byte(s), &text); err != nil {
		t.Fatalf("%v: %s", err, s)
	}
	return text
}

// inner returns the content of the JSON string for s.
func inner(s string) string { return strings.TrimSuffix(strings.TrimPrefix(quoted(s), `"`), `"`) }

// argsSaid sends the deltas of a call's arguments in records of n bytes, and returns the redacted arguments. textSaid
// does the same for a text.
func argsSaid(t *testing.T, r *Redactor, n int, pieces ...string) string {
	t.Helper()
	return rejoined(t, through(r, deltas("input_json_delta", "partial_json", pieces), n))
}

func textSaid(t *testing.T, r *Redactor, n int, pieces ...string) string {
	t.Helper()
	return rejoined(t, through(r, deltas("text_delta", "text", pieces), n))
}

// deltas returns a stream with these deltas.
func deltas(kind, field string, pieces []string) string {
	var sse strings.Builder
	for _, piece := range pieces {
		fmt.Fprintf(&sse, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":%q,%q:%s}}\n\n", kind, field, quoted(piece))
	}
	return sse.String() + "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
}

var pieceOf = regexp.MustCompile(`"(?:partial_json|text)":("(?:[^"\\]|\\.)*")\}\}`)

// rejoined returns the joined deltas of a stream.
func rejoined(t *testing.T, sse string) string {
	t.Helper()
	var all strings.Builder
	for _, m := range pieceOf.FindAllStringSubmatch(sse, -1) {
		all.WriteString(unquoted(t, m[1]))
	}
	return all.String()
}
