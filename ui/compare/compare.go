// Package compare is the mode that shows turns side by side, one a column, their calls in the same
// rows, while they arrive.
package compare

import (
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// comparison is the mode. Its columns name turns and calls, and look them up in what the host
// shows.
type comparison struct {
	screen.Window // of the rows below the heads
	host          modes.Host
	bill          *panes.Bill
	draw          display.Drawer

	columns []column
	chosen  int // column
	first   int // the leftmost that is shown
	raw     bool

	seen   version
	groups []group
	judged map[callSet]verdict
	made   int // how often something was laid out
}

// version says what the rows were made from.
type version struct {
	w, h, shown, first, turns int
	raw                       bool
	events                    [most]int
	kept                      [most]stream.Keeping
}

// Entry compares the marked turns, or else those that ask for the same as the chosen one. The bill
// says what they cost.
func Entry(marks *Marks, bill *panes.Bill, draw display.Drawer) modes.Entry {
	key := screen.Binding{Keys: []string{"="}, Does: display.Lit("marked turns side by side")}
	return modes.Entry{Binding: key, New: func(h modes.Host) (modes.Mode, display.Text) {
		c := &comparison{host: h, bill: bill, draw: draw, columns: columnsOf(h, *marks), judged: map[callSet]verdict{}}
		if len(c.columns) < 2 {
			return nil, display.Lit("nothing else asks for the same: m marks turns, then = compares")
		}
		for i := range c.columns {
			if t := c.columns[i].find(h.View()); t != nil && t.Number == h.Chosen().Turn {
				c.chosen = i
			}
		}
		return c, display.Text{}
	}}
}

// Keys close it, move in it, and lead to the chosen turn.
func (c *comparison) Keys() []screen.Binding {
	moves := c.Steps(display.Lit("j k scroll"), c.scroll)
	moves, end := moves[:len(moves)-1], moves[len(moves)-1]
	end.Hint, end.Does = display.Lit("G follow the end"), display.Lit("to the end, and follow")
	end.Do = func() { c.scroll(c.Rows); c.Stick = true }
	keys := []screen.Binding{
		{Keys: []string{"esc", "q", "="}, Hint: display.Lit("esc close"), Does: display.Lit("close"), Do: c.host.Close},
		{Keys: []string{"left", "h", "shift+tab"}, Hint: display.Lit("h l column"), Does: display.Lit("column before"), Do: func() { c.choose(c.chosen - 1) }},
		{Keys: []string{"right", "l", "tab"}, Does: display.Lit("next column"), Do: func() { c.choose(c.chosen + 1) }},
	}
	return append(append(keys, moves...),
		screen.Binding{Keys: []string{"enter"}, Hint: display.Lit("enter go there"), Does: display.Lit("go to the turn"), Do: c.goThere},
		screen.Binding{Keys: []string{"r"}, Hint: display.Lit("r raw"), Does: display.Lit("raw text, deltas marked"), Do: func() { c.raw = !c.raw }},
		end,
		screen.Binding{Hint: display.Lit("? help")})
}

// scroll moves the rows, and no longer keeps their end in view.
func (c *comparison) scroll(top int) {
	c.Scroll(top)
	c.Stick = false
}

// choose makes another column the chosen one.
func (c *comparison) choose(n int) { c.chosen = max(0, min(n, len(c.columns)-1)) }

// goThere closes the mode and goes to the turn of the chosen column.
func (c *comparison) goThere() {
	turn := c.columns[c.chosen].turn
	if turn == stream.NoRef {
		c.host.Say(display.Lit("nothing of it has come yet"))
		return
	}
	c.host.Choose(turn)
	c.host.Close()
}

// columnWidth is what a column should have at least.
const columnWidth = 40

// widthOf is how wide the n-th of the shown columns is: between them is a rule.
func (c *comparison) widthOf(n int) int {
	shown := c.seen.shown
	all := c.seen.w - (shown - 1)
	width := all / shown
	if n < all%shown {
		width++
	}
	return width
}

// next is what the rows are to be made from now. It has the chosen column among those that are
// shown.
func (c *comparison) next(v *providers.View, w, h int) version {
	now := version{w: w, h: h, shown: max(1, min(len(c.columns), (w+1)/columnWidth)), raw: c.raw}
	c.first = min(max(c.first, c.chosen-now.shown+1), c.chosen, len(c.columns)-now.shown)
	now.first = c.first
	for i := range c.columns {
		if t := c.columns[i].find(v); t != nil {
			now.turns++
			now.events[i], now.kept[i] = t.Events, t.Kept
		}
	}
	return now
}

// Extend lays out what is new, if anything is.
func (c *comparison) Extend(v *providers.View, w, h int) {
	now := c.next(v, w, h)
	if now == c.seen {
		return
	}
	c.seen = now
	c.made++
	width := c.widthOf(now.shown - 1) // the narrowest: a column looks the same wherever it is
	for i := range c.columns {
		c.extendColumn(v, &c.columns[i], width)
	}
	c.group(v)
	c.judge(v)
	c.Resize(c.rows(), max(1, h-c.heads()))
	c.Scroll(c.Top)
}
