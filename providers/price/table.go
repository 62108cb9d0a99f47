package price

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// Table is a list of prices for lookups.
type Table struct {
	Today string // day that is used for turns whose date is unknown; "" if prices are never too old

	*rowIndex
}

// rowIndex contains the rows of a table, and finds them by name. It is built when the first price is looked up,
// because many runs need none. All embedded tables share one index.
type rowIndex struct {
	list     func() []tableRow // rows; if several rows have the same seller and model, the last one is used
	once     sync.Once
	rows     map[rowKey]*tableRow
	ids      map[string][]rowKey     // rows with each id, over all providers
	prefixes map[string][]namePrefix // patterns in each provider's rows
	hosts    map[string]bool         // by provider: whether its name is a host

	asking sync.Mutex
	cached map[lookupKey]Price // recent lookups: a session uses only a few models
}

// tableRow is a row of a table. The price in an embedded row is parsed only when it is needed.
type tableRow struct {
	Price
	line []byte // the unparsed row; nil once it is parsed
}

// read returns the price of the row. If the row is embedded and not yet parsed, it is parsed first.
func (r *tableRow) read() Price {
	if r.line != nil {
		var row embeddedRow
		if err := json.Unmarshal(r.line, &row); err != nil {
			panic(err) // can't happen, because a test reads every row
		}
		r.Price = Price{
			Provider: row.Provider, ID: row.ID, Rates: row.asRates(), Tiers: tiersOf(row.Tiers), Names: row.Names, AsOf: row.AsOf, Doubt: row.Doubt,
		}
		for _, s := range row.Since {
			r.Since = append(r.Since, Change{s.Day, s.asRates(), tiersOf(s.Tiers)})
		}
		r.line = nil
	}
	return r.Price
}

// lookupKey is the input of a lookup.
type lookupKey struct{ protocol, host, model string }

// maxAsked is the maximum number of cached lookups.
const maxAsked = 1 << 8

// rowKey is a row's seller and model, in lower case.
type rowKey struct{ provider, id string }

// Embedded returns the table that is built into toolscope.
func Embedded() *Table { return &Table{rowIndex: &embeddedIndex} }

var embeddedIndex = rowIndex{list: embeddedRows}

// namePrefix is a pattern for names, without its asterisks.
type namePrefix struct {
	name   string
	behind bool // a maker's name or a region may precede it
	row    rowKey
}

// With returns t with the given rows added. A row replaces the earlier row for the same seller and model.
func (t *Table) With(rows []Price) *Table {
	return &Table{Today: t.Today, rowIndex: &rowIndex{list: func() (list []tableRow) {
		if t.rowIndex != nil {
			list = t.list()
		}
		for _, p := range rows {
			list = append(list, tableRow{Price: p})
		}
		return list
	}}}
}

