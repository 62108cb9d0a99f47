package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
	"toolscope/ui/diff"
	"toolscope/ui/display"
	"toolscope/ui/present"
	units "toolscope/ui/screen"
)

func (a *app) diffCommand() *cobra.Command {
	turn := 0
	cmd := &cobra.Command{
		Use: "diff FILE FILE…", Short: "Compare the turns of several files",
		Example: "toolscope diff monday.tsc tuesday.tsc\ntoolscope diff sonnet.sse gpt.sse mistral.sse\ntoolscope diff direct.tsc openrouter.tsc --turn 3 --format jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			err := a.runDiff(cmd, args, turn)
			if err != nil {
				a.code = exitTrouble
			}
			return err
		},
	}
	cmd.Flags().IntVar(&turn, "turn", 0, "")
	addFormatFlag(cmd.Flags(), &a.format, "text", "text", "jsonl")
	a.colourFlags(cmd)
	a.pricesFlag(cmd)
	a.reading.add(cmd.Flags())
	return cmd
}

// diffTurn is a turn of one of the compared files.
type diffTurn struct {
	file string
	in   *providers.Inspector
	turn *stream.Turn
}

// diffCommand is one run of diff.
type diffCommand struct {
	files   [][]diffTurn // turns, by file
	names   []string     // names of the files
	prices  *price.Table
	to      lineWriter
	differs bool
}

// runDiff compares files and sets the exit code.
func (a *app) runDiff(cmd *cobra.Command, paths []string, turn int) (err error) {
	if len(paths) < 2 {
		return usageErrorf("diff: needs two or more FILEs; the first one is the base\ntoolscope diff FILE FILE…")
	}
	if err := checkNumbers(cmd, "turn"); err != nil {
		return err
	}
	d := new(diffCommand)
	if d.to, err = a.outputFor(a.format); err != nil {
		return err
	}
	if d.prices, err = a.loadPrices(); err != nil {
		return err
	}
	err = a.eachSource(cmd.Context(), paths, func(src capture.Source, path string, in *providers.Inspector) error {
		if err := inspectSource(src, in, func() bool { return true }); err != nil {
			return err
		}
		a.printSourceNotes(path, in, false)
		return d.addTurns(path, in, turn)
	})
	switch {
	case err != nil:
		return err
	case a.code != 0 || len(d.files) < 2:
		a.code = exitTrouble
		return nil
	}
	for _, set := range d.pairTurns() {
		d.writeTurns(set, a.format == "jsonl")
	}
	if d.differs {
		a.code = exitFound
	}
	return d.to.flush()
}

// addTurns adds the turns of a file. If turn is not 0, it adds only that turn. It leaves out plain HTTP responses.
func (d *diffCommand) addTurns(path string, in *providers.Inspector, turn int) error {
	var all []diffTurn
	for _, t := range in.Session().Turns {
		switch {
		case t.Retention != stream.InMemory:
			return fmt.Errorf("%s: turn %d: its calls are too large to keep in memory", path, t.Number+1)
		case present.IsPlain(t), turn != 0 && turn != int(t.Number)+1:
		default:
			all = append(all, diffTurn{fileOf(path, in.Exchange(t.Exchange)), in, t})
		}
	}
	if turn != 0 && len(all) == 0 {
		return usageErrorf("--turn %d: %s has %s", turn, path, count.Of(len(in.Session().Turns), "turn"))
	}
	d.files, d.names = append(d.files, all), append(d.names, path)
	return nil
}

// turnSet is a set of matching turns, one for each file. A nil entry means that the file has no such turn.
type turnSet []*diffTurn

// pairTurns matches turns: first those with the same request, then those with the same tools, in order. If each file
// has only one turn, those turns match.
func (d *diffCommand) pairTurns() (sets []turnSet) {
	single := !slices.ContainsFunc(d.files, func(f []diffTurn) bool { return len(f) != 1 })
	var keys [][2]string // keys of the first turn in each set
	for n, file := range d.files {
		at := make([]int, len(file))
		for i := range at {
			at[i] = -1
		}
		for pass := range 2 {
			for i := range file {
				key := file[i].matchKeys()
				for s := 0; at[i] < 0 && s < len(sets); s++ {
					if sets[s][n] == nil && (key[pass] != "" && keys[s][pass] == key[pass] || single) {
						at[i], sets[s][n] = s, &file[i]
					}
				}
			}
		}
		before := -1
		for i := range file {
			if at[i] >= 0 {
				before = slices.IndexFunc(sets, func(p turnSet) bool { return p[n] == &file[i] })
				continue
			}
			if before++; n == 0 {
				before = len(sets)
			}
			set := make(turnSet, len(d.files))
			set[n] = &file[i]
			sets, keys = slices.Insert(sets, before, set), slices.Insert(keys, before, file[i].matchKeys())
		}
	}
	return sets
}

