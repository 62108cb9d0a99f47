package cli

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"toolscope/capture/proxy"
	"toolscope/providers/host"
)

// route is a prefix of the path, and the upstream for requests under it.
type route struct {
	prefix   string // "/openai"; "" for everything else
	host     *host.Host
	upstream *url.URL
	given    bool // set by --to
}

// buildRoutes returns the routes of a proxy: every known host by its name, and the upstreams of --to, which
// come first. A --to without a name leaves only the upstreams of --to.
func buildRoutes(to []string, getenv func(string) string) ([]route, error) {
	given, only, err := parseRoutes(to)
	if err != nil {
		return nil, err
	}
	all := given
	for i := range host.All {
		h := &host.All[i]
		if only || routeFor(given, "/"+h.Name) != nil {
			continue
		}
		address, err := h.ResolveAddress("", withoutOwnProxy(h, getenv))
		if err != nil {
			continue // the host's address needs a variable that is not set
		}
		u, err := url.Parse(strings.TrimSuffix(address, h.PathSuffix))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", h.Name, err)
		}
		all = append(all, route{"/" + h.Name, h, u, false})
	}
	for i := range host.PassThrough {
		if h := &host.PassThrough[i]; !only && routeFor(given, "/"+h.Name) == nil {
			u, err := url.Parse(h.PassThroughAddress(getenv))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", h.Name, err)
			}
			all = append(all, route{"/" + h.Name, h, u, false})
		}
	}
	return all, nil
}

// parseRoutes parses the values [NAME=]URL of --to. only reports whether one has no name.
func parseRoutes(to []string) (all []route, only bool, err error) {
	for _, text := range to {
		name, address, ok := strings.Cut(text, "=")
		if scheme := strings.Index(text, "://"); !ok || scheme >= 0 && scheme < len(name) {
			name, address, only = "", text, true
		} else {
			name = "/" + strings.Trim(name, "/")
		}
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || name == "/" {
			return nil, false, usageErrorf("--to: not the URL of an upstream\nuse a URL, e.g. https://api.example.com/v1, or NAME=URL")
		}
		if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
			return nil, false, usageErrorf("--to: the URL can't have a user name, a query or a fragment\nleave them out: clients send their own")
		}
		if routeFor(all, name) != nil {
			return nil, false, usageErrorf("--to: %s is given twice", prefixText(name))
		}
		all = append(all, route{name, hostOf(name, u), u, true})
	}
	return all, only, nil
}

// hostOf returns the host with that name, or at that address; nil for an unknown one.
func hostOf(name string, u *url.URL) *host.Host {
	for _, list := range [][]host.Host{host.All, host.PassThrough} {
		for i := range list {
			if h := &list[i]; name == "/"+h.Name || name == "" && u.String() == h.Address {
				return h
			}
		}
	}
	return nil
}

// routeFor returns the route with a prefix, or nil.
func routeFor(all []route, prefix string) *route {
	for i := range all {
		if all[i].prefix == prefix {
			return &all[i]
		}
	}
	return nil
}

// prefixText returns a prefix as a path.
func prefixText(prefix string) string {
	if prefix == "" {
		return "/"
	}
	return prefix
}

// withoutOwnProxy returns the environment without a variable that points to a proxy like this one, as its
// setup lines set it: the proxy would send the requests to itself.
func withoutOwnProxy(h *host.Host, getenv func(string) string) func(string) string {
	return func(name string) string {
		value := getenv(name)
		if u, err := url.Parse(value); name == h.Variable && err == nil && host.Loopback(value) && strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/"+h.Name) {
			return ""
		}
		return value
	}
}

// accountField is a header of Codex with a ChatGPT login. Its requests go to chatgpt.com, as they do without
// a proxy (codex-rs/model-provider-info).
const accountField = "Chatgpt-Account-Id"

// proxyRoutes returns the routes for the proxy. The rest of a client's path is appended to the upstream's
// URL. Some clients want the version in their base URL and some don't, so the upstream's path, or its
// version, may be there a second time, and the version of a host may be missing: /openai/v1/responses is
// /openai/responses, and /anthropic/messages is /anthropic/v1/messages.
func proxyRoutes(all []route) (list []proxy.Route) {
	taken := map[string]bool{}
	for _, w := range all {
		taken[w.prefix] = true
	}
	for _, w := range all {
		prefix := prefixText(w.prefix)
		list = append(list, proxy.Route{Prefix: prefix, Upstream: w.upstream})
		own := strings.TrimRight(w.upstream.Path, "/")
		for _, again := range []string{own, "/" + path.Base(own)} {
			if own != "" && isVersion(path.Base(own)) && !taken[w.prefix+again] {
				taken[w.prefix+again] = true
				list = append(list, proxy.Route{Prefix: w.prefix + again, Upstream: w.upstream})
			}
		}
		if w.host != nil && !isVersion(path.Base(own)) {
			for _, part := range w.host.VersionedPaths {
				u := *w.upstream
				u.Path = own + "/" + w.host.Version + "/" + part
				list = append(list, proxy.Route{Prefix: w.prefix + "/" + part, Upstream: &u})
			}
		}
	}
	if login, plain := routeFor(all, "/chatgpt"), routeFor(all, "/openai"); login != nil && plain != nil && !(plain.given && !login.given) {
		for _, prefix := range []string{"/openai", "/openai/v1"} {
			list = append(list, proxy.Route{Prefix: prefix, Field: accountField, Upstream: login.upstream})
		}
	}
	return list
}

// isVersion reports whether the last segment of a path is a version: "v1", "v4".
func isVersion(part string) bool {
	return len(part) > 1 && part[0] == 'v' && part[1] >= '0' && part[1] <= '9'
}
