package panes

import (
	"slices"
	"time"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// Draw draws row y of the pane: the edge, the column heads, or a row.
func (l *List) Draw(p *screen.Pen, y int, focused bool) {
	defer func() { p.Fill(screen.Bare) }()
	switch {
	case y < l.Head && y == 0:
		l.drawEdge(p, focused)
		return
	case y < l.Head:
		l.drawHeads(p)
		return
	case l.Rows == 0:
		l.drawEmpty(p, y-l.Head)
		return
	}
	row := l.Top + y - l.Head
	if row >= l.Rows {
		return
	}
	at, columns := l.targetOf(row), l.columnsOf(p.Left)
	if at.turn == nil && at.machine == nil {
		p.Text(screen.Muted, display.Join(display.Repeat(p.Glyph.Line, 3), at.healthyText().Between(" ", " ")))
		p.Text(screen.Muted, display.Repeat(p.Glyph.Line, p.Left))
		return
	}
	g, sign, role := screen.Bare, display.Lit(" "), screen.Accent
	if row == l.At {
		sign = p.Glyph.Mark
		if role = screen.Muted; focused {
			g, role = screen.Selected, screen.Accent
		}
	}
	if at.turn != nil && (slices.Contains(l.scene.Marks, at.asRef()) || slices.Contains(l.scene.Marks, at.turn.Ref()) && l.isFirstRow(at)) {
		sign, role = display.Lit("m"), screen.Accent
	}
	p.TextOn(role, g, sign)
	switch {
	case at.turn == nil:
		l.drawMachine(p, at.machine, g)
	case at.healthy > 0:
		p.TextOn(screen.Muted, g, display.Join(p.Glyph.Calm.Between("      ", " "), at.healthyText()))
	default:
		l.drawRow(p, at, g, columns)
	}
	p.Fill(g)
}

// drawEdge draws the edge above the list: how many rows match the filter, or the number of the cursor's row
// in a narrow list, and the order.
func (l *List) drawEdge(p *screen.Pen, focused bool) {
	e := paneEdge{title: display.Lit("Calls"), focused: focused, stacked: l.scene.Piled}
	rows := screen.Count(l.scene.Verdicts.Rows())
	switch {
	case l.scene.Sieve.Active():
		shown := l.shownCount()
		calls := 0
		for _, n := range l.scene.View.Session().Counts {
			calls += n
		}
		if calls != l.scene.Verdicts.Rows() && p.Left >= narrowList {
			rows = rows.Between("", " rows") // some are turns without a call
		}
		e.beside = p.Format("%s of %s %s filter %s", screen.Count(shown), rows, p.Glyph.Dot, p.Name(l.scene.Sieve.Text()))
	case l.scene.Piled && p.Left < narrowList && l.Rows > l.Height:
		row := l.At
		if rule := l.order.ruleRow(); rule >= 0 && row > rule {
			row--
		}
		e.beside = p.Format("%s of %s", screen.Count(row+1), rows)
	case l.order.by == WorstFirst && l.scene.Verdicts.Counts.Bad() > 0 && l.Rows > l.scene.Verdicts.Counts.Bad():
		e.beside = harmGroups(p, l.scene.Verdicts.Counts)
	}
	e.key, e.right = display.Lit("s"), p.Clean(l.order.by.String())
	if l.Rows == 0 {
		e.key = display.Text{}
	}
	e.draw(p)
}

// harmGroups says how many of the first rows are bad, and how many rows after them are doubtful.
func harmGroups(p *screen.Pen, n present.VerdictCounts) display.Text {
	bad, doubtful := n.Bad(), 0
	for h, of := range n {
		if present.Harm(h).IsCaution() {
			doubtful += of
		}
	}
	if doubtful == 0 {
		return p.Format("%s bad first", screen.Count(bad))
	}
	return p.Format("%s bad first, then %s doubtful", screen.Count(bad), screen.Count(doubtful))
}

// shownCount returns how many rows match the filter.
func (l *List) shownCount() (n int) {
	if l.order.by != ByTime {
		return len(l.order.numbers)
	}
	for _, h := range l.rows.machines {
		n += h.count.totalRows()
	}
	return n
}

// WantedRows returns the number of rows. If no call matches the filter, it returns the number of lines that report
// this.
func (l *List) WantedRows() int {
	if l.Rows == 0 && l.scene != nil && l.scene.Sieve.Active() {
		return len(l.emptyLines(l.scene.Pen))
	}
	return l.Rows
}

// emptyLines returns the lines for a list in which no call matches the filter.
func (l *List) emptyLines(p *screen.Pen) []display.Text {
	return []display.Text{{}, p.Name(l.scene.Sieve.Text()).Between("No call matches  ", ""), display.Lit("esc clears the filter   f changes it")}
}

// drawEmpty draws row y of a list in which no call matches the filter.
func (l *List) drawEmpty(p *screen.Pen, y int) {
	if !l.scene.Sieve.Active() {
		return
	}
	lines := l.emptyLines(p)
	if l.Height < len(lines) {
		lines = lines[1:]
	}
	if y >= len(lines) {
		return
	}
	p.Spaces(screen.Bare, max(1, (p.Left-lines[len(lines)-1].Width())/2))
	role := screen.Plain
	if y == len(lines)-1 {
		role = screen.Muted
	}
	p.Text(role, p.Truncate(lines[y], p.Left))
}

// healthyText says how many healthy calls the row stands for, and how many turns without a call.
func (r rowTarget) healthyText() display.Text {
	calls, turns := screen.Count(r.calls).Between("", " healthy"), screen.Plural(r.healthy-r.calls, "turn").Between("", " without a call")
	switch {
	case r.calls == r.healthy:
		return calls
	case r.calls == 0:
		return turns
	}
	return display.Join(calls, display.Lit(", "), turns)
}

// narrowList is the width below which a stacked list shows the number of the cursor's row.
const narrowList = 80

// listColumns are the widths of the columns in cells. Width 0 means that the column is not drawn.
type listColumns struct {
	turn, sign, words, tool, from, size, idle, took, cost int
}

// Cells of the columns. The names of tools and the origin share the cells that the other columns leave free.
const (
	minToolCells   = 13
	usualToolCells = 17
	maxToolCells   = 24
	minFromCells   = 13
	maxFromCells   = 30
	uncutFromCells = 26 // the minimum width of the origin before a cost is drawn
	sizeCells      = 8
	tookCells      = 7
	idleCells      = 7
	costCells      = 9
	compactList    = 44 // below this width the signs and words of verdicts are narrower
)

// columnsOf returns the columns for a list of the given width.
func (l *List) columnsOf(width int) (c listColumns) {
	c = listColumns{turn: 4 + 2, sign: 3, words: present.VerdictCells + 1, size: sizeCells}
	if width < wideList {
		c.turn = 3 + 2
	}
	if width < compactList {
		c.sign, c.words = 2, 11+1
	}
	if s := l.scene.View.Session(); len(s.Turns) > 0 {
		c.turn = max(c.turn, screen.Count(int(s.Turns[len(s.Turns)-1].Number)+1).Width()+2)
	}
	if l.who.timed {
		c.took = tookCells
		if l.isTimed() {
			c.idle = idleCells
		}
	}
	if l.scene.Bill.Total().Paid > 0 {
		c.cost = costCells
	}
	if l.who.files > 1 || l.who.several || l.who.model {
		c.from = minFromCells
	}
	room := func() int { return width - 1 - c.turn - c.sign - c.words - c.size - c.idle - c.took - c.cost }
	tool := minToolCells
	if width < compactList {
		tool--
	}
	least := func(from int) int {
		if c.from > 0 {
			return tool + 1 + from
		}
		return tool
	}
	if c.idle > 0 && room() < least(minFromCells) {
		c.took = 0
	}
	if room() < least(max(minFromCells, min(l.who.originCells(), uncutFromCells))) {
		c.cost = 0
	}
	for _, less := range []*int{&c.idle, &c.took, &c.from, &c.size} {
		if room() < least(minFromCells) {
			*less = 0
		}
	}
	switch c.tool = max(1, min(room(), maxToolCells)); {
	case c.from > 0:
		both := room() - 1
		c.tool = min(both-minFromCells, usualToolCells)
		c.from = min(both-c.tool, maxFromCells)
		c.tool = min(both-c.from, maxToolCells) + 1
	case c.size+c.idle+c.took+c.cost > 0 && room() > c.tool:
		c.tool++
	}
	return c
}

// wideList is the minimum width for turn numbers of four digits.
const wideList = 60

// WantedCells returns the width in which all columns except IDLE and COST fit, for a list next to other
// panes.
func (l *List) WantedCells() int {
	if l.scene == nil {
		return 0
	}
	fixed := 1 + 6 + 3 + present.VerdictCells + 1 + sizeCells + minToolCells + 2
	if l.who.timed {
		fixed += tookCells
	}
	if l.who.files > 1 || l.who.several || l.who.model {
		fixed += minFromCells
	}
	return fixed
}

// drawHeads draws the column heads. The head of the sorted column has a sign.
func (l *List) drawHeads(p *screen.Pen) {
	c, by := l.columnsOf(p.Left), l.order.by
	head := func(word string, sorted bool) display.Text {
		if sorted {
			return display.Join(p.Clean(word), p.Glyph.Unfold)
		}
		return p.Clean(word)
	}
	turn := display.Lit("TURN")
	if c.turn < 6 {
		turn = display.Lit("NO")
	}
	p.Text(screen.Muted, display.Join(display.Lit(" "), alignRight(p, turn, c.turn-2), display.Lit("  ")))
	p.Text(screen.Muted, p.Pad(head("VERDICT", by == WorstFirst), c.sign+c.words))
	p.Text(screen.Muted, p.Pad(head("TOOL", by == ByTool), c.tool))
	if c.from > 0 {
		p.Text(screen.Muted, p.Pad(head(l.fromHead(), by == ByModel), c.from))
	}
	for _, of := range []struct {
		cells int
		text  display.Text
	}{{c.size, head("SIZE", by == BySize)}, {c.idle, head("IDLE", by == ByIdle)}, {c.took, head("TIME", by == ByDuration)}, {c.cost, head("COST", by == ByCost)}} {
		if of.cells > 0 {
			p.Text(screen.Muted, alignRight(p, of.text, of.cells))
		}
	}
}

// fromHead returns the header of the origin column.
func (l *List) fromHead() string {
	switch {
	case l.who.files > 1:
		return "FROM"
	case l.who.several && l.who.model:
		return "AGENT MODEL"
	case l.who.several:
		return "AGENT"
	}
	return "MODEL"
}

// SortKeyAt returns the order that a click on a cell of the column heads selects. The result ok is false if the
// click selects none.
func (l *List) SortKeyAt(x, y, width int) (by SortKey, ok bool) {
	if l.Head < 2 || y != l.Head-1 {
		return ByTime, false
	}
	c := l.columnsOf(width)
	for _, of := range []struct {
		cells int
		by    SortKey
	}{{1 + c.turn, ByTime}, {c.sign + c.words, WorstFirst}, {c.tool, ByTool}, {c.from, ByModel}, {c.size, BySize}, {c.idle, ByIdle}, {c.took, ByDuration}, {c.cost, ByCost}} {
		if x -= of.cells; x < 0 {
			return of.by, of.by != ByModel || l.who.files < 2
		}
	}
	return ByTime, false
}

// isFirstRow reports whether a row is the first of its turn.
func (l *List) isFirstRow(at rowTarget) bool { return at.n == 0 }

// drawRow draws a call, or a turn that has its own row. The cost is only in the first row of the turn. When
// the list is sorted by time, the turn's number and origin are also only in that row.
func (l *List) drawRow(p *screen.Pen, at rowTarget, g screen.Surface, c listColumns) {
	t, first := at.turn, l.isFirstRow(at)
	shown := first || l.order.by != ByTime
	figures := screen.Plain
	if isBackground(t) {
		figures = screen.Muted
	}
	number := display.Text{}
	if shown {
		number = screen.Count(int(t.Number) + 1)
	}
	p.TextOn(screen.Muted, g, alignRight(p, number, c.turn-2).Between("", "  "))
	v := l.verdictOf(at)
	sign := VerdictSign(p, v)
	p.TextOn(v.Role, g, p.Pad(sign, c.sign))
	p.TextOn(v.Role, g, p.Pad(p.Truncate(p.Clean(v.Words), c.words-1), c.words))
	l.drawTool(p, at, g, c)
	if c.from > 0 {
		from := display.Text{}
		if shown {
			from = l.originOf(p, t, c.from)
		}
		p.TextOn(screen.Muted, g, p.Pad(from, c.from))
	}
	if c.size > 0 {
		p.TextOn(screen.Muted, g, alignRight(p, l.sizeOf(p, at), c.size))
	}
	if c.idle > 0 {
		idle := display.Text{}
		if d := l.idleOf(at.turn, at.n); d >= time.Second {
			idle = screen.WholeSeconds(d)
		}
		p.TextOn(IdleRole(v), g, alignRight(p, idle, c.idle))
	}
	if c.took > 0 {
		p.TextOn(screen.Muted, g, alignRight(p, l.tookOf(at), c.took))
	}
	if c.cost > 0 {
		cost := display.Text{}
		if first {
			cost = l.costText(p, t)
		}
		p.TextOn(figures, g, alignRight(p, cost, c.cost))
	}
}

// IdleRole returns the role for the time that a stream has been idle: Caution if the stream has stalled.
func IdleRole(v present.Verdict) screen.Role {
	if v.Finding != nil && v.Finding.Code == "STALLED" {
		return screen.Caution
	}
	return screen.Muted
}

// VerdictSign returns the sign of the harm for errors and warnings, or else the sign of the state.
func VerdictSign(p *screen.Pen, v present.Verdict) display.Text {
	if v.Harm == present.HarmError || v.Harm == present.HarmWarn {
		_, sign := HarmSign(p, v.Harm)
		return sign
	}
	return p.Glyph.Status[v.State]
}

// drawTool draws the name of the tool, indented below the call that started the agent. For a turn without calls,
// it draws other content of the turn.
func (l *List) drawTool(p *screen.Pen, at rowTarget, g screen.Surface, c listColumns) {
	role, name := screen.Muted, display.Lit("(no name)")
	if of := at.toolCall(); of == nil {
		name = l.insteadOfCall(p, at.turn)
	} else if named := p.Name(of.Name); !named.Empty() {
		role, name = screen.Plain, named
	}
	if isBackground(at.turn) {
		role = screen.Muted
	}
	cells := c.tool
	if l.order.by == ByTime {
		for depth := l.depthOf(at.turn); depth > 0 && cells > minWords; depth-- {
			sign := display.Lit("  ")
			if depth == 1 {
				sign = p.Glyph.Under.Between("", " ")
			}
			p.TextOn(screen.Muted, g, sign)
			cells -= sign.Width()
		}
	}
	gap := 1
	if c.from == 0 {
		gap = 0
	}
	p.TextOn(role, g, p.Pad(p.Truncate(name, cells-gap), cells))
}

// minWords is the minimum width of a name after the signs for depth.
const minWords = 6

// maxDepth is the maximum depth of sub-agents that is drawn.
const maxDepth = 8

// depthOf returns the number of calls above the agent of a turn: each of these calls started an agent or sub-agent.
// The result is at most maxDepth.
func (l *List) depthOf(t *stream.Turn) (depth int) {
	for up, _ := l.parentTurn(t); up != nil && depth < maxDepth; up, _ = l.parentTurn(up) {
		depth++
	}
	return depth
}

// insteadOfCall returns the text for a row with a turn but no call.
func (l *List) insteadOfCall(p *screen.Pen, t *stream.Turn) display.Text {
	switch {
	case len(t.Calls) > 0:
		return display.Lit("(turn)")
	case t.Retention == stream.Dropped:
		return display.Lit("(not kept)")
	case present.IsPlain(t) || t.Model == "":
		if title := p.Name(present.TurnTitle(l.scene.View.Exchange(t.Exchange), t)); !title.Empty() {
			return title
		}
	case isBackground(t) && t.Request.Purpose != "":
		return p.Name(t.Request.Purpose).Between("(", ")")
	}
	switch text, thinking := t.TextLens(); {
	case l.scene.Verdicts.WorstOf(t).IsBad():
	case text > 0:
		return display.Lit("(text)")
	case thinking > 0:
		return display.Lit("(thinking)")
	}
	return display.Lit("(no call)")
}

// minModelCells is the minimum width of a model after the name of its agent.
const minModelCells = 6

// originOf returns the origin of a turn: its file, or else its agent and model. A long name is cut in the middle.
func (l *List) originOf(p *screen.Pen, t *stream.Turn, cells int) display.Text {
	text := display.Text{}
	if x := l.scene.View.Exchange(t.Exchange); l.who.files > 1 {
		if x != nil {
			text = p.Name(l.who.shortFile(x.Head.File))
		}
	} else {
		if l.who.several {
			if text = p.Name(agentName(t.Request)); text.Empty() {
				text = p.Glyph.None // the request names no agent
			}
		}
		model := p.Name(present.ShortModel(t.Model))
		switch left := cells - text.Width() - 1; {
		case text.Empty():
			text = model
		case left >= minModelCells:
			return display.Join(text, display.Lit(" "), p.ElideMiddle(model, left))
		case !model.Empty():
			text = display.Join(text, display.Lit(" "), model)
		}
	}
	return p.ElideMiddle(text, cells)
}

// sizeOf returns the size of the arguments, or of a response that is not from a model. Without arguments, the
// size is unknown.
func (l *List) sizeOf(p *screen.Pen, at rowTarget) display.Text {
	if c := at.toolCall(); c != nil && c.ArgsLen() > 0 {
		return screen.Bytes(c.ArgsLen())
	}
	if at.toolCall() == nil && present.IsPlain(at.turn) {
		if x := l.scene.View.Exchange(at.turn.Exchange); x != nil && at.turn.Retention == stream.InMemory {
			return screen.Bytes(int(x.Response.Size()))
		}
		return display.Text{} // the response was evicted
	}
	return p.Glyph.None
}

// isTimed reports whether the list shows how long open streams are idle.
func (l *List) isTimed() bool { return l.scene.Now >= 0 }

// idleOf returns the time since the last byte of a call that may grow, or of a turn without an open call. If
// nothing is open, it returns NoTime.
func (l *List) idleOf(t *stream.Turn, n int) time.Duration {
	if t.Closed() || !l.isTimed() {
		return stream.NoTime
	}
	at := stream.NoTime
	switch x := l.scene.View.Exchange(t.Exchange); {
	case n < len(t.Calls) && t.Calls[n].MayGrow():
		at = max(t.Calls[n].OpenedAt, t.Calls[n].LastArgAt)
	case n+1 >= len(t.Calls) && x != nil && !x.Ended:
		at = x.LastProgressAt()
	}
	return screen.Elapsed(at, l.scene.Now)
}

// minLongIdle is the time from which a silence counts for the order of streams. Shorter pauses are usual between two
// deltas; if they counted, rows would move all the time.
const minLongIdle = 2 * time.Second

// LongIdle returns the idle time of a stream, or 0 if it is too short to count.
func LongIdle(idle time.Duration) time.Duration {
	if idle < minLongIdle {
		return 0
	}
	return idle
}

// IdleTime returns the time since the last byte of a stream: of its calls that may grow, or else of the
// model's other output. The turn t is nil before the first byte.
func IdleTime(x *providers.Exchange, t *stream.Turn, now time.Duration) time.Duration {
	last := stream.NoTime
	if t != nil {
		for _, c := range t.Calls {
			if c.MayGrow() {
				last = max(last, c.OpenedAt, c.LastArgAt)
			}
		}
	}
	if last < 0 && x != nil {
		last = x.LastProgressAt()
	}
	return screen.Elapsed(last, now)
}

// tookOf returns the duration so far of a call, or the duration of a turn that has ended.
func (l *List) tookOf(at rowTarget) display.Text {
	took, open := screen.Elapsed(at.turn.OpenedAt, at.turn.ClosedAt), !at.turn.Closed()
	if c := at.toolCall(); c != nil {
		took, open = screen.CallTime(c), c.MayGrow()
	} else if open {
		return display.Text{}
	}
	if open {
		return screen.RoughTime(took)
	}
	return screen.Time(took)
}

// costText returns the cost of a turn. It returns an empty text for an exchange without a model. If an ended turn has
// no known cost, it returns the sign for unknown, except for background requests.
func (l *List) costText(p *screen.Pen, t *stream.Turn) display.Text {
	switch cost := l.scene.Bill.CostOf(t); {
	case present.IsPlain(t):
		return display.Text{}
	case cost.Known():
		if cost.Source == price.Free {
			return p.Clean(cost.String())
		}
		return p.Clean(dollarText(cost.USD, cost.Approximate))
	case t.Closed() && !isBackground(t):
		return p.Glyph.None
	}
	return display.Text{}
}

// alignRight right-aligns a text in a column.
func alignRight(p *screen.Pen, t display.Text, cells int) display.Text {
	t = p.Truncate(t, cells)
	return display.Join(display.Repeat(display.Lit(" "), cells-t.Width()), t)
}
