package formats

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"toolscope/capture"
	"toolscope/stream/json"
)

// lineTemplate is a line without its payload. Another line matches it if the text around the payload differs only in
// slots, for example in the digits of times. Then the template's facts apply to that line too, and only its payload
// has to be read.
type lineTemplate struct {
	levels []templateLevel // from outside in
	on     *payloadPath
	keys   []correlationKey
	value  bool // the payload is a JSON value; otherwise it is the rest of a text
	fine   bool // the time has fractions of a second
}

// templateLevel is the text around a payload, either in the line or in a string inside the line.
type templateLevel struct {
	head, tail templateSide
	quoted     *payloadPath // place of the string; nil for the line
	start      stringStart  // beginning of the string with the next level
}

// isBare reports whether the next level is the whole of this one, with no text around it.
func (l *templateLevel) isBare() bool { return len(l.head.parts) == 0 && len(l.tail.parts) == 0 }

// templateSide is the text before or after the next level. The next line is likely to have the same text as
// the latest one.
type templateSide struct {
	parts    []templatePart
	last     []byte
	from, to int // position of the line's time in last; to is 0 if there is none
}

// templatePart is a run of fixed bytes and the slot that follows it.
type templatePart struct {
	same []byte
	was  []byte
	is   slotKind
}

// slotKind is the kind of content that a slot may have.
type slotKind int8

const (
	theEnd   slotKind = iota // the text ends here
	anyTime                  // the same text with other digits
	lineTime                 // like anyTime, but it is the time of the line
	anyValue                 // a JSON value
)

const (
	maxTemplates         = 8   // maximum number of templates that are tried
	maxTemplateLevels    = 4   // maximum number of levels: strings in strings
	linesBeforeTemplates = 64  // number of lines before the first template, because new places of payloads are likely in these lines
	maxTemplatesMade     = 256 // number of templates after which another is made only if lines match the existing ones
)

// match reports whether p begins with the parts. The result n is the length of the parts in p. If the parts
// contain the time of the line, match sets stamp to it.
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

// matchParts reports whether p begins with the parts. The result n is their length.
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
			part.was = append(part.was[:0], p[n:n+k]...) // the next line is likely to be like this one
		}
		n += k
	}
	return n, true
}

// templateSet holds the templates of a log, the latest first.
type templateSet struct {
	in     *capture.Input
	rules  *payloadRules
	all    []*lineTemplate
	made   int // number of templates made so far
	served int // number of lines that matched a template

	found     [1]payload // payload of the latest line
	usual     usualChunk
	eventLine []byte // the latest line that names an event
	members   []json.FoundField
	levels    [maxTemplateLevels]levelMatch
	quotes    [maxTemplateLevels][]byte // the strings of the levels, unquoted
	room      []byte                    // memory for the texts around payloads
}

// add adds a template, unless too few lines matched the earlier ones.
func (s *templateSet) add(t *lineTemplate) {
	if s.made >= maxTemplatesMade+s.served/8 {
		return
	}
	s.made++
	s.all = slices.Insert(s.all[:min(len(s.all), maxTemplates-1)], 0, t)
}

// match returns the payload of a line that matches a template, or nil if no template matches. The payload is valid
// until the next line is read. The line's memory may be overwritten.
func (s *templateSet) match(line []byte) []payload {
	for i, t := range s.all {
		if !s.matchTemplate(t, line) {
			continue
		}
		if i > 0 { // try this template first, because lines like this one are likely to follow
			copy(s.all[1:i+1], s.all[:i])
			s.all[0] = t
		}
		s.served++
		return s.found[:]
	}
	return nil
}

// levelMatch is a level of a line that is compared with a template: its text, and the position of the payload or of
// the string with the next level.
type levelMatch struct {
	text     []byte
	from, to int
}

