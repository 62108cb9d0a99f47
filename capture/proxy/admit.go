package proxy

import (
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// refusal is the answer to a request that goes nowhere.
type refusal struct {
	status int
	why    string
}

func refuse(status int, format string, args ...any) *refusal {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

func (no *refusal) text() string { return "toolscope proxy: " + no.why + "\n" }

func (no *refusal) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Connection", "close")
	if no.status == http.StatusMethodNotAllowed {
		h.Set("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
	}
	w.WriteHeader(no.status)
	w.Write([]byte(no.text()))
}

// admit tells where a request goes, or why it does not.
//
// A page in a browser can make its visitor's browser send requests to the loopback. The Host check is against pages
// whose name was made to resolve there (DNS rebinding), the Origin and Sec-Fetch-Site checks are against all others.
func (p *Proxy) admit(r *http.Request) (*target, *refusal) {
	switch {
	case r.Method == http.MethodConnect:
		return nil, refuse(http.StatusMethodNotAllowed, "CONNECT is refused: this proxy goes only to the upstreams it was given")
	case len(r.TransferEncoding) > 0 && hadLength(r):
		return nil, refuse(http.StatusBadRequest, "Content-Length and Transfer-Encoding in one request are refused: which of them holds is a matter of opinion")
	}
	path, no := p.checkToken(r)
	if no == nil {
		no = p.checkHost(r)
	}
	if no == nil {
		no = p.checkOrigin(r)
	}
	if no != nil {
		return nil, no
	}
	to := find(p.routes, r.URL, path)
	if to == nil {
		return nil, refuse(http.StatusNotFound, "no upstream for the path %q: there are %s", path, prefixes(p.routes))
	}
	if isOwn(r, to.url) {
		return nil, refuse(http.StatusLoopDetected, "the upstream %s is this proxy itself", to.url.Host)
	}
	return to, nil
}

// isOwn reports whether u is where the request came in, as it may be after a base URL was set twice. It would come in
// again and again.
func isOwn(r *http.Request, u *url.URL) bool {
	host, port := localAddress(r)
	to := u.Port()
	if to == "" {
		to = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return port != "" && port == to && (u.Hostname() == host || isLoopback(host) && isLoopback(u.Hostname()))
}

// checkToken returns the request's path without the token.
func (p *Proxy) checkToken(r *http.Request) (string, *refusal) {
	path := written(r)
	if p.options.Token == "" {
		return path, nil
	}
	if shown, ok := strings.CutPrefix(r.Header.Get("Proxy-Authorization"), "Bearer "); ok && p.isToken(shown) {
		return path, nil
	}
	if segment, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/"); p.isToken(segment) {
		return "/" + rest, nil
	}
	return "", refuse(http.StatusUnauthorized, "the token is missing: it is the first part of the path, or goes into Proxy-Authorization")
}

func (p *Proxy) isToken(s string) bool {
	return subtle.ConstantTimeCompare([]byte(s), []byte(p.options.Token)) == 1
}

// checkHost wants the loopback's name, or the address the request came to. A public proxy has any name; there the token
// keeps strangers out.
func (p *Proxy) checkHost(r *http.Request) *refusal {
	host, port := splitHost(r.Host)
	own, ownPort := localAddress(r)
	named := isLoopback(host) || own != "" && host == own
	switch {
	case r.URL.Host != "" && (port != ownPort || !named && !p.options.Public):
		return refuse(http.StatusMisdirectedRequest, "a request for the other host %q is refused: this proxy goes only to the upstreams it was given", r.Host)
	case !named && !p.options.Public:
		return refuse(http.StatusMisdirectedRequest, "the Host %q is refused: it is no name of the loopback, so the client may have been led here", r.Host)
	}
	return nil
}

// checkOrigin wants no page behind the request but those of the loopback and those that are allowed.
func (p *Proxy) checkOrigin(r *http.Request) *refusal {
	origins := r.Header.Values("Origin")
	for _, origin := range origins {
		u, err := url.Parse(origin)
		local := err == nil && u.Host != "" && isLoopback(u.Hostname())
		if !local && !slices.Contains(p.options.Origins, origin) {
			return refuse(http.StatusForbidden, "the Origin %q is refused: a page in a browser sends this, and it is not one of this machine", origin)
		}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); len(origins) == 0 && site == "cross-site" {
		return refuse(http.StatusForbidden, "a request that another site's page makes the browser send (Sec-Fetch-Site: cross-site) is refused")
	}
	return nil
}

// localAddress is where the request's connection came in; both empty when that is not known.
func localAddress(r *http.Request) (host, port string) {
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

// isLoopback reports whether a host name or address can only be this machine: RFC 6761 §6.3 keeps localhost for it.
func isLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
