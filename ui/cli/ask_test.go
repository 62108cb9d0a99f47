package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
	"toolscope/providers/client"
	"toolscope/providers/price"
	"toolscope/ui"
	"toolscope/ui/ask"
)

// TestAskAnswers checks the answers to questions about the demo's captures. Each answer must be short.
func TestAskAnswers(t *testing.T) {
	dir := t.TempDir()
	if out := command(t, nil, "demo", "--save", dir); out.code != 0 {
		t.Fatal(out.stderr)
	}
	for _, c := range []struct{ calls, must, not string }{
		{"problems run=malformed;call ref=malformed#1.1;evidence run=malformed line=23", "ARGS_BROKEN;by=model;byte 87;30s;malformed.tsc line 23", ""},
		{"call ref=tooluse_demo_scrape", "EXEC_CUT;first 4 of 69 bytes;by=client;RESULT_CUT;EXEC_EARLY", ""},
		{"problems run=index-zero;calls run=index-zero", "IDX_REUSED;by=gateway;index 0", "by=client"},
		{"problems run=cut;call ref=cut#1.1", "ARGS_CUT;269 bytes;inside a string;cut short;length", "state=complete"},
		{"problems run=early", "ARGS_TRAILING;EARLY_WRONG;delta 5", ""},
		{"problems run=history", "ARGS_REPLACED_BY_EMPTY;55 bytes;DOUBLE_ENCODED;INT_PRECISION;history#2.1;history#3.1", ""},
		{"problems run=schema;call ref=schema#1.1", "SCHEMA_ENUM;/priority;SCHEMA_WRONG_TYPE;/assignee;integer", ""},
		{"runs", "malformed;claude-sonnet-4-5;1 turn", ""},
	} {
		all := ""
		for call := range strings.SplitSeq(c.calls, ";") {
			words := strings.Fields(call)
			out := command(t, nil, append([]string{"ask", words[0], dir}, words[1:]...)...)
			if out.code != 0 || len(out.stdout) > 4000 {
				t.Errorf("%s: exit code %d, %d bytes: %s", call, out.code, len(out.stdout), out.stderr)
			}
			all += out.stdout
		}
		for word := range strings.SplitSeq(c.must, ";") {
			if !strings.Contains(all, word) {
				t.Errorf("%s: no %q in\n%s", c.calls, word, all)
			}
		}
		if c.not != "" && strings.Contains(all, c.not) {
			t.Errorf("%s: has %q", c.calls, c.not)
		}
	}
	same(t, 0, "no such call", command(t, nil, "ask", "call", dir, "ref=nothing").code, 1)
	same(t, 0, "wrong argument", command(t, nil, "ask", "call", dir, "rev=x").code, 2)
}

// TestAskSecrets checks that answers about a capture with secrets are redacted, even if a secret is split between
// deltas.
func TestAskSecrets(t *testing.T) {
	secret := "sk-ant-api03-" + strings.Repeat("Ab3dEf9h", 10)
	text, err := os.ReadFile("testdata/malformed.sse")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "m.sse")
	i := strings.Index(string(text), "notes.md")
	if i < 0 {
		t.Fatal("the sample has no notes.md")
	}
	changed := string(text[:i]) + secret + string(text[i:])
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"runs"}, {"problems"}, {"calls"}, {"call", "ref=m#1.1"}, {"call", "ref=m#1.1", "part=arguments"}, {"evidence", "run=m", "line=1", "around=5"}} {
		out := command(t, nil, append([]string{"ask", args[0], file}, args[1:]...)...)
		if out.code > 1 || strings.Contains(out.stdout+out.stderr, "Ab3dEf9h") {
			t.Errorf("%v: %d %s%s", args, out.code, out.stdout, out.stderr)
		}
	}
	if out := command(t, nil, "ask", "call", file, "ref=m#1.1", "part=arguments"); !strings.Contains(out.stdout, "[redacted:") {
		t.Errorf("nothing was redacted: %s%s", out.stdout, out.stderr)
	}
}

