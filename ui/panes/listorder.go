package panes

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"toolscope/stream"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// SortKey is an order of the list.
type SortKey uint8

// Orders of the list. In all but ByTime, calls with the same value are sorted by time.
const (
	ByTime SortKey = iota
	WorstFirst
	BySize
	ByIdle
	ByDuration
	ByCost
	ByTool
	ByModel
)

// sortWords are the words for the orders: the title of the list, and the arguments of the command :sort.
var sortWords = []struct {
	title string
	typed []string
}{
	ByTime: {"by time", []string{"turn", "start"}}, WorstFirst: {"worst first", []string{"worst", "verdict"}}, BySize: {"by size", []string{"size", "bytes"}},
	ByIdle: {"by idle time", []string{"idle"}}, ByDuration: {"by duration", []string{"time", "took"}}, ByCost: {"by cost", []string{"cost"}}, ByTool: {"by tool", []string{"tool"}},
	ByModel: {"by model", []string{"model"}},
}

// String returns the order in words.
func (k SortKey) String() string { return sortWords[k].title }

// SortWords returns the words for the orders, the usual word for each order first.
func SortWords() (all []string) {
	for nth := 0; ; nth++ {
		n := len(all)
		for _, k := range sortWords {
			if nth < len(k.typed) {
				all = append(all, k.typed[nth])
			}
		}
		if len(all) == n {
			return all
		}
	}
}

// SortKeyNamed returns the order for a word, which may be shortened to its beginning. The result ok is false if
// the word is unknown.
func SortKeyNamed(word string) (k SortKey, ok bool) {
	for _, exact := range []bool{true, false} {
		for k := range sortWords {
			for _, w := range sortWords[k].typed {
				if word == w || !exact && word != "" && strings.HasPrefix(w, word) {
					return SortKey(k), true
				}
			}
		}
	}
	return ByTime, false
}

// rowOrder is the order of the rows of a list. By time, the rows are those of machineRows; while runs are folded,
// each run has one row. In other orders, a row is a number: the index of the call in the order of turns, as
// Verdicts counts it.
type rowOrder struct {
	by      SortKey
	folded  bool     // by time: whether runs of healthy calls are folded
	numbers []uint32 // by row: the number of the call
	places  []uint32 // by number: the row; noRow if the row is hidden
	rule    int      // sorted by harm: the number of rows above the rule over the healthy calls
	calls   int      // sorted by harm: the number of healthy calls; the other rows below the rule are turns without a call
	open    int      // sorted by harm: the number of open calls and turns
	runs    []rowRun
	of      orderInput
}

// orderInput has the values from which an order was computed.
type orderInput struct {
	by      SortKey
	folded  bool
	version int
	rows    int
	now     time.Duration // only for the order by idle time, and by harm while rows are open
}

// noRow is the place of a hidden row.
const noRow = math.MaxUint32

// rowRun is a row in the order by time, or a folded run of n rows, calls of which are calls.
type rowRun struct{ row, n, calls uint32 }

// minRun is the minimum length of a run of healthy calls that is folded.
const minRun = 3

// Order returns the order of the rows.
func (l *List) Order() SortKey { return l.order.by }

// SetOrder changes the order, and unfolds all runs. The cursor stays on its call.
func (l *List) SetOrder(by SortKey) {
	l.order.by, l.order.folded, l.on, l.over = by, false, nil, false
}

// updateOrder computes the order again if a row was added or removed, or a verdict changed.
func (l *List) updateOrder() {
	o := &l.order
	of := orderInput{o.by, o.folded, l.scene.Verdicts.Version, l.rows.totalRows(), 0}
	if o.by == ByIdle || o.by == WorstFirst && o.open > 0 {
		of.now = l.scene.Now.Truncate(time.Second)
	}
	again := l.scene.Sieve.Changed || l.scene.News.All
	if of == o.of && !again {
		return
	}
	o.of = of
	switch {
	case o.by != ByTime:
		o.runs = nil
		l.sortRows()
	case o.folded:
		o.numbers, o.places = nil, nil
		l.foldRuns()
	default:
		o.numbers, o.places, o.runs = nil, nil, nil
	}
}

// sortRows sorts the shown rows.
func (l *List) sortRows() {
	o, v := &l.order, l.scene.Verdicts
	o.numbers, o.places = o.numbers[:0], slices.Grow(o.places[:0], v.Rows())[:v.Rows()]
	for i := range o.places {
		o.places[i] = noRow
	}
	if o.by == WorstFirst {
		l.sortByHarm()
	} else {
		l.sortByValue()
	}
	for row, n := range o.numbers {
		o.places[n] = uint32(row)
	}
}

