package hostguard

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// Times between checks of a client that sends no more data.
const (
	minLookTime = time.Millisecond
	maxLookTime = time.Second
)

// ClientContext returns a context that ends when the client of a request goes away, and has the values of
// the request's own context. Its cancel function must be called.
//
// net/http reports a client that ends its side of the connection as gone. But a client may do so after its
// last request, and still read (RFC 9112 §9.6 allows it). On the wire both are the same until the server
// sends something. So the context continues while the client's socket on this machine is open.
func ClientContext(r *http.Request) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	stop := context.AfterFunc(r.Context(), func() {
		for wait := minLookTime; IsHalfClosed(r); wait = min(2*wait, maxLookTime) {
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return
			}
		}
		cancel(context.Cause(r.Context()))
	})
	return ctx, func(cause error) {
		stop()
		cancel(cause)
	}
}

// IsHalfClosed reports whether net/http reported the client of a request as gone although the client may
// still read: it has only closed its sending side.
func IsHalfClosed(r *http.Request) bool {
	if context.Cause(r.Context()) != context.Canceled || r.ProtoMajor != 1 {
		return false
	}
	own, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return own != nil && hasOpenSocket(addrPort(r.RemoteAddr), addrPort(own.String()))
}

func addrPort(text string) netip.AddrPort {
	addr, _ := netip.ParseAddrPort(text)
	return addr
}
