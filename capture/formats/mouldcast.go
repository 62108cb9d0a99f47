package formats

import (
	"bytes"
	"cmp"
	"slices"
)

// casting is what is known of a line, while it is peeled, that may become a mould.
type casting struct {
	texts []castText // that were looked into, from the line on
	free  []freePart // what may be otherwise in lines that are like it
	mould *mould     // of the payload that was found
	made  int
}

// castText is a text that was looked into, and the string that it stood for in the text before it.
type castText struct {
	text, literal []byte
	on            *trail
}

// freePart is a time that was read, or a value that says nothing.
type freePart struct {
	text []byte
	is   placeKind
}

// begin begins with a line.
func (c *casting) begin(line []byte) {
	c.texts, c.free, c.mould = append(c.texts[:0], castText{text: line}), c.free[:0], nil
}

// cast makes a mould of what is around a payload, if it is one for which that is worth it.
func (c *casting) cast(f *find) {
	c.mould = nil
	usual := f.is == aChunk && !f.weak || f.is == anEvent
	if len(c.texts) == 0 || !usual || f.cut || f.quoted || f.scope != 0 || len(f.text) == 0 || len(c.texts) > mouldLevels {
		return
	}
	m := &mould{on: f.on, clues: f.clues, value: !f.field, fine: f.stamp.fine}
	times := 0
	for i, t := range c.texts {
		inner := f.text
		if i+1 < len(c.texts) {
			inner = c.texts[i+1].literal
		}
		text := bytes.TrimRight(t.text, "\r\n")
		at := placeIn(text, inner)
		if at < 0 || bytes.IndexByte(text, '\n') >= 0 {
			return
		}
		l := mouldLevel{quoted: t.on}
		l.head.parts = c.parts(text[:at], f.stamp.text, &times)
		l.tail.parts = c.parts(text[at+len(inner):], f.stamp.text, &times)
		m.levels = append(m.levels, l)
	}
	if !m.value && len(m.levels[len(m.levels)-1].tail.parts) > 0 || f.stamp.text != nil && times != 1 {
		return
	}
	c.mould = m
}

// parts cuts a text at what is free in it, and counts in which that is the time of the line.
func (c *casting) parts(text, stamp []byte, times *int) (all []mouldPart) {
	type place struct {
		freePart
		at int
	}
	var free []place
	for _, f := range c.free {
		if at := placeIn(text, f.text); at >= 0 {
			free = append(free, place{f, at})
		}
	}
	slices.SortStableFunc(free, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	from := 0
	for _, f := range free {
		if f.at < from {
			continue
		}
		part := mouldPart{bytes.Clone(text[from:f.at]), bytes.Clone(f.text), f.is}
		if len(stamp) > 0 && &stamp[0] == &f.text[0] && f.is == anyTime {
			part.is = lineTime
			*times++
		}
		all = append(all, part)
		from = f.at + len(f.text)
	}
	if from < len(text) {
		all = append(all, mouldPart{same: bytes.Clone(text[from:])})
	}
	return all
}

// placeIn is where in a text a part of it stands, -1 if it is none.
func placeIn(text, part []byte) int {
	if len(part) == 0 {
		return -1
	}
	for i := range text {
		if &text[i] == &part[0] {
			if i+len(part) > len(text) {
				return -1
			}
			return i
		}
	}
	return -1
}

// keepMould keeps the mould of a line that had one payload.
func (p *peeler) keepMould() {
	m := p.cast.mould
	if m == nil || len(p.finds) != 1 || p.lines <= mouldAfter || p.cast.made >= mouldTries+p.served/8 {
		return
	}
	p.cast.made++
	if len(p.moulds) == mouldLimit {
		p.moulds = p.moulds[:mouldLimit-1]
	}
	p.moulds = slices.Insert(p.moulds, 0, m)
}
