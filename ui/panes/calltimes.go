package panes

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// callTimes compares the times of the selected call with the times of other calls: the calls in its turn, and calls
// of the same tool in nearby turns. It also shows medians over all calls in nearby turns, grouped by model and by the
// way in which their arguments arrived. Another turn counts only after it has ended, so its times are computed once.
type callTimes struct {
	ended map[stream.Ref]providers.Latency
}

// Limits of the comparison.
const (
	turnsAround     = 32      // turns on either side of the selected turn
	maxSameTurn     = 8       // calls in the same turn, and rows of medians
	maxSameTool     = 4       // calls of the same tool
	maxComparedSize = 200_000 // tokens and deltas of all compared calls
	maxCachedTimes  = 1 << 10 // maximum number of calls in the cache
)

// timesRow is a row of the table: one call, or the median of many.
type timesRow struct {
	of   stream.Ref
	name string
	from string // the model that made the call
	took [numTimes]time.Duration
	how  providers.Arrival
	many int
}

// firstByteTime and silence are indexes of a call's times. numTimes is the number of times: those in
// providers.Latency, then the longest silence.
const (
	firstByteTime = 3
	silence       = 9
	numTimes      = silence + 1
)

// timesOf returns the times of a call.
func timesOf(t *stream.Turn, c *stream.Call, l *providers.Latency) timesRow {
	r := timesRow{of: c.Ref(), name: screen.ShortName(c.Name), from: cmp.Or(present.ShortModel(t.Model), t.Protocol), how: l.Arrival}
	for i, m := range l.TimePoints() {
		r.took[i] = m.At
	}
	r.took[silence] = l.Gap
	return r
}

// tableLines returns the table. It returns nil if the time of the call's first byte is unknown, or if there
// is nothing to compare.
func (x *callTimes) tableLines(s *Context, c Selection, w int) (lines []runRuleLine) {
	own, ok := x.cachedTimes(s.View, c.Turn, c.Call)
	if !ok || own.took[firstByteTime] < 0 {
		return nil
	}
	beside, same, all := x.comparedCalls(s.View, c)
	all = append(all, own)
	groups := []struct {
		title string
		rows  []timesRow
	}{
		{"other calls of this turn", beside}, {"the same tool in other turns", same},
		{"median by model", mediansByKind(all, func(r timesRow) string { return r.from })},
		{"median by arrival", mediansByKind(all, func(r timesRow) string { return r.how.String() })},
	}
	t := newTimeTable(s.Pen, w)
	for _, g := range groups {
		if len(g.rows) == 0 {
			continue
		}
		if len(lines) == 0 {
			heads := t.joinCells(display.Lit("time taken"), func(of int) display.Text { return display.Clean(timeHeads[of]) }, display.Lit(mannerTitle))
			lines = append(lines, runRuleLine{of: noRule}, runRuleLine{of: noRule, role: screen.Muted, text: heads},
				runRuleLine{of: noRule, role: screen.Plain, text: t.rowText(own, nil), call: own.of})
		}
		title := s.Pen.Clean(g.title).Between("  ", "")
		if len(lines) == 3 {
			title = title.Between("", ": + later, - sooner")
		}
		lines = append(lines, runRuleLine{of: noRule, role: screen.Muted, text: title})
		for _, r := range g.rows {
			lines = append(lines, runRuleLine{of: noRule, role: screen.Plain, text: t.rowText(r, &own), call: r.of})
		}
	}
	return lines
}

// cachedTimes returns the times of a call. It returns false for a long call that is still growing, and for a
// call that is not in memory and not cached.
func (x *callTimes) cachedTimes(v *providers.View, t *stream.Turn, c *stream.Call) (timesRow, bool) {
	ref := c.Ref()
	if l, known := x.ended[ref]; known {
		return timesOf(t, c, &l), true
	}
	if t.Retention != stream.InMemory || c.MayGrow() && c.Deltas() > maxTimedDeltas {
		return timesRow{}, false
	}
	l := v.Latency(t, c)
	if t.Closed() {
		if x.ended == nil || len(x.ended) >= maxCachedTimes {
			x.ended = map[stream.Ref]providers.Latency{}
		}
		x.ended[ref] = l
	}
	return timesOf(t, c, &l), true
}

// comparedCalls returns the calls to compare with the selected one: the first calls of its turn, the nearest
// calls of the same tool, and all calls of the nearby turns.
func (x *callTimes) comparedCalls(v *providers.View, c Selection) (beside, same, all []timesRow) {
	turns, weighed := v.Session().Turns, 0
	at := sort.Search(len(turns), func(i int) bool { return turns[i].Number >= c.Turn.Number })
	for _, t := range turns[max(0, at-turnsAround):min(len(turns), at+turnsAround+1)] {
		own := t.Number == c.Turn.Number
		if !own && !t.Closed() || t.Retention != stream.InMemory {
			continue
		}
		for _, call := range t.Calls {
			if weighed += call.Deltas() + call.Lexer().Tokens().Len(); weighed > maxComparedSize || own && len(beside) == maxSameTurn {
				break
			}
			if call == c.Call || call.Discarded {
				continue
			}
			r, ok := x.cachedTimes(v, t, call)
			if !ok || r.took[firstByteTime] < 0 {
				continue
			}
			if own {
				beside = append(beside, r)
			} else if r.name == screen.ShortName(c.Call.Name) {
				same = append(same, r)
			}
			all = append(all, r)
		}
	}
	return beside, nearestRows(same, c.Turn.Number), all
}

