package proxy

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"toolscope/capture"
)

// begun returns an exchange that is not forwarded, and its records. Its clock doesn't advance.
func begun(t *testing.T) (*exchange, *[]capture.Record) {
	t.Helper()
	var recs []capture.Record
	p, err := New(Options{
		Routes: []Route{{Prefix: "/", Upstream: upstreamAt(t, "http://127.0.0.1:1")}},
		Record: func(r capture.Record) { recs = append(recs, r) },
		Now:    func() time.Time { return time.Unix(1, 0) },
	})
	if err != nil {
		t.Fatal(err)
	}
	x := p.beginExchange(httptest.NewRecorder(), httptest.NewRequest("POST", "/", nil), &target{url: upstreamAt(t, "http://127.0.0.1:1"), text: ""})
	return x, &recs
}

// TestRecordedWhenPassedOn checks that bytes are recorded once they are forwarded: at the next read or at the
// end.
func TestRecordedWhenPassedOn(t *testing.T) {
	x, recs := begun(t)
	x.received = &bodyTap{x: x, body: iotest.OneByteReader(strings.NewReader("abc"))}
	for _, before := range []string{"", "a", "ab"} {
		if n, err := x.received.Read(make([]byte, 10)); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if whole := recorded(*recs, capture.Response); whole != before {
			t.Errorf("recorded %q, but %q was passed on", whole, before)
		}
	}
	x.finish()
	if whole := recorded(*recs, capture.Response); whole != "abc" {
		t.Errorf("recorded %q at the end", whole)
	}
}

// TestBrokenByFault checks that toolscope is the party that ended an exchange whose connection a fault broke, also if
// the client disconnects because of it.
func TestBrokenByFault(t *testing.T) {
	for _, cause := range []error{nil, errClientGone} {
		x, _ := begun(t)
		x.received = &bodyTap{x: x, body: strings.NewReader("abc")}
		x.faulted = &faultedResponse{x: x, from: x.received, broke: true}
		if cause != nil {
			x.cancel(cause)
		}
		if r := x.endRecord(); r.End != capture.EndCut || r.By != capture.Toolscope || r.Why != errBroken.Error() {
			t.Errorf("%v: %+v", cause, r)
		}
		x.finish()
	}
}

// TestLineSplitter checks that text is passed on in complete lines, except at the end and if a line is too long.
func TestLineSplitter(t *testing.T) {
	long := strings.Repeat("a", maxLinePart)
	for _, test := range []struct{ in, want []string }{
		{[]string{"a\n", "b\r\n"}, []string{"a", "b"}},
		{[]string{"a\nb\nc", "d\n"}, []string{"a\nb", "cd"}},
		{[]string{"a", "b"}, []string{"ab"}},
		{[]string{"\n\n", "\r\n", ""}, nil},
		{[]string{long, "b", "c\n"}, []string{long + "b", "c"}},
		{[]string{"x\n" + long, "\n"}, []string{"x", long}},
	} {
		var got []string
		l := lineSplitter{to: func(text []byte) { got = append(got, string(text)) }}
		for _, p := range test.in {
			l.add([]byte(p))
		}
		l.flush()
		if !slices.Equal(got, test.want) {
			t.Errorf("%.40q: %.40q, want %.40q", test.in, got, test.want)
		}
	}
}

// TestAnswerIsRecordedBehindTheRequest checks that an upstream's response is recorded after the part of the request
// that was sent before it.
func TestAnswerIsRecordedBehindTheRequest(t *testing.T) {
	x, recs := begun(t)
	defer x.finish()
	x.sent = &upload{bodyTap: &bodyTap{x: x, side: capture.Request, body: strings.NewReader("asked")}}
	body, _ := x.sent.newReader()
	io.ReadFull(body, make([]byte, 5))
	if err := x.recordResponse(&http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody}); err != nil {
		t.Fatal(err)
	}
	if r := *recs; len(r) != 3 || string(r[1].Data) != "asked" || r[2].Head == nil {
		t.Error(describe(r))
	}
}

// TestUploadIsNotReadAfterTheEnd checks that the request's body is not read after the handler has returned. The
// server may then already be reading the next request from the connection.
func TestUploadIsNotReadAfterTheEnd(t *testing.T) {
	x, _ := begun(t)
	left := strings.NewReader("first second")
	x.sent = &upload{bodyTap: &bodyTap{x: x, side: capture.Request, body: left}}
	body, _ := x.sent.newReader()
	io.ReadFull(body, make([]byte, 5))
	x.finish()
	if n, err := body.Read(make([]byte, 5)); n != 0 || !errors.Is(err, errUploadOver) || left.Len() != len(" second") {
		t.Errorf("read %d bytes, %v; %d are left", n, err, left.Len())
	}
}

// TestUploadKeepsSoMuch checks that a request's body is kept up to maxKeptBytes so that it can be sent again, and
// that no more of it is kept.
func TestUploadKeepsSoMuch(t *testing.T) {
	x, _ := begun(t)
	defer x.finish()
	u := &upload{bodyTap: &bodyTap{x: x, side: capture.Request, body: bytes.NewReader(make([]byte, maxKeptBytes+1))}}
	first, _ := u.newReader()
	io.ReadFull(first, make([]byte, maxKeptBytes))
	if _, err := u.newReader(); err != nil || len(u.kept) != maxKeptBytes {
		t.Errorf("%d bytes are kept, %v", len(u.kept), err)
	}
	io.ReadFull(first, make([]byte, 1))
	if _, err := u.newReader(); err != errUploadGone || u.kept != nil {
		t.Errorf("one byte more: %d bytes are kept, %v", len(u.kept), err)
	}
}
