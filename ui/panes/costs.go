package panes

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Costs computes the costs of a session's turns. Extend updates only turns with new events, so drawing a
// frame only reads the results.
type Costs struct {
	Prices  *price.Table
	view    *providers.View
	begun   int32                // number of events at the last Extend; turns that began earlier are already counted
	figures map[int32]cachedCost // costs of some turns, by turn number
	seed    maphash.Seed         // hash seed for cachedCost.key
	ended   price.Sum            // total of the turns that have ended
	shares  sessionCosts         // the total by conversation and by session
	open    []openTurn           // in the order in which they began
	total   price.Sum
	rates   tokenRates
}

// tokenRates caches the text of one turn's token prices.
type tokenRates struct {
	of   uint64
	text string
}

// cachedCost is the cost of a turn, and the key for its inputs.
type cachedCost struct {
	key    uint64
	figure price.Figure
}

// openTurn is a turn whose cost may still change, and the inputs for its figure.
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
		b.total = b.ended
		for i := range b.open {
			b.open[i].addOpen(&b.total)
		}
	}
}

// updateTurn computes the cost of an open turn again, and reports whether it may have changed.
func (b *Costs) updateTurn(t *stream.Turn) (changed bool) {
	i, known := slices.BinarySearchFunc(b.open, t.OpenedBy, func(o openTurn, began int32) int { return cmp.Compare(o.began, began) })
	if !known {
		if t.OpenedBy < b.begun {
			return false // the turn had already ended
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

// addOpen adds a turn that has not ended. If its cost is unknown, the sum becomes approximate, unless the
// turn is a background request.
func (o *openTurn) addOpen(to *price.Sum) {
	switch {
	case o.figure.Known():
		o.addTo(to)
	case !o.isBackground():
		to.Approximate = true
	}
}

func (o *openTurn) isBackground() bool { return o.ask != nil && o.ask.Background }

// addTo adds the cost of a turn to a sum. An uncertain background request does not make the sum uncertain.
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

// Maximum sizes of the cache. A dropped figure is computed again when it is needed. The cache is larger while the
// screen shows the past, because each step back adds up all turns.
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

// costKey hashes all inputs for a turn's cost except the provider, which does not change.
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

// ratesOf returns the token prices for a turn, for each kind of token that it has.
func (b *Costs) ratesOf(t *stream.Turn) string {
	of := b.costKey(t)
	if b.rates.text != "" && b.rates.of == of {
		return b.rates.text
	}
	r, u := b.Prices.Rates(t, headOf(b.view, t)), &t.Usage
	var rates []string
	for _, kind := range []struct {
		word string
		rate price.Rate
		n    stream.Count
	}{{"in", r.Input, u.Input}, {"cached", r.CacheRead, u.CacheRead}, {"cache write", r.CacheWrite, u.CacheWrite},
		{"1 h cache write", r.CacheWriteHour, u.CacheWriteHour}, {"out", r.Output, u.Output}, {"audio in", r.AudioInput, u.InputAudio}, {"audio out", r.AudioOutput, u.OutputAudio}} {
		if kind.rate.Known && kind.n.N > 0 {
			rates = append(rates, kind.word+" "+price.USD(kind.rate.USD))
		}
	}
	b.rates = tokenRates{of, strings.Join(rates, ", ") + " per million"}
	return b.rates.text
}

// Total returns the cost of all turns so far. The total is also approximate while the cost of an open turn is
// unknown, except for background requests.
func (b *Costs) Total() price.Sum { return b.total }

// costFacts returns the cost of a turn, the cost of all turns, and the date of the prices.
func (b *Costs) costFacts(t *stream.Turn, g *screen.Glyphs) []fact {
	cost, total := b.CostOf(t), b.Total()
	text := cost.String()
	switch cost.Source {
	case price.Unknown:
		text = g.None.String() + " " + cost.Why
	case price.FromProvider:
		text += ", from the provider"
	case price.Free:
		text += ", runs locally"
	}
	switch {
	case cost.Approximate:
		text += " estimated"
	case cost.Source == price.FromTable:
		text += " exact"
	}
	if cost.Known() && cost.Why != "" {
		text += ", " + cost.Why
	}
	table := func(day string) string {
		if day == "" {
			return ""
		}
		return fmt.Sprintf(" %s as of %s", g.Dot, day)
	}
	if cost.Source == price.FromTable {
		text += "   " + b.ratesOf(t)
	}
	facts := []fact{{word: "cost", text: text + table(cost.AsOf)}}
	if len(b.view.Session().Turns) == 1 {
		total = price.Sum{}
	}
	if text := total.String(); text != "" {
		if total.AsOf != cost.AsOf {
			text += table(total.AsOf)
		}
		facts = append(facts, fact{word: "all turns", text: text})
	}
	return facts
}

// minAmount is the text for an amount too small for eight cells.
const minAmount = "<$0.0001"

// TotalCost formats a sum as the list does a cost, and adds the number of turns with an unknown cost.
func TotalCost(p *screen.Pen, t price.Sum) display.Text {
	if t.Paid == 0 {
		return p.Clean(t.String())
	}
	text := p.Clean(dollarText(t.USD, t.Approximate))
	if t.Unknown > 0 {
		text = display.Join(text, p.Format(" %s %d without a price", p.Glyph.Dot, t.Unknown))
	}
	return text
}

// dollarText formats an amount, usually in eight cells. Amounts under a dollar have up to three significant digits,
// and larger ones have two decimals. An approximate amount has a tilde and three decimals, but it has four under
// $0.001 and none from $100 on.
func dollarText(usd float64, approximate bool) string {
	switch {
	case usd > 0 && (usd < 0.000005 || approximate && usd < 0.00005):
		return minAmount
	case approximate && usd >= 100:
		return fmt.Sprintf("~$%.0f", usd)
	case approximate && usd >= 0.00005 && usd < 0.001:
		return fmt.Sprintf("~$%.4f", usd)
	case approximate:
		return fmt.Sprintf("~$%.3f", usd)
	}
	decimals := 2
	for under := 0.995; usd < under && decimals < 5; under /= 10 { // three significant digits
		decimals++
	}
	text := fmt.Sprintf("$%.*f", decimals, usd)
	for decimals > 2 && strings.HasSuffix(text, "0") {
		text, decimals = text[:len(text)-1], decimals-1
	}
	return text
}

// sessionCosts are the costs of the ended turns, by conversation and by session. If there are too many
// conversations, the oldest are dropped, and so are their sessions.
type sessionCosts struct {
	conversations map[int32]*turnCosts
	sessions      map[string]*turnCosts
	order         []*stream.RequestInfo // request of the first turn of each conversation, in order
}

// turnCosts is the cost of some turns.
type turnCosts struct {
	price.Sum
	turns int
}

// maxConversations is the maximum number of conversations that are kept.
const maxConversations = 1 << 12

// addTurn adds a turn that has ended. It ignores a turn that belongs to no conversation.
func (s *sessionCosts) addTurn(o *openTurn) {
	if o.ask == nil || o.ask.Conversation == 0 {
		return
	}
	if s.conversations == nil {
		s.conversations, s.sessions = map[int32]*turnCosts{}, map[string]*turnCosts{}
	}
	of := s.conversations[o.ask.Conversation]
	if of == nil {
		of = new(turnCosts)
		s.conversations[o.ask.Conversation] = of
		if s.sessions[o.ask.Session] == nil {
			s.sessions[o.ask.Session] = new(turnCosts)
		}
		if s.order = append(s.order, o.ask); len(s.order) > maxConversations {
			delete(s.conversations, s.order[0].Conversation)
			delete(s.sessions, s.order[0].Session)
			s.order = s.order[1:]
		}
	}
	for _, to := range []*turnCosts{of, s.sessions[o.ask.Session]} {
		if to != nil {
			o.addTo(&to.Sum)
			to.turns++
		}
	}
}

// ConversationCost returns the cost of a conversation so far.
func (b *Costs) ConversationCost(lane int32) price.Sum {
	return b.costWithOpen(b.shares.conversations[lane], func(a *stream.RequestInfo) bool { return a.Conversation == lane }).Sum
}

// costWithOpen adds the open turns to the cost of the ended ones.
func (b *Costs) costWithOpen(ended *turnCosts, is func(*stream.RequestInfo) bool) (all turnCosts) {
	if ended != nil {
		all = *ended
	}
	for i := range b.open {
		if o := &b.open[i]; o.ask != nil && is(o.ask) {
			o.addOpen(&all.Sum)
			all.turns++
		}
	}
	return all
}

// prefixSums is a list of counts with fast prefix sums: finding the sum before an element, or the element at
// a sum, takes logarithmic time. It is a Fenwick tree.
type prefixSums struct {
	sums []int // sums[i-1] is the sum of the i&-i counts up to and including the i-th
}

func (t *prefixSums) len() int { return len(t.sums) }

// push adds an element.
func (t *prefixSums) push(n int) {
	i := len(t.sums) + 1
	for j := i - 1; j > i-i&-i; j -= j & -j {
		n += t.sums[j-1]
	}
	t.sums = append(t.sums, n)
}

// countOf returns the count of element i.
func (t *prefixSums) countOf(i int) (n int) {
	n = t.sums[i]
	for j, from := i, i&(i+1); j > from; j -= j & -j {
		n -= t.sums[j-1]
	}
	return n
}

// set changes the count of element i, and reports whether the old count was different.
func (t *prefixSums) set(i, n int) bool {
	more := n - (t.sumBefore(i+1) - t.sumBefore(i))
	for i++; i <= len(t.sums) && more != 0; i += i & -i {
		t.sums[i-1] += more
	}
	return more != 0
}

// sumBefore returns the sum of the first i counts.
func (t *prefixSums) sumBefore(i int) (sum int) {
	for ; i > 0; i -= i & -i {
		sum += t.sums[i-1]
	}
	return sum
}

// elementAt returns the element at a sum, and the remainder within that element. After the last element it
// returns len.
func (t *prefixSums) elementAt(sum int) (i, rest int) {
	for step := 1 << bits.Len(uint(len(t.sums))); step > 0; step /= 2 {
		if i+step <= len(t.sums) && t.sums[i+step-1] <= sum {
			i += step
			sum -= t.sums[i-1]
		}
	}
	return i, sum
}
