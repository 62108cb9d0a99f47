package replay_test

import (
	"slices"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
)

// TestAcceptance checks that outcome and acceptance are independent. A target's rules can prove that it accepts an
// object, or that it refuses a call. They prove nothing about text that no rule covers.
func TestAcceptance(t *testing.T) {
	const (
		taken   = "accepted rule"
		refused = "refused rule"
		unknown = "unknown "
	)
	from := target(t, "openai-chat")
	for _, test := range []struct{ args, policy, to, goes, want string }{
		{`{"a":1}`, "preserve", "anthropic", "parsed", taken},
		{`{"a":1}`, "preserve", "openai-chat", "verbatim", taken},
		{` {"a":1}`, "preserve", "openai-chat", "verbatim", taken},
		{`{"a":1`, "preserve", "openai-chat", "verbatim", unknown},
		{`{"a":1`, "preserve", "mistral", "verbatim", unknown},
		{`{"a":1`, "preserve", "cohere", "verbatim", unknown},
		{`{"a":1`, "preserve", "openai-responses", "verbatim", unknown},
		{`{"a":1`, "preserve", "llama.cpp", "verbatim", refused},
		{`[1]`, "preserve", "llama.cpp", "verbatim", unknown},
		{`"x"`, "preserve", "openai-chat", "verbatim", unknown},
		{`{"a":1`, "preserve", "anthropic", "emptied", taken},
		{`{"a":1`, "wrap", "openai-chat", "wrapped", taken},
		{`{"a":1}`, "double-encode", "anthropic", "wrapped", refused},
		{`{"a":1}`, "double-encode", "openai-chat", "wrapped", unknown},
		{`"{\"a\":1}"`, "preserve", "gemini", "unwrapped", taken},
		{`{"a":1`, "drop", "anthropic", "dropped", refused}, // the result has no call
		{`{"a":1`, "drop", "ollama", "dropped", unknown},
		{`{"a":1`, "strict", "anthropic", "throws", unknown}, // nothing is sent to the provider
	} {
		history := append(calls(from, test.args), protocol.Message{Role: protocol.User, Parts: []protocol.Part{
			{Kind: protocol.ResultPart, ID: "call_1", Name: "f", ToolKind: "function", Text: []byte("done")},
		}})
		p := replay.SourceOfHistory(history, from).Preview(target(t, test.to), policy(t, test.policy))
		got := p.Acceptance.Verdict.String() + " " + p.Acceptance.By.String()
		if got != test.want || p.Outcome.String() != test.goes || (p.Refused != "") != (test.want == refused || test.goes == "throws") {
			t.Errorf("%s of %s to %s: %s, %s, %q; want %s, %s", test.policy, test.args, test.to, p.Outcome, got, p.Refused, test.goes, test.want)
		}
	}
}

// TestDoubts checks that a history that no rule covers is not reported as accepted.
func TestDoubts(t *testing.T) {
	from := target(t, "openai-chat")
	for _, to := range []string{"openai-chat", "mistral"} { // no rule covers two calls with the same id
		m := calls(from, `{"a":1}`, `{"a":2}`)
		m[0].Parts[1].ID = m[0].Parts[0].ID
		p := replay.SourceOfHistory(m, from).Preview(target(t, to), policy(t, "preserve"))
		if p.Acceptance.Verdict != replay.Unproven || !slices.ContainsFunc(p.Losses, func(l replay.Loss) bool { return l.Kind == replay.IDCollision }) {
			t.Errorf("%s: %s, %s", to, p.Acceptance.Verdict, codes(p.Losses))
		}
	}
}
