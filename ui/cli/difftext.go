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

// maxColumnCells is the maximum width of a column.
const maxColumnCells = 40

// writeUnmatched writes a turn that has no match in another file.
func (d *diffCommand) writeUnmatched(s *diffTurn, asJSON bool) {
	if asJSON {
		o := lineOf("alone", s.file, s.turn.Number)
		o.optionalText("model", s.turn.Model)
		calls, _ := wireCalls(s.turn)
		o.int("calls", len(calls))
		d.to.writeObject(o)
		return
	}
	d.to.printLine("%s  turn %d  %s", s.file, s.turn.Number+1, joinDots(s.turn.Model, callCount(s.turn)))
	d.to.printLine("  has no partner: no other file has a turn with the same request or the same tools")
	d.to.printLine("")
}

// writeText writes turns in columns, like the screen.
func (c *comparison) writeText(d *diffCommand) {
	where := mapSlice(c.sides, func(s *diffTurn) string { return fmt.Sprintf("%s turn %d", s.file, s.turn.Number+1) })
	d.to.writeWrapped("", strings.Join(where, ", "))
	for _, text := range c.sentences {
		d.to.writeWrapped("  ", text)
	}
	table := [][]string{c.tableRow("", func(i int) string { return c.Sides[i].Name })}
	table = append(table,
		c.tableRow("time", func(i int) string { return orDash(units.Time(c.times[i].End).String()) }),
		c.tableRow("first argument", func(i int) string { return orDash(units.Time(c.times[i].Arg).String()) }),
		c.tableRow("cost", func(i int) string { return orDash(d.costText(c.sides[i])) }),
		c.tableRow("finish", func(i int) string {
			return orDash(ifElse(c.Sides[i].Fails != "", c.Sides[i].Fails, panes.FinishText(c.sides[i].turn)))
		}))
	for n := range c.wire {
		f := &c.wire[n]
		if f.Name == "finish" {
			continue
		}
		table = append(table, c.tableRow(f.Name, func(i int) string { return c.wireCell(f, i) }))
	}
	for n := range c.Sets {
		set := &c.Sets[n]
		table = append(table, c.tableRow(callName(set.Name()), func(i int) string { return callCell(set.Calls[i]) }))
		for r := range set.Rows {
			row := &set.Rows[r]
			name := strings.Repeat("  ", row.Depth+1) + ifElse(row.Name == "", "(arguments)", row.Name)
			table = append(table, c.tableRow(name, func(i int) string { return fieldCell(set, row, i) }))
		}
	}
	writeTable(d.to, table)
	d.to.printLine("")
}

// tableRow returns a row with a cell per side.
func (c *comparison) tableRow(name string, cell func(i int) string) []string {
	row := []string{name}
	for i := range c.Sides {
		row = append(row, cell(i))
	}
	return row
}

// orDash returns text, or a dash if it is empty.
func orDash(text string) string { return ifElse(text == "", "—", text) }

// costText returns the cost of a turn, "" if it is unknown.
func (d *diffCommand) costText(s *diffTurn) string {
	f := costOf(d.prices, s.in.Exchange(s.turn.Exchange), s.turn)
	return textIf(f.Known(), f.String())
}

// wireCell returns a fact of a side's response.
func (c *comparison) wireCell(f *diff.Fact, i int) string {
	if i != 0 && c.ways[i].Host == "" {
		return ""
	}
	return strings.TrimSpace(signs[f.Marks[i]] + "  " + textIf(f.Marks[i] != diff.Same, f.Cells[i]))
}

// signs are the signs for how a side relates to the base.
var signs = [...]string{
	diff.Own: "", diff.Same: "=", diff.Alike: "≈", diff.Differs: "≠", diff.Absent: "—", diff.Open: "", diff.NotYet: "", diff.Unknown: "?",
}

// callCell returns the state of a call and the number of its findings.
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
	return text + textIf(n > 0, ", "+count.Of(n, "finding"))
}

// fieldCell returns the value of a field in a call.
func fieldCell(set *diff.CallSet, r *diff.Row, i int) string {
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

// cellValue returns a value, or how many values an object or array has.
func cellValue(r *diff.Row, cell *diff.Cell, c *stream.Call) string {
	if cell.Kind != stream.ObjectOpen && cell.Kind != stream.ArrayOpen {
		return valueWindow(c.Args()[cell.Start:cell.End], int(cell.At)) + textIf(cell.Cut, " (cut)")
	}
	text := count.Of(int(cell.Holds), ifElse(cell.Kind == stream.ObjectOpen, "key", "item"))
	switch {
	case r.Split && cell.Differing > 0:
		return fmt.Sprintf("%d differ", cell.Differing)
	case cell.List == nil:
		return text
	case cell.List.Lacks+cell.List.Adds == "":
		return text + ", other order"
	}
	return text + textIf(cell.List.Lacks != "", ", no "+cell.List.Lacks) + textIf(cell.List.Adds != "", ", with "+cell.List.Adds)
}

// valueWindow returns a value. If the first difference is far from the start, it begins shortly before it.
func valueWindow(value []byte, at int) string {
	lead := ""
	if at > maxColumnCells/2 {
		value, lead = value[max(0, at-maxColumnCells/4):], "…"
		for len(value) > 0 && value[0]&0xc0 == 0x80 {
			value = value[1:]
		}
	}
	return lead + string(value[:min(len(value), 4*maxColumnCells)])
}

// writeTable writes rows in columns that are as wide as their content, up to maxColumnCells.
func writeTable(to lineWriter, table [][]string) {
	var widths []int
	cells := make([][]display.Text, len(table))
	for n, row := range table {
		for i, text := range row {
			cell := display.Drawer{}.Truncate(display.Clean(text), maxColumnCells)
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
		to.printLine("%s", line)
	}
}
