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

// belowRow is a row with a call's arguments, in the base and in another turn.
type belowRow struct {
	of   *valueView // nil for a blank row
	kind belowKind
	row  int
}

type belowKind uint8

const (
	belowTitle belowKind = iota
	belowText
	belowMore // the last row, if some rows don't fit; row is the number of rows left out
)

// extendBelow lays out the calls if there is room: the arguments of the base and those of the selected turn, next to
// each other below the table. On a wide screen they are to the right of the table, one below the other, and other turns
// follow. The call at the cursor is first.
func (c *comparison) extendBelow(v *providers.View) {
	c.below = c.below[:0]
	wide, rows, width := c.table < c.w, c.h-c.head.rowCount(), c.w
	if wide {
		for i, column := range []int{c.base, c.otherColumn()} { // the frames in the rows below the table
			w := &c.wires[i]
			if w.pane == nil {
				w.pane = panes.NewWire(nil)
			}
			w.scene = panes.Context{View: v, Chosen: c.columns[column].Turn, Pen: &screen.Pen{Drawer: c.draw}}
			w.name = c.draw.Clean(c.columns[column].name)
			w.pane.Extend(&w.scene, c.wireCells(i), max(rows-len(c.rows)-1, 1))
		}
		rows, width = rows+1, c.w-c.table-1 // the first title is in the edge of the table
	} else {
		rows -= len(c.rows) + 1
	}
	if rows < minBelowRows || len(c.groups) == 0 || len(c.columns) < 2 {
		return
	}
	first := 0
	if c.groupAt(c.At) != nil {
		first = c.rows[c.At].group
	}
	for i := range min(len(c.groups), maxBelow) {
		if len(c.below)+minBelowRows > rows {
			break
		}
		c.addBelow(v, (first+i)%len(c.groups), width, wide)
	}
	if more := len(c.below) - rows; more > 0 {
		c.below = append(c.below[:rows-1], belowRow{kind: belowMore, row: more + 1})
	}
}

// addBelow adds the rows of a group: a title, the arguments in the base and in the selected turn and, if the values are
// stacked, those in the other turns.
func (c *comparison) addBelow(v *providers.View, n, width int, stacked bool) {
	first := c.otherColumn()
	others := []int{first}
	for _, i := range c.shownColumns()[1:] {
		if stacked && i != first && c.groups[n].calls[i].Call > 0 {
			others = append(others, i)
		}
	}
	for at, i := range others {
		f := c.viewOf(n, i)
		size := 0
		for _, r := range f.of {
			if _, call := v.Find(r); call != nil {
				size += call.ArgsLen()
			}
		}
		if size >= modes.MaxSyncBytes { // laying it out would take too long
			continue
		}
		f.stacked = stacked
		f.extend(c, v, width, c.h)
		from := 0
		if at == 0 {
			c.below = append(c.below, belowRow{of: f})
		} else if f.sheets[0] != nil {
			from = f.sheets[0].Rows + 1 // the base is above
		}
		end := f.rowsOf(width)
		if f.isSideBySide(width) {
			end++ // the captions
		}
		for row := from; row < end; row++ {
			c.below = append(c.below, belowRow{f, belowText, row})
		}
	}
	c.below = append(c.below, belowRow{kind: belowText})
}

// viewOf returns the view of a group's arguments in the base and in another turn.
func (c *comparison) viewOf(n, other int) *valueView {
	g := c.groups[n]
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

// drawBelow draws row y of the calls.
func (c *comparison) drawBelow(p *screen.Pen, y int) {
	if y < 0 || y >= len(c.below) {
		return
	}
	switch r := &c.below[y]; {
	case r.kind == belowMore:
		p.Text(screen.Muted, p.Format(" %s more rows: enter shows a call in full", screen.Count(r.row)))
	case r.of == nil:
	case r.kind == belowTitle:
		p.Caption(screen.Plain, c.groupName(p, r.of.group, max(p.Left-30, 8)), display.Lit("as it was written"))
	default:
		r.of.drawText(c, p, r.row)
	}
}

// wireOf is the wire of a turn.
type wireOf struct {
	pane  *panes.Wire
	scene panes.Context
	name  display.Text
}

// wireCells returns the width of a wire: half of the table.
func (c *comparison) wireCells(i int) int {
	half := (c.table - 1) / 2
	if i == 0 {
		return half
	}
	return c.table - 1 - half
}

// drawWires draws row y of the frames below the table.
func (c *comparison) drawWires(p *screen.Pen, y int) {
	if y < 0 || c.h-c.head.rowCount()-len(c.rows)-1 < minBelowRows {
		return
	}
	for i := range c.wires {
		w := &c.wires[i]
		if i > 0 {
			p.Field(1)
			rule := p.Glyph.Rule
			if y == 0 {
				rule = p.Glyph.Tee
			}
			p.Text(screen.Frame, rule)
		}
		if p.Field(c.wireCells(i)); y > 0 {
			w.pane.Draw(p, y, false)
			p.Fill(screen.Bare)
			continue
		}
		p.Caption(screen.Accent, w.name, w.pane.Label().Count.Between("Wire ", ""))
	}
}
