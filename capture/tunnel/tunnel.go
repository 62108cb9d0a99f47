// Package tunnel is an HTTP proxy for the method CONNECT. It decrypts TLS to a fixed list of hosts, and forwards the
// connections to all other hosts unread.
//
//	client ─▶ CONNECT ─▶ a listed host? ─▶ TLS with this run's certificate ─▶ proxy.Proxy ─▶ TLS ─▶ host
//	                          │ no
//	                          └──────────▶ bytes in both directions ─▶ host
//
// Invariants:
//   - The key of the certificate authority stays in memory. Its certificate is valid only for the listed names.
//   - A client needs the tunnel's secret. Without it, nothing is dialled.
//   - The certificate of a connection is for the host in CONNECT, never for another name in the TLS handshake.
//   - The real host's certificate is verified with the system's authorities. If that fails, the client gets status
//     502 with the reason.
//   - Of a connection to another host, only the number of bytes is kept.
package tunnel

import (
	"bufio"
	"cmp"
	"context"
	"crypto/subtle"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/publicsuffix"

	"toolscope/capture/proxy"
)

// Options configures a tunnel. Fields are required unless their comment says otherwise.
type Options struct {
	Hosts  []string         // names of the hosts whose TLS is decrypted, each accepted by [CheckName]
	Secret string           // password that clients need, with the user name run
	Proxy  *proxy.Proxy     // forwards and records the decrypted requests
	Now    func() time.Time // nil is time.Now
	Note   func(string)     // receives notes about connections; may be nil
}

// Tunnel is a proxy for CONNECT. It is an http.Handler for [Tunnel.Serve].
type Tunnel struct {
	options   Options
	authority *authority
	began     time.Time
	plain     *httputil.ReverseProxy // forwards requests for http URLs

	ctx  context.Context // ends with Serve
	open sync.WaitGroup

	mu        sync.Mutex
	hosts     map[string]*hostCount
	listeners map[string]*connListener // by host and port
	conns     map[net.Conn]bool
	ended     bool
	noted     map[string]bool
}

// HostStats describes the connections to one host so far.
type HostStats struct {
	Host        string
	Decrypted   bool
	Protocol    string    // "h2" or "http/1.1", if a connection was decrypted
	Connections int       // number of connections
	Unused      int       // number of decrypted connections that their client ended before the first byte of HTTP
	FirstUnused time.Time // time when the first of these ended
	Bytes       int64     // number of bytes forwarded unread, in both directions
}

type hostCount struct {
	HostStats
	bytes atomic.Int64
}

// New returns a tunnel with a new certificate authority.
func New(o Options) (*Tunnel, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	for _, name := range o.Hosts {
		if err := CheckName(name); err != nil {
			return nil, err
		}
	}
	t := &Tunnel{
		options: o, began: o.Now().Round(0), hosts: map[string]*hostCount{}, listeners: map[string]*connListener{},
		conns: map[net.Conn]bool{}, noted: map[string]bool{},
	}
	var err error
	t.authority, err = newAuthority(o.Hosts, t.began)
	t.plain = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.Host = r.In.Host },
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableCompression: true, DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			host, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			return o.Proxy.Dial(ctx, host, port)
		}},
		FlushInterval: -1, ErrorLog: quiet,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			proxy.Refuse(http.StatusBadGateway, "no response from %s: %s", r.URL.Host, err).Write(w, self)
		},
	}
	return t, err
}

const (
	self          = "toolscope" // name of the tunnel in its own responses
	headTime      = 10 * time.Second
	headBytes     = 1 << 20
	handshakeTime = 10 * time.Second

	handshakeRecord = 22 // type of the first TLS record (RFC 8446 §5.1)
)

var quiet = log.New(io.Discard, "", 0)

// Certificate returns the certificate of the authority, as PEM.
func (t *Tunnel) Certificate() []byte { return t.authority.encodePEM() }

// Hosts returns the hosts to which clients have connected, sorted by name.
func (t *Tunnel) Hosts() []HostStats {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []HostStats
	for _, h := range t.hosts {
		stats := h.HostStats
		stats.Bytes = h.bytes.Load()
		list = append(list, stats)
	}
	slices.SortFunc(list, func(a, b HostStats) int { return cmp.Compare(a.Host, b.Host) })
	return list
}

