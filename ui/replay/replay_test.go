package replay

import (
	"fmt"
	"testing"

	"toolscope/providers/replay"
)

// broken contains arguments that stop being JSON in the middle.
const broken = `{"path": "a.go", "n": 1x, "more": [1, 2]}`

func brokenCall(t testing.TB) *rig {
	return newRig(t, 80, 22).open().call("write_file", broken).end()
}

// asked describes the scope, the policy and the target that are shown.
func (s *rig) asked() string {
	rows := "targets"
	if s.policies {
		rows = "policies"
	}
	return fmt.Sprintf("%s, %s, %s, of %s", s.scope, s.targets[s.to].Name, s.policyName(), rows)
}

// TestWrittenIsThere checks that the model's arguments are always shown, even if it is unknown what a client would
// send. Arguments that are not compared do not count as lost.
func TestWrittenIsThere(t *testing.T) {
	s := brokenCall(t).press("p")
	for range replay.Policies {
		for range s.targets {
			if page := s.currentPage(); page == nil || page.size != len(broken) || page.apart && page.unsent != 0 {
				t.Fatalf("%s: %+v", s.asked(), page)
			}
			s.press("j")
		}
		s.press("gl")
	}
}

func TestKeys(t *testing.T) {
	last := replay.Policies[len(replay.Policies)-1].Name
	for _, c := range []struct{ keys, want string }{
		{"", "call, anthropic, preserve, of targets"},
		{"p", "call, anthropic, preserve, of policies"},
		{"pj<enter>", "call, anthropic, wrap, of targets"},
		{"pjp", "call, anthropic, wrap, of targets"},
		{"pj<esc>", "call, anthropic, preserve, of targets"},
		{"pjj<enter>pj<esc>", "call, anthropic, wrap-raw, of targets"},
		{"P", "call, anthropic, " + last + ", of targets"},
		{"Pl", "call, anthropic, preserve, of targets"},
		{"l", "call, anthropic, wrap, of targets"},
		{"lh", "call, anthropic, preserve, of targets"},
		{"<tab>", "call, anthropic, preserve, of policies"},
		{"<tab>j", "call, anthropic, wrap, of policies"},
		{"<tab>jj<tab>", "call, anthropic, wrap-raw, of targets"},
		{"<tab>G", "call, anthropic, " + last + ", of policies"},
		{"<tab>Gp", "call, anthropic, preserve, of policies"},
		{"s", "turn, anthropic, preserve, of targets"},
		{"ss", "call, anthropic, preserve, of targets"},
		{"<enter>p", "call, anthropic, wrap, of targets"},
		{"<enter><tab>", "call, anthropic, preserve, of targets"},
		{"<esc>p", "call, anthropic, preserve, of targets"},
		{"l<esc>p", "call, anthropic, wrap, of targets"},
		{"lsqp", "turn, anthropic, wrap, of targets"},
	} {
		s := brokenCall(t).press("p" + c.keys)
		if got := s.asked(); got != c.want {
			t.Errorf("%q: %s, want %s", c.keys, got, c.want)
		}
		s.frame()
	}
	s := brokenCall(t).press("p<enter>")
	for _, want := range []string{"the model wrote", "losses", "would be sent"} {
		if s.press("l"); s.section.String() != want {
			t.Errorf("the face is %s, want %s", s.section, want)
		}
	}
	if s.press("<esc>").full || s.press("q").replayMode != nil {
		t.Error("two steps back are not the way out")
	}
}

// TestTargets checks that every target can be selected.
func TestTargets(t *testing.T) {
	s := brokenCall(t).press("pg")
	seen := map[string]bool{}
	for range s.targets {
		name := s.targets[s.to].Name
		seen[name] = true
		if s.currentPage() == nil || s.rowVerdict(s.At) == nil {
			t.Fatalf("%s: nothing is shown", name)
		}
		if s.press("<enter>").shows("to " + name + ", as preserve"); s.At < s.Rows-1 {
			s.press("<esc>j")
		}
	}
	if len(seen) != len(s.targets) {
		t.Errorf("%d targets of %d", len(seen), len(s.targets))
	}
}
