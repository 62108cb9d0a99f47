package panes

import (
	"slices"
	"sort"
	"strings"
	"time"

	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// Draw draws row y of the strip.
func (s *TimeStrip) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	t := s.liveTurn()
	row, call := s.rowAt(y)
	switch {
	case row == titleStripRow:
		s.drawTitle(p, t)
		return
	case t == nil:
		return
	case row == frameRow:
		p.Text(screen.Frame, display.Join(p.Glyph.Corners[2], display.Repeat(p.Glyph.Line, p.Left-2), p.Glyph.Corners[3]))
		return
	}
	if s.plan.boxed {
		p.Text(screen.Frame, p.Glyph.Rule)
		p.Left-- // the cell of the frame on the right
	}
	switch name, _ := s.sideCells(p.Left); row {
	case axisRow:
		s.drawAxis(p, name)
	case callRow:
		if call < len(s.calls) {
			s.drawCall(p, &s.calls[call], t, name)
		}
	case momentRow:
		s.drawMoment(p, t)
	default:
		title := [numStripRows]display.Text{
			clientRow: display.Lit("client"), providerRow: display.Lit("provider"), toolRow: display.Lit("tool"), findingRow: display.Lit("findings"),
		}[row]
		p.Text(screen.Muted, p.Pad(title.Between(" ", ""), name))
		s.drawCells(p, s.lanes[row])
		note := s.notes[row].long
		if note.Width() >= p.Left {
			note = s.notes[row].short
		}
		if note.Width() < p.Left {
			p.Text(screen.Muted, note.Between(" ", ""))
		}
	}
	if s.plan.boxed {
		p.Fill(screen.Bare)
		p.Left++
		p.Text(screen.Frame, p.Glyph.Rule)
	}
}

// drawTitle draws the turn, and the position of the moment in it.
func (s *TimeStrip) drawTitle(p *screen.Pen, t *stream.Turn) {
	heavy := p.Glyph.Heavy
	end := func(corner display.Text) {
		if s.plan.boxed {
			p.Text(screen.Frame, corner)
		} else {
			p.Text(screen.Accent, heavy)
		}
	}
	about := display.Lit("before the first turn")
	var facts []display.Text // if there is too little room, the last text is left out first
	if t != nil {
		about = p.Format("turn %d", t.Number+1)
		then, _ := s.At.Then.Find(t.Ref())
		if all := deltasOf(t, s.At.Chosen); all > 0 {
			facts = append(facts, display.Join(p.Glyph.Change, screen.Count(deltasOf(then, s.At.Chosen)), screen.Count(all).Between(" of ", "")))
		}
		switch {
		case !s.axis.timed:
			facts = append(facts, s.untimedText(t))
		case s.from < s.axis.zero:
			if clock, ok := s.At.Live.WallClock(t.Exchange, time.Duration(s.from)); ok {
				facts = append(facts, p.Clean(clock.Format(clockForm)).Between("request sent ", ""))
			}
		}
	}
	role := screen.Caution
	if s.At.Moves {
		role = screen.Live
	}
	edge := 4 // the lines and blanks at both ends
	room := p.Left - edge - 2 - display.Lit("Time  ").Width() - about.Width() - s.At.Word.Width()
	at := display.Text{}
	if t != nil {
		at = s.momentText(p)
	}
	if s.At.Ended {
		at = display.Join(at.Between("", ", "), display.Lit("as if the turn ended here"))
	}
	right := at.Between(" ", "")
	if right.Width() > room {
		right = display.Text{}
	}
	room -= right.Width()
	if len(facts) > 0 && facts[0].Width()+3 < room {
		about = display.Join(about, p.Glyph.Dot.Between(" ", " "), facts[0])
		room -= facts[0].Width() + 3
		facts = facts[1:]
	}
	if ahead := display.Join(p.Glyph.Dot.Between(" ", " "), s.At.Ahead); !s.At.Ahead.Empty() && ahead.Width() <= room {
		right = display.Join(right, ahead)
		room -= ahead.Width()
	}
	for _, fact := range facts {
		if fact.Width()+3 < room {
			about = display.Join(about, p.Glyph.Dot.Between(" ", " "), fact)
			room -= fact.Width() + 3
		}
	}
	end(p.Glyph.Corners[0])
	p.Text(screen.Accent, display.Join(heavy, display.Lit(" Time")))
	p.Text(screen.Muted, p.Truncate(about.Between("  ", " "), p.Left))
	p.Text(screen.Accent, display.Repeat(heavy, p.Left-right.Width()-s.At.Word.Width()-edge))
	p.Text(role, s.At.Word.Between(" ", ""))
	p.Text(screen.Plain, right)
	p.Spaces(screen.Bare, 1)
	p.Text(screen.Accent, heavy)
	end(p.Glyph.Corners[1])
}

