package cli

import (
	"strings"
	"testing"
)

// TestPrintJQ checks that --jq runs on each call's arguments or, with --format jsonl, on each line. Text that is not
// JSON must cause only a note. A failing expression must make the run fail.
func TestPrintJQ(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args      []string
		out, says string
		code      int
	}{
		{[]string{"--jq", ".city"}, "\"Oslo\"\n", "", 0},
		{[]string{"--jq", ".city, 1"}, "\"Oslo\"\n1\n", "", 0},
		{[]string{"--format", "jsonl", "--jq", "[.type, .call, .status]"}, "[\"call\",1,\"complete\"]\n[\"turn\",null,null]\n", "", 0},
		{[]string{"--jq", ".city[]"}, "", "turn 1 call 1: cannot iterate over: string", 1},
		{[]string{"--jq", ".city ["}, "", "--jq .city [: at byte 8: unexpected EOF", 2},
		{[]string{"--jq", "\"\u202e\""}, "\"\\u202e\"\n", "", 0},
	} {
		out := command(t, []byte(anthropicAnswer), append(append([]string{"print"}, c.args...), "-")...)
		if out.stdout != c.out || out.code != c.code || !strings.Contains(out.stderr, c.says) || c.says == "" && out.stderr != "" {
			t.Errorf("%q: %+v", c.args, out)
		}
	}
	cut := strings.Replace(anthropicAnswer, `\"}"`, `"`, 1)
	if out := command(t, []byte(cut), "print", "--jq", ".", "-"); out.code != 0 || !strings.Contains(out.stderr, "not JSON: the text ends too early") {
		t.Errorf("%+v", out)
	}
}
