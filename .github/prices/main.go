// Command prices writes the built-in price table, one row per line. It combines two price lists from
// other sources.
//
//	go run ./.github/prices SNAPSHOT GENAI DAY > providers/price/prices.json
//
// SNAPSHOT is {"models":[…]} with rows of models.dev, genai-prices and catwalk, each with the day of its
// prices. GENAI is genai-prices' data.json of DAY. A row of SNAPSHOT takes precedence over a row of
// GENAI, which adds other names and the days on which prices change.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"toolscope/providers/price"
)

// model is a row of the snapshot.
type model struct {
	Provider   string   `json:"provider"`
	ID         string   `json:"id"`
	Input      *float64 `json:"input"`
	Output     *float64 `json:"output"`
	CacheRead  *float64 `json:"cache_read"`
	CacheWrite *float64 `json:"cache_write"`
	Hour       *float64 `json:"cache_write_1h"`
	Tiers      []struct {
		Tier          struct{ Size int64 }
		Input, Output *float64
		CacheRead     *float64 `json:"cache_read"`
		CacheWrite    *float64 `json:"cache_write"`
	} `json:"tiers_models_dev"`
	Conflict any    `json:"conflict"`
	AsOf     string `json:"as_of"`
}

// wrongNames are names that a list gives to a model, but that belong to a model with other prices.
var wrongNames = []string{"gpt-4o-2024-05-13"}

// isModel reports whether a row is for a model that answers requests, and that its seller runs: OpenAI
// publishes gpt-oss, but doesn't run it.
func isModel(p price.Price) bool {
	switch {
	case p.Provider == "voyageai", p.Output.USD == 0 && strings.Contains(p.ID, "embed"):
		return false
	case p.Provider == "openai" && strings.HasPrefix(p.ID, "gpt-oss"):
		return false
	}
	return true
}

