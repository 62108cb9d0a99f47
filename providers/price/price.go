// Package price says what a turn cost: a dated table of what providers ask for a million tokens,
// the rules by which the name a wire gives finds its row, and the sum. It is the one place where
// tokens become money.
//
//	dialect, host, model ─▶ Lookup ─▶ Price ┐
//	                      usage of the turn ┴─▶ Cost ─▶ Figure ─▶ Total
//
// A price is never guessed. A model that is not in the table, or that could be two of its rows, has
// no price, and its turn no cost: unknown is not zero. A cost from doubtful counts, or from another
// seller's price, is marked as approximate. What the provider itself says wins over any table.
//
// The embedded prices.json holds facts of models.dev, pydantic's genai-prices and charmbracelet's
// catwalk, one row a line, each with the date it was true. Prices change: they are a convenience,
// not an invoice.
package price

// Rate is US dollars for a million tokens; the zero Rate is not known.
type Rate struct {
	USD   float64
	Known bool
}

// Rates are what one kind of token costs each.
type Rates struct {
	Input, Output         Rate
	CacheRead, CacheWrite Rate
	CacheWriteHour        Rate // of what is kept for an hour instead of five minutes
}

// with returns r with every rate that other knows in its place.
func (r Rates) with(other Rates) Rates {
	for _, f := range [...]struct{ to, from *Rate }{
		{&r.Input, &other.Input}, {&r.Output, &other.Output}, {&r.CacheRead, &other.CacheRead},
		{&r.CacheWrite, &other.CacheWrite}, {&r.CacheWriteHour, &other.CacheWriteHour},
	} {
		if f.from.Known {
			*f.to = *f.from
		}
	}
	return r
}

// A Tier has other rates for some requests, for all of their tokens: requests of more than Over
// input tokens, or those that a service tier answered. A rate it does not know stays as it was.
type Tier struct {
	Over    int64
	Service string
	Rates
}

// Price is what one seller asks for one model. Lookup returns one without rates when it knows none:
// Why then says so.
type Price struct {
	Provider string // who sells: "anthropic", "openrouter", or a host of the user's own table
	ID       string // the model, as the seller calls it
	Rates
	Tiers []Tier
	AsOf  string // the day it was true, as 2026-08-21

	Free  bool   // runs on a machine of one's own
	Doubt string // why it may be another price; "" when it is not in doubt
	Why   string // why there is no price
}

// multipliers are what a service tier makes of a seller's prices: OpenAI's flex and priority
// processing, and the batch interfaces.
var multipliers = map[string]map[string]float64{
	"openai":    {"flex": 0.5, "priority": 2, "batch": 0.5},
	"anthropic": {"batch": 0.5},
	"google":    {"batch": 0.5},
}

// plainTiers are the words for no special service.
var plainTiers = map[string]bool{"": true, "default": true, "standard": true, "auto": true, "on_demand": true}

// rates are the rates of a request of so many input tokens that a service tier answered; false if
// nothing says what that tier costs.
func (p Price) rates(input int64, service string) (r Rates, factor float64, ok bool) {
	r, factor, ok = p.Rates, 1, plainTiers[service]
	over := int64(-1)
	for _, t := range p.Tiers {
		if t.Service == "" && input > t.Over && t.Over > over {
			r, over = p.Rates.with(t.Rates), t.Over
		}
	}
	if ok {
		return r, factor, true
	}
	for _, t := range p.Tiers {
		if t.Service == service {
			return r.with(t.Rates), 1, true
		}
	}
	factor, ok = multipliers[p.Provider][service]
	return r, factor, ok
}
