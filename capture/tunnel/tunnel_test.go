package tunnel

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"toolscope/capture"
	"toolscope/capture/proxy"
)

const (
	openHost   = "api.example.com"
	closedHost = "files.example.org"
	secret     = "s3cret"
)

// office is a running tunnel in front of servers of the test, which stand for all hosts.
type office struct {
	t       *testing.T
	tunnel  *Tunnel
	filter  *Filter
	address string
	hosts   map[string]string // address that is dialled for a host

	mu      sync.Mutex
	records []capture.Record
	notes   []string
	dials   []string
}

func (o *office) put(r capture.Record) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.records = append(o.records, r)
}

// newOffice starts a tunnel. The server up answers for the decrypted host, with a certificate of the authority roots.
func newOffice(t *testing.T, up *httptest.Server, roots *x509.CertPool, rules FilterRules, now func() time.Time) *office {
	t.Helper()
	o := &office{t: t, hosts: map[string]string{}}
	if up != nil {
		o.hosts[openHost+":443"] = up.Listener.Addr().String()
	}
	if rules.IsKnown == nil {
		rules.IsKnown = func(_ string, u *url.URL) bool { return strings.HasPrefix(u.Path, "/v1/messages") }
	}
	if rules.IsRequestTo == nil {
		rules.IsRequestTo = func(body []byte) bool { return bytes.Contains(body, []byte(`"messages"`)) }
	}
	o.filter = NewFilter(rules, o.put)
	p, err := proxy.New(proxy.Options{Record: o.filter.Put, Roots: roots, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		o.mu.Lock()
		o.dials = append(o.dials, address)
		to := o.hosts[address]
		o.mu.Unlock()
		if to == "" {
			return nil, fmt.Errorf("no host %s in this test", address)
		}
		return new(net.Dialer).DialContext(ctx, network, to)
	}})
	if err != nil {
		t.Fatal(err)
	}
	o.tunnel, err = New(Options{Hosts: []string{openHost}, Secret: secret, Proxy: p, Now: now, Note: func(text string) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.notes = append(o.notes, text)
	}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.address = l.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- o.tunnel.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error("Serve:", err)
		}
		if err := p.Close(context.Background()); err != nil {
			t.Error("Close:", err)
		}
	})
	return o
}

// trusting returns a client that uses the tunnel and trusts its certificate.
func (o *office) trusting() *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(o.tunnel.Certificate())
	transport := &http.Transport{
		Proxy:             http.ProxyURL(&url.URL{Scheme: "http", User: url.UserPassword("run", secret), Host: o.address}),
		TLSClientConfig:   &tls.Config{RootCAs: pool},
		ForceAttemptHTTP2: true,
	}
	o.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// ask sends a CONNECT request with the given header lines, and returns the connection and the response.
func (o *office) ask(target, lines string) (net.Conn, *bufio.Reader, *http.Response) {
	o.t.Helper()
	conn, err := net.Dial("tcp", o.address)
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n%s\r\n", target, lines)
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, &http.Request{Method: http.MethodConnect})
	if err != nil {
		o.t.Fatalf("CONNECT %q: %v", target, err)
	}
	return conn, reader, response
}

const authorized = "Proxy-Authorization: Basic cnVuOnMzY3JldA==\r\n" // run:s3cret

// server starts a TLS server with a certificate for the first of the names. It returns the server, and a pool with
// the server's authority.
func server(t *testing.T, names []string, h http.HandlerFunc) (*httptest.Server, *x509.CertPool) {
	t.Helper()
	a, err := newAuthority(names, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	c, err := a.certificateFor(names[0])
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{*c}, NextProtos: []string{"h2", "http/1.1"}}
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(a.encodePEM())
	return s, pool
}

