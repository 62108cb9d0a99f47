package providers

import (
	"fmt"

	"toolscope/providers/anthropic"
	"toolscope/providers/conversation"
	"toolscope/stream"
	"toolscope/stream/json"
)

// minKeyedTokens is the minimum number of input tokens for which OpenAI caches the beginning of a request.
const minKeyedTokens = 1024

// RequestNotes returns hints about the settings of a turn's request: the provider stores the response by
// default, the cache key is missing, or the token limit is the model's maximum. Such a request is correct, so
// the hints are not findings. They are only about requests to the provider's own host.
func (x *Exchange) RequestNotes(t *stream.Turn) (notes []string) {
	body := json.Value(x.RequestOf(t))
	background := t.Request != nil && t.Request.Background
	if body.Kind() != '{' || background || x.AnsweredHere || x.Head.Reconstructed || x.Protocol == nil {
		return nil
	}
	switch ProviderAt(x.Head.URL) {
	case "openai":
		return openAINotes(body, x.Protocol.Name, &t.Usage)
	case "anthropic":
		limit := conversation.ReadBody(body).MaxTokens
		if most := int64(anthropic.MaxOutput(t.Model)); most > anthropic.ModestTokens && limit >= most {
			notes = append(notes, fmt.Sprintf("max_tokens is %d, the model's maximum: older models refuse the request if its input leaves less room in the context window", limit))
		}
	}
	return notes
}

// openAINotes returns the hints about a request to OpenAI. A request that refers to a stored response needs the
// storage. The cache key matters only in a request that continues a conversation.
func openAINotes(body json.Value, name string, used *stream.Usage) (notes []string) {
	b := conversation.ReadBody(body)
	needsStore := b.Before != "" || b.Conversation != "" || body.Get("background").IsTrue()
	stores := map[string]string{"openai-responses": "OpenAI stores the response", "openai-chat": "for new accounts, OpenAI stores the response"}[name]
	if stores == "" {
		return nil
	}
	if !needsStore && !body.Get("store").IsPresent() {
		notes = append(notes, "store is not false: "+stores)
	}
	keyed := b.CacheKey != "" || body.Get("user").IsPresent()
	if !keyed && used.Input.Reported && used.Input.N >= minKeyedTokens && used.CacheRead.N == 0 && continuesConversation(body) {
		notes = append(notes, fmt.Sprintf("no prompt_cache_key, and none of the %d input tokens came from the cache: a key sends the requests of a conversation to the same cache", used.Input.N))
	}
	return notes
}

// continuesConversation reports whether a request contains a message or an item from the model.
func continuesConversation(body json.Value) bool {
	for _, key := range [...]string{"messages", "input"} {
		for item := range body.Get(key).Elements() {
			if kind := item.Get("type"); item.Get("role").Is("assistant") || kind.Is("function_call") || kind.Is("reasoning") {
				return true
			}
		}
	}
	return false
}
