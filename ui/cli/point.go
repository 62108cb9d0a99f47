package cli

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"toolscope/providers/client"
	"toolscope/providers/host"
	"toolscope/ui"
)

// proxyAddressFor tells where a proxy at url has a provider, "" where it has not. An upstream of which nobody
// knows what it speaks may stand for those that most clients ask.
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

// givenRoutes are the ways that the user named, all where there are none: those that lines are wanted for.
func givenRoutes(all []route) []route {
	if of := slices.DeleteFunc(slices.Clone(all), func(w route) bool { return !w.given }); len(of) > 0 {
		return of
	}
	return all
}

// proxySetups are how clients are sent to a proxy at url: those that it has something for.
func proxySetups(all []route, url string) (list []client.ProxySetup) {
	for _, p := range client.ProxySetups {
		if f, ok := p.WithAddresses(proxyAddressFor(all, url)); ok {
			list = append(list, f)
		}
	}
	return list
}

// envLines is what sends clients to a proxy at url, as lines for a shell: the variables of all of
// them, which are for nobody else, and what more some want.
func envLines(all []route, url string) (lines []string) {
	all = givenRoutes(all)
	list, said := proxySetups(all, url), map[string]bool{}
	for _, p := range list {
		for _, v := range p.Vars {
			if !said[v.Name] {
				said[v.Name] = true
				lines = append(lines, exportLines(v)...)
			}
		}
		if v, ok := settingsVar(p); ok {
			lines = append(lines, "export "+v.Name+"="+shellWord(v.Value))
		}
	}
	for _, p := range list {
		for _, line := range setupLines(p, url) {
			lines = append(lines, "# "+p.Title+": "+line)
		}
	}
	if others := otherPrefixes(all); len(others) == 1 {
		lines = append(lines, "# any other client: a base URL of "+url+others[0])
	} else if len(others) > 1 {
		lines = append(lines, "# any other client: a base URL of "+url+" and one of", "#   "+strings.Join(others, " "))
	}
	if w := routeFor(all, ""); w != nil {
		lines = append(lines, "# base URL in place of "+w.upstream.String()+": "+url)
	}
	return lines
}

// exportLines are the lines of a variable.
func exportLines(v client.Var) []string {
	if v.Why == "" {
		return []string{"export " + v.Name + "=" + v.Value}
	}
	return []string{"# " + v.Why, "export " + v.Name + "=${" + v.Name + ":-" + v.Value + "}"}
}

// settingsVar is the variable that holds a client's settings.
func settingsVar(p client.ProxySetup) (v client.Var, ok bool) {
	if !p.Settings.Inline || len(p.Settings.JSON) == 0 {
		return v, false
	}
	text, err := mergeJSON(p.Settings.JSON...)
	return client.Var{Name: p.Settings.Variable, Value: text}, err == nil
}

// setupLines is what a client wants besides variables to come to url, a line each.
func setupLines(p client.ProxySetup, url string) (lines []string) {
	if len(p.Args) > 0 {
		lines = append(lines, commandLine(append(p.Commands[:1:1], p.Args...)))
	}
	if text, err := mergeJSON(p.Settings.JSON...); err == nil && len(p.Settings.JSON) > 0 && !p.Settings.Inline {
		lines = append(lines, p.Settings.File+" has to hold "+text)
	}
	for _, text := range p.Remarks {
		if strings.Contains(text, url) {
			lines = append(lines, text)
		}
	}
	return lines
}

// commandLine is a command as a shell takes it.
func commandLine(args []string) string { return strings.Join(mapSlice(args, shellWord), " ") }

// shellWord is a word as a shell takes it.
func shellWord(word string) string {
	plain := strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@%+") == ""
	if plain && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// otherPrefixes are the prefixes of the ways that no client of the table is sent to.
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

// setupGuide is what the screen shows while no request has come: the lines of the clients that most
// people have.
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
		a.More = "all of it goes to " + routeFor(all, "").upstream.String()
	}
	return a
}

// fillClientSetup is a way with the addresses of the providers there are; ok is false where it leads to none.
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

// pasted are the lines of the waiting screen.
var pasted = []ui.ClientSetup{
	{Client: "Claude Code", Line: "export ANTHROPIC_BASE_URL={anthropic}", Also: []string{"export ENABLE_TOOL_SEARCH=true"}}, // see client.Points
	{Client: "OpenAI SDKs", Line: "export OPENAI_BASE_URL={openai}"},
	{Client: "Codex", Line: `codex -c 'openai_base_url="{openai}"'`},
	{Client: "Gemini CLI", Also: []string{ // without its settings it takes the address for a gateway
		"export GOOGLE_GEMINI_BASE_URL={gemini}", `# ~/.gemini/settings.json has to hold {"security":{"auth":{"selectedType":"gemini-api-key"}}}`,
	}},
	{Client: "Gemini SDKs", Line: "export GOOGLE_GEMINI_BASE_URL={gemini}"},
	{Client: "Ollama", Line: "export OLLAMA_HOST={ollama}"},
}

// suggestRoute tells a request that no way takes which one it may have meant, by its path.
func suggestRoute(all []route) func(*http.Request) string {
	return func(r *http.Request) string {
		for _, host := range likelyProviders(r) {
			if routeFor(all, "/"+host) != nil {
				return fmt.Sprintf("put /%s before it", host)
			}
		}
		return ""
	}
}

// paths are what paths of a provider hold, most telling first.
var paths = [][2]string{
	{"/v1internal:", "code-assist"}, {"/messages", "anthropic"}, {"/chat/completions", "openai"}, {"/responses", "openai"}, {"/embeddings", "openai"},
	{"enerateContent", "gemini"}, {":countTokens", "gemini"}, {"/v1beta/", "gemini"}, {"/api/chat", "ollama"}, {"/api/generate", "ollama"},
	{"/api/tags", "ollama"}, {"/converse", "bedrock"}, {"/invoke", "bedrock"}, {"/v2/chat", "cohere"},
}

// likelyProviders are the providers that a request may be for.
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
