package price

import (
	"encoding/json"
	"maps"
	"slices"
)

// modelsDev is a provider of https://models.dev/api.json. Prices are in dollars per million
// tokens.
type modelsDev struct {
	Models map[string]struct {
		Cost map[string]json.RawMessage
	}
}

func (f *listReader) readModelsDev(all map[string]json.RawMessage) ([]Price, error) {
	for _, seller := range slices.Sorted(maps.Keys(all)) {
		f.at = 0
		f.enterModel(seller, false)
		var provider modelsDev
		if err := json.Unmarshal(all[seller], &provider); err != nil {
			return nil, f.typeError(err)
		}
		from := f.at
		for _, id := range slices.Sorted(maps.Keys(provider.Models)) {
			f.at = from
			f.enterModel(id, true)
			p := Price{Provider: sellerCalled(seller), ID: id}
			if err := f.modelsDevCost(&p, provider.Models[id].Cost); err != nil {
				return nil, err
			}
			if p.Provider != subscription {
				f.addPriced(p)
			}
		}
	}
	return f.rows, nil
}

// overContext is the number of tokens above which context_over_200k applies.
const overContext = 200_000

func (f *listReader) modelsDevCost(p *Price, cost map[string]json.RawMessage) error {
	if err := f.modelsDevRates(&p.Rates, cost); err != nil {
		return err
	}
	var tiers []map[string]json.RawMessage // newer models have several
	if json.Unmarshal(cost["tiers"], &tiers) == nil {
		for _, t := range tiers {
			var tier struct{ Size int64 }
			if json.Unmarshal(t["tier"], &tier) != nil || tier.Size <= 0 {
				continue
			}
			if err := f.modelsDevRates(&tierOver(&p.Tiers, tier.Size, "").Rates, t); err != nil {
				return err
			}
		}
	}
	if more := cost["context_over_200k"]; len(more) > 0 && len(p.Tiers) == 0 {
		var rates map[string]json.RawMessage
		if err := json.Unmarshal(more, &rates); err != nil {
			return f.parseError("context_over_200k", shortValue(more)+" is not an object", "use an object with the prices of longer requests")
		}
		return f.modelsDevRates(&tierOver(&p.Tiers, overContext, "").Rates, rates)
	}
	return nil
}

func (f *listReader) modelsDevRates(r *Rates, cost map[string]json.RawMessage) error {
	for name, to := range map[string]*Rate{"input": &r.Input, "output": &r.Output, "cache_read": &r.CacheRead, "cache_write": &r.CacheWrite} {
		if err := f.perMillion(to, "cost."+name, cost[name], 1e6); err != nil {
			return err
		}
	}
	return nil
}
