package cli

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/providers/host"
)

func toolsFile(t *testing.T) string {
	t.Helper()
	return saved(t, "tools.json", `[{"name":"get_weather","description":"W","input_schema":{"type":"object","properties":{"city":{"type":"integer"}}}}]`)
}

// TestConnect checks that a response from one provider is printed, and that its calls are checked against the
// given tools.
func TestConnect(t *testing.T) {
	keyless(t)
	url, requests := provider(t, answers(events, anthropicAnswer))
	t.Setenv("ANTHROPIC_API_KEY", canary)
	t.Setenv("ANTHROPIC_BASE_URL", url)
	got := command(t, nil, "connect", "anthropic", "--model", "claude-opus-4-5", "--tools", toolsFile(t), "--system", "Be brief.",
		"--header", "anthropic-beta=x-1", "--header", "X-Other: y", "--format", "jsonl", "Weather", "in", "Oslo?")
	if got.code != 0 || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	calls, turns := got.decode(t)
	if len(calls) != 1 || calls[0].Name != "get_weather" || calls[0].Status != "complete" || calls[0].File != "anthropic" ||
		len(turns) != 1 || turns[0].Phase != "complete" || turns[0].File != "anthropic" {
		t.Errorf("%+v %+v", calls, turns)
	}
	if len(calls[0].Findings) == 0 || !strings.Contains(calls[0].Findings[0].Code, "SCHEMA") {
		t.Errorf("not held against its schema: %+v", calls[0].Findings)
	}
	sent := requests()
	if len(sent) != 1 {
		t.Fatalf("asked %d times", len(sent))
	}
	h, body := sent[0].header, map[string]any{}
	if err := json.Unmarshal(sent[0].body, &body); err != nil {
		t.Fatal(err)
	}
	if sent[0].path != "/v1/messages" || h.Get("X-Api-Key") != canary || h.Get("Anthropic-Version") == "" || h.Get("Anthropic-Beta") != "x-1" || h.Get("X-Other") != "y" || h.Get("Authorization") != "" {
		t.Errorf("%s %v", sent[0].path, h)
	}
	if body["model"] != "claude-opus-4-5" || body["max_tokens"] != 21333.0 || body["system"] != "Be brief." || body["stream"] != true ||
		!strings.Contains(string(sent[0].body), `"text":"Weather in Oslo?"`) || !strings.Contains(string(sent[0].body), `"input_schema"`) {
		t.Errorf("%s", sent[0].body)
	}
}

// TestConnectSeveral checks that each provider gets the same prompt and tools in the provider's own format. A
// provider that does not respond must not affect the others.
func TestConnectSeveral(t *testing.T) {
	keyless(t)
	first, askedFirst := provider(t, answers(events, anthropicAnswer))
	second, askedSecond := provider(t, answers(events, string(turnOfChat("get_weather"))))
	third, askedThird := provider(t, answers("application/x-ndjson",
		`{"model":"q","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","tool_calls":[{"id":"c","function":{"index":0,"name":"get_weather","arguments":{"city":"Oslo"}}}]},"done":false}`+"\n"+
			`{"model":"q","created_at":"2026-01-01T00:00:01Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":5,"eval_count":6}`+"\n"))
	gone := httptest.NewServer(nil)
	gone.Close()
	t.Setenv("ANTHROPIC_BASE_URL", first)
	t.Setenv("OPENAI_BASE_URL", second)
	t.Setenv("OLLAMA_HOST", third)
	t.Setenv("GOOGLE_GEMINI_BASE_URL", gone.URL)
	got := command(t, []byte("Weather in Oslo?\n"), "connect", "anthropic,openai-chat/gpt-4.1, ollama/q ,gemini", "--tools", toolsFile(t), "--format", "jsonl", "-")
	calls, _ := got.decode(t)
	var from []string
	for _, c := range calls {
		from = append(from, c.File+" "+c.Dialect+" "+c.Name)
	}
	slices.Sort(from)
	if want := []string{"anthropic anthropic get_weather", "ollama/q ollama get_weather", "openai-chat/gpt-4.1 openai-chat get_weather"}; !slices.Equal(from, want) {
		t.Errorf("%q", from)
	}
	if got.code != 1 || !strings.Contains(got.stderr, "gemini: ") || !strings.Contains(got.stderr, "connection refused") || strings.Count(got.stderr, "\n") != 1 {
		t.Errorf("%d, %s", got.code, got.stderr)
	}
	for name, requests := range map[string]func() []asked{"anthropic": askedFirst, "openai-chat": askedSecond, "ollama": askedThird} {
		d, err := providers.FindProtocol(name)
		if err != nil {
			t.Fatal(err)
		}
		sent := requests()
		if len(sent) != 1 || !bytes.Contains(sent[0].body, []byte("Weather in Oslo?")) {
			t.Fatalf("%s: %v", name, sent)
		}
		if tools := d.Tools(sent[0].body); len(tools) != 1 || tools[0].Description != "W" {
			t.Errorf("%s: %s", name, sent[0].body)
		}
	}
}

