package client

import "testing"

// TestRuns checks that each habit belongs to a known client and names a protocol, and that no client has
// two habits for one protocol.
func TestRuns(t *testing.T) {
	seen := map[[2]string]bool{}
	for _, r := range runHabits {
		if _, err := Find(r.Client); err != nil || len(r.Protocols) == 0 {
			t.Errorf("%q of %q: %v", r.Client, r.Protocols, err)
		}
		for _, d := range r.Protocols {
			if key := [2]string{r.Client, d}; seen[key] {
				t.Errorf("%s with %s is told twice", r.Client, d)
			} else {
				seen[key] = true
			}
		}
	}
	for _, name := range agents {
		if _, err := Find(name); err != nil {
			t.Error(err)
		}
	}
	if all, own := RunHabitsOf("anthropic", "claude-code"); !own || len(all) != 1 || all[0].When != AtBlock {
		t.Errorf("Claude Code: %v, %t", all, own)
	}
	if all, own := RunHabitsOf("anthropic", "ai-sdk"); own || len(all) < 5 {
		t.Errorf("a library: %v, %t", all, own)
	}
}
