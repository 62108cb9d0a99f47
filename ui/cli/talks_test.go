package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestTalks checks that agents' conversation files can be opened without a flag. Calls must have the arguments,
// results and errors that are in the file.
func TestTalks(t *testing.T) {
	for _, test := range []struct{ file, want string }{
		{"gemini-cli/failing.jsonl", `gemini run_shell_command complete ok
gemini read_file complete failed: File not found: /home/me/project/nothing.txt
turn gemini-3.8-flash complete 1200+50
gemini run_shell_command not an object failed: Value of params must be an object
turn gemini-3.8-flash complete 1200+50
turn gemini-3.8-flash complete 1200+50`},
		{"gemini-cli/older.json", `gemini read_file complete ok
gemini glob complete failed: [Operation Cancelled] Reason: User did not allow tool call
turn gemini-2.5-pro complete 900+32
turn gemini-2.5-pro complete 950+8
turn aborted PROVIDER_ERROR`},
		{"gemini-cli/rewound.jsonl", `gemini list_directory complete ok
gemini glob complete ok
turn gemini-3.8-flash complete 10+2
turn gemini-3.8-flash complete 11+1`},
		{"qwen-code/failing.jsonl", `gemini run_shell_command complete ok
gemini read_file complete failed: File not found: /home/me/project/nothing.txt
turn qwen3-coder-plus complete 1200+50
gemini run_shell_command complete ok
turn qwen3-coder-plus complete 1200+50
gemini run_shell_command complete ok
turn qwen3-coder-plus complete 1200+50
turn qwen3-coder-plus complete 1200+50`},
		{"pi/failing.jsonl", `anthropic bash complete failed: cat: missing-file.txt: No such file or directory
anthropic read complete failed: Validation failed for tool "read":
turn claude-sonnet-4-5 complete 1800+50
anthropic bash complete ok
turn claude-sonnet-4-5 complete 1800+50
turn claude-sonnet-4-5 complete 1800+50`},
		{"copilot/session.jsonl", `anthropic bash complete failed: wc: a: No such file
anthropic task complete ok
turn gpt-5.4 complete 0+31
anthropic bash complete ok
turn gpt-5.4 complete 0+12
turn gpt-5.4 complete 0+6
turn aborted PROVIDER_ERROR`},
		{"copilot/custom.jsonl", `anthropic apply_patch complete ok
anthropic bash cut short failed: invalid JSON
anthropic notes complete ok
turn gpt-5.4 complete 0+40`},
		{"gemini-cli/compacted.jsonl", `gemini list_directory complete ok
turn gemini-3.8-flash complete 10+2
turn gemini-3.8-flash complete 20+3
turn gemini-3.8-flash complete 7+1
turn gemini-3.8-flash complete 9+1`},
		{"conversation/langsmith.json", `anthropic get_weather complete ok
turn complete
anthropic get_weather complete
turn complete
anthropic get_weather malformed
turn complete`},
		{"conversation/items.json", `anthropic apply_patch complete ok
turn complete
anthropic shell_call complete ok
turn complete
anthropic apply_patch_call complete failed: no
turn complete
anthropic f complete ok
turn complete
turn complete`},
		{"opencode/exported.json", `anthropic bash complete ok
anthropic read complete failed: File not found: /home/me/project/nothing.txt
turn claude-sonnet-4-5 complete 1800+50
anthropic bash rejected ok
turn claude-sonnet-4-5 complete 1800+50
turn claude-sonnet-4-5 complete 1800+50`},
		{"opencode/events.jsonl", `anthropic read complete failed: File not found: /home/me/project/nothing.txt
anthropic bash complete ok
turn complete 1800+50
anthropic bash rejected ok
turn complete 1800+50
turn complete 1800+50`},
		{"opencode-storage/part.json", `anthropic edit complete failed: oldString must not be empty
turn complete`},
		{"opencode-storage/pending.json", `anthropic write aborted
turn aborted`},
		{"opencode-storage/message.json", `turn claude-sonnet-4-20250514 aborted 909+40`},
		{"litellm/calls.jsonl", `openai-chat get_weather complete ok
openai-chat get_weather cut short ok
turn gpt-4o-2024-08-06 complete 120+30
turn gpt-4o-2024-08-06 complete 170+5
turn gpt-4o aborted PROVIDER_ERROR`},
		{"otlp/genai.json", `anthropic get_weather complete ok
turn claude-sonnet-4-5 complete 500+40
turn claude-sonnet-4-5 complete
turn aborted PROVIDER_ERROR`},
		{"otlp/others.jsonl", `openai-chat get_weather complete
openai-chat get_weather cut short
turn gpt-4o complete 70+20
openai-chat run complete
turn gpt-4o-mini-2024-07-18 complete 9+4
openai-chat f complete
turn gpt-4o complete
openai-chat g complete
turn gpt-4o-mini complete`},
		{"otel-spans/console.json", `anthropic get_weather complete
turn gpt-4o complete 10+5
turn aborted PROVIDER_ERROR`},
		{"otel-spans/phoenix.json", `openai-chat get_weather complete
turn gpt-4o complete 10+5
openai-chat get_weather complete
turn gpt-4o complete 10+5
turn aborted PROVIDER_ERROR`},
		{"cline-screen/ui_messages.json", `gemini listFilesTopLevel complete
gemini command complete
turn complete 1600+80
gemini log complete
turn complete 1300+9
turn aborted PROVIDER_ERROR`},
		{"cline/api_conversation_history.json", `anthropic list_files complete ok
anthropic execute_command complete failed: The tool execution failed with the following error: mv: cannot stat 'a.txt'
turn claude-sonnet-4-5 complete 1200+80
turn complete`},
	} {
		got := command(t, nil, "print", "--format", "jsonl", "../../capture/formats/testdata/"+test.file)
		if said := saidOf(t, got.stdout); said != test.want || got.code != 0 {
			t.Errorf("%s: exit %d and\n%s\ninstead of\n%s", test.file, got.code, said, test.want)
		}
	}
}

