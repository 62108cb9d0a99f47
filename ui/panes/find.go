package panes

import "bytes"

// Find are the rows whose name, id, model or arguments hold query.
func (l *List) Find(query string) (rows []int, cursor int) {
	v := l.scene.View
	holds := func(texts ...string) bool {
		for _, t := range texts {
			if len(FindAll([]byte(t), query)) > 0 {
				return true
			}
		}
		return false
	}
	for i, t := range v.Session().Turns {
		if holds(t.Model, t.ID, TurnTitle(v.Exchange(t.Exchange), t)) {
			rows = append(rows, l.starts[i])
		}
		for _, c := range t.Calls {
			if holds(c.Name, c.ID) || len(FindAll(c.Args(), query)) > 0 {
				rows = append(rows, l.starts[i]+c.Number)
			}
		}
	}
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
	q := []byte(query)
	if low := bytes.ToLower(q); bytes.Equal(low, q) {
		text = asciiLower(text)
	}
	for off := 0; ; {
		i := bytes.Index(text[off:], q)
		if i < 0 {
			return at
		}
		at = append(at, off+i)
		off += i + len(q)
	}
}

// asciiLower is text with A–Z lowered: unlike bytes.ToLower it moves no offset.
func asciiLower(text []byte) []byte {
	low := bytes.Clone(text)
	for i, c := range low {
		if 'A' <= c && c <= 'Z' {
			low[i] = c + 'a' - 'A'
		}
	}
	return low
}
