package panes

import (
	"slices"

	"toolscope/stream"
	"toolscope/ui/needle"
)

// Find are the rows that say query, or whose arguments or texts hold it.
func (l *List) Find(query string) (rows []int, cursor int) {
	if query != "" {
		rows, _ = l.Seek(query, 0, func() bool { return true })
		slices.Sort(rows) // what is under a call stands before the call behind it
	}
	return rows, l.At
}

// Cursor is the row of the cursor.
func (l *List) Cursor() int { return l.At }

// Seek is Find from one turn on. What was let go of is not looked through: Unsearched counts its
// turns.
func (l *List) Seek(query string, from int, time func() bool) (rows []int, next int) {
	if from == 0 {
		l.Unsearched = 0
		for _, h := range l.rows.hosts { // what is found has a row
			if h.shut {
				l.rows.fold(h, false)
			}
		}
	}
	n, turns := newNeedle(query), l.scene.View.Session().Turns
	looked := 0
	for i := from; i < len(turns); i++ {
		if looked > pieceBytes {
			if looked = 0; !time() {
				return rows, i
			}
		}
		rows, looked = l.seekIn(rows, n, turns[i], looked)
	}
	return rows, -1
}

// pieceBytes are looked through between two looks at the clock.
const pieceBytes = 1 << 20

// turnBytes is what it takes to look through a turn without calls, as if it were arguments.
const turnBytes = 1 << 11

// seekIn looks through one turn and its calls.
func (l *List) seekIn(rows []int, n *needleOf, t *stream.Turn, looked int) ([]int, int) {
	v := l.scene.View
	l.rows.recount(v, t)
	if t.Kept != stream.Whole {
		l.Unsearched++
	}
	if l.rows.plain.hides(t) {
		return rows, looked + 1
	}
	if l.says(n, t) {
		rows = append(rows, l.rows.row(v, t, 0))
	}
	looked += turnBytes + len(t.Text) + len(t.Thinking)
	for _, c := range t.Calls {
		if callSays(n, c) {
			rows = append(rows, l.rows.row(v, t, c.Number))
		}
		looked += c.Size() + turnBytes/8
	}
	return rows, looked
}

// says reports whether the row of a turn says what is looked for, or its texts hold it.
func (l *List) says(n *needleOf, t *stream.Turn) bool {
	_, _, state := turnState(t)
	return holds(n, state) || holds(n, t.Model) || holds(n, t.ID) || holds(n, t.Finish) || holds(n, t.Failure) ||
		holds(n, TurnTitle(l.scene.View.Exchange(t.Exchange), t)) || asks(n, t.Ask) || found(n, t.Findings) ||
		holds(n, t.Text) || holds(n, t.Thinking)
}

// callSays reports whether the row of a call says what is looked for, or its arguments hold it.
func callSays(n *needleOf, c *stream.Call) bool {
	return holds(n, c.Name) || holds(n, c.ID) || holds(n, c.Status().String()) || found(n, c.Findings) || holds(n, c.Args())
}

// found reports whether the code of a finding holds what is looked for.
func found(n *needleOf, list []stream.Finding) bool {
	return slices.ContainsFunc(list, func(f stream.Finding) bool { return holds(n, f.Code) })
}

// Find remembers where query is in the arguments, without regard to case if it has none itself.
func (d *Document) Find(query string) []int {
	d.Hits = Hits{length: len(query)}
	if d.Call == nil || query == "" {
		return nil
	}
	d.Hits.at = FindAll(d.Call.Args(), query)
	return d.Hits.at
}

// FindAll returns where query is in text. A query without capitals matches them too, as far as
// ASCII goes.
func FindAll(text []byte, query string) (at []int) {
	n := needle.New(query)
	for off := range n.All(text) {
		at = append(at, off)
	}
	return at
}

// needleOf is what is looked for.
type needleOf struct {
	needle.Query
	room []byte // for texts that are strings
}

func newNeedle(query string) *needleOf { return &needleOf{Query: needle.New(query)} }

// holds reports whether what is looked for is in a text.
func holds[T string | []byte](n *needleOf, text T) bool {
	b, ok := any(text).([]byte)
	if !ok {
		n.room = append(n.room[:0], text...)
		b = n.room
	}
	return n.In(b)
}

// asks reports whether a request's agent, purpose or words hold what is looked for.
func asks(n *needleOf, a *stream.Ask) bool {
	return a != nil && (holds(n, a.Agent) || holds(n, a.Title) || holds(n, a.Purpose) || holds(n, a.Answers) || holds(n, a.Words))
}