// matchKeys returns the keys by which a turn is matched: its request and its tools. The key "" does not match any
// turn.
func (s *diffTurn) matchKeys() (keys [2]string) {
	if x := s.in.Exchange(s.turn.Exchange); x != nil {
		if asks := x.PromptHash(); asks != 0 {
			keys[0] = fmt.Sprint(asks)
		}
	}
	calls, _ := present.Calls(s.turn)
	keys[1] = strings.Join(mapSlice(calls, func(c *stream.Call) string { return c.Name }), "\n")
	return keys
}

// writeTurns writes a set of matching turns, or a turn without a match.
func (d *diffCommand) writeTurns(p turnSet, asJSON bool) {
	var sides []*diffTurn
	for _, s := range p {
		if s != nil {
			sides = append(sides, s)
		}
	}
	if len(sides) < len(p) {
		d.differs = true
	}
	if len(sides) == 1 {
		d.writeUnmatched(sides[0], asJSON)
		return
	}
	c := d.compareTurns(sides)
	count := c.Count()
	failed := slices.ContainsFunc(c.Sides, func(s diff.Side) bool { return s.Fails != c.Sides[0].Fails })
	c.equal = count.Equal() && !failed
	d.differs = d.differs || !c.equal
	if asJSON {
		c.writeJSON(d)
	} else {
		c.writeText(d)
	}
}

// comparison is a comparison of matching turns.
type comparison struct {
	diff.Comparison
	sides     []*diffTurn
	times     []diff.Times
	equal     bool
	ways      []diff.SameRequest // by side; Host is "" for the base, and for a side whose request differs
	wire      []diff.Fact        // facts about the responses, if a side has the same request as the base
	sentences []string
}

// compareTurns compares turns with the first of them.
func (d *diffCommand) compareTurns(sides []*diffTurn) *comparison {
	c := &comparison{sides: sides, ways: make([]diff.SameRequest, len(sides))}
	turns := make([]*stream.Turn, len(sides))
	names := diff.DistinctNames(len(sides), func(i int) string { return present.ShortModel(sides[i].turn.Model) },
		func(i int) string { return filepath.Base(sides[i].file) }, func(i int) string { return sides[i].file },
		func(i int) string { return fmt.Sprintf("%s %d", filepath.Base(sides[i].file), i+1) })
	for i, s := range sides {
		turns[i] = s.turn
		times := diff.TimesOf(s.in.View(), s.turn)
		c.times = append(c.times, times)
		c.Sides = append(c.Sides, diff.Side{Name: units.ShortName(names[i]), Turn: s.turn, Over: true, Took: times.End, Fails: s.failureText()})
	}
	lists, named := diff.Calls(turns, diff.ArgsHash)
	for _, at := range diff.Align(named, 0) {
		set := diff.CallSet{Calls: make([]*stream.Call, len(sides))}
		args := make([]*diff.Args, len(sides))
		for i, n := range at {
			if n >= 0 {
				set.Calls[i] = lists[i][n]
				args[i] = diff.ArgsOf(set.Calls[i])
			}
		}
		set.Rows, set.Sums = diff.CompareArgs(args, 0, make([]bool, len(sides)))
		c.Sets = append(c.Sets, set)
	}
	if forms := c.Sentence(func(t time.Duration) string { return units.Time(t).String() }); len(forms) > 0 {
		c.sentences = append(c.sentences, forms[0])
	}
	// Add the differences between providers that received the same request.
	request := func(s *diffTurn) diff.Request { return diff.RequestOf(s.in.View(), s.in.Exchange(s.turn.Exchange)) }
	base := request(sides[0])
	for i, s := range sides[1:] {
		r := request(s)
		way, ok := r.SameElsewhere(&base)
		if !ok {
			continue
		}
		if c.ways[i+1] = way; c.wire == nil {
			c.wire = c.WireFacts()
		}
		c.sentences = append(c.sentences, c.ChangeSentence(i+1, way, c.wire))
	}
	return c
}

