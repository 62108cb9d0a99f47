package ui

import (
	"sort"

	"toolscope/ui/panes"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/layout"
)

// group is rows of all columns that belong together: the same call in each turn,
// or their errors, or their texts.
type group struct {
	kind  groupKind
	calls callSet
	first int // row
	rows  int
}

type groupKind uint8

const (
	failureGroup groupKind = iota
	callGroup
	textGroup
)

// columnWidth is what a column should have at least.
const columnWidth = 40

// shown is how many columns are on the screen.
func (v *compareView) shown(m *Model) int {
	return max(1, min(len(v.columns), (m.w+1)/columnWidth))
}

// widthOf is how wide the n-th of the shown columns is: between them is a rule.
func (v *compareView) widthOf(m *Model, n, shown int) int {
	all := m.w - (shown - 1)
	width := all / shown
	if n < all%shown {
		width++
	}
	return width
}

// version is what the columns are now.
func (v *compareView) version(m *Model) compareVersion {
	now := compareVersion{w: m.w, h: m.h, shown: v.shown(m), raw: v.raw}
	v.inView(now.shown)
	now.first = v.first
	for i := range v.columns {
		c := &v.columns[i]
		if c.turn == nil {
			c.turn = panes.TurnOf(m.in.Session(), c.exchange.Number)
		}
		if c.turn != nil {
			now.turns++
			now.events[i] = c.turn.Events
		}
	}
	return now
}

// work lays out what is new, if anything is.
func (v *compareView) work(m *Model) tea.Cmd {
	now := v.version(m)
	if now == v.seen {
		return nil
	}
	v.seen = now
	v.made++
	width := v.widthOf(m, now.shown-1, now.shown) // the narrowest: a column looks the same wherever it is
	for i := range v.columns {
		v.columns[i].extend(m, width, v.raw)
	}
	v.group()
	v.judge()
	v.Resize(v.count(), max(1, m.bodyHeight()-v.heads(m)))
	if v.Stick {
		v.Scroll(v.Rows)
		v.Stick = true
	} else {
		v.Scroll(v.Top)
	}
	return nil
}

// mostFailure is how many rows an error may have: the other turns go on.
const mostFailure = 4

// extend lays out what is new in a column.
func (c *comparison) extend(m *Model, width int, raw bool) {
	inner := max(1, width-panes.Margin)
	if c.turn == nil {
		return
	}
	for _, call := range c.turn.Calls {
		d := c.cells[call]
		if d == nil {
			d = &panes.Document{When: m.when}
			c.cells[call] = d
		}
		d.Raw = raw
		d.Show(call, inner, m.draw)
		d.Extend(1)
	}
	if c.text == nil || c.text.Width() != inner {
		c.text = layout.NewText(inner, m.draw)
	}
	c.text.Extend(c.turn.Text, c.turn.Closed())
	c.failure = nil
	if c.turn.Failure != "" {
		if c.failure = display.Wrap(m.pen.Name(c.turn.Failure), inner); len(c.failure) > mostFailure {
			c.failure = append(c.failure[:mostFailure-1:mostFailure-1], display.Lit("... enter shows all of it"))
		}
	}
}

// callName names a call within its turn: the second of a name is not the first.
type callName struct {
	name string
	nth  int
}

// group aligns the columns: errors, then calls by their names, then texts.
func (v *compareView) group() {
	v.groups = v.groups[:0]
	v.add(failureGroup, callSet{})
	at := map[callName]int{}
	var sets []callSet
	for i := range v.columns {
		t := v.columns[i].turn
		if t == nil {
			continue
		}
		nth, after := map[string]int{}, -1
		for _, c := range t.Calls {
			name := callName{c.Name, nth[c.Name]}
			nth[c.Name]++
			n, known := at[name]
			if !known { // behind the one it follows in its own turn, or else behind all
				n = after + 1
				if after < 0 {
					n = len(sets)
				}
				sets = append(sets, callSet{})
				copy(sets[n+1:], sets[n:])
				sets[n] = callSet{}
				for other, m := range at {
					if m >= n {
						at[other] = m + 1
					}
				}
				at[name] = n
			}
			sets[n][i] = c
			after = max(after, n)
		}
	}
	for _, set := range sets {
		v.add(callGroup, set)
	}
	v.add(textGroup, callSet{})
}

// add adds a group, if it has rows.
func (v *compareView) add(kind groupKind, calls callSet) {
	g := group{kind: kind, calls: calls, first: v.count()}
	for i := range v.columns {
		if kind == callGroup || i >= v.first && i < v.first+v.seen.shown { // calls stay where they are
			g.rows = max(g.rows, v.columns[i].rowsOf(kind, calls[i]))
		}
	}
	if g.rows > 0 {
		g.rows++ // a blank one
		v.groups = append(v.groups, g)
	}
}

// rowsOf is how many rows a column has in a group.
func (c *comparison) rowsOf(kind groupKind, call *stream.Call) int {
	switch kind {
	case failureGroup:
		return len(c.failure)
	case callGroup:
		if call == nil {
			return 1
		}
		return 1 + c.cells[call].FullHeight()
	}
	if c.text == nil || len(c.text.Rows()) == 0 {
		return 0
	}
	return 1 + len(c.text.Rows())
}

// count is how many rows there are.
func (v *compareView) count() int {
	if n := len(v.groups); n > 0 {
		return v.groups[n-1].first + v.groups[n-1].rows
	}
	return 0
}

// groupAt is the group of a row, nil behind the last.
func (v *compareView) groupAt(row int) *group {
	n := sort.Search(len(v.groups), func(i int) bool { return v.groups[i].first > row }) - 1
	if n < 0 || row >= v.count() {
		return nil
	}
	return &v.groups[n]
}
