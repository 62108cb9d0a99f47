package proxy

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// route is a checked Route. Its prefix has no trailing slash, so the default route's prefix is empty.
type route struct {
	prefix   string
	field    string
	upstream *url.URL
}

// newRoutes checks and sorts the routes. The longest prefix comes first, and routes that need a field come
// before those that don't.
func newRoutes(given []Route) ([]route, error) {
	var routes []route
	for _, g := range given {
		r := route{strings.TrimSuffix(g.Prefix, "/"), g.Field, g.Upstream}
		if !strings.HasPrefix(g.Prefix, "/") || strings.ContainsAny(g.Prefix, "?#%") {
			return nil, fmt.Errorf("proxy: route %q: the prefix must be a path like /openai", g.Prefix)
		}
		if slices.ContainsFunc(routes, func(o route) bool { return o.prefix == r.prefix && o.field == r.field }) {
			return nil, fmt.Errorf("proxy: route %q appears twice", g.Prefix)
		}
		if err := checkUpstream(g.Upstream); err != nil {
			return nil, fmt.Errorf("proxy: route %q: %w", g.Prefix, err)
		}
		routes = append(routes, r)
	}
	slices.SortStableFunc(routes, func(a, b route) int {
		return cmp.Or(cmp.Compare(len(b.prefix), len(a.prefix)), cmp.Compare(len(b.field), len(a.field)))
	})
	return routes, nil
}

func checkUpstream(u *url.URL) error {
	switch {
	case u == nil || u.Host == "" || u.Hostname() == "":
		return errors.New("the upstream has no host: use a URL like https://api.example.com")
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("the upstream's scheme is %q, not http or https", u.Scheme)
	case u.User != nil:
		return errors.New("the upstream's URL has a user name: credentials belong in the client's own headers")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("the upstream's URL has a query or a fragment: end the URL with the path")
	}
	return nil
}

// target is the place that a request is forwarded to.
type target struct {
	url   *url.URL
	text  string   // the URL in the form in which it is sent
	marks []string // marks of the toolscope servers that the request has passed
}

// rawPath returns the path of a request as its client wrote it. A url.URL doesn't always have that path: if one
// character should have been escaped, a url.URL escapes the complete path again, and %2F becomes a slash.
func rawPath(r *http.Request) string {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	if r.URL.Host != "" || path == "" { // an absolute URL, or a request that was not read by a server
		return r.URL.EscapedPath()
	}
	return path
}

// findRoute returns the target of a request, or nil if no route matches or the path's escapes are invalid. The
// parameter in is the request's URL. The path is matched and forwarded as the client wrote it, with its escapes. The
// query is forwarded unchanged too.
func findRoute(routes []route, in *url.URL, path string, header http.Header) *target {
	for _, r := range routes {
		if r.field != "" && header.Get(r.field) == "" {
			continue
		}
		rest, ok := strings.CutPrefix(path, r.prefix)
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		whole := strings.TrimSuffix(r.upstream.EscapedPath(), "/") + rest
		if whole == "" {
			whole = "/"
		}
		plain, err := url.PathUnescape(whole)
		if err != nil {
			return nil
		}
		to := &url.URL{
			Scheme: r.upstream.Scheme, Host: r.upstream.Host,
			Path: plain, RawPath: whole,
			RawQuery: in.RawQuery, ForceQuery: in.ForceQuery,
		}
		if to.EscapedPath() != whole && !strings.HasPrefix(whole, "//") { // in Opaque, a // at the beginning would name another host
			to.Opaque = whole
		}
		text := to.Scheme + "://" + to.Host + whole
		if to.ForceQuery || to.RawQuery != "" {
			text += "?" + to.RawQuery
		}
		return &target{url: to, text: text}
	}
	return nil
}

// routePrefixes lists the prefixes of the routes, except those that begin with the prefix of another route.
func routePrefixes(routes []route) string {
	var names []string
	for _, r := range routes {
		inside := slices.ContainsFunc(routes, func(o route) bool { return strings.HasPrefix(r.prefix, o.prefix+"/") })
		if !inside {
			names = append(names, r.prefix+"/")
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

const (
	dialTime      = 30 * time.Second
	handshakeTime = 10 * time.Second
	continueTime  = time.Second // how long a client waits for "100 Continue" if the upstream doesn't send it
	idleUpstream  = 30 * time.Second
	pingAfter     = 15 * time.Second // time without data on an HTTP/2 connection after which a ping checks that the connection is alive
	copyBytes     = 32 << 10
)

// newTransport returns the transport to the upstreams. It doesn't decode content or add header fields. It checks
// certificates, and uses the proxy from the environment, if one is set.
func newTransport(o Options, l Limits) *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            o.Dial,
		TLSClientConfig:        &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    handshakeTime,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingAfter},
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        idleUpstream,
		ExpectContinueTimeout:  continueTime,
		MaxResponseHeaderBytes: int64(l.HeaderBytes),
		ReadBufferSize:         copyBytes,
		WriteBufferSize:        copyBytes,
	}
}