// failureText returns the HTTP status of a failed response, or the failure of a turn without calls. Otherwise it
// returns "".
func (s *diffTurn) failureText() string {
	x := s.in.Exchange(s.turn.Exchange)
	switch {
	case x != nil && x.Head.Status >= 300:
		return fmt.Sprintf("HTTP %d", x.Head.Status)
	case s.turn.Failure != "" && len(s.turn.Calls) == 0:
		return units.ShortName(s.turn.Failure)
	}
	return ""
}

// These constants limit the width of a column. If the terminal is too narrow for the content, columns become
// narrower.
const (
	maxColumnCells = 40
	minColumnCells = 12
)

// writeUnmatched writes a turn that has no match in another file.
func (d *diffCommand) writeUnmatched(s *diffTurn, asJSON bool) {
	if asJSON {
		o := lineOf("alone", s.file, s.turn.Number)
		o.optionalText("model", s.turn.Model)
		calls, _ := present.Calls(s.turn)
		o.int("calls", len(calls))
		d.to.writeObject(o)
		return
	}
	d.to.printLine("%s  %s  %s", s.file, inBold(turnNumber(s.turn)), inMuted(joinDots(s.turn.Model, present.CallCount(s.turn))))
	d.to.printLine("  not compared: no other file has a turn with the same request or the same tools")
	d.to.printLine("")
}

// writeText writes turns in columns, as the screen shows them.
func (c *comparison) writeText(d *diffCommand) {
	where := mapSlice(c.sides, func(s *diffTurn) string { return fmt.Sprintf("%s turn %d", s.file, s.turn.Number+1) })
	d.to.writeWrapped("", strings.Join(where, ", "))
	for _, text := range c.sentences {
		d.to.writeWrapped("  ", text)
	}
	table := [][]any{c.tableRow("", func(i int) any { return inBold(c.Sides[i].Name) })}
	table = append(table,
		c.tableRow("time", func(i int) any { return orDash(units.Time(c.times[i].End).String()) }),
		c.tableRow("first argument", func(i int) any { return orDash(units.Time(c.times[i].Arg).String()) }),
		c.tableRow("cost", func(i int) any { return orDash(d.costOf(c.sides[i]).String()) }),
		c.tableRow("finish", func(i int) any {
			if fails := c.Sides[i].Fails; fails != "" {
				return inInk(badInk, fails)
			}
			return orDash(present.FinishText(c.sides[i].turn))
		}))
	for n := range c.wire {
		f := &c.wire[n]
		if f.Name == "finish" {
			continue
		}
		table = append(table, c.tableRow(f.Name, func(i int) any {
			if i != 0 && c.ways[i].Host == "" {
				return ""
			}
			return ofRole(markRoles[f.Marks[i]], strings.TrimSpace(signs[f.Marks[i]]+"  "+textIf(f.Marks[i] != diff.Same, f.Cells[i])))
		}))
	}
	for n := range c.Sets {
		set := &c.Sets[n]
		table = append(table, c.tableRow(inBold(present.CallName(set.Name())), func(i int) any { return callCell(set.Calls[i]) }))
		for r := range set.Rows {
			row := &set.Rows[r]
			name := strings.Repeat("  ", row.Depth+1) + ifElse(row.Name == "", "(arguments)", row.Name)
			table = append(table, c.tableRow(name, func(i int) any { return fieldCell(set, row, i) }))
		}
	}
	writeTable(d.to, table, maxColumnCells)
	d.to.printLine("")
}

// tableRow returns a row with one cell per side. Cells may have an ink.
func (c *comparison) tableRow(name any, cell func(i int) any) []any {
	row := []any{name}
	for i := range c.Sides {
		row = append(row, cell(i))
	}
	return row
}

// orDash returns text, or a dash if it is empty.
func orDash(text string) string { return ifElse(text == "", "—", text) }

// costOf returns the cost of a turn.
func (d *diffCommand) costOf(s *diffTurn) price.Figure {
	return present.CostOf(d.prices, s.in.Exchange(s.turn.Exchange), s.turn)
}

// signs are the signs for relations to the base.
var signs = [...]string{
	diff.Own: "", diff.Same: "=", diff.Alike: "≈", diff.Differs: "≠", diff.Absent: "—", diff.Open: "", diff.NotYet: "", diff.Unknown: "?",
}

// markRoles are the roles for the signs.
var markRoles = [...]units.Role{
	diff.Same: units.Muted, diff.Differs: units.Caution, diff.Absent: units.Caution, diff.Unknown: units.Muted,
}

