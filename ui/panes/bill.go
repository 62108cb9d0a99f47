package panes

import (
	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/display"
)

// Bill is what the turns of a session cost. It is a function of the session: only turns whose usage
// changed are computed again, so that a frame only looks things up.
type Bill struct {
	Prices  *price.Table
	session *stream.Session
	seen    int                    // turns of the session that were looked at
	figures map[int32]price.Figure // by number of the turn
	ended   price.Total            // of the turns that have ended
	open    []openTurn
}

// openTurn is a turn whose cost may still change, and what it was computed of.
type openTurn struct {
	turn  int32
	usage stream.Usage
	model string
}

// Extend takes what is new in the session.
func (b *Bill) Extend(v *providers.View) {
	s := v.Session()
	if b.session != s {
		*b = Bill{Prices: b.Prices, session: s, figures: map[int32]price.Figure{}}
	}
	for ; b.seen < len(s.Turns); b.seen++ {
		t := s.Turns[b.seen]
		b.open = append(b.open, openTurn{turn: t.Number})
		b.figures[t.Number] = b.Prices.Turn(t, urlOf(v, t))
	}
	still := b.open[:0]
	for _, o := range b.open {
		t := s.Turn(o.turn)
		if t.Closed() || t.Usage != o.usage || t.Model != o.model {
			o.usage, o.model = t.Usage, t.Model
			b.figures[t.Number] = b.Prices.Turn(t, urlOf(v, t))
		}
		if t.Closed() {
			b.ended.Add(b.figures[t.Number])
		} else {
			still = append(still, o)
		}
	}
	b.open = still
}

func urlOf(v *providers.View, t *stream.Turn) string {
	if x := v.Exchange(t.Exchange); x != nil {
		return x.Head.URL
	}
	return ""
}

// Of is what a turn has cost so far.
func (b *Bill) Of(t *stream.Turn) price.Figure { return b.figures[t.Number] }

// Total is what all turns have cost so far. A turn that has not ended and whose cost is not known
// yet makes it approximate.
func (b *Bill) Total() price.Total {
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

// costFacts are what a turn and all turns cost, in words, and the day the prices were true.
func (b *Bill) facts(t *stream.Turn, none display.Text) []fact {
	cost, total := b.Of(t), b.Total()
	text := cost.String()
	switch cost.Source {
	case price.Unknown:
		text = none.String() + " " + cost.Why
	case price.FromProvider:
		text += ", as the provider says"
	case price.Free:
		text += ", it runs locally"
	}
	if cost.Known() && cost.Why != "" {
		text += ", " + cost.Why
	}
	facts := []fact{{word: "cost", text: text}}
	if len(b.session.Turns) == 1 {
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
