package host

import (
	"slices"
	"testing"
)

// TestDecryptedNames checks the names of hosts without and with variables, and that no name covers other customers.
func TestDecryptedNames(t *testing.T) {
	env := map[string]string{}
	getenv := func(name string) string { return env[name] }
	plain := Names(getenv)
	for _, name := range []string{"api.anthropic.com", "api.openai.com", "chatgpt.com", "bedrock-runtime.us-east-1.amazonaws.com", "aiplatform.googleapis.com", "us-east5-aiplatform.googleapis.com", "opencode.ai", "api.factory.ai"} {
		if !slices.Contains(plain, name) {
			t.Errorf("%s is missing", name)
		}
	}
	for _, name := range []string{"amazonaws.com", "googleapis.com", "127.0.0.1", "", "{region}-aiplatform.googleapis.com"} {
		if slices.Contains(plain, name) {
			t.Errorf("%q is a name", name)
		}
	}
	env = map[string]string{"AWS_REGION": "xx-new-9", "GOOGLE_CLOUD_LOCATION": "global", "ANTHROPIC_BASE_URL": "https://Gateway.example/x", "OPENAI_BASE_URL": "http://plain.example"}
	with := Names(getenv)
	for name, want := range map[string]bool{
		"bedrock-runtime.xx-new-9.amazonaws.com": true, "bedrock-runtime.us-east-1.amazonaws.com": false, "gateway.example": true,
		"api.anthropic.com": true, "plain.example": false, "us-east5-aiplatform.googleapis.com": true,
	} {
		if slices.Contains(with, name) != want {
			t.Errorf("%s: %v, want %v", name, !want, want)
		}
	}
}
