package price

import (
	"slices"
	"strings"
	"sync"
)

// Table is a list of prices that can be asked. It is read when it is asked first: many a run asks
// for none.
type Table struct {
	list     func() []Price // what is in it; of two for a seller and model the last counts
	once     sync.Once
	rows     map[rowKey]Price
	ids      map[string][]rowKey     // the rows of that id, over all providers
	prefixes map[string][]namePrefix // rows that names may begin or end like, of each provider
	hosts    map[string]bool         // providers that are hosts

	asking sync.Mutex
	cached map[lookupKey]Price // what was asked lately: few models answer all turns
}

// lookupKey is what a price is asked for.
type lookupKey struct{ protocol, host, model string }

// maxAsked is how many questions are remembered.
const maxAsked = 1 << 8

// rowKey is a row's seller and model, in lower case.
type rowKey struct{ provider, id string }

// Embedded is the table the program was built with.
func Embedded() *Table {
	return &Table{list: func() []Price {
		rows, err := embeddedPrices()
		if err != nil {
			panic(err) // cannot be: a test reads it
		}
		return rows
	}}
}

// namePrefix is a name that may stand for many: a pattern without its asterisks.
type namePrefix struct {
	name   string
	behind bool // something may stand before it: a maker's name, a region
	row    rowKey
}

// With returns t with these rows added; one for a seller and model that t has takes its place.
func (t *Table) With(rows []Price) *Table {
	return &Table{list: func() []Price {
		if t.list == nil {
			return rows
		}
		return slices.Concat(t.list(), rows)
	}}
}

// buildIndex makes what is looked up in. It is done once.
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

// addAliases takes the other names of a row, where they are of no row themselves.
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

// findRow is the first of a seller's rows that has one of the names, or is the one of a snapshot so
// called. A name goes before a shorter one: a region of Bedrock's may have a price of its own.
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

// matchesName reports whether a name is that of a snapshot.
func (b namePrefix) matchesName(id string) bool {
	i := 0
	if b.behind {
		i = max(0, strings.LastIndex(id, b.name))
	}
	rest, ok := strings.CutPrefix(id[i:], b.name)
	return ok && isSnapshot(rest) && (i == 0 || strings.IndexByte("./", id[i-1]) >= 0)
}

// uniqueRow is the row that has one of the names, if no other seller has it too.
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

// sellersOf are the sellers that call a model so behind its maker's name: openai/gpt-oss-120b is
// gpt-oss-120b.
func (t *Table) sellersOf(id string) (sellers []string) {
	for k := range t.rows {
		if strings.HasSuffix(k.id, "/"+id) || strings.HasSuffix(k.id, "."+id) {
			sellers = append(sellers, k.provider)
		}
	}
	return sellers
}

// Models are the models that the table has of who sells at an address, sorted.
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
