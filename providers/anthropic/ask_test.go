package anthropic

import "testing"

func TestMaxTokens(t *testing.T) {
	for model, want := range map[string]int{
		"claude-opus-5": 32000, "claude-sonnet-5": 32000, "claude-opus-4-8": 32000, "claude-opus-4-5": 21333,
		"claude-sonnet-4-5-20250929": 21333, "claude-sonnet-4-20250514": 21333, "claude-haiku-4-5": 21333,
		"claude-opus-4-1": 10666, "claude-opus-4-20250514": 10666, "claude-3-haiku-20240307": 4096,
		"us.anthropic.claude-opus-4-1": 10666, "anthropic/claude-sonnet-4-5": 21333, "Claude-Opus-5": 32000,
		"claude-3-5-sonnet-20241022": 8192, "glm-5.2": 8192, "": 8192,
	} {
		if got := maxTokens(model); got != want {
			t.Errorf("%s: %d, wanted %d", model, got, want)
		}
	}
}

func TestObject(t *testing.T) {
	for schema, want := range map[string]string{
		`{"properties":{"a":{}}}`: `{"type":"object","properties":{"a":{}}}`,
		`{"type":"object"}`:       `{"type":"object"}`,
		`{}`:                      `{"type":"object"}`,
	} {
		if got := string(objectSchema([]byte(schema))); got != want {
			t.Errorf("%s: %s", schema, got)
		}
	}
}
