package cli

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"toolscope/capture/proxy"
	"toolscope/providers/host"
	"toolscope/ui"
)

// A way is a prefix of the path, and the upstream that requests under it go to.
type way struct {
	prefix   string // "/openai"; "" for what no other way takes
	host     *host.Host
	upstream *url.URL
}

// ways are the upstreams of a proxy: every known host by its name, and what --to names beside or in
// place of one. One --to without a name leaves only those that --to names.
func ways(to []string, getenv func(string) string) ([]way, error) {
	given, only, err := givenWays(to)
	if err != nil {
		return nil, err
	}
	all := given
	for i := range host.All {
		h := &host.All[i]
		if only || wayTo(given, "/"+h.Name) != nil {
			continue
		}
		address, err := h.Where("", foreign(h, getenv))
		if err != nil {
			continue // it has no address without what the environment says
		}
		u, err := url.Parse(strings.TrimSuffix(address, h.Behind))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", h.Name, err)
		}
		all = append(all, way{"/" + h.Name, h, u})
	}
	return all, nil
}

// givenWays reads [NAME=]URL.
func givenWays(to []string) (all []way, only bool, err error) {
	for _, text := range to {
		name, address, ok := strings.Cut(text, "=")
		if scheme := strings.Index(text, "://"); !ok || scheme >= 0 && scheme < len(name) {
			name, address, only = "", text, true
		} else {
			name = "/" + strings.Trim(name, "/")
		}
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || name == "/" {
			return nil, false, usagef("--to: not the URL of an upstream\nwanted is one like https://api.example.com/v1, or NAME=URL")
		}
		if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
			return nil, false, usagef("--to: no user name, query or fragment can be in it\nclients say who they are, and what they ask for")
		}
		if wayTo(all, name) != nil {
			return nil, false, usagef("--to: %s is there twice", shown(name))
		}
		h, _ := host.Find(strings.TrimPrefix(name, "/"))
		all = append(all, way{name, h, u})
	}
	return all, only, nil
}

func wayTo(all []way, prefix string) *way {
	for i := range all {
		if all[i].prefix == prefix {
			return &all[i]
		}
	}
	return nil
}

func shown(prefix string) string {
	if prefix == "" {
		return "/"
	}
	return prefix
}

// foreign is the environment without a variable that points to a proxy like this one, as its own
// lines set it: the proxy would send the requests to itself.
func foreign(h *host.Host, getenv func(string) string) func(string) string {
	return func(name string) string {
		value := getenv(name)
		if u, err := url.Parse(value); name == h.Variable && err == nil && host.Loopback(value) && strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/"+h.Name) {
			return ""
		}
		return value
	}
}

// routes are those of the ways. What a client puts behind the base URL that it comes with goes
// behind the upstream's; and as some clients want a base URL with the version in it and some
// without, an upstream's own path, and its version, may be there once more: /openai/v1/responses is
// /openai/responses.
func routes(all []way) (list []proxy.Route) {
	taken := map[string]bool{}
	for _, w := range all {
		taken[w.prefix] = true
	}
	for _, w := range all {
		prefix := shown(w.prefix)
		list = append(list, proxy.Route{Prefix: prefix, Upstream: w.upstream})
		own := strings.TrimRight(w.upstream.Path, "/")
		for _, again := range []string{own, "/" + path.Base(own)} {
			if own != "" && isVersion(path.Base(own)) && !taken[w.prefix+again] {
				taken[w.prefix+again] = true
				list = append(list, proxy.Route{Prefix: w.prefix + again, Upstream: w.upstream})
			}
		}
	}
	return list
}

// isVersion reports whether the last part of a path is a version: "v1", "v4".
func isVersion(part string) bool {
	return len(part) > 1 && part[0] == 'v' && part[1] >= '0' && part[1] <= '9'
}

// variables are, for those ways whose clients read their base URL from the environment, that
// variable and what its value has behind the proxy's URL.
func variables(all []way) (list [][2]string) {
	for i := range host.All { // in the order of the table: the most used ones first
		h := &host.All[i]
		for _, w := range all {
			known := w.host == h || w.host == nil && w.upstream.String() == h.Address
			if !known || h.Variable == "" || slices.ContainsFunc(list, func(v [2]string) bool { return v[0] == h.Variable }) {
				continue
			}
			list = append(list, [2]string{h.Variable, w.prefix})
		}
	}
	return list
}

// others are the prefixes of the ways whose clients have no such variable.
func others(all []way) (list []string) {
	having := variables(all)
	for _, w := range all {
		if w.prefix != "" && !slices.ContainsFunc(having, func(v [2]string) bool { return v[1] == w.prefix }) {
			list = append(list, w.prefix)
		}
	}
	return list
}

// environment is what sends clients to a proxy at url, as lines for a shell.
//
// The variables are those that the clients' own documentation names; see the table of hosts. Codex:
// openai_base_url replaced OPENAI_BASE_URL, which it warns about
// (github.com/openai/codex/issues/16719). opencode: options.baseURL of a provider, with the version
// in it (opencode.ai/docs/providers).
func environment(all []way, url string) (lines []string) {
	for _, v := range variables(all) {
		lines = append(lines, "export "+v[0]+"="+url+v[1])
		if v[0] == "AWS_ENDPOINT_URL_BEDROCK_RUNTIME" {
			lines = append(lines, "# Bedrock: with AWS_BEARER_TOKEN_BEDROCK only; a signed request is signed for the host it was sent to")
		}
	}
	if wayTo(all, "/openai") != nil {
		lines = append(lines, `# Codex, with an API key: codex -c 'openai_base_url="`+url+`/openai"'`)
	}
	for _, name := range []string{"anthropic", "openai"} {
		if w := wayTo(all, "/"+name); w != nil {
			lines = append(lines, fmt.Sprintf(`# opencode.json: {"provider": {"%s": {"options": {"baseURL": "%s/%s/v1"}}}}`, name, url, name))
		}
	}
	if more := others(all); len(more) > 0 {
		lines = append(lines, "# any other client: a base URL of "+url+" and one of", "#   "+strings.Join(more, " "))
	}
	if w := wayTo(all, ""); w != nil {
		lines = append(lines, "# base URL in place of "+w.upstream.String()+": "+url)
	}
	return lines
}

// await is what the screen shows while no request has come.
func await(all []way, url string) *ui.Await {
	a := &ui.Await{URL: url, Ways: variables(all)}
	a.Ways = a.Ways[:min(len(a.Ways), 5)]
	if w := wayTo(all, ""); w != nil {
		a.More = "They go to " + w.upstream.String()
		return a
	}
	var more []string
	for _, name := range []string{"/openrouter", "/mistral", "/groq"} {
		if slices.Contains(others(all), name) {
			more = append(more, name)
		}
	}
	if len(more) > 0 {
		a.More = "Others: a base URL with " + strings.Join(more, ", ") + " ... (help hosts)"
	}
	return a
}