// matchTemplate reads a line according to one template. It reports whether the line matches.
func (s *templateSet) matchTemplate(m *lineTemplate, line []byte) bool {
	text, stamp, is := s.matchLevels(m, line)
	if !is {
		return false
	}
	f := &s.found[0]
	*f = payload{on: m.on, keys: m.keys, stamp: timestamp{stamp, m.fine}}
	if !s.readPayload(f, text, m.value) {
		return false
	}
	if !s.in.AllowChunks {
		s.copyPayload(f, s.levels[:len(m.levels)])
	}
	return true
}

// matchLevels reports whether a line matches a template. It returns the text at the payload's place, and the time
// of the line.
func (s *templateSet) matchLevels(m *lineTemplate, line []byte) (text, stamp []byte, is bool) {
	text = line
	last := len(m.levels) - 1
	for i := range m.levels {
		l, at := &m.levels[i], &s.levels[i]
		if l.quoted != nil && (l.quoted.pieces || l.quoted.begun) {
			return nil, nil, false
		}
		at.text = bytes.TrimRight(text, "\r\n")
		switch {
		case i < last:
			is = s.openString(i, l, at, &stamp)
		case m.value && l.isBare() && s.usual.matches(at.text):
			at.from, at.to, is = 0, len(at.text), true
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
			text = s.quotes[i]
		}
	}
	return text, stamp, true
}

// openString reads the string that contains the next level. It reports whether the text has the form of the current
// level.
func (s *templateSet) openString(i int, l *templateLevel, at *levelMatch, stamp *[]byte) (is bool) {
	if at.from, is = l.head.match(at.text, stamp); !is {
		return false
	}
	n, closed := 0, false
	s.quotes[i], n, closed = l.start.readString(s.quotes[i][:0], at.text[at.from:])
	if at.to = at.from + n; !closed {
		return false
	}
	n, is = l.tail.match(at.text[at.to:], stamp)
	return is && at.to+n == len(at.text)
}

// stringStart is the common beginning of the latest strings at one place of a log. Most chunks of a stream have the
// same beginning, with many escapes, so these are read only once.
type stringStart struct {
	literal []byte // the common beginning, with its quote and its escapes; empty if there is none
	text    []byte // the common beginning, unquoted
	last    []byte // beginning of the latest string that didn't begin with literal
}

const (
	minStringStart = 32  // minimum number of bytes of a common beginning
	minLikeString  = 64  // minimum number of bytes of a string that is compared with the next one
	maxStringStart = 512 // maximum number of bytes that are compared
)

// readString returns the same as json.ReadString.
func (c *stringStart) readString(dst, p []byte) (out []byte, n int, closed bool) {
	if k := len(c.literal); k > 0 && bytes.HasPrefix(p, c.literal) {
		out, n, closed = json.ReadStringFrom(append(dst, c.text...), p[k-1:])
		return out, k - 1 + n, closed
	}
	if out, n, closed = json.ReadString(dst, p); n >= minLikeString {
		c.learnFrom(p[:min(n, maxStringStart)])
	}
	return out, n, closed
}

// learnFrom sets the common beginning to the bytes with which p and the previous string both begin. It ends after a
// colon, because no escape contains one, and before the first \u, which may lack its digits.
func (c *stringStart) learnFrom(p []byte) {
	n := 0
	for n < min(len(p), len(c.last)) && p[n] == c.last[n] {
		n++
	}
	common, _, _ := bytes.Cut(p[:n], []byte(`\u`))
	if n = bytes.LastIndexByte(common, ':') + 1; n >= minStringStart {
		c.literal = append(c.literal[:0], p[:n]...)
		c.text, _, _ = json.ReadString(c.text[:0], c.literal)
	}
	c.last = append(c.last[:0], p...)
}

// matchValue finds the value that contains the payload. It reports whether the text has the form of the current
// level.
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

