package price

import (
	"encoding/json"
	"slices"
	"strings"
)

// genAI is a provider of genai-prices' data.json: https://github.com/pydantic/genai-prices. Prices
// are in dollars per million tokens.
type genAI struct {
	ID     string
	Models []struct {
		ID     string
		Match  genAIMatch
		Prices json.RawMessage
	}
}

// genAIMatch lists the names of a model. Regular expressions are left out.
type genAIMatch struct {
	Equals   string       `json:"equals"`
	Starts   string       `json:"starts_with"`
	Contains string       `json:"contains"`
	Or       []genAIMatch `json:"or"`
}

// genAIPrice is one of several prices of a model.
type genAIPrice struct {
	Constraint struct {
		StartDate string `json:"start_date"`
		StartTime string `json:"start_time"`
	}
	Prices map[string]json.RawMessage
}

func (f *listReader) readGenAI() ([]Price, error) {
	var all []genAI
	if err := json.Unmarshal(f.text, &all); err != nil {
		return nil, syntaxError(f.text, err)
	}
	for _, provider := range all {
		f.enterModel(provider.ID, true)
		for _, m := range provider.Models {
			f.enterModel(m.ID, true)
			p := Price{Provider: sellerCalled(provider.ID), ID: m.ID}
			m.Match.addNames(&p)
			if err := f.genAIPrices(&p, m.Prices); err != nil {
				return nil, err
			}
			f.addPriced(p)
		}
	}
	return f.rows, nil
}

func (m genAIMatch) addNames(p *Price) {
	for _, one := range [...]struct{ name, before, behind string }{{m.Equals, "", ""}, {m.Starts, "", "*"}, {m.Contains, "*", "*"}} {
		name := one.before + one.name + one.behind
		if one.name != "" && !strings.EqualFold(name, p.ID) && !slices.Contains(p.Names, name) {
			p.Names = append(p.Names, name)
		}
	}
	for _, other := range m.Or {
		other.addNames(p)
	}
}

// genAIPrices reads one price, or several. The last one that applies counts.
func (f *listReader) genAIPrices(p *Price, raw json.RawMessage) error {
	var one map[string]json.RawMessage
	if json.Unmarshal(raw, &one) == nil {
		return f.genAIRates(&p.Rates, &p.Tiers, one)
	}
	var list []genAIPrice
	if err := json.Unmarshal(raw, &list); err != nil {
		return f.typeError(err)
	}
	for _, price := range list {
		s := Change{Day: price.Constraint.StartDate}
		if err := f.genAIRates(&s.Rates, &s.Tiers, price.Prices); err != nil {
			return err
		}
		switch {
		case price.Constraint.StartTime != "":
			p.Doubt = "the price differs by the hour of the day"
			p.Rates, p.Tiers = s.Rates, s.Tiers
		case s.Day != "":
			p.Since = append(p.Since, s)
		default:
			p.Rates, p.Tiers = s.Rates, s.Tiers
		}
	}
	slices.SortFunc(p.Since, func(a, b Change) int { return strings.Compare(a.Day, b.Day) })
	return nil
}

// genAIRates reads prices. Each is a number, or a base price with tiers above so many tokens.
func (f *listReader) genAIRates(r *Rates, tiers *[]Tier, prices map[string]json.RawMessage) error {
	rate := func(r *Rates) []*Rate { return []*Rate{&r.Input, &r.Output, &r.CacheRead, &r.CacheWrite} }
	for n, name := range []string{"input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok"} {
		var tiered struct {
			Base  json.RawMessage
			Tiers []struct {
				Start int64
				Price json.RawMessage
			}
		}
		value := prices[name]
		if json.Unmarshal(value, &tiered) == nil && tiered.Base != nil {
			value = tiered.Base
		}
		if err := f.perMillion(rate(r)[n], name, value, 1e6); err != nil {
			return err
		}
		for _, t := range tiered.Tiers {
			if err := f.perMillion(rate(&tierOver(tiers, t.Start, "").Rates)[n], name, t.Price, 1e6); err != nil {
				return err
			}
		}
	}
	return nil
}
