package cli

import (
	"toolscope/stream"
	"toolscope/ui/diff"
)

// writeJSON writes matching turns as one object.
func (c *comparison) writeJSON(d *diffCommand) {
	o := &jsonObject{}
	o.text("type", "diff")
	o.flag("equal", c.equal)
	o.texts("says", c.sentences)
	n := c.Count()
	var counts jsonObject
	counts.int("calls", n.Calls)
	counts.int("states", n.States)
	counts.int("types", n.Types)
	counts.int("absent", n.Absent)
	counts.int("values", n.Values)
	counts.int("break_schema", n.Breaks)
	o.raw("differs", counts.end())
	at := make([]int, len(c.sides))
	for i := range at {
		at[i] = i
	}
	listOf(o, "sides", at, func(o *jsonObject, i int) { c.addSide(o, d, i) })
	sets := make([]*diff.CallSet, len(c.Sets))
	for i := range c.Sets {
		sets[i] = &c.Sets[i]
	}
	listOf(o, "calls", sets, c.addCalls)
	d.to.writeObject(o)
}

// addSide writes the facts of turn i of the comparison.
func (c *comparison) addSide(o *jsonObject, d *diffCommand, i int) {
	s := c.sides[i]
	o.text("file", s.file)
	o.int("turn", int(s.turn.Number)+1)
	o.text("dialect", s.turn.Protocol)
	o.optionalText("model", s.turn.Model)
	o.optionalText("host", diff.HostOf(s.in.Exchange(s.turn.Exchange)))
	o.text("phase", s.turn.Phase().String())
	o.optionalText("finish", s.turn.Finish)
	o.optionalText("failed", c.Sides[i].Fails)
	o.time("t_first_ms", c.times[i].First)
	o.time("t_first_arg_ms", c.times[i].Arg)
	o.time("t_end_ms", c.times[i].End)
	o.addCost(costOf(d.prices, s.in.Exchange(s.turn.Exchange), s.turn))
	if way := c.ways[i]; way.Host != "" {
		var other jsonObject
		other.text("host", way.Host)
		other.flag("same_request", way.Exact)
		for _, f := range c.wire {
			if m := f.Marks[i]; m == diff.Differs || m == diff.Absent {
				other.texts(f.Name, []string{f.Cells[0], f.Cells[i]})
			}
		}
		o.raw("other_way", other.end())
	}
}

// addCalls writes matching calls; null for a side without one.
func (c *comparison) addCalls(o *jsonObject, s *diff.CallSet) {
	o.text("name", s.Name())
	var calls [][]byte
	for _, call := range s.Calls {
		number := []byte("null")
		if call != nil {
			var one jsonObject
			one.int("call", call.Number)
			one.text("id", call.ID)
			one.text("status", call.Status().String())
			one.int("bytes", call.ArgsLen())
			one.int("deltas", call.Deltas())
			number = one.end()
		}
		calls = append(calls, number)
	}
	o.raw("sides", jsonArray(calls))
	rows := make([]*diff.Row, 0, len(s.Rows))
	for i := range s.Rows {
		rows = append(rows, &s.Rows[i])
	}
	listOf(o, "members", rows, func(o *jsonObject, r *diff.Row) { addField(o, s, r) })
}

// addField writes the values of a field in each call. It leaves out values that equal the base's, and values
// of objects that are written field by field.
func addField(o *jsonObject, s *diff.CallSet, r *diff.Row) {
	o.text("path", r.Path)
	var is, values, found [][]byte
	some := false
	for i := range r.Cells {
		cell, call := &r.Cells[i], s.Calls[i]
		var word jsonObject
		word.text("is", cell.String())
		is = append(is, word.b[len(`{"is":`):])
		value, codes := []byte("null"), []string{}
		if call != nil && cell.Has() {
			if cell.Relation != diff.Same && !r.Split {
				value = valueOf(call, cell)
			}
			for _, f := range diff.CellFindings(call, cell) {
				if f.Severity >= stream.Warn && !r.Split {
					codes, some = append(codes, f.Code), true
				}
			}
		}
		values = append(values, value)
		var list jsonObject
		list.texts("codes", codes)
		found = append(found, list.b[len(`{"codes":`):])
	}
	o.raw("is", jsonArray(is))
	if !r.Split {
		o.raw("values", jsonArray(values))
	}
	if some {
		o.raw("findings", jsonArray(found))
	}
}

// valueOf returns the JSON text of a value. A value that is cut off or not JSON becomes a string.
func valueOf(c *stream.Call, cell *diff.Cell) []byte {
	text := c.Args()[cell.Start:cell.End]
	if cell.Cut || cell.Kind == stream.Junk || c.Syntax() == stream.SyntaxBroken {
		var o jsonObject
		o.text("v", string(text))
		return o.b[len(`{"v":`):]
	}
	return text
}
