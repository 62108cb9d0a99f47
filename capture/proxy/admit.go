package proxy

import (
	"cmp"
	"crypto/subtle"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"toolscope/capture"
	"toolscope/capture/hostguard"
)

// self names the proxy in its own answers.
const self = "toolscope proxy"

// writeRefusal answers the request in the upstream's place.
func writeRefusal(w http.ResponseWriter, no *hostguard.Refusal) {
	if no.Status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
	}
	no.Write(w, self)
}

// recordRefusal records a refused request as an exchange that this proxy answered. It doesn't read the
// body.
func (p *Proxy) recordRefusal(r *http.Request, no *hostguard.Refusal) {
	number, at := int(p.numbers.Add(1)), p.recordTime()
	header := r.Header.Clone()
	header.Del("Proxy-Authorization")
	put := func(rec capture.Record) {
		rec.Exchange, rec.At = number, at
		p.options.Record(rec)
	}
	path := cmp.Or(rawPath(r), r.RequestURI)
	if p.options.Token != "" { // the first segment may be the token, or a wrong guess of it
		_, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		path = "/…/" + rest
	}
	head := capture.Head{Method: r.Method, URL: "http://" + r.Host + path, Header: header, Start: p.options.Now()}
	put(capture.Record{Side: capture.Request, Head: &head})
	put(capture.Record{
		By: capture.Toolscope, Note: capture.OwnAnswer + no.Why,
		Head: &capture.Head{Status: no.Status, Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, Start: p.options.Now()},
	})
	put(capture.Record{Data: []byte(no.Words(self))})
	put(capture.Record{End: capture.EndEOF, Why: capture.Refused + no.Why, By: capture.Toolscope})
}

// routeRequest returns the target of a request, or why it is refused. passed are the marks of the servers that
// the request has passed. A public proxy accepts any host name; the token keeps strangers out.
func (p *Proxy) routeRequest(r *http.Request, passed []string) (*target, *hostguard.Refusal) {
	switch {
	case r.Method == http.MethodConnect:
		return nil, hostguard.Refuse(http.StatusMethodNotAllowed, "CONNECT is refused: this proxy forwards only to its own upstreams")
	case len(r.TransferEncoding) > 0 && hadLength(r):
		return nil, hostguard.Refuse(http.StatusBadRequest, "a request with both Content-Length and Transfer-Encoding is refused: its length is ambiguous")
	}
	path, no := p.checkToken(r)
	if no != nil {
		return nil, no
	}
	rules := hostguard.Rules{Public: p.options.Public, Origins: p.options.Origins, Purpose: "this proxy forwards only to its own upstreams"}
	if no := rules.Check(r); no != nil {
		return nil, no
	}
	to := findRoute(p.routes, r.URL, path, r.Header)
	if to == nil {
		if p.options.Advise != nil {
			if advice := p.options.Advise(r); advice != "" {
				return nil, hostguard.Refuse(http.StatusNotFound, "no provider in the path: %s", advice)
			}
		}
		return nil, hostguard.Refuse(http.StatusNotFound, "no upstream for the path %q: use one of %s", path, routePrefixes(p.routes))
	}
	if isOwn(r, to.url) {
		return nil, hostguard.Refuse(http.StatusLoopDetected, "the upstream %s is this proxy itself", to.url.Host)
	}
	if slices.Contains(passed, p.mark) {
		return nil, hostguard.Refuse(http.StatusLoopDetected, "the upstream %s leads back to this proxy", to.url.Host)
	}
	to.marks = append(passed, p.mark)
	return to, nil
}

// isOwn reports whether u is this proxy, e.g. because a base URL was set twice. Such a request would
// loop forever.
func isOwn(r *http.Request, u *url.URL) bool {
	host, port := hostguard.LocalAddress(r)
	to := u.Port()
	if to == "" {
		to = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return port != "" && port == to && (u.Hostname() == host || hostguard.IsLoopback(host) && hostguard.IsLoopback(u.Hostname()))
}

// checkToken returns the request's path without the token, or a refusal if the token is missing.
func (p *Proxy) checkToken(r *http.Request) (string, *hostguard.Refusal) {
	path := rawPath(r)
	if p.options.Token == "" {
		return path, nil
	}
	if shown, ok := strings.CutPrefix(r.Header.Get("Proxy-Authorization"), "Bearer "); ok && p.isToken(shown) {
		return path, nil
	}
	if segment, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/"); p.isToken(segment) {
		return "/" + rest, nil
	}
	return "", hostguard.Refuse(http.StatusUnauthorized, "the token is missing: put it first in the path, or in Proxy-Authorization")
}

func (p *Proxy) isToken(s string) bool {
	return subtle.ConstantTimeCompare([]byte(s), []byte(p.options.Token)) == 1
}
