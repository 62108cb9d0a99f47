package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolscope/themes"
)

// configureWith writes a configuration file with the given text, makes it the user's configuration, and returns its
// path.
func configureWith(t *testing.T, text string) string {
	t.Helper()
	path := saved(t, "config.toml", text)
	t.Setenv(configVariable, path)
	return path
}

// TestSettingsTable checks that every setting is an existing flag, and that keys and variables are unique. A new
// configuration file must not change anything.
func TestSettingsTable(t *testing.T) {
	root := new(app).linkParts().rootCommand()
	all := allSettings(root)
	keys, variables := map[string]bool{}, map[string]bool{configVariable: true}
	for _, s := range all {
		if keys[s.configKey()] || variables[s.envVariable()] {
			t.Errorf("%s, %s is there twice", s.configKey(), s.envVariable())
		}
		keys[s.configKey()], variables[s.envVariable()] = true, true
		if cmd, _, err := root.Find([]string{s.table}); s.table != "" && (err != nil || cmd == root) {
			t.Errorf("%s is of no command", s.configKey())
		}
	}
	for _, want := range []string{"theme", "prices", "kept-days", "proxy.listen", "check.fail-on", "serve.speed", "open.speed"} {
		if !keys[want] {
			t.Errorf("%s is no setting", want)
		}
	}
	blank := blankConfig(root)
	found, err := themes.ReadTOML([]byte(blank))
	if err != nil || len(found) != 0 {
		t.Errorf("%v %v", err, found)
	}
	var c configuration
	c.loadSettings(all, []byte(strings.ReplaceAll(blank, "\n# ", "\n"))) // these comments contain prose, which is not TOML
	if len(c.bad) == 0 {
		t.Error("words were read as settings")
	}
}

// TestConfigShowIsAFile checks that the output of config show is a valid configuration file, and that showing it
// again gives the same output.
func TestConfigShowIsAFile(t *testing.T) {
	configureWith(t, "theme = 'dracula'\nkeep = '7MB'\n[proxy]\nto = ['a=b', 'c\"d']\nlisten = '''x\\y'''\n[connect]\ntimeout = '90s'\nmax-tokens = 7\n")
	first := command(t, nil, "config", "show")
	configureWith(t, first.stdout)
	again := command(t, nil, "config", "show")
	_, rest, _ := strings.Cut(first.stdout, "\n")
	_, same, _ := strings.Cut(again.stdout, "\n")
	if first.code+again.code != 0 || rest != same || !strings.Contains(rest, `to = ["a=b", 'c"d']`) || !strings.Contains(rest, `timeout = "1m30s"`) {
		t.Errorf("%s\n%s\nagain\n%s%s", first.stderr, rest, same, again.stderr)
	}
}

// TestPrecedence checks that a flag overrides the variable, the variable the file, and the file the default. The
// origin of the value must be shown.
func TestPrecedence(t *testing.T) {
	path := configureWith(t, "\nkeep = '7MB'\n[print]\nformat = 'jsonl'\n")
	shows := func(want string, args ...string) {
		t.Helper()
		out := command(t, nil, append([]string{"config", "show", "--origin"}, args...)...)
		if out.code != 0 || !strings.Contains(strings.Join(strings.Fields(out.stdout), " "), want) {
			t.Errorf("%v: exit code %d, %q is not in\n%s%s", args, out.code, want, out.stdout, out.stderr)
		}
	}
	shows(`keep = "7MB" # ` + path + `:2:1 `)
	shows(`theme = "auto" # default `)
	t.Setenv("TOOLSCOPE_KEEP", "8MB")
	shows(`keep = "8MB" # TOOLSCOPE_KEEP `)
	shows(`keep = "9MB" # flag `, "--keep", "9MB")

	prints := func(want string, args ...string) {
		t.Helper()
		out := command(t, chat(finishChunk, "[DONE]"), append([]string{"print", "-"}, args...)...)
		if out.code != 0 || !strings.HasPrefix(out.stdout, want) {
			t.Errorf("%v: exit code %d, no %s\n%s%s", args, out.code, want, out.stdout, out.stderr)
		}
	}
	prints("{")
	prints("stdin  turn 1", "--format", "text")
	t.Setenv("TOOLSCOPE_PRINT_FORMAT", "text")
	prints("stdin  turn 1")
	prints("{", "--format", "jsonl")
}

