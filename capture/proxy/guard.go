package proxy

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// The guard decides which requests a server on this machine may answer.
//
// A web page can make its visitor's browser send requests to the loopback. The Host check stops pages whose
// host name was made to resolve to the loopback (DNS rebinding). The Origin and Sec-Fetch-Site checks stop
// all other pages.

// GuardRules define which requests are allowed.
type GuardRules struct {
	Public  bool     // requests may come from other machines, and may use any name for the server
	Origins []string // allowed origins of web pages, in addition to the loopback
	Purpose string   // the server's purpose, which explains why requests to another host are refused: "this server goes nowhere"
}

// Refusal is the response to a request that is refused.
type Refusal struct {
	Status int
	Why    string
}

// Refuse returns a refusal with a status and a formatted reason.
func Refuse(status int, format string, args ...any) *Refusal {
	return &Refusal{status, fmt.Sprintf(format, args...)}
}

// Words returns the response's body. The parameter who is the name of the program that refuses the request.
func (no *Refusal) Words(who string) string { return who + ": " + no.Why + "\n" }

// refusedBodyTime is the maximum time that a refused request's body may take to arrive. net/http reads a body before it
// closes the connection, so that the client can read the response.
const refusedBodyTime = time.Second

// Write writes the response and closes the connection.
func (no *Refusal) Write(w http.ResponseWriter, who string) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(refusedBodyTime))
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Connection", "close")
	w.WriteHeader(no.Status)
	_, _ = io.WriteString(w, no.Words(who))
}

// Check returns nil if a request may be answered, and a refusal otherwise.
func (rules GuardRules) Check(r *http.Request) *Refusal {
	if no := rules.checkHost(r); no != nil {
		return no
	}
	// Refuse requests from web pages, except pages on the loopback and pages with allowed origins.
	origins := r.Header.Values("Origin")
	for _, origin := range origins {
		u, err := url.Parse(origin)
		local := err == nil && u.Host != "" && IsLoopback(u.Hostname())
		if !local && !slices.Contains(rules.Origins, origin) {
			return Refuse(http.StatusForbidden, "the Origin %q is refused: it belongs to a web page that is not on this machine", origin)
		}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); len(origins) == 0 && site == "cross-site" {
		return Refuse(http.StatusForbidden, "a browser's request from a page on another site (Sec-Fetch-Site: cross-site) is refused")
	}
	return nil
}

// checkHost checks that a request's host is a name of the loopback, or the address at which the request arrived. A
// public server may have any name. The result is nil if the host is allowed.
func (rules GuardRules) checkHost(r *http.Request) *Refusal {
	host, port := splitHost(r.Host)
	own, ownPort := LocalAddress(r)
	named := IsLoopback(host) || own != "" && host == own
	switch {
	case r.URL.Host != "" && (port != ownPort || !named && !rules.Public):
		return Refuse(http.StatusMisdirectedRequest, "a request for another host %q is refused: %s", r.Host, rules.Purpose)
	case !named && !rules.Public:
		return Refuse(http.StatusMisdirectedRequest, "the Host %q is refused: it is not a loopback name, so a web page may have made the client send this request", r.Host)
	}
	return nil
}

// Handler passes allowed requests to the handler next, with a [ClientContext] and without marks. It refuses all
// others and passes the refusals to the function refused. The parameter who is the name of this program in refusals.
func (rules GuardRules) Handler(next http.Handler, who string, refused func(*Refusal)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		no := rules.Check(r)
		if no == nil {
			ctx, cancel := ClientContext(r)
			defer cancel(nil)
			TakeMarks(r.Header)
			next.ServeHTTP(w, r.WithContext(ctx))
			return
		}
		refused(no)
		no.Write(w, who)
	})
}

// HTTPProtocols returns the protocols that toolscope's servers accept. They include HTTP/2 without TLS, because some
// clients begin with it without negotiation, for example the AWS SDK for JavaScript (RFC 9113 §3.3).
func HTTPProtocols() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	p.SetUnencryptedHTTP2(true)
	return p
}

// LocalAddress returns the local address of the request's connection. Both results are empty if the address is
// unknown.
func LocalAddress(r *http.Request) (host, port string) {
	addr, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if addr == nil {
		return "", ""
	}
	host, port, _ = net.SplitHostPort(addr.String())
	return host, port
}

// splitHost splits a Host header into host and port. The default port is 80.
func splitHost(s string) (host, port string) {
	if h, p, err := net.SplitHostPort(s); err == nil {
		return h, p
	}
	return strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"), "80"
}

// IsLoopback reports whether a host name or address can only be this machine. The names are those that RFC 6761 §6.3
// reserves: localhost, and all names that end in .localhost.
func IsLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// markField is a request header field that lists the marks of toolscope's servers on this machine that the request
// has passed. By its own mark, a server notices that its upstream leads back to it, directly or through other
// servers. The field applies only to one connection (RFC 9110 §7.6.1), so other proxies don't forward it.
const markField = "Toolscope-Via"

// NewMark returns a mark for a server. The mark is random, so it reveals nothing.
func NewMark() string { return rand.Text() }

// TakeMarks removes the marks from a request's header and returns them.
func TakeMarks(h http.Header) (marks []string) {
	values, ok := h[markField]
	if !ok {
		return nil
	}
	delete(h, markField)
	for _, v := range values {
		for mark := range strings.SplitSeq(v, ",") {
			marks = append(marks, strings.TrimSpace(mark))
		}
	}
	isOurs := func(value string) bool { return strings.EqualFold(strings.TrimSpace(value), markField) }
	if rest := slices.DeleteFunc(slices.Clone(h["Connection"]), isOurs); len(rest) > 0 {
		h["Connection"] = rest
	} else {
		delete(h, "Connection")
	}
	return marks
}

// SetMarks sets the marks of a request to an upstream if the upstream may be a toolscope server on this machine.
func SetMarks(h http.Header, to *url.URL, marks []string) {
	addr, err := netip.ParseAddr(to.Hostname())
	local := IsLoopback(to.Hostname()) || err == nil && addr.Unmap().IsUnspecified() // 0.0.0.0 leads to the loopback
	if to.Scheme == "http" && local {
		h[markField] = []string{strings.Join(marks, ", ")}
		h["Connection"] = append(h["Connection"], markField)
	}
}

// These are the times between checks whether a client that sends no more data is still connected.
const (
	minLookTime = time.Millisecond
	maxLookTime = time.Second
)

// ClientContext returns a context that ends when the client of a request disconnects. It has the values of
// the request's own context. Its cancel function must be called.
//
// If a client ends its side of the connection, net/http reports the client as gone. But a client may end its
// side after its last request and still read (RFC 9112 §9.6 allows it). Until the server sends data, the two
// cases can't be distinguished on the wire. The context therefore continues while the client's socket on this
// machine is open.
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

// IsHalfClosed reports whether the client of a request may still be reading although net/http reported it as gone.
// Such a client has closed only its sending side.
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
