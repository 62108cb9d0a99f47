//go:build linux

package cli

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// ran runs a shell command through toolscope run, without a terminal.
func ran(t *testing.T, flags []string, command ...string) (p *console, out string) {
	t.Helper()
	return ranWith(t, nil, flags, command...)
}

// ranWith is like ran, with additional environment variables.
func ranWith(t *testing.T, env, flags []string, command ...string) (p *console, out string) {
	t.Helper()
	r, w := pipe(t)
	p = start(t, launch{
		args: append(append([]string{"run"}, flags...), append([]string{"--"}, command...)...), stdout: w,
		env: append([]string{"ANTHROPIC_API_KEY=x"}, env...), w: 250, h: 24,
	})
	w.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return p, string(text)
}

// TestRun checks that a client's requests go through the proxy and are recorded. The client's output and exit code
// must not change.
func TestRun(t *testing.T) {
	upstream, requests := provider(t, answers(events, anthropicAnswer))
	program := builtProgram(t)
	rec := filepath.Join(t.TempDir(), "a.tsc")
	p, out := ran(t, []string{"--to", "anthropic=" + upstream, "--record", rec}, program, "connect", "anthropic/claude-x", "hi", "--format", "jsonl")
	p.wantExit(0)
	if calls, _ := (outcome{stdout: out}).decode(t); len(calls) != 1 || calls[0].Name != "get_weather" {
		t.Errorf("%q", out)
	}
	if all := requests(); len(all) != 1 || all[0].path != "/v1/messages" {
		t.Errorf("%+v", all)
	}
	if got := command(t, nil, "print", rec); got.code != 0 || !strings.Contains(got.stdout, "get_weather") {
		t.Errorf("%+v", got)
	}
	p.untilShown("1 turn, 1 call: toolscope " + rec)
}

// TestRunExit checks that the exit code is the client's, even if the capture has gaps or a signal arrives at the end.
func TestRunExit(t *testing.T) {
	for script, want := range map[string]int{
		"exit 7": 7, "kill -9 $$": 137, "kill -TERM $$": 143, "true": 0, "trap '' INT; kill -INT $PPID; exit 5": 5,
	} {
		p, _ := ran(t, []string{"--no-record"}, "sh", "-c", script)
		p.wantExit(want)
	}
	p, _ := ran(t, []string{"--no-record"}, "no-such-program")
	p.wantExit(127)
	for _, args := range [][]string{{"run"}, {"run", "--format", "text", "--", "true"}, {"run", "--screen", "--", "true"}} {
		if out := command(t, nil, args...); out.code != 2 {
			t.Errorf("%q: %+v", args, out)
		}
	}
}

// TestRunTerminal checks that the client receives signals from keys, and signals to toolscope, only once. Notes must
// wait until the client has ended. toolscope must get the terminal back.
func TestRunTerminal(t *testing.T) {
	const script = `trap 'echo "<int>"' INT; trap 'echo "<term>"; exit 5' TERM; echo ready; while :; do sleep 0.05; done`
	p := start(t, launch{args: []string{"run", "--no-record", "--", "sh", "-c", script}})
	p.untilShown("ready")
	p.keys("\x03")
	p.untilShown("<int>")
	p.signal(syscall.SIGINT)
	p.signal(syscall.SIGTERM)
	p.wantExit(5)
	if text := string(p.out); strings.Count(text, "<int>") > 2 || strings.Count(text, "<term>") != 1 || strings.Index(text, "0 turns") < strings.Index(text, "<term>") {
		t.Errorf("%q", text)
	}
}

// TestRunPipeline checks that the terminal stays with toolscope's process group if standard output is a pipe. The
// client must still receive signals from keys only once.
func TestRunPipeline(t *testing.T) {
	const script = `n=0; trap 'n=$((n+1)); echo "<int $n>" >&2' INT; trap 'exit 5' TERM; echo ready >&2; while :; do sleep 0.05; done`
	r, w := pipe(t)
	p := start(t, launch{args: []string{"run", "--no-record", "--", "sh", "-c", script}, stdout: w})
	w.Close()
	p.untilShown("ready")
	p.keys("\x03")
	p.untilShown("<int 1>")
	p.signal(syscall.SIGTERM)
	p.wantExit(5)
	if _, err := io.ReadAll(r); err != nil || strings.Contains(string(p.out), "<int 2>") {
		t.Errorf("%q, %v", p.out, err)
	}
}