// untimedText explains why the axis counts events.
func (s *TimeStrip) untimedText(t *stream.Turn) display.Text {
	if t.OpenedAt >= 0 {
		return display.Lit("the response arrived at once: one column per event")
	}
	return display.Lit("no times in this file: one column per event")
}

// momentText returns the position of the moment, and the end of the turn so far.
func (s *TimeStrip) momentText(p *screen.Pen) display.Text {
	now, last := s.momentPosition()-s.from, s.axis.last-s.from
	if !s.axis.timed {
		return p.Format("event %s of %s", screen.Count(int(now)), screen.Count(int(last)))
	}
	since := screen.Time(time.Duration(now)).Between("+", " of ")
	if t := s.liveTurn(); s.At.Clock && t != nil {
		if clock, ok := s.At.Live.WallClock(t.Exchange, time.Duration(s.momentPosition())); ok {
			since = p.Clean(clock.Format(clockForm)).Between("", " of ")
		}
	}
	return display.Join(since, screen.Time(time.Duration(last)))
}

// clockForm is the form of clock times, for time.Time.Format.
const clockForm = "15:04:05.000"

// deltasOf returns the number of deltas in a turn, or in the selected call.
func deltasOf(t *stream.Turn, chosen stream.Ref) (n int) {
	if t == nil {
		return 0
	}
	for _, c := range t.Calls {
		if chosen.Call == 0 || c.Ref() == chosen {
			n += c.Deltas()
		}
	}
	return n
}

// momentPosition returns the position of the moment on the axis.
func (s *TimeStrip) momentPosition() int64 {
	n := s.At.Then.Events()
	if s.At.Ended {
		n = lastEventOf(s.At.Then, s.liveTurn()) // no event ended the turn
	} else {
		n--
	}
	return min(max(s.axis.positionOf(max(n, 0)), s.axis.zero), s.axis.last)
}

// Cells of the axis.
const (
	minTickCells = 13 // minimum distance between two ticks
	nearMoment   = 5  // minimum distance between a tick and the moment
)

// tickStep returns the distance between two ticks: 1, 2 or 5 times a power of ten.
func (s *TimeStrip) tickStep() int64 {
	span := s.axis.last - s.axis.first
	most := int64(max(1, min(8, s.axis.cells/minTickCells)))
	step := int64(1)
	if s.axis.timed {
		step = int64(time.Millisecond)
	}
	for {
		for _, by := range []int64{1, 2, 5} {
			if span/(by*step) <= most {
				return by * step
			}
		}
		step *= 10
	}
}

// tickText formats the label of a tick.
func (s *TimeStrip) tickText(at, step int64) display.Text {
	d := time.Duration(at)
	switch {
	case !s.axis.timed:
		return screen.Count(int(at))
	case at == 0:
		return display.Lit("0")
	case s.axis.last-s.from < int64(time.Second):
		return display.Format("%d ms", d.Milliseconds())
	case d >= time.Minute:
		return screen.Time(d)
	case step >= int64(10*time.Second):
		return display.Format("%d s", int(d.Seconds()))
	}
	return display.Format("%.1f s", d.Seconds())
}

