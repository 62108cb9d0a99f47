package price

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed prices.json
var embedded []byte

// Table is a list of prices that can be asked. It is read when it is asked first: many a run asks
// for none.
type Table struct {
	list  func() []Price // what is in it; of two for a seller and model the last counts
	once  sync.Once
	rows  map[key]Price
	ids   map[string][]key // the rows of that id, over all providers
	hosts map[string]bool  // providers that are hosts
}

// key is a row's seller and model, in lower case.
type key struct{ provider, id string }

// Embedded is the table the program was built with.
func Embedded() *Table {
	return &Table{list: func() []Price {
		rows, err := Parse(embedded)
		if err != nil {
			panic(err) // cannot be: a test reads it
		}
		return rows
	}}
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
	t.rows, t.ids, t.hosts = map[key]Price{}, map[string][]key{}, map[string]bool{}
	if t.list == nil {
		return
	}
	for _, p := range t.list() {
		t.rows[key{strings.ToLower(p.Provider), strings.ToLower(p.ID)}] = p
	}
	for k := range t.rows {
		t.ids[k.id] = append(t.ids[k.id], k)
		t.hosts[k.provider] = strings.ContainsAny(k.provider, ".:") || k.provider == "localhost"
	}
}

// row is the first of a seller's rows that has one of the names.
func (t *Table) row(provider string, names []string) (Price, bool) {
	for _, id := range names {
		if p, ok := t.rows[key{provider, id}]; ok {
			return p, true
		}
	}
	return Price{}, false
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
		if len(keys) == 1 && resellers[keys[0].provider] {
			sellers = append(sellers, t.namesakes(id)...)
		}
		slices.Sort(sellers)
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