// sortByHarm sorts the rows by their harm. It counts the rows for each harm, and then places the rows.
func (l *List) sortByHarm() {
	o := &l.order
	var next [present.NumHarm]int
	total := 0
	for _, rows := range l.shownTurns() {
		for _, h := range rows.harms {
			next[h]++
			total++
		}
	}
	at := 0
	for h, n := range next {
		next[h], at = at, at+n
	}
	o.rule, o.calls = next[present.Healthy], 0
	from, to := next[present.HarmOpen], next[present.HarmStopped]
	o.open = to - from
	o.numbers = slices.Grow(o.numbers, total)[:total]
	for t, rows := range l.shownTurns() {
		for i, h := range rows.harms {
			o.numbers[next[h]] = uint32(rows.number + i)
			next[h]++
			if h >= present.Healthy && i < len(t.Calls) {
				o.calls++
			}
		}
	}
	// The open calls and turns that have been silent for longest come first. The others stay sorted by time.
	numbers := o.numbers[from:to]
	idle := make(map[uint32]time.Duration)
	for _, number := range numbers {
		at := l.targetOfNumber(int(number))
		if long := LongIdle(l.idleOf(at.turn, at.n)); long > 0 {
			idle[number] = long
		}
	}
	if len(idle) > 0 {
		slices.SortStableFunc(numbers, func(a, b uint32) int { return cmp.Compare(idle[b], idle[a]) })
	}
}

// sortByValue sorts the rows by a column: numbers in descending order, and names alphabetically.
func (l *List) sortByValue() {
	type valued struct {
		value  float64
		number uint32
	}
	o := &l.order
	names := map[string]float64{}
	if o.by == ByTool || o.by == ByModel {
		names = l.rankNames()
	}
	all := make([]valued, 0, l.scene.Verdicts.Rows())
	for t, rows := range l.shownTurns() {
		cost := 0.0
		if o.by == ByCost {
			cost = l.scene.Bill.CostOf(t).USD
		}
		for i := range rows.harms {
			value := cost
			switch {
			case o.by == ByModel:
				value = names[t.Model]
			case i >= len(t.Calls) && o.by == ByTool:
				value = names[""]
			case i >= len(t.Calls) && o.by == ByDuration:
				value = float64(screen.Elapsed(t.OpenedAt, t.ClosedAt))
			case o.by == ByIdle:
				value = float64(l.idleOf(t, i))
			case i >= len(t.Calls):
			case o.by == BySize:
				value = float64(t.Calls[i].ArgsLen())
			case o.by == ByDuration:
				value = float64(screen.CallTime(t.Calls[i]))
			case o.by == ByTool:
				value = names[t.Calls[i].Name]
			}
			all = append(all, valued{value, uint32(rows.number + i)})
		}
	}
	slices.SortFunc(all, func(a, b valued) int {
		if a.value != b.value {
			return cmp.Compare(b.value, a.value)
		}
		return cmp.Compare(a.number, b.number)
	})
	o.numbers = slices.Grow(o.numbers, len(all))
	for _, v := range all {
		o.numbers = append(o.numbers, v.number)
	}
}

