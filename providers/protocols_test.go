package providers

import "testing"

// TestNameProvider checks that the host determines the provider's name, and otherwise the protocol.
func TestNameProvider(t *testing.T) {
	for _, test := range []struct{ url, protocol, want string }{
		{"https://api.mistral.ai/v1/chat/completions", "openai-chat", "mistral_ai"},
		{"https://bedrock-runtime.us-west-2.amazonaws.com/model/m/invoke", "anthropic", "aws.bedrock"},
		{"https://files.amazonaws.com/x", "anthropic", "anthropic"},
		{"http://127.0.0.1:11434/api/chat", "ollama", "ollama"},
		{"", "gemini", "gcp.gemini"},
		{"https://llm.example/", "unknown", ""},
	} {
		if got := NameProvider(test.url, test.protocol); got != test.want {
			t.Errorf("%s, %s: %q, want %q", test.url, test.protocol, got, test.want)
		}
	}
}
