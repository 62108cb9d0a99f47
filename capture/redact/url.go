package redact

import (
	"net/url"
	"strings"
)

// URL is a URL, or the part of one that is known, without its secrets: the userinfo, query
// parameters that hold credentials, and whatever else looks like a secret. What it does not replace
// stays byte for byte, and what can be parsed can still be parsed.
func (r *Redactor) URL(s string) string { return r.changed(s, r.url) }

func (r *Redactor) url(s string) string {
	rest, fragment, hasFragment := strings.Cut(s, "#")
	place, query, hasQuery := strings.Cut(rest, "?")
	if i := strings.Index(place, "//"); i >= 0 {
		authority, path := place[i+2:], ""
		if j := strings.IndexByte(authority, '/'); j >= 0 {
			authority, path = authority[:j], authority[j:]
		}
		if j := strings.LastIndexByte(authority, '@'); j > 0 {
			authority = r.userinfo(authority[:j]) + authority[j:]
		}
		place = place[:i+2] + authority + r.path(path)
	} else {
		place = r.path(place)
	}
	if hasQuery {
		place += "?" + r.query(query)
	}
	if hasFragment {
		place += "#" + r.query(fragment)
	}
	return place
}

// userinfo has the brackets of its replacement escaped: a URL may not have them there.
func (r *Redactor) userinfo(s string) string {
	if _, password, ok := strings.Cut(s, ":"); ok {
		if plain, err := url.PathUnescape(password); err == nil {
			r.learn(plain, "userinfo", false)
		}
	}
	r.learn(s, "userinfo", false)
	tag := strings.Trim(r.replacement(s, "userinfo"), "[]")
	return "%5B" + tag + "%5D"
}

func (r *Redactor) path(s string) string {
	segments := strings.Split(s, "/")
	for i, segment := range segments {
		segments[i] = r.escaped(segment, url.PathUnescape, url.PathEscape)
	}
	return strings.Join(segments, "/")
}

func (r *Redactor) query(s string) string {
	pairs := strings.Split(s, "&")
	for i, pair := range pairs {
		name, secret, ok := strings.Cut(pair, "=")
		if !ok {
			pairs[i] = r.escaped(pair, url.QueryUnescape, url.QueryEscape)
			continue
		}
		if plain, err := url.QueryUnescape(name); err == nil && secretQuery(plain) && secret != "" {
			if plain, err := url.QueryUnescape(secret); err == nil {
				secret = plain
			}
			lower := strings.ToLower(name)
			r.learn(secret, lower, false)
			pairs[i] = name + "=" + r.replacement(secret, lower)
			continue
		}
		pairs[i] = r.escaped(name, url.QueryUnescape, url.QueryEscape) + "=" + r.escaped(secret, url.QueryUnescape, url.QueryEscape)
	}
	return strings.Join(pairs, "&")
}

// escaped redacts a part of a URL as what it means. A part without secrets stays as it was written.
func (r *Redactor) escaped(s string, unescape func(string) (string, error), escape func(string) string) string {
	plain, err := unescape(s)
	if err != nil {
		return r.text(s)
	}
	if clean := r.text(plain); clean != plain {
		if plain == s {
			return clean
		}
		return escape(clean)
	}
	return s
}
