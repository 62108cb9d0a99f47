package price

import (
	"reflect"
	"strings"
	"testing"
)

// TestLookup checks which names find a row, and which don't.
func TestLookup(t *testing.T) {
	table := Embedded()
	for _, test := range []struct{ dialect, host, model, want string }{
		// exact names, and the protocol's vendor if the host is unknown
		{"anthropic", "", "claude-sonnet-4-5", "anthropic claude-sonnet-4-5"},
		{"anthropic", "api.anthropic.com", "claude-opus-4-1", "anthropic claude-opus-4-1"},
		{"openai-chat", "", "gpt-5", "openai gpt-5"},
		{"openai-responses", "", "gpt-5.3-codex", "openai gpt-5.3-codex"},
		{"gemini", "", "gemini-2.5-pro", "google gemini-2.5-pro"},
		{"aistudio", "", "models/gemini-2.5-pro", "google gemini-2.5-pro"},
		{"cohere", "", "command-r7b-12-2024", "cohere command-r7b"},
		{"bedrock", "", "amazon.nova-pro-v1:0", "amazon-bedrock amazon.nova-pro-v1:0"},
		{"openai-chat", "", "GPT-5", "openai gpt-5"},

		// dates
		{"openai-chat", "", "gpt-5-2025-08-07", "openai gpt-5"},
		{"openai-responses", "api.openai.com", "gpt-5.4-mini-2026-03-17", "openai gpt-5.4-mini"},
		{"anthropic", "", "claude-haiku-4-5-20251001", "anthropic claude-haiku-4-5-20251001"},
		{"openai-chat", "", "gpt-4o-2024-08-06", "openai gpt-4o-2024-08-06"},
		{"openai-chat", "", "gpt-4o-2024-05-13", "openai gpt-4o-2024-05-13"}, // costs more than gpt-4o
		{"openai-chat", "", "gpt-5-2025-12-31", "openai gpt-5"},
		{"openai-chat", "", "gpt-5-2025-13-07", ""},
		{"openai-chat", "", "gpt-5-20250807-x", ""},
		{"anthropic", "", "claude-haiku-4-5-1", ""},

		// a name with the same beginning is another model
		{"openai-chat", "", "gpt-5-turbo", ""},
		{"openai-chat", "", "gpt-5-1", "openai gpt-5.1"}, // a different name for gpt-5.1
		{"anthropic", "", "claude-sonnet-4-7", ""},

		// alternative names, and snapshots of models whose names begin in the same way
		{"anthropic", "", "claude-sonnet-4-20250514", "anthropic claude-sonnet-4-0"},
		{"anthropic", "", "claude-3-5-sonnet-20241022", "anthropic claude-3-5-sonnet"},
		{"anthropic", "", "claude-3-7-sonnet-latest", "anthropic claude-3-7-sonnet-latest"},
		{"anthropic", "", "claude-3-5-sonnet-large", ""},
		{"openai-chat", "", "gpt-5-codex", "openai gpt-5"},
		{"openai-chat", "", "gpt-4", "openai gpt-4"},
		{"gemini", "", "gemini-2.5-flash-preview-05-20", "google gemini-2.5-flash-preview"},
		{"openai-chat", "api.x.ai", "grok-3", "xai grok-3"},
		{"gemini", "", "gemini-3-flash", "~google gemini-3-flash-preview"},
		{"openai-chat", "", "glm-4.7-flash", ""},
		{"openai-chat", "", "", ""},

		// resource paths
		{"gemini", "generativelanguage.googleapis.com", "models/gemini-2.5-flash", "google gemini-2.5-flash"},
		{"gemini", "us-central1-aiplatform.googleapis.com", "projects/p/locations/l/publishers/google/models/gemini-2.5-flash", "~vertex gemini-2.5-flash"}, // a region
		{"gemini", "aiplatform.googleapis.com", "publishers/google/models/gemini-2.5-flash", "vertex gemini-2.5-flash"},
		{"anthropic", "us-east5-aiplatform.googleapis.com", "publishers/anthropic/models/claude-opus-4-1@20250805", "~anthropic claude-opus-4-1"},
		{"anthropic", "aiplatform.googleapis.com", "claude-opus-4-6@default", "~anthropic claude-opus-4-6"},
		{"anthropic", "aiplatform.googleapis.com", "claude-opus-4-6@beta", ""},

		// Bedrock
		{"bedrock", "bedrock-runtime.us-east-1.amazonaws.com", "us.amazon.nova-lite-v1:0", "amazon-bedrock us.amazon.nova-lite-v1:0"},
		{"bedrock", "bedrock-runtime.eu-west-1.amazonaws.com", "eu.anthropic.claude-sonnet-4-6-v1:0", "amazon-bedrock regional.anthropic.claude-sonnet-4-6-v1:0"},
		{"bedrock", "", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "amazon-bedrock us.anthropic.claude-sonnet-4-5-20250929-v1:0"},
		{"bedrock", "", "global.anthropic.claude-sonnet-4-5-20250929-v1:0", "amazon-bedrock global.anthropic.claude-sonnet-4-5-20250929-v1:0"},
		{"bedrock", "bedrock-runtime.us-east-1.amazonaws.com", "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0", "amazon-bedrock us.anthropic.claude-haiku-4-5-20251001-v1:0"},
		{"anthropic", "bedrock-runtime-fips.us-east-1.amazonaws.com", "claude-haiku-4-5-20251001", "~amazon-bedrock regional.anthropic.claude-haiku-4-5-20251001-v1:0"},
		{"bedrock", "bedrock-runtime.us-east-1.amazonaws.com", "cohere.command-r-v1:0", "~cohere command-r"},
		{"bedrock", "bedrock-runtime.us-east-1.amazonaws.com", "us.deepseek.r1-v1:0", "amazon-bedrock deepseek.r1-v1:0"},
		{"bedrock", "bedrock-runtime.us-east-1.amazonaws.com", "us.deepseek.r9-v1:0", ""},
		{"bedrock", "bedrock-runtime.us-east-1.amazonaws.com", "amazon.nova-pro-v1:0", "amazon-bedrock amazon.nova-pro-v1:0"},
		{"bedrock", "bedrock-runtime.sa-east-1.amazonaws.com", "amazon.nova-pro-v1:0", "~amazon-bedrock amazon.nova-pro-v1:0"},
		{"bedrock", "bedrock-runtime.sa-east-1.amazonaws.com", "global.anthropic.claude-opus-5", "amazon-bedrock global.anthropic.claude-opus-5"},
		{"openai-chat", "eu.api.openai.com", "gpt-5", "~openai gpt-5"},

		// OpenRouter: its own price, or the maker's price if no other company runs the model
		{"openai-chat", "openrouter.ai", "z-ai/glm-5.2", "~openrouter z-ai/glm-5.2"},
		{"openai-chat", "openrouter.ai", "anthropic/claude-sonnet-4.6", "openrouter anthropic/claude-sonnet-4.6"},
		{"openai-chat", "openrouter.ai", "anthropic/claude-opus-4.8", "openrouter anthropic/claude-opus-4.8"},
		{"openai-chat", "openrouter.ai", "openai/gpt-4.1-mini-2025-04-14", "openrouter openai/gpt-4.1-mini"},
		{"openai-chat", "openrouter.ai", "anthropic/claude-opus-4.8:nitro", "~openrouter anthropic/claude-opus-4.8"},
		{"openai-chat", "openrouter.ai", "openai/codex-mini-latest", "~openai codex-mini"},
		{"openai-chat", "openrouter.ai", "mistralai/mistral-large-latest", ""},
		{"openai-chat", "openrouter.ai", "deepseek/deepseek-chat", "~openrouter deepseek/deepseek-chat"},
		{"openai-chat", "openrouter.ai", "z-ai/glm-5.2:free", "free"},
		{"openai-chat", "openrouter.ai", "anthropic/claude-opus-4.8:thinking", ""},
		{"openai-chat", "", "anthropic/claude-opus-4.8", "~anthropic claude-opus-4-8"},
		{"openai-chat", "", "openai/gpt-4.1-mini", "~openai gpt-4.1-mini"},

		// hosts
		{"openai-chat", "api.groq.com", "openai/gpt-oss-120b", "groq openai/gpt-oss-120b"},
		{"openai-chat", "api.together.xyz", "openai/gpt-oss-120b", "togetherai openai/gpt-oss-120b"},
		{"openai-chat", "api.groq.com", "gpt-5", ""},
		{"openai-chat", "api.x.ai", "grok-4.3", "xai grok-4.3"},
		{"openai-responses", "us-east-1.api.x.ai", "grok-4.3", "xai grok-4.3"},
		{"openai-chat", "API.DEEPSEEK.COM", "deepseek-v4-flash", "~deepseek deepseek-v4-flash"},
		{"openai-chat", "api.mistral.ai:443", "codestral-latest", "mistral codestral-latest"},
		{"openai-chat", "generativelanguage.googleapis.com", "gemini-3-flash-preview", "google gemini-3-flash-preview"},
		{"anthropic", "api.z.ai", "glm-4.7", "zai glm-4.7"},
		{"openai-chat", "me.openai.azure.com", "gpt-5-mini-2025-08-07", "~azure gpt-5-mini"},
		{"openai-chat", "me.openai.azure.com", "mistral-large-latest", ""},
		{"openai-responses", "chatgpt.com", "gpt-5.3-codex", ""},
		{"openai-chat", "api.githubcopilot.com", "gpt-4.1", ""},
		{"openai-chat", "notapi.x.ai.example.org", "grok-4.3", "~xai grok-4.3"},
		{"openai-chat", "gateway.example.com", "gpt-5", "~openai gpt-5"},
		{"openai-chat", "gateway.example.com", "a-new-model", ""},

		// unknown seller: the price of the only seller that has the model, or no price
		{"openai-chat", "", "deepseek-v4-flash", "~deepseek deepseek-v4-flash"}, // others also run this model
		{"openai-chat", "router.huggingface.co", "deepseek-ai/DeepSeek-V3-0324:novita", "huggingface/novita deepseek-ai/DeepSeek-V3-0324"},
		{"openai-chat", "router.huggingface.co", "deepseek-ai/DeepSeek-V3-0324", "~huggingface deepseek-ai/DeepSeek-V3-0324"},
		{"openai-chat", "", "llama-3.3-70b-versatile", "~groq llama-3.3-70b-versatile"},
		{"openai-chat", "", "claude-haiku-4-5-20251001", "anthropic claude-haiku-4-5-20251001"},
		{"openai-chat", "", "openai/gpt-oss-120b", ""},
		{"openai-chat", "", "gpt-oss-120b", ""}, // sold by cerebras, and by other sellers under another name
		{"anthropic", "localhost:8080", "claude-opus-5", "anthropic claude-opus-5"},
		{"openai-chat", "127.0.0.1:8000", "llama-3.3-70b-versatile", ""},
		{"openai-chat", "[::1]:8000", "gpt-5", "openai gpt-5"},

		// Ollama
		{"ollama", "", "llama3.2", "free"},
		{"ollama", "localhost:11434", "qwen3:8b", "free"},
		{"ollama", "gpu-box.lan:11434", "", "free"},
		{"openai-chat", "localhost:11434", "gpt-oss-120b", "free"},
		{"ollama", "ollama.com", "gpt-oss:120b", ""},
		{"ollama", "localhost:11434", "gpt-oss:120b-cloud", ""},
		{"never heard of", "", "gpt-5", "~openai gpt-5"},
		{"codex-exec", "", "gpt-5", "openai gpt-5"},
	} {
		p := table.Lookup(test.dialect, test.host, test.model)
		got := p.Provider + " " + p.ID
		switch {
		case p.Why != "":
			got = ""
		case p.Free:
			got = "free"
		case p.Doubt != "":
			got = "~" + got
		}
		if got != test.want {
			t.Errorf("%s at %q, model %q: %q (%s%s), want %q", test.dialect, test.host, test.model, got, p.Why, p.Doubt, test.want)
		}
		if (p.Why == "") == (test.want == "") || p.Why != "" && p.Doubt != "" {
			t.Errorf("%s at %q, model %q: why is %q, doubt is %q", test.dialect, test.host, test.model, p.Why, p.Doubt)
		}
	}
}