// Serve answers requests on l until ctx is done. It then closes l and all connections, and returns when they have
// ended.
func (t *Tunnel) Serve(ctx context.Context, l net.Listener) error {
	if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		l.Close()
		return fmt.Errorf("tunnel: other machines can reach %s: listen on 127.0.0.1", l.Addr())
	}
	ctx, stop := context.WithCancel(ctx)
	t.ctx = ctx
	server := &http.Server{
		Handler: t, ReadHeaderTimeout: headTime, IdleTimeout: headTime, MaxHeaderBytes: headBytes, ErrorLog: quiet,
		DisableGeneralOptionsHandler: true, // net/http would answer OPTIONS * without asking for the secret
		BaseContext:                  func(net.Listener) context.Context { return ctx },
	}
	detach := context.AfterFunc(ctx, func() { server.Close() })
	err := server.Serve(l)
	t.mu.Lock()
	t.ended = true
	for c := range t.conns {
		c.Close()
	}
	t.mu.Unlock()
	detach()
	stop()
	t.open.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("tunnel: stopped listening: %w", err)
}

// ServeHTTP answers CONNECT, and forwards requests for http URLs without recording them.
func (t *Tunnel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	no := t.checkRequest(r)
	switch {
	case no != nil:
		if no.Status == http.StatusProxyAuthRequired {
			w.Header().Set("Proxy-Authenticate", `Basic realm="toolscope"`)
		}
		no.Write(w, self)
	case r.Method == http.MethodConnect:
		t.answerConnect(w, r)
	default:
		if err := proxy.CheckHost(r.URL.Hostname()); err != nil {
			proxy.Refuse(http.StatusBadGateway, "can't connect to %s: %s", r.URL.Host, err).Write(w, self)
			return
		}
		t.plain.ServeHTTP(w, r)
	}
}

// checkRequest returns a refusal for a request that is not allowed, else nil.
func (t *Tunnel) checkRequest(r *http.Request) *proxy.Refusal {
	switch {
	case r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "":
		return proxy.Refuse(http.StatusForbidden, "a request from a web page is refused")
	case r.Method != http.MethodConnect && r.URL.Host == "":
		return proxy.Refuse(http.StatusBadRequest, "this is a proxy for CONNECT: set HTTPS_PROXY to its address, not a base URL")
	case !t.isSecret(r.Header.Get("Proxy-Authorization")):
		return proxy.Refuse(http.StatusProxyAuthRequired, "this proxy belongs to another program's run: its secret is missing or wrong")
	case r.Method != http.MethodConnect && r.URL.Scheme != "http":
		return proxy.Refuse(http.StatusBadRequest, "a plain request with the scheme %s is refused: the client must use CONNECT", r.URL.Scheme)
	}
	return nil
}

// isSecret reports whether the value of Proxy-Authorization contains the tunnel's secret as its password.
func (t *Tunnel) isSecret(authorization string) bool {
	scheme, coded, _ := strings.Cut(authorization, " ")
	text, err := base64.StdEncoding.DecodeString(coded)
	want := "run:" + t.options.Secret
	return err == nil && strings.EqualFold(scheme, "Basic") && subtle.ConstantTimeCompare(text, []byte(want)) == 1
}

