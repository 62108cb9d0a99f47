//go:build linux

package cli

import (
	"bytes"
	"strings"
	"testing"
)

// TestPlain: each thing that happens is one sentence, which is told once; what grows is told when it
// is whole, and findings when they are made.
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

// TestPlainFiles: what is read at once is told as what comes slowly, and hostile names are shown, not
// obeyed.
func TestPlainFiles(t *testing.T) {
	out := command(t, turnOf(`x\u001b]0;t\u0007`), "--plain", "-")
	if out.code != 0 || strings.Count(out.stdout, "Turn 1, call 1, x") != 3 || strings.Count(out.stdout, " begins:") != 1 {
		t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	wantClean(t, out.stdout)
}

// TestPlainTerminal: on a dumb terminal, and with --plain, there are no escape sequences and no other
// screen; a signal ends it as it ends a screen.
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
