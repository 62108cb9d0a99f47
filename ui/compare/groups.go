package compare

import (
	"fmt"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// Limits for the words that tell calls with the same name apart.
const (
	maxTagRows  = 32 // number of fields that are searched
	maxTagBytes = 24
	tagCells    = 12
)

// nameGroups sets the tags of calls with the same name: the first value that only one of these calls has, or else the
// number of the call.
func (c *comparison) nameGroups(v *providers.View) {
	same := map[string][]*group{}
	for _, g := range c.groups {
		g.tag = ""
		same[g.callName(v)] = append(same[g.callName(v)], g)
	}
	for _, all := range same {
		for _, g := range all {
			if len(all) > 1 {
				g.tag = tagOf(v, g, all)
			}
		}
	}
}

// tagOf returns the first short value that no other group has, or else the number of the call.
func tagOf(v *providers.View, g *group, all []*group) string {
	for _, r := range g.rows[:min(len(g.rows), maxTagRows)] {
		own, shared := g.scalarText(v, r.Name), false
		for _, other := range all {
			shared = shared || other != g && other.scalarText(v, r.Name) == own
		}
		if own != "" && !shared {
			return own
		}
	}
	for _, r := range g.calls {
		if r.Call > 0 {
			return fmt.Sprintf("call %d", r.Call)
		}
	}
	return ""
}

// scalarText returns the text of a top-level field, from the first call that has the field. It returns "" for
// containers and long texts.
func (g *group) scalarText(v *providers.View, name string) string {
	for _, r := range g.rows[:min(len(g.rows), maxTagRows)] {
		if r.Name != name || r.Depth > 0 || r.Name == "" {
			continue
		}
		for i := range r.Cells {
			cell := &r.Cells[i]
			_, call := v.Find(g.calls[i])
			if call == nil || !cell.Has() || cell.Growing || int(cell.End) > len(call.Args()) || cell.End-cell.Start > maxTagBytes {
				continue
			}
			switch cell.Kind {
			case json.String:
				return panes.Unquoted(call.Args(), panes.Span{Start: int(cell.Start), End: int(cell.End)})
			case json.Number, json.True, json.False:
				return string(call.Args()[cell.Start:cell.End])
			}
		}
	}
	return ""
}

// groupName returns the name of a group's calls and their tag in the given number of cells. The name is cut first.
func (c *comparison) groupName(p *screen.Pen, n, cells int) display.Text {
	g := c.groups[n]
	name := p.Name(g.callName(c.host.View()))
	if name.Empty() {
		name = display.Lit("(no name)")
	}
	if g.tag == "" {
		return p.Truncate(name, max(cells, 0))
	}
	tag := p.Truncate(p.Name(g.tag), min(tagCells, max(1, cells-4))).Between(" ", "")
	return display.Join(p.Truncate(name, max(cells-tag.Width(), 1)), tag)
}

// maxBelow is the maximum number of calls below the table. minBelowRows is the minimum number of rows for the first.
const (
	maxBelow     = 8
	minBelowRows = 6
)

// extendBelow lays out the calls below the table if there is room: the arguments of the base next to those of the
// selected turn. The call at the cursor is first.
func (c *comparison) extendBelow(v *providers.View) {
	c.below = c.below[:0]
	rest := c.h - c.head.rowCount() - len(c.rows) - 1
	if rest < minBelowRows || len(c.groups) == 0 || len(c.columns) < 2 {
		return
	}
	first := 0
	if c.groupAt(c.At) != nil {
		first = c.rows[c.At].group
	}
	for i := range min(len(c.groups), maxBelow) {
		n := (first + i) % len(c.groups)
		if rest < minBelowRows {
			break
		}
		f := c.viewOf(n)
		if f.argsLen(v) >= modes.MaxSyncBytes { // laying it out would take too long
			continue
		}
		f.extend(c, v, c.w, max(rest, 1))
		c.below = append(c.below, f)
		rest -= f.belowRows(c.w)
	}
}

// viewOf returns the view of a group's arguments in the base and in the selected turn, or in the first other turn if the
// base is selected.
func (c *comparison) viewOf(n int) *valueView {
	g, other := c.groups[n], c.selected
	if other == c.base {
		other = c.shownColumns()[1]
	}
	of := [2]stream.Ref{g.calls[c.base], g.calls[other]}
	f := c.views[of]
	if f == nil {
		f = &valueView{of: of}
		if c.views == nil {
			c.views = map[[2]stream.Ref]*valueView{}
		}
		c.views[of] = f
	}
	f.group = n
	f.names = [2]display.Text{c.draw.Clean(c.columns[c.base].name), c.draw.Clean(c.columns[other].name)}
	return f
}

// argsLen returns the length of the arguments of both calls.
func (f *valueView) argsLen(v *providers.View) (n int) {
	for _, r := range f.of {
		if _, call := v.Find(r); call != nil {
			n += call.ArgsLen()
		}
	}
	return n
}

// belowRows returns the number of rows of the view below the table: a title, the values, and a blank row.
func (f *valueView) belowRows(w int) int {
	if f.isSideBySide(w) {
		return f.rowsOf(w) + 3
	}
	return f.rowsOf(w) + 2
}

// drawBelow draws row y below the table.
func (c *comparison) drawBelow(p *screen.Pen, y int) {
	y-- // a blank row
	for _, f := range c.below {
		rows := f.belowRows(c.w)
		switch {
		case y < 0 || y == rows-1:
			return
		case y == 0:
			p.Caption(screen.Plain, c.groupName(p, f.group, max(p.Left-30, 8)), display.Lit("as it was written"))
			return
		case y < rows:
			f.draw(c, p, y)
			return
		}
		y -= rows
	}
}
