package openaichat

import (
	"fmt"
	"math"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// reportUsage reads token counts from each place where providers put them. The last value counts: a sum
// would be too high for providers that repeat totals.
func (d *decoder) reportUsage() {
	c := d.chunk
	if c.tier.IsString() && !c.tier.Is(d.tier) {
		d.tier = c.tier.Text()
	}
	told := c.usage
	if !told.IsPresent() {
		told = c.groqUsage
	}
	for i := range c.choices.Len() {
		if u := c.choices.At(i).usage; u.IsPresent() && !told.IsPresent() {
			told = u
			d.turn.Once(usageInChoice, "the usage is inside a choice instead of the chunk")
		}
	}
	if told.Kind() != '{' {
		return
	}
	if d.usages++; d.usages == 3 {
		d.turn.Once(usageCumulative, "many chunks repeat the usage: the last one counts; the sum is too high")
	}
	t := readTotals(told)
	n := t.asUsage()
	n.Tier = d.tier
	n.CostUSD, n.CostReported = ownCost(told)
	why := t.describeConflict()
	if why == "" && c.groqUsage.Kind() == '{' && !t.equalCounts(readTotals(c.groqUsage)) {
		why = "usage and x_groq.usage differ"
	}
	if why != "" {
		n.Doubt = why
		d.turn.Once(usageUnclear, "%s: the billed amount is uncertain", stream.Own(why))
	}
	if told.Get("is_byok").IsTrue() {
		d.turn.Once(costByok, "the cost is only what the gateway charges: its upstream is paid with another key")
	}
	d.turn.Usage(n)
}

// tokenTotals are the wire's own counts.
type tokenTotals struct{ prompt, completion, total, read, write, reasoning stream.Count }

func readTotals(u protocol.Raw) tokenTotals {
	in, out := u.Get("prompt_tokens_details"), u.Get("completion_tokens_details")
	return tokenTotals{
		prompt: u.Get("prompt_tokens").Count(), completion: u.Get("completion_tokens").Count(), total: u.Get("total_tokens").Count(),
		read:      firstCount(in.Get("cached_tokens"), u.Get("prompt_cache_hit_tokens"), u.Get("cached_tokens")),
		write:     firstCount(in.Get("cache_write_tokens"), u.Get("cache_creation_input_tokens")),
		reasoning: firstCount(out.Get("reasoning_tokens"), u.Get("reasoning_tokens")),
	}
}

// hasSeparateReasoning reports whether reasoning is not included in completion_tokens, as at xAI. Most
// providers include it. The total shows which. Without a total, reasoning that exceeds the completion
// can't be included.
func (t tokenTotals) hasSeparateReasoning() bool {
	if t.total.Reported {
		return t.reasoning.N > 0 && t.prompt.N+t.completion.N+t.reasoning.N == t.total.N
	}
	return t.reasoning.N > t.completion.N
}

// asUsage returns the counts as stream.Usage. prompt_tokens includes the tokens read from the cache and
// those written to it.
func (t tokenTotals) asUsage() stream.Usage {
	n := stream.Usage{Input: t.prompt, CacheRead: t.read, CacheWrite: t.write, Output: t.completion, Reasoning: t.reasoning}
	if t.hasSeparateReasoning() {
		n.Output = stream.Tokens(t.completion.N + t.reasoning.N)
	}
	return n
}

// describeConflict describes how the counts contradict each other, or returns "".
func (t tokenTotals) describeConflict() string {
	switch {
	case t.prompt.Reported && t.read.N+t.write.N > t.prompt.N:
		return fmt.Sprintf("%d tokens read from and written to the cache are more than the prompt's %d", t.read.N+t.write.N, t.prompt.N)
	case !t.total.Reported && t.reasoning.N > t.completion.N:
		return fmt.Sprintf("%d reasoning tokens are more than the completion's %d, and no total shows whether they are counted separately", t.reasoning.N, t.completion.N)
	case !t.total.Reported || !t.prompt.Reported || !t.completion.Reported || t.prompt.N+t.completion.N == t.total.N || t.hasSeparateReasoning():
		return ""
	case t.reasoning.N > 0:
		return fmt.Sprintf("total_tokens is %d, but prompt and completion are %d, and %d with reasoning", t.total.N, t.prompt.N+t.completion.N, t.prompt.N+t.completion.N+t.reasoning.N)
	}
	return fmt.Sprintf("total_tokens is %d, but prompt and completion are %d", t.total.N, t.prompt.N+t.completion.N)
}

func (t tokenTotals) equalCounts(other tokenTotals) bool {
	return t.prompt == other.prompt && t.completion == other.completion && t.total == other.total
}

// ownCost returns the cost that the provider reports: OpenRouter and similar gateways use dollars, xAI
// ten-billionths of a dollar.
func ownCost(u protocol.Raw) (usd float64, told bool) {
	if usd, told = u.Get("cost").Float(); told {
		return usd, true
	}
	ticks, told := u.Get("cost_in_usd_ticks").Float()
	return math.Round(ticks) / 1e10, told
}

func firstCount(fields ...protocol.Raw) stream.Count {
	for _, f := range fields {
		if n := f.Count(); n.Reported {
			return n
		}
	}
	return stream.Count{}
}
