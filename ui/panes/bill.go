package panes

import (
	"cmp"
	"hash/maphash"
	"slices"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/display"
)

// Costs computes the costs of a session's turns. Extend updates only turns with new events, so drawing a
// frame only reads the results.
type Costs struct {
	Prices  *price.Table
	view    *providers.View
	begun   int32                // the first event that may begin a turn not yet counted
	figures map[int32]cachedCost // figures of some turns, by number
	seed    maphash.Seed         // seed of the keys in figures
	ended   price.Sum            // total of the turns that have ended
	shares  sessionCosts         // the same, by conversation and session
	open    []openTurn           // in the order they began
	total   price.Sum
	rates   tokenRates
}

// tokenRates is the text of the token prices of a turn.
type tokenRates struct {
	of   uint64
	text string
}

// cachedCost is the cost of a turn, and the key of its inputs.
type cachedCost struct {
	key    uint64
	figure price.Figure
}

// openTurn is a turn whose cost may still change, and the inputs of its figure.
type openTurn struct {
	turn, began int32
	usage       stream.Usage
	model       string
	figure      price.Figure
	ask         *stream.RequestInfo
}

// Extend updates the costs of new and changed turns.
func (b *Costs) Extend(v *providers.View, news *Changes) {
	b.view = v
	changed := false
	if news.All {
		figures := b.figures // stepping through time needs the same figures again
		if figures == nil || !v.Past() {
			figures, b.seed = map[int32]cachedCost{}, maphash.MakeSeed()
		}
		*b = Costs{Prices: b.Prices, view: v, figures: figures, seed: b.seed, rates: b.rates}
		for _, t := range v.Session().Turns {
			changed = b.updateTurn(t) || changed
		}
	}
	for _, number := range news.Turns {
		if t := v.Session().Turn(number); t != nil {
			changed = b.updateTurn(t) || changed
		}
	}
	b.begun = int32(v.Events())
	if changed {
		b.sumTotal()
	}
}

// updateTurn updates a turn, and reports whether its cost may have changed.
func (b *Costs) updateTurn(t *stream.Turn) (changed bool) {
	i, known := slices.BinarySearchFunc(b.open, t.OpenedBy, func(o openTurn, began int32) int { return cmp.Compare(o.began, began) })
	if !known {
		if t.OpenedBy < b.begun {
			return false // it had ended
		}
		b.open = slices.Insert(b.open, i, openTurn{turn: t.Number, began: t.OpenedBy, ask: t.Request})
	}
	o := &b.open[i]
	if known && !t.Closed() && t.Usage == o.usage && t.Model == o.model {
		return false
	}
	o.usage, o.model, o.figure = t.Usage, t.Model, b.figureOf(t)
	if t.Closed() {
		o.addTo(&b.ended)
		b.shares.addTurn(o)
		b.open = slices.Delete(b.open, i, i+1)
	}
	return true
}

// sumTotal adds up the total.
func (b *Costs) sumTotal() {
	b.total = b.ended
	for i := range b.open {
		b.open[i].addOpen(&b.total)
	}
}

// addOpen adds a turn that has not ended.
func (o *openTurn) addOpen(to *price.Sum) {
	switch {
	case o.figure.Known():
		o.addTo(to)
	case !o.isBackground():
		to.Approximate = true
	}
}

func (o *openTurn) isBackground() bool { return o.ask != nil && o.ask.Background }

// addTo adds the cost of a turn. An uncertain background request does not make the sum uncertain.
func (o *openTurn) addTo(to *price.Sum) {
	f := o.figure
	if o.isBackground() {
		f.Approximate = false
		if !f.Known() {
			return
		}
	}
	to.Add(f)
}

// maxFigures is the maximum size of the cache. A dropped figure is computed again. The cache is larger
// while the screen shows the past, because each step back sums up all turns.
const (
	maxFigures     = 1 << 12
	maxPastFigures = 1 << 15
)

// figureOf returns the cost of a turn so far, from the cache if its inputs are the same.
func (b *Costs) figureOf(t *stream.Turn) price.Figure {
	of, most := b.costKey(t), maxFigures
	known, ok := b.figures[t.Number]
	if ok && known.key == of {
		return known.figure
	}
	if b.view.Past() {
		most = maxPastFigures
	}
	if len(b.figures) >= most {
		clear(b.figures)
	}
	f := b.Prices.Turn(t, headOf(b.view, t))
	b.figures[t.Number] = cachedCost{of, f}
	return f
}

// costKey hashes all inputs of a turn's cost, except the provider, which does not change.
func (b *Costs) costKey(t *stream.Turn) uint64 {
	return maphash.Comparable(b.seed, struct {
		usage          stream.Usage
		model, dialect string
		exchange       int
		phase          stream.TurnPhase
		closed, unseen bool
	}{t.Usage, t.Model, t.Protocol, t.Exchange, t.Phase(), t.Closed(), t.HasGap()})
}

func headOf(v *providers.View, t *stream.Turn) stream.Head {
	if x := v.Exchange(t.Exchange); x != nil {
		return *x.Head
	}
	return stream.Head{}
}

// CostOf returns the cost of a turn so far.
func (b *Costs) CostOf(t *stream.Turn) price.Figure { return b.figureOf(t) }

// ratesOf returns the token prices of a turn, for the kinds of tokens that it has.
func (b *Costs) ratesOf(t *stream.Turn) string {
	of := b.costKey(t)
	if b.rates.text != "" && b.rates.of == of {
		return b.rates.text
	}
	r, u := b.Prices.Rates(t, headOf(b.view, t)), &t.Usage
	text := ""
	for _, kind := range []struct {
		word string
		rate price.Rate
		n    stream.Count
	}{{"in", r.Input, u.Input}, {"cached", r.CacheRead, u.CacheRead}, {"cache write", r.CacheWrite, u.CacheWrite},
		{"1 h cache write", r.CacheWriteHour, u.CacheWriteHour}, {"out", r.Output, u.Output}} {
		if kind.rate.Known && kind.n.N > 0 {
			text += kind.word + " " + price.USD(kind.rate.USD) + ", "
		}
	}
	b.rates = tokenRates{of, text + "per million tokens"}
	return b.rates.text
}

// Total returns the cost of all turns so far. It is approximate if the cost of an open turn is still
// unknown.
func (b *Costs) Total() price.Sum { return b.total }

// costFacts returns the cost of a turn and of all turns, and the date of the prices.
func (b *Costs) costFacts(t *stream.Turn, none display.Text) []fact {
	cost, total := b.CostOf(t), b.Total()
	text := cost.String()
	switch cost.Source {
	case price.Unknown:
		text = none.String() + " " + cost.Why
	case price.FromProvider:
		text += ", from the provider"
	case price.Free:
		text += ", runs locally"
	}
	if cost.Known() && cost.Why != "" {
		text += ", " + cost.Why
	}
	facts := []fact{{word: "cost", text: text}}
	if cost.Source == price.FromTable {
		facts = append(facts, fact{word: "rates", text: b.ratesOf(t)})
	}
	if len(b.view.Session().Turns) == 1 {
		total = price.Sum{}
	}
	if text := total.String(); text != "" {
		facts = append(facts, fact{word: "all turns", text: text})
	}
	switch day := cost.AsOf; {
	case day != "" && total.AsOf != "" && total.AsOf != day:
		facts = append(facts, fact{word: "prices of", text: day + ", all turns " + total.AsOf})
	case day != "" || total.AsOf != "":
		facts = append(facts, fact{word: "prices of", text: max(day, total.AsOf)})
	}
	return facts
}