func main() {
	if len(os.Args) != 4 {
		fail(fmt.Errorf("usage: go run ./.github/prices SNAPSHOT GENAI DAY"))
	}
	rows := snapshot(os.Args[1])
	text, err := os.ReadFile(os.Args[2])
	fail(err)
	more, err := price.Read(text, os.Args[3])
	fail(err)
	for _, p := range more {
		rows = merge(rows, p)
	}
	slices.SortFunc(rows, func(a, b price.Price) int { return strings.Compare(a.Provider+"\x00"+a.ID, b.Provider+"\x00"+b.ID) })
	fmt.Println("[")
	for n, p := range rows {
		end := ","
		if n == len(rows)-1 {
			end = ""
		}
		fmt.Printf("%s%s\n", line(p), end)
	}
	fmt.Println("]")
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func snapshot(path string) (rows []price.Price) {
	text, err := os.ReadFile(path)
	fail(err)
	var list struct{ Models []model }
	fail(json.Unmarshal(text, &list))
	for _, m := range list.Models {
		p := price.Price{Provider: m.Provider, ID: m.ID, AsOf: m.AsOf}
		p.Rates = price.Rates{Input: rate(m.Input), Output: rate(m.Output), CacheRead: rate(m.CacheRead), CacheWrite: rate(m.CacheWrite), CacheWriteHour: rate(m.Hour)}
		for _, t := range m.Tiers {
			p.Tiers = append(p.Tiers, price.Tier{Over: t.Tier.Size, Rates: price.Rates{Input: rate(t.Input), Output: rate(t.Output), CacheRead: rate(t.CacheRead), CacheWrite: rate(t.CacheWrite)}})
		}
		if m.Conflict != nil {
			p.Doubt = disputed
		}
		rows = append(rows, p)
	}
	return rows
}

func rate(usd *float64) price.Rate {
	if usd == nil {
		return price.Rate{}
	}
	return price.Rate{USD: *usd, Known: true}
}

// merge adds a row of genai-prices.
func merge(rows []price.Price, p price.Price) []price.Price {
	p.Names = slices.DeleteFunc(p.Names, func(name string) bool { return slices.Contains(wrongNames, name) })
	hour(&p)
	i := slices.IndexFunc(rows, func(o price.Price) bool { return o.Provider == p.Provider && strings.EqualFold(o.ID, p.ID) })
	switch {
	case !isModel(p):
		return rows
	case i < 0:
		dispute(rows, p)
		return append(rows, p)
	}
	o := &rows[i]
	o.Names = p.Names
	if len(p.Tiers) > 0 {
		o.Tiers = p.Tiers
	}
	if len(p.Since) > 0 { // a history of prices is better than the current price
		o.Rates, o.Since = p.Rates, p.Since
	}
	return rows
}

const disputed = "sources disagree about this price"

// dispute marks rows of a model whose price differs from the price under another name of the model.
func dispute(rows []price.Price, p price.Price) {
	for i := range rows {
		o := &rows[i]
		same := func(name string) bool {
			return strings.HasPrefix(o.ID, strings.TrimSuffix(name, "*")) && strings.HasSuffix(name, "*")
		}
		if o.Provider == p.Provider && o.Input != p.Input && slices.ContainsFunc(p.Names, same) {
			o.Doubt = disputed
		}
	}
}

// hour adds Anthropic's price for cache writes that last an hour: twice the input price.
// https://docs.claude.com/en/docs/build-with-claude/prompt-caching
func hour(p *price.Price) {
	if p.Provider != "anthropic" {
		return
	}
	add := func(r *price.Rates) {
		if r.CacheWrite.Known && r.Input.Known {
			r.CacheWriteHour = price.Rate{USD: 2 * r.Input.USD, Known: true}
		}
	}
	add(&p.Rates)
	for i := range p.Tiers {
		add(&p.Tiers[i].Rates)
	}
	for i := range p.Since {
		add(&p.Since[i].Rates)
		for j := range p.Since[i].Tiers {
			add(&p.Since[i].Tiers[j].Rates)
		}
	}
}

// row, tier and since are the rows of the table and their parts.
type (
	rates struct {
		Input      *float64 `json:"input,omitempty"`
		Output     *float64 `json:"output,omitempty"`
		CacheRead  *float64 `json:"cache_read,omitempty"`
		CacheWrite *float64 `json:"cache_write,omitempty"`
		Hour       *float64 `json:"cache_write_hour,omitempty"`
	}
	tier struct {
		Over    int64  `json:"over,omitempty"`
		Service string `json:"service,omitempty"`
		rates
	}
	since struct {
		Day string `json:"day"`
		rates
		Tiers []tier `json:"tiers,omitempty"`
	}
	row struct {
		Provider string `json:"provider"`
		ID       string `json:"id"`
		rates
		Tiers []tier   `json:"tiers,omitempty"`
		Since []since  `json:"since,omitempty"`
		Names []string `json:"names,omitempty"`
		Doubt string   `json:"doubt,omitempty"`
		AsOf  string   `json:"as_of"`
	}
)

func line(p price.Price) []byte {
	r := row{Provider: p.Provider, ID: p.ID, rates: ratesOf(p.Rates), Tiers: tiersOf(p.Tiers), Names: p.Names, Doubt: p.Doubt, AsOf: p.AsOf}
	for _, s := range p.Since {
		r.Since = append(r.Since, since{s.Day, ratesOf(s.Rates), tiersOf(s.Tiers)})
	}
	text, err := json.Marshal(r)
	fail(err)
	return text
}

func tiersOf(list []price.Tier) (tiers []tier) {
	for _, t := range list {
		tiers = append(tiers, tier{t.Over, t.Service, ratesOf(t.Rates)})
	}
	return tiers
}

func ratesOf(r price.Rates) rates {
	of := func(r price.Rate) *float64 {
		if !r.Known {
			return nil
		}
		return &r.USD
	}
	return rates{of(r.Input), of(r.Output), of(r.CacheRead), of(r.CacheWrite), of(r.CacheWriteHour)}
}
