package compare

import (
	"slices"
	"strings"
	"time"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/diff"
	"toolscope/ui/modes"
)

// line is a row of the window.
type line struct {
	kind  lineKind
	group int    // index of the group of a call or a field
	row   int    // index of a field, or of a fact of the response
	under bool   // the row is about the other visible turn, below the base's row
	same  bool   // the row is below the edge of the equal rows
	path  string // shown instead of the field's name, if the fields around it are not in the rows above
	named bool   // the name of the call is before the path
}

type lineKind uint8

const (
	failLine lineKind = iota
	wireLine
	callLine
	fieldLine
	textLine
	finishLine
	edgeLine // begins the equal rows; row is the number of equal rows
)

// equalRows decides whether equal rows are shown.
type equalRows uint8

const (
	fitting equalRows = iota // shown if all rows fit
	shown
	hidden
)

const (
	labelCells = 22  // width of the row names, including the blank before the first column
	wideLabel  = 34  // the same if all columns have room next to it
	wideFrom   = 160 // from this width, the arguments are to the right of the table if that leaves room for all columns
	minBeside  = 48  // width of the arguments to the right of the table
	minColumn  = 19
	beneathTo  = 60 // if the screen is narrower, the other turn is below the base
)

// isStacked reports whether there is room for only one column, so that the other turn is below the base.
func (c *comparison) isStacked() bool { return c.w < beneathTo }

// shownColumns returns the visible columns, the base first. The selected column is always among them.
func (c *comparison) shownColumns() []int {
	order := c.columnOrder()
	n := max(2, min(len(order), (c.table-labelCells-1)/minColumn))
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

// otherColumn returns the column that is compared with the base: the selected one, or the next one if the base is
// selected.
func (c *comparison) otherColumn() int {
	if c.selected == c.base {
		return c.shownColumns()[1]
	}
	return c.selected
}

// columnStart returns the cell where column number at of n columns begins.
func (c *comparison) columnStart(at, n int) int { return c.label + at*((c.table-1-c.label)/n) }

// widthOf returns the width of column number at of n columns, in cells.
func (c *comparison) widthOf(at, n int) int {
	if at == n-1 {
		return c.table - c.columnStart(at, n)
	}
	return c.columnStart(at+1, n) - c.columnStart(at, n) - 1
}

// timeBars are the time bars of all columns.
type timeBars struct {
	cell time.Duration
	of   [][]diff.BarCell
}

// timeRoom is the number of cells reserved for the time after a bar.
const timeRoom = 10

// layOut makes the rows, the head and the time bars.
func (c *comparison) layOut(v *providers.View) {
	c.table, c.label = c.w, min(labelCells, c.w/3)
	if need := labelCells + len(c.columns)*minColumn + 1; c.w >= max(wideFrom, need+minBeside) && c.h >= modes.Tall {
		c.table = max(c.w*58/100, need)
		if (c.table-wideLabel-1)/len(c.columns) >= minColumn {
			c.label = wideLabel
		}
	}
	c.nameGroups(v)
	// Allot rows to the parts of the head.
	h := head{heads: c.h >= 10, blank: c.h >= modes.Tall, edge: c.h >= 6}
	n := 0
	switch {
	case c.h >= modes.Tall:
		n = barRows
	case c.h >= 10:
		n = 2
	case c.h >= 6:
		n = 1
	}
	h.says = c.calloutRows(n)
	if c.h >= 6 {
		h.turns = min(len(c.columns), max(2, (c.h-h.rowCount())/2))
	}
	at := slices.Index(c.columnOrder(), c.selected)
	h.first = max(0, min(max(c.head.first, at-h.turns+1), at, len(c.columns)-h.turns))
	c.head = h
	c.fillMatrix(v)
	c.makeLines(v)
	room := max(4, c.w-c.laneStart()-timeRoom)
	c.bars = timeBars{cell: diff.Scale(c.times, room, c.byPhase)}
	if c.byPhase {
		c.bars.of = diff.ByPhase(c.times, c.bars.cell)
	} else {
		for i := range c.times {
			c.bars.of = append(c.bars.of, c.times[i].Bar(c.bars.cell))
		}
	}
	c.Fit(len(c.rows), c.head.rowCount(), c.h)
}

// callName returns the tool name of a group's calls, or "" if no call has arrived.
func (g *group) callName(v *providers.View) string {
	for _, r := range g.calls {
		if _, call := v.Find(r); call != nil {
			return call.Name
		}
	}
	return ""
}

// makeLines makes the rows: first the rows that differ, then the rows that are equal.
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
	c.addGroups(v, false)
	if !c.sameFinish(v) {
		c.addLine(line{kind: finishLine}, nil)
	}
	for _, t := range turns {
		if t != nil && len(t.Text) > 0 {
			c.addLine(line{kind: textLine}, nil)
			break
		}
	}
	c.different = c.countDifferences(v)
	// The rows that are equal in all turns are below an edge. If they are hidden or don't fit, there is only the edge.
	edge := len(c.rows)
	c.rows = append(c.rows, line{kind: edgeLine})
	c.addGroups(v, true)
	if c.sameFinish(v) {
		c.addLine(line{kind: finishLine, same: true}, func(int) bool { return true })
	}
	n := len(c.rows) - edge - 1
	if c.folded = c.fold == hidden || c.fold == fitting && len(c.rows) > c.h-c.head.rowCount(); c.folded {
		c.rows = c.rows[:edge+1]
	}
	if c.rows[edge].row = n; n == 0 {
		c.rows = c.rows[:edge]
	}
}