// nearestRows returns the rows that are nearest to a turn, at most maxSameTool, sorted by turn.
func nearestRows(rows []timesRow, turn int32) []timesRow {
	away := func(r timesRow) int32 { return max(r.of.Turn-turn, turn-r.of.Turn) }
	slices.SortStableFunc(rows, func(a, b timesRow) int { return cmp.Compare(away(a), away(b)) })
	rows = rows[:min(len(rows), maxSameTool)]
	slices.SortStableFunc(rows, func(a, b timesRow) int { return cmp.Compare(a.of.Turn, b.of.Turn) })
	return rows
}

// mediansByKind returns a row of medians for each kind, the kind with the most calls first. It returns at
// most maxSameTurn rows, and nil if there are fewer than two kinds.
func mediansByKind(rows []timesRow, kind func(timesRow) string) (all []timesRow) {
	kinds := map[string][]timesRow{}
	for _, r := range rows {
		if k := kind(r); k != "" {
			kinds[k] = append(kinds[k], r)
		}
	}
	if len(kinds) < 2 {
		return nil
	}
	for k, rows := range kinds {
		r := timesRow{name: k, many: len(rows), how: rows[0].how}
		for i := range r.took {
			r.took[i] = medianTime(rows, i)
		}
		for _, other := range rows {
			if other.how != r.how {
				r.how = providers.ArrivalUnknown
			}
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b timesRow) int { return cmp.Or(cmp.Compare(b.many, a.many), cmp.Compare(a.name, b.name)) })
	return all[:min(len(all), maxSameTurn)]
}

// medianTime returns the median of the known times, or NoTime if none is known. If there are two middle times,
// it returns the smaller one.
func medianTime(rows []timesRow, of int) time.Duration {
	var known []time.Duration
	for _, r := range rows {
		if r.took[of] >= 0 {
			known = append(known, r.took[of])
		}
	}
	if len(known) == 0 {
		return stream.NoTime
	}
	slices.Sort(known)
	return known[(len(known)-1)/2]
}

// timeTable formats rows of times with as many columns as fit. The first row has times. The other rows have the
// differences from these times, or their own times where the first row has none.
type timeTable struct {
	p      *screen.Pen
	name   int // cells for the names
	shown  [numTimes]bool
	manner bool
}

// timeHeads are the titles of the columns, in the same words as in providers.Latency. timeRanks is the order
// in which columns are added until there is no room.
var (
	timeHeads = [numTimes]string{"headers", "first token", "named", "first byte", "actionable", "parses", "last byte", "sealed", "end", "silence"}
	timeRanks = [numTimes + 1]int{firstByteTime, 7, 4, numTimes, 5, 8, silence, 2, 1, 0, 6}
)

// Cells of the table.
const (
	minTimeCells = 9  // minimum width of a column, including the blanks before it
	mannerCells  = 11 // "in bursts"
	timesName    = 28 // cells for the names, if the columns leave so many
	timesShort   = 18 // minimum number of cells for the names
	wideTimes    = 100
	timesGutter  = 2
	mannerTitle  = "arrives"
)

func newTimeTable(p *screen.Pen, w int) *timeTable {
	t := &timeTable{p: p, name: timesName}
	if w < wideTimes {
		t.name = timesShort
	}
	left := w - timesGutter - t.name - 1
	for _, of := range timeRanks {
		need := mannerCells
		if of < numTimes {
			need = columnCells(of)
		}
		if need > left {
			break
		}
		left -= need
		if of == numTimes {
			t.manner = true
		} else {
			t.shown[of] = true
		}
	}
	t.name = min(timesName, t.name+max(left, 0))
	return t
}

func columnCells(of int) int { return max(minTimeCells, len(timeHeads[of])+2) }

// rowText returns a row of the table. The first row, for which beside is nil, has times. Other rows have the
// differences from the first row where both times are known.
func (t *timeTable) rowText(r timesRow, beside *timesRow) display.Text {
	name := t.p.Clean(r.name)
	switch {
	case r.many > 0:
		name = t.p.Format("%s, %s", name, screen.Plural(r.many, "call"))
	case beside != nil && r.of.Turn != beside.of.Turn:
		name = t.p.Format("turn %d, %s", r.of.Turn+1, t.p.Clean(r.from))
	case name.Empty():
		name = t.p.Format("call %d", r.of.Call)
	}
	return t.joinCells(name, func(of int) display.Text {
		at := r.took[of]
		if beside == nil || beside.took[of] < 0 {
			return t.orUnknown(screen.Time(at))
		}
		return t.orUnknown(laterText(at, beside.took[of]))
	}, t.orUnknown(t.p.Clean(r.how.String())))
}

// orUnknown returns the given text, or the sign for unknown if the text is empty.
func (t *timeTable) orUnknown(text display.Text) display.Text {
	if text.Empty() {
		return t.p.Glyph.None
	}
	return text
}

// laterText formats how much later or sooner one time is than another, to the millisecond. A difference of less than
// a millisecond is "=". If the first time is unknown, laterText returns "".
func laterText(at, than time.Duration) display.Text {
	switch d := at - than; {
	case at < 0:
		return display.Text{}
	case d >= time.Millisecond:
		return screen.Time(d).Between("+", "")
	case d <= -time.Millisecond:
		return screen.Time(-d).Between("-", "")
	}
	return display.Lit("=")
}

// joinCells joins the cells of a row.
func (t *timeTable) joinCells(name display.Text, cell func(of int) display.Text, how display.Text) display.Text {
	row := display.Join(display.Lit("  "), t.p.Pad(t.p.Truncate(name, t.name), t.name))
	for of := range numTimes {
		if t.shown[of] {
			row = display.Join(row, alignRight(t.p, cell(of), columnCells(of)))
		}
	}
	if t.manner {
		row = display.Join(row, display.Lit("  "), how)
	}
	return row
}
