package cli

import (
	"os/exec"
	"strings"
	"testing"

	"toolscope/ui"
)

// offeredTo returns the completions that a shell gets for the last argument.
func offeredTo(t *testing.T, args ...string) (words []string, then string) {
	t.Helper()
	out := command(t, nil, append([]string{"__completeNoDesc"}, args...)...)
	lines := strings.Split(strings.TrimSuffix(out.stdout, "\n"), "\n")
	return lines[:len(lines)-1], lines[len(lines)-1]
}

// TestCompletion checks the completions in each place of a command line. Files may be suggested only where they are
// allowed.
func TestCompletion(t *testing.T) {
	file := saved(t, "ok.sse", string(turnOf("save_note")))
	const files, words, unfinished = ":0", ":4", ":6"
	for _, c := range []struct {
		line, want, then string // want has some of the expected words; "" if no words are expected
	}{
		{"pri", "print", words},
		{"print --format j", "jsonl", words},
		{"check --format ", "text jsonl junit sarif", words},
		{"print --dialect openai-", "openai-chat openai-responses", words},
		{"open --theme mono", "monokai", words},
		{"replay --to anth", "anthropic", words},
		{"replay --policy wrap", "wrap wrap-raw", words},
		{"proxy --to gro", "groq=", unfinished},
		{"connect mist", "mistral", words},
		{"connect anthropic,mist", "anthropic,mistral", words},
		{"connect openai/gpt-5.", "openai/gpt-5.1", words},
		{"connect anthropic hel", "", words},
		{"connect anthropic --model claude-opus-4-5", "claude-opus-4-5", words},
		{"demo ear", "early", words},
		{"explain ARGS_BR", "ARGS_BROKEN", words},
		{"check --fail-on error,ARGS_BR", "error,ARGS_BROKEN", words},
		{"check " + file + " --expect-tool sa", "save_note", words},
		{"print --filter st", "state:", words},
		{"print --filter state:b", "state:bad", words},
		{"print --as mitm", "mitmproxy-flow", words},
		{"export --as s", "svg sse", words},
		{"export x --from mitm", "mitmproxy-flow", words},
		{"serve --fault merge", "merge-index", words},
		{"run cla", "claude", words},
		{"help find", "findings", words},
		{"help pr", "prices print proxy", words},
		{"completion ", "bash zsh fish powershell", words},
		{"print ", "", files},
		{"print --prices ", "", files},
		{"cut x --at-delta ", "", words},
	} {
		got, then := offeredTo(t, strings.Split(c.line, " ")...)
		if all := " " + strings.Join(got, " ") + " "; c.want == "" && len(got) > 0 || then != c.then {
			t.Errorf("%s: %q, %s; want none, %s", c.line, got, then, c.then)
		} else {
			for word := range strings.FieldsSeq(c.want) {
				if !strings.Contains(all, " "+word+" ") {
					t.Errorf("%s: %q, and not %s", c.line, got, word)
				}
			}
		}
	}
}

// TestCompletionScripts checks that each installed shell accepts its script.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range shellNames() {
		script := command(t, nil, "completion", shell)
		if script.code != 0 || !strings.Contains(script.stdout, "toolscope") {
			t.Errorf("%s: exit code %d, %d bytes", shell, script.code, len(script.stdout))
		}
		if path, err := exec.LookPath(shell); err == nil && shell != "powershell" {
			if out, err := exec.Command(path, "-n", saved(t, "script", script.stdout)).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", shell, err, out)
			}
		}
	}
}

// TestManual checks that the manual page has every command, flag and key. Programs that format manual pages must
// not report problems.
func TestManual(t *testing.T) {
	out := command(t, nil, "man")
	plain := strings.NewReplacer(`\-`, "-", `\(aq`, "'", `\(ha`, "^", `\(ti`, "~", `\(ga`, "`", `\e`, `\`).Replace(out.stdout)
	for _, c := range new(app).linkParts().rootCommand().Commands() {
		if c.IsAvailableCommand() && !strings.Contains(plain, ".SH TOOLSCOPE "+strings.ToUpper(c.Name())+"\n") {
			t.Errorf("nothing of %s", c.Name())
		}
	}
	wanted := []string{".B --fail-on LIST\n", ".B -f, --follow\n"}
	for _, k := range ui.Keys(nil) {
		wanted = append(wanted, ".B "+k.Keys+"\n"+k.Does)
	}
	for _, want := range wanted {
		if !strings.Contains(plain, want) {
			t.Errorf("no %q", want)
		}
	}
	if path, err := exec.LookPath("groff"); err == nil {
		if said, err := exec.Command(path, "-man", "-Tutf8", "-K", "utf8", "-ww", "-z", saved(t, "page.1", out.stdout)).CombinedOutput(); err != nil || len(said) > 0 {
			t.Errorf("groff: %v\n%s", err, said)
		}
	}
}

// TestFlagGroups checks that flags that exclude or need each other are wrong usage: check's exit code 1 means findings.
func TestFlagGroups(t *testing.T) {
	for line, want := range map[string]string{
		"print --summary --count x":          "--count: can't be combined with --summary\nuse one of them\n",
		"check --no-color --color always x":  "--color: can't be combined with --no-color\nuse one of them\n",
		"hub --tls-cert x":                   "--tls-cert: needs --tls-key\nuse both of them\n",
		"run --screen --headless -- program": "--headless: can't be combined with --screen\nuse one of them\n",
	} {
		if out := command(t, nil, strings.Fields(line)...); out.code != 2 || out.stderr != "toolscope: "+want {
			t.Errorf("%s: exit code %d, %q; want 2, %q", line, out.code, out.stderr, want)
		}
	}
}
