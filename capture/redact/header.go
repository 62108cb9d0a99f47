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
		if _, sought := secretHeader(strings.ToLower(name)); sought {
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
	case strings.HasSuffix(name, "authorization"):
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

// secretHeaders are the headers whose value is a credential. true means that bodies are searched for the
// value too.
var secretHeaders = map[string]bool{
	"authorization": true, "proxy-authorization": true, "x-api-key": true, "api-key": true, "x-goog-api-key": true,
	"ocp-apim-subscription-key": true, "cookie": true, "set-cookie": true, "x-amz-security-token": true,
	"x-amz-signature": true, "openai-organization": false, "openai-project": false,
}

// plainHeaders are named like credentials, but are not.
var plainHeaders = map[string]bool{"idempotency-key": true, "sec-websocket-key": true, "surrogate-key": true}

// secretHeader reports whether the value of a header (lower case name) is replaced, and whether it is
// searched for later.
func secretHeader(name string) (replaced, sought bool) {
	if sought, ok := secretHeaders[name]; ok {
		return true, sought
	}
	if plainHeaders[name] {
		return false, false
	}
	found := keyEnd(name) || strings.HasSuffix(name, "-password")
	return found, found
}

// keyEnd reports whether a name (lower case) ends like a credential's.
func keyEnd(name string) bool {
	sign := strings.LastIndexAny(name, "-_")
	return sign >= 0 && slices.Contains([]string{"token", "secret", "key"}, name[sign+1:])
}

// secretQuery reports whether the value of a query parameter is a credential.
func secretQuery(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "key", "api_key", "apikey", "api-key", "token", "sig", "signature", "secret", "password", "auth",
		"subscription-key", "code_verifier":
		return true
	}
	return keyEnd(name) || strings.HasPrefix(name, "x-amz-") || strings.HasPrefix(name, "x-goog-") && strings.Contains(name, "sig")
}
