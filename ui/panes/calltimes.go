package panes

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/screen"
)

// callTimes compares how long the chosen call took to become what it is with others: those of its turn,
// those of the same tool in turns around it, and what is usual there by model and by how arguments
// arrive. Only calls whose turns have ended are compared with, but for those of its own turn: what a
// turn took that has ended is told once.
type callTimes struct {
	ended map[stream.Ref]providers.Latency
}

// How much is compared.
const (
	turnsAround     = 32      // on either side of the chosen one
	maxSameTurn     = 8       // calls of its turn
	maxSameTool     = 4       // calls of the same tool
	maxComparedSize = 200_000 // tokens and deltas of all that are compared
	maxCachedTimes  = 1 << 10 // calls whose times are kept
)

// timesRow is what a row is about: a call, or with many several.
type timesRow struct {
	of   stream.Ref
	name string
	from string // the model that made it
	took [numTimes]time.Duration
	how  providers.Arrival
	many int
}

// The times of a call are those of providers.Latency and the longest silence.
const (
	firstByteTime = 3
	silence       = 9
	numTimes      = silence + 1
)

// timesOf are the times of a call.
func timesOf(t *stream.Turn, c *stream.Call, l *providers.Latency) timesRow {
	r := timesRow{of: c.Ref(), name: screen.ShortName(c.Name), from: cmp.Or(ShortModel(t.Model), t.Protocol), how: l.Arrival}
	for i, m := range l.TimePoints() {
		r.took[i] = m.At
	}
	r.took[silence] = l.Gap
	return r
}

// tableLines are the table, none where there is nothing to compare.
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
			lines = append(lines, runRuleLine{of: noRule}, runRuleLine{of: noRule, role: screen.Muted, text: t.titleText()},
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

// cachedTimes are the times of a call; of one that is long and still grows none.
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

// comparedCalls are the calls that the chosen one is compared with: the first of its turn, the nearest of the
// same tool, and all of the turns around it, by the model that made them.
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

// nearestRows are those rows whose turns are nearest to one, in order.
func nearestRows(rows []timesRow, turn int32) []timesRow {
	away := func(r timesRow) int32 { return max(r.of.Turn-turn, turn-r.of.Turn) }
	slices.SortStableFunc(rows, func(a, b timesRow) int { return cmp.Compare(away(a), away(b)) })
	rows = rows[:min(len(rows), maxSameTool)]
	slices.SortStableFunc(rows, func(a, b timesRow) int { return cmp.Compare(a.of.Turn, b.of.Turn) })
	return rows
}

// mediansByKind are the times that half of the rows of a kind take at most, a row a kind; none unless there
// are two kinds.
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

// medianTime is the median of those of the rows that have a time.
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
