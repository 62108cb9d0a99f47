package providers

import (
	"fmt"
	"strings"
	"testing"
)

// TestRequestNotes checks that certain settings of a request lead to hints, and that similar requests have none.
// Hints are not findings.
func TestRequestNotes(t *testing.T) {
	const (
		responses = "https://api.openai.com/v1/responses"
		chat      = "https://api.openai.com/v1/chat/completions"
		messages  = "https://api.anthropic.com/v1/messages"
		stored    = "store is not false: OpenAI"
		newStored = "store is not false: for new accounts"
		noKey     = "no prompt_cache_key"
		limit     = "max_tokens is"
		said      = `"input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"1"}]`
		chatSaid  = `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yes"},{"role":"user","content":"go on"}]`
	)
	response := func(input, cached int) string {
		return fmt.Sprintf(`{"id":"resp_1","object":"response","status":"completed","model":"gpt-5.4-mini","output":[{"type":"message","id":"m","role":"assistant","status":"completed","content":[{"type":"output_text","text":"ok"}]}],"usage":{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":2}}`, input, cached)
	}
	completion := `{"id":"c","object":"chat.completion","model":"gpt-5.4-mini","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":2000,"completion_tokens":2}}`
	message := func(model string) string {
		return `{"id":"msg_1","type":"message","role":"assistant","model":"` + model + `","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":1}}`
	}
	claude := func(limit int) string {
		return fmt.Sprintf(`{"model":"claude-sonnet-4-5","max_tokens":%d,"messages":[{"role":"user","content":"hi"}]}`, limit)
	}
	for _, c := range []struct{ name, url, request, response, want string }{
		{"stored by default", responses, `{"model":"gpt-5.4-mini","input":"hi"}`, response(9, 0), stored},
		{"not stored", responses, `{"model":"gpt-5.4-mini","store":false,"input":"hi"}`, response(9, 0), ""},
		{"stored on purpose", responses, `{"model":"gpt-5.4-mini","store":true,"input":"hi"}`, response(9, 0), ""},
		{"needs the stored response", responses, `{"model":"gpt-5.4-mini","previous_response_id":"resp_0","input":"hi"}`, response(9, 0), ""},
		{"in the background", responses, `{"model":"gpt-5.4-mini","background":true,"input":"hi"}`, response(9, 0), ""},
		{"in a stored conversation", responses, `{"model":"gpt-5.4-mini","conversation":"conv_1","input":"hi"}`, response(9, 0), ""},
		{"another host", "https://openrouter.ai/api/v1/responses", `{"model":"openai/gpt-5.4-mini",` + said + `}`, response(2000, 0), ""},
		{"a name like the host's", "https://api.openai.com.example.net/v1/responses", `{"model":"gpt-5.4-mini",` + said + `}`, response(2000, 0), ""},
		{"stored chat", chat, `{"model":"gpt-5.4-mini","messages":[{"role":"user","content":"hi"}]}`, completion, newStored},
		{"no key", responses, `{"model":"gpt-5.4-mini","store":false,` + said + `}`, response(1024, 0), noKey},
		{"no key in a chat", chat, `{"model":"gpt-5.4-mini","store":false,` + chatSaid + `}`, completion, noKey},
		{"a key", responses, `{"model":"gpt-5.4-mini","store":false,"prompt_cache_key":"s1",` + said + `}`, response(2000, 0), ""},
		{"the older key", responses, `{"model":"gpt-5.4-mini","store":false,"user":"ann",` + said + `}`, response(2000, 0), ""},
		{"too short for the cache", responses, `{"model":"gpt-5.4-mini","store":false,` + said + `}`, response(1023, 0), ""},
		{"the cache works", responses, `{"model":"gpt-5.4-mini","store":false,` + said + `}`, response(2000, 1024), ""},
		{"the first request", responses, `{"model":"gpt-5.4-mini","store":false,"input":"hi"}`, response(2000, 0), ""},
		{"both", responses, `{"model":"gpt-5.4-mini",` + said + `}`, response(2000, 0), stored + noKey},
		{"the maximum", messages, claude(64000), message("claude-sonnet-4-5-20250929"), limit},
		{"less than the maximum", messages, claude(63999), message("claude-sonnet-4-5-20250929"), ""},
		{"another host's maximum", "https://gateway.example.net/v1/messages", claude(64000), message("claude-sonnet-4-5-20250929"), ""},
		{"a model with a low maximum", messages, strings.Replace(claude(4096), "claude-sonnet-4-5", "claude-3-haiku-20240307", 1), message("claude-3-haiku-20240307"), ""},
		{"an unknown model", messages, claude(64000), message("claude-x"), ""},
		{"not an object", responses, `[]`, response(9, 0), ""},
	} {
		in, found := play(c.url, asked{c.request, c.response, 200})
		if len(in.Session().Turns) != 1 {
			t.Fatalf("%s: %d turns", c.name, len(in.Session().Turns))
		}
		turn, got := in.Session().Turns[0], ""
		for _, note := range in.Exchange(1).RequestNotes(turn) {
			for _, begin := range []string{stored, newStored, noKey, limit} {
				if strings.HasPrefix(note, begin) {
					got += begin
				}
			}
		}
		if got != c.want || len(found) > 0 {
			t.Errorf("%s: %q, want %q; findings %q; notes %q", c.name, got, c.want, found, in.Exchange(1).RequestNotes(turn))
		}
	}
}
