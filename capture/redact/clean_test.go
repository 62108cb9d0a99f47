package redact

import (
	"bytes"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"toolscope/capture"
)

// TestKeepAll checks that KeepAll leaves every record and every text unchanged.
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
		r.Header(nil) != nil || len(r.Flush()) != 0 || !r.KeepsSecrets() || redactor().KeepsSecrets() {
		t.Error("something was replaced")
	}
}

// TestDividedRecord checks that, when the last part of a record is held back, the end, its reason and its party stay
// with the held bytes. Lost bytes and the party that answered must be passed on with the first part.
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

// TestHole checks that an encoded or framed body is not passed on after a gap, because it can't be read. Its bytes
// must count as missing. Plain text must be passed on even after a gap.
func TestHole(t *testing.T) {
	packed := gzipped(strings.Repeat("text ", 1000))
	message := awsMessage(`{"delta":{"text":"x"}}`)
	event := http.Header{"Content-Type": {"application/vnd.amazon.eventstream"}}
	for name, c := range map[string]struct {
		header        http.Header
		before, after []byte
		says          string // the readable part of the body
		missing       int64
	}{
		"gzip":     {http.Header{"Content-Encoding": {"gzip"}}, packed[:len(packed)/2], packed[len(packed)/2+1:], strings.Repeat("text ", 1000), 1 + int64(len(packed)-len(packed)/2-1)},
		"messages": {event, message, message[1:], string(message), int64(len(message))},
		"text":     {nil, []byte("before "), []byte("after"), "before after", 1},
	} {
		r := withCodings()
		got := take(r, capture.Record{Exchange: 1, Head: &capture.Head{Header: c.header}, Data: bytes.Clone(c.before)})
		got = append(got, take(r, capture.Record{Exchange: 1, Lost: 1, Data: bytes.Clone(c.after)})...)
		got = append(got, take(r, capture.Record{Exchange: 1, End: capture.EndEOF})...)
		text, missing, last := "", int64(0), got[len(got)-1]
		for _, rec := range got {
			text += string(rec.Data)
			missing += rec.Lost
		}
		if missing != c.missing || !strings.HasPrefix(c.says, text) || name != "gzip" && text != c.says {
			t.Errorf("%s: %d bytes are missing of %q", name, missing, text)
		}
		if says := strings.HasSuffix(last.Note, "they can't be searched for secrets (earlier bytes are missing)"); says != (c.missing > 1) {
			t.Errorf("%s: %+v", name, last)
		}
	}
}

// TestHurry checks that a redactor that must end withholds the rest of a large decoded body, and that these bytes
// count as missing.
func TestHurry(t *testing.T) {
	words := strings.Repeat("text ", 200_000)
	packed := gzipped(words)
	for _, hurried := range []bool{false, true} {
		r := withCodings()
		if hurried {
			r.Hurry()
		}
		got := take(r, capture.Record{Exchange: 1, Head: &capture.Head{Header: http.Header{"Content-Encoding": {"gzip"}}}, Data: bytes.Clone(packed)})
		got = append(got, take(r, capture.Record{Exchange: 1, End: capture.EndEOF})...)
		text, missing, last := "", int64(0), got[len(got)-1]
		for _, rec := range got {
			text += string(rec.Data)
			missing += rec.Lost
		}
		switch isCut := len(text) < len(words) && strings.HasSuffix(last.Note, "("+errHurried.Error()+")"); {
		case !strings.HasPrefix(words, text), text == "", isCut != hurried:
			t.Errorf("hurried %t: %d of %d bytes, %+v", hurried, len(text), len(words), last)
		case hurried && missing != int64(len(packed)), !hurried && (text != words || missing != 0):
			t.Errorf("hurried %t: %d bytes, %d are missing", hurried, len(text), missing)
		}
	}
}

// TestEndedIsForgotten checks that no data of an exchange is kept after its end, and that none of it is reported
// again.
func TestEndedIsForgotten(t *testing.T) {
	r := redactor()
	packed := gzipped("text")
	take(r, capture.Record{Exchange: 1, Side: capture.Request, Head: &capture.Head{Header: http.Header{"Content-Encoding": {"gzip"}}}, Data: packed})
	got := append(take(r, capture.Record{Exchange: 1, End: capture.EndEOF}), flushed(r)...)
	lost := int64(0)
	for _, rec := range got {
		lost += rec.Lost
	}
	if len(r.sides) != 0 || lost != int64(len(packed)) {
		t.Errorf("%d sides are kept, %d bytes lost of %d: %+v", len(r.sides), lost, len(packed), got)
	}
}

// TestIdentity checks that a body is read unchanged if its content coding is empty or "identity".
func TestIdentity(t *testing.T) {
	for _, coding := range []string{"identity", "Identity", ""} {
		r := redactor()
		got := take(r, capture.Record{Exchange: 1, Head: &capture.Head{Header: http.Header{"Content-Encoding": {coding}}}, Data: []byte("plain")})
		got = append(got, take(r, capture.Record{Exchange: 1, End: capture.EndEOF})...)
		text, lost := "", int64(0)
		for _, rec := range got {
			text += string(rec.Data)
			lost += rec.Lost
		}
		if text != "plain" || lost != 0 || got[0].Head.Header.Get("Content-Encoding") != coding {
			t.Errorf("%q: %+v", coding, got)
		}
	}
}
