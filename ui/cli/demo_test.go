package cli

import (
	"strings"
	"testing"
)

// TestDemos checks that each scenario shows what its caption describes.
func TestDemos(t *testing.T) {
	for name, wants := range map[string][]string{
		"parallel":   {"complete      write_file", "complete      run_tests"},
		"cut":        {"cut short     file_report", "ARGS_CUT"},
		"index-zero": {"IDX_REUSED", "call_demo_lima", "toolu_demo_lima"},
		"malformed":  {"malformed     run_shell", "ARGS_BROKEN"},
		"early":      {"malformed     search_orders", "EARLY_WRONG", "$0.0000312"},
		"schema":     {"complete      create_ticket", "SCHEMA_ENUM", "SCHEMA_WRONG_TYPE", "SCHEMA_UNKNOWN_KEY"},
		"protocols": {"  anthropic ·", "  openai-responses ·", "  gemini ·", "  bedrock ·", "  ollama ·", "  cohere ·",
			`{"restaurant":"Hvelv","guests":4,"when":"2026-12-05T19:00","notes":"a table by the window"}`},
		"executed": {"EXEC_CUT", "EXEC_EARLY", "RESULT_CUT", "by the call's id, 3368.0 ms before its arguments were final", "it got 28 B", "MCP server web"},
		"compare":  {"claude-sonnet-4-5", "gpt-5.2", "mistral-large-latest", "SCHEMA_WRONG_TYPE"},
		"aistudio": {`{"todos":[{"id":["1"]`, `{"todos":[{}]}`, "LENGTH_FIRST_DIVERGENCE", "1 (STOP)"},
	} {
		for _, r := range demoRecords(t, name) {
			if r.Head != nil && r.Head.File != "demo/"+name {
				t.Errorf("%s: said to be read from %q", name, r.Head.File)
			}
		}
		out := command(t, nil, "demo", name)
		for _, want := range wants {
			if !strings.Contains(out.stdout, want) {
				t.Errorf("%s does not show %q:\n%s", name, want, out.stdout)
			}
		}
	}
	if out := command(t, nil); strings.Count(out.stdout, "  turn ") != 21 {
		t.Errorf("the tour shows\n%s", out.stdout)
	}
}
