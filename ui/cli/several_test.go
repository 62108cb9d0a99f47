//go:build linux

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// folder writes files to a new directory and changes to it.
func folder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSeveral checks that the recognised files in a directory or matching a pattern are printed file by file, and
// that the others are listed on one line. The run must fail only if no file is recognised.
func TestSeveral(t *testing.T) {
	folder(t, map[string]string{
		"logs/a.sse": string(turnOf("first")), "logs/sub/b.sse": string(turnOf("second")), "logs/notes.txt": "once upon\n", "logs/.hid.sse": "x",
		"logs/empty.log": "", "c.sse": string(turnOf("third")), "prose/x.txt": "once upon\n", "prose/y.txt": "a time\n",
	})
	strangers := "toolscope: logs: 2 of 4 files not recognised: logs/empty.log, logs/notes.txt\n"
	for _, c := range []struct {
		args   []string
		calls  string // names of calls, by file
		stderr string
		code   int
	}{
		{[]string{"logs"}, "logs/a.sse first, logs/sub/b.sse second", "toolscope: logs: left out: 1 hidden\n" + strangers, 0},
		{[]string{"c.sse", "logs/*/*.sse"}, "c.sse third, logs/sub/b.sse second", "", 0},
		{[]string{"logs/**/*.sse", "c.sse"}, "logs/a.sse first, logs/sub/b.sse second, c.sse third", "", 0},
		{[]string{"prose"}, "", "toolscope: prose: 2 of 2 files not recognised: prose/x.txt, prose/y.txt\n", 1},
		{[]string{"prose", "c.sse"}, "c.sse third", "toolscope: prose: 2 of 2 files not recognised: prose/x.txt, prose/y.txt\n", 1},
		{[]string{"c.sse", "none/*"}, "c.sse third", "toolscope: open none/*: no file matches\n", 1},
	} {
		got := command(t, nil, append([]string{"print", "--format", "jsonl"}, c.args...)...)
		calls, turns := got.decode(t)
		var list []string
		for _, call := range calls {
			list = append(list, fmt.Sprint(call.File, " ", call.Name))
		}
		if strings.Join(list, ", ") != c.calls || len(turns) != len(calls) || got.stderr != c.stderr || got.code != c.code {
			t.Errorf("%v: calls %v, %d turns, stderr %q, code %d", c.args, list, len(turns), got.stderr, got.code)
		}
	}
	if got := command(t, nil, "replay", "logs", "--to", "anthropic"); got.code != 0 || strings.Count(got.stdout, "toolu") == 0 && !strings.Contains(got.stdout, "second") {
		t.Errorf("replay: %+v", got)
	}
}

// TestFollowSeveral checks that a missing file is awaited, and that new files in a directory appear on the screen and
// in the output of print.
func TestFollowSeveral(t *testing.T) {
	for _, args := range [][]string{{"open", "-f"}, {"print", "-f"}} {
		t.Run(fmt.Sprint(args), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			logs, later := filepath.Join(dir, "logs"), filepath.Join(dir, "later.sse")
			if err := os.MkdirAll(filepath.Join(logs, "sub"), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, create(t, logs, "a.sse"), turnOf("first"))
			p := start(t, launch{args: append(args, logs, later)})
			p.untilShown("first")
			if args[0] == "print" {
				p.untilShown("waiting for ")
			}
			write(t, create(t, filepath.Join(logs, "sub"), "b.sse"), turnOf("second"))
			p.untilShown("second")
			write(t, create(t, dir, "later.sse"), turnOf("third"))
			p.untilShown("third")
			p.signal(syscall.SIGTERM)
			p.wantExit(128 + int(syscall.SIGTERM))
		})
	}
}
