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

// drawTurn draws a turn: its number and state, its start, its agent, the model, and its purpose; on the
// right its trouble, its cost, and its time.
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

// costText returns the cost of a turn, or the size of the response if it is not from a model.
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

// tookOf returns how long a turn took, so far.
func (l *List) tookOf(t *stream.Turn) display.Text {
	if !t.Closed() {
		return screen.RoughTime(screen.Elapsed(t.OpenedAt, l.now))
	}
	return screen.RoughTime(screen.Elapsed(t.OpenedAt, t.ClosedAt))
}

// turnState returns the state of a turn: that of its first bad call, else of its own end.
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

// maxCallsChecked is the maximum number of a turn's calls that are checked for its row.
const maxCallsChecked = 256

// turnText returns the text of a turn in the given width, and whether it also needs the cells of the cost.
// With less room it drops the purpose, then the model, the cost, the file, the seconds, and all of the
// agent's name but its first letter.
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

// tellsFile reports whether the row of a turn shows its file. Under a machine row it is shown if the
// machine has several captures.
func (l *List) tellsFile(t *stream.Turn) bool {
	h, _ := l.rows.find(l.scene.View, t)
	return h == nil || h.name == "" || len(h.agents) > 1
}

// foldOf returns the number of hidden calls of a turn, as text.
func (l *List) foldOf(p *screen.Pen, t *stream.Turn) display.Text {
	if !l.rows.plain.folded[t.Number] || len(t.Calls) == 0 {
		return display.Text{}
	}
	return display.Join(p.Glyph.Fold, display.Lit(" "), screen.Plural(len(t.Calls), "call"))
}

// joinTexts joins the non-empty texts with a gap.
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

// purposeText returns the purpose of a turn's request: the prompt, the result that it sends back, or
// another purpose. For a turn with an unknown request it returns the title. The text is cut to the given
// width, and empty if that is too small.
func (l *List) purposeText(p *screen.Pen, t *stream.Turn, cells int) display.Text {
	before, words, after := l.purposeParts(p, t)
	all := before.Width() + words.Width() + after.Width()
	if all == 0 || cells < min(minWords, all) {
		return display.Text{}
	}
	words = p.Truncate(words, cells-before.Width()-after.Width())
	return p.Truncate(display.Join(before, words, after), cells)
}

// purposeParts returns the purpose in three parts; the middle one may be cut.
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

// IsPlain reports whether the response is not from a model.
func IsPlain(t *stream.Turn) bool { return t.Protocol == "http" && t.Request != nil }

// bodySize returns the size of the response; empty if it was evicted.
func bodySize(v *providers.View, t *stream.Turn) display.Text {
	if x := v.Exchange(t.Exchange); x != nil && t.Retention == stream.InMemory {
		return screen.Bytes(int(x.Response.Size()))
	}
	return display.Text{}
}

// minSecondsRoom is the minimum width for clock seconds next to an agent.
const minSecondsRoom = 48

// turnTime returns the start of a turn: by the clock if wanted and known, else since the start.
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
