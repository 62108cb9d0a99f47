package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolscope/providers/client"
)

// TestShellLine checks that the kinds of command lines that Claude Code passes to its shell prefix are recognised and
// parsed.
func TestShellLine(t *testing.T) {
	const around = "source /h/.claude/shell-snapshots/snapshot-bash-1-a.sh 2>/dev/null || true && { shopt -u extglob; } >/dev/null 2>&1 || true && eval %s < /dev/null && pwd -P >| /tmp/claude-1-cwd"
	command := func(quoted string) string { return strings.Replace(around, "%s", quoted, 1) }
	for _, test := range []struct {
		text    string
		child   bool
		args    []string
		command string // "-" if there is no server
	}{
		{"node server.js --root '/a b'", false, []string{"node", "server.js", "--root", "/a b"}, "-"},
		{`npx -y srv "it's" a\ b 'x'"'"'y' ''`, false, []string{"npx", "-y", "srv", "it's", "a b", "x'y", ""}, "-"},
		{"node server.js", true, nil, "-"}, // a hook
		{"node $HOME/server.js", false, nil, "-"},
		{"A=b node server.js", false, nil, "-"},
		{"node 'server.js", false, nil, "-"},
		{"", false, nil, "-"},
		{command("ls"), true, nil, "ls"},
		{command(`'echo '"'"'he said "hi"'"'"'; false'`), true, nil, `echo 'he said "hi"'; false`},
		{command("'a && eval b && pwd -P >| c'"), true, nil, "a && eval b && pwd -P >| c"},
		{command("'two\nlines'"), true, nil, "two\nlines"},
		{command("$x"), true, nil, "-"},
	} {
		l := parseStartedCommand(test.text, test.child)
		if !slices.Equal(l.args, test.args) || l.isCommand != (test.command != "-") || l.isCommand && l.command != test.command {
			t.Errorf("%s: %q, %v %q", test.text, l.args, l.isCommand, l.command)
		}
	}
	env := func(name string) string { return map[string]string{"SHELL": "/bin/fish"}[name] }
	if got := shellOf(command("ls"), env); filepath.Base(got) != "bash" && got != "sh" {
		t.Error(got)
	}
}