// answerConnect answers CONNECT. Connections to other hosts are dialled first, so that a failure becomes a status.
func (t *Tunnel) answerConnect(w http.ResponseWriter, r *http.Request) {
	host, port, err := splitTarget(r.Host)
	if err == nil && r.RequestURI != r.Host {
		err = fmt.Errorf("the target of CONNECT is %q, not HOST:PORT", r.RequestURI)
	}
	if err != nil {
		proxy.Refuse(http.StatusBadRequest, "%s", err).Write(w, self)
		return
	}
	if err := proxy.CheckHost(host); err != nil {
		proxy.Refuse(http.StatusBadGateway, "can't connect to %s: %s", r.Host, err).Write(w, self)
		return
	}
	decrypted := slices.Contains(t.options.Hosts, host)
	if decrypted && t.options.Now().Round(0).Sub(t.began) > openingTime {
		t.noteOnce("expired", "this run's certificate ends soon: no more connections are decrypted; start a new run")
		proxy.Refuse(http.StatusServiceUnavailable, "this run's certificate ends soon: start a new run").Write(w, self)
		return
	}
	var upstream net.Conn
	if !decrypted {
		if upstream, err = t.dialHost(r.Context(), host, port); err != nil {
			t.countConn(host, false)
			proxy.Refuse(http.StatusBadGateway, "can't connect to %s: %s", r.Host, err).Write(w, self)
			return
		}
		defer upstream.Close()
	}
	conn, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Time{})
	if !t.trackConn(conn) {
		return
	}
	defer t.untrackConn(conn)
	if upstream != nil && !t.trackConn(upstream) {
		return
	}
	defer t.untrackConn(upstream)
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	client := &bufferedConn{conn, buffered.Reader}
	h := t.countConn(host, decrypted)
	if decrypted {
		t.decryptConn(client, h, host, port)
	} else {
		forwardBytes(client, upstream, &h.bytes)
	}
}

// trackConn adds a connection that Serve closes at its end. It returns false if Serve has ended.
func (t *Tunnel) trackConn(c net.Conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		c.Close()
		return false
	}
	t.conns[c] = true
	t.open.Add(1)
	return true
}

func (t *Tunnel) untrackConn(c net.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.conns[c] {
		delete(t.conns, c)
		t.open.Done()
	}
}

// Connections to hosts beyond the first maxHosts are counted together.
const (
	maxHosts   = 1000
	otherHosts = "other hosts"
)

// countConn counts a connection to a host.
func (t *Tunnel) countConn(host string, decrypted bool) *hostCount {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h := t.hosts[host]; h == nil && !decrypted && len(t.hosts) >= maxHosts {
		host = otherHosts
	}
	h := t.hosts[host]
	if h == nil {
		h = &hostCount{HostStats: HostStats{Host: host, Decrypted: decrypted}}
		t.hosts[host] = h
	}
	h.Connections++
	return h
}

// noteOnce passes on a note, unless the note with the same key has been passed on.
func (t *Tunnel) noteOnce(key, text string) {
	t.mu.Lock()
	noted := t.noted[key]
	t.noted[key] = true
	t.mu.Unlock()
	if !noted {
		t.options.Note(text)
	}
}

// decryptConn makes the TLS handshake with the client, and passes the connection to the proxy. It returns when the
// connection has ended.
func (t *Tunnel) decryptConn(client *bufferedConn, h *hostCount, host, port string) {
	_ = client.SetDeadline(time.Now().Add(handshakeTime))
	first, err := client.reader.Peek(1)
	if err != nil {
		return // some clients close a connection without using it
	}
	if first[0] != handshakeRecord {
		t.noteOnce("no TLS "+host, fmt.Sprintf("a connection to %s was closed: it began without TLS", host))
		return
	}
	conn := tls.Server(client, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			if name, _, err := splitTarget(net.JoinHostPort(hello.ServerName, port)); hello.ServerName != "" && (err != nil || name != host) {
				return nil, fmt.Errorf("the TLS handshake names %q, but CONNECT names %q", hello.ServerName, host)
			}
			return nil, nil
		},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return t.authority.certificateFor(host) },
	})
	if err := conn.HandshakeContext(t.ctx); err != nil {
		t.countUnused(h)
		return
	}
	_ = client.SetDeadline(time.Time{})
	t.mu.Lock()
	h.Protocol = cmp.Or(conn.ConnectionState().NegotiatedProtocol, "http/1.1")
	t.mu.Unlock()
	open := &decryptedConn{Conn: conn, tunnel: t, host: h, ended: make(chan struct{})}
	if !t.listenerFor(host, port).deliverConn(open) {
		open.Close()
	}
	<-open.ended
}

// countUnused counts a decrypted connection that its client ended before the first byte of HTTP.
func (t *Tunnel) countUnused(h *hostCount) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return // the tunnel itself ended the connection
	}
	if h.Unused++; h.Unused == 1 {
		h.FirstUnused = t.options.Now()
	}
}

