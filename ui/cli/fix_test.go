package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// brokenBody is a request whose second result has no call. The id of this result contains sequences that control a
// terminal.
const brokenBody = `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]},` +
	`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"},{"type":"tool_result","tool_use_id":"\u001b]0;x\u0007\u202et2","content":"\u001b[2Jy"}]}]}`

// TestFix checks the exit codes and the output of fix, and that fix never changes or overwrites a file.
func TestFix(t *testing.T) {
	file, other := saved(t, "broken.json", brokenBody), saved(t, "other.json", "mine")
	legal := saved(t, "legal.json", `{"messages":[{"role":"user","content":"a"}]}`)
	unfixable := saved(t, "unsigned.json", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"QUJD"},{"type":"thinking","thinking":"y"},{"type":"tool_use","id":"t1","name":"ls","input":{}}]}]}`)
	wanted := filepath.Join(t.TempDir(), "new.json")
	for _, test := range []struct {
		name string
		args []string
		code int
		says string // in either output
	}{
		{"faults", []string{file}, 1, "ORPHAN_RESULT"},
		{"how to write a name with stdin", []string{saved(t, "mystdin.json", brokenBody)}, 1, "/mystdin.json\n"},
		{"standard output", []string{"--write", "-", file}, 2, "only to a file"},
		{"how to write", []string{file}, 1, "toolscope fix --write NEW"},
		{"the file exists", []string{"--write", other, file}, 2, "the file exists"},
		{"the original", []string{"--write", file, file}, 2, "the file exists"},
		{"no such folder", []string{"--write", filepath.Join(file, "x"), file}, 2, "--write"},
		{"a copy", []string{"--write", wanted, file}, 0, "the corrected copy is in"},
		{"legal", []string{legal}, 0, "nothing to fix"},
		{"legal, with a copy", []string{"--write", wanted + "2", legal}, 0, "nothing to fix; no copy written"},
		{"not correctable", []string{"--write", wanted + "3", unfixable}, 1, "can't be corrected: SIGNATURE_DROPPED"},
		{"for another target", []string{"--to", "nobody", file}, 2, "unknown target"},
		{"two files", []string{file, legal}, 2, "one FILE"},
		{"no such file", []string{file + "x"}, 2, "no such file"},
		{"cut off", []string{saved(t, "cut.json", brokenBody[:200])}, 2, "complete"},
		{"another format", []string{saved(t, "x.har", `{"log":{"version":"1.2","creator":{"name":"x","version":"1"},"entries":[]}}`)}, 2, "its format is har"},
	} {
		out := command(t, nil, append([]string{"fix"}, test.args...)...)
		if out.code != test.code || !strings.Contains(out.stdout+out.stderr, test.says) {
			t.Errorf("%s: exit code %d, want %d and %q\n%s%s", test.name, out.code, test.code, test.says, out.stdout, out.stderr)
		}
		if strings.ContainsAny(out.stdout+out.stderr, "\x1b\x07\u202e") {
			t.Errorf("%s: captured text reached the terminal: %q", test.name, out.stdout)
		}
	}
	if read(t, file) != brokenBody || read(t, other) != "mine" {
		t.Error("a file was changed")
	}
	info, err := os.Stat(wanted)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the copy: %v, %v", info, err)
	}
	if out := command(t, nil, "fix", wanted); out.code != 0 || !strings.Contains(out.stdout, "nothing to fix") {
		t.Errorf("the copy has faults: %s", out.stdout)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(wanted), "*"))
	hidden, _ := filepath.Glob(filepath.Join(filepath.Dir(wanted), ".*"))
	if len(left) != 1 || len(hidden) > 0 {
		t.Errorf("files in the folder: %q, %q", left, hidden)
	}
}

// TestFixLines checks the objects that fix writes for programs.
func TestFixLines(t *testing.T) {
	out := command(t, []byte(brokenBody), "fix", "--format", "jsonl", "-")
	for _, want := range []string{
		`{"type":"fault","code":"ORPHAN_RESULT","rule":"result-has-call",`, `"path":"messages[2].content[1]"`, `"line":1`,
		`{"type":"correction","code":"ORPHAN_RESULT",`, `{"type":"change","start":`,
		`{"type":"fix","file":"stdin","target":"anthropic","items":3,"faults":1,"corrections":1,"left":0,"damaged":0}`,
	} {
		if !strings.Contains(out.stdout, want) {
			t.Errorf("%s is missing in\n%s", want, out.stdout)
		}
	}
	if out.code != 1 {
		t.Errorf("exit code %d", out.code)
	}
}
