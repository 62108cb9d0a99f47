//go:build linux

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// clientOf creates a program with a client's name, and adds it to PATH.
func clientOf(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/bash\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// TestRunLines checks that the command lines that a client passes to its shell prefix run unchanged, and are recorded
// next to the capture of the requests.
func TestRunLines(t *testing.T) {
	home, temporary := t.TempDir(), t.TempDir()
	const script = `
said=$(echo '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}' | "$CLAUDE_CODE_SHELL_PREFIX" "sh -c 'cat; echo \"two  words\"'")
printf '%s\n' "$said"
export CLAUDE_CODE_CHILD_SESSION=1
"$CLAUDE_CODE_SHELL_PREFIX" "true && eval 'echo \"from the command\" >&2; echo out; exit 7' < /dev/null && pwd -P >| /dev/null"
echo "code $?"
"$CLAUDE_CODE_SHELL_PREFIX" "true && eval 'kill -TERM \$\$' < /dev/null && pwd -P >| /dev/null"
echo "code $?"
echo input | "$CLAUDE_CODE_SHELL_PREFIX" "cat; echo hook"
echo "run $TOOLSCOPE_RUN"
`
	clientOf(t, "claude", script)
	rec := filepath.Join(home, "a.tsc")
	p, out := ranWith(t, []string{"TMPDIR=" + temporary}, []string{"--record", rec}, "claude")
	p.wantExit(0)
	const want = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}` + "\ntwo  words\nout\ncode 7\ncode 143\ninput\nhook\nrun "
	if out != want+strings.TrimSuffix(rec, ".tsc")+".mcp\n" {
		t.Errorf("%q", out)
	}
	p.untilShown("from the command")
	p.untilShown("recorded through CLAUDE_CODE_SHELL_PREFIX: all of the client's servers and shell commands")
	p.untilShown("0 turns, 0 calls: toolscope " + rec + " " + strings.TrimSuffix(rec, ".tsc") + ".mcp")
	files, _ := filepath.Glob(filepath.Join(home, "a.mcp", "*.tsc"))
	if len(files) != 3 {
		t.Fatalf("%q", files)
	}
	got := command(t, nil, "print", "--format", "jsonl", filepath.Join(home, "a.mcp"))
	for _, part := range []string{
		`"method":"tools/call","tool":"a"`, `"method":"shell","tool":"Bash"`, `"exit":"exit status 7"`, `"exit":"signal: terminated"`,
		`"arguments_raw":"{\"command\":\"echo \\\"from the command\\\" >&2; echo out; exit 7\"}"`,
	} {
		if !strings.Contains(got.stdout, part) {
			t.Errorf("no %s in %s", part, got.stdout)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(temporary, "*")); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
}

// TestRunLinesOff checks that no shell prefix is set if the user does not want one, already has one, or does not
// record.
func TestRunLinesOff(t *testing.T) {
	clientOf(t, "claude", `echo "<$CLAUDE_CODE_SHELL_PREFIX|$TOOLSCOPE_RUN>"`)
	rec := filepath.Join(t.TempDir(), "a.tsc")
	for _, flags := range [][]string{{"--no-record"}, {"--no-mcp", "--record", rec}} {
		p, out := ran(t, flags, "claude")
		p.wantExit(0)
		if out != "<|>\n" {
			t.Errorf("%q: %q", flags, out)
		}
	}
	p, out := ranWith(t, []string{"CLAUDE_CODE_SHELL_PREFIX=/mine"}, []string{"--record", filepath.Join(t.TempDir(), "b.tsc")}, "claude")
	p.wantExit(0)
	if !strings.HasPrefix(out, "</mine|") {
		t.Errorf("%q", out)
	}
	p.untilShown("not recorded: CLAUDE_CODE_SHELL_PREFIX is already set to /mine")
}

// TestRunFlags checks that a client that lists its servers starts them through toolscope. The run must continue if
// the list is not available.
func TestRunFlags(t *testing.T) {
	clientOf(t, "codex", `
if [ "$1" = mcp ]; then echo '[{"name":"files","enabled":true,"transport":{"command":"node","args":["x"]}}]'; exit; fi
for a in "$@"; do echo "<$a>"; done`)
	rec := filepath.Join(t.TempDir(), "a.tsc")
	p, out := ran(t, []string{"--record", rec}, "codex", "exec", "hi")
	p.wantExit(0)
	if !strings.Contains(out, `<mcp_servers.files.args=["mcp","--name","files","--record","`+strings.TrimSuffix(rec, ".tsc")+`.mcp","--","node","x"]>`) || !strings.HasSuffix(out, "<exec>\n<hi>\n") {
		t.Errorf("%q", out)
	}
	p.untilShown("recorded through -c mcp_servers: files")
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(rec), "*.mcp")); len(left) > 0 {
		t.Errorf("%q, with nothing in it", left)
	}

	clientOf(t, "codex", `if [ "$1" = mcp ]; then exit 3; fi; echo "$@"`)
	p, out = ran(t, []string{"--record", filepath.Join(t.TempDir(), "b.tsc")}, "codex", "exec", "hi")
	p.wantExit(0)
	if !strings.HasSuffix(out, "exec hi\n") {
		t.Errorf("%q", out)
	}
	p.untilShown("MCP servers are not recorded: can't list them with 'codex mcp list --json'")
}

// TestRunAsk checks that a client can start the server that run adds, and that the server answers questions about the
// run. The server itself must not be recorded.
func TestRunAsk(t *testing.T) {
	clientOf(t, "claude", `
config=$(sed 's/.*"command":"\([^"]*\)".*"args":\["ask","--dir","\([^"]*\)","\([^"]*\)"\].*/\1 ask --dir \2 \3/' "${1#--mcp-config=}")
shift
echo '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"runs"}}' | "$CLAUDE_CODE_SHELL_PREFIX" "$config"
echo "$@"`)
	rec := filepath.Join(t.TempDir(), "a.tsc")
	p, out := ran(t, []string{"--ask", "--record", rec}, "claude", "do it")
	p.wantExit(0)
	if !strings.Contains(out, `"isError":false`) || !strings.Contains(out, `\na LIVE `) || !strings.HasSuffix(out, "\ndo it\n") {
		t.Errorf("%q", out)
	}
	p.untilShown("Claude Code can ask toolscope about this run, through --mcp-config")
	if left, _ := filepath.Glob(strings.TrimSuffix(rec, ".tsc") + ".mcp"); len(left) > 0 {
		t.Errorf("%q", left)
	}

	clientOf(t, "aider", "echo \"$@\"")
	p, _ = ran(t, []string{"--ask", "--record", filepath.Join(t.TempDir(), "b.tsc")}, "aider", "x")
	p.wantExit(0)
	p.untilShown("--ask: no flag or variable adds a server to aider; 'toolscope help ask' shows the settings")
}
