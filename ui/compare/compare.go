// Package compare is the mode that shows turns side by side, as a picture that reads from the back
// of a room: a member a row, a turn a column, the base pinned left, while they arrive.
//
// Only the rows of the window are drawn, and a row costs what its cells show: however long
// arguments are, a frame costs the same. What differs is found by ui/diff, for calls that are small
// at once, for others beside the screen.
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
	"toolscope/ui/screen"
)

// comparison is the mode. It names turns and calls, and looks them up in what the host shows.
type comparison struct {
	screen.Window // of the rows below the heads; the cursor is in it
	host          modes.Host
	marks         *Marks
	bill          *panes.Costs
	draw          display.Drawer
	w, h          int

	why      diff.Reason
	tool     string // that neighbours have in common
	columns  []column
	base     int // column
	selected int // column
	first    int // of those beside the base, how many are not shown because they are further left
	hides    bool
	byPhase  bool
	full     *valueView // while a value is shown in full

	seen   []columnState
	groups []*group
	sums   map[stream.Ref]uint64 // of calls whose arguments are whole
	busy   bool                  // a comparison is being made beside the screen
	stale  bool                  // something was made, and is not shown yet
	made   int                   // how often something was laid out

	times        []diff.Times
	bars         timeBars
	sentence     []string
	wire         []diff.Fact
	sameRequests []diff.SameRequest // of each column, no host where it is none
	label        int                // cells of the names of rows
	rows         []line
}

// column is one turn. Its exchange may have nothing to show yet.
type column struct {
	diff.ComparedTurn
	name string
}

// Click puts the cursor on the row that is there, unless one value fills the screen.
func (c *comparison) Click(x, y int) (again bool) { return c.full == nil && c.Window.Click(x, y) }

// Roll moves the view of what is shown.
func (c *comparison) Roll(rows int) {
	if c.full != nil {
		c.full.Roll(rows)
		return
	}
	c.Window.Roll(rows)
}

// columnState says what is known of a column: while it is the same, nothing of it has changed.
type columnState struct {
	turn   stream.Ref
	events int
	kept   stream.Retention
	ended  bool
}

// Entry compares the marked turns, or else those that were asked the same as the chosen one, or
// else those near it that call the same tool. The bill says what they cost.
func Entry(marks *Marks, bill *panes.Costs, draw display.Drawer, large bool) modes.Entry {
	key := screen.Binding{Keys: []string{"="}, Does: display.Lit("compare marked turns")}
	return modes.Entry{Binding: key, New: func(h modes.Host) (modes.Mode, display.Text) {
		places, why, tool := diff.ChooseTurns(h.View(), h.Chosen(), *marks)
		if len(places) < 2 {
			return nil, display.Lit("no similar turn: mark turns with m, then press =")
		}
		c := &comparison{host: h, marks: marks, bill: bill, draw: draw, hides: large, why: why, tool: tool, sums: map[stream.Ref]uint64{}}
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

// findTurn is the turn, nil until it opens.
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

// Extend takes what is new, if anything is.
func (c *comparison) Extend(v *providers.View, w, h int) {
	if c.full != nil {
		c.full.extend(c, v, w, h)
	}
	now := c.columnStates(v)
	fresh := !slices.Equal(now, c.seen)
	if !fresh && !c.stale && w == c.w && h == c.h {
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
}

func (c *comparison) columnStates(v *providers.View) []columnState {
	all := make([]columnState, len(c.columns))
	for i := range c.columns {
		col := &c.columns[i]
		if x := v.Exchange(col.Exchange); x != nil {
			all[i].ended = x.Ended
		}
		if t := col.findTurn(v); t != nil {
			all[i].turn, all[i].events, all[i].kept = t.Ref(), t.Events, t.Retention
		}
	}
	return all
}

// columnTurns are those of the columns, nil where none has opened.
func (c *comparison) columnTurns(v *providers.View) []*stream.Turn {
	all := make([]*stream.Turn, len(c.columns))
	for i := range c.columns {
		all[i] = c.columns[i].findTurn(v)
	}
	return all
}

// isFinished reports whether nothing more comes of a column.
func (c *comparison) isFinished(v *providers.View, i int, t *stream.Turn) bool {
	if t != nil {
		return t.Closed()
	}
	x := v.Exchange(c.columns[i].Exchange)
	return x == nil || x.Ended
}

// describeTurns makes what is said of all turns: names, times, the sentence, what came otherwise over another
// way.
func (c *comparison) describeTurns(v *providers.View) {
	places := make([]diff.ComparedTurn, len(c.columns))
	for i := range places {
		places[i] = c.columns[i].ComparedTurn
	}
	for i, name := range diff.ColumnNames(v, places, panes.ShortModel) {
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
	c.findSameRequests(v)
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

// newComparison is what the sentence is made of, as it is now.
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

// failureText is why nothing of use came of a turn, in a word or two.
func (c *comparison) failureText(v *providers.View, i int, t *stream.Turn) string {
	x := v.Exchange(c.columns[i].Exchange)
	switch {
	case x != nil && x.Head.Status >= 300:
		return c.draw.Format("HTTP %d", x.Head.Status).String()
	case t == nil && c.isFinished(v, i, t):
		return "no answer came"
	case t != nil && t.Failure != "" && len(t.Calls) == 0:
		return screen.ShortName(t.Failure)
	}
	return ""
}

// findSameRequests finds the turns whose request is that of the base, and went another way.
func (c *comparison) findSameRequests(v *providers.View) {
	if len(c.sameRequests) == len(c.columns) {
		return
	}
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
