package price

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolscope/stream"
)

// sourceFile reads one of the price lists from which the table was built. They are in the folder prices next
// to the corpus.
func sourceFile(t *testing.T, name string) []byte {
	corpus := os.Getenv("TOOLSCOPE_CORPUS")
	if corpus == "" {
		t.Skip("TOOLSCOPE_CORPUS is not set")
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(corpus), "prices", name))
	if err != nil {
		t.Skip(err)
	}
	return text
}

// sampleUsages lists usages whose cost can be computed from a price list without this package.
var sampleUsages = []struct {
	name                       string
	input, read, write, output float64
	audioInput, audioOutput    float64
	searches                   float64
}{
	{name: "plain", input: 3000, output: 700},
	{name: "cached", input: 9000, read: 4000, write: 1000, output: 300},
	{name: "long", input: 420_000, output: 50},
	{name: "spoken", input: 2000, audioInput: 800, output: 900, audioOutput: 400},
	{name: "searched", input: 2000, output: 900, searches: 3},
}

// sourceRates contains the rates in a list, in dollars per million tokens. 0 means unknown.
type sourceRates struct{ input, output, read, write, audioInput, audioOutput, searches float64 }

// TestAgainstSources checks that the cost of each turn agrees with the lists, unless it is marked as
// approximate. A model in the newer list is not compared with the older list.
func TestAgainstSources(t *testing.T) {
	table := Embedded()
	compared, approximate := 0, 0
	compare := func(seller, id string, rates func(input float64) sourceRates) {
		p, ok := table.At(SellerNamed(seller), id)
		if !ok {
			return // an unknown cost is not wrong
		}
		for _, u := range sampleUsages {
			r := rates(u.input)
			if u.read+u.write > 0 && (r.read == 0 || r.write == 0) || u.audioInput > 0 && (r.audioInput == 0 || r.audioOutput == 0) || u.searches > 0 && r.searches == 0 {
				continue
			}
			usage := tokens(int64(u.input), int64(u.read), int64(u.write), 0, int64(u.output))
			usage.InputAudio, usage.OutputAudio = stream.Tokens(int64(u.audioInput)), stream.Tokens(int64(u.audioOutput))
			usage.WebSearches = stream.Tokens(int64(u.searches))
			want := ((u.input-u.read-u.write-u.audioInput)*r.input+u.read*r.read+u.write*r.write+u.audioInput*r.audioInput+
				(u.output-u.audioOutput)*r.output+u.audioOutput*r.audioOutput)/1e6 + u.searches*r.searches/1e3
			f := Cost(usage, p.onDay("2026-11-10", usage.Input.N, ""))
			compared++
			if f.Approximate {
				approximate++
			} else if math.Abs(f.USD-want) > 2e-9+want*1e-6 {
				t.Errorf("%s of %s, %s: $%.9f, but the list says $%.9f", id, seller, u.name, f.USD, want)
			}
		}
	}

	newer := map[string]bool{}
	type cost struct {
		Input, Output, CacheRead, CacheWrite float64
		InputTokensAbove                     float64
	}
	catalog := json.NewDecoder(strings.NewReader(string(sourceFile(t, "catalog.jsonl"))))
	for catalog.More() {
		var m struct {
			Provider, ID string
			Cost         struct {
				cost
				Tiers []cost
			}
		}
		if err := catalog.Decode(&m); err != nil {
			t.Fatal(err)
		}
		if m.Cost.Input+m.Cost.Output == 0 {
			continue
		}
		newer[SellerNamed(m.Provider)+"\x00"+strings.ToLower(m.ID)] = true
		compare(m.Provider, m.ID, func(input float64) sourceRates {
			c := m.Cost.cost
			for _, tier := range m.Cost.Tiers {
				if input > tier.InputTokensAbove && tier.InputTokensAbove >= c.InputTokensAbove {
					c = tier
				}
			}
			return sourceRates{input: c.Input, output: c.Output, read: c.CacheRead, write: c.CacheWrite}
		})
	}

	var list []struct {
		ID     string
		Models []struct {
			ID     string
			Prices json.RawMessage
		}
	}
	if err := json.Unmarshal(sourceFile(t, "genai-prices.json"), &list); err != nil {
		t.Fatal(err)
	}
	for _, seller := range list {
		for _, m := range seller.Models {
			prices := map[string]json.RawMessage{}
			var dated []struct {
				Constraint struct {
					Date string `json:"start_date"`
					Time string `json:"start_time"`
				}
				Prices map[string]json.RawMessage
			}
			if json.Unmarshal(m.Prices, &dated) == nil {
				for _, d := range dated {
					if d.Constraint.Date <= "2026-09-23" && d.Constraint.Time == "" {
						prices = d.Prices
					}
				}
			} else if err := json.Unmarshal(m.Prices, &prices); err != nil {
				t.Fatal(err)
			}
			if newer[SellerNamed(seller.ID)+"\x00"+strings.ToLower(m.ID)] || prices["input_mtok"] == nil || prices["output_mtok"] == nil {
				continue
			}
			compare(seller.ID, m.ID, func(input float64) sourceRates {
				rate := func(name string) (usd float64) {
					var tiered struct {
						Base  float64
						Tiers []struct{ Start, Price float64 }
					}
					if json.Unmarshal(prices[name], &usd) == nil || json.Unmarshal(prices[name], &tiered) != nil {
						return usd
					}
					usd = tiered.Base
					for _, tier := range tiered.Tiers {
						if input > tier.Start {
							usd = tier.Price
						}
					}
					return usd
				}
				return sourceRates{
					rate("input_mtok"), rate("output_mtok"), rate("cache_read_mtok"), rate("cache_write_mtok"),
					rate("input_audio_mtok"), rate("output_audio_mtok"), rate("web_searches_kcount"),
				}
			})
		}
	}
	t.Logf("%d costs compared, %d of them approximate", compared, approximate)
	if compared < 5000 || approximate > compared/3 {
		t.Errorf("%d costs compared, %d of them approximate", compared, approximate)
	}
}
