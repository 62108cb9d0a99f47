package compare

import (
	"slices"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/diff"
	"toolscope/ui/modes"
)

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
