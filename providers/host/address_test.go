package host

import (
	"strings"
	"testing"
)

func TestWhere(t *testing.T) {
	for _, test := range []struct {
		host, given string
		env         []string
		want, wrong string
	}{
		{"anthropic", "", nil, "https://api.anthropic.com", ""},
		{"anthropic", "", []string{"ANTHROPIC_BASE_URL", "http://127.0.0.1:8788/anthropic/"}, "http://127.0.0.1:8788/anthropic", ""},
		{"anthropic", "https://x.test/", []string{"ANTHROPIC_BASE_URL", "http://y"}, "https://x.test", ""},
		{"anthropic", "x.test", nil, "", "--base-url"},
		{"anthropic", "ftp://x.test", nil, "", "--base-url"},
		{"anthropic", "https://", nil, "", "--base-url"},
		{"anthropic", "https://me:pw@x.test", nil, "", "password"},
		{"anthropic", "https://x.test/v1?key=k", nil, "", "?"},
		{"anthropic", "", []string{"ANTHROPIC_BASE_URL", "nonsense"}, "", "ANTHROPIC_BASE_URL"},
		{"bedrock", "", []string{"AWS_REGION", "eu-west-1", "AWS_DEFAULT_REGION", "us-east-1"}, "https://bedrock-runtime.eu-west-1.amazonaws.com", ""},
		{"bedrock", "", []string{"AWS_DEFAULT_REGION", "us-east-1"}, "https://bedrock-runtime.us-east-1.amazonaws.com", ""},
		{"bedrock", "", nil, "", "AWS_REGION"},
		{"bedrock", "", []string{"AWS_REGION", "evil.test/"}, "", "region"},
		{"azure", "", nil, "", "AZURE_OPENAI_ENDPOINT"},
		{"azure", "", []string{"AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com/"}, "https://r.openai.azure.com/openai/v1", ""},
		{"azure", "https://r.openai.azure.com/openai/v1", nil, "https://r.openai.azure.com/openai/v1", ""},
		{"ollama", "", nil, "http://127.0.0.1:11434", ""},
		{"ollama", "", []string{"OLLAMA_HOST", "0.0.0.0"}, "http://127.0.0.1:11434", ""},
		{"ollama", "", []string{"OLLAMA_HOST", "box"}, "http://box:11434", ""},
		{"ollama", "", []string{"OLLAMA_HOST", "box:99"}, "http://box:99", ""},
		{"ollama", "", []string{"OLLAMA_HOST", ":99"}, "http://127.0.0.1:99", ""},
		{"ollama", "", []string{"OLLAMA_HOST", "[::1]:99"}, "http://[::1]:99", ""},
		{"ollama", "", []string{"OLLAMA_HOST", "https://ollama.test"}, "https://ollama.test:443", ""},
		{"ollama", "", []string{"OLLAMA_HOST", "http://ollama.test/p/"}, "http://ollama.test:80/p", ""},
		{"ollama", "http://box", []string{"OLLAMA_HOST", "other"}, "http://box", ""},
	} {
		h, err := Find(test.host)
		if err != nil {
			t.Fatal(err)
		}
		got, err := h.ResolveAddress(test.given, environment(test.env...))
		switch {
		case test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)):
			t.Errorf("%s %q %q: %v, wanted it to name %s", test.host, test.given, test.env, err, test.wrong)
		case test.wrong == "" && (err != nil || got != test.want):
			t.Errorf("%s %q %q: %q, %v; wanted %q", test.host, test.given, test.env, got, err, test.want)
		case err != nil && (strings.Contains(err.Error(), "pw") || strings.Contains(err.Error(), "key=k")):
			t.Errorf("tells a secret: %v", err)
		}
	}
}

func TestJoin(t *testing.T) {
	for _, test := range [][3]string{
		{"https://h.test", "/v1/messages", "https://h.test/v1/messages"},
		{"https://h.test/v1", "/v1/messages", "https://h.test/v1/messages"},
		{"https://h.test/anthropic", "/v1/messages", "https://h.test/anthropic/v1/messages"},
		{"https://h.test/v1", "/chat/completions", "https://h.test/v1/chat/completions"},
		{"https://h.test/api", "/api/chat", "https://h.test/api/chat"},
		{"https://v1", "/v1/messages", "https://v1/v1/messages"},
		{"https://h.test/xv1", "/v1/messages", "https://h.test/xv1/v1/messages"},
	} {
		if got := Join(test[0], test[1]); got != test[2] {
			t.Errorf("%s and %s: %s", test[0], test[1], got)
		}
	}
}