// drawAxis draws the ticks and the moment. A tick too close to the moment is left out.
func (s *TimeStrip) drawAxis(p *screen.Pen, left int) {
	here, step := s.axis.cellOf(s.momentPosition()), s.tickStep()
	now := display.Text{}
	if s.axis.timed && s.axis.cells >= 8*minTickCells/2 {
		now = display.Format("%.2f", time.Duration(s.momentPosition()-s.from).Truncate(10*time.Millisecond).Seconds())
	}
	if here+1+now.Width() > s.axis.cells {
		now = display.Text{}
	}
	p.Spaces(screen.Bare, left)
	drawn, end := 0, left+s.axis.cells
	at := func(cell int) { p.Spaces(screen.Bare, cell-drawn); drawn = max(drawn, cell) }
	moment := func() {
		if s.At.Still {
			return
		}
		at(here)
		p.Text(screen.Accent, p.Glyph.Over)
		p.Text(screen.Accent, now)
		drawn += 1 + now.Width()
	}
	placed := s.At.Still
	first := (s.axis.first - s.from + step - 1) / step * step
	for tick := max(first, 0); s.from+tick <= s.axis.last; tick += step {
		cell, text := s.axis.cellOf(s.from+tick), s.tickText(tick, step)
		if cell > here && !placed {
			moment()
			placed = true
		}
		near := !s.At.Still && (max(cell-here, here-cell) <= nearMoment || cell < here && cell+text.Width() >= here)
		if near || cell < drawn+min(drawn, 1) || left+cell+text.Width() > end {
			continue
		}
		at(cell)
		p.Text(screen.Muted, text)
		drawn += text.Width()
	}
	if !placed {
		moment()
	}
}

// drawCells draws a lane. Cells after the moment are muted.
func (s *TimeStrip) drawCells(p *screen.Pen, cells []laneCell) {
	here := s.axis.cells
	if !s.At.Still {
		here = s.axis.cellOf(s.momentPosition())
	}
	for i := range s.axis.cells {
		cell := laneCell{}
		if i < len(cells) {
			cell = cells[i]
		}
		switch {
		case i == here:
			p.Text(screen.Accent, p.Glyph.Here)
		case cell.sign.Empty():
			p.Spaces(screen.Bare, 1)
		case i > here:
			p.Text(screen.Muted, cell.sign)
		default:
			p.Text(cell.role, cell.sign)
		}
	}
}

// drawCall draws the lane of a call: its name, its bytes, and its state at the moment.
func (s *TimeStrip) drawCall(p *screen.Pen, l *callLane, t *stream.Turn, left int) {
	_, c := s.At.Then.Find(stream.Ref{Turn: t.Number, Call: l.number})
	mark, name := display.Lit(" "), p.Name(l.call.Name)
	if s.At.Chosen.Call == l.number && !s.At.Still {
		mark = p.Glyph.Mark
	}
	if name.Empty() {
		name = p.Format("call %d", l.number)
	}
	p.Text(screen.Accent, mark)
	p.Text(screen.Plain, p.Pad(p.Truncate(name.Between(" ", ""), left-2), left-1))
	s.drawCells(p, l.cells)
	if c == nil {
		return
	}
	word := c.Status().String()
	if c.Status() == stream.Waiting {
		word = "named"
	}
	state, role := display.Join(p.Glyph.Status[c.Status()], p.Clean(word).Between(" ", "")), screen.CallRole(c)
	if p.Left <= minNoteCells+1 {
		state = p.Glyph.Status[c.Status()]
	}
	p.Spaces(screen.Bare, 1)
	if p.Left >= wideNote-1 {
		p.Text(role, p.Pad(state, 14))
		p.Text(screen.Muted, display.Join(alignRight(p, screen.Bytes(c.ArgsLen()), 7), alignRight(p, screen.Count(c.Deltas()), 4).Between("", " "), p.Glyph.Change))
		return
	}
	p.Text(role, p.Truncate(state, p.Left))
}