// TestAskScope checks that without a source, only the captures of the current folder are found.
func TestAskScope(t *testing.T) {
	state, here := t.TempDir(), t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	t.Chdir(here)
	kept := filepath.Join(state, "toolscope", "recordings")
	if err := os.MkdirAll(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"mine": here, "below": filepath.Join(here, "a"), "other": here + "-2", "none": ""} {
		head := `{"toolscope":1,"created":"2026-11-25T22:26:53Z","by":"toolscope run","dir":"` + dir + `"}` + "\n"
		if err := os.WriteFile(filepath.Join(kept, name+".tsc"), []byte(head), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := command(t, nil, "ask", "runs").stdout
	if !strings.Contains(out, "2 runs") || !strings.Contains(out, "mine ") || !strings.Contains(out, "below ") {
		t.Errorf("%s", out)
	}
	if out := command(t, nil, "ask", "--all", "runs").stdout; !strings.Contains(out, "4 runs") {
		t.Errorf("%s", out)
	}
}

// TestAskStillReading checks the answers about a capture while it is being read, after it has been read, and after it
// has changed.
func TestAskStillReading(t *testing.T) {
	dir := t.TempDir()
	if out := command(t, nil, "demo", "--save", dir); out.code != 0 {
		t.Fatal(out.stderr)
	}
	gate := make(chan struct{})
	file := filepath.Join(dir, "malformed.tsc")
	lib := &askLibrary{redactor: newRedactor(), prices: price.Embedded(), sources: []string{file}, read: map[string]*askReading{}}
	lib.open = func(ctx context.Context, f ask.RunFile, _ *capture.Progress) (capture.Source, error) {
		src, err := capture.Open(ctx, f.Path, capture.Options{})
		return func(yield func(capture.Record, error) bool) {
			<-gate
			src(yield)
		}, err
	}
	s := &ask.Server{Library: lib}
	problems := func() string {
		text, err := s.Call("problems", nil, nil)
		if err != nil {
			text = s.ErrorText(err)
		}
		return text
	}
	same(t, 0, "before the capture is read", problems(), "still reading, 0 %\ntry again in a second")
	if runs, err := s.Call("runs", nil, nil); err != nil || !strings.Contains(runs, "B: not read yet: call again\n") {
		t.Errorf("%s %v", runs, err)
	}
	close(gate)
	s.Patience = time.Hour
	read := problems()
	if !strings.Contains(read, "ARGS_BROKEN") {
		t.Error(read)
	}

	gate = make(chan struct{})
	text, err := os.ReadFile(filepath.Join(dir, "schema.tsc"))
	if err != nil || os.WriteFile(file, text, 0o600) != nil {
		t.Fatal(err)
	}
	s.Patience = 0
	same(t, 0, "while the capture is read again", problems(), read)
	close(gate)
	s.Patience = time.Hour
	if later := problems(); !strings.Contains(later, "SCHEMA_ENUM") {
		t.Error(later)
	}
}

// TestAskCompanions checks that the captures of tools are part of the run that started the tools, and that evidence
// refers to lines of the run's own capture.
func TestAskCompanions(t *testing.T) {
	dir := t.TempDir()
	if out := command(t, nil, "demo", "--save", dir); out.code != 0 {
		t.Fatal(out.stderr)
	}
	beside := filepath.Join(dir, "cut.mcp")
	text, err := os.ReadFile(filepath.Join(dir, "executed.tsc"))
	if err != nil || os.Mkdir(beside, 0o700) != nil || os.WriteFile(filepath.Join(beside, "a.tsc"), text, 0o600) != nil {
		t.Fatal(err)
	}
	if out := command(t, nil, "ask", "runs", dir).stdout; strings.Contains(out, "\na ") || !strings.Contains(out, "\ncut ") {
		t.Error(out)
	}
	if out := command(t, nil, "ask", "problems", filepath.Join(dir, "cut.tsc")).stdout; !strings.Contains(out, "[evidence: cut.tsc line ") {
		t.Error(out)
	}
}

// TestAskServerAdded checks that run gives each client toolscope's own server, without a change to the user's settings.
func TestAskServerAdded(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	own := filepath.Join(home, ".gemini", "settings.json")
	if os.Mkdir(filepath.Dir(own), 0o700) != nil || os.WriteFile(own, []byte(`{"mcpServers":{"mine":{"command":"node"}}}`), 0o600) != nil {
		t.Fatal("can't write the settings")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	self, _ := os.Executable()
	rec := filepath.Join(here, "a.tsc")
	args := jsonText([]string{"ask", "--dir", here, rec})
	server := `"mcpServers":{`
	entry := `"toolscope":{"args":` + args + `,"command":` + jsonText(self) + `}`
	for _, test := range []struct{ command, env, by, args, vars, file string }{
		{"claude", "", "--mcp-config", "--mcp-config=", "", `{"mcpServers":{"toolscope":{"command":` + jsonText(self) + `,"args":` + args + `}}}` + "\n"},
		{"copilot", "", "--additional-mcp-config", "--additional-mcp-config=@", "", `"args":` + args},
		{"qwen", "", "--mcp-config", "--mcp-config=", "", `"args":` + args},
		{"codex", "", "-c mcp_servers.toolscope", "-c mcp_servers.toolscope.command=" + jsonText(self) + " -c mcp_servers.toolscope.args=" + args, "", ""},
		{"opencode", "", "OPENCODE_CONFIG_CONTENT", "", `"mcp":{"toolscope":{"command":` + jsonText(append([]string{self}, "ask", "--dir", here, rec)) + `,"type":"local"}}`, ""},
		{"gemini", "", "GEMINI_CLI_HOME", "", "GEMINI_CLI_HOME=", server + `"mine":{"command":"node"},` + entry + "}}"},
		{"gemini", "GEMINI_API_KEY", "GEMINI_CLI_HOME", "", "GEMINI_CLI_HOME=", `"selectedType":"gemini-api-key"`},
		{"aider", "", "", "", "", ""}, {"./my-agent", "", "", "", "", ""},
	} {
		env := func(name string) string { return textIf(name == test.env, "x") }
		fit := newClientLaunch([]string{test.command, "do it"}, env)
		by, err := fit.addAskServer("a.tsc")
		if err == nil {
			all, failed := buildRoutes(nil, fit.lookupEnv)
			if failed != nil {
				t.Fatal(failed)
			}
			err = fit.pointAt(all, "http://127.0.0.1:1")
		}
		vars, line := strings.Join(fit.vars, "\n"), strings.Join(fit.args, " ")
		if err != nil || by != test.by || !strings.Contains(line, test.args) || !strings.Contains(vars, test.vars) || !strings.HasSuffix(line, " do it") {
			t.Errorf("%s: by %q, %v\n%s\n%s", test.command, by, err, line, vars)
		}
		if test.file != "" {
			_, path, _ := strings.Cut(line+"\n"+vars, ifElse(test.args != "", test.args, test.vars))
			path, _, _ = strings.Cut(strings.Fields(path)[0], "\n")
			if test.command == "gemini" {
				path = filepath.Join(path, ".gemini", "settings.json")
			}
			if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), test.file) {
				t.Errorf("%s: %s has %s, not %s; %v", test.command, path, text, test.file, err)
			}
		}
		fit.removeFiles()
	}
	if text, _ := os.ReadFile(own); string(text) != `{"mcpServers":{"mine":{"command":"node"}}}` {
		t.Errorf("the user's settings are %s", text)
	}
}

// TestAskSetup checks that the help lists each client to which run can add the server.
func TestAskSetup(t *testing.T) {
	lines := strings.Join(askSetupLines([]string{"toolscope", "ask"}), "\n")
	for _, p := range client.ProxySetups {
		how := p.Servers()
		adds := how.Adds != "" || how.Setting != "" && p.Settings.File != ""
		if adds != strings.Contains(lines, "  "+p.Title+" ") || (how.FileFlag != "" || how.Method != client.ByUser) && !adds {
			t.Errorf("%s:\n%s", p.Title, lines)
		}
	}
	page, _ := ui.DocPage("ask")
	for line := range strings.SplitSeq(lines, "\n") {
		if !strings.Contains(page, "\n"+strings.TrimSpace(line)+"\n") {
			t.Errorf("the page lacks %s", line)
		}
	}
	if strings.Contains(lines, "{command}") || strings.Contains(lines, "{args}") || strings.Contains(lines, "{list}") || strings.Contains(lines, "{program}") {
		t.Error(lines)
	}
}

// TestAskCommand checks which commands are recognised as starting toolscope's own server.
func TestAskCommand(t *testing.T) {
	self, _ := os.Executable()
	for command, want := range map[string]bool{
		"toolscope ask": true, "/usr/bin/toolscope ask x.tsc": true, self + " ask": true, "toolscope": false,
		"toolscope mcp -- ask": false, "node ask": false, "": false,
	} {
		if got := isAskCommand(strings.Fields(command)); got != want {
			t.Errorf("%s: %v", command, got)
		}
	}
}