// TestBadConfig checks that unknown settings are reported with their place and ignored. Invalid settings must end the
// program with code 2, and the error must list the valid values.
func TestBadConfig(t *testing.T) {
	for _, c := range []struct {
		file, env string
		args      []string
		code      int
		want      string // P is replaced by the path of the file
	}{
		{"them = 'x'", "", nil, 0, "P:1:1: them: no such setting: did you mean theme?"},
		{"\n  listen = 'x'", "", nil, 0, "P:2:3: listen: no such setting: did you mean hub.listen, proxy.listen, serve.listen?"},
		{"[print]\nfrmat = 'text'", "", nil, 0, "P:2:1: print.frmat: no such setting: did you mean print.format?"},
		{"zzzzzz = 1", "", nil, 0, "P:1:1: zzzzzz: no such setting; 'toolscope config show' lists all settings"},
		{"theme = 'dracul'", "", []string{"demo", "cut"}, 2, `P:1:1: unknown theme "dracul": did you mean dracula?`},
		{"no-color = 'yes'", "", []string{"demo", "cut"}, 2, "P:1:1: no-color: use true or false"},
		{"keep = 3", "", []string{"-"}, 2, "P:1:1: keep: use a string in quotes"},
		{"keep = '3'", "", []string{"-"}, 2, `P:1:1: keep "3": too small`},
		{"[proxy]\nto = [1]", "", []string{"proxy"}, 2, "P:2:1: proxy.to: use a list of strings"},
		{"[connect]\ntimeout = 'soon'", "", []string{"connect", "x"}, 2, "P:2:1: connect.timeout: use a time, e.g. 30s or 2m"},
		{"[print]\nformat = 'xml'", "", nil, 2, "P:2:1: print.format"},
		{"", "TOOLSCOPE_KEEP=3", []string{"-"}, 2, `TOOLSCOPE_KEEP: keep "3": too small`},
		{"", "TOOLSCOPE_KEPT_DAYS=x", []string{"proxy"}, 2, "TOOLSCOPE_KEPT_DAYS: kept-days: use a whole number"},
		{"a = 1\na = 2", "", nil, 2, "P:2:1: "},
		{"x = \"\n", "", nil, 2, "P:1:6: "},
		{"[proxy]\ntoken = 'abcdefgh'", "", nil, 2, "P:2:1: proxy.token: toolscope reads no secrets from a file\nuse the environment variable TOOLSCOPE_PROXY_TOKEN"},
		{"anthropic_api_key = 'x'", "", nil, 2, "P:1:1: anthropic_api_key: toolscope reads no secrets from a file\nuse the environment variable ANTHROPIC_API_KEY"},
		{"[connect]\nsystem = 'use " + canary + "'", "", nil, 2, "P:2:1: connect.system: the value looks like a secret"},
	} {
		t.Run(c.want, func(t *testing.T) {
			path := configureWith(t, c.file)
			if name, value, set := strings.Cut(c.env, "="); set {
				t.Setenv(name, value)
			}
			args := c.args
			if args == nil {
				args = []string{"print", "-"}
			}
			out := command(t, chat(finishChunk, "[DONE]"), args...)
			want := c.want
			if rest, ok := strings.CutPrefix(want, "P:"); ok {
				want = path + ":" + rest
			}
			want = "toolscope: " + want
			if out.code != c.code || !strings.HasPrefix(out.stderr, want) || c.code == 2 && strings.Count(out.stderr, "\n") > 3 || strings.Contains(out.stderr, canary) {
				t.Errorf("exit code %d, stderr\n%s\nwant %s", out.code, out.stderr, want)
			}
			check := command(t, nil, "config", "check")
			if c.file != "" && !strings.Contains(c.want, "print.format") && (check.code != c.code || !strings.Contains(check.stderr, want)) {
				t.Errorf("config check: exit code %d, stderr\n%s\nwant %s", check.code, check.stderr, want)
			}
		})
	}
}

// TestNoConfig checks that commands without settings do not read the file. The command line must override
// mutually exclusive settings in the file.
func TestNoConfig(t *testing.T) {
	configureWith(t, "= nonsense")
	for _, args := range [][]string{{"version"}, {"explain", "ARGS_BROKEN"}, {"help", "keys"}, {"config", "path"}, {"--help"}} {
		if out := command(t, nil, args...); out.code != 0 || out.stderr != "" {
			t.Errorf("%v: exit code %d, %s", args, out.code, out.stderr)
		}
	}
	configureWith(t, "no-record = true")
	cmd, _, _ := new(app).linkParts().rootCommand().Find([]string{"proxy"})
	if err := cmd.ParseFlags([]string{"--record", "x"}); err != nil {
		t.Fatal(err)
	}
	for _, s := range settingsOf(cmd) {
		if out := crowdedOut(cmd, s); out != (s.configKey() == "no-record") {
			t.Errorf("%s is crowded out by --record: %t", s.configKey(), out)
		}
	}
	if err := cmd.ValidateFlagGroups(); err != nil {
		t.Error(err)
	}
}