func TestHostOf(t *testing.T) {
	for url, want := range map[string]string{
		"https://api.openai.com/v1/chat/completions": "api.openai.com", "http://localhost:8080/v1": "localhost:8080",
		"/v1/messages": "", "": "", "api.x.ai/v1": "api.x.ai", "http://[::1]:80/": "[::1]:80", "http://a b/\x1b": "a b", "https://h?q=a://b/": "h",
		"https://me@openrouter.ai/x": "openrouter.ai",
	} {
		if got := hostOf(url); got != want {
			t.Errorf("hostOf(%q) = %q, want %q", url, got, want)
		}
	}
}

// TestEmbedded checks the table against the rules for its rows.
func TestEmbedded(t *testing.T) {
	rows, err := Parse(embedded)
	if err != nil {
		t.Fatal(err)
	}
	for i, quick := range embeddedRows() {
		names := quick.Names
		if p := quick.read(); !reflect.DeepEqual(p, rows[i]) || !reflect.DeepEqual(names, p.Names) {
			t.Errorf("%s of %s is read otherwise", p.ID, p.Provider)
		}
	}
	if len(rows) < 1200 {
		t.Errorf("%d models", len(rows))
	}
	providers := map[string]bool{"": true, "azure": true, "vertex": true, "ollama.com": true, subscription: true, huggingface: true}
	last := ""
	for _, p := range rows {
		providers[p.Provider] = true
		if k := p.Provider + "\x00" + p.ID; k <= last {
			t.Errorf("%s of %s is not in order", p.ID, p.Provider)
		} else {
			last = k
		}
		if p.CacheRead.USD > p.Input.USD && p.Doubt == "" {
			t.Errorf("%s of %s: odd prices %+v", p.ID, p.Provider, p.Rates)
		}
		if p.Provider == "anthropic" && p.CacheWrite.Known && p.CacheWriteHour.USD != 2*p.Input.USD {
			t.Errorf("%s: an hour in the cache is %g", p.ID, p.CacheWriteHour.USD)
		}
		for _, tier := range p.Tiers {
			if tier.Input.USD < p.Input.USD || tier.Output.USD < p.Output.USD || tier.CacheRead.Known && tier.CacheRead.USD < p.CacheRead.USD {
				t.Errorf("%s of %s: odd tier %+v", p.ID, p.Provider, tier)
			}
		}
	}
	if n := strings.Count(string(embedded), "\n"); n != len(rows)+2 {
		t.Errorf("%d lines", n)
	}
	for _, place := range sellerPatterns {
		if !providers[place.provider] {
			t.Errorf("%s sells nothing", place.provider)
		}
	}
	for _, name := range vendors {
		if !providers[name] {
			t.Errorf("%s sells nothing", name)
		}
	}
}
