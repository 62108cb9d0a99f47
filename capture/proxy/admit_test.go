package proxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
)

const chunkedBody = "2\r\nhi\r\n0\r\n\r\n"

// admissions are requests, byte for byte as they are sent. ADDR stands for the proxy's address, and PORT for its
// port.
var admissions = []struct {
	name    string
	request string
	status  int
	says    string
}{
	{"ordinary", "GET /x HTTP/1.1\r\nHost: ADDR\r\n\r\n", 200, ""},
	{"by name", "GET /x HTTP/1.1\r\nHost: LocalHost.:99\r\n\r\n", 200, ""},
	{"by a name below it", "GET /x HTTP/1.1\r\nHost: anthropic.localhost\r\n\r\n", 200, ""},
	{"IPv6", "GET /x HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", 200, ""},
	{"absolute to itself", "GET http://localhost:PORT/x HTTP/1.1\r\nHost: ADDR\r\n\r\n", 200, ""},
	{"a page of this machine", "GET /x HTTP/1.1\r\nHost: ADDR\r\nOrigin: http://localhost:3000\r\nSec-Fetch-Site: cross-site\r\n\r\n", 200, ""},
	{"an allowed page", "GET /x HTTP/1.1\r\nHost: ADDR\r\nOrigin: app://editor\r\n\r\n", 200, ""},
	{"chunked", "POST /x HTTP/1.1\r\nHost: ADDR\r\nTransfer-Encoding: chunked\r\n\r\n" + chunkedBody, 200, ""},

	{"CONNECT", "CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n", 405, "CONNECT is refused"},
	{"CONNECT to itself", "CONNECT ADDR HTTP/1.1\r\nHost: ADDR\r\n\r\n", 405, "CONNECT is refused"},
	{"absolute elsewhere", "GET http://api.example.com/x HTTP/1.1\r\nHost: ADDR\r\n\r\n", 421, `"api.example.com" is refused`},
	{"absolute to another service", "GET http://127.0.0.1:1/x HTTP/1.1\r\nHost: ADDR\r\n\r\n", 421, `other host "127.0.0.1:1"`},
	{"rebound name", "GET /x HTTP/1.1\r\nHost: evil.example:PORT\r\n\r\n", 421, `Host "evil.example`},
	{"other address", "GET /x HTTP/1.1\r\nHost: 192.168.0.1\r\n\r\n", 421, `Host "192.168.0.1"`},
	{"a name that only looks like it", "GET /x HTTP/1.1\r\nHost: localhost.evil.example\r\n\r\n", 421, "Host"},
	{"no name", "GET /x HTTP/1.0\r\n\r\n", 421, `Host ""`},
	{"foreign page", "POST /x HTTP/1.1\r\nHost: ADDR\r\nOrigin: https://evil.example\r\nContent-Length: 0\r\n\r\n", 403, `Origin "https://evil.example"`},
	{"page without an origin", "GET /x HTTP/1.1\r\nHost: ADDR\r\nOrigin: null\r\n\r\n", 403, `Origin "null"`},
	{"a second origin", "GET /x HTTP/1.1\r\nHost: ADDR\r\nOrigin: http://localhost\r\nOrigin: https://evil.example\r\n\r\n", 403, "evil.example"},
	{"foreign page's image", "GET /x HTTP/1.1\r\nHost: ADDR\r\nSec-Fetch-Site: cross-site\r\n\r\n", 403, "Sec-Fetch-Site"},
	{"two lengths of a kind", "POST /x HTTP/1.1\r\nHost: ADDR\r\nContent-Length: 12\r\nTransfer-Encoding: chunked\r\n\r\n" + chunkedBody, 400, "Content-Length and Transfer-Encoding"},
	{"the other way round", "POST /x HTTP/1.1\r\nHost: ADDR\r\ntransfer-encoding: chunked\r\ncONTENT-lENGTH: 12\r\n\r\n" + chunkedBody, 400, "Content-Length and Transfer-Encoding"},
	{"two lengths", "POST /x HTTP/1.1\r\nHost: ADDR\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400, ""},
	{"another coding", "POST /x HTTP/1.1\r\nHost: ADDR\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + chunkedBody, 501, ""},
	{"a long head", "GET /x HTTP/1.1\r\nHost: ADDR\r\nX: " + strings.Repeat("x", headerBytes+8<<10) + "\r\n\r\n", 431, ""},
	{"no upstream", "GET /other HTTP/1.1\r\nHost: ADDR\r\n\r\n", 404, "use one of /x/"},
}

func TestAdmit(t *testing.T) {
	for _, test := range admissions {
		t.Run(test.name, func(t *testing.T) {
			up := serve(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
			d := stand(t, up, func(o *Options) {
				o.Routes[0].Prefix = "/x"
				o.Origins = []string{"app://editor"}
			})
			_, port, _ := net.SplitHostPort(d.addr)
			resp, body := d.ask(strings.NewReplacer("ADDR", d.addr, "PORT", port).Replace(test.request))
			if resp.StatusCode != test.status || !strings.Contains(body, test.says) {
				t.Errorf("%s, %q; want %d, %q", resp.Status, body, test.status, test.says)
			}
			d.checkAdmitted(test.status == 200, test.says)
		})
	}
}

func (d *desk) checkAdmitted(admitted bool, says string) {
	d.t.Helper()
	s := d.proxy.Stats()
	if admitted {
		if d.ended(1); d.dials.Load() != 1 || s.Requests != 1 || s.Refused != 0 {
			d.t.Errorf("admitted: %d dials, %+v", d.dials.Load(), s)
		}
		return
	}
	if d.dials.Load() != 0 || s.Requests != 0 {
		d.t.Errorf("refused: %d dials, %+v, %s", d.dials.Load(), s, describe(d.records(1)))
	}
	if says != "" { // some requests are refused by net/http itself
		recs := d.ended(1)
		last := recs[len(recs)-1]
		if head := headOf(recs, capture.Response); head.By != capture.Toolscope || last.By != capture.Toolscope || !strings.HasPrefix(last.Why, capture.Refused) || !strings.Contains(last.Why, says) {
			d.t.Errorf("recorded as %s", describe(recs))
		}
	}
	if says != "" && (s.Refused != 1 || !strings.Contains(s.Refusal, says)) {
		d.t.Errorf("refused: %+v, not %q", s, says)
	}
}

// TestLengthsOfSeveralRequests checks that the Content-Length of one request doesn't count for the next request on
// the same connection.
func TestLengthsOfSeveralRequests(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	d := stand(t, up, nil)
	c, r := d.raw("")
	for n, request := range []string{
		"Content-Length: 40\r\n\r\n\r\nTransfer-Encoding: chunked\r\n\r\n12345678",
		"Transfer-Encoding: chunked\r\n\r\n13\r\nContent-Length: 9\r\n\r\n0\r\n\r\n",
		"Content-Length: 2\r\n\r\nhi",
		"X: Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n" + chunkedBody,
	} {
		for _, b := range []byte("POST / HTTP/1.1\r\nHost: localhost\r\n" + request) {
			c.Write([]byte{b})
		}
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(n, err)
		}
		body, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != 200 || len(body) < 2 {
			t.Errorf("%d: %s, %q", n, resp.Status, body)
		}
	}
	io.WriteString(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"+chunkedBody)
	if resp, err := http.ReadResponse(r, nil); err != nil || resp.StatusCode != 400 {
		t.Error(resp, err)
	}
}

func TestSlowHead(t *testing.T) {
	d := stand(t, "http://127.0.0.1:1", func(o *Options) { o.Limits.HeaderTime = 20 * time.Millisecond })
	_, r := d.raw("GET / HTTP/1.1\r\nHost: localhost\r\nX: y")
	if _, err := io.ReadAll(r); err != nil {
		t.Error("not closed:", err)
	}
	if d.dials.Load() != 0 {
		t.Error("dialled")
	}
}

func TestUpstreamIsTheProxy(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	p, err := New(Options{Routes: []Route{{Prefix: "/", Upstream: upstreamAt(t, "http://localhost:"+port)}}, Record: func(capture.Record) {}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(t.Context())
	go p.Serve(t.Context(), l)
	resp, err := http.Get("http://127.0.0.1:" + port)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if s := p.Stats(); resp.StatusCode != http.StatusLoopDetected || s.Requests != 0 || s.Refused != 1 {
		t.Errorf("%s, %+v", resp.Status, s)
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	const metadata = "http://169.254.169.254/latest/meta-data/"
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, metadata, http.StatusTemporaryRedirect)
	})
	d := stand(t, up, nil)
	resp := d.get("/")
	if resp.StatusCode != 307 || resp.Header.Get("Location") != metadata || d.dials.Load() != 1 {
		t.Errorf("%s to %q, %d dials", resp.Status, resp.Header.Get("Location"), d.dials.Load())
	}
}

func TestPublic(t *testing.T) {
	everywhere, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Routes: []Route{{Prefix: "/", Upstream: upstreamAt(t, "http://127.0.0.1:1")}}, Record: func(capture.Record) {}}
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(t.Context())
	if err := p.Serve(t.Context(), everywhere); err == nil || !strings.Contains(err.Error(), "other machines") {
		t.Error("serves on every address:", err)
	}
	if _, err := everywhere.Accept(); err == nil {
		t.Error("the listener is still open")
	}
	o.Public = true
	if _, err := New(o); err == nil || !strings.Contains(err.Error(), "token") {
		t.Error("public without a token:", err)
	}
}

func TestToken(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.RequestURI, r.Header["Proxy-Authorization"])
	})
	d := stand(t, up, func(o *Options) { o.Public, o.Token, o.Routes[0].Prefix = true, "s3cret", "/x" })
	for _, test := range []struct {
		path, header, body string
		status             int
	}{
		{"/s3cret/x/a%2Fb?q", "", "/a%2Fb?q[]", 200},
		{"/x/a", "Bearer s3cret", "/a[]", 200},
		{"/x/a", "", "the token is missing", 401},
		{"/wrong/x/a", "Bearer wrong", "the token is missing", 401},
		{"/s3cret", "", "no upstream", 404},
	} {
		req, _ := http.NewRequest("GET", "http://"+d.addr+test.path, nil)
		req.Host = "box.example"
		if test.header != "" {
			req.Header.Set("Proxy-Authorization", test.header)
		}
		resp, err := d.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != test.status || !strings.Contains(string(body), test.body) {
			t.Errorf("%s %q: %s %q", test.path, test.header, resp.Status, body)
		}
	}
	for exchange := range 5 { // including refused requests
		head := headOf(d.ended(exchange+1), capture.Request).Head
		if text := fmt.Sprint(head); strings.Contains(text, "s3cret") || strings.Contains(text, "wrong") {
			t.Errorf("the token is recorded: %s", text)
		}
	}
}
