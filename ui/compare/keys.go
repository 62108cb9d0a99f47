package compare

import (
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Keys returns the key bindings of the table, or of the full value.
func (c *comparison) Keys() []screen.Binding {
	if c.full != nil {
		return c.full.keys(c)
	}
	key := func(hint, does display.Text, do func(), keys ...string) screen.Binding {
		return screen.Binding{Keys: keys, Hint: hint, Does: does, Do: func() { do(); c.stale = true }}
	}
	none := display.Text{}
	all := []screen.Binding{
		key(display.Lit("h l column"), display.Lit("previous column"), func() { c.stepColumn(-1) }, "left", "h", "shift+tab"),
		key(none, display.Lit("next column"), func() { c.stepColumn(1) }, "right", "l", "tab"),
	}
	all = append(all, c.CursorKeys(display.Lit("j k row"), c.MoveTo)...)
	end := &all[len(all)-1]
	end.Does, end.Do = display.Lit("to the end, and follow"), c.End
	return append(all,
		key(display.Lit("enter in full"), display.Lit("show the full value and the base's"), c.openFull, "enter"),
		key(display.Lit("b base"), display.Lit("make this column the base"), c.setBase, "b"),
		key(display.Lit("- + equal rows"), display.Lit("hide equal rows"), func() { c.hides = true }, "-"),
		key(none, display.Lit("show equal rows"), func() { c.hides = false }, "+"),
		key(display.Lit("m mark"), display.Lit("mark or unmark the turn"), c.toggleMark, "m"),
		key(display.Lit("o go there"), display.Lit("go to the turn"), c.goToSelected, "o"),
		key(display.Lit("T bars"), display.Lit("toggle bars by time or by phase"), func() { c.byPhase = !c.byPhase }, "T"),
		key(display.Lit("esc close"), display.Lit("close"), c.host.Close, "esc", "q", "="),
	)
}

// columnOrder returns the columns from left to right: the base, then the others.
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

// setBase makes the selected column the base.
func (c *comparison) setBase() {
	if c.base == c.selected {
		return
	}
	c.base, c.first, c.sameRequests, c.seen = c.selected, 0, nil, nil
}

// toggleMark marks or unmarks the turn of the selected column.
func (c *comparison) toggleMark() {
	if turn := c.columns[c.selected].Turn; turn != stream.NoRef {
		c.host.Say(c.marks.Toggle(turn))
		return
	}
	c.host.Say(display.Lit("this turn has no data yet"))
}

// goToSelected closes the mode and selects the column's turn, or its call if the cursor is on a row of a
// call.
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