// TestRunScreen checks that the client's output goes to a file while the screen is open. If the client is still
// running when the screen closes, it must end.
func TestRunScreen(t *testing.T) {
	upstream, _ := provider(t, answers(events, anthropicAnswer))
	program := builtProgram(t)
	rec := filepath.Join(t.TempDir(), "a.tsc")
	script := "echo from the client; " + program + " connect anthropic/claude-x hi --format text; sleep 1000"
	p := start(t, launch{
		w: 140, h: 40, args: []string{"run", "--screen", "--to", "anthropic=" + upstream, "--record", rec, "--", "sh", "-c", script}, env: []string{"ANTHROPIC_API_KEY=x"},
	})
	p.untilShown("get_weather")
	p.untilShown("client runs")
	p.keys("q")
	p.untilShown("the client is still running: q ends it")
	p.keys("q")
	p.wantExit(143)
	if text, err := os.ReadFile(strings.TrimSuffix(rec, ".tsc") + ".txt"); err != nil || !strings.HasPrefix(string(text), "from the client\n") {
		t.Errorf("%q, %v", text, err)
	}
}

// TestOutfit checks the variables and flags that are set for each client.
func TestOutfit(t *testing.T) {
	home := t.TempDir()
	gemini := filepath.Join(home, ".gemini")
	if err := os.MkdirAll(filepath.Join(gemini, "history"), 0o700); err != nil {
		t.Fatal(err)
	}
	const own = `{"ui":{"theme":"x"}}`
	if err := os.WriteFile(filepath.Join(gemini, "settings.json"), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command string
		env     map[string]string
		args    string   // resulting arguments; "" if unchanged
		vars    []string // prefixes of expected variables; a minus means that the variable is not set
	}{
		{"claude -p hi", nil, "", []string{"ANTHROPIC_BASE_URL=http://h:1/anthropic", "ENABLE_TOOL_SEARCH=true", "-OPENAI_BASE_URL"}},
		{"/usr/bin/claude", map[string]string{"ENABLE_TOOL_SEARCH": "auto"}, "", []string{"ANTHROPIC_BASE_URL=", "-ENABLE_TOOL_SEARCH"}},
		{"codex exec hi", nil, `codex -c openai_base_url="http://h:1/openai" exec hi`, []string{"-OPENAI_BASE_URL"}},
		{"npx -y @openai/codex@1.2 hi", nil, `npx -y @openai/codex@1.2 -c openai_base_url="http://h:1/openai" hi`, nil},
		{"qwen -p hi", nil, "qwen --auth-type openai -p hi", []string{"OPENAI_BASE_URL=http://h:1/openai"}},
		{"qwen --auth-type openai -p hi", nil, "", nil},
		{"qwen -p hi --auth-type=openai", nil, "", nil},
		{"opencode run hi", map[string]string{"OPENCODE_CONFIG_CONTENT": `{"a":1,"provider":{"openai":{"options":{"baseURL":"mine","b":2}}}}`}, "", []string{`OPENCODE_CONFIG_CONTENT={"a":1,"provider":{"anthropic":{"options":{"baseURL":"http://h:1/anthropic/v1"}},"google":{"options":{"baseURL":"http://h:1/gemini/v1beta"}},"openai":{"options":{"b":2,"baseURL":"http://h:1/openai"}}}}`}},
		{"gemini -p hi", map[string]string{"GEMINI_API_KEY": "x", "GEMINI_CLI_HOME": home}, "", []string{"GOOGLE_GEMINI_BASE_URL=", "GEMINI_CLI_HOME="}},
		{"gemini -p hi", nil, "", []string{"CODE_ASSIST_ENDPOINT=http://h:1/code-assist", "-GEMINI_CLI_HOME"}},
		{"env -u A B=c timeout -k 5 60 npx --yes claude -p hi", nil, "", []string{"ANTHROPIC_BASE_URL=", "-OPENAI_BASE_URL"}},
		{"node editor.mjs claude", nil, "", []string{"ANTHROPIC_BASE_URL=", "OPENAI_BASE_URL=", "OLLAMA_HOST="}},
		{"npx -y inspector claude", nil, "", []string{"ANTHROPIC_BASE_URL=", "OPENAI_BASE_URL=", "OLLAMA_HOST="}},
		{"node /lib/claude.js -p hi", nil, "", []string{"ANTHROPIC_BASE_URL=", "-OPENAI_BASE_URL"}},
		{"pnpm dlx @openai/codex exec hi", nil, `pnpm dlx @openai/codex -c openai_base_url="http://h:1/openai" exec hi`, nil},
		{"./agent claude", nil, "", []string{"ANTHROPIC_BASE_URL=", "OPENAI_BASE_URL=", "OLLAMA_HOST="}},
	} {
		args := strings.Fields(c.command)
		o := newClientLaunch(args, func(name string) string { return c.env[name] })
		all, err := buildRoutes(nil, o.lookupEnv)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.pointAt(all, "http://h:1"); err != nil {
			t.Errorf("%s: %v", c.command, err)
		}
		if want := c.args; strings.Join(o.args, " ") != want && (want != "" || strings.Join(o.args, " ") != c.command) {
			t.Errorf("%s: %q", c.command, o.args)
		}
		text := "\n" + strings.Join(o.vars, "\n")
		for _, want := range c.vars {
			begin, none := strings.CutPrefix(want, "-")
			if strings.Contains(text, "\n"+begin) == none {
				t.Errorf("%s: %q is there or not:%s", c.command, want, text)
			}
		}
		if o.home != "" {
			got, err := os.ReadFile(filepath.Join(o.home, ".gemini", "settings.json"))
			if err != nil || strings.TrimSpace(string(got)) != `{"security":{"auth":{"selectedType":"gemini-api-key"}},"ui":{"theme":"x"}}` {
				t.Errorf("%s, %v", got, err)
			}
			if link, err := os.Readlink(filepath.Join(o.home, ".gemini", "history")); err != nil || link != filepath.Join(gemini, "history") {
				t.Errorf("%s, %v", link, err)
			}
		}
		o.removeFiles()
	}
	if kept, err := os.ReadFile(filepath.Join(gemini, "settings.json")); err != nil || string(kept) != own {
		t.Errorf("%s, %v", kept, err)
	}
	if _, err := os.Stat(filepath.Join(gemini, "history")); err != nil {
		t.Error(err)
	}
	o := newClientLaunch([]string{"aider"}, func(name string) string { return map[string]string{"OPENAI_API_BASE": "https://gateway.test/v1"}[name] })
	if all, err := buildRoutes(nil, o.lookupEnv); err != nil || routeFor(all, "/openai").upstream.Host != "gateway.test" {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestUnrecordable checks that a client that can't be pointed at the proxy is not started, and that the error
// explains why.
func TestUnrecordable(t *testing.T) {
	all, err := buildRoutes(nil, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	copilot := map[string]string{"COPILOT_PROVIDER_BASE_URL": "https://gateway.test/v1"}
	for _, test := range []struct {
		command string
		env     map[string]string
		says    string // "" for a client that starts
	}{
		{"cline hi", nil, "'toolscope proxy --listen 127.0.0.1:8080' and set this by hand: cline auth"},
		{"cn -p hi", nil, "http://127.0.0.1:8080/openai/v1"}, {"droid exec hi", nil, "customModels"},
		{"amp -x hi", nil, "its own server"}, {"agy", nil, "No known variable"}, {"cursor-agent -p hi", nil, "Cursor's own servers"},
		{"copilot -p hi", nil, "GitHub login"}, {"kimi -p hi", nil, "KIMI_MODEL_NAME"},
		{"copilot -p hi", copilot, ""}, {"kimi -p hi", map[string]string{"KIMI_MODEL_NAME": "k"}, ""},
		{"pi -p hi", nil, ""}, {"claude -p hi", nil, ""}, {"opencode run hi", nil, ""}, {"kilo run hi", nil, ""}, {"my-agent", nil, ""},
	} {
		o := newClientLaunch(strings.Fields(test.command), func(name string) string { return test.env[name] })
		err := o.checkSetup(all)
		if (err != nil) != (test.says != "") || err != nil && !(strings.Contains(err.Error(), test.says) && strings.Contains(err.Error(), "--unrecorded")) {
			t.Errorf("%s: %v", test.command, err)
		}
	}
	o := newClientLaunch([]string{"copilot"}, func(name string) string { return copilot[name] })
	if all, err := buildRoutes(nil, o.lookupEnv); err != nil || routeFor(all, "/openai").upstream.String() != "https://gateway.test/v1" {
		t.Errorf("%+v, %v", routeFor(all, "/openai"), err)
	}
	copilot["COPILOT_PROVIDER_TYPE"] = "anthropic"
	if err := o.pointAt(all, "http://h:1"); err != nil || strings.Join(o.vars, " ") != "COPILOT_PROVIDER_BASE_URL=http://h:1/anthropic" {
		t.Errorf("%q, %v", o.vars, err)
	}
	o = newClientLaunch([]string{"pi", "-p", "hi"}, func(string) string { return "" })
	if err := o.pointAt(all, "http://h:1"); err != nil || len(o.args) != 5 || o.args[1] != "--extension" {
		t.Fatalf("%q, %v", o.args, err)
	}
	text, err := os.ReadFile(o.args[2])
	if err != nil || !strings.Contains(string(text), `"anthropic":{"baseUrl":"http://h:1/anthropic"}`) {
		t.Errorf("%s, %v", text, err)
	}
	o.removeFiles()
	if _, err := os.Stat(o.args[2]); err == nil {
		t.Error("the extension is left")
	}
	clientOf(t, "amp", "echo started")
	for code, flags := range map[int][]string{2: {"--no-record"}, 0: {"--no-record", "--unrecorded"}} {
		p, out := ran(t, flags, "amp")
		p.wantExit(code)
		if (out == "started\n") != (code == 0) {
			t.Errorf("%q: %q", flags, out)
		}
	}
}

// TestRunWaitsForOthers checks a client that ends while a process that it started waits for a response. The response
// must still be delivered and recorded, unless a signal arrives.
func TestRunWaitsForOthers(t *testing.T) {
	program := builtProgram(t)
	for _, interrupted := range []bool{false, true} {
		t.Run(fmt.Sprint("interrupted ", interrupted), func(t *testing.T) {
			dir := t.TempDir()
			goOn := make(chan struct{})
			upstream, _ := provider(t, func(w http.ResponseWriter, r *http.Request) {
				create(t, dir, "asked")
				select {
				case <-goOn:
					answers(events, anthropicAnswer)(w, r)
				case <-r.Context().Done():
				}
			})
			rec := filepath.Join(dir, "a.tsc")
			script := fmt.Sprintf("%s connect anthropic/claude-x hi >%s/out 2>&1 & while [ ! -e %[2]s/asked ]; do sleep 0.05; done; exit 7", program, dir)
			p := start(t, launch{
				w: 200, h: 24, args: []string{"run", "--headless", "--to", "anthropic=" + upstream, "--record", rec, "--", "sh", "-c", script},
				env: []string{"ANTHROPIC_API_KEY=x"},
			})
			p.untilShown("sh has ended: waiting for 1 request from processes that it started")
			if interrupted {
				p.signal(syscall.SIGINT)
			} else {
				close(goOn)
			}
			p.wantExit(7)
			if got := command(t, nil, "print", rec); strings.Contains(got.stdout, "get_weather") == interrupted {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestRunNamesOthers checks the note about processes that outlive the client and lose the proxy.
func TestRunNamesOthers(t *testing.T) {
	const words = "processes that sh started are still running, but the proxy has ended"
	dir := t.TempDir()
	script := "(while [ ! -e " + dir + "/stop ]; do sleep 0.05; done) & exit 3"
	p := start(t, launch{w: 200, h: 24, args: []string{"run", "--no-record", "--", "sh", "-c", script}})
	p.untilShown(words)
	create(t, dir, "stop")
	p.wantExit(3)
	p = start(t, launch{w: 200, h: 24, args: []string{"run", "--no-record", "--", "sh", "-c", "sleep 0; exit 3"}})
	p.wantExit(3)
	if strings.Contains(string(p.out), words) {
		t.Errorf("nothing was left: %q", p.out)
	}
}
