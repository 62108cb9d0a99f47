package replay_test

import (
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
)

// turnWith returns a turn with calls that have the given ids.
func turnWith(ids ...string) *stream.Turn {
	tl := new(stream.Timeline)
	tl.Append(stream.Event{Kind: stream.TurnOpen})
	for i, id := range ids {
		slot := int32(i)
		tl.Append(
			stream.Event{Kind: stream.CallOpen, Slot: slot, What: &stream.CallInfo{ID: id, Name: "look", Kind: "function"}},
			stream.Event{Kind: stream.Args, Slot: slot, Text: `{"a":1}`},
			stream.Event{Kind: stream.Seal, Slot: slot},
		)
	}
	tl.Append(stream.Event{Kind: stream.TurnClose})
	return tl.Session().Turns[0]
}

// TestAmong checks that a single call is previewed in the context of its conversation. If its id collides with the id
// of another call, the preview reports the collision and still doesn't send the other call.
func TestAmong(t *testing.T) {
	from := target(t, "openai-chat")
	before := calls(from, `{}`) // call_1
	before[0].Parts[0].ID = "old"
	for _, test := range []struct {
		to     string
		ids    []string
		losses string
		other  string
	}{
		{"openai-chat", []string{"a", "b"}, "", ""},
		{"openai-chat", []string{"a", "a"}, "ID_COLLISION", "call 2"},
		{"anthropic", []string{"a", "a"}, "ID_COLLISION", "call 2"},
		{"anthropic", []string{"a:b", "c", "a.b"}, "ID_REWRITTEN ID_COLLISION", "call 3"},
		{"anthropic", []string{"old", "b"}, "ID_COLLISION", "a call before this turn"},
		{"anthropic", []string{"", "call_1"}, "ID_REWRITTEN ID_COLLISION", "call 2"},
		{"anthropic", []string{"", ""}, "ID_REWRITTEN", ""},
		{"mistral", []string{"a", "a"}, "ID_REWRITTEN ID_COLLISION", "call 2"},
	} {
		turn := turnWith(test.ids...)
		to := target(t, test.to)
		src := replay.SourceOfCalls(turn, from, turn.Calls[0])
		alone := src.Preview(to, policy(t, "preserve"))
		p := src.InHistory(replay.Names(before), turn, turn.Calls[0]).Preview(to, policy(t, "preserve"))
		if codes(p.Losses) != test.losses || len(p.Calls) != 1 || len(p.Results) != len(alone.Results) || body(p) != body(alone) {
			t.Errorf("%q to %s: %s, want %s: %s", test.ids, test.to, codes(p.Losses), test.losses, body(p))
		}
		for _, l := range p.Losses {
			if l.Kind == replay.IDCollision && (l.Other != test.other || l.Call != 1) {
				t.Errorf("%q to %s: %+v, want of %s", test.ids, test.to, l, test.other)
			}
		}
		refuses := strings.Contains(test.losses, "COLLISION") && to.IDs.Unique
		if (p.Acceptance.Verdict == replay.Refused) != refuses || (p.Acceptance.Verdict == replay.Accepted) == strings.Contains(test.losses, "COLLISION") {
			t.Errorf("%q to %s: %s, %q", test.ids, test.to, p.Acceptance, p.Refused)
		}
	}
}

// TestBehindOthers checks that only the first call of a turn needs a signature.
func TestBehindOthers(t *testing.T) {
	from, gemini := target(t, "openai-chat"), target(t, "gemini")
	turn := turnWith("a", "b")
	for i, want := range []string{"SIGNATURE_SENTINEL", ""} {
		src := replay.SourceOfCalls(turn, from, turn.Calls[i]).InHistory(nil, turn, turn.Calls[i])
		if p := src.Preview(gemini, policy(t, "preserve")); codes(p.Losses) != want || p.Acceptance.Verdict != replay.Accepted {
			t.Errorf("call %d: %s, %s", i+1, codes(p.Losses), p.Acceptance)
		}
	}
}

// TestHistoryNames checks that Names returns only the client's calls that have an id.
func TestHistoryNames(t *testing.T) {
	m := calls(target(t, "openai-chat"), `{}`, `{}`, `{}`)
	m[0].Parts[1].ID, m[0].Parts[2].RunByProvider = "", true
	m = append(m, protocol.Message{Role: protocol.User, Parts: []protocol.Part{{Kind: protocol.ResultPart, ID: "call_1"}}})
	if names := replay.Names(m); len(names) != 1 || names[0].ID != "call_1" {
		t.Errorf("%+v", names)
	}
}
