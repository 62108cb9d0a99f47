package stream

// Keeping is how much of a turn is kept. What two sessions share is not copied, so a session that
// was made of the past before a turn changed between these must not be used any more.
type Keeping uint8

const (
	Whole   Keeping = iota
	Cold            // the arguments and texts were let go, and can be had again: see Timeline.Warm
	Dropped         // a row is left: what is known of the turn itself, and the counts of its calls
)

// Drop lets go of a turn but for its row.
func (t *Timeline) Drop(number int32) {
	on := t.session.Turn(number)
	if on == nil || on.Kept == Dropped {
		return
	}
	for _, n := range on.blocks {
		b := &t.blocks[n]
		for i := range b.extra {
			if x := &b.extra[i]; b.facts.turn(int(x.event%blockFacts)) == number {
				x.what, x.text = nil, ""
			}
		}
		b.turns--
		b.letGo()
	}
	on.drop()
	t.letGone++
}

func (t *Turn) drop() {
	row := Turn{
		Number: t.Number, Exchange: t.Exchange, Dialect: t.Dialect, ID: t.ID, Model: t.Model, Parent: t.Parent, Ask: t.Ask,
		Next: t.Next, Returned: t.Returned, Usage: t.Usage, Finish: t.Finish, Means: t.Means, Failure: t.Failure,
		Events: t.Events, OpenedBy: t.OpenedBy, EndedBy: t.EndedBy, Missed: t.Missed, Kept: Dropped,
		OpenedAt: t.OpenedAt, ClosedAt: t.ClosedAt, FirstFrame: t.FirstFrame, LastFrame: t.LastFrame,
		finished: t.finished, finishCode: t.finishCode, failed: t.failed, closed: t.closed, closer: t.closer, cut: t.cut,
		gaps: t.gaps, blind: t.blind, session: t.session, edited: t.edited, whole: t.whole, content: t.session.nothing(),
	}
	if len(t.Calls) > 0 {
		row.was = new([NumStatus]int32)
	}
	for _, c := range t.Calls {
		row.was[c.Status()]++
	}
	*t = row
}

// Memory is about how many bytes the turn holds.
func (t *Turn) Memory() int {
	if t.Kept == Dropped {
		return 0
	}
	n := turnSize + t.Events*factSize + t.text.memory() + t.thinking.memory() + 64*len(t.Parts)
	for _, c := range t.Calls {
		n += callSize + cap(c.args.s) + 8*(c.deltas.n+c.lex.toks.n)
		for i := range c.SentBack {
			n += len(c.SentBack[i].Gave.Text)
		}
	}
	return n
}

const factSize = 24 // with what is beside some

func (s *said) memory() int { return cap(s.text.s) + 8*s.deltas.n }

// Trim has at most so many turns stay in Turns, if those that began first are dropped ones.
func (t *Timeline) Trim(rows int) {
	s := &t.session
	for len(s.Turns) > rows && s.Turns[0].Kept == Dropped {
		delete(s.index.odd, s.Turns[0].Number)
		s.Turns[0] = nil
		s.Turns = s.Turns[1:]
		s.gone++
		t.letGone++
	}
}

// Gone is how many turns that began first are not in Turns any more.
func (s *Session) Gone() int { return s.gone }

// nothing is the content of a turn that is not whole.
func (s *Session) nothing() *content {
	s.noContent.shared, s.noWriting.shared = true, true
	return &s.noContent
}

// coldCall is what is left of what was written of a call.
type coldCall struct {
	size, deltas int32
	syntax       Syntax
	rest         string // see writing.pack
}

// Cool lets go of what a turn was sent: its arguments and texts.
func (t *Timeline) Cool(number int32) {
	on := t.session.Turn(number)
	if on == nil || on.Kept != Whole {
		return
	}
	t.letGone++
	on.Kept, on.before = Cold, nil
	on.coldText = [2]int32{int32(len(on.Text)), int32(len(on.Thinking))}
	on.content = t.session.nothing()
	t.letGoOfResults(on)
	t.coolExtras(on)
	for _, c := range on.Calls {
		c.cold = &coldCall{size: int32(len(c.args.s)), deltas: int32(c.deltas.n), syntax: c.Syntax(), rest: c.pack(c.OpenedBy)}
		c.before, c.writing = nil, &t.session.noWriting
	}
}