// listenerFor returns the listener whose connections the proxy serves for a host and port.
func (t *Tunnel) listenerFor(host, port string) *connListener {
	t.mu.Lock()
	defer t.mu.Unlock()
	upstream := &url.URL{Scheme: "https", Host: host}
	if port != "443" {
		upstream.Host = net.JoinHostPort(host, port)
	}
	l := t.listeners[upstream.Host]
	if l == nil {
		l = &connListener{conns: make(chan net.Conn), done: make(chan struct{})}
		t.listeners[upstream.Host] = l
		t.open.Add(1)
		go func() {
			defer t.open.Done()
			_ = t.options.Proxy.ServeDecrypted(t.ctx, l, upstream)
		}()
	}
	return l
}

// dialHost connects to a host that is not decrypted, through the user's own proxy if there is one.
func (t *Tunnel) dialHost(ctx context.Context, host, port string) (net.Conn, error) {
	address := net.JoinHostPort(host, port)
	via, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "https", Host: address}})
	if err != nil {
		return nil, err
	}
	if via == nil {
		return t.options.Proxy.Dial(ctx, host, port)
	}
	defaultPort := map[string]string{"http": "80", "https": "443"}[via.Scheme]
	if defaultPort == "" {
		return nil, fmt.Errorf("the proxy in the environment has the scheme %s: only http and https are supported", via.Scheme)
	}
	conn, err := t.options.Proxy.Dial(ctx, via.Hostname(), cmp.Or(via.Port(), defaultPort))
	if err != nil {
		return nil, err
	}
	if via.Scheme == "https" {
		conn = tls.Client(conn, &tls.Config{MinVersion: tls.VersionTLS12, ServerName: via.Hostname()})
	}
	through, err := connectThrough(ctx, conn, via, address)
	if err != nil {
		conn.Close()
	}
	return through, err
}

// connectThrough asks the user's proxy at the other end of conn for a connection to an address.
func connectThrough(ctx context.Context, conn net.Conn, via *url.URL, address string) (net.Conn, error) {
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	_ = conn.SetDeadline(time.Now().Add(handshakeTime))
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	if password, ok := via.User.Password(); ok || via.User.Username() != "" {
		request.SetBasicAuth(via.User.Username(), password)
		request.Header["Proxy-Authorization"] = request.Header["Authorization"]
		request.Header.Del("Authorization")
	}
	if err := request.Write(conn); err != nil {
		return nil, err
	}
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the proxy %s answered %s", via.Host, response.Status)
	}
	return &bufferedConn{conn, reader}, conn.SetDeadline(time.Time{})
}

// splitTarget splits the target of a CONNECT request into the host, in lower case and without a final dot, and the
// port.
func splitTarget(target string) (host, port string, err error) {
	host, port, err = net.SplitHostPort(target)
	if err != nil {
		return "", "", fmt.Errorf("the target %q of CONNECT is not HOST:PORT", target)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", "", fmt.Errorf("the target %q of CONNECT has no port between 1 and 65535", target)
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip, err := netip.ParseAddr(host); !isName(host) && (err != nil || ip.Zone() != "") {
		return "", "", fmt.Errorf("the target %q of CONNECT has no valid host", target)
	}
	return host, strconv.FormatUint(n, 10), nil
}

// isName reports whether a text can be the name of a host.
func isName(text string) bool {
	return text != "" && len(text) < 254 && !strings.Contains(text, "..") && text[0] != '.' && text[0] != '-' && text[len(text)-1] != '.' &&
		strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

// CheckName returns an error if TLS to the host must not be decrypted.
func CheckName(name string) error {
	_, notAddress := netip.ParseAddr(name)
	suffix, _ := publicsuffix.PublicSuffix(name)
	switch {
	case notAddress == nil:
		return fmt.Errorf("%q is an address, not a name", name)
	case !isName(name):
		return fmt.Errorf("%q is not a host name in lower case", name)
	case name == "localhost" || strings.HasSuffix(name, ".localhost"):
		return fmt.Errorf("%q is this machine", name)
	case name == suffix:
		return fmt.Errorf("%q is a public suffix: the certificate would be valid for all names below it", name)
	}
	return nil
}
