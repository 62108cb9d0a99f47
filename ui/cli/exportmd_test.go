package cli

import (
	"strings"
	"testing"
)

// TestMarkdownVerdict checks that a report begins with the problem and the party at fault. It must have the callout,
// the sign under the wrong byte, and the file. A call without problems must have no party at fault.
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

// TestPageVerdict checks that the heading of a turn counts its calls with problems, in the role of the worst call,
// and that a call names the party at fault. A page of calls without problems must not have the role Bad.
func TestPageVerdict(t *testing.T) {
	savedDemo(t)
	for name, want := range map[string][]string{
		"malformed.tsc": {`<span class="state bad"><span aria-hidden="true">●</span> response complete · 1 call malformed</span></h2>`, "<dt>cause</dt><dd>the model</dd>"},
		"compare.tsc":   {`<span class="state caution"><span aria-hidden="true">●</span> response complete · 2 calls wrong type</span></h2>`},
		"parallel.tsc":  {`<span class="state good"><span aria-hidden="true">●</span> response complete</span></h2>`, `<p class="muted">Complete and valid.`},
	} {
		got := command(t, nil, "export", name, "--as", "html").stdout
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: no %q in\n%s", name, part, got)
			}
		}
		if name == "parallel.tsc" && strings.Contains(got, "<dt>cause</dt>") {
			t.Errorf("%s has a cause", name)
		}
	}
}
