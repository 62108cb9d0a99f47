package compare

import (
	"slices"
	"time"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/diff"
	"toolscope/ui/display"
	"toolscope/ui/modes"
)

// line is a row of the window.
type line struct {
	kind  lineKind
	group int  // for a call or a field
	row   int  // index of a field, or of a fact of the response
	under bool // the other turn's row, below the base's
}

type lineKind uint8

const (
	failLine lineKind = iota
	wireLine
	callLine
	fieldLine
	textLine
)

const (
	minLabel  = 16 // width of the row names, including the space before the first column
	minColumn = 20
	beneathTo = 60 // the width below which the other turn is below the base
)

// isStacked reports whether there is room for only one column, so that the other turn is below the base.
func (c *comparison) isStacked() bool { return c.w < beneathTo }

// shownColumns returns the visible columns, the base first. The selected column is always among them.
func (c *comparison) shownColumns() []int {
	order := c.columnOrder()
	n := max(2, min(len(order), (c.w-minLabel-2)/minColumn))
	if c.isStacked() {
		n = 2
	}
	others := order[1:]
	for at, i := range others {
		if i == c.selected {
			c.first = max(min(c.first, at), at-(n-1)+1)
		}
	}
	c.first = max(0, min(c.first, len(others)-(n-1)))
	return append([]int{c.base}, others[c.first:c.first+n-1]...)
}

// columnStart returns the cell where column at of n begins.
func (c *comparison) columnStart(at, n int) int { return c.label + at*(c.w-2-c.label)/n }

// widthOf returns the width of column at of n, in cells.
func (c *comparison) widthOf(at, n int) int {
	if at == n-1 {
		return c.w - c.columnStart(at, n)
	}
	return c.columnStart(at+1, n) - c.columnStart(at, n) - 1
}

// timeBars are the time bars of all columns.
type timeBars struct {
	cell time.Duration
	of   [][]diff.BarCell
}

// timeRoom is the part of a column's width that is reserved for the time after the bar.
const timeRoom = 8

// layOut makes the rows and the time bars.
func (c *comparison) layOut(v *providers.View) {
	c.makeLines(v)
	shown := c.shownColumns()
	n := len(shown)
	if c.isStacked() {
		n = 1
	}
	c.label = c.labelFor(n)
	room := max(4, c.widthOf(0, n)-timeRoom)
	if c.isStacked() {
		room = max(4, c.w-2-c.nameRoom()-timeRoom)
	}
	c.bars = timeBars{cell: diff.Scale(c.times, room, c.byPhase)}
	if c.byPhase {
		c.bars.of = diff.ByPhase(c.times, c.bars.cell)
	} else {
		for i := range c.times {
			c.bars.of = append(c.bars.of, c.times[i].Bar(c.bars.cell))
		}
	}
	c.Fit(len(c.rows), c.headRows(), c.h)
}

// labelFor returns the width of the row names, in cells. They get what they need if the columns keep their
// minimum.
func (c *comparison) labelFor(n int) int {
	need := minLabel
	for _, g := range c.groups {
		need = max(need, display.Clean(clipName(g.callName(c.host.View()))).Width()+3)
		for i := range min(len(g.rows), c.h) {
			need = max(need, display.Clean(clipName(g.rows[i].Name)).Width()+2*g.rows[i].Depth+6)
		}
	}
	return max(min(need, c.w-2-n*minColumn, c.w/3), min(minLabel, c.w/3))
}

func clipName(s string) string { return s[:min(len(s), 64)] }

// callName returns the tool name of a group's calls.
func (g *group) callName(v *providers.View) string {
	for _, r := range g.calls {
		if _, call := v.Find(r); call != nil {
			return call.Name
		}
	}
	return ""
}

