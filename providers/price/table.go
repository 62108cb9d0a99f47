package price

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// Table is a list of prices to look up. It is read at the first lookup, because many runs need none.
type Table struct {
	list     func() []Price // its rows; of two rows for a seller and model, the last counts
	once     sync.Once
	rows     map[rowKey]Price
	ids      map[string][]rowKey     // the rows of that id, over all providers
	prefixes map[string][]namePrefix // patterns of each provider's rows
	hosts    map[string]bool         // providers that are hosts

	asking sync.Mutex
	cached map[lookupKey]Price // recent lookups: a session uses few models
}

// lookupKey is the input of a lookup.
type lookupKey struct{ protocol, host, model string }

// maxAsked is how many lookups are cached.
const maxAsked = 1 << 8

// rowKey is a row's seller and model, in lower case.
type rowKey struct{ provider, id string }

// Embedded returns the table that is built into the program.
func Embedded() *Table {
	return &Table{list: func() []Price {
		rows, err := embeddedPrices()
		if err != nil {
			panic(err) // impossible: a test reads it
		}
		return rows
	}}
}

// namePrefix is a pattern of names, without its asterisks.
type namePrefix struct {
	name   string
	behind bool // a maker's name or a region may precede it
	row    rowKey
}

// With returns t with these rows added. A row replaces that of the same seller and model.
func (t *Table) With(rows []Price) *Table {
	return &Table{list: func() []Price {
		if t.list == nil {
			return rows
		}
		return slices.Concat(t.list(), rows)
	}}
}

// buildIndex builds the maps for lookups, once.
func (t *Table) buildIndex() {
	t.rows, t.ids, t.hosts, t.prefixes = map[rowKey]Price{}, map[string][]rowKey{}, map[string]bool{}, map[string][]namePrefix{}
	if t.list == nil {
		return
	}
	list := t.list()
	for _, p := range list {
		t.rows[p.key()] = p
	}
	for _, p := range list {
		t.addAliases(p)
	}
	for k := range t.rows {
		t.ids[k.id] = append(t.ids[k.id], k)
		t.hosts[k.provider] = strings.ContainsAny(k.provider, ".:") || k.provider == "localhost"
	}
}

func (p Price) key() rowKey { return rowKey{strings.ToLower(p.Provider), strings.ToLower(p.ID)} }

// addAliases adds the other names of a row, unless they are rows themselves.
func (t *Table) addAliases(p Price) {
	k := p.key()
	for _, name := range p.Names {
		name = strings.ToLower(name)
		bare := strings.Trim(name, "*")
		if bare != name {
			t.prefixes[k.provider] = append(t.prefixes[k.provider], namePrefix{bare, name[0] == '*', k})
			continue
		}
		if _, taken := t.rows[rowKey{k.provider, name}]; !taken {
			t.rows[rowKey{k.provider, name}] = t.rows[k]
		}
	}
}

// findRow returns the first of a seller's rows that has one of the names, or a pattern that matches it.
// Longer names come first: a Bedrock region may have a price of its own.
func (t *Table) findRow(provider string, names []string) (Price, bool) {
	for _, id := range names {
		if p, ok := t.rows[rowKey{provider, id}]; ok {
			return p, true
		}
		best := namePrefix{}
		for _, b := range t.prefixes[provider] {
			if len(b.name) > len(best.name) && b.matchesName(id) {
				best = b
			}
		}
		if p, ok := t.rows[best.row]; ok {
			return p, true
		}
	}
	return Price{}, false
}

// matchesName reports whether the pattern matches the name of a snapshot.
func (b namePrefix) matchesName(id string) bool {
	i := 0
	if b.behind {
		i = max(0, strings.LastIndex(id, b.name))
	}
	rest, ok := strings.CutPrefix(id[i:], b.name)
	return ok && isSnapshot(rest) && (i == 0 || strings.IndexByte("./", id[i-1]) >= 0)
}

// uniqueRow returns a row that has one of the names, and all sellers that have one.
func (t *Table) uniqueRow(names []string) (p Price, sellers []string) {
	for _, id := range names {
		keys := t.ids[id]
		if len(keys) == 0 {
			continue
		}
		for _, k := range keys {
			sellers = append(sellers, k.provider)
		}
		if len(keys) == 1 && isReseller(keys[0].provider) {
			sellers = append(sellers, t.sellersOf(id)...)
		}
		slices.Sort(sellers)
		sellers = slices.Compact(sellers)
		return t.rows[keys[0]], sellers
	}
	return Price{}, nil
}

// sellersOf returns the sellers that put the maker before that name: openai/gpt-oss-120b is
// gpt-oss-120b.
func (t *Table) sellersOf(id string) (sellers []string) {
	for k := range t.rows {
		if strings.HasSuffix(k.id, "/"+id) || strings.HasSuffix(k.id, "."+id) {
			sellers = append(sellers, k.provider)
		}
	}
	return sellers
}

// Models returns the sorted ids of the models of the seller at an address.
func (t *Table) Models(address string) (ids []string) {
	t.once.Do(t.buildIndex)
	seller := sellerAt(hostOf(address))
	for k := range t.rows {
		if k.provider == seller && seller != "" {
			ids = append(ids, k.id)
		}
	}
	slices.Sort(ids)
	return ids
}

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
