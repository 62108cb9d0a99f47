package replay_test

import (
	"slices"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
)

// TestFreeTextKeepsItsID checks that the id of a call with free text is sent unchanged, or that the change is
// reported.
func TestFreeTextKeepsItsID(t *testing.T) {
	source := target(t, "openai-responses")
	history := []protocol.Message{{Role: protocol.Assistant, Parts: []protocol.Part{{
		Kind: protocol.CallPart, ID: "call_1", Item: "ctc_1", Name: "sql", ToolKind: "custom", Form: protocol.TextForm, Args: []byte("SELECT 1"),
	}}}}
	checked := 0
	for i := range replay.Clients {
		policy := &replay.Clients[i]
		for _, name := range policy.Targets() {
			to := target(t, name)
			if !policy.Knows(source, to) {
				continue
			}
			p := replay.SourceOfHistory(history, source).Preview(to, policy)
			changed := slices.ContainsFunc(p.Losses, func(l replay.Loss) bool { return l.Kind == replay.IDRewritten })
			for _, c := range p.Calls {
				if c.ID == "" && !changed || c.ID != "call_1" != changed {
					t.Errorf("%s to %s: the id is %q, changed: %v", policy.Name, name, c.ID, changed)
				}
				checked++
			}
		}
	}
	if checked == 0 {
		t.Error("no client was checked")
	}
}

// TestMadeIDs checks that an id that a client makes up differs from the id that it replaces.
func TestMadeIDs(t *testing.T) {
	source := target(t, "ollama")
	policy, err := replay.FindPolicy("langchain-js")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", "call_1", "made_1"} {
		history := []protocol.Message{{Role: protocol.Assistant, Parts: []protocol.Part{{
			Kind: protocol.CallPart, ID: id, Name: "f", ToolKind: "function", Form: source.Form, Args: []byte("{}"),
		}}}}
		p := replay.SourceOfHistory(history, source).Preview(target(t, "openai-chat"), policy)
		if len(p.Calls) != 1 || p.Calls[0].ID == id || p.Calls[0].ID == "" {
			t.Errorf("the id %q becomes %+v", id, p.Calls)
		}
	}
}
