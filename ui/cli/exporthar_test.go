package cli

import (
	"fmt"
	"slices"
	"testing"
)

// TestHARAgain checks that an exported archive has the same calls and findings as its source.
func TestHARAgain(t *testing.T) {
	for _, s := range scenarios {
		file := saved(t, s.name+".tsc", readDemo(t, s.name))
		out := command(t, nil, "export", file, "--as", "har")
		if out.code != 0 || out.stderr != "" {
			t.Fatalf("%s: %d %q", s.name, out.code, out.stderr)
		}
		again := saved(t, s.name+".har", out.stdout)
		before, after := summaries(t, file), summaries(t, again)
		if !slices.Equal(before, after) || len(before) == 0 {
			t.Errorf("%s: calls are %q, in the archive %q", s.name, before, after)
		}
	}
}

// summaries returns the calls in a file, sorted. An archive has no times for single chunks, so the order of parallel
// responses is unknown.
func summaries(t *testing.T, file string) (all []string) {
	t.Helper()
	calls, _ := command(t, nil, "print", "--format", "jsonl", file).decode(t)
	for _, c := range calls {
		var codes []string
		for _, f := range c.Findings {
			codes = append(codes, f.Code)
		}
		all = append(all, fmt.Sprint(c.Dialect, c.ID, c.Name, c.Raw, c.Status, c.Phase, codes))
	}
	slices.Sort(all)
	return all
}