// rankNames returns a value for each name of a tool or model. The alphabetically first name has the largest value. An
// empty name comes last.
func (l *List) rankNames() map[string]float64 {
	ranks := map[string]float64{"": math.Inf(-1)}
	for t, rows := range l.shownTurns() {
		if l.order.by == ByModel {
			ranks[t.Model] = 0
			continue
		}
		for _, c := range t.Calls[:min(len(t.Calls), len(rows.harms))] {
			ranks[c.Name] = 0
		}
	}
	names := make([]string, 0, len(ranks))
	for name := range ranks {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	for i, name := range names {
		ranks[name] = float64(-i)
	}
	ranks[""] = math.Inf(-1)
	return ranks
}

// numberedRows are the rows of a turn: the number of the first row, and the harm of each row.
type numberedRows struct {
	number int
	harms  []present.Harm
}

// shownTurns returns the turns that have rows, with those rows, in the order of turns.
func (l *List) shownTurns() iter.Seq2[*stream.Turn, numberedRows] {
	return func(yield func(*stream.Turn, numberedRows) bool) {
		v, at := l.scene.Verdicts, 0
		for i, t := range v.session.Turns {
			n := v.rows.countOf(v.dropped + i)
			if !l.rows.plain.isHidden(t) && !yield(t, numberedRows{at, v.harms[at : at+n]}) {
				return
			}
			at += n
		}
	}
}

// foldRuns folds runs of healthy calls. A machine's row ends a run.
func (l *List) foldRuns() {
	o, rows := &l.order, l.rows.totalRows()
	o.runs = o.runs[:0]
	for row := 0; row < rows; {
		n, calls := 0, 0
		for ; row+n < rows; n++ {
			_, t, i := l.rows.rowTarget(row + n)
			if t == nil {
				break
			}
			if harms := l.scene.Verdicts.RowsOf(t); i >= len(harms) || harms[i] != present.Healthy {
				break
			}
			if i < len(t.Calls) {
				calls++
			}
		}
		switch {
		case n >= minRun:
			o.runs = append(o.runs, rowRun{uint32(row), uint32(n), uint32(calls)})
		default:
			n = max(n, 1)
			for i := range n {
				o.runs = append(o.runs, rowRun{uint32(row + i), 1, 0})
			}
		}
		row += n
	}
}

// rowTarget is the content of a row: a call or turn, a machine, a run of healthy calls, or the rule above the
// healthy calls.
type rowTarget struct {
	machine *machineTurns
	turn    *stream.Turn
	n       int // index among the turn's rows
	healthy int // the number of rows in a folded run, or below the rule
	calls   int // how many of these rows are calls; the others are turns without a call
}

// toolCall returns the call in the row, or nil.
func (r rowTarget) toolCall() *stream.Call {
	if r.turn != nil && r.n < len(r.turn.Calls) {
		return r.turn.Calls[r.n]
	}
	return nil
}

// asRef returns the Ref of the call or turn in the row.
func (r rowTarget) asRef() stream.Ref {
	if c := r.toolCall(); c != nil {
		return c.Ref()
	}
	return r.turn.Ref()
}

// ruleRow returns the row of the rule above the healthy calls, or -1.
func (o *rowOrder) ruleRow() int {
	if o.by == WorstFirst && o.rule > 0 && o.rule < len(o.numbers) {
		return o.rule
	}
	return -1
}

// totalRows returns the number of rows in the current order.
func (l *List) totalRows() int {
	switch o := &l.order; {
	case o.by != ByTime && o.ruleRow() >= 0:
		return len(o.numbers) + 1
	case o.by != ByTime:
		return len(o.numbers)
	case o.folded:
		return len(o.runs)
	}
	return l.rows.totalRows()
}

// targetOf returns the content of a row. It is empty if the row does not exist.
func (l *List) targetOf(row int) (at rowTarget) {
	o := &l.order
	switch rule := o.ruleRow(); {
	case row < 0 || row >= l.totalRows():
		return rowTarget{}
	case o.by != ByTime && row == rule:
		return rowTarget{healthy: len(o.numbers) - o.rule, calls: o.calls}
	case o.by != ByTime:
		if rule >= 0 && row > rule {
			row--
		}
		return l.targetOfNumber(int(o.numbers[row]))
	case o.folded:
		at.machine, at.turn, at.n = l.rows.rowTarget(int(o.runs[row].row))
		if n := o.runs[row].n; n > 1 {
			at.healthy, at.calls = int(n), int(o.runs[row].calls)
		}
		return at
	}
	at.machine, at.turn, at.n = l.rows.rowTarget(row)
	return at
}

// targetOfNumber returns the turn for a row number, and the index of the row within the turn.
func (l *List) targetOfNumber(number int) (at rowTarget) {
	v := l.scene.Verdicts
	i, n := v.rows.elementAt(number)
	if i -= v.dropped; i >= 0 && i < len(v.session.Turns) {
		at.turn, at.n = v.session.Turns[i], n
	}
	return at
}

// rowOfOwn returns the list row for row n of a turn, or -1.
func (l *List) rowOfOwn(t *stream.Turn, n int) int {
	o := &l.order
	if o.by == ByTime {
		row := l.rows.rowOf(l.scene.View, t, n)
		if row < 0 || !o.folded {
			return row
		}
		return sort.Search(len(o.runs), func(i int) bool { return int(o.runs[i].row) > row }) - 1
	}
	v := l.scene.Verdicts
	i := indexIn(v.session.Turns, t)
	if i < 0 {
		return -1
	}
	number, to := v.rowSpan(i)
	if number += n; number >= to || number >= len(o.places) || o.places[number] == noRow {
		return -1
	}
	row := int(o.places[number])
	if rule := o.ruleRow(); rule >= 0 && row >= rule {
		row++
	}
	return row
}

// allRows returns all calls and turns that have rows, and their harms, in the current order. It includes those of
// folded machines.
func (l *List) allRows() iter.Seq2[stream.Ref, present.Harm] {
	return func(yield func(stream.Ref, present.Harm) bool) {
		o, v := &l.order, l.scene.Verdicts
		for _, number := range o.numbers {
			if at := l.targetOfNumber(int(number)); at.turn != nil && !yield(at.asRef(), v.harms[number]) {
				return
			}
		}
		for _, h := range l.rows.machines {
			if o.by != ByTime {
				return
			}
			for row := range h.count.totalRows() {
				i, n := h.count.turnAt(row)
				if i < 0 || i >= len(h.turns) {
					continue
				}
				at := rowTarget{turn: h.turns[i], n: n}
				if harms := v.RowsOf(at.turn); n < len(harms) && !yield(at.asRef(), harms[n]) {
					return
				}
			}
		}
	}
}
