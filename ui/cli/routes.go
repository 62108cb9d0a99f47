package cli

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"toolscope/capture/proxy"
	"toolscope/providers/host"
)

// A route is a prefix of the path, and the upstream that requests under it go to.
type route struct {
	prefix   string // "/openai"; "" for what no other way takes
	host     *host.Host
	upstream *url.URL
	given    bool // by the user
}

// buildRoutes are the upstreams of a proxy: every known host by its name, and what --to names beside or in
// place of one. One --to without a name leaves only those that --to names.
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
			continue // it has no address without what the environment says
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

// parseRoutes reads [NAME=]URL.
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
			return nil, false, usageErrorf("--to: not the URL of an upstream\nwanted is one like https://api.example.com/v1, or NAME=URL")
		}
		if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
			return nil, false, usageErrorf("--to: no user name, query or fragment can be in it\nclients say who they are, and what they ask for")
		}
		if routeFor(all, name) != nil {
			return nil, false, usageErrorf("--to: %s is there twice", prefixText(name))
		}
		all = append(all, route{name, hostOf(name, u), u, true})
	}
	return all, only, nil
}

// hostOf is the host of that name, or at that address; nil if there is none.
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

func routeFor(all []route, prefix string) *route {
	for i := range all {
		if all[i].prefix == prefix {
			return &all[i]
		}
	}
	return nil
}

func prefixText(prefix string) string {
	if prefix == "" {
		return "/"
	}
	return prefix
}

// withoutOwnProxy is the environment without a variable that points to a proxy like this one, as its own
// lines set it: the proxy would send the requests to itself.
func withoutOwnProxy(h *host.Host, getenv func(string) string) func(string) string {
	return func(name string) string {
		value := getenv(name)
		if u, err := url.Parse(value); name == h.Variable && err == nil && host.Loopback(value) && strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/"+h.Name) {
			return ""
		}
		return value
	}
}

// accountField is in what Codex asks with a ChatGPT login, which goes to chatgpt.com then, as it
// does without a proxy (codex-rs/model-provider-info).
const accountField = "Chatgpt-Account-Id"

// proxyRoutes are those of the ways. What a client puts behind the base URL that it comes with goes
// behind the upstream's; and as some clients want a base URL with the version in it and some
// without, an upstream's own path, and its version, may be there once more, and the version of a
// host may be missing: /openai/v1/responses is /openai/responses, and /anthropic/messages is
// /anthropic/v1/messages.
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

// isVersion reports whether the last part of a path is a version: "v1", "v4".
func isVersion(part string) bool {
	return len(part) > 1 && part[0] == 'v' && part[1] >= '0' && part[1] <= '9'
}
