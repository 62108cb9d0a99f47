package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	dialTime      = 30 * time.Second
	handshakeTime = 10 * time.Second
	continueTime  = time.Second // a client that waits for "100 Continue" has waited long enough, whatever the upstream does
	idleUpstream  = 30 * time.Second
	pingAfter     = 15 * time.Second // of silence on an HTTP/2 connection, to notice one that is gone
	copyBytes     = 32 << 10
)

// newTransport makes what talks to the upstreams: it undoes no coding, adds no header field, checks
// certificates, and goes through the proxy that the environment names, if any.
func newTransport(o Options, l Limits) *http.Transport {
	dial := o.dial
	if dial == nil {
		dial = dialGuard{}.dialChecked
	}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dial,
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

// dialGuard looks at each address that a name resolved to, when it is dialled: a name that resolves to
// something else the second time gains nothing by it. An address that the upstream's URL names
// itself is what the user wants.
type dialGuard struct{ resolver *net.Resolver } // nil is the system's

func (g dialGuard) dialChecked(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTime, Resolver: g.resolver}
	if host, _, err := net.SplitHostPort(address); err == nil {
		if _, err := netip.ParseAddr(host); err != nil {
			d.Control = func(_, resolved string, _ syscall.RawConn) error { return checkAddress(host, resolved) }
		}
	}
	return d.DialContext(ctx, network, address)
}

// metadata are the addresses at which clouds give their machines' credentials away and that are not
// link-local.
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"),   // https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
	netip.MustParseAddr("fd20:ce::254"),    // https://cloud.google.com/compute/docs/metadata/querying-metadata
	netip.MustParseAddr("100.100.100.200"), // https://www.alibabacloud.com/help/en/ecs/user-guide/view-instance-metadata
}

func checkAddress(host, resolved string) error {
	to, err := netip.ParseAddrPort(resolved)
	if err != nil {
		return fmt.Errorf("%s resolves to %s, which is no address", host, resolved)
	}
	addr := to.Addr().Unmap().WithZone("")
	if addr.IsLinkLocalUnicast() || addr.IsLinkLocalMulticast() || slices.Contains(metadata, addr) {
		return fmt.Errorf("%s resolves to %s, %w", host, addr, errForbidden)
	}
	return nil
}

// errForbidden: behind the name there is no provider.
var errForbidden = errors.New("a link-local or metadata address: refused unless the upstream's URL names the address itself")

// buffers lends what bodies are copied through.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return *p
	}
	return make([]byte, copyBytes)
}

func (b *buffers) Put(p []byte) { b.pool.Put(&p) }
