// Package hostguard tells which requests a server on this machine may answer.
//
// A page in a browser can make its visitor's browser send requests to the loopback. The Host check
// is against pages whose name was made to resolve there (DNS rebinding), the Origin and
// Sec-Fetch-Site checks are against all others.
package hostguard

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Rules says who may ask.
type Rules struct {
	Public  bool     // other machines, which know the server by any name
	Origins []string // what a browser may say its page's origin is, besides those of the loopback
	Purpose string   // what the server is for, said to a request that names another host: "this server goes nowhere"
}

// Refusal is the answer to a request that is not let in.
type Refusal struct {
	Status int
	Why    string
}

// Refuse is the answer of that status, for a reason in words.
func Refuse(status int, format string, args ...any) *Refusal {
	return &Refusal{status, fmt.Sprintf(format, args...)}
}

// Words are what the client is told; who says it.
func (no *Refusal) Words(who string) string { return who + ": " + no.Why + "\n" }

// Write answers, and ends the connection.
func (no *Refusal) Write(w http.ResponseWriter, who string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Connection", "close")
	w.WriteHeader(no.Status)
	_, _ = io.WriteString(w, no.Words(who))
}

// Check is nil for a request that may be answered.
func (rules Rules) Check(r *http.Request) *Refusal {
	if no := rules.checkHost(r); no != nil {
		return no
	}
	return rules.checkOrigin(r)
}

// checkHost wants the loopback's name, or the address the request came to. A public server has any
// name.
func (rules Rules) checkHost(r *http.Request) *Refusal {
	host, port := splitHost(r.Host)
	own, ownPort := LocalAddress(r)
	named := IsLoopback(host) || own != "" && host == own
	switch {
	case r.URL.Host != "" && (port != ownPort || !named && !rules.Public):
		return Refuse(http.StatusMisdirectedRequest, "a request for the other host %q is refused: %s", r.Host, rules.Purpose)
	case !named && !rules.Public:
		return Refuse(http.StatusMisdirectedRequest, "the Host %q is refused: it is no name of the loopback, so the client may have been led here", r.Host)
	}
	return nil
}

// checkOrigin wants no page behind the request but those of the loopback and those that are
// allowed.
func (rules Rules) checkOrigin(r *http.Request) *Refusal {
	origins := r.Header.Values("Origin")
	for _, origin := range origins {
		u, err := url.Parse(origin)
		local := err == nil && u.Host != "" && IsLoopback(u.Hostname())
		if !local && !slices.Contains(rules.Origins, origin) {
			return Refuse(http.StatusForbidden, "the Origin %q is refused: a page in a browser sends this, and it is not one of this machine", origin)
		}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); len(origins) == 0 && site == "cross-site" {
		return Refuse(http.StatusForbidden, "a request that another site's page makes the browser send (Sec-Fetch-Site: cross-site) is refused")
	}
	return nil
}

// Handler lets in what may be answered. who says no to everything else, of which refused is told.
func (rules Rules) Handler(next http.Handler, who string, refused func(*Refusal)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		no := rules.Check(r)
		if no == nil {
			next.ServeHTTP(w, r)
			return
		}
		refused(no)
		no.Write(w, who)
	})
}

// Protocols are those a server here speaks: HTTP/2 without TLS too, which clients begin with that
// know of nothing else, as the AWS SDK for JavaScript does (RFC 9113 §3.3).
func Protocols() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	p.SetUnencryptedHTTP2(true)
	return p
}

// LocalAddress is where the request's connection came in; both empty when that is not known.
func LocalAddress(r *http.Request) (host, port string) {
	addr, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if addr == nil {
		return "", ""
	}
	host, port, _ = net.SplitHostPort(addr.String())
	return host, port
}

// splitHost takes a Host header apart; the port is 80 when it names none.
func splitHost(s string) (host, port string) {
	if h, p, err := net.SplitHostPort(s); err == nil {
		return h, p
	}
	return strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"), "80"
}

// IsLoopback reports whether a host name or address can only be this machine: RFC 6761 §6.3 keeps
// localhost for it.
func IsLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
