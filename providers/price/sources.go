package price

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// genAI is a provider in genai-prices' data.json: https://github.com/pydantic/genai-prices. Prices are in
// dollars per million tokens.
type genAI struct {
	ID     string
	Models []struct {
		ID     string
		Match  genAIMatch
		Prices json.RawMessage
	}
}

// genAIMatch describes the names of a model: an exact name, a prefix, a substring, or a choice of several of these.
// Regular expressions are not supported.
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
			p := Price{Provider: SellerNamed(provider.ID), ID: m.ID}
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

// genAIPrices reads one price or several prices. If there are several, those with a start date become Changes, and
// the last of the other prices is used.
func (f *listReader) genAIPrices(p *Price, raw json.RawMessage) error {
	var one map[string]json.RawMessage
	if json.Unmarshal(raw, &one) == nil {
		if slices.ContainsFunc(genAIExtras, func(name string) bool { return one[name] != nil }) {
			p.addDoubt("requests, reasoning, citations or images are priced separately")
		}
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
			p.Doubt = "the price depends on the time of day"
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

// genAIRates reads prices. Each price is a number, or a base price with tiers above numbers of tokens.
func (f *listReader) genAIRates(r *Rates, tiers *[]Tier, prices map[string]json.RawMessage) error {
	for n, name := range genAIFields {
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
		if err := f.perMillion(r.fields()[n].rate, name, value, 1e6); err != nil {
			return err
		}
		for _, t := range tiered.Tiers {
			if err := f.perMillion(tierOver(tiers, t.Start, "").fields()[n].rate, name, t.Price, 1e6); err != nil {
				return err
			}
		}
	}
	return nil
}

// genAIFields lists the names of the rates in genai-prices, in the order of Rates.fields.
var genAIFields = [...]string{
	"input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok", "cache_write_1h_mtok",
	"input_audio_mtok", "cache_audio_read_mtok", "output_audio_mtok", "web_searches_kcount",
}

// genAIExtras lists prices that toolscope can't apply, because it doesn't count the units that they are for.
var genAIExtras = []string{"requests_kcount", "output_reasoning_mtok", "output_citation_mtok", "output_image_mtok", "output_video_mtok"}

// liteLLMFields lists the prices in LiteLLM's model_prices_and_context_window.json, in dollars per token. A
// suffix selects the requests: "_above_200k_tokens", "_flex", "_priority", "_batches".
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

// services maps the suffixes of LiteLLM's price names to service tiers.
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
		p := Price{Provider: SellerNamed(seller), ID: liteLLMName(name, seller)}
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

// liteLLMName removes the seller's name from a model's name: "groq/x", "azure/us/x", "bedrock/us-east-1/x".
func liteLLMName(name, seller string) string {
	first, rest, ok := strings.Cut(name, "/")
	if !ok || first != seller && SellerNamed(first) != SellerNamed(seller) {
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
			return nil // a price for images, audio or characters
		}
		if string(value) == "null" {
			return nil
		}
		return f.perMillion(known.rate(to), field, value, 1)
	}
	return nil
}

// uniqueRows removes rows with the same seller and model, such as rows for several regions of a cloud. The
// first row stays.
func uniqueRows(rows []Price) []Price {
	seen := map[rowKey]bool{}
	return slices.DeleteFunc(rows, func(p Price) bool {
		again := seen[p.key()]
		seen[p.key()] = true
		return again
	})
}

// modelsDev is a provider in https://models.dev/api.json. Prices are in dollars per million tokens.
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
			p := Price{Provider: SellerNamed(seller), ID: id}
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
	var tiers []map[string]json.RawMessage // newer models have several tiers
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
			return f.parseError("context_over_200k", shortValue(more)+" is not an object", "use an object with the prices for longer requests")
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