// dialFunc connects to an address.
type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// upstreamConns are the open connections to upstreams. A transport closes only idle connections, and an HTTP/2
// connection is not idle while it is still ending a cancelled stream. Without closeAll, such a connection would
// outlive the proxy.
type upstreamConns struct {
	mu     sync.Mutex
	open   map[*upstreamConn]bool
	closed bool
}

// upstreamConn is a connection to an upstream.
type upstreamConn struct {
	net.Conn
	of *upstreamConns
}

// Close closes the connection.
func (c *upstreamConn) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite closes the write side of the connection. It is used for upgraded connections.
func (c *upstreamConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// trackDial returns a dialFunc whose connections are tracked.
func (u *upstreamConns) trackDial(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.closed {
			conn.Close()
			return nil, errClosed
		}
		c := &upstreamConn{conn, u}
		if u.open == nil {
			u.open = map[*upstreamConn]bool{}
		}
		u.open[c] = true
		return c, nil
	}
}

// closeAll closes all connections, including those that are made later.
func (u *upstreamConns) closeAll() {
	u.mu.Lock()
	open := u.open
	u.open, u.closed = nil, true
	u.mu.Unlock()
	for c := range open {
		_ = c.Conn.Close()
	}
}

// dialGuard checks each resolved address when it is dialled, so a name can't pass the check and then resolve to
// another address. It allows any address that the upstream's URL names directly.
type dialGuard struct{ resolver *net.Resolver } // nil means the system's resolver

func (g dialGuard) dialChecked(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTime, Resolver: g.resolver}
	if host, _, err := net.SplitHostPort(address); err == nil {
		if _, err := netip.ParseAddr(host); err != nil {
			d.Control = func(_, resolved string, _ syscall.RawConn) error { return checkAddress(host, resolved) }
		}
	}
	return d.DialContext(ctx, network, address)
}

// metadata lists the addresses at which cloud services provide the credentials of their machines, except link-local
// addresses.
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"),   // https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
	netip.MustParseAddr("fd20:ce::254"),    // https://cloud.google.com/compute/docs/metadata/querying-metadata
	netip.MustParseAddr("168.63.129.16"),   // https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
	netip.MustParseAddr("192.0.0.192"),     // http://192.0.0.192/latest/ of Oracle's classic cloud
	netip.MustParseAddr("100.100.100.200"), // https://www.alibabacloud.com/help/en/ecs/user-guide/view-instance-metadata
}

func checkAddress(host, resolved string) error {
	to, err := netip.ParseAddrPort(resolved)
	if err != nil {
		return fmt.Errorf("%s resolves to %s, which is not an address", host, resolved)
	}
	addr := embeddedIPv4(to.Addr().Unmap().WithZone(""))
	if addr.IsLinkLocalUnicast() || addr.IsLinkLocalMulticast() || slices.Contains(metadata, addr) {
		return fmt.Errorf("%s resolves to %s, %w", host, addr, errForbidden)
	}
	return nil
}

// embeddedIPv4 returns the IPv4 address to which a gateway or a tunnel translates an IPv6 address (RFC 6052 and RFC 8215:
// NAT64; RFC 3056: 6to4; RFC 4291 §2.5.5.1: IPv4-compatible). It returns any other address unchanged.
func embeddedIPv4(addr netip.Addr) netip.Addr {
	if !addr.Is6() {
		return addr
	}
	b := addr.As16()
	switch {
	case slices.ContainsFunc(translated, func(p netip.Prefix) bool { return p.Contains(addr) }):
		return netip.AddrFrom4([4]byte(b[12:]))
	case b[0] == 0x20 && b[1] == 0x02:
		return netip.AddrFrom4([4]byte(b[2:]))
	}
	return addr
}

// translated are prefixes of addresses that end with an IPv4 address.
var translated = []netip.Prefix{netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("::/96")}

// errForbidden means that a name resolves to an address that can't be that of a provider.
var errForbidden = errors.New("a link-local or metadata address: refused unless the upstream's URL names the address itself")

// buffers provides the buffers for copying bodies.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return *p
	}
	return make([]byte, copyBytes)
}

func (b *buffers) Put(p []byte) { b.pool.Put(&p) }