// countDifferences returns the number of calls and fields that differ.
func (c *comparison) countDifferences(v *providers.View) (n int) {
	for i := range c.rows {
		switch l := &c.rows[i]; {
		case l.under:
		case l.kind == callLine && c.callDiffers(v, c.groups[l.group]):
			n++
		case l.kind == fieldLine && !c.groups[l.group].rows[l.row].Split:
			n++
		}
	}
	return n
}

// addGroups adds the rows of calls and fields that are equal, or of those that differ. Above a field that
// differs, there is a row for its call.
func (c *comparison) addGroups(v *providers.View, same bool) {
	for n, g := range c.groups {
		equal := true // all turns made the call, its state is the same, and so are all fields
		for i := range g.calls {
			equal = equal && c.sameState(v, g, i)
		}
		for r := range g.rows {
			equal = equal && g.rows[r].Equal
		}
		if equal == same {
			c.addLine(line{kind: callLine, group: n, same: same}, func(i int) bool { return c.sameState(v, g, i) })
		}
		if g.from.base != c.base {
			continue
		}
		var names []string // names of the field and of the fields around it
		first := same && !equal
		for r := range g.rows {
			row := &g.rows[r]
			if names = append(names[:min(row.Depth, len(names))], row.Name); row.Equal != same {
				continue
			}
			l := line{kind: fieldLine, group: n, row: r, same: same}
			if same && (first || row.Depth > 0) {
				l.path, l.named, first = strings.Join(names, ""), first, false
			}
			c.addLine(l, func(i int) bool { return row.Cells[i].Relation == diff.Same })
		}
	}
}

// sameFinish reports whether all turns are in the same phase, and none has failed.
func (c *comparison) sameFinish(v *providers.View) bool {
	base := c.columns[c.base].findTurn(v)
	for i, t := range c.columnTurns(v) {
		if t == nil || base == nil || t.Phase() != base.Phase() || c.failureText(v, i, t) != "" {
			return false
		}
	}
	return true
}

// addLine adds a row. If columns are stacked, it also adds a row for the other turn, unless same reports that
// the other turn equals the base.
func (c *comparison) addLine(l line, same func(i int) bool) {
	c.rows = append(c.rows, l)
	if shown := c.shownColumns(); c.isStacked() && (same == nil || !same(shown[1])) {
		l.under = true
		c.rows = append(c.rows, l)
	}
}

// callDiffers reports whether a finished turn lacks the call, or has a finished call whose state differs from the
// base's.
func (c *comparison) callDiffers(v *providers.View, g *group) bool {
	turns := c.columnTurns(v)
	_, base := v.Find(g.calls[c.base])
	for i, r := range g.calls {
		switch _, own := v.Find(r); {
		case own == nil && c.isFinished(v, i, turns[i]):
			return true
		case own != nil && base != nil && !own.MayGrow() && !base.MayGrow() && own.Status() != base.Status():
			return true
		}
	}
	return false
}

// sameState reports whether column i and the base both have the call, and both calls are in the same state.
func (c *comparison) sameState(v *providers.View, g *group, i int) bool {
	_, own := v.Find(g.calls[i])
	_, base := v.Find(g.calls[c.base])
	return own != nil && base != nil && own.Status() == base.Status()
}

// groupAt returns the group of a row, or nil if the row does not belong to a call.
func (c *comparison) groupAt(row int) *group {
	if row >= len(c.rows) || c.rows[row].kind != callLine && c.rows[row].kind != fieldLine {
		return nil
	}
	return c.groups[c.rows[row].group]
}

// group is a set of matching calls, at most one per turn.
type group struct {
	calls []stream.Ref // by column; the zero Ref if a turn has no such call
	from  rowsMemo
	rows  []diff.Row
	sums  []uint64
	other []bool // by column: whether a field differs from the base's
	tag   string // distinguishes the call from others with the same name; "" if there are none
}

// rowsMemo is the state of the calls that the rows were made from. If the state changes, the rows are made
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

// isDue reports whether rows must be made again for the data in now. Large arguments that grow are compared
// again only after they have grown by an eighth. That keeps the total time proportional to their size.
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

// alignCalls makes one group for each set of matching calls. A group keeps its rows if it existed before with
// the same calls.
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

// argsHash returns a hash of a call's arguments. It returns 0 while the call may grow, or if the hash is
// unknown and would take long to compute.
func (c *comparison) argsHash(call *stream.Call) uint64 {
	if sum := c.sums[call.Ref()]; sum != 0 || call.MayGrow() || call.ArgsLen() >= modes.MaxSyncBytes {
		return sum
	}
	sum := diff.ArgsHash(call)
	c.sums[call.Ref()] = sum
	return sum
}

// compareJob is a group to compare, with a copy of the group's data.
type compareJob struct {
	*group
	now    rowsMemo
	args   []*diff.Args
	coming []bool
}

// compareGroups compares the groups whose arguments have changed: small groups at once, large groups one
// after another in another goroutine.
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
	j.group.other = make([]bool, len(j.group.calls))
	for n := range r.rows {
		for i := range r.rows[n].Cells {
			j.group.other[i] = j.group.other[i] || !r.rows[n].Cells[i].Agrees()
		}
	}
	for i, sum := range r.sums {
		if sum != 0 {
			c.sums[j.group.calls[i]] = sum
		}
	}
}
