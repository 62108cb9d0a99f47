package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolscope/providers/client"
	"toolscope/ui"
)

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