// copyPayload sets the text around the payload, and the payload's room. The room consists of those bytes of the line
// that may be overwritten with the payload and its line breaks.
func (s *templateSet) copyPayload(f *payload, all []levelMatch) {
	outer := &all[0]
	line := outer.text
	from, to := outer.from, outer.to
	if len(all) == 1 { // only the bytes just before and after the payload are free
		f.before, f.after = s.copyText(line[:from]), s.copyText(line[to:])
		f.room = line[max(from-1, 0):cap(line)]
		return
	}
	f.room = line[from:to:to]
	f.before, f.after = line[:from:from], line[to:]
	for i := 1; i < len(all); i++ {
		at := &all[i]
		f.before = s.joinTexts(f.before, `"`, at.text[:at.from])
		f.after = s.joinTexts(at.text[at.to:], `"`, f.after)
	}
}

// readPayload reads the text at the place of a payload if the text is of a usual kind. It returns false for
// any other text, because the full search may find the payload at another place.
func (s *templateSet) readPayload(f *payload, text []byte, value bool) bool {
	f.block, f.number, f.text = -1, -1, text
	if value {
		return s.readChunk(f, text)
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
		if f.is = anEvent; bytes.Equal(text, s.eventLine) {
			return true
		}
		if name, is := bytes.CutPrefix(text, []byte("event:")); !is || !isEventName(name) {
			return false
		}
		s.eventLine = append(s.eventLine[:0], text...)
		return true
	case 'd':
		data, is := bytes.CutPrefix(text, []byte("data:"))
		if data = bytes.TrimLeft(data, " "); s.rules.isTerminator(bytes.Equal, data) {
			f.is = aMark
			return is
		}
		return is && s.readChunk(f, data)
	}
	return false
}

// readChunk reads a complete chunk of a known kind. It returns false for any other value.
func (s *templateSet) readChunk(f *payload, v []byte) bool {
	if s.usual.matches(v) {
		f.chunkInfo = s.usual.info
		return true
	}
	from := len(s.members)
	all, n, whole := json.AppendFields(s.members, v)
	s.members = all[:from]
	if !whole || n != len(v) || bytes.IndexByte(v, '\r') >= 0 || bytes.IndexByte(v, '\n') >= 0 || bytes.IndexByte(v, esc) >= 0 {
		return false
	}
	f.chunkInfo = s.rules.readInfo(all[from:])
	s.usual.keepChunk(v, &f.chunkInfo)
	return f.is == aChunk
}

// usualChunk is the latest chunk that ends with a string in an object, such as
// {"type":"T","index":0,"delta":{"text":"…"}}. A chunk that differs only in this string has the same chunkInfo.
type usualChunk struct {
	head []byte // the bytes before the string, and its opening quote
	info chunkInfo
}

const usualEnd = `"}}`

func (c *usualChunk) matches(v []byte) bool {
	n := len(c.head)
	return n > 0 && len(v) > n && string(v[:n]) == string(c.head) && endsAsString(v[n:], usualEnd)
}

// keepChunk stores a chunk if its last string is content.
func (c *usualChunk) keepChunk(v []byte, info *chunkInfo) {
	c.head = c.head[:0]
	if !bytes.HasSuffix(v, []byte(usualEnd)) || info.is != aChunk || info.begins || info.ends || info.id != 0 || info.item != 0 || info.identity != (chunkIdentity{}) {
		return
	}
	if at := bytes.LastIndex(v[:len(v)-len(usualEnd)-1], []byte(`":"`)); at > 0 && endsAsString(v[at+len(`":"`):], usualEnd) {
		c.head = append(c.head, v[:at+len(`":"`)]...)
		c.info = *info
		c.info.kind = bytes.Clone(info.kind)
	}
}

// endsAsString reports whether p is the rest of a string followed by end.
func endsAsString(p []byte, end string) bool {
	for len(p) > 1 {
		p = p[json.PlainRun(p):]
		if len(p) < 2 || p[0] != '\\' {
			break
		}
		p = p[2:]
	}
	return string(p) == end
}

// copyText returns a copy of a short text.
func (s *templateSet) copyText(a []byte) []byte { return s.joinTexts(a, "", nil) }

