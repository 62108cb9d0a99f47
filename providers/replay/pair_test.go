package replay_test

import (
	"bytes"
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream/json"
)

func result(id, text string) protocol.Part {
	return protocol.Part{Kind: protocol.ResultPart, ID: id, Text: []byte(text)}
}

func user(parts ...protocol.Part) protocol.Message {
	return protocol.Message{Role: protocol.User, Parts: parts}
}

func says(text string) protocol.Part {
	return protocol.Part{Kind: protocol.TextPart, Text: []byte(text)}
}

// TestPairing checks that calls without results and results without calls are reported, and repaired by
// policies that add missing results.
func TestPairing(t *testing.T) {
	from := target(t, "anthropic")
	two := calls(from, `{}`, `{}`)
	for _, test := range []struct {
		name, policy string
		history      []protocol.Message
		losses       string
		refused      string // part of the refusal
		body         string // part of the body
	}{
		{"in order", "wrap", append(two[:1:1], user(result("call_1", "a"), result("call_2", "b"))), "", "", ""},
		{"nothing follows yet", "wrap", two, "", "", ""},
		{"one result is missing", "wrap", append(two[:1:1], user(result("call_1", "a"))), "ORPHAN_CALL", "were found without `tool_result` blocks immediately after: call_2", ""},
		{"one result is missing, and is made up", "preserve", append(two[:1:1], user(result("call_1", "a"))), "ADJACENCY_FIX", "", "No result provided"},
		{"a result comes later", "preserve",
			append(two[:1:1], user(result("call_1", "a")), protocol.Message{Role: protocol.Assistant, Parts: []protocol.Part{says("hm")}}, user(result("call_2", "late"))),
			"ADJACENCY_FIX", "", "late"},
		{"a result without a call", "wrap", []protocol.Message{user(says("hi"), result("call_9", "x"))}, "ORPHAN_RESULT", "unexpected `tool_use_id`", ""},
	} {
		p := replay.SourceOfHistory(test.history, from).Preview(from, policy(t, test.policy))
		if got := codes(p.Losses); got != test.losses {
			t.Errorf("%s: loses %q, want %q", test.name, got, test.losses)
		}
		if (p.Refused == "") != (test.refused == "") || !strings.Contains(p.Refused, test.refused) {
			t.Errorf("%s: refused %q", test.name, p.Refused)
		}
		if body := string(bytes.Join(p.Body, nil)); strings.Count(body, test.body) != 1 && test.body != "" {
			t.Errorf("%s: %q is not once in %s", test.name, test.body, body)
		}
	}
}

// TestDropLeavesOrphan checks that a policy that drops a call still sends the call's result.
func TestDropLeavesOrphan(t *testing.T) {
	from := target(t, "openai-chat")
	history := append(calls(from, `{"a":`), user(result("call_1", "error")))
	p := replay.SourceOfHistory(history, from).Preview(target(t, "anthropic"), policy(t, "drop"))
	if got := codes(p.Losses); got != "CALL_DROPPED ORPHAN_RESULT" || p.Refused == "" || p.Outcome != replay.Dropped {
		t.Errorf("%s, %q, refused %q", p.Outcome, got, p.Refused)
	}
}

// TestSplit checks that splitting one turn's calls is reported if the provider requires the calls in one message.
func TestSplit(t *testing.T) {
	from := target(t, "anthropic")
	history := append(calls(from, `{"a":1}`, `{"a":2}`), user(result("call_1", "a"), result("call_2", "b")))
	p := replay.SourceOfHistory(history, from).Split().Preview(from, policy(t, "wrap"))
	if got := codes(p.Losses); got != "PARALLEL_SPLIT" || len(p.Body) != 4 {
		t.Errorf("%q, %d messages: %s", got, len(p.Body), bytes.Join(p.Body, []byte("\n")))
	}
}

// TestSplitGoesOn checks that every message after split calls is kept, and that the calls in a later turn are
// also split.
func TestSplitGoesOn(t *testing.T) {
	from := target(t, "anthropic")
	turn := func(first, second string) []protocol.Message {
		m := calls(from, `{}`, `{}`)
		m[0].Parts[0].ID, m[0].Parts[1].ID = first, second
		return append(m, user(result(first, "ok "+first), result(second, "ok "+second)))
	}
	history := append(turn("a", "b"), protocol.Message{Role: protocol.Assistant, Parts: []protocol.Part{says("so")}}, user(says("go on")))
	p := replay.SourceOfHistory(append(history, turn("c", "d")...), from).Split().Preview(from, policy(t, "wrap"))
	var order []string
	for _, m := range read(from, append(p.Body, p.Results...)) {
		for _, part := range m.Parts {
			order = append(order, part.ID+string(part.Text))
		}
	}
	if got, want := strings.Join(order, ", "), "a, aok a, b, bok b, so, go on, c, cok c, d, dok d"; got != want || p.Refused != "" {
		t.Errorf("%s, want %s; refused %q", got, want, p.Refused)
	}
}