// TestDecrypted checks that requests to a listed host arrive there unchanged and are recorded, over HTTP/2 and
// HTTP/1.1, and that requests to other paths are only counted.
func TestDecrypted(t *testing.T) {
	left := make(chan context.CancelFunc, 1) // ends the client's side of a request that has arrived
	up, roots := server(t, []string{openHost}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/odd/stream":
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		case "/odd/left":
			(<-left)()
			<-r.Context().Done()
			return
		}
		fmt.Fprintf(w, "%s %s %s %s %s", r.Host, r.Method, r.URL, r.Header.Get("Authorization"), body)
	})
	for _, http2 := range []bool{true, false} {
		o := newOffice(t, up, roots, FilterRules{}, nil)
		c := o.trusting()
		if !http2 {
			c.Transport.(*http.Transport).ForceAttemptHTTP2 = false
			c.Transport.(*http.Transport).TLSClientConfig.NextProtos = []string{"http/1.1"}
		}
		post := func(path, body string) string {
			t.Helper()
			request, _ := http.NewRequest("POST", "https://"+openHost+path, strings.NewReader(body))
			request.Header.Set("Authorization", "AWS4-HMAC-SHA256 x")
			response, err := c.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			text, err := io.ReadAll(response.Body)
			if err != nil || response.ProtoMajor == 2 != http2 {
				t.Errorf("%s, %v", response.Proto, err)
			}
			return string(text)
		}
		if got, want := post("/v1/messages?a=%2F", "{}"), openHost+" POST /v1/messages?a=%2F AWS4-HMAC-SHA256 x {}"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		post("/telemetry", `{"event":"start"}`)
		post("/odd/stream", `{}`)
		post("/odd/answer", `{"messages":[]}`)
		canceled, cancel := context.WithCancel(t.Context())
		request, _ := http.NewRequestWithContext(canceled, "POST", "https://"+openHost+"/odd/left", strings.NewReader(`{"messages":[]}`))
		left <- cancel
		if _, err := c.Do(request); err == nil {
			t.Error("the request was answered")
		}
		var urls []string
		for end := time.Now().Add(20 * time.Second); o.filter.Count(openHost).Passed < 4 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		}
		o.mu.Lock()
		for _, r := range o.records {
			if r.Side == capture.Request && r.Head != nil {
				urls = append(urls, strings.TrimPrefix(r.Head.URL, "https://"+openHost))
				if r.Head.Header.Get("Proxy-Authorization") != "" {
					t.Error("the secret was recorded")
				}
			}
		}
		o.mu.Unlock()
		if got := strings.Join(urls, " "); got != "/v1/messages?a=%2F /odd/stream /odd/answer /odd/left" {
			t.Errorf("recorded %s", got)
		}
		if n := o.filter.Count(openHost); n != (RequestCount{4, 1}) {
			t.Errorf("%+v", n)
		}
		stats := o.tunnel.Hosts()
		if len(stats) != 1 || stats[0].Unused != 0 || stats[0].Connections != 1 || stats[0].Protocol != map[bool]string{true: "h2", false: "http/1.1"}[http2] {
			t.Errorf("%+v", stats)
		}
	}
}

// TestClosed checks that a connection to another host is forwarded unread in both directions, with half-closed sides,
// and that its TLS has the certificate of the real host.
func TestClosed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const size = 8 << 20
	back := bytes.Repeat([]byte("back"), size/4)
	got := make(chan []byte, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		io.WriteString(conn, "the server speaks first\n")
		text, _ := io.ReadAll(conn)
		got <- text
		conn.Write(back)
	}()
	o := newOffice(t, nil, nil, FilterRules{}, nil)
	o.hosts[closedHost+":5432"] = l.Addr().String()
	conn, reader, response := o.ask(closedHost+":5432", authorized)
	if line, err := reader.ReadString('\n'); response.StatusCode != 200 || err != nil || line != "the server speaks first\n" {
		t.Fatal(response.Status, line, err)
	}
	sent := bytes.Repeat([]byte("sent"), size/4)
	conn.Write(sent)
	conn.(*net.TCPConn).CloseWrite()
	if text := <-got; !bytes.Equal(text, sent) {
		t.Errorf("%d bytes arrived", len(text))
	}
	if text, err := io.ReadAll(reader); err != nil || !bytes.Equal(text, back) {
		t.Errorf("%d bytes came back, %v", len(text), err)
	}
	if h := o.tunnel.Hosts(); len(h) != 1 || h[0].Host != closedHost || h[0].Decrypted || h[0].Bytes != 2*size+24 {
		t.Errorf("%+v", h)
	}
	up, _ := server(t, []string{closedHost}, func(http.ResponseWriter, *http.Request) {})
	o.hosts[closedHost+":443"] = up.Listener.Addr().String()
	conn, _, _ = o.ask(closedHost+":443", authorized)
	client := tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	if err := client.Handshake(); err != nil || !client.ConnectionState().PeerCertificates[0].Equal(up.Certificate()) {
		t.Error("not the server's own certificate", err)
	}
	if len(o.records) > 0 {
		t.Errorf("recorded: %+v", o.records)
	}
}

