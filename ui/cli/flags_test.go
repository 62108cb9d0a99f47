package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestFlagTexts checks that every flag has a description, and a METAVAR unless it is a switch. Every command must
// have an example and a detailed description.
func TestFlagTexts(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		if cmd.IsAdditionalHelpTopicCommand() {
			return
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			switch isSwitch := f.Value.Type() == "bool"; {
			case f.Usage == "":
				t.Errorf("%s --%s: no description", cmd.CommandPath(), f.Name)
			case isSwitch != (flagValue(f) == ""):
				t.Errorf("%s --%s: METAVAR %q for a %s", cmd.CommandPath(), f.Name, flagValue(f), f.Value.Type())
			}
		})
		if cmd.HasParent() && (cmd.Example == "" && aboutText(cmd) == "" || cmd.Short == "" || strings.HasSuffix(cmd.Short, ".")) {
			t.Errorf("%s: needs an example, a text and a short description", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	check(new(app).linkParts().rootCommand())
}

// TestRootHelp checks that the help of the program fits on one page.
func TestRootHelp(t *testing.T) {
	out := command(t, nil, "--help").stdout
	if n := strings.Count(out, "\n"); n > 60 {
		t.Errorf("%d lines", n)
	}
	wantNarrow(t, out)
	for _, cmd := range new(app).linkParts().rootCommand().Commands() {
		if a, b := command(t, nil, "help", cmd.Name()).stdout, command(t, nil, cmd.Name(), "--help").stdout; a != b && !cmd.Hidden && cmd.Name() != "help" {
			t.Errorf("help %s and %s --help differ:\n%s\n%s", cmd.Name(), cmd.Name(), a, b)
		}
	}
}

// TestSizeOf checks sizes with decimal and binary units.
func TestSizeOf(t *testing.T) {
	for text, want := range map[string]int64{
		"500MB": 500_000_000, "1.5 GB": 1_500_000_000, "2000k": 2_000_000, "5000000": 5_000_000, "3000000B": 3_000_000, "1TB": 1_000_000_000_000,
		"20GiB": 20 << 30, "1024 KiB": 1 << 20, "1.5mib": 3 << 19, "2Ti": 2 << 40,
	} {
		if got, err := sizeOf("--keep", text); err != nil || got != want {
			t.Errorf("%s is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "MB", "GiB", "5iB", "5000000i", "-1GB", "1kB", "1KiB", "2000TB", "NaN", "5PiB"} {
		if _, err := sizeOf("--keep", text); err == nil || !strings.Contains(err.Error(), "KiB, MiB, GiB and TiB") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := sizeOf("--keep", "64kB"); err == nil || !strings.Contains(err.Error(), `"64kB": too small`) {
		t.Error(err)
	}
}

// TestFilterFlag checks that print and check report only matching turns, and that the exit codes keep their
// meanings.
func TestFilterFlag(t *testing.T) {
	for _, c := range []struct {
		args, has, hasNot string
		code              int
	}{
		{"print demo/malformed.tsc demo/cut.tsc --filter state:malformed", "run_shell", "file_report", 0},
		{"print demo/malformed.tsc demo/cut.tsc --filter -state:malformed", "file_report", "run_shell", 0},
		{"print demo/malformed.tsc --filter tool:nothing", "", "run_shell", 0},
		{"print demo/history.tsc --filter tool:nothing", "", "sent back", 0},
		{"check demo/malformed.tsc --filter tool:run_shell", "ARGS_BROKEN", "", 1},
		{"check demo/malformed.tsc --filter tool:nothing", "", "ARGS_BROKEN", 0},
		{"print demo/cut.tsc --filter costs>1", "", "file_report", 2},
		{"print demo/cut.tsc --filter since:5m", "", "file_report", 2},
	} {
		out := command(t, nil, strings.Fields(c.args)...)
		if out.code != c.code || !strings.Contains(out.stdout, c.has) || c.hasNot != "" && strings.Contains(out.stdout, c.hasNot) {
			t.Errorf("%s: exit code %d\n%s%s", c.args, out.code, out.stdout, out.stderr)
		}
		if out.code == 2 && !strings.Contains(out.stderr, "--filter") {
			t.Errorf("%s: %s", c.args, out.stderr)
		}
	}
}

// TestDialectFlag checks that --protocol overrides the detected protocol. The error for an unknown name must list
// the valid names.
func TestDialectFlag(t *testing.T) {
	wire := "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"x\",\"content\":[]}}\n\ndata: {\"type\":\"message_stop\"}\n\n"
	file := saved(t, "a.sse", wire)
	for dialect, want := range map[string]string{"auto": "anthropic", "anthropic": "anthropic", "openai-chat": "openai-chat"} {
		_, turns := command(t, nil, "print", "--format", "jsonl", "--dialect", dialect, file).decode(t)
		if len(turns) != 1 || turns[0].Dialect != want {
			t.Errorf("--dialect %s: %+v", dialect, turns)
		}
	}
	for _, args := range [][]string{{"print", "--dialect", "klingon", file}, {"--dialect", "klingon", file}} {
		out := command(t, nil, args...)
		if out.code != 2 || !strings.Contains(out.stderr, "klingon") || !strings.Contains(out.stderr, "openai-chat") {
			t.Errorf("%v: exit code %d, stderr %q", args, out.code, out.stderr)
		}
	}
}

// TestRequest checks that --request is used to check the calls in a response body, and that errors are clear.
func TestRequest(t *testing.T) {
	body := saved(t, "a.sse", `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{\"n\":\"1\"}"}}]},"finish_reason":"tool_calls"}]}`+"\n\ndata: [DONE]\n\n")
	good := saved(t, "good.json", `{"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"n":{"type":"integer"}}}}}]}`)
	calls, _ := command(t, nil, "print", "--format", "jsonl", "--request", good, body).decode(t)
	if f := calls[0].Findings; len(f) != 1 || f[0].Code != "SCHEMA_WRONG_TYPE" || *f[0].Offset != 5 || f[0].Severity != "warn" {
		t.Errorf("findings %+v", f)
	}
	if out := command(t, nil, "--request", good, body); out.code != 0 || !strings.Contains(out.stdout, "SCHEMA_WRONG_TYPE") {
		t.Errorf("open, where there is no terminal: %+v", out)
	}
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"print", "--request", filepath.Join(t.TempDir(), "none"), body}, 1, "no such file"},
		{[]string{"print", "--request", body, body}, 1, "not JSON: byte 0"},
		{[]string{"print", "--request", saved(t, "cut.json", `{"tools":[`), body}, 1, "not JSON: byte 10"},
		{[]string{"print", "--request", saved(t, "empty.json", `{"model":"m"}`), body}, 1, "declares no tools"},
		{[]string{"print", "--request", saved(t, "list.json", `[]`), body}, 1, "declares no tools"},
		{[]string{"open", "--request", saved(t, "cut.json", `{"tools":[`), body}, 1, "not JSON"},
		{[]string{"--request", good}, 2, "needs a FILE to check"},
	} {
		out := command(t, nil, test.args...)
		if out.code != test.code || !strings.Contains(out.stderr, test.want) || out.stdout != "" || strings.Count(out.stderr, "\n") > 3 {
			t.Errorf("%q: code %d, stdout %q, stderr %q", test.args, out.code, out.stdout, out.stderr)
		}
	}
}