// TestOtherParts checks that parts other than text and calls are sent back only to the provider that they come from.
func TestOtherParts(t *testing.T) {
	chat := target(t, "openai-chat")
	image := protocol.Part{Kind: protocol.OtherPart, Raw: json.Value(`{"type":"image_url","image_url":{"url":"data:,"}}`)}
	src := replay.SourceOfHistory([]protocol.Message{user(says("see"), image)}, chat)
	for to, losses := range map[string]string{"openai-chat": "", "anthropic": "PART_DROPPED"} {
		p := src.Preview(target(t, to), policy(t, "preserve"))
		if sent := body(p); codes(p.Losses) != losses || strings.Contains(sent, "image_url") != (losses == "") || !strings.Contains(sent, "see") {
			t.Errorf("to %s: %q: %s", to, codes(p.Losses), sent)
		}
	}
}

// TestReasoning checks that reasoning is sent back unchanged to the provider that signed it. Other providers get it
// as text or not at all.
func TestReasoning(t *testing.T) {
	from := target(t, "anthropic")
	thought := protocol.Part{Kind: protocol.ReasoningPart, Text: []byte("hm"), Signature: "sig"}
	hidden := protocol.Part{Kind: protocol.ReasoningPart, Signature: "blob", SignatureOnly: true}
	unsigned := protocol.Part{Kind: protocol.ReasoningPart, Text: []byte("hm")}
	for _, test := range []struct {
		name, to, policy string
		part             protocol.Part
		losses, body     string
	}{
		{"signed", "anthropic", "wrap", thought, "", `{"type":"thinking","thinking":"hm","signature":"sig"}`},
		{"hidden", "anthropic", "wrap", hidden, "", `{"type":"redacted_thinking","data":"blob"}`},
		{"unsigned", "anthropic", "preserve", unsigned, "REASONING_TO_TEXT", `{"type":"text","text":"hm"}`},
		{"unsigned, dropped", "anthropic", "wrap", unsigned, "REASONING_DROPPED", ""},
		{"to another", "openai-chat", "preserve", thought, "SIGNATURE_DROPPED REASONING_TO_TEXT", `"content":"hm"`},
		{"to another, dropped", "openai-chat", "wrap", thought, "SIGNATURE_DROPPED REASONING_DROPPED", ""},
		{"hidden, to another", "openai-chat", "preserve", hidden, "REASONING_DROPPED", ""},
		{"to one that takes any", "llama.cpp", "wrap", thought, "SIGNATURE_DROPPED", `"reasoning_content":"hm"`},
	} {
		history := []protocol.Message{{Role: protocol.Assistant, Parts: []protocol.Part{test.part, says("so")}}}
		p := replay.SourceOfHistory(history, from).Preview(target(t, test.to), policy(t, test.policy))
		body := string(bytes.Join(p.Body, nil))
		if codes(p.Losses) != test.losses || p.Refused != "" || !strings.Contains(body, strings.TrimSuffix(test.body, `"`)) || strings.Contains(body, "sig") != (test.name == "signed") {
			t.Errorf("%s: %s, refused %q: %s", test.name, codes(p.Losses), p.Refused, body)
		}
	}
}

// TestOwnReasoningMustComeBack checks that a provider refuses a call without the reasoning that preceded it.
func TestOwnReasoningMustComeBack(t *testing.T) {
	from := target(t, "anthropic")
	history := calls(from, `{}`)
	history[0].Parts = append([]protocol.Part{{Kind: protocol.ReasoningPart, Text: []byte("hm")}}, history[0].Parts...)
	for _, name := range []string{"preserve", "wrap"} {
		p := replay.SourceOfHistory(history, from).Preview(from, policy(t, name))
		if !strings.Contains(p.Refused, "must start with a thinking block") || p.Outcome != replay.Verbatim {
			t.Errorf("%s: %s, refused %q", name, p.Outcome, p.Refused)
		}
	}
	history[0].Parts[0].Signature = "sig"
	if p := replay.SourceOfHistory(history, from).Preview(from, policy(t, "wrap")); p.Refused != "" || len(p.Losses) > 0 {
		t.Errorf("signed: %s, refused %q", codes(p.Losses), p.Refused)
	}
}