// letGoOfResults lets go of the texts of what the tools of a turn gave. How many bytes there were
// stays.
func (t *Timeline) letGoOfResults(on *Turn) {
	for _, n := range on.blocks {
		for i := range t.blocks[n].extra {
			x := &t.blocks[n].extra[i]
			if r, ok := x.what.(*Resent); ok && r.Gave.Text != "" && t.blocks[n].facts.turn(int(x.event%blockFacts)) == on.Number {
				rest := *r
				rest.Gave.Text = ""
				x.what = &rest
			}
		}
	}
	for _, c := range on.Calls {
		for i := range c.SentBack {
			c.SentBack[i].Gave.Text = ""
		}
	}
}

// setPage puts what grows of a call in place.
func (c *Call) setPage(p page) {
	c.args, c.deltas, c.lex.toks, c.from = p.args, p.deltas, p.toks, p.from
}

// Warm gives a cold turn back what it was sent. other is a timeline of the same bytes, in which the
// turn has the number as; it must not be used any more. False means that they are not the same.
func (t *Timeline) Warm(number int32, other *Timeline, as int32) bool {
	on, again := t.session.Turn(number), other.session.Turn(as)
	if on == nil || again == nil || on.Kept != Cold || !again.fits(on) {
		return false
	}
	events, same := t.eventsAs(on, other, again)
	if !same || !t.warmExtras(on, other, again) {
		return false
	}
	on.mind()
	on.text, on.thinking = again.text.renumbered(events), again.thinking.renumbered(events)
	on.Text, on.Thinking, on.Parts = on.text.text.s, on.thinking.text.s, again.Parts
	for i, c := range on.Calls {
		c.warm(again.Calls[i], events)
		c.edited = t.session.now()
	}
	t.letGone++
	on.Kept, on.edited, on.whole = Whole, t.session.now(), t.session.era
	return true
}

// warm gives a call of a cold turn back what another one has that was sent the same.
func (c *Call) warm(from *Call, events map[int32]int32) {
	own := *from.writing
	own.unpack(c.cold.rest, c.OpenedBy)
	own.told = nil
	for i := range c.Findings {
		own.tells(c.Findings[i].Diagnosis)
	}
	own.pages = nil
	for _, p := range from.pages {
		own.pages = append(own.pages, p.renumbered(events))
	}
	c.writing, c.cold = &own, nil
	c.setPage(from.page().renumbered(events))
}

// fits reports whether a turn has as much text as a cold one had, and as many bytes in each call.
func (t *Turn) fits(cold *Turn) bool {
	if len(t.Calls) != len(cold.Calls) || cold.coldText != [2]int32{int32(len(t.Text)), int32(len(t.Thinking))} {
		return false
	}
	for i, c := range cold.Calls {
		if of := t.Calls[i]; len(of.args.s) != int(c.cold.size) || of.deltas.n != int(c.cold.deltas) || of.Name != c.Name {
			return false
		}
	}
	return true
}

// eventsAs is which events of t, about the turn on, those of another timeline are, about the turn
// again: of those that bring text. False means that they are others.
func (t *Timeline) eventsAs(on *Turn, other *Timeline, again *Turn) (events map[int32]int32, same bool) {
	ours, theirs := t.textEvents(on), other.textEvents(again)
	if len(ours) != len(theirs) {
		return nil, false
	}
	events = make(map[int32]int32, len(ours))
	for i, n := range theirs {
		events[n] = ours[i]
	}
	return events, true
}

// textEvents are the numbers of the events that brought text to a turn.
func (t *Timeline) textEvents(on *Turn) (events []int32) {
	for _, b := range on.blocks {
		list := &t.blocks[b].facts
		for i := range list.n {
			if list.turn(i) != on.Number {
				continue
			}
			switch f := list.at(i); f.says() {
			case Args, Rewrite, TextDelta, ThinkDelta:
				events = append(events, b*blockFacts+int32(i))
			}
		}
	}
	return events
}

func (s said) renumbered(events map[int32]int32) said {
	return said{s.text, renumbered(&s.deltas, events)}
}

func (p page) renumbered(events map[int32]int32) page {
	p.deltas = renumbered(&p.deltas, events)
	return p
}

// renumbered are deltas with other numbers of their events.
func renumbered(list *trail[Delta], events map[int32]int32) (out trail[Delta]) {
	for i := range list.n {
		d := list.at(i)
		out.add(Delta{d.End, events[d.Event]})
	}
	return out
}
