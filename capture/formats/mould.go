package formats

import "bytes"

// mould is a line that was peeled, without its payload. Where another line has the same around what
// may be its payload, but for the digits of times, all that was found out of the first holds for it
// too: what it is then costs one look at its payload.
type mould struct {
	levels []mouldLevel // from outside in
	on     *trail
	clues  []clue
	value  bool // the payload is a JSON value; otherwise it is all that is left of a text
	fine   bool // the time has parts of a second
}

// mouldLevel is what stands around a payload in a line, or in a string of it.
type mouldLevel struct {
	head, tail mouldEnd
	quoted     *trail // where the text stands, if it stands in a string
	stem       stem   // of the string that comes next
}

// mouldEnd is what stands in a level before or behind what comes next, part by part, and what stood
// there last: the next line is likely to have the same.
type mouldEnd struct {
	parts    []mouldPart
	last     []byte
	from, to int // where in that the time of the line stands, nowhere where to is 0
}

// mouldPart is bytes that all lines of a mould have, and what may stand behind them in place of what
// the first one had.
type mouldPart struct {
	same []byte
	was  []byte
	is   placeKind
}

// placeKind is what may stand in place of something.
type placeKind int8

const (
	theEnd   placeKind = iota // nothing
	anyTime                   // the same with other digits
	lineTime                  // that, and it is the time of the line
	anyValue                  // a JSON value
)

const (
	mouldLimit  = 8   // moulds that are tried
	mouldLevels = 4   // strings in strings
	mouldAfter  = 64  // lines: by then it is known where payloads stand
	mouldTries  = 256 // moulds that are made, and more only if they serve
)

// match reports whether p begins with the parts, how long they are there, and the line's time.
func (e *mouldEnd) match(p []byte, stamp *[]byte) (n int, is bool) {
	if n = len(e.last); n == 0 || len(p) < n || string(p[:n]) != string(e.last) {
		if n, is = e.begins(p); !is {
			return 0, false
		}
		e.last = append(e.last[:0], p[:n]...)
	}
	if e.to > 0 {
		*stamp = p[e.from:e.to:e.to]
	}
	return n, true
}

// begins reports whether p begins with the parts, and how long they are there.
func (e *mouldEnd) begins(p []byte) (n int, is bool) {
	for i := range e.parts {
		part := &e.parts[i]
		if !bytes.HasPrefix(p[n:], part.same) {
			return 0, false
		}
		n += len(part.same)
		k, closed := 0, true
		switch part.is {
		case theEnd:
			continue
		case anyValue:
			k, closed = valueLen(p[n:])
		default:
			k = sameButDigits(part.was, p[n:])
		}
		if k == 0 || !closed {
			return 0, false
		}
		if part.is == lineTime {
			e.from, e.to = n, n+k
			part.was = append(part.was[:0], p[n:n+k]...) // the next one is more like this
		}
		n += k
	}
	return n, true
}

// moulded peels a line by a mould, if one fits. The line is written over.
func (p *peeler) moulded(line []byte) bool {
	for i, m := range p.moulds {
		if !p.fill(m, line) {
			continue
		}
		if i > 0 { // lines like this one are likely to come
			copy(p.moulds[1:i+1], p.moulds[:i])
			p.moulds[0] = m
		}
		p.served++
		return true
	}
	return false
}

// filling is a level of a line while it is compared with a mould: the text, and where in it what
// may be the payload stands, or the string that it stands in.
type filling struct {
	text     []byte
	from, to int
}

// fill peels a line by one mould.
func (p *peeler) fill(m *mould, line []byte) bool {
	var all [mouldLevels]filling
	text, stamp, is := p.open(m, line, &all)
	if !is {
		return false
	}
	f := p.oneFind()
	f.on, f.clues, f.stamp = m.on, m.clues, lineStamp{stamp, m.fine}
	if !p.payload(f, text, m.value) {
		p.finds = p.finds[:0]
		return false
	}
	p.own(f, all[:len(m.levels)])
	return true
}

// open reports whether a line is as the mould says, and finds what may be its payload, and its time.
func (p *peeler) open(m *mould, line []byte, all *[mouldLevels]filling) (text, stamp []byte, is bool) {
	text = line
	last := len(m.levels) - 1
	for i := range m.levels {
		l, at := &m.levels[i], &all[i]
		if l.quoted != nil && (l.quoted.pieces || l.quoted.begun) {
			return nil, nil, false
		}
		at.text = trimmedEnd(text)
		switch {
		case i < last:
			is = p.openString(i, l, at, &stamp)
		case m.value:
			is = at.value(l, &stamp)
		default:
			at.from, is = l.head.match(at.text, &stamp)
			at.to = len(at.text)
		}
		if !is {
			return nil, nil, false
		}
		if text = at.text[at.from:at.to]; i < last {
			text = p.quotes[i]
		}
	}
	return text, stamp, true
}

