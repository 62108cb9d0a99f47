package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLogFile: it has what was noted and what failed, without secrets, for its owner alone; it does not
// grow for ever; one that cannot be written is told of.
func TestLogFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "x.log")
	command(t, nil, "--log", path, "no-such-file-"+canary)
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), "\n") != 2 || !strings.Contains(string(text), "begins") || !strings.Contains(string(text), "no such file") || strings.Contains(string(text), canary) {
		t.Errorf("%v\n%s", err, text)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	l := &logFile{path: path, redactor: newRedactor()}
	long := strings.Repeat("word ", 20_000)
	for range 40 {
		l.add(long)
	}
	files, _ := filepath.Glob(path + "*")
	for _, f := range files {
		if info, _ := os.Stat(f); info.Size() > mostLogged+2*int64(len(long)) {
			t.Errorf("%s has %d bytes", f, info.Size())
		}
	}
	if len(files) != 2 {
		t.Error(files)
	}
	if out := command(t, nil, "--log", filepath.Dir(path), "-"); out.code != 1 || !strings.Contains(out.stderr, "--log "+filepath.Dir(path)) {
		t.Errorf("exit code %d, %s", out.code, out.stderr)
	}
}
