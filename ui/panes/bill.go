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

// Costs is what the turns of a session cost. It is a function of the session: only turns that events
// were about are looked at again, so that a frame only looks things up.
type Costs struct {
	Prices  *price.Table
	view    *providers.View
	begun   int32                // the first event that may begin a turn that was not looked at
	figures map[int32]cachedCost // of some turns, by number
	seed    maphash.Seed         // of what they were computed of
	ended   price.Sum            // of the turns that have ended
	shares  sessionCosts         // of that, by lane and session
	open    []openTurn           // in the order they began
	total   price.Sum
	rates   tokenRates
}

// tokenRates are what the tokens of a turn are counted at, in words.
type tokenRates struct {
	of   uint64
	text string
}

// cachedCost is a figure, and of what it was computed.
type cachedCost struct {
	key    uint64
	figure price.Figure
}

// openTurn is a turn whose cost may still change, and what it was computed of.
type openTurn struct {
	turn, began int32
	usage       stream.Usage
	model       string
	figure      price.Figure
	ask         *stream.RequestInfo
}

// Extend takes what is new in the session.
func (b *Costs) Extend(v *providers.View, news *Changes) {
	b.view = v
	changed := false
	if news.All {
		figures := b.figures // who walks in time asks for the same again
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

// updateTurn takes what is new of a turn, and reports whether that changes what it costs.
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

// addTo adds what a turn cost. What is not certain of a side request says nothing of the rest.
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

// maxFigures is how many figures are remembered: those of turns that are not looked at can be
// computed again. Of the past there are more: whoever walks back has all that there was added up.
const (
	maxFigures     = 1 << 12
	maxPastFigures = 1 << 15
)

// figureOf is what a turn has cost so far, as computed before of the same.
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

// costKey is all that decides what a turn costs, in a number: who was asked does not change.
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

// CostOf is what a turn has cost so far.
func (b *Costs) CostOf(t *stream.Turn) price.Figure { return b.figureOf(t) }

// ratesOf says what the tokens of a turn are counted at: those of which there are some.
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

// Total is what all turns have cost so far. A turn that has not ended and whose cost is not known
// yet makes it approximate.
func (b *Costs) Total() price.Sum { return b.total }

// costFacts are what a turn and all turns cost, in words, and the day the prices were true.
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
