package cli

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"toolscope/capture"
	"toolscope/capture/proxy"
	"toolscope/providers/client"
	"toolscope/providers/host"
)

// standing starts a proxy with the given upstreams and returns its URL and routes.
func standing(t *testing.T, to []string) (base string, all []route) {
	t.Helper()
	all, err := buildRoutes(to, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	p, err := proxy.New(proxy.Options{Routes: proxyRoutes(all), Record: func(capture.Record) {}, Advise: suggestRoute(all)})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(p)
	t.Cleanup(func() {
		server.Close()
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return server.URL, all
}

// TestRoutes checks that a path that a client appends to its base URL leads to the same place as without the proxy.
// The base URL may or may not contain the version.
func TestRoutes(t *testing.T) {
	upstream, requests := provider(t, answers("text/plain", "ok"))
	for i := range host.All {
		h := &host.All[i]
		at, err := url.Parse(h.Address)
		if err != nil || h.Address == "" {
			continue // azure's address needs a variable
		}
		base, _ := standing(t, []string{h.Name + "=" + upstream + at.Path})
		asked := func(path, want string) {
			t.Helper()
			resp, err := http.Get(base + "/" + h.Name + path)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			all := requests()
			if got := all[len(all)-1].path; got != want {
				t.Errorf("%s: %s arrives as %s, want %s", h.Name, path, got, want)
			}
		}
		whole := at.Path
		if h.Version != "" {
			whole = "/" + h.Version
			asked("/"+h.Version+"/models", "/"+h.Version+"/models")
			asked("/api/other", "/api/other")
		}
		asked("/models?a=%2F", whole+"/models?a=%2F")
		if last := at.Path[strings.LastIndex(at.Path, "/")+1:]; isVersion(last) {
			asked("/"+last+"/models", at.Path+"/models")
			asked(at.Path+"/models", at.Path+"/models")
			asked("/"+last+"1/models", at.Path+"/"+last+"1/models")
		}
	}
}

// TestWays checks the upstreams that flags and the environment define.
func TestWays(t *testing.T) {
	env := map[string]string{
		"ANTHROPIC_BASE_URL": "https://gateway.test/claude", "OPENAI_BASE_URL": "http://127.0.0.1:5/openai", "OLLAMA_HOST": "box",
		"AWS_REGION": "eu-north-1", "AZURE_OPENAI_ENDPOINT": "https://mine.azure.test",
	}
	for _, c := range []struct {
		to   []string
		env  map[string]string
		want []string
	}{
		{nil, nil, []string{"/anthropic https://api.anthropic.com", "/openai https://api.openai.com/v1", "/ollama http://127.0.0.1:11434", "-/bedrock", "-/azure", "-"}},
		{nil, env, []string{
			"/anthropic https://gateway.test/claude", "/openai https://api.openai.com/v1", "/ollama http://box:11434",
			"/bedrock https://bedrock-runtime.eu-north-1.amazonaws.com", "/azure https://mine.azure.test",
		}},
		{[]string{"ollama=http://box:1", "mine=https://x.test/v1"}, nil, []string{"/ollama http://box:1", "/mine https://x.test/v1", "/openai https://api.openai.com/v1"}},
		{[]string{"https://x.test/v1"}, env, []string{" https://x.test/v1", "-/anthropic", "-/openai"}},
		{[]string{"http://x.test/a=b", "a=http://y.test"}, nil, []string{" http://x.test/a=b", "/a http://y.test", "-/openai"}},
	} {
		all, err := buildRoutes(c.to, func(name string) string { return c.env[name] })
		var got []string
		for _, w := range all {
			got = append(got, w.prefix+" "+w.upstream.String())
		}
		for _, want := range c.want {
			prefix, none := strings.CutPrefix(want, "-")
			there := slices.Contains(got, want) || none && routeFor(all, prefix) != nil
			if err != nil || there == none {
				t.Errorf("%q: %q, %v; want %q", c.to, got, err, want)
			}
		}
		if _, err := proxy.New(proxy.Options{Routes: proxyRoutes(all), Record: func(capture.Record) {}}); err != nil {
			t.Error(err)
		}
	}
}

// TestAwaitLines checks that the waiting screen shows the setup lines for the providers in --to, including the
// additional lines that some of them need.
func TestAwaitLines(t *testing.T) {
	const search, config = "export ENABLE_TOOL_SEARCH=true", `# ~/.gemini/settings.json must contain {"security":{"auth":{"selectedType":"gemini-api-key"}}}`
	for to, want := range map[string][]string{
		"anthropic=http://a.test": {"export ANTHROPIC_BASE_URL=http://h:1/anthropic", search},
		"gemini=http://g.test":    {"", "export GOOGLE_GEMINI_BASE_URL=http://h:1/gemini", config, "export GOOGLE_GEMINI_BASE_URL=http://h:1/gemini"},
		"ollama=http://o.test":    {"export OLLAMA_HOST=http://h:1/ollama"},
	} {
		_, all := standing(t, []string{to})
		var got []string
		for _, w := range setupGuide(all, "http://h:1").Ways {
			got = append(append(got, w.Line), w.Also...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", to, got, want)
		}
	}
}

// TestEnvironment checks that the lines set the variables that clients read, each only once. Their addresses must
// have a route.
func TestEnvironment(t *testing.T) {
	_, all := standing(t, nil)
	text := strings.Join(envLines(all, "http://h:1"), "\n") + "\n"
	for _, want := range []string{
		"export ANTHROPIC_BASE_URL=http://h:1/anthropic\n", "export OPENAI_BASE_URL=http://h:1/openai\n",
		"export GOOGLE_GEMINI_BASE_URL=http://h:1/gemini\n", "export OLLAMA_HOST=http://h:1/ollama\n",
		`codex -c 'openai_base_url="http://h:1/openai"'` + "\n", `OPENCODE_CONFIG_CONTENT='{"provider":{"anthropic":{"options":{"baseURL":"http://h:1/anthropic/v1"}}`, " /openrouter ",
		"export ENABLE_TOOL_SEARCH=${ENABLE_TOOL_SEARCH:-true}\n", "~/.gemini/settings.json must contain ",
	} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q is not there once in\n%s", want, text)
		}
	}
	if strings.Contains(text, "BEDROCK") {
		t.Errorf("without a region:\n%s", text)
	}
	_, all = standing(t, []string{"https://api.anthropic.com"})
	if got := envLines(all, "http://h:1"); got[0] != "export ANTHROPIC_BASE_URL=http://h:1" || strings.Contains(strings.Join(got, "\n"), "OPENAI") {
		t.Errorf("%q", got)
	}
	_, all = standing(t, []string{"gemini=http://g.test", "mine=http://m.test"})
	if got := strings.Join(envLines(all, "http://h:1"), "\n"); strings.Contains(got, "ANTHROPIC") || !strings.Contains(got, "GOOGLE_GEMINI_BASE_URL=http://h:1/gemini") || !strings.HasSuffix(got, "http://h:1/mine") {
		t.Errorf("%s", got)
	}
	for i := range client.ProxySetups { // every provider of a client must have a route
		client.ProxySetups[i].WithAddresses(func(name string) string {
			if hostOf("/"+name, nil) == nil {
				t.Errorf("%s is sent to %s", client.ProxySetups[i].Name, name)
			}
			return "x"
		})
	}
}

// TestLogin checks that requests that Codex sends after a ChatGPT login go to chatgpt.com through the same address.
// If --to has only an upstream for OpenAI, they must go there.
func TestLogin(t *testing.T) {
	upstream, requests := provider(t, answers("text/plain", "ok"))
	for _, c := range []struct {
		to   []string
		want string
	}{
		{[]string{"chatgpt=" + upstream + "/backend"}, "/backend/responses"},
		{[]string{"chatgpt=" + upstream + "/backend", "openai=" + upstream + "/v1"}, "/backend/responses"},
		{[]string{"openai=" + upstream + "/v1"}, "/v1/responses"},
	} {
		base, _ := standing(t, c.to)
		for _, path := range []string{"/openai/responses", "/openai/v1/responses"} {
			req, _ := http.NewRequest("POST", base+path, nil)
			req.Header.Set("ChatGPT-Account-ID", "acct")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			all := requests()
			if got := all[len(all)-1].path; got != c.want {
				t.Errorf("%q: %s arrives as %s, want %s", c.to, path, got, c.want)
			}
		}
	}
}

// TestAdvice checks that if a request has no provider in its path, the error suggests a provider.
func TestAdvice(t *testing.T) {
	base, _ := standing(t, nil)
	for path, want := range map[string]string{
		"/v1/messages": "put /anthropic in front of the path", "/v1/chat/completions": "put /openai in front of the path", "/v1/models": "put /openai in front of the path",
		"/v1beta/models/g:streamGenerateContent": "put /gemini in front of the path", "/api/chat": "put /ollama in front of the path", "/none": "use one of /",
	} {
		resp, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != 404 || !strings.Contains(string(text), want) {
			t.Errorf("%s: %d %q, want %q", path, resp.StatusCode, text, want)
		}
	}
}