// openString reads the string that a level has, if it is as the mould says.
func (p *peeler) openString(i int, l *mouldLevel, at *filling, stamp *[]byte) (is bool) {
	if at.from, is = l.head.match(at.text, stamp); !is {
		return false
	}
	n, closed := 0, false
	p.quotes[i], n, closed = l.stem.read(p.quotes[i][:0], at.text[at.from:])
	if at.to = at.from + n; !closed {
		return false
	}
	n, is = l.tail.match(at.text[at.to:], stamp)
	return is && at.to+n == len(at.text)
}

// value finds the value that a level has, if it is as the mould says.
func (at *filling) value(l *mouldLevel, stamp *[]byte) (is bool) {
	if at.from, is = l.head.match(at.text, stamp); !is {
		return false
	}
	size, closed := valueLen(at.text[at.from:])
	at.to = at.from + size
	if !closed && at.to < len(at.text) || size == 0 {
		return false
	}
	n, is := l.tail.match(at.text[at.to:], stamp)
	return is && at.to+n == len(at.text)
}

// own makes what a mould gave the find's own: the payload gets room in the line, over what stood
// next to it.
func (p *peeler) own(f *find, all []filling) {
	outer := &all[0]
	line := outer.text
	from, to := outer.from, outer.to
	if len(all) == 1 { // there is no room but what is taken from its neighbours
		f.before, f.after = p.clone(line[:from]), p.clone(line[to:])
		f.room = line[max(from-1, 0):cap(line)]
		return
	}
	f.room = line[from:to:to]
	f.before, f.after = line[:from:from], line[to:]
	for i := 1; i < len(all); i++ {
		at := &all[i]
		f.before = p.joined(f.before, `"`, at.text[:at.from])
		f.after = p.joined(at.text[at.to:], `"`, f.after)
	}
}

// oneFind is a find that is the only one of a line, empty.
func (p *peeler) oneFind() *find {
	p.finds = append(p.finds[:0], find{})
	return &p.finds[0]
}

func trimmedEnd(p []byte) []byte {
	for len(p) > 0 && (p[len(p)-1] == '\n' || p[len(p)-1] == '\r') {
		p = p[:len(p)-1]
	}
	return p
}

// payload reads what stands where a payload stood, if it is what usually stands there: of all else
// it is not certain that it would have been found there.
func (p *peeler) payload(f *find, text []byte, value bool) bool {
	f.block, f.number, f.text = -1, -1, text
	if value {
		return p.chunk(f, text)
	}
	if f.on.pieces {
		return false
	}
	if len(text) == 0 {
		f.is = aRest
		return true
	}
	f.field = true
	switch text[0] {
	case 'e':
		name, is := bytes.CutPrefix(text, []byte("event:"))
		f.is, f.kind = anEvent, bytes.TrimSpace(name)
		return is && isEventName(name)
	case 'd':
		data, is := bytes.CutPrefix(text, []byte("data:"))
		if data = bytes.TrimLeft(data, " "); string(data) == "[DONE]" {
			f.is = aMark
			return is
		}
		return is && p.chunk(f, data)
	}
	return false
}

// chunk reads a chunk that is whole and says what it is.
func (p *peeler) chunk(f *find, v []byte) bool {
	from := len(p.members)
	all, n, whole := readMembers(p.members, v)
	p.members = all[:from]
	if !whole || n != len(v) || bytes.IndexByte(v, '\r') >= 0 || bytes.IndexByte(v, '\n') >= 0 || bytes.IndexByte(v, esc) >= 0 {
		return false
	}
	f.saying = say(all[from:])
	return f.is == aChunk
}

// clone is a copy of a short text.
func (p *peeler) clone(a []byte) []byte { return p.joined(a, "", nil) }

func (p *peeler) joined(a []byte, mid string, b []byte) []byte {
	const block = 16 << 10
	if n := len(a) + len(mid) + len(b); n > cap(p.room)-len(p.room) {
		p.room = make([]byte, 0, max(n, block))
	}
	from := len(p.room)
	p.room = append(append(append(p.room, a...), mid...), b...)
	return p.room[from:len(p.room):len(p.room)]
}
