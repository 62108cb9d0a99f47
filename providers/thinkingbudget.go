package providers

import (
	"slices"
	"strings"

	"toolscope/stream"
	"toolscope/stream/lazyregexp"
)

var budgetToThinking = &stream.Diagnosis{
	Code: "BUDGET_TO_THINKING", Severity: stream.Warn, By: stream.Model,
	Verdict: "only thinking",
	Meaning: "The token limit cut off the response, and reasoning used nearly all the output tokens. The response contains no call and no text.",
	Advice:  "Raise the token limit above the reasoning budget, or lower the budget. The same request with the same limit will probably fail again.",
}

const (
	maxRestBytes   = 64  // maximum size of text and arguments in a response with only reasoning
	minReasonShare = 0.9 // minimum share of reasoning in the output
)

// limitWords matches finish reasons about a token limit, and not about a filter.
var limitWords = lazyregexp.New(`(?i)max|length|context|limit|budget|token|^(?:2|incomplete)$`)

// checkBudget reports a turn that a limit cut off when it contained little more than reasoning.
func (x *Exchange) checkBudget(e *stream.Event, number int32) {
	if e.Kind != stream.TurnClose || e.Turn == stream.NoTurn {
		return
	}
	t := x.in.Session().Turn(e.Turn)
	if t.Phase() != stream.TurnTruncated || !limitWords().MatchString(t.Finish) || t.HasGap() || len(t.Thinking) == 0 && t.Usage.Reasoning.N == 0 {
		return
	}
	if slices.ContainsFunc(t.Findings, func(f stream.Finding) bool {
		return f.Code == "FIN_INCOMPLETE" && strings.Contains(f.Message, "filter")
	}) {
		return
	}
	rest := len(t.Text)
	for _, c := range t.Calls {
		if rest += c.ArgsLen(); c.Phase() == stream.PhaseSealed {
			return
		}
	}
	if rest > maxRestBytes {
		return
	}
	share := float64(len(t.Thinking)) / float64(max(1, len(t.Thinking)+rest))
	f := budgetToThinking.Finding("the limit cut off the response, and reasoning used all of the tokens: no call and no text arrived")
	if r, out := t.Usage.Reasoning, t.Usage.Output; r.Reported && out.N > 0 {
		share = min(1, float64(r.N)/float64(out.N))
		f = budgetToThinking.Finding("reasoning used %d of %d output tokens, and then the limit cut off the response: no call and no text arrived", r.N, out.N)
	}
	if share < minReasonShare {
		return
	}
	f = f.WithDetail("budget", "reasoning_share", share)
	x.emit(stream.Event{Kind: stream.Found, Turn: number, Slot: stream.NoSlot, What: &f})
}
