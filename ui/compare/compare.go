// Package compare is the mode that shows turns side by side in a large, simple table: one field per row, one
// turn per column, and the base always on the left. It updates while the turns arrive.
//
// Only visible rows are drawn, and only the visible part of each cell, so the time to draw a frame does not
// depend on the size of the arguments. Package ui/diff finds the differences: at once for small calls, and in
// another goroutine for large calls.
package compare

import (
	"slices"
	"time"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/diff"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// comparison is the open mode. It stores references to turns and calls, and looks them up in the host's
// view.
type comparison struct {
	screen.Window // the rows below the column heads, with the cursor
	host          modes.Host
	marks         *Marks
	bill          *panes.Costs
	draw          display.Drawer
	w, h          int
	table         int // width of the table; on a wide screen, the calls are to the right of it

	why      diff.Reason
	tool     string // the tool that all nearby turns call
	columns  []column
	base     int // column number
	selected int // column number
	first    int // number of columns that are scrolled out of view between the base and the first visible column
	fold     equalRows
	head     head
	byPhase  bool
	full     *valueView // set while a value is shown in full
	below    []belowRow // the rows with the calls, to the right of the table or below it
	views    map[[2]stream.Ref]*valueView
	wires    [2]wireOf // the frames of the base and of the other turn, below the table

	seen   []columnState
	groups []*group
	sums   map[stream.Ref]uint64 // hashes of complete arguments
	busy   bool                  // another goroutine is comparing
	stale  bool                  // a result has not been shown yet
	made   int                   // number of layouts so far

	times        []diff.Times
	bars         timeBars
	sentence     []string
	differs      bool // something differs
	pending      bool // a turn is still open
	wire         []diff.Fact
	sameRequests []diff.SameRequest // one per column; Host is empty if the column's request differs from the base's
	label        int                // width of the row names, in cells
	rows         []line
	different    int  // number of calls and fields that differ
	folded       bool // the equal rows are not shown
}

// column is one turn. The exchange might not have opened its turn yet.
type column struct {
	diff.ComparedTurn
	name string
}

// Click moves the cursor to the clicked row, unless a value is shown in full.
func (c *comparison) Click(x, y int) (again bool) { return c.full == nil && c.Window.Click(x, y) }

// Roll scrolls the full value, or else the rows.
func (c *comparison) Roll(rows int) {
	if c.full != nil {
		c.full.Roll(rows)
		return
	}
	c.Window.Roll(rows)
}

// columnState contains the values that show whether a column has changed.
type columnState struct {
	turn   stream.Ref
	events int
	kept   stream.Retention
	ended  bool
}

// Entry returns the entry that opens the mode with the turns that diff.ChooseTurns returns. The parameter bill
// computes their costs. If large is set, equal rows are hidden at first.
func Entry(marks *Marks, bill *panes.Costs, draw display.Drawer, large bool) modes.Entry {
	return modes.Entry{Binding: screen.Do("compare", nil), New: func(h modes.Host) (modes.Mode, display.Text) {
		places, why, tool := diff.ChooseTurns(h.View(), h.Chosen(), *marks)
		if len(places) < 2 {
			return nil, display.Lit("no similar turn: mark turns with m, then press =")
		}
		c := &comparison{host: h, marks: marks, bill: bill, draw: draw, why: why, tool: tool, sums: map[stream.Ref]uint64{}}
		if large {
			c.fold = hidden
		}
		for _, p := range places {
			c.columns = append(c.columns, column{ComparedTurn: p})
		}
		for i := range c.columns {
			if t := c.columns[i].findTurn(h.View()); t != nil && t.Number == h.Chosen().Turn {
				c.selected = i
			}
		}
		return c, display.Text{}
	}}
}

// findTurn returns the column's turn. It returns nil until the turn opens.
func (c *column) findTurn(v *providers.View) *stream.Turn {
	if c.Turn == stream.NoRef {
		t := v.TurnOf(c.Exchange)
		if t == nil {
			return nil
		}
		c.Turn = t.Ref()
	}
	t, _ := v.Find(c.Turn)
	return t
}

// Extend compares the turns and lays out the table again if the data or the size has changed.
func (c *comparison) Extend(v *providers.View, w, h int) {
	if c.full != nil {
		c.full.extend(c, v, w, h)
	}
	now := make([]columnState, len(c.columns))
	for i := range c.columns {
		col := &c.columns[i]
		if x := v.Exchange(col.Exchange); x != nil {
			now[i].ended = x.Ended
		}
		if t := col.findTurn(v); t != nil {
			now[i].turn, now[i].events, now[i].kept = t.Ref(), t.Events, t.Retention
		}
	}
	fresh := !slices.Equal(now, c.seen)
	if !fresh && !c.stale && w == c.w && h == c.h {
		c.extendBelow(v)
		return
	}
	c.w, c.h, c.seen, c.stale = w, h, now, false
	c.made++
	if fresh || c.groups == nil {
		c.alignCalls(v)
	}
	c.compareGroups(v)
	c.describeTurns(v)
	c.layOut(v)
	c.extendBelow(v)
}

// columnTurns returns the turns of the columns. It returns nil for a turn that has not opened.
func (c *comparison) columnTurns(v *providers.View) []*stream.Turn {
	all := make([]*stream.Turn, len(c.columns))
	for i := range c.columns {
		all[i] = c.columns[i].findTurn(v)
	}
	return all
}

// isFinished reports whether no more data can arrive for a column.
func (c *comparison) isFinished(v *providers.View, i int, t *stream.Turn) bool {
	if t != nil {
		return t.Closed()
	}
	x := v.Exchange(c.columns[i].Exchange)
	return x == nil || x.Ended
}

// describeTurns sets everything that describes whole turns: names, times, the sentence above the table, and the
// differences between the responses of different hosts to the same request.
func (c *comparison) describeTurns(v *providers.View) {
	places := make([]diff.ComparedTurn, len(c.columns))
	for i := range places {
		places[i] = c.columns[i].ComparedTurn
	}
	for i, name := range diff.ColumnNames(v, places, present.ShortModel) {
		c.columns[i].name = screen.ShortName(name)
	}
	p := c.newComparison(v)
	c.times = c.times[:0]
	for i := range p.Sides {
		t := diff.Times{First: stream.NoTime, Arg: stream.NoTime, End: stream.NoTime}
		if p.Sides[i].Turn != nil {
			t = diff.TimesOf(v, p.Sides[i].Turn)
		}
		c.times = append(c.times, t)
	}
	if len(c.sameRequests) != len(c.columns) {
		c.sameRequests = make([]diff.SameRequest, len(c.columns))
		base := diff.RequestOf(v, v.Exchange(c.columns[c.base].Exchange))
		for i := range c.columns {
			if i == c.base {
				continue
			}
			r := diff.RequestOf(v, v.Exchange(c.columns[i].Exchange))
			if way, ok := r.SameElsewhere(&base); ok {
				c.sameRequests[i] = way
			}
		}
	}
	count := p.Count()
	c.pending = count.Pending
	c.differs = !count.Equal() || slices.ContainsFunc(p.Sides, func(s diff.Side) bool { return s.Fails != "" })
	c.sentence = p.Sentence(func(d time.Duration) string { return screen.Time(d).String() })
	if c.wire = nil; slices.ContainsFunc(c.sameRequests, func(w diff.SameRequest) bool { return w.Host != "" }) {
		c.wire = p.WireFacts()
		for i, way := range c.sameRequests {
			if way.Host != "" {
				c.sentence = append([]string{p.ChangeSentence(i, way, c.wire)}, c.sentence...)
			}
		}
	}
}

// newComparison returns the current state as a diff.Comparison.
func (c *comparison) newComparison(v *providers.View) *diff.Comparison {
	p := &diff.Comparison{Base: c.base}
	for i, t := range c.columnTurns(v) {
		s := diff.Side{Name: c.columns[i].name, Turn: t, Over: c.isFinished(v, i, t), Fails: c.failureText(v, i, t), Took: stream.NoTime}
		if t != nil && t.Closed() {
			s.Took = diff.TimesOf(v, t).End
		}
		p.Sides = append(p.Sides, s)
	}
	for _, g := range c.groups {
		set := diff.CallSet{Rows: g.rows, Sums: g.sums, Calls: make([]*stream.Call, len(g.calls))}
		for i, r := range g.calls {
			_, set.Calls[i] = v.Find(r)
		}
		p.Sets = append(p.Sets, set)
	}
	return p
}

// failureText returns a few words about why a turn has no usable response, or "" if the turn has one.
func (c *comparison) failureText(v *providers.View, i int, t *stream.Turn) string {
	x := v.Exchange(c.columns[i].Exchange)
	switch {
	case x != nil && x.Head.Status >= 300:
		return c.draw.Format("HTTP %d", x.Head.Status).String()
	case t == nil && c.isFinished(v, i, t):
		return "no response"
	case t != nil && t.Failure != "" && len(t.Calls) == 0:
		return screen.ShortName(t.Failure)
	}
	return ""
}

// Keys returns the key bindings of the table, or of the full value.
func (c *comparison) Keys() []screen.Binding {
	if c.full != nil {
		return append(c.full.ScrollKeys("scroll"), screen.Key("esc q enter", "back", "back to the table", func() { c.full, c.stale = nil, true }))
	}
	key := func(keys, hint, does string, do func()) screen.Binding {
		return screen.Key(keys, hint, does, func() { do(); c.stale = true })
	}
	all := []screen.Binding{
		key("left h shift+tab", "column", "previous column", func() { c.stepColumn(-1) }).Show("h l"),
		key("right l tab", "", "next column", func() { c.stepColumn(1) }),
	}
	all = append(all, c.CursorKeys("row", c.MoveTo)...)
	end := &all[len(all)-1]
	end.Does, end.Do = display.Lit("to the end, and follow"), c.End
	return append(all,
		key("enter", "in full", "show the full value and the base's", c.openFull),
		key("b", "base", "make this column the base", func() {
			if c.base != c.selected {
				c.base, c.first, c.sameRequests, c.seen = c.selected, 0, nil, nil
			}
		}),
		key("-", "equal rows", "hide equal rows", func() { c.fold = hidden }).Show("- +"),
		key("+", "", "show equal rows", func() { c.fold = shown }),
		key("m", "mark", "mark or unmark the turn", func() {
			if turn := c.columns[c.selected].Turn; turn != stream.NoRef {
				c.host.Say(c.marks.Toggle(turn))
			} else {
				c.host.Say(display.Lit("this turn has no data yet"))
			}
		}),
		key("o", "go there", "go to the turn", c.goToSelected),
		key("T", "bars", "toggle bars by time or by phase", func() { c.byPhase = !c.byPhase }),
		key("esc q =", "close", "close", c.host.Close),
	)
}

// columnOrder returns the columns from left to right: the base, then the other columns.
func (c *comparison) columnOrder() []int {
	all := []int{c.base}
	for i := range c.columns {
		if i != c.base {
			all = append(all, i)
		}
	}
	return all
}

// stepColumn selects the next or previous column.
func (c *comparison) stepColumn(by int) {
	order := c.columnOrder()
	for at, i := range order {
		if i == c.selected {
			c.selected = order[max(0, min(at+by, len(order)-1))]
			return
		}
	}
}

// goToSelected closes the mode and selects the column's turn. If the cursor is on a row of a call, it selects
// that call.
func (c *comparison) goToSelected() {
	turn := c.columns[c.selected].Turn
	if turn == stream.NoRef {
		c.host.Say(display.Lit("this turn has no data yet"))
		return
	}
	if g := c.groupAt(c.At); g != nil && g.calls[c.selected].Call != 0 {
		turn = g.calls[c.selected]
	}
	c.host.Close()
	c.host.Choose(turn)
}

// Marks are the turns to compare, in the order in which they were marked.
type Marks []stream.Ref

// Toggle marks or unmarks a turn. It returns the message to show.
func (m *Marks) Toggle(turn stream.Ref) display.Text {
	if at := slices.Index(*m, turn); at >= 0 {
		*m = slices.Delete(*m, at, at+1)
		return display.Text{}
	}
	*m = append(*m, turn)
	return screen.Plural(len(*m), "turn").Between("", " marked: = compares")
}