// callCell returns a cell with the state of a call and the number of its findings that are warnings or
// errors.
func callCell(c *stream.Call) any {
	if c == nil {
		return ofRole(markRoles[diff.Absent], "—")
	}
	text := c.Status().String()
	n := 0
	for i := range c.Findings {
		if c.Findings[i].Severity >= stream.Warn {
			n++
		}
	}
	return ofRole(present.VerdictOfCall(c).Role, text+textIf(n > 0, ", "+count.Of(n, "finding")))
}

// fieldCell returns a cell with the value of a field in a call.
func fieldCell(set *diff.CallSet, r *diff.Row, i int) any {
	cell, c := &r.Cells[i], set.Calls[i]
	text, role := signs[cell.Relation], markRoles[cell.Relation]
	if c == nil || !cell.Has() {
		return ofRole(role, text)
	}
	if cell.Relation != diff.Same {
		text = strings.TrimSpace(text + "  " + cellValue(r, cell, c))
	}
	if r.Split {
		return ofRole(role, text)
	}
	for _, f := range diff.CellFindings(c, cell) {
		if f.Severity >= stream.Warn {
			text, role = text+"  ! "+f.Brief(), units.SeverityRoles[f.Severity]
			break
		}
	}
	return ofRole(role, text)
}

// cellValue returns the text of a scalar. For an object or array, it returns the number of keys or items, or the
// differences from the base.
func cellValue(r *diff.Row, cell *diff.Cell, c *stream.Call) string {
	if cell.Kind != json.ObjectOpen && cell.Kind != json.ArrayOpen {
		return valueWindow(c.Args()[cell.Start:cell.End], int(cell.At)) + textIf(cell.Cut, " (cut)")
	}
	text := count.Of(int(cell.Holds), ifElse(cell.Kind == json.ObjectOpen, "key", "item"))
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

// valueWindow returns the text of a value. If the first difference is far from the value's start, the text
// starts shortly before that difference.
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

// measureTable returns the sanitised cells of a table, cut to the given number of cells, and the widths of the columns.
func measureTable(table [][]any, most int) (cells [][]display.Text, widths []int) {
	cells = make([][]display.Text, len(table))
	for n, row := range table {
		for i, text := range row {
			cell := display.Drawer{}.Truncate(display.Clean(fmt.Sprint(withoutInk(text))), most)
			if cells[n] = append(cells[n], cell); len(widths) <= i {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], cell.Width())
		}
	}
	return cells, widths
}

// writeTable writes rows in columns. Columns are as wide as their content, up to the given number of cells. On a
// narrow terminal, cells are wrapped.
func writeTable(to lineWriter, table [][]any, most int) {
	cells, widths := measureTable(table, most)
	if to.onTerminal() {
		share := (to.pen.cells-2-widths[0])/(len(widths)-1) - 2
		for i := range widths[1:] {
			widths[1+i] = min(widths[1+i], max(share, minColumnCells))
		}
	}
	for n, row := range cells {
		for rows := 1; rows > 0; rows-- { // number of rows that remain to be written
			line := []any{"  "}
			for i, cell := range row {
				first, rest := cell, display.Text{}
				if cell.Width() > widths[i] {
					first, rest = wrapCell(cell, widths[i])
					rows = max(rows, 2)
				}
				line = append(line, withInkOf(table[n][i], display.Drawer{}.Pad(first, widths[i]+2)))
				row[i] = rest
			}
			to.printPieces(line)
		}
	}
}

// wrapCell splits a cell after the last word that fits.
func wrapCell(cell display.Text, width int) (first, rest display.Text) {
	first = display.Wrap(cell, width)[0]
	rest = display.Skip(cell, first.Width())
	for strings.HasPrefix(rest.String(), " ") {
		rest = display.Skip(rest, 1)
	}
	return first, rest
}

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

// addSide writes the facts about turn i of the comparison.
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
	o.addFacts(present.CostFacts(d.costOf(s)))
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

// addCalls writes matching calls. It writes null for a side that has no such call.
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

// addField writes the values of a field in each call. It writes null for a value that equals the base's value. It
// leaves out values of objects that are written field by field.
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
	if cell.Cut || cell.Kind == json.Junk || c.Syntax() == json.SyntaxBroken {
		var o jsonObject
		o.text("v", string(text))
		return o.b[len(`{"v":`):]
	}
	return text
}
