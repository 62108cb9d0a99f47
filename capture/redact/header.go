package redact

import (
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Header returns a copy of a header without its secrets. Values of credential headers are secrets from
// then on.
func (r *Redactor) Header(h http.Header) http.Header {
	if r.keep {
		return h.Clone()
	}
	r.lockAndPrepare()
	defer r.mu.Unlock()
	return r.redactHeader(h, false)
}

func (r *Redactor) redactHeader(h http.Header, answered bool) http.Header {
	if h == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(h)) { // first of all: another header may repeat it
		if _, sought := secretHeader(strings.ToLower(name)); sought || strings.EqualFold(name, "Sec-Websocket-Protocol") {
			for _, v := range h[name] {
				r.mapCredential(strings.ToLower(name), v, func(secret string) string {
					r.learnParts(secret, strings.ToLower(name), answered)
					return secret
				})
			}
		}
	}
	clean := make(http.Header, len(h))
	for name, values := range h {
		lower := strings.ToLower(name)
		replaced, _ := secretHeader(lower)
		copied := make([]string, len(values))
		for i, v := range values {
			switch {
			case lower == "sec-websocket-protocol":
				copied[i] = r.redactText(r.mapCredential(lower, v, func(secret string) string { return r.replacementOf(secret, lower) }))
			case replaced:
				copied[i] = r.mapCredential(lower, v, func(secret string) string { return r.replacementOf(secret, lower) })
			case lower == "location" || lower == "referer" || lower == "content-location":
				copied[i] = r.redactURL(v)
			default:
				copied[i] = r.redactText(v)
			}
		}
		clean[name] = copied
	}
	return clean
}

// mapCredential passes each secret in the value of a credential header through change: the part after the
// scheme of an authorization, the values of cookies, and otherwise all of it.
func (r *Redactor) mapCredential(name, v string, change func(string) string) string {
	switch {
	case strings.TrimSpace(v) == "":
		return v
	case name == "cookie" || name == "set-cookie":
		pairs := strings.Split(v, ";")
		for i, pair := range pairs {
			if k, secret, ok := strings.Cut(pair, "="); ok && secret != "" && (i == 0 || name == "cookie") {
				pairs[i] = k + "=" + change(secret)
			}
		}
		if name == "cookie" && !strings.Contains(v, "=") {
			return change(v)
		}
		return strings.Join(pairs, ";")
	case name == "sec-websocket-protocol":
		protocols := strings.Split(v, ",")
		for i, p := range protocols {
			if before, secret, ok := cutToken(p); ok {
				protocols[i] = before + change(secret)
			}
		}
		return strings.Join(protocols, ",")
	case strings.HasSuffix(name, "authorization") || strings.HasSuffix(name, "auth") && strings.Contains(v, " "):
		scheme, secret, ok := strings.Cut(v, " ")
		secret = strings.TrimSpace(secret) // repetitions of it have no spaces
		if !ok {
			return change(v)
		}
		if plain, err := base64.StdEncoding.DecodeString(secret); err == nil && strings.EqualFold(scheme, "basic") {
			if _, password, ok := strings.Cut(string(plain), ":"); ok {
				change(password)
			}
			change(string(plain))
		}
		return scheme + " " + change(secret)
	}
	return change(v)
}

// cutToken cuts a WebSocket protocol after the part that names a credential, as in
// openai-insecure-api-key.KEY and base64url.bearer.authorization.k8s.io.TOKEN.
func cutToken(protocol string) (before, secret string, ok bool) {
	for from := 0; ; {
		n := strings.IndexByte(protocol[from:], '.')
		if n < 0 {
			return "", "", false
		}
		if _, ok := credentialName([]byte(strings.TrimSpace(protocol[from:from+n])), inRequest); ok {
			return protocol[:from+n+1], protocol[from+n+1:], true
		}
		from += n + 1
	}
}

// secretHeader reports whether the value of a header (lower case name) is replaced, and whether it is
// searched for later.
func secretHeader(name string) (replaced, sought bool) {
	known, ok := credentialName([]byte(name), inRequest)
	ok = ok && known.value != isSession // an agent's own name of its work
	return ok, ok && known.value != isPrivate
}

// secretQuery reports whether the value of a query parameter is a credential.
func secretQuery(name string) bool {
	lower := strings.ToLower(name)
	_, ok := credentialName([]byte(name), inRequest)
	return ok || strings.HasPrefix(lower, "x-amz-")
}
