package panes

import (
	"strconv"
	"strings"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// breakdownTable is the table of a request's parts, at the top of the Request pane.
type breakdownTable struct {
	*present.Breakdown
	counted  stream.Usage // the usage that the tokens and costs were computed from
	closed   bool
	figure   price.Figure
	compared bool         // the previous request is known, so the last column marks new parts
	unused   display.Text // a note about the tools that were not called; empty if there is none

	called   calledNames
	computed bool // the tokens and costs have been computed
}

// calledNames are the names of the tools that have been called so far.
type calledNames struct {
	names   map[string]bool
	ended   int  // the turns before this one have ended, and their calls are in names
	partial bool // the calls of some turns were dropped
}

// addTurns adds the names of the tools that were called since its last run.
func (n *calledNames) addTurns(turns []*stream.Turn) {
	if n.names == nil {
		n.names = map[string]bool{}
	}
	ended := true
	for i := min(n.ended, len(turns)); i < len(turns); i++ {
		t := turns[i]
		for _, c := range t.Calls {
			n.names[c.Name] = true
		}
		n.partial = n.partial || t.Retention == stream.Dropped
		if ended = ended && t.Closed(); ended {
			n.ended = i + 1
		}
	}
}

// Widths of the columns, including the blanks before them.
const (
	breakdownLabel  = 20
	breakdownBar    = 16
	minBreakdownBar = 6
)

// breakdownColumns are the columns after the bar.
var breakdownColumns = [...]struct {
	head  display.Text
	cells int
}{{display.Lit("BYTES"), 8}, {display.Lit("TOKENS"), 8}, {display.Lit("$ NOW"), 9}, {display.Lit("   NEW"), 10}}

// breakdownWidths are the widths of the bar and of the columns in breakdownColumns. A column that has no values, or
// for which there is no room, has the width 0.
type breakdownWidths struct {
	bar     int
	columns [len(breakdownColumns)]int
}

// setBreakdown sets the breakdown of another request.
func (b *breakdownTable) setBreakdown(parts *present.Breakdown, change stream.RequestChange) {
	b.Breakdown, b.compared, b.computed = parts, change.Comparable, false
}

// rowCount returns the number of rows: the column heads, the parts, the total, a note, and the title of the body.
func (b *breakdownTable) rowCount() int {
	switch {
	case b.Breakdown == nil:
		return 0
	case b.unused.Empty():
		return len(b.Rows) + 3
	}
	return len(b.Rows) + 4
}

// updateUsage computes the tokens and the costs again if the usage of the turn has changed.
func (b *breakdownTable) updateUsage(s *Context, t *stream.Turn) {
	if b.Breakdown == nil || t == nil {
		return
	}
	// The note about the tools that were not called.
	turns := s.View.Session().Turns
	b.called.addTurns(turns)
	b.unused = display.Text{}
	unused, all, size := b.UnusedTools(b.called.names)
	if unused > 0 && len(turns) >= minTurnsForUnused && len(b.called.names) > 0 && !b.called.partial {
		b.unused = s.Pen.Format("%d of %s not called so far: %s of this request.", unused, screen.Plural(all, "tool"), screen.Bytes(size))
	}
	if b.computed && b.counted == t.Usage && b.closed == t.Closed() {
		return
	}
	b.computed, b.counted, b.closed, b.figure = true, t.Usage, t.Closed(), s.Bill.CostOf(t)
	if b.figure.Source != price.FromTable {
		b.SetUsage(t.Usage, nil)
		return
	}
	rates := s.Bill.Prices.Rates(t, headOf(s.View, t))
	b.SetUsage(t.Usage, &rates)
}

// minTurnsForUnused is the minimum number of turns for the note about unused tools.
const minTurnsForUnused = 2

// partAt returns the offset in the body of the part that a row shows, or -1 if the row shows no part.
func (b *breakdownTable) partAt(row int) int {
	if b.Breakdown == nil || row < 1 || row > len(b.Rows) {
		return -1
	}
	return b.Rows[row-1].At
}

// widthsIn returns the widths of the columns in a table with the given number of cells.
func (b *breakdownTable) widthsIn(cells int) (w breakdownWidths) {
	cells -= breakdownLabel
	for i, has := range [...]bool{true, b.Counted, b.Priced, b.compared} {
		if of := breakdownColumns[i].cells; has && of <= cells {
			w.columns[i] = of
			cells -= of
		}
	}
	if cells >= minBreakdownBar {
		w.bar = min(cells, breakdownBar)
	}
	return w
}

// drawRow draws a row of the table.
func (b *breakdownTable) drawRow(p *screen.Pen, row int) {
	w := b.widthsIn(p.Left)
	switch row--; {
	case row < 0:
		p.Text(screen.Plain, p.Pad(p.Truncate(display.Lit("Part of the request"), breakdownLabel-1), breakdownLabel+w.bar))
		for i, of := range breakdownColumns[:len(breakdownColumns)-1] {
			p.Text(screen.Muted, alignRight(p, of.head, w.columns[i]))
		}
		p.Text(screen.Muted, p.Truncate(breakdownColumns[len(breakdownColumns)-1].head, w.columns[len(w.columns)-1]))
	case row < len(b.Rows):
		of := &b.Rows[row]
		p.Spaces(screen.Bare, 2)
		p.Text(screen.Plain, p.Pad(p.Truncate(partName(p, of), breakdownLabel-3), breakdownLabel-2))
		most := 1 // the largest part fills the whole bar, and each part has at least one cell
		for i := range b.Rows {
			most = max(most, b.Rows[i].Bytes)
		}
		bar := min(w.bar, max(1, (of.Bytes*w.bar+most/2)/most))
		p.Block(screen.Live, true, true, bar)
		p.Spaces(screen.Bare, w.bar-bar)
		b.drawNumbers(p, of, &w, true)
		b.drawChange(p, of, w.columns[len(w.columns)-1])
	case row == len(b.Rows):
		b.drawTotal(p, &w)
	case row == len(b.Rows)+1 && !b.unused.Empty():
		p.Text(screen.Muted, b.unused.Between("i ", ""))
	default:
		p.Caption(screen.Muted, display.Lit("Body"))
	}
}

// drawNumbers draws the size, the tokens and the cost of a row. If share is true, the tokens and the cost are a
// computed share of the total, and therefore approximate.
func (b *breakdownTable) drawNumbers(p *screen.Pen, of *present.BreakdownRow, w *breakdownWidths, share bool) {
	p.Text(screen.Plain, alignRight(p, screen.Bytes(of.Bytes), w.columns[0]))
	p.Text(screen.Plain, alignRight(p, p.Clean(tokensText(of.Tokens, share)), w.columns[1]))
	p.Text(screen.Plain, alignRight(p, p.Clean(partCost(of.Cost, share || b.figure.Approximate)), w.columns[2]))
}

// drawChange draws whether a part is new, changed, or neither.
func (b *breakdownTable) drawChange(p *screen.Pen, of *present.BreakdownRow, cells int) {
	if cells == 0 {
		return
	}
	p.Spaces(screen.Bare, 3)
	switch of.Change {
	case present.NewPart:
		p.Text(screen.Plain, display.Lit("new"))
	case present.ChangedPart:
		p.Text(screen.Plain, display.Lit("changed"))
	default:
		p.Text(screen.Muted, p.Glyph.Dash.Between(" ", ""))
	}
}

// drawTotal draws the row with the size of the body, the input tokens of the turn, and their cost.
func (b *breakdownTable) drawTotal(p *screen.Pen, w *breakdownWidths) {
	label := display.Lit("in all")
	if with := p.Format("in all, %s cached", p.Clean(tokensText(b.Cached, false))); b.Counted && b.Cached > 0 && with.Width() < breakdownLabel-2+w.bar {
		label = with
	}
	p.Spaces(screen.Bare, 2)
	p.Text(screen.Muted, p.Pad(label, breakdownLabel-2+w.bar))
	b.drawNumbers(p, &b.Total, w, false)
	if without := p.Format("  uncached %s", p.Clean(partCost(b.Uncached, b.figure.Approximate))); w.columns[2] > 0 && b.Cached > 0 && without.Width() <= p.Left {
		p.Text(screen.Muted, without)
	}
}

// partName returns the label of a part.
func partName(p *screen.Pen, of *present.BreakdownRow) display.Text {
	switch of.Class {
	case present.ToolsClass:
		return p.Name(strings.Join(of.Names, ", ")).Between("tools: ", "")
	case present.ResultClass:
		if of.First == of.Last {
			return p.Format("tool result %d", of.First)
		}
		return p.Format("tool results %d%s%d", of.First, p.Glyph.Dash, of.Last)
	}
	return partLabels[of.Class]
}

var partLabels = [...]display.Text{
	present.SystemClass: display.Lit("system"), present.CallClass: display.Lit("tool calls"), present.ReasoningClass: display.Lit("reasoning"),
	present.UserTextClass: display.Lit("your text"), present.ModelTextClass: display.Lit("model text"),
	present.MediaClass: display.Lit("media"), present.OtherClass: display.Lit("others"),
}

// partCost formats a cost in at most eight cells. Costs under a dollar have four decimals, and others have two.
func partCost(usd float64, approximate bool) string {
	decimals := 4
	switch {
	case usd > 0 && usd < 0.00005:
		return minAmount
	case usd >= 1:
		decimals = 2
	}
	text := "$" + strconv.FormatFloat(usd, 'f', decimals, 64)
	if approximate {
		return "~" + text
	}
	return text
}

// tokensText formats a number of tokens in at most seven cells.
func tokensText(n int64, approximate bool) string {
	text := strconv.FormatInt(n, 10)
	if n >= 1000 {
		text = strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + "k"
	}
	if approximate {
		return "~" + text
	}
	return text
}

// requestEdits is the table of the differences between a request and the previous request of its conversation. The key
// o shows it in place of the breakdown.
type requestEdits struct {
	shown bool
	key   requestKey // the request that was compared
	title display.Text
	rows  []present.RequestEdit
}

// rowCount returns the number of rows: the title, the differences, and the title of the body.
func (e *requestEdits) rowCount() int { return len(e.rows) + 2 }

// partAt returns the offset in the body of the part that a row shows, or -1 if the body doesn't have the part.
func (e *requestEdits) partAt(row int) int {
	if row < 1 || row > len(e.rows) {
		return -1
	}
	return e.rows[row-1].At
}

// updateEdits compares the shown request with the previous one. Large requests are compared in the background.
func (r *Request) updateEdits(v *providers.View, c Selection, x *providers.Exchange, draw display.Drawer) {
	if !r.edits.shown || r.doc == nil || r.edits.key == r.key {
		return
	}
	r.edits = requestEdits{shown: true, key: r.key}
	before, title := previousRequest(v, c.Turn, x, draw)
	if r.edits.title = title; before == nil {
		return
	}
	key, now := r.key, json.Value(r.doc.text)
	set := func(rows []present.RequestEdit) {
		if r.edits.key == key {
			r.edits.rows = rows
		}
	}
	if max(len(before), len(now)) <= maxSyncBytes {
		set(present.CompareRequests(before, now))
		return
	}
	r.host.Do(func() func() {
		rows := present.CompareRequests(before, now)
		return func() { set(rows) }
	})
}

// previousRequest returns the body of the previous request in a turn's conversation, and the title of the differences.
// The body is nil if it is unknown, and then the title is the reason.
func previousRequest(v *providers.View, t *stream.Turn, x *providers.Exchange, draw display.Drawer) (body json.Value, title display.Text) {
	if t == nil || t.Request == nil || !t.Request.Change.Comparable || x.HasManyRequests() {
		return nil, display.Lit("The previous request of this conversation is unknown")
	}
	number := t.Request.Change.PreviousExchange
	before := v.Exchange(number)
	if before == nil || before.Evicted || len(before.RequestBody()) == 0 {
		return nil, display.Lit("The previous request of this conversation is not in memory")
	}
	return before.RequestBody(), draw.Clean(RequestName(v, number)).Between("What changed since ", "")
}

// editNameCells is the minimum width, in cells, of the column with the names of the request's parts.
const editNameCells = 20

// drawRow draws a row of the table.
func (e *requestEdits) drawRow(p *screen.Pen, row int) {
	switch row--; {
	case row < 0:
		p.Text(screen.Plain, e.title)
	case row < len(e.rows):
		edit := &e.rows[row]
		role, sign := screen.Plain, display.Lit("+ ")
		switch edit.Kind {
		case present.KeptPart:
			role, sign = screen.Muted, p.Glyph.Side[screen.Same]
		case present.AlteredPart:
			sign = p.Glyph.Side[screen.Differs]
		case present.RemovedPart:
			sign = display.Lit("- ")
		}
		p.Spaces(screen.Bare, 2)
		p.Text(role, p.Pad(sign, 3))
		name := p.Name(edit.Name)
		p.Text(role, p.Pad(name, max(editNameCells, name.Width()+2)))
		p.Text(role, p.Name(edit.Text))
	default:
		p.Caption(screen.Muted, display.Lit("Body"))
	}
}
