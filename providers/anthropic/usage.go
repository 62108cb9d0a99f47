package anthropic

import (
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// tokenCounts are the wire's own counts. They exclude each other: cached tokens are not in input.
type tokenCounts struct {
	input, read, write, hour, output, thinking stream.Count

	tier   string
	doubts []string // reasons why the price is only approximate
}

// reportUsage reports the usage after u. A missing or null field keeps its last value, because gateways
// omit fields in message_delta.
func (d *decoder) reportUsage(turn *protocol.Turn, u protocol.Raw) {
	if u.Kind() != '{' {
		return
	}
	set := func(c *stream.Count, v protocol.Raw) {
		if n := v.Count(); n.Reported {
			*c = n
		}
	}
	t := &d.usage
	before := t.totalInput()
	set(&t.input, u.Get("input_tokens"))
	set(&t.read, u.Get("cache_read_input_tokens"))
	set(&t.write, u.Get("cache_creation_input_tokens"))
	set(&t.hour, u.Get("cache_creation").Get("ephemeral_1h_input_tokens"))
	set(&t.output, u.Get("output_tokens"))
	set(&t.thinking, u.Get("output_tokens_details").Get("thinking_tokens"))
	d.readPricing(u)
	d.reportModels(turn, u.Get("iterations"))
	turn.Usage(d.usage.asUsage())
	if input := t.totalInput(); input.N < before.N {
		turn.Find(usageCorrected,
			"the input was first reported as %d tokens, then as %d: the last number is billed", before.N, input.N)
	}
}

// fillUsage takes Bedrock's own counts where the message reported none.
func (d *decoder) fillUsage(metrics protocol.Raw) {
	if !d.turn.IsOpen() || metrics.Kind() != '{' {
		return
	}
	told := false
	set := func(c *stream.Count, name string) {
		if n := metrics.Get(name).Count(); n.Reported && !c.Reported {
			*c, told = n, true
		}
	}
	set(&d.usage.input, "inputTokenCount")
	set(&d.usage.read, "cacheReadInputTokenCount")
	set(&d.usage.write, "cacheWriteInputTokenCount")
	set(&d.usage.output, "outputTokenCount")
	if told {
		d.turn.Usage(d.usage.asUsage())
	}
}

// asUsage returns the counts as stream.Usage.
func (t *tokenCounts) asUsage() stream.Usage {
	return stream.Usage{
		Input: t.totalInput(), CacheRead: t.read, CacheWrite: t.write, CacheWriteHour: t.hour,
		Output: t.output, Reasoning: t.thinking, Tier: t.tier, Doubt: strings.Join(t.doubts, "; "),
	}
}

// totalInput returns the number of all input tokens.
func (t *tokenCounts) totalInput() stream.Count {
	return stream.Count{N: t.input.N + t.read.N + t.write.N, Reported: t.input.Reported}
}

// addDoubt adds a reason once.
func (t *tokenCounts) addDoubt(why string) {
	if !slices.Contains(t.doubts, why) {
		t.doubts = append(t.doubts, why)
	}
}

// readPricing reads the fields that change the price of tokens or add to it.
func (d *decoder) readPricing(u protocol.Raw) {
	t := &d.usage
	if tier := u.Get("service_tier").Text(); tier != "" && t.tier != "fast" {
		t.tier = tier
	}
	if u.Get("speed").Is("fast") {
		t.tier = "fast"
	}
	if u.Get("inference_geo").Is("us") {
		t.addDoubt("inference in one country costs more")
	}
	server := u.Get("server_tool_use").Scan()
	for ok := server.Object(); ok; ok = server.Member() {
		if n := server.Value().Count(); n.N > 0 {
			t.addDoubt("the provider's own tools are billed in addition to the tokens")
		}
	}
}

// reportModels reports that several models served the turn: an advisor, or a model that took over. The
// totals then count only one of them, or some.
func (d *decoder) reportModels(turn *protocol.Turn, list protocol.Raw) {
	models := []string{}
	add := func(m string) {
		if m != "" && !slices.Contains(models, m) {
			models = append(models, m)
		}
	}
	each := list.Scan()
	for ok := each.Array(); ok; ok = each.Element() {
		one := each.Value()
		if m := one.Get("model").Text(); m != "" {
			add(m)
		} else {
			add(turn.Model)
		}
	}
	if len(models) < 2 {
		return
	}
	if !slices.Equal(models, d.servingModels) {
		d.servingModels = models
		turn.Find(usageModels,
			"%s served this turn at different prices: usage.iterations contains the tokens of each model; the totals don't", stream.Fact(strings.Join(models, " and ")))
	}
	d.usage.addDoubt("several models served the turn")
}