// TestRefusedConnect checks that nothing is dialled for requests that are not allowed, and that each gets a status
// with a reason.
func TestRefusedConnect(t *testing.T) {
	o := newOffice(t, nil, nil, FilterRules{}, nil)
	for _, test := range []struct {
		target, lines string
		status        int
	}{
		{openHost + ":443", "", 407},
		{closedHost + ":443", "Proxy-Authorization: Basic cnVuOndyb25n\r\n", 407},
		{closedHost + ":443", "Proxy-Authorization: Bearer s3cret\r\n", 407},
		{openHost + ":443", authorized + "Origin: https://evil.example\r\n", 403},
		{openHost, authorized, 400},
		{openHost + ":0", authorized, 400},
		{openHost + ":99999", authorized, 400},
		{"a b:443", authorized, 400},
		{"169.254.169.254:80", authorized, 502},
		{"[fd00:ec2::254]:80", authorized, 502},
		{"2852039166:80", authorized, 502},
		{"0xa9fea9fe:80", authorized, 502},
		{"metadata.google.internal:80", authorized, 502},
		{"168.63.129.16:80", authorized, 502},
		{"[64:ff9b::a9fe:a9fe]:80", authorized, 502},
		{"[64:ff9b:1::a9fe:a9fe]:80", authorized, 502},
		{"[2002:a9fe:a9fe::]:80", authorized, 502},
		{"[::169.254.169.254]:80", authorized, 502},
	} {
		_, reader, response := o.ask(test.target, test.lines)
		text, _ := io.ReadAll(reader)
		if response.StatusCode != test.status || test.status == 407 != (response.Header.Get("Proxy-Authenticate") != "") {
			t.Errorf("CONNECT %s %q: %s %q, want %d", test.target, test.lines, response.Status, text, test.status)
		}
	}
	for line, status := range map[string]int{
		"CONNECT / HTTP/1.1": 400, "GET http://169.254.169.254/ HTTP/1.1": 502,
		"GET https://" + openHost + "/ HTTP/1.1": 400, "GET / HTTP/1.1": 400, "GET http://" + closedHost + "/ HTTP/1.1": 502,
	} {
		conn, err := net.Dial("tcp", o.address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "%s\r\nHost: x\r\n%sConnection: close\r\n\r\n", line, authorized)
		if response, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || response.StatusCode != status {
			t.Errorf("%s: %v, %v", line, response, err)
		}
		conn.Close()
	}
	if len(o.dials) != 1 || o.dials[0] != closedHost+":80" {
		t.Errorf("dialled %q", o.dials)
	}
}

