package cli

import (
	"strings"
	"testing"
)

// TestTotals checks that the output ends with the totals, and that --summary prints only the totals.
func TestTotals(t *testing.T) {
	cut := chat(toolChunk(`{"a":`), finishChunk, "[DONE]")
	one, two := saved(t, "one.sse", string(turnOf("f"))), saved(t, "two.sse", string(cut))
	for _, c := range []struct {
		args []string
		want string // expected last line
	}{
		{[]string{"print", one}, "1 turn, 1 call: 1 complete; cost unknown"},
		{[]string{one, two}, "2 turns, 2 calls: 1 complete, 1 cut short; cost unknown"},
		{[]string{"print", "--filter", "state:bad", one, two}, "1 turn, 1 call: 1 cut short; cost unknown"},
		{[]string{"print", "--filter", "tool:none", one}, "0 turns, 0 calls"},
		{[]string{"demo", "early"}, "1 turn, 1 call: 1 malformed; $0.0000312"},
		{[]string{"print", one, "demo/early.tsc"}, "2 turns, 2 calls: 1 complete, 1 malformed; $0.0000312 plus the unknown cost of 1 turn"},
	} {
		for _, only := range []bool{false, true} {
			args := c.args
			if only && args[0] == "print" {
				args = append([]string{"print", "--summary"}, args[1:]...)
			}
			out := command(t, nil, args...)
			lines := strings.Split(strings.TrimSuffix(out.stdout, "\n"), "\n")
			if last := lines[len(lines)-1]; last != c.want {
				t.Errorf("%v: %q, want %q", args, last, c.want)
			}
			if only && args[0] == "print" && len(lines) != 1 {
				t.Errorf("%v: %d lines", args, len(lines))
			}
		}
	}
	out := command(t, nil, "print", "--summary", "--format", "json", one, "demo/early.tsc")
	want := `{"type":"summary","turns":2,"calls":2,"states":{"complete":1,"malformed":1},"cost_usd":0.0000312,"cost_unknown":1,"beside":0}` + "\n"
	if out.stdout != want {
		t.Errorf("%s, want %s", out.stdout, want)
	}
}
