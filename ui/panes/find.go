package panes

import (
	"bytes"
	"slices"

	"toolscope/stream"
)

// Find are the rows whose name, id, model or arguments hold query. Arguments that were let go of are
// not looked through: Unsearched counts their turns.
func (l *List) Find(query string) (rows []int, cursor int) {
	l.Unsearched = 0
	if query == "" {
		return nil, l.At
	}
	v, n := l.scene.View, newNeedle(query)
	for i, t := range v.Session().Turns {
		l.rows.count(i, t)
		if t.Kept != stream.Whole {
			l.Unsearched++
		}
		row := l.rows.first(i)
		if l.rows.hides(t) {
			continue
		}
		if holds(n, t.Model) || holds(n, t.ID) || holds(n, TurnTitle(v.Exchange(t.Exchange), t)) || asks(n, t.Ask) {
			rows = append(rows, row)
		}
		for _, c := range t.Calls {
			if holds(n, c.Name) || holds(n, c.ID) || holds(n, c.Args()) {
				rows = append(rows, l.rows.of(i, c.Number))
			}
		}
	}
	slices.Sort(rows) // what is under a call stands before the call behind it
	return rows, l.At
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
	if query == "" {
		return nil
	}
	find(newNeedle(query), text, func(off int) bool {
		at = append(at, off)
		return true
	})
	return at
}

// needle is what is looked for, and room to look at a piece of a text.
type needle struct {
	query []byte
	fold  bool // capitals match too
	piece []byte
}

func newNeedle(query string) *needle {
	q := []byte(query)
	return &needle{query: q, fold: bytes.Equal(q, bytes.ToLower(q))}
}

// mostPiece is how many bytes of a text are looked at in one piece.
const mostPiece = 16 << 10

// holds reports whether what is looked for is in a text.
func holds[T string | []byte](n *needle, text T) (found bool) {
	find(n, text, func(int) bool {
		found = true
		return false
	})
	return found
}

// find tells where in a text what is looked for begins, one place behind the other, as long as more
// are wanted. The text is copied piece by piece: a piece holds all of what begins in it.
func find[T string | []byte](n *needle, text T, found func(off int) (more bool)) {
	size, next := len(n.query), 0
	for start := 0; start+size <= len(text); start += mostPiece {
		n.piece = append(n.piece[:0], text[start:min(len(text), start+mostPiece+size-1)]...)
		if n.fold {
			lower(n.piece)
		}
		for {
			i := bytes.Index(n.piece[max(0, next-start):], n.query)
			if i < 0 {
				break
			}
			off := max(start, next) + i
			if next = off + size; !found(off) {
				return
			}
		}
	}
}

// lower lowers A-Z: unlike bytes.ToLower it moves no offset.
func lower(text []byte) {
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			text[i] = c + 'a' - 'A'
		}
	}
}

// asks reports whether a request's agent, purpose or words hold what is looked for.
func asks(n *needle, a *stream.Ask) bool {
	return a != nil && (holds(n, a.Agent) || holds(n, a.Title) || holds(n, a.Purpose) || holds(n, a.Answers) || holds(n, a.Words))
}
