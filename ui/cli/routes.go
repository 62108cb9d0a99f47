package cli

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"toolscope/capture/proxy"
	"toolscope/providers/client"
	"toolscope/providers/host"
	"toolscope/ui"
)

// route is a path prefix and the upstream for requests under that prefix.
type route struct {
	prefix   string // e.g. "/openai"; "" for all other paths
	host     *host.Host
	upstream *url.URL
	given    bool // the route comes from --to
}

// buildRoutes returns the routes of a proxy. The upstreams from --to come first, then every known provider
// under its name. If a --to has no name, there are only the upstreams from --to.
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
			continue // the provider's address needs a variable that is not set
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

// parseRoutes parses the values of --to, which have the form [NAME=]URL. The boolean result reports whether any value
// has no name.
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
			return nil, false, usageErrorf("--to: not a valid upstream URL\nuse a URL, e.g. https://api.example.com/v1, or NAME=URL")
		}
		if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
			return nil, false, usageErrorf("--to: the URL can't have a user name, a query or a fragment\nleave them out: clients send their own")
		}
		if routeFor(all, name) != nil {
			return nil, false, usageErrorf("--to: %s occurs twice", prefixText(name))
		}
		all = append(all, route{name, hostOf(name, u), u, true})
	}
	return all, only, nil
}

// hostOf returns the provider with the given name or at the given address. It returns nil if the provider is
// unknown.
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

// routeFor returns the route with a prefix, or nil if there is none.
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

// withoutOwnProxy returns the environment, but with an empty value for the provider's variable if that variable
// points to a proxy like this one. The proxy's own setup lines set such variables, which would make the proxy send
// requests to itself.
func withoutOwnProxy(h *host.Host, getenv func(string) string) func(string) string {
	return func(name string) string {
		value := getenv(name)
		if u, err := url.Parse(value); name == h.Variable && err == nil && host.Loopback(value) && strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/"+h.Name) {
			return ""
		}
		return value
	}
}

// accountField is a header that Codex sends after a ChatGPT login. Requests with this header go to chatgpt.com, as
// they would without a proxy (codex-rs/model-provider-info).
const accountField = "Chatgpt-Account-Id"

// proxyRoutes returns the routes for the proxy. The part of a request's path after the prefix is appended to
// the upstream's URL. Some clients need the version in their base URL, and some don't. So the upstream's path
// or version may occur twice, and a provider's version may be missing. For example, /openai/v1/responses is
// treated as /openai/responses, and /anthropic/messages as /anthropic/v1/messages.
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

// isVersion reports whether a segment of a path is a version, e.g. "v1" or "v4".
func isVersion(part string) bool {
	return len(part) > 1 && part[0] == 'v' && part[1] >= '0' && part[1] <= '9'
}

// proxyAddressFor returns a function that maps a provider's name to its address at the proxy at url. The function
// returns "" if the proxy has no route to the provider. A single upstream with an unknown protocol serves as
// anthropic, openai and gemini.
func proxyAddressFor(all []route, url string) func(host string) string {
	return func(name string) string {
		if w := routeFor(all, "/"+name); w != nil {
			return url + w.prefix
		}
		w := routeFor(all, "")
		if w != nil && (w.host != nil && w.host.Name == name || w.host == nil && slices.Contains([]string{"anthropic", "openai", "gemini"}, name)) {
			return url
		}
		return ""
	}
}

// givenRoutes returns the routes from --to, or all routes if --to is not set.
func givenRoutes(all []route) []route {
	if of := slices.DeleteFunc(slices.Clone(all), func(w route) bool { return !w.given }); len(of) > 0 {
		return of
	}
	return all
}

// proxySetups returns the setups that point clients at the proxy at url. It returns only setups whose provider has
// a route.
func proxySetups(all []route, url string) (list []client.ProxySetup) {
	for _, p := range client.ProxySetups {
		if f, ok := p.WithAddresses(proxyAddressFor(all, url)); ok {
			list = append(list, f)
		}
	}
	return list
}

// envLines returns shell lines that point clients at the proxy at url. The lines with the variables of all clients
// come first, then comments with the other steps that some clients need.
func envLines(all []route, url string) (lines []string) {
	all = givenRoutes(all)
	list, said := proxySetups(all, url), map[string]bool{}
	for _, p := range list {
		for _, v := range p.Vars {
			if !said[v.Name] && v.Needs == nil {
				said[v.Name] = true
				lines = append(lines, exportLines(v)...)
			}
		}
		if text, err := mergeJSON(p.Settings.JSON...); err == nil && p.Settings.Inline && len(p.Settings.JSON) > 0 {
			lines = append(lines, "export "+p.Settings.Variable+"="+shellWord(text))
		}
	}
	for _, p := range list {
		for _, line := range setupLines(p, url) {
			lines = append(lines, "# "+p.Title+": "+line)
		}
	}
	if others := otherPrefixes(all); len(others) == 1 {
		lines = append(lines, "# other clients: base URL "+url+others[0])
	} else if len(others) > 1 {
		lines = append(lines, "# other clients: base URL "+url+" followed by one of", "#   "+strings.Join(others, " "))
	}
	if w := routeFor(all, ""); w != nil {
		lines = append(lines, "# base URL instead of "+w.upstream.String()+": "+url)
	}
	return lines
}

// exportLines returns the shell lines that set a variable. If v.Why is set, the lines don't overwrite an existing
// value.
func exportLines(v client.Var) []string {
	if v.Why == "" {
		return []string{"export " + v.Name + "=" + v.Value}
	}
	return []string{"# " + v.Why, "export " + v.Name + "=${" + v.Name + ":-" + v.Value + "}"}
}

