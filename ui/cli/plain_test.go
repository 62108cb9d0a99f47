//go:build linux

package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestPlain checks that each event is printed once, as one sentence. Growing text must be printed when it is
// complete, and findings as soon as they exist.
func TestPlain(t *testing.T) {
	for name, want := range map[string][]string{
		"cut": {
			"Source: demo cut.", "Turn 1 begins: openai-chat, gpt-5-mini.", "Turn 1, call 1, file_report: the arguments begin.",
			`Turn 1, call 1, file_report: cut short, 269 bytes in 38 deltas: {"title": `, "Turn 1 ends: truncated, length, 1 call, $", "The source has ended.",
		},
		"malformed": {"run_shell: error ARGS_BROKEN: ", "run_shell: malformed, 111 bytes in 17 deltas: "},
		"history":   {"Turn 2, call 1, write_file: malformed", "Turn 2, call 1, write_file: sent back by a later request, ", "Turn 3 begins"},
	} {
		out := command(t, nil, "demo", name, "--plain", "--speed", "16")
		rest := out.stdout
		for _, w := range want {
			before, after, found := strings.Cut(rest, w)
			if rest = after; !found {
				t.Errorf("%s: %q is not behind\n%s\nin\n%s", name, w, before, out.stdout)
				break
			}
		}
		seen := map[string]bool{}
		for line := range strings.Lines(out.stdout) {
			if seen[line] {
				t.Errorf("%s: told twice: %s", name, line)
			}
			seen[line] = true
		}
		if out.code != 0 || out.stderr != "" || strings.ContainsAny(out.stdout, "\x1b\r\b") {
			t.Errorf("%s: exit code %d, %q", name, out.code, out.stderr)
		}
		if again := command(t, nil, "demo", name, "--plain", "--speed", "8"); again.stdout != out.stdout {
			t.Errorf("%s: at another speed\n%s", name, again.stdout)
		}
	}
}

// TestPlainFiles checks that data that is read all at once produces the same sentences as data that arrives slowly.
// Hostile names must be shown without any effect on the terminal.
func TestPlainFiles(t *testing.T) {
	out := command(t, turnOf(`x\u001b]0;t\u0007`), "--plain", "-")
	if out.code != 0 || strings.Count(out.stdout, "Turn 1, call 1, x") != 3 || strings.Count(out.stdout, " begins:") != 1 {
		t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	wantClean(t, out.stdout)
}

// TestPlainTerminal checks that there are no escape sequences and no screen on a dumb terminal, or with --plain.
// Signals must end the program as they do on a screen.
func TestPlainTerminal(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]launch{
		"dumb":    {args: []string{"demo", "cut", "--speed", "16"}, env: []string{"TERM=dumb"}},
		"--plain": {args: []string{"demo", "cut", "--speed", "16", "--plain"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, l)
			p.wantExit(0)
			if !bytes.Contains(p.out, []byte("Turn 1 ends: truncated")) || bytes.ContainsAny(p.out, "\x1b\x07\x9b") {
				t.Errorf("%q", p.out)
			}
		})
	}
	p := start(t, launch{args: []string{"demo", "--plain"}})
	p.untilShown("Source: demo")
	p.keys("\x03")
	p.wantExit(130)
}

// refusedHAR returns a HAR file of a conversation in which the client drops a call and keeps its result.
func refusedHAR() string {
	user := `{"role":"user","content":"why does it fail?"}`
	call := `{"type":"tool_use","id":"toolu_01Lost","name":"read_log","input":{"lines":20}}`
	result := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01Lost","content":"20 lines"}]}`
	answer := `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[%s],"stop_reason":"%s","usage":{"input_tokens":10,"output_tokens":20}}`
	entries := []string(nil)
	for i, x := range []struct {
		messages, answer string
		status           int
	}{
		{user, fmt.Sprintf(answer, call, "tool_use"), 200},
		{user + `,{"role":"assistant","content":[` + call + `]},` + result, fmt.Sprintf(answer, `{"type":"text","text":"A test is red."}`, "end_turn"), 200},
		{user + "," + result, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_01Lost\"}}", 400},
	} {
		body := `{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[` + x.messages + `],"tools":[{"name":"read_log","input_schema":{"type":"object"}}]}`
		entries = append(entries, fmt.Sprintf(`{"startedDateTime":"2026-01-02T03:04:0%dZ","time":10,"request":{"method":"POST","url":"https://api.anthropic.com/v1/messages","httpVersion":"HTTP/1.1","headers":[{"name":"User-Agent","value":"claude-cli/2.1.330 (external, cli)"},{"name":"X-Claude-Code-Session-Id","value":"s1"}],"postData":{"mimeType":"application/json","text":%q}},`+
			`"response":{"status":%d,"headers":[{"name":"Content-Type","value":"application/json"}],"content":{"mimeType":"application/json","text":%q}}}`, i, body, x.status, x.answer))
	}
	return `{"log":{"version":"1.2","entries":[` + strings.Join(entries, ",") + `]}}`
}

// TestPlainRefusal checks that the sentences about a refused request contain the place, the cause, the advice, and
// the origin.
func TestPlainRefusal(t *testing.T) {
	out := command(t, nil, "--plain", saved(t, "refused.har", refusedHAR()))
	for _, want := range []string{
		"Turn 3 ends: ", "Turn 3, refused request: The provider refused messages[1].content[0]: tool_result toolu_01Lost.",
		"Turn 3, refused request, cause: your client.", "Turn 3, refused request, do: ",
		"Turn 3, refused request, since: From turn 3 on, the call or its result is missing.",
		"Turn 3, refused request, origin: turn 1, call read_log toolu_01Lost.",
		"Turn 3, refused request, origin: turn 2, request: the call and its result are there.",
	} {
		if strings.Count(out.stdout, want) != 1 {
			t.Errorf("%q is not there once\n%s%s", want, out.stdout, out.stderr)
		}
	}
	if strings.Contains(out.stdout, "Turn 1, refused request") || out.code != 0 {
		t.Errorf("exit code %d\n%s", out.code, out.stdout)
	}
}
