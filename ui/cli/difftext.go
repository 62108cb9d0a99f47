package cli

import (
	"fmt"
	"strings"

	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/diff"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	units "toolscope/ui/screen"
)

// mostCell is how many cells a column of the text has at most.
const mostCell = 40

// alone says of a turn that no other file has one like it.
func (d *differ) alone(s *sided, asJSON bool) {
	if asJSON {
		o := lineOf("alone", s.file, s.turn.Number)
		o.some("model", s.turn.Model)
		calls, _ := wireCalls(s.turn)
		o.int("calls", len(calls))
		d.to.object(o)
		return
	}
	d.to.linef("%s  turn %d  %s", s.file, s.turn.Number+1, joined(s.turn.Model, callCount(s.turn)))
	d.to.linef("  has no partner: no other file has a turn that was asked the same or calls the same tools")
	d.to.linef("")
}

// text writes turns beside each other, as the screen has them.
func (c *comparison) text(d *differ) {
	where := each(c.sides, func(s *sided) string { return fmt.Sprintf("%s turn %d", s.file, s.turn.Number+1) })
	d.to.prose("", strings.Join(where, ", "))
	for _, text := range c.said {
		d.to.prose("  ", text)
	}
	table := [][]string{c.row("", func(i int) string { return c.Sides[i].Name })}
	table = append(table,
		c.row("time", func(i int) string { return unknown(units.Time(c.times[i].End).String()) }),
		c.row("arguments from", func(i int) string { return unknown(units.Time(c.times[i].Arg).String()) }),
		c.row("cost", func(i int) string { return unknown(d.cost(c.sides[i])) }),
		c.row("finish", func(i int) string {
			return unknown(either(c.Sides[i].Fails != "", c.Sides[i].Fails, panes.FinishText(c.sides[i].turn)))
		}))
	for n := range c.wire {
		f := &c.wire[n]
		if f.Name == "finish" {
			continue
		}
		table = append(table, c.row(f.Name, func(i int) string { return c.wireCell(f, i) }))
	}
	for n := range c.Sets {
		set := &c.Sets[n]
		table = append(table, c.row(callName(set.Name()), func(i int) string { return callCell(set.Calls[i]) }))
		for r := range set.Rows {
			row := &set.Rows[r]
			name := strings.Repeat("  ", row.Depth+1) + either(row.Name == "", "(arguments)", row.Name)
			table = append(table, c.row(name, func(i int) string { return memberCell(set, row, i) }))
		}
	}
	writeTable(d.to, table)
	d.to.linef("")
}

func (c *comparison) row(name string, cell func(i int) string) []string {
	row := []string{name}
	for i := range c.Sides {
		row = append(row, cell(i))
	}
	return row
}

func unknown(text string) string { return either(text == "", "—", text) }

// cost is what a turn cost, "" where that is not known.
func (d *differ) cost(s *sided) string {
	f := costOf(d.prices, s.in.Exchange(s.turn.Exchange), s.turn)
	return when(f.Known(), f.String())
}

func (c *comparison) wireCell(f *diff.Fact, i int) string {
	if i != 0 && c.ways[i].Host == "" {
		return ""
	}
	return strings.TrimSpace(signs[f.Marks[i]] + "  " + when(f.Marks[i] != diff.Same, f.Cells[i]))
}

// signs are how marks are written.
var signs = [...]string{
	diff.Own: "", diff.Same: "=", diff.Alike: "≈", diff.Differs: "≠", diff.Absent: "—", diff.Open: "", diff.NotYet: "", diff.Unknown: "?",
}

func callCell(c *stream.Call) string {
	if c == nil {
		return "—"
	}
	text := c.Status().String()
	n := 0
	for i := range c.Findings {
		if c.Findings[i].Severity >= stream.Warn {
			n++
		}
	}
	return text + when(n > 0, ", "+count.Of(n, "finding"))
}

// memberCell is what a call has of a member.
func memberCell(set *diff.CallSet, r *diff.Row, i int) string {
	cell, c := &r.Cells[i], set.Calls[i]
	text := signs[cell.Relation]
	if c == nil || !cell.Has() {
		return text
	}
	if cell.Relation != diff.Same {
		text = strings.TrimSpace(text + "  " + cellValue(r, cell, c))
	}
	if r.Split {
		return text
	}
	for _, f := range diff.CellFindings(c, cell) {
		if f.Severity >= stream.Warn {
			text += "  ! " + f.Brief()
			break
		}
	}
	return text
}

func cellValue(r *diff.Row, cell *diff.Cell, c *stream.Call) string {
	if cell.Kind != stream.ObjectOpen && cell.Kind != stream.ArrayOpen {
		return window(c.Args()[cell.Start:cell.End], int(cell.At)) + when(cell.Cut, " (cut)")
	}
	text := count.Of(int(cell.Holds), either(cell.Kind == stream.ObjectOpen, "key", "item"))
	switch {
	case r.Split && cell.Differing > 0:
		return fmt.Sprintf("%d differ", cell.Differing)
	case cell.List == nil:
		return text
	case cell.List.Lacks+cell.List.Adds == "":
		return text + ", other order"
	}
	return text + when(cell.List.Lacks != "", ", no "+cell.List.Lacks) + when(cell.List.Adds != "", ", with "+cell.List.Adds)
}

// window is a value from a bit before where it differs, if it is long.
func window(value []byte, at int) string {
	lead := ""
	if at > mostCell/2 {
		value, lead = value[max(0, at-mostCell/4):], "…"
		for len(value) > 0 && value[0]&0xc0 == 0x80 {
			value = value[1:]
		}
	}
	return lead + string(value[:min(len(value), 4*mostCell)])
}

// writeTable writes rows in columns that are as wide as they need to be, up to a limit.
func writeTable(to lines, table [][]string) {
	var widths []int
	cells := make([][]display.Text, len(table))
	for n, row := range table {
		for i, text := range row {
			cell := display.Drawer{}.Truncate(display.Clean(text), mostCell)
			if cells[n] = append(cells[n], cell); len(widths) <= i {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], cell.Width())
		}
	}
	for _, row := range cells {
		line := display.Lit("  ")
		for i, cell := range row {
			line = display.Join(line, display.Drawer{}.Pad(cell, widths[i]+2))
		}
		to.linef("%s", line)
	}
}