// drawMoment draws the sentence about the moment.
func (s *TimeStrip) drawMoment(p *screen.Pen, t *stream.Turn) {
	then, _ := s.At.Then.Find(t.Ref())
	sentence := s.sentenceOf(then)
	if p.Left >= wideStrip {
		p.Text(screen.Muted, display.Lit(" now at"))
	}
	p.Text(screen.Accent, p.Glyph.Over.Between(" ", "  "))
	for len(sentence) > 1 && p.Clean(strings.Join(sentence, " ")).Width() >= p.Left {
		sentence = sentence[:len(sentence)-1]
	}
	p.Text(screen.Plain, p.Truncate(p.Clean(strings.Join(sentence, " ")), p.Left-1))
}

// sentenceOf describes the moment in one or two sentences. The first is about the growing call, the call that went
// wrong, or else the turn. The second names the party for which the others are waiting, or says that the response is
// still open.
func (s *TimeStrip) sentenceOf(t *stream.Turn) []string {
	if t == nil {
		return []string{"No part of the response has arrived.", "Waiting on the provider."}
	}
	c := s.callOfMoment(t)
	if c != nil {
		name := screen.ShortName(c.Name)
		if name == "" {
			name = count.Of(c.Number, "call") + " without a name"
		}
		says := present.CalloutOfCall(s.At.Then, t, c, nil)
		switch v := says.Verdict; {
		case v.Harm < present.HarmOpen:
			return []string{name + ": " + says.Sentence}
		case !c.MayGrow() || t.Closed():
		case c.ArgsLen() == 0:
			return []string{name + " is named; none of its arguments have arrived.", "Waiting on the provider."}
		default:
			return []string{name + " has " + screen.Bytes(c.ArgsLen()).String() + " of arguments in " + count.Of(c.Deltas(), "delta") + "; more may arrive.", "Waiting on the provider."}
		}
	}
	// No call is growing or went wrong.
	calls := count.Of(len(t.Calls), "call")
	text, thinking := t.TextLens()
	switch {
	case t.Closed() && len(t.Calls) == 0:
		return []string{"The response has ended without a call."}
	case t.Closed():
		return []string{"The response has ended with " + calls + "."}
	case len(t.Calls) > 0 && t.Finish != "":
		return []string{"The provider has finished: " + calls + ".", "The response is still open."}
	case len(t.Calls) > 0:
		return []string{calls + " so far, all final.", "Waiting on the provider."}
	case text > 0:
		return []string{"The model has written " + screen.Bytes(text).String() + " of text, and no call.", "Waiting on the provider."}
	case thinking > 0:
		return []string{"The model thinks: " + screen.Bytes(thinking).String() + " of reasoning, and no call.", "Waiting on the provider."}
	}
	return []string{"The response has begun; nothing from the model has arrived.", "Waiting on the provider."}
}

// callOfMoment returns the call that the last event of a turn is about, or else the newest call that may grow,
// or nil.
func (s *TimeStrip) callOfMoment(t *stream.Turn) *stream.Call {
	for n := range s.At.Then.EventsBefore(t, s.At.Then.Events()) {
		kind, of := s.At.Then.Subject(n)
		if _, c := s.At.Then.Find(of); c != nil && of.Call > 0 && !kind.IsAfterTurn() {
			return c
		}
		if kind != stream.Found {
			break
		}
	}
	for i := len(t.Calls) - 1; i >= 0 && i >= len(t.Calls)-maxLanes; i-- {
		if t.Calls[i].MayGrow() {
			return t.Calls[i]
		}
	}
	return nil
}

// LegendSign is a sign in the timeline, and its meaning.
type LegendSign struct{ Sign, Word display.Text }

// TimeSigns returns the signs in the timeline, except the signs for states.
func TimeSigns(g *screen.Glyphs) []LegendSign {
	bytes := display.Join(g.Levels[0], g.Levels[3], g.Levels[7])
	return []LegendSign{
		{g.Idle, display.Lit("nothing yet, or silence")}, {bytes, display.Lit("bytes")}, {g.Token, display.Lit("first byte")}, {g.Silent, display.Lit("reasoning")},
		{g.Coming, display.Lit("text, calls")}, {g.Ping, display.Lit("only pings")}, {g.Cursor, display.Lit("a tool runs")}, {g.Here, display.Lit("the moment")},
	}
}

