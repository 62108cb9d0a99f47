package panes

import (
	"slices"

	"toolscope/stream"
	"toolscope/ui/filter"
	"toolscope/ui/present"
)

// Find returns the rows of turns and calls whose text, arguments or findings contain query. It begins at turn
// from. The texts and arguments of turns that are not in memory are not searched; Unsearched counts these
// turns.
func (l *List) Find(query string, from int, time func() bool) (rows []int, next int) {
	if query == "" {
		return nil, AllFound
	}
	if from == 0 {
		l.Unsearched = 0
		for _, h := range l.rows.machines { // a match must have a row, and the turns of folded machines have none
			if h.shut {
				l.rows.setFolded(h, false)
			}
		}
	}
	n, turns := newTextQuery(query), l.scene.View.Session().Turns
	looked := 0
	for i := from; i < len(turns); i++ {
		if looked > bytesPerCheck {
			if looked = 0; !time() {
				return rows, i
			}
		}
		rows, looked = l.searchTurn(rows, n, turns[i], looked)
	}
	return rows, AllFound
}

// bytesPerCheck is the number of bytes that are searched between two checks of the remaining time.
const bytesPerCheck = 1 << 20

// turnSearchCost is the cost of searching a turn without calls, in bytes of arguments.
const turnSearchCost = 1 << 11

// searchTurn searches one turn and its calls. It appends the matching rows to rows, and adds the cost of the
// search to looked.
func (l *List) searchTurn(rows []int, n *textQuery, t *stream.Turn, looked int) ([]int, int) {
	v := l.scene.View
	l.rows.recountTurn(v, t)
	if t.Retention != stream.InMemory {
		l.Unsearched++
	}
	if l.rows.plain.isHidden(t) {
		return rows, looked + 1
	}
	last := -1
	add := func(own int) {
		if row := l.rowOfOwn(t, own); row >= 0 && row != last {
			rows, last = append(rows, row), row
		}
	}
	if l.turnMatches(n, t) {
		add(l.ownRow(t))
	}
	looked += turnSearchCost + len(t.Text) + len(t.Thinking)
	for i, c := range t.Calls {
		if callMatches(n, c) {
			add(i)
		}
		looked += c.ArgsLen() + turnSearchCost/8
	}
	return rows, looked
}

// turnMatches reports whether the row of a turn, or one of its texts, contains the query.
func (l *List) turnMatches(n *textQuery, t *stream.Turn) bool {
	state, a := present.VerdictOfTurn(l.scene.View.Exchange(t.Exchange), t).Words, t.Request
	return containsQuery(n, state) || containsQuery(n, t.Model) || containsQuery(n, t.ID) || containsQuery(n, t.Finish) || containsQuery(n, t.Failure) ||
		containsQuery(n, present.TurnTitle(l.scene.View.Exchange(t.Exchange), t)) || findingMatches(n, t.Findings) || containsQuery(n, t.Text) || containsQuery(n, t.Thinking) ||
		a != nil && (containsQuery(n, a.Agent) || containsQuery(n, a.Title) || containsQuery(n, a.Purpose) || containsQuery(n, a.ResultsOf) || containsQuery(n, a.Snippet))
}

// callMatches reports whether the row, a finding code or the arguments of a call contain the query.
func callMatches(n *textQuery, c *stream.Call) bool {
	return containsQuery(n, c.Name) || containsQuery(n, c.ID) || containsQuery(n, c.Status().String()) || findingMatches(n, c.Findings) || containsQuery(n, c.Args())
}

// findingMatches reports whether the code of a finding contains the query.
func findingMatches(n *textQuery, list []stream.Finding) bool {
	return slices.ContainsFunc(list, func(f stream.Finding) bool { return containsQuery(n, f.Code) })
}

// Find returns the offsets at which query occurs in the arguments, and keeps them for drawing. It returns nil
// if there is no call or no query. A query without capitals ignores case.
func (d *Document) Find(query string) []int {
	d.Hits = Hits{length: len(query)}
	if d.Call == nil || query == "" {
		return nil
	}
	d.Hits.at = FindAll(d.Call.Args(), query)
	return d.Hits.at
}

// FindAll returns the offsets of query in text. A query without capitals ignores the case of A-Z.
func FindAll(text []byte, query string) (at []int) {
	n := filter.NewTextQuery(query)
	for off := range n.All(text) {
		at = append(at, off)
	}
	return at
}

// textQuery is a query with a reusable buffer.
type textQuery struct {
	filter.TextQuery
	room []byte // a buffer for strings
}

func newTextQuery(query string) *textQuery { return &textQuery{TextQuery: filter.NewTextQuery(query)} }

// containsQuery reports whether text contains the query.
func containsQuery[T string | []byte](n *textQuery, text T) bool {
	b, ok := any(text).([]byte)
	if !ok {
		n.room = append(n.room[:0], text...)
		b = n.room
	}
	return n.In(b)
}
