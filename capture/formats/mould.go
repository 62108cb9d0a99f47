package formats

import (
	"bytes"

	"toolscope/stream/json"
)

// lineTemplate is a line that was peeled, without its payload. Where another line has the same around what
// may be its payload, but for the digits of times, all that was found out of the first holds for it
// too: what it is then costs one look at its payload.
type lineTemplate struct {
	levels []templateLevel // from outside in
	on     *payloadPath
	keys   []correlationKey
	value  bool // the payload is a JSON value; otherwise it is all that is left of a text
	fine   bool // the time has parts of a second
}

// templateLevel is what stands around a payload in a line, or in a string of it.
type templateLevel struct {
	head, tail templateSide
	quoted     *payloadPath // where the text stands, if it stands in a string
	stem       stringPrefix // of the string that comes next
}

// templateSide is what stands in a level before or behind what comes next, part by part, and what stood
// there last: the next line is likely to have the same.
type templateSide struct {
	parts    []templatePart
	last     []byte
	from, to int // where in that the time of the line stands, nowhere where to is 0
}

// templatePart is bytes that all lines of a mould have, and what may stand behind them in place of what
// the first one had.
type templatePart struct {
	same []byte
	was  []byte
	is   slotKind
}

// slotKind is what may stand in place of something.
type slotKind int8

const (
	theEnd   slotKind = iota // nothing
	anyTime                  // the same with other digits
	lineTime                 // that, and it is the time of the line
	anyValue                 // a JSON value
)

const (
	maxTemplates      = 8   // moulds that are tried
	maxTemplateLevels = 4   // strings in strings
	mouldAfter        = 64  // lines: by then it is known where payloads stand
	maxTemplatesMade  = 256 // moulds that are made, and more only if they serve
)

// match reports whether p begins with the parts, how long they are there, and the line's time.
func (e *templateSide) match(p []byte, stamp *[]byte) (n int, is bool) {
	if n = len(e.last); n == 0 || len(p) < n || string(p[:n]) != string(e.last) {
		if n, is = e.matchParts(p); !is {
			return 0, false
		}
		e.last = append(e.last[:0], p[:n]...)
	}
	if e.to > 0 {
		*stamp = p[e.from:e.to:e.to]
	}
	return n, true
}

// matchParts reports whether p begins with the parts, and how long they are there.
func (e *templateSide) matchParts(p []byte) (n int, is bool) {
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
			k, closed = json.ValueLen(p[n:])
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

// unwrapByTemplate peels a line by a mould, if one fits. The line is written over.
func (p *unwrapper) unwrapByTemplate(line []byte) bool {
	for i, m := range p.templates {
		if !p.matchTemplate(m, line) {
			continue
		}
		if i > 0 { // lines like this one are likely to come
			copy(p.templates[1:i+1], p.templates[:i])
			p.templates[0] = m
		}
		p.served++
		return true
	}
	return false
}

// levelMatch is a level of a line while it is compared with a mould: the text, and where in it what
// may be the payload stands, or the string that it stands in.
type levelMatch struct {
	text     []byte
	from, to int
}

// matchTemplate peels a line by one mould.
func (p *unwrapper) matchTemplate(m *lineTemplate, line []byte) bool {
	var all [maxTemplateLevels]levelMatch
	text, stamp, is := p.matchLevels(m, line, &all)
	if !is {
		return false
	}
	f := p.onePayload()
	f.on, f.keys, f.stamp = m.on, m.keys, timestamp{stamp, m.fine}
	if !p.readPayload(f, text, m.value) {
		p.payloads = p.payloads[:0]
		return false
	}
	p.copyPayload(f, all[:len(m.levels)])
	return true
}

// matchLevels reports whether a line is as the mould says, and finds what may be its payload, and its time.
func (p *unwrapper) matchLevels(m *lineTemplate, line []byte, all *[maxTemplateLevels]levelMatch) (text, stamp []byte, is bool) {
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
			is = at.matchValue(l, &stamp)
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
func (p *unwrapper) openString(i int, l *templateLevel, at *levelMatch, stamp *[]byte) (is bool) {
	if at.from, is = l.head.match(at.text, stamp); !is {
		return false
	}
	n, closed := 0, false
	p.quotes[i], n, closed = l.stem.readString(p.quotes[i][:0], at.text[at.from:])
	if at.to = at.from + n; !closed {
		return false
	}
	n, is = l.tail.match(at.text[at.to:], stamp)
	return is && at.to+n == len(at.text)
}

// matchValue finds the value that a level has, if it is as the mould says.
func (at *levelMatch) matchValue(l *templateLevel, stamp *[]byte) (is bool) {
	if at.from, is = l.head.match(at.text, stamp); !is {
		return false
	}
	size, closed := json.ValueLen(at.text[at.from:])
	at.to = at.from + size
	if !closed && at.to < len(at.text) || size == 0 {
		return false
	}
	n, is := l.tail.match(at.text[at.to:], stamp)
	return is && at.to+n == len(at.text)
}

// copyPayload makes what a mould gave the find's own: the payload gets room in the line, over what stood
// next to it.
func (p *unwrapper) copyPayload(f *payload, all []levelMatch) {
	outer := &all[0]
	line := outer.text
	from, to := outer.from, outer.to
	if len(all) == 1 { // there is no room but what is taken from its neighbours
		f.before, f.after = p.copyText(line[:from]), p.copyText(line[to:])
		f.room = line[max(from-1, 0):cap(line)]
		return
	}
	f.room = line[from:to:to]
	f.before, f.after = line[:from:from], line[to:]
	for i := 1; i < len(all); i++ {
		at := &all[i]
		f.before = p.joinTexts(f.before, `"`, at.text[:at.from])
		f.after = p.joinTexts(at.text[at.to:], `"`, f.after)
	}
}

// onePayload is a find that is the only one of a line, empty.
func (p *unwrapper) onePayload() *payload {
	p.payloads = append(p.payloads[:0], payload{})
	return &p.payloads[0]
}

func trimmedEnd(p []byte) []byte {
	for len(p) > 0 && (p[len(p)-1] == '\n' || p[len(p)-1] == '\r') {
		p = p[:len(p)-1]
	}
	return p
}

// readPayload reads what stands where a payload stood, if it is what usually stands there: of all else
// it is not certain that it would have been found there.
func (p *unwrapper) readPayload(f *payload, text []byte, value bool) bool {
	f.block, f.number, f.text = -1, -1, text
	if value {
		return p.readChunk(f, text)
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
		return is && p.readChunk(f, data)
	}
	return false
}

// readChunk reads a chunk that is whole and says what it is.
func (p *unwrapper) readChunk(f *payload, v []byte) bool {
	from := len(p.members)
	all, n, whole := json.AppendFields(p.members, v)
	p.members = all[:from]
	if !whole || n != len(v) || bytes.IndexByte(v, '\r') >= 0 || bytes.IndexByte(v, '\n') >= 0 || bytes.IndexByte(v, esc) >= 0 {
		return false
	}
	f.chunkInfo = readChunkInfo(all[from:])
	return f.is == aChunk
}

// copyText is a copy of a short text.
func (p *unwrapper) copyText(a []byte) []byte { return p.joinTexts(a, "", nil) }

func (p *unwrapper) joinTexts(a []byte, mid string, b []byte) []byte {
	const block = 16 << 10
	if n := len(a) + len(mid) + len(b); n > cap(p.room)-len(p.room) {
		p.room = make([]byte, 0, max(n, block))
	}
	from := len(p.room)
	p.room = append(append(append(p.room, a...), mid...), b...)
	return p.room[from:len(p.room):len(p.room)]
}
