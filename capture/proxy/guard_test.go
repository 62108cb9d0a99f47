package proxy

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// own is the address at which the requests of these tests arrive.
var own = &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 8080}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		what, target, host string
		header             http.Header
		status, public     int // 0: allowed
		says               string
	}{
		{"its address", "/", "192.0.2.7:8080", nil, 0, 0, ""},
		{"a name of the loopback", "/", "LocalHost.", nil, 0, 0, ""},
		{"a name below it", "/", "a.localhost:1", nil, 0, 0, ""},
		{"IPv6", "/", "[::1]", nil, 0, 0, ""},
		{"IPv4 in IPv6", "/", "[::ffff:127.0.0.1]:80", nil, 0, 0, ""},
		{"absolute", "http://192.0.2.7:8080/", "", nil, 0, 0, ""},
		{"a page of this machine", "/", "localhost", http.Header{"Origin": {"http://127.0.0.1:3000"}}, 0, 0, ""},
		{"an allowed page", "/", "localhost", http.Header{"Origin": {"app://x"}, "Sec-Fetch-Site": {"cross-site"}}, 0, 0, ""},

		{"a rebound name", "/", "evil.example:8080", nil, 421, 0, `the Host "evil.example:8080"`},
		{"another address", "/", "192.0.2.8:8080", nil, 421, 0, "not a loopback name"},
		{"what only looks like it", "/", "localhost.evil.example", nil, 421, 0, "not a loopback name"},
		{"no name", "/", "", nil, 421, 0, `the Host ""`},
		{"absolute to another port", "http://127.0.0.1:1/", "", nil, 421, 421, "127.0.0.1:1\" is refused: it goes nowhere"},
		{"absolute to another host", "http://evil.example:8080/", "", nil, 421, 0, "it goes nowhere"},
		{"a foreign page", "/", "localhost", http.Header{"Origin": {"https://evil.example"}}, 403, 403, `the Origin "https://evil.example"`},
		{"a second origin", "/", "localhost", http.Header{"Origin": {"http://localhost", "https://evil.example"}}, 403, 403, "evil.example"},
		{"a page that does not say", "/", "localhost", http.Header{"Origin": {"null"}}, 403, 403, `"null"`},
		{"an image in a foreign page", "/", "localhost", http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403, 403, "Sec-Fetch-Site"},
	} {
		r := httptest.NewRequest("GET", test.target, nil)
		if !strings.HasPrefix(test.target, "http") {
			r.Host = test.host
		}
		for name, values := range test.header {
			r.Header[name] = values
		}
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, own))
		for public, status := range map[bool]int{false: test.status, true: test.public} {
			no := GuardRules{Public: public, Origins: []string{"app://x"}, Purpose: "it goes nowhere"}.Check(r)
			switch {
			case no == nil && status != 0, no != nil && no.Status != status:
				t.Errorf("%s, public %v: %+v, not %d", test.what, public, no, status)
			case no != nil && !strings.Contains(no.Why, test.says):
				t.Errorf("%s: %q says nothing of %q", test.what, no.Why, test.says)
			}
		}
	}
}

// TestHandler checks that a refused request never reaches the guarded handler.
func TestHandler(t *testing.T) {
	asked, told := 0, ""
	h := GuardRules{}.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }), "it", func(no *Refusal) { told += no.Why })
	for n, host := range []string{"localhost", "evil.example"} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", "/", nil)
		r.Host = host
		h.ServeHTTP(w, r)
		if asked != 1 || (w.Code == 200) != (n == 0) || (told == "") != (n == 0) {
			t.Errorf("%s: %d, asked %d times, told %q", host, w.Code, asked, told)
		}
		if n == 1 && (!strings.HasPrefix(w.Body.String(), "it: the Host") || w.Header().Get("Connection") != "close") {
			t.Errorf("%q %v", w.Body, w.Header())
		}
	}
}

func TestSetMarks(t *testing.T) {
	for to, want := range map[string]bool{
		"http://127.0.0.1:80": true, "http://localhost": true, "http://[::1]:8": true, "http://0.0.0.0:8": true, "http://[::]:8": true, "http://a.localhost": true,
		"https://127.0.0.1:443": false, "http://api.example.com": false, "https://api.example.com": false, "http://10.0.0.1": false, "http://localhost.example.com": false,
	} {
		u, err := url.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		h := http.Header{"Connection": {"Upgrade"}, "A": {"b"}}
		SetMarks(h, u, []string{"x", "y"})
		if _, set := h[markField]; set != want {
			t.Errorf("%s: %v", to, h)
		}
		if marks := TakeMarks(h); want != slices.Equal(marks, []string{"x", "y"}) || !reflect.DeepEqual(h, http.Header{"Connection": {"Upgrade"}, "A": {"b"}}) {
			t.Errorf("%s: took %q, left %v", to, marks, h)
		}
	}
}

func TestTakeMarks(t *testing.T) {
	for _, test := range []struct {
		header http.Header
		marks  []string
		rest   http.Header
	}{
		{http.Header{"Connection": {"close"}}, nil, http.Header{"Connection": {"close"}}},
		{http.Header{markField: {"x"}, "Connection": {markField}}, []string{"x"}, http.Header{}},
		{http.Header{markField: {"x,y", " z"}}, []string{"x", "y", "z"}, http.Header{}},
		{http.Header{markField: {"x"}, "Connection": {"keep-alive", "toolscope-via"}}, []string{"x"}, http.Header{"Connection": {"keep-alive"}}},
	} {
		if marks := TakeMarks(test.header); !slices.Equal(marks, test.marks) || !reflect.DeepEqual(test.header, test.rest) {
			t.Errorf("took %q, left %v; want %q, %v", marks, test.header, test.marks, test.rest)
		}
	}
	if first, second := NewMark(), NewMark(); first == second {
		t.Error("two servers have the same mark")
	}
}
