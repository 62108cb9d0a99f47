package redact

import (
	"errors"
	"net/http"
	"reflect"
	"testing"

	"toolscope/capture"
)

// take and flushed are what comes out, as records.
func take(r *Redactor, rec capture.Record) []capture.Record { return unwrapped(r.Take(rec)) }
func flushed(r *Redactor) []capture.Record                  { return unwrapped(r.Flush()) }

func unwrapped(list []Clean) (recs []capture.Record) {
	for _, c := range list {
		recs = append(recs, c.Record())
	}
	return recs
}

// Whoever wants secrets gets every record as it came, and every text.
func TestKeepAll(t *testing.T) {
	r := KeepAll()
	key := canaries["anthropic-key"]
	rec := capture.Record{Exchange: 1, Head: &capture.Head{Header: http.Header{"X-Api-Key": {key}, "Content-Encoding": {"gzip"}}},
		Data: gzipped(key), Note: key, End: capture.EndCut, Why: key, By: capture.Client, Lost: 3}
	if got := take(r, rec); len(got) != 1 || !reflect.DeepEqual(got[0], rec) {
		t.Errorf("%+v", got)
	}
	r.Learn(key, "x-api-key")
	if r.Text(key) != key || r.URL("//u:p@h/") != "//u:p@h/" || r.Header(http.Header{"X-Api-Key": {key}}).Get("X-Api-Key") != key ||
		r.Header(nil) != nil || len(r.Flush()) != 0 || !r.Keeps() || redactor().Keeps() {
		t.Error("something was replaced")
	}
}

// Of a record that is held back in part, the end waits with its reason and its culprit; what was lost before it, and
// who answered, go first.
func TestDividedRecord(t *testing.T) {
	r := redactor()
	const answered = capture.Toolscope
	got := take(r, capture.Record{Exchange: 1, At: 1, Head: &capture.Head{Status: 502}, By: answered, Lost: 7, Data: []byte("a sk-")})
	got = append(got, take(r, capture.Record{Exchange: 1, At: 2, Lost: 9})...)
	got = append(got, take(r, capture.Record{Exchange: 1, At: 3, Data: []byte("b"), End: capture.EndCut, Why: "gone", By: capture.Client})...)
	want := []capture.Record{
		{Exchange: 1, At: 1, Head: &capture.Head{Status: 502}, By: answered, Lost: 7, Data: []byte("a ")},
		{Exchange: 1, At: 1, Data: []byte("sk-")},
		{Exchange: 1, At: 2, Lost: 9},
		{Exchange: 1, At: 3, Data: []byte("b"), End: capture.EndCut, Why: "gone", By: capture.Client},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want\n%+v", got, want)
	}
}

// An error of the source comes after what is held back, and nothing comes after it.
func TestSourceEndsWithItsError(t *testing.T) {
	src := func(yield func(capture.Record, error) bool) {
		_ = yield(capture.Record{Exchange: 1, Data: []byte("is sk-")}, nil) && yield(capture.Record{}, errors.New("torn"))
	}
	said := ""
	for clean, err := range Source(src, redactor()) {
		if said += string(clean.Record().Data); err != nil {
			said += "|" + err.Error()
		}
	}
	if said != "is sk-|torn" {
		t.Error(said)
	}
}