// TestUnfinishedRequests checks that a client without the secret can't keep connections open: with an unfinished body,
// with chunks that never come, or with a request that net/http would answer itself. A client with the secret must
// begin the TLS handshake.
func TestUnfinishedRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := proxy.New(proxy.Options{Record: func(capture.Record) {}})
		if err != nil {
			t.Fatal(err)
		}
		tunnel, err := New(Options{Hosts: []string{openHost}, Secret: secret, Proxy: p})
		if err != nil {
			t.Fatal(err)
		}
		l := &connListener{conns: make(chan net.Conn), done: make(chan struct{})}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- tunnel.Serve(ctx, l) }()
		for _, request := range []string{
			"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
			"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\nContent-Length: 50\r\n\r\n{",
			"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\n{",
			"POST http://a/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
		} {
			client, server := net.Pipe()
			l.conns <- server
			go io.WriteString(client, request)
			began := time.Now()
			answer, _ := io.ReadAll(client) // ends when the tunnel closes the connection
			if took := time.Since(began); took > 2*headTime || strings.HasPrefix(string(answer), "HTTP/1.1 200") {
				t.Errorf("%q: open for %s, %q", request, took, answer)
			}
			client.Close()
		}
		client, server := net.Pipe()
		l.conns <- server
		go fmt.Fprintf(client, "CONNECT %s:443 HTTP/1.1\r\nHost: %[1]s:443\r\n%s\r\n", openHost, authorized)
		began := time.Now()
		answer, _ := io.ReadAll(client)
		if took := time.Since(began); took != handshakeTime || !strings.HasPrefix(string(answer), "HTTP/1.1 200") {
			t.Errorf("without a handshake: open for %s, %q", took, answer)
		}
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestNames checks that a handshake fails if its host differs from the one in CONNECT, that a request for another host
// is refused, and that the certificate is valid only for the listed names.
func TestNames(t *testing.T) {
	up, roots := server(t, []string{openHost}, func(http.ResponseWriter, *http.Request) {})
	o := newOffice(t, up, roots, FilterRules{}, nil)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(o.tunnel.Certificate())
	conn, _, _ := o.ask(openHost+":443", authorized)
	if err := tls.Client(conn, &tls.Config{RootCAs: pool, ServerName: closedHost, InsecureSkipVerify: true}).Handshake(); err == nil {
		t.Error("another name in the handshake was accepted")
	}
	conn, _, _ = o.ask(strings.ToUpper(openHost)+".:443", authorized)
	client := tls.Client(conn, &tls.Config{RootCAs: pool, ServerName: openHost})
	fmt.Fprintf(client, "GET /v1/messages HTTP/1.1\r\nHost: %s\r\n\r\n", closedHost)
	if response, err := http.ReadResponse(bufio.NewReader(client), nil); err != nil || response.StatusCode != 421 {
		t.Errorf("another host: %v, %v", response, err)
	}
	o.mu.Lock()
	if len(o.records) == 0 || o.records[0].Head == nil || o.records[0].Head.URL != "https://"+closedHost+"/v1/messages" {
		t.Errorf("recorded %+v", o.records)
	}
	o.mu.Unlock()
	if len(o.dials) > 0 {
		t.Errorf("dialled %q", o.dials)
	}
	for _, name := range []string{closedHost, "example.com", "127.0.0.1"} {
		template := &x509.Certificate{DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour)}
		if ip := net.ParseIP(name); ip != nil {
			template.DNSNames, template.IPAddresses = nil, []net.IP{ip}
		}
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		der, err := x509.CreateCertificate(rand.Reader, template, o.tunnel.authority.certificate, key.Public(), o.tunnel.authority.key)
		if err != nil {
			t.Fatal(err)
		}
		leaf, _ := x509.ParseCertificate(der)
		if _, err := leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: pool}); err == nil {
			t.Errorf("a certificate for %s is valid", name)
		}
	}
	if block, rest := pem.Decode(o.tunnel.Certificate()); block.Type != "CERTIFICATE" || len(rest) > 0 {
		t.Error("more than a certificate")
	}
}

// TestUpstreamCertificate checks that a host with a wrong certificate is not reached, and that the client gets the
// reason.
func TestUpstreamCertificate(t *testing.T) {
	up, roots := server(t, []string{closedHost}, func(http.ResponseWriter, *http.Request) { t.Error("the request arrived") })
	o := newOffice(t, up, roots, FilterRules{}, nil)
	response, err := o.trusting().Get("https://" + openHost + "/v1/messages")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, _ := io.ReadAll(response.Body); response.StatusCode != 502 || !strings.Contains(string(text), "certificate") {
		t.Errorf("%s %s", response.Status, text)
	}
}

// TestUnused checks that connections that end before the first byte of HTTP are counted, if the client began a
// handshake.
func TestUnused(t *testing.T) {
	o := newOffice(t, nil, nil, FilterRules{}, nil)
	unused := func() int {
		for _, h := range o.tunnel.Hosts() {
			return h.Unused
		}
		return 0
	}
	conn, _, _ := o.ask(openHost+":443", authorized)
	conn.Close() // before the handshake: not counted
	want := 0
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		conn, _, _ := o.ask(openHost+":443", authorized)
		if err := tls.Client(conn, &tls.Config{RootCAs: x509.NewCertPool(), ServerName: openHost, MaxVersion: version}).Handshake(); err == nil {
			t.Error("the certificate was trusted")
		}
		conn.Close()
		want++
		conn, _, _ = o.ask(openHost+":443", authorized)
		client := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, ServerName: openHost, MaxVersion: version})
		if err := client.Handshake(); err != nil {
			t.Error(err)
		}
		client.Close()
		want++
	}
	for end := time.Now().Add(20 * time.Second); unused() < want && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	if n := unused(); n != want {
		t.Errorf("%d unused, want %d", n, want)
	}
	conn, reader, _ := o.ask(openHost+":443", authorized)
	io.WriteString(conn, "GET / HTTP/1.1\r\n\r\n")
	if _, err := reader.ReadByte(); err == nil {
		t.Error("a connection without TLS stayed open")
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.notes) != 1 || !strings.Contains(o.notes[0], "began without TLS") {
		t.Errorf("%q", o.notes)
	}
}

