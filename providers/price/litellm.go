package price

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// liteLLMFields are the prices of LiteLLM's model_prices_and_context_window.json, in dollars per token.
// A suffix selects the requests: "_above_200k_tokens", "_flex", "_priority", "_batches".
var liteLLMFields = []struct {
	name string
	rate func(*Rates) *Rate
}{
	{"input_cost_per_token", func(r *Rates) *Rate { return &r.Input }},
	{"output_cost_per_token", func(r *Rates) *Rate { return &r.Output }},
	{"cache_read_input_token_cost", func(r *Rates) *Rate { return &r.CacheRead }},
	{"cache_creation_input_token_cost_above_1hr", func(r *Rates) *Rate { return &r.CacheWriteHour }},
	{"cache_creation_input_token_cost", func(r *Rates) *Rate { return &r.CacheWrite }},
}

// services are the service tiers that LiteLLM has prices for.
var services = map[string]string{"_flex": "flex", "_priority": "priority", "_batches": "batch"}

func (f *listReader) readLiteLLM(all map[string]json.RawMessage) ([]Price, error) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f.at = 0
		f.enterModel(name, false)
		var model map[string]json.RawMessage
		if err := json.Unmarshal(all[name], &model); err != nil {
			return nil, f.typeError(err)
		}
		var seller string
		if json.Unmarshal(model["litellm_provider"], &seller) != nil || name == "sample_spec" {
			continue
		}
		p := Price{Provider: sellerCalled(seller), ID: liteLLMName(name, seller)}
		for _, field := range slices.Sorted(maps.Keys(model)) {
			if err := f.liteLLMPrice(&p, field, model[field]); err != nil {
				return nil, err
			}
		}
		if p.Provider != subscription {
			f.addPriced(p)
		}
	}
	return uniqueRows(f.rows), nil
}

// liteLLMName removes the name of the seller from a model: "groq/x", "azure/us/x",
// "bedrock/us-east-1/x".
func liteLLMName(name, seller string) string {
	first, rest, ok := strings.Cut(name, "/")
	if !ok || first != seller && sellerCalled(first) != sellerCalled(seller) {
		return name
	}
	if region, model, ok := strings.Cut(rest, "/"); ok && (strings.HasPrefix(seller, "azure") || strings.HasPrefix(seller, "bedrock")) {
		if strings.Contains(region, "-") || len(region) == 2 || region == "global" || region == "global-standard" {
			return model
		}
	}
	return rest
}

func (f *listReader) liteLLMPrice(p *Price, field string, value json.RawMessage) error {
	for _, known := range liteLLMFields {
		rest, ok := strings.CutPrefix(field, known.name)
		if !ok {
			continue
		}
		to := &p.Rates
		over, isOver := strings.CutPrefix(rest, "_above_")
		over, isTokens := strings.CutSuffix(over, "k_tokens")
		thousands, err := strconv.ParseInt(over, 10, 32)
		switch {
		case rest == "":
		case isOver && isTokens && err == nil && thousands > 0:
			to = &tierOver(&p.Tiers, thousands*1000, "").Rates
		case services[rest] != "":
			to = &tierOver(&p.Tiers, 0, services[rest]).Rates
		default:
			return nil // for pictures, sound, characters
		}
		if string(value) == "null" {
			return nil
		}
		return f.perMillion(known.rate(to), field, value, 1)
	}
	return nil
}

// uniqueRows removes rows with the same seller and model, such as the regions of a cloud. The first row
// stays.
func uniqueRows(rows []Price) []Price {
	seen := map[rowKey]bool{}
	return slices.DeleteFunc(rows, func(p Price) bool {
		again := seen[p.key()]
		seen[p.key()] = true
		return again
	})
}