// TestServersListed checks which servers are read from clients' lists.
func TestServersListed(t *testing.T) {
	list, err := codexServers([]byte(`[{"name":"a","enabled":true,"transport":{"type":"stdio","command":"node","args":["x","y z"],"env":{"K":"v"}},"auth_status":"unsupported"},
		{"name":"off","enabled":false,"transport":{"type":"stdio","command":"x"}},
		{"name":"web","enabled":true,"transport":{"type":"streamable_http","url":"https://h/mcp"},"auth_status":"unknown"},
		{"name":"mine","enabled":true,"transport":{"type":"streamable_http","url":"https://h/mcp"},"auth_status":"not_logged_in"}]`))
	if err != nil || len(list) != 3 || commandLine(list[0].command) != "node x 'y z'" || list[1].url != "https://h/mcp" || list[1].login || !list[2].login {
		t.Errorf("%+v, %v", list, err)
	}
	list, err = opencodeServers([]byte(`{"mcp":{"web":{"type":"remote","url":"http://h/mcp?a=b"},"a":{"type":"local","command":["node","x"],"environment":{"K":"v"}},"off":{"type":"local","command":["x"],"enabled":false},"mine":{"type":"remote","url":"http://h","oauth":{}}}}`))
	if err != nil || len(list) != 3 || list[0].name != "a" || len(list[0].command) != 2 || !list[1].login || list[2].url != "http://h/mcp?a=b" {
		t.Errorf("%+v, %v", list, err)
	}
	for _, text := range []string{"", "warning: no", `{"mcp":[]}`} {
		if _, err := opencodeServers([]byte(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// TestServersWatched checks the flags and settings that each client gets, and the notes about servers that are not
// recorded.
func TestServersWatched(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	all := []mcpServer{
		{name: "files", command: []string{"node", "a \"b\""}}, {name: "web", url: "https://h/mcp?k=v"}, {name: "mine", url: "https://h/mcp", login: true},
		{name: "a.b", command: []string{"x"}}, {name: "odd", url: "ws://h"},
	}
	dressed := func(command string) *clientLaunch {
		o := newClientLaunch(strings.Fields(command), func(string) string { return "" })
		o.servers = slices.Clone(all)
		if err := o.openPorts(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(o.removeFiles)
		for _, s := range o.servers {
			if (s.port != nil) != (s.name == "web" && o.point.Servers().Method != client.ByUser) {
				t.Errorf("%s: %+v", command, s)
			}
		}
		o.wrapServers("/r.mcp")
		return o
	}
	o := dressed("codex exec hi")
	webURL := func() string { return "http://" + o.servers[1].port.Addr().String() + "/mcp?k=v" }
	want := []string{
		"codex", "-c", `mcp_servers.web.url="` + webURL() + `"`, "-c", `mcp_servers.files.command="` + self + `"`,
		"-c", `mcp_servers.files.args=["mcp","--name","files","--record","/r.mcp","--","node","a \"b\""]`, "exec", "hi",
	}
	if !slices.Equal(o.args, want) || !slices.Equal(o.watched, []string{"files", "web"}) || len(o.lacks) != 3 {
		t.Errorf("%q, %q, %q", o.args, o.watched, o.lacks)
	}
	o = dressed("opencode run hi")
	text := strings.Join(o.vars, "\n")
	for _, part := range []string{
		`"files":{"command":["` + self + `","mcp","--name","files","--record","/r.mcp","--","node","a \"b\""],"type":"local"}`,
		`"web":{"type":"remote","url":"` + webURL() + `"}`, `"a.b":`, runFolder + "=/r.mcp",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %s in %s", part, text)
		}
	}
	if len(o.lacks) != 2 {
		t.Errorf("%q", o.lacks)
	}
	o = newClientLaunch([]string{"gemini"}, func(string) string { return "" })
	o.servers = []mcpServer{{name: "mine", command: []string{"/b/toolscope", "mcp", "--", "y"}}, {name: "files", command: []string{"node", "x"}, file: "s.json"}, {name: "web", url: "http://h", file: "s.json"}}
	o.wrapServers("/r.mcp")
	if said := strings.Join(o.lacks, "\n"); !slices.Equal(o.watched, []string{"mine"}) || !strings.Contains(said, `make its entry in s.json begin with "command":"toolscope","args":["mcp","--name","files","--","node","x"]`) || !strings.Contains(said, "server web is not") {
		t.Errorf("%q", said)
	}
}

// TestServersRead checks that settings files are read for clients that can't list their servers. The files must not
// change.
func TestServersRead(t *testing.T) {
	home, here := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Chdir(here)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		filepath.Join(home, ".claude.json"): `{"mcpServers":{"a":{"command":"node","args":["x"]}},"projects":{` + jsonText(here) + `:{"mcpServers":{"web":{"type":"http","url":"http://h/mcp"}}},"/elsewhere":{"mcpServers":{"no":{"command":"x"}}}}}`,
		filepath.Join(here, ".mcp.json"):    `{"mcpServers":{"b":{"command":"y"}}}`,
	}
	for path, text := range files {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := newClientLaunch([]string{"claude"}, os.Getenv)
	o.findServers(t.Context())
	var names []string
	for _, s := range o.servers {
		names = append(names, s.name)
	}
	if !slices.Equal(names, []string{"a", "web", "b"}) || o.servers[1].url != "http://h/mcp" {
		t.Errorf("%q, %+v", names, o.servers)
	}
	for path, text := range files {
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%s: %s, %v", path, got, err)
		}
	}
}

// TestUnwrapped checks that a server that the user already runs through toolscope mcp is recorded only once.
func TestUnwrapped(t *testing.T) {
	for command, want := range map[string]string{
		"node x -- y": "node x -- y", "toolscope mcp -- node x": "node x", "/a/toolscope mcp --record d --name n -- node -- x": "n: node -- x",
		"toolscope mcp --name=n -- node": "n: node", "toolscope print -- x": "toolscope print -- x", "toolscope mcp --": "toolscope mcp --",
	} {
		rest, name, _ := unwrapCommand(strings.Fields(command))
		got := strings.Join(rest, " ")
		if name != "" {
			got = name + ": " + got
		}
		if got != want {
			t.Errorf("%s: %s", command, got)
		}
	}
}
