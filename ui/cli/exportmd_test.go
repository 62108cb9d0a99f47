package cli

import (
	"strings"
	"testing"
)

// TestMarkdownVerdict: a report begins with what is wrong and who caused it, and has the callout, the sign under the wrong
// byte, and the file. A call with nothing wrong blames nobody.
func TestMarkdownVerdict(t *testing.T) {
	savedDemo(t)
	for name, want := range map[string][]string{
		"malformed.tsc": {
			"# run\\_shell: malformed, caused by the model\n", "\n- place: turn 1 of malformed.tsc\n",
			"\n- cause: the model\n- do: ", "\n" + strings.Repeat(" ", 87) + "^ ",
		},
		"parallel.tsc": {"# Turn 1 of parallel.tsc\n", "\n**Complete and valid."},
	} {
		got := command(t, nil, "export", name, "--as", "md").stdout
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: no %q in\n%s", name, part, got)
			}
		}
		if name == "parallel.tsc" && strings.Contains(got, "cause") {
			t.Errorf("%s has a cause:\n%s", name, got)
		}
	}
}