// TestConnectRequest checks that a body is sent unchanged, byte for byte, to the right host.
func TestConnectRequest(t *testing.T) {
	keyless(t)
	url, requests := provider(t, answers(events, anthropicAnswer))
	t.Setenv("ANTHROPIC_BASE_URL", url)
	t.Setenv("GOOGLE_GEMINI_BASE_URL", url)
	body := "{ \"model\":\"claude-x\", \"max_tokens\": 5,\n \"messages\": [] , \"x\":1e400}\n"
	path := saved(t, "body.json", body)
	for i, args := range [][]string{{"--request", path}, {"anthropic", "--request", path}, {"gemini", "--request", path, "--model", "gemini-x"}} {
		got := command(t, nil, append([]string{"connect", "--format", "text"}, args...)...)
		sent := requests()
		if got.code != 0 || len(sent) != i+1 || string(sent[i].body) != body {
			t.Fatalf("%v: %+v", args, got)
		}
		want := "/v1/messages"
		if i == 2 {
			want = "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"
		}
		if sent[i].path != want {
			t.Errorf("%v: sent to %s", args, sent[i].path)
		}
	}
	if got := command(t, []byte(body), "connect", "--format", "text", "--request", "-"); got.code != 0 || string(requests()[3].body) != body {
		t.Errorf("from standard input: %+v", got)
	}
}

// TestConnectWrong checks command lines that must not send a request.
func TestConnectWrong(t *testing.T) {
	keyless(t)
	body := saved(t, "body.json", `{"model":"claude-x","messages":[]}`)
	odd := saved(t, "odd.json", `{"hello":1}`)
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{}, 2, "needs a PROVIDER"},
		{[]string{"nobody", "hi"}, 2, "use one of anthropic"},
		{[]string{"aistudio", "hi"}, 2, "never calls it"},
		{[]string{"anthropic"}, 2, "needs a PROMPT"},
		{[]string{"anthropic", " "}, 2, "needs a PROMPT"},
		{[]string{"anthropic", "hi"}, 1, "ANTHROPIC_API_KEY, then ANTHROPIC_AUTH_TOKEN"},
		{[]string{"openai,gemini", "hi", "--base-url", "http://x"}, 2, "2 providers"},
		{[]string{"ollama", "hi"}, 2, "needs a model"},
		{[]string{"bedrock", "hi"}, 1, "AWS_REGION"},
		{[]string{"azure/d", "hi"}, 1, "AZURE_OPENAI_ENDPOINT"},
		{[]string{"anthropic", "hi", "--base-url", "x"}, 1, "https://"},
		{[]string{"anthropic", "hi", "--tools", "missing.json"}, 1, "missing.json"},
		{[]string{"anthropic", "hi", "--tools", odd}, 1, "declares no tools"},
		{[]string{"anthropic", "hi", "--system", "@missing.md"}, 1, "missing.md"},
		{[]string{"ollama/x", "hi", "--header", "nonsense"}, 2, "NAME=VALUE"},
		{[]string{"ollama/x", "hi", "--header", "A=b\nC: d"}, 2, "NAME=VALUE"},
		{[]string{"anthropic", "hi", "--format", "xml"}, 2, "one of text, jsonl"},
		{[]string{"anthropic", "hi", "--record", ""}, 2, "--record: the name is empty"},
		{[]string{"anthropic", "hi", "--request", body}, 2, "sent unchanged"},
		{[]string{"--request", body, "--tools", odd}, 2, "sent unchanged"},
		{[]string{"--request", odd}, 2, "no known protocol"},
		{[]string{"--request", "missing.json"}, 1, "missing.json"},
	} {
		got := command(t, nil, append([]string{"connect"}, test.args...)...)
		if got.code != test.code || !strings.Contains(got.stderr, test.says) || got.stdout != "" {
			t.Errorf("%q: %+v, wanted %d and %q", test.args, got, test.code, test.says)
		}
	}
}

// TestHostsPage checks that the help page has every host with its variables, and no secret.
func TestHostsPage(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", canary)
	got := command(t, nil, "help", "hosts")
	if got.code != 0 || strings.Contains(got.stdout, canary) {
		t.Fatalf("%+v", got)
	}
	for i := range host.All {
		h := &host.All[i]
		if !strings.Contains(got.stdout, "\n  "+h.Name+": "+h.Title+"\n") {
			t.Errorf("no %s", h.Name)
		}
		for _, k := range h.Keys {
			if !strings.Contains(got.stdout, k.Variable) {
				t.Errorf("no %s", k.Variable)
			}
		}
	}
}