// saidOf describes the calls and turns in the output of print, one per line.
func saidOf(t *testing.T, out string) string {
	var lines []string
	for text := range strings.Lines(out) {
		var l struct {
			Type, Dialect, Name, Status, Model, Phase string
			Result                                    json.RawMessage
			Usage                                     *struct{ Input, Output int }
			Findings                                  []struct{ Code, Severity string }
		}
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		var said string
		switch l.Type {
		case "call":
			said = join(l.Dialect, l.Name, l.Status)
			var gave struct {
				Error bool
				Text  string
			}
			if len(l.Result) > 0 && json.Unmarshal(l.Result, &gave) == nil {
				first, _, _ := strings.Cut(gave.Text, "\n")
				said += map[bool]string{true: " failed: " + first, false: " ok"}[gave.Error]
			}
		case "turn":
			said = join("turn", l.Model, l.Phase)
			if l.Usage != nil && l.Usage.Input+l.Usage.Output > 0 {
				b, _ := json.Marshal(l.Usage.Input)
				c, _ := json.Marshal(l.Usage.Output)
				said += " " + string(b) + "+" + string(c)
			}
		default:
			continue
		}
		for _, f := range l.Findings {
			if l.Type == "turn" && f.Severity != "info" {
				said += " " + f.Code
			}
		}
		lines = append(lines, said)
	}
	return strings.Join(lines, "\n")
}

func join(words ...string) string { return strings.Join(strings.Fields(strings.Join(words, " ")), " ") }

// TestSummariesAreCounted checks the usage of responses that summarise a conversation, and that a summary of an extension
// and a failed one are not responses.
func TestSummariesAreCounted(t *testing.T) {
	for file, want := range map[string]string{
		"pi/compacted.jsonl":      "claude-sonnet-4-5 1800/50, claude-sonnet-4-5 1900/80, claude-sonnet-4-5 300/20, claude-sonnet-4-5 400/10",
		"copilot/compacted.jsonl": "gpt-5.4-mini 212569/4152, gpt-5.4 0/31, gpt-5.4 157329/3400",
	} {
		var all []string
		for _, l := range printed(t, "../../capture/formats/testdata/"+file) {
			if l.Type == "turn" {
				all = append(all, fmt.Sprintf("%s %d/%d", l.Model, l.Usage.Input, l.Usage.Output))
			}
			if len(l.Findings) > 0 {
				t.Errorf("%s: %+v", file, l.Findings)
			}
		}
		if got := strings.Join(all, ", "); got != want {
			t.Errorf("%s: %s", file, got)
		}
	}
}

// TestInterruptedTalks checks responses and requests that the user interrupted, according to the entries of a session,
// and errors and stopped tools that are not interruptions.
func TestInterruptedTalks(t *testing.T) {
	for file, want := range map[string]string{
		"cline/interrupted.json":     "aborted CLIENT_GONE, complete, aborted CONNECTION_LOST, aborted CLIENT_GONE",
		"copilot/aborted.jsonl":      "aborted CLIENT_GONE, complete",
		"gemini-cli/cancelled.jsonl": "aborted CLIENT_GONE, complete",
		"gemini-cli/errors.jsonl":    "complete, aborted PROVIDER_ERROR, complete",
		"qwen-code/aborted.jsonl":    "aborted CLIENT_GONE, aborted PROVIDER_ERROR",
	} {
		var all []string
		for _, l := range printed(t, "../../capture/formats/testdata/"+file) {
			if l.Type != "turn" {
				continue
			}
			words := l.Phase
			for _, f := range l.Findings {
				words += " " + f.Code
			}
			all = append(all, words)
		}
		if got := strings.Join(all, ", "); got != want {
			t.Errorf("%s: %s", file, got)
		}
	}
}