func TestKey(t *testing.T) {
	for _, test := range []struct {
		host  string
		env   []string
		want  HeaderPair
		wrong string
	}{
		{"anthropic", []string{"ANTHROPIC_API_KEY", "k1", "ANTHROPIC_AUTH_TOKEN", "t1"}, HeaderPair{"X-Api-Key", "k1"}, ""},
		{"anthropic", []string{"ANTHROPIC_AUTH_TOKEN", "t1"}, HeaderPair{"Authorization", "Bearer t1"}, ""},
		{"anthropic", []string{"ANTHROPIC_API_KEY", "  "}, HeaderPair{}, "ANTHROPIC_API_KEY, then ANTHROPIC_AUTH_TOKEN"},
		{"anthropic", []string{"ANTHROPIC_API_KEY", "k1\n"}, HeaderPair{"X-Api-Key", "k1"}, ""},
		{"anthropic", []string{"ANTHROPIC_API_KEY", "k1\nX-Evil: 1"}, HeaderPair{}, "ANTHROPIC_API_KEY"},
		{"gemini", []string{"GEMINI_API_KEY", "g", "GOOGLE_API_KEY", "first"}, HeaderPair{"X-Goog-Api-Key", "first"}, ""},
		{"gemini", []string{"GEMINI_API_KEY", "g"}, HeaderPair{"X-Goog-Api-Key", "g"}, ""},
		{"openai", []string{"OPENAI_API_KEY", "k"}, HeaderPair{"Authorization", "Bearer k"}, ""},
		{"azure", []string{"AZURE_OPENAI_API_KEY", "k"}, HeaderPair{"Api-Key", "k"}, ""},
		{"bedrock", []string{"AWS_BEARER_TOKEN_BEDROCK", "k"}, HeaderPair{"Authorization", "Bearer k"}, ""},
		{"bedrock", nil, HeaderPair{}, "AWS_BEARER_TOKEN_BEDROCK"},
		{"ollama", nil, HeaderPair{}, ""},
		{"ollama", []string{"OLLAMA_API_KEY", "k"}, HeaderPair{"Authorization", "Bearer k"}, ""},
		{"lmstudio", nil, HeaderPair{}, ""},
	} {
		h, err := Find(test.host)
		if err != nil {
			t.Fatal(err)
		}
		got, err := h.Key(environment(test.env...))
		switch {
		case test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong) || strings.Contains(err.Error(), "k1")):
			t.Errorf("%s %q: %v", test.host, test.env, err)
		case test.wrong == "" && (err != nil || got != test.want):
			t.Errorf("%s %q: %v, %v", test.host, test.env, got, err)
		}
	}
}

func TestHeaders(t *testing.T) {
	header := func(name, session string, env ...string) map[string]string {
		h, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]string{}
		for _, p := range h.Headers(session, environment(env...)) {
			all[p.Name] = p.Value
		}
		return all
	}
	if h := header("anthropic", ""); h["Anthropic-Version"] != "2023-06-01" || h["Content-Type"] != "application/json" {
		t.Errorf("Anthropic: %v", h)
	}
	if h := header("openai", "s", "OPENAI_ORG_ID", "org"); h["OpenAI-Organization"] != "org" || h["OpenAI-Project"] != "" || len(h) != 2 {
		t.Errorf("OpenAI: %v", h)
	}
	if h := header("mistral", "s"); h["X-Affinity"] != "s" {
		t.Errorf("Mistral: %v", h)
	}
	if h := header("mistral", ""); len(h) != 1 {
		t.Errorf("Mistral without a session: %v", h)
	}
}

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"http://127.0.0.1:8000/v1": true, "http://localhost:1": true, "http://[::1]:1": true, "http://a.localhost": true,
		"http://box:1": false, "https://localhost.evil.test": false, "::": false, "": false,
	} {
		if Loopback(address) != want {
			t.Errorf("%q is on this machine: %v", address, !want)
		}
	}
}
