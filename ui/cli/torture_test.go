//go:build linux

package cli

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolscope/providers/torture"
)

// tortureSeeded runs the scenes with a client that has a fault. Its waits are short.
func tortureSeeded(t *testing.T, fault, dialect string) []sceneResult {
	t.Helper()
	a, _ := appOf(t)
	o := &tortureOptions{app: a, pace: 20, seed: 1, repeat: 1, jobs: 6, limit: limit, out: t.TempDir(), client: []string{"seeded"}}
	o.inside = func(vars map[string]string, end <-chan struct{}) int { return runSeeded(fault, dialect, vars, end) }
	if fault == "hangs-on-cut" {
		o.limit = 4 * time.Second
	}
	chosen, err := o.chooseScenes()
	if err == nil {
		err = o.prepareRun()
	}
	if err != nil {
		t.Fatal(err)
	}
	results, err := o.runAll(t.Context(), chosen)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// TestSeededClients checks that each fault is found in its own scenes and under its own rule, and in no other scene.
func TestSeededClients(t *testing.T) {
	const unfinished, other, twice = "must_not:run_unfinished", "must_not:run_other", "must_not:run_twice"
	for _, c := range []struct {
		fault, dialect string
		wrong          map[string]string
	}{
		{"", "openai-chat", nil},
		{"", "anthropic", nil},
		{"", "openai-responses", nil},
		{"runs-when-it-parses", "openai-chat", map[string]string{"cut-after-seal": twice, "error-after-seal": twice}},
		{"runs-cut", "openai-chat", map[string]string{
			"cut-in-string": unfinished, "cut-before-arguments": unfinished, "length-in-string": unfinished, "length-before-arguments": unfinished,
			"length-second-call": other, "broken": other, "array": other, "pings": unfinished,
		}},
		{"repairs-and-runs", "openai-chat", map[string]string{
			"length-in-string": unfinished, "length-before-arguments": unfinished, "length-second-call": other, "broken": other, "array": other,
		}},
		{"glues-index", "openai-chat", map[string]string{"index-zero": "must:run"}},
		{"one-call-only", "openai-chat", map[string]string{"two-calls": "must:run", "interleaved": "must:run", "twins": "must:run", "index-zero": "must:run"}},
		{"sends-back-empty", "openai-chat", map[string]string{"plain": "must:same_arguments"}}, // this fault fails the control, so the other scenes don't run
		{"no-result-for-bad", "openai-chat", map[string]string{"broken": "must:result", "array": "must:result", "wrong-type": "must:result", "unknown-tool": "must:result"}},
		{"hangs-on-cut", "openai-chat", map[string]string{
			"cut-in-string": "must_not:hang", "cut-before-arguments": "must_not:hang", "cut-after-seal": "must_not:hang",
			"error-after-seal": "must_not:hang", "pings": "must_not:hang",
		}},
		{"answers-first-id", "openai-chat", map[string]string{
			"two-calls": "must_not:two_results", "interleaved": "must_not:two_results", "twins": "must_not:two_results", "index-zero": "must_not:two_results",
		}},
		{"no-retry", "openai-chat", map[string]string{"busy-once": "must:retry"}},
		{"loops-on-no-call", "openai-chat", map[string]string{"tool-stop-no-call": "must_not:loop"}},
		{"utf8-by-chunk", "openai-chat", map[string]string{"one-byte": other}},
	} {
		t.Run(cmp.Or(c.fault, "right")+"/"+c.dialect, func(t *testing.T) {
			t.Parallel()
			for _, r := range tortureSeeded(t, c.fault, c.dialect) {
				if r.verdict.Kind == torture.Unknown || r.verdict.Rule != c.wrong[r.scene.Name] {
					t.Errorf("%s: %v %s: %s; want %q", r.scene.Name, r.verdict.Kind, r.verdict.Rule, r.verdict.Words, c.wrong[r.scene.Name])
				}
			}
		})
	}
}

// TestTortureOutput checks the output formats and the captures.
func TestTortureOutput(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--scene", "noise,id-again", "--scene", "two-*", "--", "env", asHelper + "=seeded", self}
	run := func(format, out string) outcome {
		return command(t, nil, append([]string{"torture", "--format", format, "--out", out}, args...)...)
	}
	dir := t.TempDir()
	text := run("text", filepath.Join(dir, "text"))
	for _, want := range []string{"TORTURE env · anthropic · 4 scenes · 3 right · 0 wrong · 1 don't fit · seed 1", "✔ noise", "- id-again", "plain.tsc"} {
		if text.code != 0 || !strings.Contains(text.stdout, want) {
			t.Errorf("exit %d, no %q in\n%s%s", text.code, want, text.stdout, text.stderr)
		}
	}
	printed := command(t, nil, "print", filepath.Join(dir, "text", "two-calls.tsc"))
	if strings.Count(printed.stdout, "sent back intact, returned") != 2 {
		t.Errorf("the capture shows\n%s%s", printed.stdout, printed.stderr)
	}
	first, second := run("jsonl", filepath.Join(dir, "first")), run("jsonl", filepath.Join(dir, "second"))
	lines := strings.Split(strings.TrimSpace(first.stdout), "\n")
	if len(lines) != 5 || !strings.Contains(lines[4], `{"type":"torture","scenes":4,"right":3,"wrong":0,"off_spec":0,"unknown":0,"unfit":1,"exit":0}`) {
		t.Errorf("%s", first.stdout)
	}
	for _, l := range lines {
		if !json.Valid([]byte(l)) {
			t.Errorf("not JSON: %s", l)
		}
	}
	a, b := saved(t, "a.jsonl", first.stdout), saved(t, "b.jsonl", strings.Replace(second.stdout, `"scene":"noise","verdict":"right"`, `"scene":"noise","verdict":"wrong","rule":"must:run"`, 1))
	if same := command(t, nil, "torture", "--compare", a, a); same.code != 0 || !strings.Contains(same.stdout, "0 differences, 4 same") {
		t.Errorf("exit %d: %s%s", same.code, same.stdout, same.stderr)
	}
	if other := command(t, nil, "torture", "--compare", a, b); other.code != 1 || !strings.Contains(other.stdout, "right → wrong must:run") {
		t.Errorf("exit %d: %s%s", other.code, other.stdout, other.stderr)
	}
	junit := run("junit", filepath.Join(dir, "junit"))
	var suites struct {
		Suites []struct {
			Tests int `xml:"tests,attr"`
			Cases []struct {
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(junit.stdout), &suites); err != nil || len(suites.Suites) != 1 || suites.Suites[0].Tests != 4 || suites.Suites[0].Cases[3].Skipped == nil {
		t.Errorf("%v: %s", err, junit.stdout)
	}
	if md := run("md", filepath.Join(dir, "md")); !strings.Contains(md.stdout, "| noise | ok |") || !strings.Contains(md.stdout, "| id-again | - |") {
		t.Errorf("%s", md.stdout)
	}
}

// TestTortureFails checks the exit codes if the control fails, and that no process is left.
func TestTortureFails(t *testing.T) {
	out := t.TempDir()
	if o := command(t, nil, "torture", "--out", filepath.Join(out, "a"), "--", "true"); o.code != 2 || !strings.Contains(o.stdout, "no request came") {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	pid := filepath.Join(out, "pid")
	if o := command(t, nil, "torture", "--limit", "200ms", "--out", filepath.Join(out, "b"), "--", "sh", "-c", "echo $$ >"+pid+"; sleep 99 & echo $! >>"+pid+"; wait"); o.code != 2 {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	text, err := os.ReadFile(pid)
	if err != nil || len(strings.Fields(string(text))) != 2 {
		t.Fatalf("%q %v", text, err)
	}
	for _, one := range strings.Fields(string(text)) {
		untilOver(t, one)
	}
	if o := command(t, nil, "torture", "--", "no-such-client"); o.code != 2 || !strings.Contains(o.stderr, "no-such-client") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	for flag, want := range map[string]string{"--seed=-1": "can't be below zero", "--limit=-1s": "can't be below zero", "--jobs=0": "above zero", "--repeat=0": "above zero"} {
		if o := command(t, nil, "torture", flag, "--", "true"); o.code != 2 || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: exit %d: %s", flag, o.code, o.stderr)
		}
	}
	if o := command(t, nil, "torture", "--scene", "plane", "--", "true"); o.code != 2 || !strings.Contains(o.stderr, `no scene is named "plane"`) {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
}

// TestTorturePaths checks that a client is found by a relative path, although each scene has its own working folder.
func TestTorturePaths(t *testing.T) {
	out := t.TempDir()
	t.Chdir(t.TempDir())
	script := "#!/bin/sh\npwd >>" + filepath.Join(out, "ran") + "\n"
	if err := os.WriteFile("client.sh", []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	command(t, nil, "torture", "--out", filepath.Join(out, "a"), "--", "./client.sh")
	command(t, nil, "torture", "--out", filepath.Join(out, "b"), "--", "sh", "client.sh")
	ran, _ := os.ReadFile(filepath.Join(out, "ran"))
	here, _ := os.Getwd()
	if lines := strings.Fields(string(ran)); len(lines) != 2 || slices.Contains(lines, here) {
		t.Errorf("%q", ran)
	}
}

// TestTortureClients checks that each known client gets the tools and shows its version, and that no file and no
// process is left.
func TestTortureClients(t *testing.T) {
	programs, scratch := t.TempDir(), t.TempDir()
	t.Setenv("PATH", programs+":"+os.Getenv("PATH"))
	t.Setenv("TMPDIR", scratch)
	for name, want := range map[string]string{
		"claude": "mcp-tool", "codex": "mcp-tool", "gemini": "mcp-tool", "opencode": "mcp-tool", "qwen": "mcp-tool", "pi": "torture.ts",
	} {
		out := t.TempDir()
		script := "#!/bin/sh\ncase \"$*\" in *--version) echo 9.8.7 >&2; sleep 99 >/dev/null 2>&1 & echo $! >" + filepath.Join(out, "pid") + "; exit;; esac\n" +
			"{ echo \"$@\"; env; cat \"$HOME/mcp.json\" \"$HOME\"/.qwen/*.json \"$GEMINI_CLI_HOME\"/.gemini/*.json; } >" + filepath.Join(out, "got") + " 2>&1\n"
		if err := os.WriteFile(filepath.Join(programs, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		o := command(t, nil, "torture", "--out", filepath.Join(out, "o"), "--", name, "-p", "{prompt}")
		got, _ := os.ReadFile(filepath.Join(out, "got"))
		if !strings.Contains(string(got), want) || !strings.Contains(string(got), torturePrompt) || !strings.Contains(o.stdout, " 9.8.7 ") {
			t.Errorf("%s: got\n%s\n%s%s", name, got, o.stdout, o.stderr)
		}
		pid, _ := os.ReadFile(filepath.Join(out, "pid"))
		untilOver(t, strings.TrimSpace(string(pid)))
		if left, _ := os.ReadDir(scratch); len(left) > 0 {
			t.Errorf("%s: left %v", name, left)
		}
	}
}

// TestTortureSignals checks that a signal, or the end of toolscope, ends the client and the processes that it
// started.
func TestTortureSignals(t *testing.T) {
	program := builtProgram(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			out := t.TempDir()
			pid := filepath.Join(out, "pid")
			cmd := exec.Command(program, "torture", "--out", filepath.Join(out, "o"), "--", "sh", "-c", "echo $$ >"+pid+"; exec sleep 99")
			cmd.Env = append(os.Environ(), "HOME="+out)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var text []byte
			for end := time.Now().Add(limit); !slices.Contains(text, '\n'); time.Sleep(5 * time.Millisecond) {
				if text, _ = os.ReadFile(pid); time.Now().After(end) {
					t.Fatal("the client didn't start")
				}
			}
			_ = cmd.Process.Signal(sig)
			_ = cmd.Wait()
			untilOver(t, strings.TrimSpace(string(text)))
			if code := cmd.ProcessState.ExitCode(); sig == syscall.SIGINT && code != 130 {
				t.Errorf("exit %d", code)
			}
		})
	}
}

// TestMCPTool checks the MCP server that offers the tools of torture.
func TestMCPTool(t *testing.T) {
	url, requests := provider(t, answers("text/plain", "noted 1"))
	in := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":"a","method":"tools/list"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"note","arguments":{ "text":"alpha" }}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"tick"}}
{"jsonrpc":"2.0","id":4,"method":"other"}
`
	o := command(t, []byte(in), "mcp-tool", "--url", url)
	lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
	for i, want := range []string{`"protocolVersion":"2025-11-25"`, `"readOnlyHint":true`, `"id":2,"result":{"content":[{"type":"text","text":"noted 1"}]}`, `"id":3,"result"`, `"code":-32601`} {
		if len(lines) != 5 || !strings.Contains(lines[i], want) || !json.Valid([]byte(lines[i])) {
			t.Fatalf("no %s in line %d of\n%s%s", want, i, o.stdout, o.stderr)
		}
	}
	got := requests()
	if len(got) != 2 || string(got[0].body) != `{ "text":"alpha" }` || got[0].path != "/note" || string(got[1].body) != "{}" {
		t.Errorf("%s", got)
	}
}
