package present

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// TestShortModel checks that names lose their vendor, their version and their date, and nothing else.
func TestShortModel(t *testing.T) {
	for model, want := range map[string]string{
		"claude-sonnet-4-5-20250929":                 "sonnet-4-5",
		"us.anthropic.claude-sonnet-4-20250514-v1:0": "sonnet-4",
		"anthropic/claude-opus-4-1@20250805":         "opus-4-1",
		"gpt-5.2-2025-12-11":                         "gpt-5.2",
		"gemini-2.5-flash-preview-05-20":             "gemini-2.5-flash-preview",
		"amazon.nova-pro-v1":                         "amazon.nova-pro",
		"mistral-large-v":                            "mistral-large-v",
		"model-v2:":                                  "model-v2:",
		"claude-":                                    "claude-",
		"-20250101":                                  "-20250101",
		"":                                           "",
	} {
		if got := ShortModel(model); got != want {
			t.Errorf("%q: %q, want %q", model, got, want)
		}
	}
	date := regexp.MustCompile(`[-@](?:20\d{6}|20\d\d-\d\d-\d\d|\d{2}-\d{2})(?:-v\d+(?::\d+)?)?$|-v\d+(?::\d+)?$`)
	random, parts := rand.New(rand.NewPCG(1, 2)), []string{"-", "@", "20", "25", "05", "1", "v", "-v", ":", "a", "0"}
	for range 100_000 {
		var name strings.Builder
		for range random.IntN(9) {
			name.WriteString(parts[random.IntN(len(parts))])
		}
		if got, want := cutModelDate(name.String()), date.ReplaceAllString(name.String(), ""); got != want {
			t.Fatalf("%q: %q, want %q", name.String(), got, want)
		}
	}
}
