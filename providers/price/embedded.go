package price

import (
	_ "embed"
	"encoding/json"
)

//go:embed prices.json
var embedded []byte

// The embedded table is read without checks, because a test checks it. Most runs need few prices and
// should not wait for the others.

// embeddedRow is a row in the form that Parse reads.
type embeddedRow struct {
	Provider, ID string
	embeddedRates
	Tiers []embeddedTier
	Since []struct {
		Day string
		embeddedRates
		Tiers []embeddedTier
	}
	Names []string
	Doubt string
	AsOf  string `json:"as_of"`
}

type embeddedTier struct {
	Over    int64
	Service string
	embeddedRates
}

type embeddedRates struct {
	Input      jsonRate
	Output     jsonRate
	CacheRead  jsonRate `json:"cache_read"`
	CacheWrite jsonRate `json:"cache_write"`
	Hour       jsonRate `json:"cache_write_hour"`
}

// jsonRate is a rate that is known if the text contains it.
type jsonRate Rate

// UnmarshalJSON implements json.Unmarshaler.
func (k *jsonRate) UnmarshalJSON(text []byte) error {
	k.Known = true
	return json.Unmarshal(text, &k.USD)
}

func (r embeddedRates) asRates() Rates {
	return Rates{Rate(r.Input), Rate(r.Output), Rate(r.CacheRead), Rate(r.CacheWrite), Rate(r.Hour)}
}

func embeddedPrices() (list []Price, err error) {
	var rows []embeddedRow
	err = json.Unmarshal(embedded, &rows)
	list = make([]Price, 0, len(rows))
	for _, r := range rows {
		p := Price{Provider: r.Provider, ID: r.ID, Rates: r.asRates(), Tiers: tiersOf(r.Tiers), Names: r.Names, AsOf: r.AsOf, Doubt: r.Doubt}
		for _, s := range r.Since {
			p.Since = append(p.Since, Change{s.Day, s.asRates(), tiersOf(s.Tiers)})
		}
		list = append(list, p)
	}
	return list, err
}

func tiersOf(list []embeddedTier) (tiers []Tier) {
	for _, t := range list {
		tiers = append(tiers, Tier{t.Over, t.Service, t.asRates()})
	}
	return tiers
}