// makeLines makes the rows.
func (c *comparison) makeLines(v *providers.View) {
	c.rows = c.rows[:0]
	turns := c.columnTurns(v)
	for i, t := range turns {
		if c.failureText(v, i, t) != "" {
			c.addLine(line{kind: failLine}, nil)
			break
		}
	}
	for i := range c.wire {
		c.addLine(line{kind: wireLine, row: i}, nil)
	}
	for n, g := range c.groups {
		equal := c.equalCalls(v, g)
		if c.hides && equal && !g.hasDifference() {
			continue
		}
		c.addLine(line{kind: callLine, group: n}, func(i int) bool { return c.sameState(v, g, i) })
		if g.from.base != c.base {
			continue
		}
		for r := range g.rows {
			if row := &g.rows[r]; !c.hides || !row.Equal {
				c.addLine(line{kind: fieldLine, group: n, row: r}, func(i int) bool { return row.Cells[i].Relation == diff.Same })
			}
		}
	}
	for _, t := range turns {
		if t != nil && len(t.Text) > 0 {
			c.addLine(line{kind: textLine}, nil)
			break
		}
	}
}

// addLine adds a row. If columns are stacked, it also adds a row for the other turn, unless same reports
// that it is equal to the base's.
func (c *comparison) addLine(l line, same func(i int) bool) {
	c.rows = append(c.rows, l)
	if shown := c.shownColumns(); c.isStacked() && (same == nil || !same(shown[1])) {
		l.under = true
		c.rows = append(c.rows, l)
	}
}

// equalCalls reports whether all turns made the call, in the same state.
func (c *comparison) equalCalls(v *providers.View, g *group) bool {
	for i := range g.calls {
		if !c.sameState(v, g, i) {
			return false
		}
	}
	return true
}

// sameState reports whether column i and the base both have the call, in the same state.
func (c *comparison) sameState(v *providers.View, g *group, i int) bool {
	_, own := v.Find(g.calls[i])
	_, base := v.Find(g.calls[c.base])
	return own != nil && base != nil && own.Status() == base.Status()
}

// hasDifference reports whether a field differs.
func (g *group) hasDifference() bool {
	for i := range g.rows {
		if !g.rows[i].Equal {
			return true
		}
	}
	return false
}

// groupAt returns the group of a row, nil if the row belongs to no call.
func (c *comparison) groupAt(row int) *group {
	if row >= len(c.rows) || c.rows[row].kind != callLine && c.rows[row].kind != fieldLine {
		return nil
	}
	return c.groups[c.rows[row].group]
}

// maxHeads is the number of rows above the scrolling part: a title, the sentence, and the names, times and
// costs of the turns.
const maxHeads = 5

func (c *comparison) sentenceRows() int {
	if c.h >= modes.Tall && len(c.sentence) > 0 && display.Clean(c.sentence[0]).Width() > c.w-2 {
		return 2
	}
	return 1
}

func (c *comparison) headRows() int {
	n := maxHeads - 1 + c.sentenceRows()
	if c.isStacked() {
		n = 3 + c.sentenceRows()
	}
	if c.h < 8 {
		n = min(n, 3)
	}
	return n
}

// fittingSentence returns the longest form of the sentence that fits in the given rows, empty if none
// fits.
func (c *comparison) fittingSentence(rows int) display.Text {
	for _, form := range c.sentence {
		text := c.draw.Clean(form)
		if lines := display.Wrap(text, max(1, c.w-2)); len(lines) <= rows {
			return text
		}
	}
	return display.Text{}
}

// group is a set of matching calls, one per turn.
type group struct {
	calls []stream.Ref // by column; the zero Ref, which names no call, if a turn has none
	from  rowsMemo
	rows  []diff.Row
	sums  []uint64
}

// rowsMemo is the state of the calls from which rows were made. If the state changes, the rows are made
// again.
type rowsMemo struct {
	calls []argsState
	base  int
}

type argsState struct {
	size, rewrites int
	over, coming   bool
	unknown        bool
}

func (m *rowsMemo) size() (n int) {
	for _, a := range m.calls {
		n += a.size
	}
	return n
}

// isDue reports whether rows must be made again for the data in now. Large arguments that grow are
// compared again only after they have grown by an eighth. So the total time stays proportional to their
// size.
func (m *rowsMemo) isDue(now *rowsMemo) bool {
	if m.base != now.base || len(m.calls) != len(now.calls) {
		return true
	}
	grew := false
	for i, a := range m.calls {
		b := now.calls[i]
		grew = grew || a != b
		if a.over != b.over || a.coming != b.coming || a.unknown != b.unknown || a.rewrites != b.rewrites {
			return true
		}
	}
	before := m.size()
	return grew && (before < modes.MaxSyncBytes || now.size() >= before+before/8)
}