func (s *templateSet) joinTexts(a []byte, mid string, b []byte) []byte {
	const block = 16 << 10
	if n := len(a) + len(mid) + len(b); n > cap(s.room)-len(s.room) {
		s.room = make([]byte, 0, max(n, block))
	}
	from := len(s.room)
	s.room = append(append(append(s.room, a...), mid...), b...)
	return s.room[from:len(s.room):len(s.room)]
}

// templateBuilder collects facts for a template while a line is unwrapped.
type templateBuilder struct {
	texts    []builderText // texts that were searched, beginning with the line
	template *lineTemplate // template for the found payload
}

// builderText is some text that was searched, and the JSON string in the outer text that contains it.
type builderText struct {
	text, literal []byte
	on            *payloadPath
}

// slot is a time, or a value that doesn't matter for correlation.
type slot struct {
	text []byte
	is   slotKind
}

// start prepares the builder for a new line.
func (c *templateBuilder) start(line []byte) {
	c.texts, c.template = append(c.texts[:0], builderText{text: line}), nil
}

// build makes a template from the text around a payload if the payload is of a usual kind.
func (c *templateBuilder) build(f *payload, slots []slot) {
	c.template = nil
	usual := f.is == aChunk && !f.weak || f.is == anEvent
	if len(c.texts) == 0 || !usual || f.cut || f.quoted || f.scope != 0 || len(f.text) == 0 || len(c.texts) > maxTemplateLevels {
		return
	}
	m := &lineTemplate{on: f.on, keys: f.keys, value: !f.field, fine: f.stamp.fine}
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
		l := templateLevel{quoted: t.on}
		l.head.parts = splitParts(text[:at], f.stamp.text, slots, &times)
		l.tail.parts = splitParts(text[at+len(inner):], f.stamp.text, slots, &times)
		m.levels = append(m.levels, l)
	}
	if !m.value && len(m.levels[len(m.levels)-1].tail.parts) > 0 || f.stamp.text != nil && times != 1 {
		return
	}
	c.template = m
}

// splitParts splits a text at its slots, and counts the slots with the time of the line.
func splitParts(text, stamp []byte, slots []slot, times *int) (all []templatePart) {
	type place struct {
		slot
		at int
	}
	var free []place
	for _, f := range slots {
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
		part := templatePart{bytes.Clone(text[from:f.at]), bytes.Clone(f.text), f.is}
		if len(stamp) > 0 && &stamp[0] == &f.text[0] && f.is == anyTime {
			part.is = lineTime
			*times++
		}
		all = append(all, part)
		from = f.at + len(f.text)
	}
	if from < len(text) {
		all = append(all, templatePart{same: bytes.Clone(text[from:])})
	}
	return all
}

// placeIn returns the position of a part in its text, or -1 if the part's memory is outside the text.
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

// sameButDigits compares the beginning of p with the parameter was, for example the times of two lines. It ignores
// the values and the number of digits. It returns the length of the matching part of p, or 0 if the two differ.
func sameButDigits(was, p []byte) (n int) {
	for n+8 <= min(len(was), len(p)) && binary.LittleEndian.Uint64(was[n:]) == binary.LittleEndian.Uint64(p[n:]) {
		n += 8
	}
	for n < min(len(was), len(p)) && (was[n] == p[n] || isDigit(was[n]) && isDigit(p[n])) {
		n++
	}
	for n > 0 && isDigit(was[n-1]) { // compare all digits of one number together
		n--
	}
	for i := n; i < len(was); {
		switch {
		case n == len(p):
			return 0
		case !isDigit(was[i]):
			if was[i] != p[n] {
				return 0
			}
			i, n = i+1, n+1
		case !isDigit(p[n]):
			return 0
		default:
			for i < len(was) && isDigit(was[i]) {
				i++
			}
			for n < len(p) && isDigit(p[n]) {
				n++
			}
		}
	}
	return n
}
