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
	continueTime  = time.Second // how long a client waits for "100 Continue", whatever the upstream does
	idleUpstream  = 30 * time.Second
	pingAfter     = 15 * time.Second // after this silence on an HTTP/2 connection, to notice a dead one
	copyBytes     = 32 << 10
)

// newTransport returns the transport to the upstreams. It undoes no coding, adds no header field,
// checks certificates, and uses the proxy that the environment names, if any.
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

// dialGuard checks each resolved address when it is dialled, so a name that later resolves to another
// address gains nothing. It allows any address that the upstream's URL names directly.
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

// metadata lists the addresses at which clouds give out their machines' credentials, except link-local
// ones.
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"),   // https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
	netip.MustParseAddr("fd20:ce::254"),    // https://cloud.google.com/compute/docs/metadata/querying-metadata
	netip.MustParseAddr("100.100.100.200"), // https://www.alibabacloud.com/help/en/ecs/user-guide/view-instance-metadata
}

func checkAddress(host, resolved string) error {
	to, err := netip.ParseAddrPort(resolved)
	if err != nil {
		return fmt.Errorf("%s resolves to %s, which is not an address", host, resolved)
	}
	addr := to.Addr().Unmap().WithZone("")
	if addr.IsLinkLocalUnicast() || addr.IsLinkLocalMulticast() || slices.Contains(metadata, addr) {
		return fmt.Errorf("%s resolves to %s, %w", host, addr, errForbidden)
	}
	return nil
}

// errForbidden means that a name resolves to an address that can't be a provider's.
var errForbidden = errors.New("a link-local or metadata address: refused unless the upstream's URL names the address itself")

// buffers lends the buffers for copying bodies.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return *p
	}
	return make([]byte, copyBytes)
}

func (b *buffers) Put(p []byte) { b.pool.Put(&p) }
