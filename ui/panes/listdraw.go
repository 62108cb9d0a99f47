package panes

import (
	"path"
	"slices"
	"strings"
	"time"

	"toolscope/providers"
	"toolscope/providers/conversation"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// The grid of the list, in cells. Columns have fixed places that don't depend on the content.
const (
	wideList     = 60 // minimum width for all columns
	tookCells    = 8
	sizeCells    = 8
	wordCells    = 14
	minWords     = 6 // of the prompt, or it is left out
	minTurnCells = 6 // of a turn that costs something
)

// listGrid is the columns of a list.
type listGrid struct {
	number, turn, call int // cells of the number; where text begins
	word               int // cells of a state in words, at least
	took               bool
	gap                display.Text // between the parts of a turn
}

func gridOf(width int) listGrid {
	if width < wideList {
		return listGrid{number: 3, turn: 8, call: 8, gap: display.Lit(" ")}
	}
	return listGrid{number: 4, turn: 10, call: 12, word: wordCells, took: true, gap: display.Lit("  ")}
}

// rightCells returns the width of the columns after the text.
func (g listGrid) rightCells() int {
	if g.took {
		return sizeCells + tookCells
	}
	return sizeCells
}

// stateWidth returns the width of a state in words.
func (g listGrid) stateWidth(word display.Text) int {
	if word.Empty() {
		return 0
	}
	return max(g.word, word.Width()+1)
}

// Draw draws row y of the pane into the field.
func (l *List) Draw(p *screen.Pen, y int, focused bool) {
	if y < l.titleRows() {
		l.drawTitle(p, focused)
		return
	}
	defer p.Fill(screen.Bare)
	row := l.Top + y - l.titleRows()
	if row >= l.Rows {
		return
	}
	v := l.scene.View
	ref := l.RefAt(v.Session(), row)
	if l.stuck && row == l.Top {
		ref.Call = 0
	}
	host, t, _ := l.rows.rowTarget(row)
	var c *stream.Call
	if t != nil {
		t, c = v.Find(ref)
	}
	g, sign := screen.Bare, display.Lit(" ")
	if row == l.At {
		g, sign = screen.Linked, p.Glyph.Mark
		if focused {
			g = screen.Selected
		}
	}
	if slices.Contains(l.scene.Marks, ref) {
		sign = display.Lit("m")
	}
	at := gridOf(p.Left)
	p.TextOn(screen.Accent, g, sign)
	if t == nil && host != nil {
		l.drawMachine(p, host, g)
	} else if c != nil {
		l.drawCall(p, c, g, at)
	} else if t != nil {
		l.drawTurn(p, t, g, at)
	}
	p.Fill(g)
}

// DrawTurn draws the row of a turn outside the list.
func (l *List) DrawTurn(p *screen.Pen, t *stream.Turn, chosen bool) {
	g, sign := screen.Bare, display.Lit(" ")
	if chosen {
		g, sign = screen.Selected, p.Glyph.Mark
	}
	at := gridOf(p.Left)
	p.TextOn(screen.Accent, g, sign)
	l.drawTurn(p, t, g, at)
	p.Fill(g)
}

// drawCall draws a call: its state sign and its name; on the right its state in words if it is bad, its
// size, and its time.
func (l *List) drawCall(p *screen.Pen, c *stream.Call, g screen.Surface, at listGrid) {
	st := c.Status()
	look := screen.CallRole(c)
	if st == stream.Complete {
		look = screen.Muted
	}
	p.Spaces(g, at.number)
	l.drawState(p, g, c.Ref(), c.Findings, st, look, at)
	p.Spaces(g, at.call-at.turn)
	name := p.Name(c.Name)
	if name.Empty() {
		name = display.Lit("(no name)")
	}
	size := display.Text{}
	if c.ArgsLen() > 0 {
		size = screen.Bytes(c.ArgsLen())
	}
	word := p.Clean(st.String())
	always := at.took || st == stream.LooksDone || isBad(st)
	if st == stream.Complete || !always && p.Left-at.rightCells()-at.stateWidth(word) <= name.Width() {
		word = display.Text{}
	}
	took := screen.Time(screen.CallTime(c))
	if c.MayGrow() {
		took = screen.RoughTime(screen.CallTime(c))
	}
	l.drawRow(p, g, at, listRow{text: name, role: screen.Plain, word: word, look: look, size: size, took: took, quiet: isQuiet(l.scene.View.Session().Turn(c.Turn))})
}

// isBad reports whether a state is always shown in words.
func isBad(st stream.Status) bool {
	return st >= stream.CutShort && st <= stream.Rejected
}

// isQuiet reports whether a row is a background request.
func isQuiet(t *stream.Turn) bool { return t != nil && isBackground(t) }

// drawState draws a sign if there are findings above info, and the state.
func (l *List) drawState(p *screen.Pen, g screen.Surface, owner stream.Ref, list []stream.Finding, st stream.Status, look screen.Role, at listGrid) {
	if at.took {
		p.Spaces(g, 1)
	}
	sign, r := display.Lit("  "), screen.Plain
	if severity, above := l.scene.Alarms.Of(owner, list); above {
		sign, r = display.Lit("! "), screen.SeverityRoles[severity]
		if severity == stream.Error {
			sign = display.Lit("!!")
		}
	}
	p.TextOn(r, g, sign)
	p.TextOn(look, g, p.Glyph.Status[st].Between("", " "))
}

// listRow is the content of a row after the state.
type listRow struct {
	text             display.Text
	role             screen.Role
	word, size, took display.Text
	look             screen.Role // of the word
	quiet, fullWidth bool        // of a background request; no columns right of the text
}

// drawRow draws a text and the columns right of it.
func (l *List) drawRow(p *screen.Pen, g screen.Surface, at listGrid, r listRow) {
	right, words := at.rightCells(), at.stateWidth(r.word)
	if cramped := !at.took && words > 0 && r.text.Width() >= p.Left-right-words; cramped || r.fullWidth || p.Left-right-words < minTurnCells {
		right = 0
	}
	figures := screen.Plain
	if r.quiet {
		r.role, figures = screen.Muted, screen.Muted
	}
	room := max(p.Left-right-words, 1)
	p.TextOn(r.role, g, p.Pad(p.Truncate(r.text, room-1), room))
	if words > 0 {
		p.TextOn(r.look, g, p.Pad(p.Truncate(r.word, words), words))
	}
	if right > 0 {
		p.TextOn(figures, g, alignRight(p, r.size, sizeCells))
	}
	if right > sizeCells {
		p.TextOn(screen.Muted, g, alignRight(p, r.took, tookCells))
	}
}

// alignRight aligns a text to the right of a column.
func alignRight(p *screen.Pen, t display.Text, cells int) display.Text {
	t = p.Truncate(t, cells)
	return display.Join(display.Repeat(display.Lit(" "), cells-t.Width()), t)
}

// drawTitle draws the counts of turns, calls and states, and the cost; on the right the bad and new calls
// out of view, and the visible rows. With little room it drops the cost, then the healthy states, then
// the number of calls.
func (l *List) drawTitle(p *screen.Pen, focused bool) {
	s, calls := l.scene.View.Session(), 0
	for _, n := range s.Counts {
		calls += n
	}
	if l.scene.Sieve.Active() {
		l.drawSifted(p, focused)
		return
	}
	right, turns := l.outOfSight(p), p.Format(" TURNS %s", screen.Count(len(s.Turns)+s.TrimmedTurns()))
	many, well, ill := p.Format("  CALLS %s", screen.Count(calls)), countsOf(p, s, wellOrder), countsOf(p, s, badOrder)
	cost := totalCost(p, l.scene.Bill.Total())
	room := p.Left - turns.Width() - right.Width() - 3
	fits := func(width int) bool {
		if width > room {
			return false
		}
		room -= width
		return true
	}
	tells := [...]bool{fits(screen.Width(ill)), fits(many.Width()), fits(screen.Width(well)), !cost.Empty() && fits(cost.Width()+2)}
	p.Text(titleRole(focused), turns)
	if tells[1] {
		p.Text(titleRole(focused), many)
	}
	if len(well)+len(ill) > 0 {
		p.Spaces(screen.Bare, 1)
	}
	for i, counts := range [][]screen.StyledText{well, ill} {
		if i == 0 && tells[2] || i == 1 && tells[0] {
			p.Texts(counts)
		}
	}
	if tells[3] {
		p.Text(screen.Muted, cost.Between("  ", ""))
	}
	l.drawOutOfSight(p, right)
}

// drawSifted draws the title of a filtered list.
func (l *List) drawSifted(p *screen.Pen, focused bool) {
	s, right := l.scene.View.Session(), l.outOfSight(p)
	p.Text(titleRole(focused), p.Format(" %s of %s  ", screen.Count(l.scene.Sieve.Count()), screen.Count(len(s.Turns)+s.TrimmedTurns())))
	p.Text(screen.Accent, p.Truncate(p.Name(l.scene.Sieve.Text()).Between("f ", ""), p.Left-right.Width()-1))
	l.drawOutOfSight(p, right)
}

// The order in which states are counted.
var (
	wellOrder = []stream.Status{stream.Streaming, stream.Waiting, stream.LooksDone, stream.Complete, stream.NoArguments}
	badOrder  = []stream.Status{stream.CutShort, stream.Malformed, stream.NotObject, stream.Aborted, stream.Rejected, stream.Unseen}
)

// countsOf counts the calls in some states. Calls that the client stopped are not faults.
func countsOf(p *screen.Pen, s *stream.Session, states []stream.Status) (all []screen.StyledText) {
	for _, st := range states {
		n, stopped, r := s.Counts[st], 0, screen.StatusRoles[st]
		if st == stream.Aborted {
			stopped = s.Stopped
		}
		if st == stream.Complete || st == stream.NoArguments {
			r = screen.Muted
		}
		if n > stopped {
			all = append(all, screen.StyledText{Role: r, Text: display.Join(display.Lit(" "), p.Glyph.Status[st], screen.Count(n-stopped))})
		}
		if stopped > 0 {
			all = append(all, screen.StyledText{Role: screen.Muted, Text: display.Join(display.Lit(" "), p.Glyph.Status[st], screen.Count(stopped), display.Lit(" stopped"))})
		}
	}
	return all
}

// titleCounts are the texts at the right end of the title.
type titleCounts struct{ bad, news, rows display.Text }

// Width returns the total width in cells.
func (s titleCounts) Width() int { return s.bad.Width() + s.news.Width() + s.rows.Width() }

// outOfSight returns the counts of the title: bad calls out of view, rows that arrived since the end was
// visible, and the visible range.
func (l *List) outOfSight(p *screen.Pen) (out titleCounts) {
	space := display.Lit(" ")
	if l.above > 0 {
		out.bad = display.Join(p.Glyph.Up, space, screen.Count(l.above), display.Lit(" bad  "))
	}
	if l.below > 0 {
		out.bad = display.Join(out.bad, p.Glyph.Below, space, screen.Count(l.below), display.Lit(" bad  "))
	}
	if n := l.Rows - l.known; n > 0 && !l.scene.Follow {
		out.news = display.Join(p.Glyph.Below, screen.Count(n).Between(" +", " new  G  "))
	}
	first, last, of := l.Visible()
	out.rows = p.ScrollInfo(first, last, of)
	return out
}

// HiddenTrouble returns the count of bad calls out of view, long and short, for a list without a title.
func (l *List) HiddenTrouble(p *screen.Pen) []display.Text {
	if l.above+l.below == 0 {
		return nil
	}
	bad := display.Clean(strings.TrimRight(l.outOfSight(p).bad.String(), " "))
	return []display.Text{bad, screen.Count(l.above+l.below).Between("", " bad")}
}

// drawOutOfSight draws the counts flush right: the bad count is never dropped.
func (l *List) drawOutOfSight(p *screen.Pen, out titleCounts) {
	for _, less := range []*display.Text{&out.rows, &out.news} {
		if out.Width() >= p.Left {
			*less = display.Text{}
		}
	}
	p.Spaces(screen.Bare, p.Left-out.Width())
	p.Text(screen.Bad, out.bad)
	p.Text(screen.Live, out.news)
	p.Text(screen.Muted, out.rows)
	p.Fill(screen.Bare)
}

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
	case present.IsPlain(t):
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
	model, fold := p.Name(present.ShortModel(t.Model)), l.foldOf(p, t)
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
		return before, p.Name(present.TurnTitle(x, t)), after
	case a == nil:
		return
	case present.IsPlain(t):
		return before, joinTexts(space, p.Name(a.Purpose), p.Name(present.TurnTitle(x, t)), p.Clean(t.Finish)), after
	case a.ResultsOf != "" && a.Snippet != "":
		before, words = p.Glyph.Back.Between("", " "), display.Join(p.Name(a.ResultsOf).Between("", ": "), p.Clean(a.Snippet))
	case a.ResultsOf != "":
		before, words = p.Glyph.Back.Between("", " "), p.Name(a.ResultsOf)
	case a.Snippet != "":
		before, words, after = display.Lit(`"`), p.Clean(a.Snippet), display.Lit(`"`)
	case t.Model == "":
		words = p.Name(present.TurnTitle(x, t))
	}
	if a.Purpose != conversation.Turn {
		before = display.Join(p.Name(a.Purpose), space, before)
	}
	return before, words, after
}

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