// buildIndex builds the maps for lookups. Only the first call does so.
func (t *rowIndex) buildIndex() {
	list := t.list()
	t.rows, t.ids = make(map[rowKey]*tableRow, 2*len(list)), make(map[string][]rowKey, 2*len(list))
	t.hosts, t.prefixes = map[string]bool{}, map[string][]namePrefix{}
	for i := range list {
		t.rows[list[i].key()] = &list[i]
	}
	for i := range list {
		k := list[i].key()
		for _, name := range list[i].Names { // other names, which may have rows of their own
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
	for k := range t.rows {
		t.ids[k.id] = append(t.ids[k.id], k)
		t.hosts[k.provider] = strings.ContainsAny(k.provider, ".:") || k.provider == "localhost"
	}
}

func (p Price) key() rowKey { return rowKey{strings.ToLower(p.Provider), strings.ToLower(p.ID)} }

// findRow returns a seller's row for the first of the names that the table contains, either exactly or as a pattern.
// Longer names come first, because a region of Bedrock may have a price of its own. The second result is false if the
// table contains none of the names.
func (t *Table) findRow(provider string, names []string) (Price, bool) {
	for _, id := range names {
		if r, ok := t.rows[rowKey{provider, id}]; ok {
			return r.read(), true
		}
		best := namePrefix{}
		for _, b := range t.prefixes[provider] {
			if len(b.name) > len(best.name) && b.matchesName(id) {
				best = b
			}
		}
		if r, ok := t.rows[best.row]; ok {
			return r.read(), true
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

// uniqueRow returns a row for one of the names, and all sellers that have such a row.
func (t *Table) uniqueRow(names []string) (p Price, sellers []string) {
	for _, id := range names {
		keys := t.ids[id]
		if len(keys) == 0 {
			continue
		}
		for _, k := range keys {
			sellers = append(sellers, k.provider)
		}
		if len(keys) == 1 && IsReseller(keys[0].provider) {
			sellers = append(sellers, t.sellersOf(id)...)
		}
		slices.Sort(sellers)
		sellers = slices.Compact(sellers)
		return t.rows[keys[0]].read(), sellers
	}
	return Price{}, nil
}

// sellersOf returns the sellers that put the maker before the given name: openai/gpt-oss-120b is the model
// gpt-oss-120b.
func (t *Table) sellersOf(id string) (sellers []string) {
	for k := range t.rows {
		if strings.HasSuffix(k.id, "/"+id) || strings.HasSuffix(k.id, "."+id) {
			sellers = append(sellers, k.provider)
		}
	}
	return sellers
}

// At returns the price of a model at a seller.
func (t *Table) At(seller, model string) (Price, bool) {
	t.once.Do(t.buildIndex)
	t.asking.Lock()
	defer t.asking.Unlock()
	return t.findRow(strings.ToLower(seller), namesFor(model))
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

// The embedded table is read without checks, because a test checks it. Each line is a row that begins with the fields
// provider and id.

// embeddedRows returns the rows of the embedded table with their names. It doesn't parse the prices yet.
func embeddedRows() (list []tableRow) {
	list = make([]tableRow, 0, bytes.Count(embedded, []byte{'\n'}))
	for line := range bytes.Lines(embedded) {
		line = bytes.TrimRight(line, ",\n")
		rest, ok := bytes.CutPrefix(line, []byte(`{"provider":"`))
		if !ok {
			continue
		}
		provider, rest, _ := bytes.Cut(rest, []byte(`","id":"`))
		id, rest, _ := bytes.Cut(rest, []byte{'"'})
		r := tableRow{Price{Provider: string(provider), ID: string(id)}, line}
		if _, names, ok := bytes.Cut(rest, []byte(`"names":["`)); ok {
			names, _, _ = bytes.Cut(names, []byte(`"]`))
			r.Names = strings.Split(string(names), `","`)
		}
		list = append(list, r)
	}
	return list
}

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
	Over int64
	embeddedRates
	Doubt string
}

type embeddedRates struct {
	Input       jsonRate
	Output      jsonRate
	CacheRead   jsonRate `json:"cache_read"`
	CacheWrite  jsonRate `json:"cache_write"`
	Hour        jsonRate `json:"cache_write_hour"`
	AudioInput  jsonRate `json:"audio_input"`
	AudioCached jsonRate `json:"audio_cache_read"`
	AudioOutput jsonRate `json:"audio_output"`
	Searches    jsonRate `json:"web_searches"`
}

// jsonRate is a rate in a JSON text. It is known only if the text contains it.
type jsonRate Rate

// UnmarshalJSON implements json.Unmarshaler.
func (k *jsonRate) UnmarshalJSON(text []byte) error {
	k.Known = true
	return json.Unmarshal(text, &k.USD)
}

func (r embeddedRates) asRates() Rates {
	return Rates{
		Rate(r.Input), Rate(r.Output), Rate(r.CacheRead), Rate(r.CacheWrite), Rate(r.Hour),
		Rate(r.AudioInput), Rate(r.AudioCached), Rate(r.AudioOutput), Rate(r.Searches),
	}
}

func tiersOf(list []embeddedTier) (tiers []Tier) {
	for _, t := range list {
		tiers = append(tiers, Tier{Over: t.Over, Rates: t.asRates(), Doubt: t.Doubt})
	}
	return tiers
}
