package price

import (
	"slices"
	"strings"
	"sync"
)

// Table is a list of prices that can be asked. It is read when it is asked first: many a run asks
// for none.
type Table struct {
	list  func() []Price // what is in it; of two for a seller and model the last counts
	once  sync.Once
	rows  map[key]Price
	ids   map[string][]key   // the rows of that id, over all providers
	begin map[string][]begun // rows that names may begin or end like, of each provider
	hosts map[string]bool    // providers that are hosts

	asking sync.Mutex
	asked  map[question]Price // what was asked lately: few models answer all turns
}

// question is what a price is asked for.
type question struct{ dialect, host, model string }

// mostAsked is how many questions are remembered.
const mostAsked = 1 << 8

// key is a row's seller and model, in lower case.
type key struct{ provider, id string }

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

// begun is a name that may stand for many: a pattern without its asterisks.
type begun struct {
	name   string
	behind bool // something may stand before it: a maker's name, a region
	row    key
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

// read makes what is looked up in. It is done once.
func (t *Table) read() {
	t.rows, t.ids, t.hosts, t.begin = map[key]Price{}, map[string][]key{}, map[string]bool{}, map[string][]begun{}
	if t.list == nil {
		return
	}
	list := t.list()
	for _, p := range list {
		t.rows[p.key()] = p
	}
	for _, p := range list {
		t.alias(p)
	}
	for k := range t.rows {
		t.ids[k.id] = append(t.ids[k.id], k)
		t.hosts[k.provider] = strings.ContainsAny(k.provider, ".:") || k.provider == "localhost"
	}
}

func (p Price) key() key { return key{strings.ToLower(p.Provider), strings.ToLower(p.ID)} }

// alias takes the other names of a row, where they are of no row themselves.
func (t *Table) alias(p Price) {
	k := p.key()
	for _, name := range p.Names {
		name = strings.ToLower(name)
		bare := strings.Trim(name, "*")
		if bare != name {
			t.begin[k.provider] = append(t.begin[k.provider], begun{bare, name[0] == '*', k})
			continue
		}
		if _, taken := t.rows[key{k.provider, name}]; !taken {
			t.rows[key{k.provider, name}] = t.rows[k]
		}
	}
}

// row is the first of a seller's rows that has one of the names, or is the one of a snapshot so
// called. A name goes before a shorter one: a region of Bedrock's may have a price of its own.
func (t *Table) row(provider string, names []string) (Price, bool) {
	for _, id := range names {
		if p, ok := t.rows[key{provider, id}]; ok {
			return p, true
		}
		best := begun{}
		for _, b := range t.begin[provider] {
			if len(b.name) > len(best.name) && b.takes(id) {
				best = b
			}
		}
		if p, ok := t.rows[best.row]; ok {
			return p, true
		}
	}
	return Price{}, false
}

// takes reports whether a name is that of a snapshot.
func (b begun) takes(id string) bool {
	i := 0
	if b.behind {
		i = max(0, strings.LastIndex(id, b.name))
	}
	rest, ok := strings.CutPrefix(id[i:], b.name)
	return ok && isSnapshot(rest) && (i == 0 || strings.IndexByte("./", id[i-1]) >= 0)
}

// only is the row that has one of the names, if no other seller has it too.
func (t *Table) only(names []string) (p Price, sellers []string) {
	for _, id := range names {
		keys := t.ids[id]
		if len(keys) == 0 {
			continue
		}
		for _, k := range keys {
			sellers = append(sellers, k.provider)
		}
		if len(keys) == 1 && isReseller(keys[0].provider) {
			sellers = append(sellers, t.namesakes(id)...)
		}
		slices.Sort(sellers)
		sellers = slices.Compact(sellers)
		return t.rows[keys[0]], sellers
	}
	return Price{}, nil
}

// namesakes are the sellers that call a model so behind its maker's name: openai/gpt-oss-120b is
// gpt-oss-120b.
func (t *Table) namesakes(id string) (sellers []string) {
	for k := range t.rows {
		if strings.HasSuffix(k.id, "/"+id) || strings.HasSuffix(k.id, "."+id) {
			sellers = append(sellers, k.provider)
		}
	}
	return sellers
}

// Models are the models that the table has of who sells at an address, sorted.
func (t *Table) Models(address string) (ids []string) {
	t.once.Do(t.read)
	seller := sellerAt(hostOf(address))
	for k := range t.rows {
		if k.provider == seller && seller != "" {
			ids = append(ids, k.id)
		}
	}
	slices.Sort(ids)
	return ids
}