// alignCalls makes one group per set of matching calls. An existing group with the same calls keeps its
// rows.
func (c *comparison) alignCalls(v *providers.View) {
	turns := c.columnTurns(v)
	lists, named := diff.Calls(turns, c.argsHash)
	old := c.groups
	c.groups = make([]*group, 0, len(old))
	for _, at := range diff.Align(named, c.base) {
		calls := make([]stream.Ref, len(at))
		for i, n := range at {
			if n >= 0 {
				calls[i] = lists[i][n].Ref()
			}
		}
		n := len(c.groups)
		if n < len(old) && slices.Equal(old[n].calls, calls) {
			c.groups = append(c.groups, old[n])
			continue
		}
		g := &group{calls: calls}
		if was := slices.IndexFunc(old, func(o *group) bool { return slices.Equal(o.calls, calls) }); was >= 0 {
			g = old[was]
		}
		c.groups = append(c.groups, g)
	}
}

// argsHash returns a hash of a call's arguments, 0 if it is not known and would take long to compute.
func (c *comparison) argsHash(call *stream.Call) uint64 {
	if sum := c.sums[call.Ref()]; sum != 0 || call.MayGrow() || call.ArgsLen() >= modes.MaxSyncBytes {
		return sum
	}
	sum := diff.ArgsHash(call)
	c.sums[call.Ref()] = sum
	return sum
}

// compareJob is a group to compare, with a copy of its data.
type compareJob struct {
	*group
	now    rowsMemo
	args   []*diff.Args
	coming []bool
}

// compareGroups compares the groups whose arguments have changed: small ones at once, the others one after
// the other in another goroutine.
func (c *comparison) compareGroups(v *providers.View) {
	var later []compareJob
	turns, budget := c.columnTurns(v), 4*modes.MaxSyncBytes
	for _, g := range c.groups {
		j := c.newJob(v, g, turns)
		switch size := j.now.size(); {
		case !g.from.isDue(&j.now):
		case size < modes.MaxSyncBytes && size <= budget:
			budget -= size
			c.setResult(j, j.makeRows())
		case !c.busy:
			later = append(later, j)
		}
	}
	if len(later) == 0 {
		return
	}
	for _, j := range later {
		for i := range j.args {
			j.args[i] = j.args[i].Snapshot()
		}
	}
	c.busy = true
	c.host.Do(func() func() {
		found := make([]result, len(later))
		for i, j := range later {
			found[i] = j.makeRows()
		}
		return func() {
			for i, j := range later {
				c.setResult(j, found[i])
			}
			c.busy, c.stale = false, true
		}
	})
}

// newJob returns a job for the group's current data.
func (c *comparison) newJob(v *providers.View, g *group, turns []*stream.Turn) compareJob {
	j := compareJob{group: g, now: rowsMemo{base: c.base, calls: make([]argsState, len(g.calls))}}
	j.args, j.coming = make([]*diff.Args, len(g.calls)), make([]bool, len(g.calls))
	for i, r := range g.calls {
		a := &j.now.calls[i]
		_, call := v.Find(r)
		if call == nil {
			a.coming = !c.isFinished(v, i, turns[i])
			j.coming[i] = a.coming
			continue
		}
		j.args[i] = diff.ArgsOf(call)
		*a = argsState{size: len(call.Args()), rewrites: call.Rewrites, over: !call.MayGrow(), unknown: j.args[i].Unknown}
	}
	return j
}

// result is the result of a job.
type result struct {
	rows []diff.Row
	sums []uint64
}

func (j *compareJob) makeRows() result {
	rows, sums := diff.CompareArgs(j.args, j.now.base, j.coming)
	return result{rows, sums}
}

// setResult stores the result of a job.
func (c *comparison) setResult(j compareJob, r result) {
	j.group.from, j.group.rows, j.group.sums = j.now, r.rows, r.sums
	for i, sum := range r.sums {
		if sum != 0 {
			c.sums[j.group.calls[i]] = sum
		}
	}
}