// TestExpiry checks that connections are refused when the certificate ends soon.
func TestExpiry(t *testing.T) {
	var mu sync.Mutex
	passed := time.Duration(0)
	o := newOffice(t, nil, nil, FilterRules{}, func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return time.Now().Add(passed)
	})
	if _, _, response := o.ask(openHost+":443", authorized); response.StatusCode != 200 {
		t.Error(response.Status)
	}
	mu.Lock()
	passed = openingTime + time.Minute
	mu.Unlock()
	if _, _, response := o.ask(openHost+":443", authorized); response.StatusCode != 503 {
		t.Error(response.Status)
	}
	if _, _, response := o.ask(closedHost+":443", authorized); response.StatusCode != 502 {
		t.Errorf("%s for a host that needs no certificate", response.Status)
	}
}

// TestFirstUnused checks that the time of the first unused connection is kept.
func TestFirstUnused(t *testing.T) {
	now := time.Now()
	tunnel := &Tunnel{options: Options{Now: func() time.Time { return now }}}
	h, first := new(hostCount), now
	for range 2 {
		tunnel.countUnused(h)
		now = now.Add(time.Second)
	}
	if h.Unused != 2 || !h.FirstUnused.Equal(first) {
		t.Errorf("%d unused, the first at %v, want %v", h.Unused, h.FirstUnused, first)
	}
}

// TestManyHosts checks that connections to hosts beyond the limit are counted together, except decrypted ones.
func TestManyHosts(t *testing.T) {
	tunnel := &Tunnel{hosts: map[string]*hostCount{}}
	for i := range maxHosts + 2 {
		tunnel.countConn(fmt.Sprint("host", i), false)
	}
	tunnel.countConn("host0", false)
	tunnel.countConn(openHost, true)
	for host, want := range map[string]int{"host0": 2, otherHosts: 2, openHost: 1} {
		if h := tunnel.hosts[host]; h == nil || h.Connections != want {
			t.Errorf("%s: %+v, want %d connections", host, h, want)
		}
	}
	if len(tunnel.hosts) != maxHosts+2 {
		t.Errorf("%d hosts", len(tunnel.hosts))
	}
}

// duplex is one end of a connection whose directions end separately.
type duplex struct {
	net.Conn // for reading
	to       net.Conn
}

func (d duplex) Write(p []byte) (int, error) { return d.to.Write(p) }
func (d duplex) CloseWrite() error           { return d.to.Close() }
func (d duplex) Close() error                { return errors.Join(d.to.Close(), d.Conn.Close()) }

// TestHalfOpen checks that a connection with one ended direction is closed when the other direction is silent for too
// long.
func TestHalfOpen(t *testing.T) {
	for late, want := range map[bool]time.Duration{false: halfOpenTime, true: 2*halfOpenTime - time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			fromClient, client := net.Pipe()
			fromServer, server := net.Pipe()
			toClient, clientIn := net.Pipe()
			toServer, serverIn := net.Pipe()
			go io.Copy(io.Discard, clientIn)
			go io.Copy(io.Discard, serverIn)
			ended := make(chan bool)
			go func() {
				forwardBytes(duplex{fromClient, toClient}, duplex{fromServer, toServer}, new(atomic.Int64))
				close(ended)
			}()
			began := time.Now()
			client.Close()
			time.Sleep(halfOpenTime - time.Minute) // simulated
			if late {
				io.WriteString(server, "late")
			}
			<-ended
			if took := time.Since(began); took != want {
				t.Errorf("late bytes %t: open for %s", late, took)
			}
		})
	}
}

