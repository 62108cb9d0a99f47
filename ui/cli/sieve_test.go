package cli

import (
	"strings"
	"testing"
)

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