// TestConfigEdit checks that a new file begins with the defaults, and that errors after editing are reported.
func TestConfigEdit(t *testing.T) {
	t.Setenv("VISUAL", "")
	path := filepath.Join(t.TempDir(), "deep", "config.toml")
	t.Setenv(configVariable, path)
	t.Setenv("EDITOR", "true")
	if out := command(t, nil, "config", "edit"); out.code != 0 || out.stderr != "" || !strings.Contains(out.stdout, ": no errors") {
		t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	text, err := os.ReadFile(path)
	info, _ := os.Stat(path)
	if err != nil || !strings.Contains(string(text), "\n# theme = \"auto\"\n") || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v\n%s", err, info.Mode(), text)
	}
	t.Setenv("EDITOR", "cp "+saved(t, "new.toml", "keep = '1'\nthem = 'x'\n"))
	out := command(t, nil, "config", "edit")
	if want := fmt.Sprintf("toolscope: %s:2:1: them", path); out.code != 2 || !strings.Contains(out.stderr, want) || !strings.Contains(out.stderr, path+":1:1: keep") {
		t.Errorf("exit code %d\n%s", out.code, out.stderr)
	}
	t.Setenv("EDITOR", "false")
	if out := command(t, nil, "config", "edit"); out.code != 1 || !strings.Contains(out.stderr, "false: exit status 1") {
		t.Errorf("exit code %d\n%s", out.code, out.stderr)
	}
}

// TestConfigKeys checks that the user's keys are read and shown, and that invalid keys are reported.
func TestConfigKeys(t *testing.T) {
	for _, c := range []struct {
		file string
		code int
		want string
	}{
		{"[keys]\nzoom = 'Z'\nstep = ['e', ';']\nedit = 'E'\n", 0, ""},
		{"[keys]\nzom = 'Z'\n", 0, "P:2:1: keys.zom: unknown action: did you mean zoom?"},
		{"[keys]\nzoom = 'zz'\n", 2, `P:2:1: keys.zoom: unknown key "zz"`},
		{"[keys]\nzoom = 3\n", 2, "P:2:1: keys.zoom: use a key in quotes"},
		{"[keys]\nstep = 'e'\n", 2, "P:2:1: keys.step: use a list with as many keys as the default"},
		{"[keys]\nfollow = 'J'\nzoom = 'r'\n", 2, `P:3:1: keys.zoom: zoom and raw have the same key, "r"`},
	} {
		path := configureWith(t, c.file)
		out := command(t, chat(finishChunk, "[DONE]"), "print", "-")
		want := "toolscope: " + strings.ReplaceAll(c.want, "P:", path+":")
		if out.code != c.code || (c.want == "") != (out.stderr == "") || c.want != "" && !strings.HasPrefix(out.stderr, want) {
			t.Errorf("%q: exit code %d, stderr\n%s\nwant %s", c.file, out.code, out.stderr, want)
		}
		if shown := command(t, nil, "config", "show"); c.want == "" && (!strings.Contains(shown.stdout, "\nzoom = \"Z\" ") || !strings.Contains(shown.stdout, `step = ["e", ";"]`)) {
			t.Errorf("%s", shown.stdout)
		}
	}
}

// TestHomeInPaths checks that ~ is replaced by the user's home folder in paths, wherever they are set. A name that
// only begins with ~ must not change.
func TestHomeInPaths(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	wants := func(said string) {
		t.Helper()
		if _, err := os.Stat(filepath.Join(home, said)); err != nil {
			t.Error(err)
		}
	}
	command(t, nil, "demo", "cut", "--log=~/flag.log")
	wants("flag.log")
	t.Setenv("TOOLSCOPE_LOG", "~/env.log")
	command(t, nil, "demo", "cut")
	wants("env.log")
	t.Setenv("TOOLSCOPE_LOG", "")
	configureWith(t, "log = '~/in/file.log'\n")
	command(t, nil, "demo", "cut")
	wants(filepath.Join("in", "file.log"))
	for text, want := range map[string]string{"~": home, "~x/y": "~x/y", "./~": "./~", "": ""} {
		if got := expandHome(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestHelpKeysAreYours checks that the help page for keys shows the user's keys and says so.
func TestHelpKeysAreYours(t *testing.T) {
	configureWith(t, "")
	before := command(t, nil, "help", "keys").stdout
	configureWith(t, "[keys]\nzoom = 'ctrl+t'\nstep = ['f5', 'f6']\npause = 'f7'\n")
	after := command(t, nil, "help", "keys").stdout
	for _, want := range []string{"  ctrl+t     zoom the pane\n", "  f5 f6      previous, next delta\n", "  f7         pause or resume\n", "with the changes in your configuration file"} {
		if !strings.Contains(after, want) || strings.Contains(before, want) {
			t.Errorf("%q is not in\n%s", want, after)
		}
	}
	if len(strings.Split(before, "\n")) != len(strings.Split(after, "\n")) || strings.Contains(after, "  z  ") {
		t.Errorf("%s", after)
	}
}
