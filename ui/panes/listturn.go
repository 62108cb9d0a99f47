package panes

import (
	"path"
	"time"

	"toolscope/providers"
	"toolscope/providers/conversation"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// drawTurn writes a turn: its number and state, when it began, whose it is, the model, and what for;
// flush right how it went wrong, what it cost, and how long it took.
func (l *List) drawTurn(p *screen.Pen, t *stream.Turn, g screen.Surface, at listGrid) {
	st, look, word := turnState(t)
	if !isBad(st) || isBackground(t) {
		word = ""
	}
	if st == stream.Complete || isBackground(t) {
		look = screen.Muted
	}
	p.TextOn(screen.Muted, g, alignRight(p, p.Format("%d", t.Number+1), at.number))
	l.drawState(p, g, t.Ref(), t.Findings, st, look, at)
	r := listRow{word: p.Clean(word), look: look, size: l.costText(p, t), took: l.tookOf(t), role: screen.Plain, quiet: isBackground(t)}
	r.text, r.fullWidth = l.turnText(p, t, p.Left-at.stateWidth(r.word)-1, at)
	l.drawRow(p, g, at, r)
}

// costText is what a turn cost, or how much was answered where no model did.
func (l *List) costText(p *screen.Pen, t *stream.Turn) display.Text {
	cost := l.scene.Bill.CostOf(t)
	switch {
	case IsPlain(t):
		return bodySize(l.scene.View, t)
	case cost.Known():
		return shortCost(p, cost)
	case t.Closed() && !isBackground(t):
		return p.Glyph.None
	}
	return display.Text{}
}

// tookOf is how long a turn took, or has so far.
func (l *List) tookOf(t *stream.Turn) display.Text {
	if !t.Closed() {
		return screen.RoughTime(screen.Elapsed(t.OpenedAt, l.now))
	}
	return screen.RoughTime(screen.Elapsed(t.OpenedAt, t.ClosedAt))
}

// turnState is the state of a turn: of its first bad call, else of its own end.
func turnState(t *stream.Turn) (stream.Status, screen.Role, string) {
	for _, c := range t.Calls[:min(len(t.Calls), maxCallsChecked)] {
		if of := c.Status(); isBad(of) && !c.StoppedByClient() {
			return of, screen.CallRole(c), of.String()
		}
	}
	for of, n := range t.DroppedCounts() {
		if n > 0 && isBad(stream.Status(of)) {
			return stream.Status(of), screen.StatusRoles[of], stream.Status(of).String()
		}
	}
	st, look, word := screen.TurnLook(t)
	if isBad(st) {
		word = st.String()
	}
	return st, look, word
}

// maxCallsChecked is how many calls of a turn are looked at for its row.
const maxCallsChecked = 256

// turnText is a turn in words for so many cells, and whether it needs those of what it cost too. With
// less room there is less in it: first the purpose goes, then the model, the cost, the file, the
// seconds, and of the agent's name all but its letter.
func (l *List) turnText(p *screen.Pen, t *stream.Turn, whole int, at listGrid) (text display.Text, all bool) {
	room := whole - at.rightCells()
	clock := l.scene.Clock
	when, agent, file := turnTime(l.scene.View, t, clock, !l.who.several || room > minSecondsRoom), display.Text{}, display.Text{}
	wide := at.gap
	if l.who.several {
		at.gap = display.Lit(" ")
		agent = p.Pad(p.Truncate(p.Name(agentName(t.Request)), l.who.widest), l.who.widest)
	}
	if x := l.scene.View.Exchange(t.Exchange); x != nil && l.who.files && l.tellsFile(t) {
		file = p.Name(path.Base(x.Head.File))
	}
	model, fold := p.Name(ShortModel(t.Model)), l.foldOf(p, t)
	lead := joinTexts(at.gap, when, agent, file, model, fold)
	if said := l.purposeText(p, t, room-lead.Width()-wide.Width()); !said.Empty() {
		return joinTexts(wide, lead, said), false
	}
	brief := turnTime(l.scene.View, t, clock, false)
	for _, less := range []struct {
		text display.Text
		all  bool
	}{
		{lead, false}, {joinTexts(at.gap, when, agent, file, fold), false}, {joinTexts(at.gap, when, agent, file, fold), true},
		{joinTexts(at.gap, when, agent, fold), true}, {joinTexts(at.gap, brief, agent), true}, {joinTexts(at.gap, brief, p.Truncate(agent, 1)), true},
	} {
		if cells := less.text.Width(); cells <= room || less.all && cells <= whole {
			return less.text, cells > room
		}
	}
	return p.Truncate(brief, max(whole, 1)), true
}

// tellsFile reports whether the row of a turn says where it was read from. Under the row of a machine
// it does where that has several captures of other names.
func (l *List) tellsFile(t *stream.Turn) bool {
	h, _ := l.rows.find(l.scene.View, t)
	return h == nil || h.name == "" || len(h.agents) > 1
}

// foldOf is how many calls of a turn are hidden.
func (l *List) foldOf(p *screen.Pen, t *stream.Turn) display.Text {
	if !l.rows.plain.folded[t.Number] || len(t.Calls) == 0 {
		return display.Text{}
	}
	return display.Join(p.Glyph.Fold, display.Lit(" "), screen.Plural(len(t.Calls), "call"))
}

// joinTexts puts a gap between the texts that are there.
func joinTexts(gap display.Text, parts ...display.Text) (all display.Text) {
	for _, part := range parts {
		switch {
		case part.Empty():
		case all.Empty():
			all = part
		default:
			all = display.Join(all, gap, part)
		}
	}
	return all
}

// purposeText is what a turn's request is for: the user's words, the result that it answers, or what
// else its client wants; of a turn without a known request, what the turn is known by. It is cut to
// so many cells, and nothing where those are too few to say anything.
func (l *List) purposeText(p *screen.Pen, t *stream.Turn, cells int) display.Text {
	before, words, after := l.purposeParts(p, t)
	all := before.Width() + words.Width() + after.Width()
	if all == 0 || cells < min(minWords, all) {
		return display.Text{}
	}
	words = p.Truncate(words, cells-before.Width()-after.Width())
	return p.Truncate(display.Join(before, words, after), cells)
}

// purposeParts is the purpose in three parts, of which that in the middle may be cut.
func (l *List) purposeParts(p *screen.Pen, t *stream.Turn) (before, words, after display.Text) {
	a, x, space := t.Request, l.scene.View.Exchange(t.Exchange), display.Lit(" ")
	switch {
	case a == nil && t.Model == "":
		return before, p.Name(TurnTitle(x, t)), after
	case a == nil:
		return
	case IsPlain(t):
		return before, joinTexts(space, p.Name(a.Purpose), p.Name(TurnTitle(x, t)), p.Clean(t.Finish)), after
	case a.ResultsOf != "" && a.Snippet != "":
		before, words = p.Glyph.Back.Between("", " "), display.Join(p.Name(a.ResultsOf).Between("", ": "), p.Clean(a.Snippet))
	case a.ResultsOf != "":
		before, words = p.Glyph.Back.Between("", " "), p.Name(a.ResultsOf)
	case a.Snippet != "":
		before, words, after = display.Lit(`"`), p.Clean(a.Snippet), display.Lit(`"`)
	case t.Model == "":
		words = p.Name(TurnTitle(x, t))
	}
	if a.Purpose != conversation.Turn {
		before = display.Join(p.Name(a.Purpose), space, before)
	}
	return before, words, after
}

// IsPlain reports whether no model answered.
func IsPlain(t *stream.Turn) bool { return t.Protocol == "http" && t.Request != nil }

// bodySize is how much was answered, nothing where that was let go of.
func bodySize(v *providers.View, t *stream.Turn) display.Text {
	if x := v.Exchange(t.Exchange); x != nil && t.Retention == stream.InMemory {
		return screen.Bytes(int(x.Response.Size()))
	}
	return display.Text{}
}

// minSecondsRoom is the room from which on a clock has seconds beside an agent.
const minSecondsRoom = 48

// turnTime is when a turn began: by the clock, where that is wanted and its source has one.
func turnTime(v *providers.View, t *stream.Turn, clock, seconds bool) display.Text {
	if at, ok := v.WallClock(t.Exchange, t.OpenedAt); clock && ok && seconds {
		return display.Clean(at.Format("15:04:05"))
	} else if clock && ok {
		return display.Clean(at.Format("15:04"))
	}
	switch d := t.OpenedAt; {
	case d < 0:
		return display.Text{}
	case d < time.Minute:
		return display.Format("+%.1f s", d.Truncate(100*time.Millisecond).Seconds())
	default:
		return screen.Time(d).Between("+", "")
	}
}
