package host

import (
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/stream/json"
)

// TestCacheConditions checks that nothing is marked for the cache unless the conversation will continue.
func TestCacheConditions(t *testing.T) {
	openai, anthropic := &All[1], &All[0]
	build := func(h *Host, r protocol.Request) json.Value {
		r.Messages = userSays("x")
		_, body := h.Build(r, "http://host.test")
		return body
	}
	for _, h := range []*Host{openai, anthropic} {
		if body := build(h, protocol.Request{Model: "m", LongCache: true}); strings.Contains(string(body), "cache") {
			t.Errorf("without a session: %s", body)
		}
	}
	if body := build(openai, protocol.Request{Model: "gpt-5.4", Session: "s"}); body.Get("prompt_cache_retention") != nil {
		t.Errorf("kept unasked: %s", body)
	}
	for model, member := range map[string]string{
		"gpt-5.5": "prompt_cache_retention", "gpt-5.6-terra": "prompt_cache_options", "gpt-5": "prompt_cache_retention",
		"gpt-4.1": "prompt_cache_retention", "gpt-6": "prompt_cache_options", "gpt-5.10": "prompt_cache_options",
		"o3": "prompt_cache_retention", "gpt-oss-120b": "prompt_cache_retention", "gpt-99999999999": "prompt_cache_retention",
	} {
		body := build(openai, protocol.Request{Model: model, Session: "s", LongCache: true})
		for _, name := range []string{"prompt_cache_retention", "prompt_cache_options"} {
			if got := body.Get(name) != nil; got != (name == member) {
				t.Errorf("%s: %s is there: %v", model, name, got)
			}
		}
	}
	if ttl := build(anthropic, protocol.Request{Model: "m", Session: "s", LongCache: true}).Get("cache_control").Get("ttl"); !ttl.Is("1h") {
		t.Errorf("Anthropic's cache is kept for %s", ttl)
	}
}

// TestEncryptedReasoning checks that only models that can reason are asked for encrypted reasoning.
func TestEncryptedReasoning(t *testing.T) {
	for model, want := range map[string]bool{
		"gpt-5.4": true, "o3": true, "o4-mini": true, "openai/gpt-5": true, "gpt-4.1": false, "gpt-5-chat-latest": false, "x": false,
	} {
		_, body := All[1].Build(protocol.Request{Model: model}, "http://host.test")
		if got := json.Value(body).Get("include") != nil; got != want {
			t.Errorf("%s: asked for it: %v", model, got)
		}
	}
}

// TestFreeText checks that a tool that takes free text is declared as such if the host supports this. Otherwise, the
// tool must be declared with an object that contains the text. A tool with arguments is a function on every host.
func TestFreeText(t *testing.T) {
	tools := []protocol.Tool{{Name: "patch", Kind: "custom", Description: "D"}, {Name: "ls", Kind: "function"}}
	for name, kind := range map[string]string{"openai": "custom", "openai-chat": "custom", "groq": "function", "anthropic": "function", "gemini": "function"} {
		h, _ := Find(name)
		_, body := h.Build(protocol.Request{Model: "m", Messages: userSays("x"), Tools: tools}, "http://host.test")
		d, _ := providers.FindProtocol(h.HistoryTarget().Protocol)
		got := d.Tools(body)
		if len(got) != 2 || got[0].Name != "patch" || got[0].Kind != kind || got[0].Description != "D" || got[1].Name != "ls" || got[1].Kind != "function" {
			t.Errorf("%s: %v", name, got)
		} else if kind == "function" && !got[0].Schema.Get("properties").Get("input").Get("type").Is("string") {
			t.Errorf("%s: %s", name, got[0].Schema)
		}
	}
}
