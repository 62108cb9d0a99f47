package present

import (
	"slices"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
)

// WithCosts returns the findings of a turn or its calls. If the cost is known, it adds the cost to findings about
// a loop or about a cache that was not read.
func WithCosts(v *providers.View, prices *price.Table, t *stream.Turn, list []stream.Finding) []stream.Finding {
	copied := false
	for i := range list {
		usd, known := findingCost(v, prices, t, list[i].Detail)
		if !known || usd.USD == 0 {
			continue
		}
		if !copied {
			list, copied = slices.Clone(list), true
		}
		f := &list[i]
		cost := stream.DetailField{Key: "cost_usd", Value: usd.USD}
		f.Detail = &stream.Detail{Name: f.Detail.Name, Fields: append(slices.Clip(f.Detail.Fields), cost)}
		f.AppendMessage("; cost %s", stream.Own(usd.String()))
	}
	return list
}

// findingCost returns the cost of the turns in a loop, or the additional cost of tokens that were not read from
// the cache. The result known is false if the cost is unknown.
func findingCost(v *providers.View, prices *price.Table, t *stream.Turn, d *stream.Detail) (sum price.Sum, known bool) {
	if d == nil || prices == nil {
		return sum, false
	}
	switch d.Name {
	case "loop":
		since, _ := d.Value("since_turn").(int)
		for n := int32(since) - 1; n <= t.Number && since > 0; n++ {
			if o := v.Session().Turn(n); o != nil && isSameRun(o, t) {
				sum.Add(CostOf(prices, v.Exchange(o.Exchange), o))
			}
		}
	case "cache_break":
		x, figure := v.Exchange(t.Exchange), CostOf(prices, v.Exchange(t.Exchange), t)
		tokens, _ := d.Value("tokens").(int)
		if x == nil || figure.Source != price.FromTable {
			return sum, false
		}
		r := prices.Rates(t, *x.Head)
		if !r.Input.Known || !r.CacheRead.Known {
			return sum, false
		}
		figure.USD = float64(tokens) * (r.Input.USD - r.CacheRead.USD) / 1e6
		sum.Add(figure)
	}
	return sum, sum.Paid > 0 && sum.Unknown == 0
}

// isSameRun reports whether two turns belong to the same agent and the same conversation.
func isSameRun(a, b *stream.Turn) bool {
	p, q := a.Request, b.Request
	if p == nil || q == nil || p.Background {
		return false
	}
	return p.Session == q.Session && p.Agent == q.Agent && p.Conversation == q.Conversation
}
