package redact

import (
	"net/url"
	"strings"
)

// URL returns a URL, or the known part of one, without its secrets: the userinfo, query parameters with
// credentials, and anything else that looks like a secret. The rest stays byte for byte, and a URL that
// can be parsed still can be.
func (r *Redactor) URL(s string) string { return r.redactWith(s, r.redactURL) }

func (r *Redactor) redactURL(s string) string {
	rest, fragment, hasFragment := strings.Cut(s, "#")
	place, query, hasQuery := strings.Cut(rest, "?")
	if i := strings.Index(place, "//"); i >= 0 {
		authority, path := place[i+2:], ""
		if j := strings.IndexByte(authority, '/'); j >= 0 {
			authority, path = authority[:j], authority[j:]
		}
		if j := strings.LastIndexByte(authority, '@'); j > 0 {
			authority = r.redactUserinfo(authority[:j]) + authority[j:]
		}
		place = place[:i+2] + authority + r.redactPath(path)
	} else {
		place = r.redactPath(place)
	}
	if hasQuery {
		place += "?" + r.redactQuery(query)
	}
	if hasFragment {
		place += "#" + r.redactQuery(fragment)
	}
	return place
}

// redactUserinfo escapes the brackets of its replacement: a URL may not have them there.
func (r *Redactor) redactUserinfo(s string) string {
	if _, password, ok := strings.Cut(s, ":"); ok {
		if plain, err := url.PathUnescape(password); err == nil {
			r.learnParts(plain, "userinfo", false)
		}
	}
	r.learnParts(s, "userinfo", false)
	tag := strings.Trim(r.replacementOf(s, "userinfo"), "[]")
	return "%5B" + tag + "%5D"
}

func (r *Redactor) redactPath(s string) string {
	segments := strings.Split(s, "/")
	for i, segment := range segments {
		parts := strings.Split(segment, ";")
		for j, part := range parts {
			if name, secret, ok := strings.Cut(part, "="); ok && j > 0 && secret != "" && secretQuery(name) {
				r.learnParts(secret, strings.ToLower(name), false)
				parts[j] = name + "=" + r.replacementOf(secret, strings.ToLower(name))
				continue
			}
			parts[j] = r.redactEscaped(part, url.PathUnescape, url.PathEscape)
		}
		segments[i] = strings.Join(parts, ";")
	}
	return strings.Join(segments, "/")
}

func (r *Redactor) redactQuery(s string) string {
	pairs := strings.Split(s, "&")
	for i, pair := range pairs {
		name, secret, ok := strings.Cut(pair, "=")
		if !ok {
			pairs[i] = r.redactEscaped(pair, url.QueryUnescape, url.QueryEscape)
			continue
		}
		if plain, err := url.QueryUnescape(name); err == nil && secretQuery(plain) && secret != "" {
			if plain, err := url.QueryUnescape(secret); err == nil {
				secret = plain
			}
			lower := strings.ToLower(name)
			r.learnParts(secret, lower, false)
			pairs[i] = name + "=" + r.replacementOf(secret, lower)
			continue
		}
		pairs[i] = r.redactEscaped(name, url.QueryUnescape, url.QueryEscape) + "=" + r.redactEscaped(secret, url.QueryUnescape, url.QueryEscape)
	}
	return strings.Join(pairs, "&")
}

// redactEscaped redacts a part of a URL in its unescaped form. A part without secrets stays as it was
// written.
func (r *Redactor) redactEscaped(s string, unescape func(string) (string, error), escape func(string) string) string {
	plain, err := unescape(s)
	if err != nil {
		return r.redactText(s)
	}
	if clean := r.redactText(plain); clean != plain {
		if plain == s {
			return clean
		}
		return escape(clean)
	}
	return s
}