// TestWebSocket checks that a decrypted connection can be upgraded to a WebSocket.
func TestWebSocket(t *testing.T) {
	up, roots := server(t, []string{openHost}, func(w http.ResponseWriter, r *http.Request) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: %s\r\n\r\n\x81\x02hi",
			capture.WebSocketAcceptKey(r.Header.Get("Sec-WebSocket-Key")))
		buffered.ReadByte()
	})
	o := newOffice(t, up, roots, FilterRules{}, nil)
	conn, _, _ := o.ask(openHost+":443", authorized)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(o.tunnel.Certificate())
	client := tls.Client(conn, &tls.Config{RootCAs: pool, ServerName: openHost})
	fmt.Fprintf(client, "GET /odd HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", openHost)
	reader := bufio.NewReader(client)
	response, err := http.ReadResponse(reader, nil)
	if err != nil || response.StatusCode != 101 {
		t.Fatal(response, err)
	}
	frame := make([]byte, 4)
	if _, err := io.ReadFull(reader, frame); err != nil || string(frame) != "\x81\x02hi" {
		t.Errorf("%q, %v", frame, err)
	}
	if n := o.filter.Count(openHost); n.Passed != 1 {
		t.Errorf("%+v", n)
	}
}

// TestCheckName checks which host names CheckName accepts.
func TestCheckName(t *testing.T) {
	for _, name := range []string{"api.example.com", "mcp.example.co.uk", "x-y.example", "my.openai.azure.com"} {
		if err := CheckName(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "*.example.com", "com", "co.uk", "github.io", "localhost", "a.localhost", "127.0.0.1", "::1", "API.example.com", "a..b.com", ".a.com", "a.com.", "a b.com", "a.com:443", "https://a.com"} {
		if err := CheckName(name); err == nil {
			t.Errorf("%q is accepted", name)
		}
	}
}

// TestIsName checks which texts can be the name of a host.
func TestIsName(t *testing.T) {
	for _, name := range []string{"a", "1", "a-b_c.d", strings.Repeat("a", 253)} {
		if !isName(name) {
			t.Errorf("%q is no name", name)
		}
	}
	for _, text := range []string{"", "a..b", ".a", "-a", "a.", "a b", "A", strings.Repeat("a", 254)} {
		if isName(text) {
			t.Errorf("%q is a name", text)
		}
	}
}

// FuzzTarget checks that the host of an accepted target can be written in CONNECT and in a URL again.
func FuzzTarget(f *testing.F) {
	for _, text := range []string{"a.example:443", "A.EXAMPLE.:1", "[::1]:80", "[fe80::1%25lo]:80", "a:b:443", "a.example:", ":443", "a@b:443", "a\r\nX: y:443", "\x00:1", "xn--a.com:443"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		host, port, err := splitTarget(text)
		if err != nil {
			return
		}
		again, portAgain, err := splitTarget(net.JoinHostPort(host, port))
		if err != nil || again != host || portAgain != port || strings.ContainsAny(host, " /@\r\n\x00?#") || host != strings.ToLower(host) {
			t.Errorf("%q: %q %q, %q %q %v", text, host, port, again, portAgain, err)
		}
	})
}

// TestManyConnections checks that many clients at the same time get their own responses, and that no connection is
// left.
func TestManyConnections(t *testing.T) {
	n := 50
	if os.Getenv("TOOLSCOPE_LONG") != "" {
		n = 1000
	}
	up, roots := server(t, []string{openHost}, func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	o := newOffice(t, up, roots, FilterRules{}, nil)
	var all sync.WaitGroup
	for i := range n {
		c := o.trusting()
		all.Go(func() {
			defer c.CloseIdleConnections()
			text := fmt.Sprint("request ", i)
			response, err := c.Post("https://"+openHost+"/v1/messages", "text/plain", strings.NewReader(text))
			if err != nil {
				t.Error(err)
				return
			}
			defer response.Body.Close()
			if got, err := io.ReadAll(response.Body); string(got) != text {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	all.Wait()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		o.tunnel.mu.Lock()
		left := len(o.tunnel.conns)
		o.tunnel.mu.Unlock()
		if left == 0 {
			return
		}
	}
	t.Error("connections are left")
}