// setupLines returns the steps, other than variables, that point a client at url. Each step is one line.
func setupLines(p client.ProxySetup, url string) (lines []string) {
	if len(p.Args) > 0 {
		lines = append(lines, commandLine(append(p.Commands[:1:1], p.Args...)))
	}
	if text, err := mergeJSON(p.Settings.JSON...); err == nil && len(p.Settings.JSON) > 0 && !p.Settings.Inline {
		lines = append(lines, p.Settings.File+" must contain "+text)
	}
	for _, text := range p.Remarks {
		if strings.Contains(text, url) {
			lines = append(lines, text)
		}
	}
	return lines
}

// commandLine quotes a command for a shell.
func commandLine(args []string) string { return strings.Join(mapSlice(args, shellWord), " ") }

// shellWord quotes a word for a shell if necessary.
func shellWord(word string) string {
	plain := strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@%+") == ""
	if plain && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// otherPrefixes returns the prefixes of the routes that no client in client.ProxySetups uses.
func otherPrefixes(all []route) (list []string) {
	led := map[string]bool{}
	for _, p := range client.ProxySetups {
		p.WithAddresses(func(host string) string {
			led["/"+host] = true
			return host
		})
	}
	for _, w := range all {
		passed := w.host != nil && slices.ContainsFunc(host.PassThrough, func(h host.Host) bool { return h.Name == w.host.Name })
		if w.prefix != "" && !led[w.prefix] && !passed {
			list = append(list, w.prefix)
		}
	}
	return list
}

// setupGuide returns the text that the screen shows until the first request arrives. It has setup lines for common
// clients, and the routes.
func setupGuide(all []route, url string) *ui.SetupGuide {
	a := &ui.SetupGuide{URL: url}
	all = givenRoutes(all)
	at := proxyAddressFor(all, url)
	for _, way := range pasted {
		filled, ok := fillClientSetup(way, at)
		if ok {
			a.Ways = append(a.Ways, filled)
		}
	}
	for _, w := range all {
		a.Routes = append(a.Routes, [2]string{cmp.Or(w.prefix, "/"), w.upstream.String()})
	}
	if routeFor(all, "") == nil {
		a.More = "base URL " + url + "/NAME  (:hosts)"
	} else {
		a.More = "all requests go to " + routeFor(all, "").upstream.String()
	}
	return a
}

// fillClientSetup inserts addresses into the lines for a client. The result ok is false if one of the
// client's providers has no route.
func fillClientSetup(way ui.ClientSetup, at func(string) string) (filled ui.ClientSetup, ok bool) {
	filled = ui.ClientSetup{Client: way.Client}
	if filled.Line, ok = client.ReplaceAddresses(way.Line, at); !ok {
		return filled, false
	}
	for _, line := range way.Also {
		text, ok := client.ReplaceAddresses(line, at)
		if !ok {
			return filled, false
		}
		filled.Also = append(filled.Also, text)
	}
	return filled, true
}

// pasted has the setup lines that the waiting screen shows.
var pasted = []ui.ClientSetup{
	{Client: "Claude Code", Line: "export ANTHROPIC_BASE_URL={anthropic}", Also: []string{"export ENABLE_TOOL_SEARCH=true"}}, // see client.ProxySetups
	{Client: "OpenAI SDKs", Line: "export OPENAI_BASE_URL={openai}"},
	{Client: "Codex", Line: `codex -c 'openai_base_url="{openai}"'`},
	{Client: "Gemini CLI", Also: []string{ // without this setting, the client treats the address as a gateway
		"export GOOGLE_GEMINI_BASE_URL={gemini}", `# ~/.gemini/settings.json must contain {"security":{"auth":{"selectedType":"gemini-api-key"}}}`,
	}},
	{Client: "Gemini SDKs", Line: "export GOOGLE_GEMINI_BASE_URL={gemini}"},
	{Client: "Ollama", Line: "export OLLAMA_HOST={ollama}"},
}

// suggestRoute returns a function that suggests a route for a request that has none. The function uses the path of
// the request, and returns "" if it has no suggestion.
func suggestRoute(all []route) func(*http.Request) string {
	return func(r *http.Request) string {
		for _, host := range likelyProviders(r) {
			if routeFor(all, "/"+host) != nil {
				return fmt.Sprintf("put /%s in front of the path", host)
			}
		}
		return ""
	}
}

// paths maps parts of request paths to providers. The most specific parts are first.
var paths = [][2]string{
	{"/v1internal:", "code-assist"}, {"/messages", "anthropic"}, {"/chat/completions", "openai"}, {"/responses", "openai"}, {"/embeddings", "openai"},
	{"enerateContent", "gemini"}, {":countTokens", "gemini"}, {"/v1beta/", "gemini"}, {"/api/chat", "ollama"}, {"/api/generate", "ollama"},
	{"/api/tags", "ollama"}, {"/converse", "bedrock"}, {"/invoke", "bedrock"}, {"/v2/chat", "cohere"},
}

// likelyProviders returns the providers to which a request may belong.
func likelyProviders(r *http.Request) (hosts []string) {
	if r.Header.Get("Anthropic-Version") != "" {
		hosts = append(hosts, "anthropic")
	}
	for _, p := range paths {
		if strings.Contains(r.URL.Path, p[0]) {
			hosts = append(hosts, p[1])
		}
	}
	if strings.HasSuffix(r.URL.Path, "/models") {
		hosts = append(hosts, "openai")
	}
	return hosts
}