// rowAt returns the kind of row y, and its index among the calls. For a row outside the strip, the kind is
// titleStripRow.
func (s *TimeStrip) rowAt(y int) (row stripRow, call int) {
	if y < 0 || y >= len(s.plan.rows) {
		return titleStripRow, 0
	}
	return s.plan.rows[y], y - slices.Index(s.plan.rows, callRow)
}

// laneStart returns the number of cells to the left of the lanes, in a strip of w cells.
func (s *TimeStrip) laneStart(w int) int {
	if s.plan.boxed {
		name, _ := s.sideCells(w - 2)
		return name + 1
	}
	name, _ := s.sideCells(w)
	return name
}

// CallAt returns the call whose name is drawn in row y at cell x, in a strip of w cells. The result ok is false
// if no name is there.
func (s *TimeStrip) CallAt(x, y, w int) (of stream.Ref, ok bool) {
	row, n := s.rowAt(y)
	if row != callRow || x >= s.laneStart(w) || n >= len(s.calls) {
		return of, false
	}
	return stream.Ref{Turn: s.At.Turn, Call: s.calls[n].number}, true
}

// MomentAt returns the number of events up to the end of a cell's time span on the axis or a lane. A click to
// the left or right of the cells counts as the first or last cell. The result ok is false in other rows.
func (s *TimeStrip) MomentAt(x, y, w int) (n int, ok bool) {
	if row, _ := s.rowAt(y); s.At.Live == nil || row == titleStripRow || row >= momentRow {
		return 0, false
	}
	t := s.liveTurn()
	if t == nil {
		return 0, false
	}
	until := s.axis.cellStart(max(0, min(x-s.laneStart(w), s.axis.cells-1)) + 1)
	first, last := int(t.OpenedBy), lastEventOf(s.At.Live, t)
	n = first + sort.Search(last+1-first, func(i int) bool { return s.axis.positionOf(first+i) >= until })
	return s.At.Live.AfterEvent(max(n-1, first)), true
}

// TimeTab shows the timeline of the selected turn as a tab, while the screen is not paused.
type TimeTab struct {
	PaneRows
	strip TimeStrip
}

// NewTimeTab returns the pane.
func NewTimeTab(h Host) *TimeTab {
	x := new(TimeTab)
	x.PaneRows = NewRows(h, func(int) string { return "" })
	return x
}

// Keys returns the keys that scroll.
func (x *TimeTab) Keys() []screen.Binding {
	return x.keys(nil, x.ScrollKeys("scroll"), x.End, "zoom", "search", "next")
}

// Label returns the pane's name, and a note if there are no times.
func (x *TimeTab) Label() Label {
	l := Label{Name: display.Lit("Time"), Role: screen.Muted, Empty: x.Rows == 0}
	if x.Rows > 0 && !x.strip.axis.timed {
		if t := x.strip.liveTurn(); t != nil { // nil if the screen is about to show another view
			l.Count = x.strip.untimedText(t)
		}
	}
	return l
}

// Click does nothing, because there is no cursor.
func (x *TimeTab) Click(int, int) (again bool) { return false }

// GoTo scrolls to a row.
func (x *TimeTab) GoTo(row int) { x.Scroll(row) }

// Cursor returns the first visible row.
func (x *TimeTab) Cursor() int { return x.Top }

// Extend updates the pane for the selection.
func (x *TimeTab) Extend(s *Context, w, h int) {
	at := StripSubject{Live: s.View, Then: s.View, Turn: s.Chosen.Turn, Chosen: s.Chosen, Still: true}
	t, _ := s.View.Find(s.Chosen)
	if t == nil || t.Retention != stream.InMemory || len(t.Calls) == 0 && t.OpenedAt < 0 {
		x.Fit(0, titleRow, h)
		return
	}
	x.strip.Extend(at, w, s.Rows, s.Pen)
	x.Fit(len(x.strip.plan.rows), titleRow, h)
}

// Draw draws row y. The program draws the first row.
func (x *TimeTab) Draw(p *screen.Pen, y int, _ bool) {
	if row := x.Top + y - titleRow; row < x.Rows {
		x.strip.Draw(p, row)
	}
	p.Fill(screen.Bare)
}
