package ui

import (
	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
)

// bill is what the turns of a session cost. It is a function of the session:
// only turns whose usage changed are computed again, so that a frame only
// looks things up.
type bill struct {
	prices  *price.Table
	session *stream.Session
	seen    int // turns of the session that were looked at
	figures map[*stream.Turn]price.Figure
	ended   price.Total // of the turns that have ended
	open    []openTurn
}

// openTurn is a turn whose cost may still change, and what it was computed of.
type openTurn struct {
	turn  *stream.Turn
	usage stream.Usage
	model string
}

// extend takes what is new in the session.
func (b *bill) extend(in *providers.Inspector) {
	s := in.Session()
	if b.session != s {
		*b = bill{prices: b.prices, session: s, figures: map[*stream.Turn]price.Figure{}}
	}
	for ; b.seen < len(s.Turns); b.seen++ {
		t := s.Turns[b.seen]
		b.open = append(b.open, openTurn{turn: t})
		b.figures[t] = b.prices.Turn(t, urlOf(in, t))
	}
	still := b.open[:0]
	for _, o := range b.open {
		t := o.turn
		if t.Closed() || t.Usage != o.usage || t.Model != o.model {
			o.usage, o.model = t.Usage, t.Model
			b.figures[t] = b.prices.Turn(t, urlOf(in, t))
		}
		if t.Closed() {
			b.ended.Add(b.figures[t])
		} else {
			still = append(still, o)
		}
	}
	b.open = still
}

func urlOf(in *providers.Inspector, t *stream.Turn) string {
	if x := in.Exchange(t.Exchange); x != nil {
		return x.Head.URL
	}
	return ""
}

// of is what a turn has cost so far.
func (b *bill) of(t *stream.Turn) price.Figure { return b.figures[t] }

// total is what all turns have cost so far. A turn that has not ended and whose
// cost is not known yet makes it approximate.
func (b *bill) total() price.Total {
	t := b.ended
	for _, o := range b.open {
		if f := b.figures[o.turn]; f.Known() {
			t.Add(f)
		} else {
			t.Approximate = true
		}
	}
	return t
}

// costFacts are what a turn and all turns cost, in words, and the day the prices
// were true.
func (m *Model) costFacts(t *stream.Turn) []fact {
	cost, total := m.bill.of(t), m.bill.total()
	text := cost.String()
	switch cost.Source {
	case price.Unknown:
		text = m.pen.glyph.none.String() + " " + cost.Why
	case price.FromProvider:
		text += ", as the provider says"
	case price.Free:
		text += ", it runs locally"
	}
	if cost.Known() && cost.Why != "" {
		text += ", " + cost.Why
	}
	facts := []fact{{word: "cost", text: text}}
	if len(m.in.Session().Turns) == 1 {
		total = price.Total{}
	}
	if text := total.String(); text != "" {
		facts = append(facts, fact{word: "all turns", text: text})
	}
	switch day := cost.AsOf; {
	case day != "" && total.AsOf != "" && total.AsOf != day:
		facts = append(facts, fact{word: "prices of", text: day + ", of all turns " + total.AsOf})
	case day != "" || total.AsOf != "":
		facts = append(facts, fact{word: "prices of", text: max(day, total.AsOf)})
	}
	return facts
}
