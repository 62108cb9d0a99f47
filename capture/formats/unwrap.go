package formats

import (
	"bytes"
	"slices"

	"toolscope/capture"
	"toolscope/stream/json"
)

// unwrapper removes the wrappers around a payload in a line of a log, one after another. It recognises a
// payload by its keys. In the text around the payload, it looks for a time and for keys that distinguish
// streams.
//
// The payloads of a line are valid until the next line is read.
type unwrapper struct {
	lineKeys
	in    *capture.Input
	rules *payloadRules

	wrappers []wrapper // wrappers around the current place
	members  []json.FoundField
	payloads []payload
	scope    int
	within   int // number of quoted texts around the current place
	first    int // end of the line's first JSON value; 0 if there is none or the value is cut off

	lines  int                          // number of lines so far
	paths  map[uint64]*payloadPath      // places where payloads have been found
	leads  map[uint64]bool              // hashes of the wrappers around those places
	shapes map[uint64][]linePrefixShape // shapes of the prefixes before payloads in a text, by the wrappers around the text
	dull   map[uint64]int               // number of objects at a place since the last payload there

	templates *templateSet
	builder   templateBuilder
}

// wrapper encloses the current place.
type wrapper struct {
	name          string // "" for a field of an object
	key           []byte // key of the field
	hash          uint64 // hash of this wrapper and of those around it
	before, after []byte // the wrapper's text before and after its content
}

// payloadPath is a place where payloads are found: the names of the wrappers around them.
type payloadPath struct {
	hash   uint64
	names  []string
	pieces bool // the payloads are pieces of a text that was cut at arbitrary places
	fields bool // the payloads are fields of events
	begun  bool // text there may continue a held payload
}

// payload is a payload in a line.
type payload struct {
	chunkInfo
	text   []byte
	field  bool // the payload is a field of an event stream
	cut    bool // the payload's end is missing
	quoted bool // the payload is a complete quoted text
	unsure bool // the payload may also be the middle of a text that was cut at arbitrary places
	on     *payloadPath
	keys   []correlationKey
	stamp  timestamp
	scope  int               // payloads with the same scope are in one object
	held   bool              // the payload was held until its stream was known
	event  *pendingEventName // the event name of a held payload
	joined [][]byte          // the lines before the last one, if the payload is joined from several lines
	textOrigin
}

// textOrigin is the place of a text in the log.
type textOrigin struct {
	before, after []byte           // the rest of the line around the text
	room          []byte           // memory for the text and its line breaks; if it is set, before and after are copies
	span          capture.LineSpan // set if the text is held
}

const (
	maxWrappers     = 12      // maximum number of wrappers around a payload
	maxPrefixBytes  = 4 << 10 // maximum number of bytes before a payload in a text
	maxPlaces       = 32      // maximum number of places in a text that are tried
	maxPrefixShapes = 8       // maximum number of prefix shapes at a place
)

func newUnwrapper(in *capture.Input) *unwrapper {
	return &unwrapper{
		in: in, rules: currentRules(), paths: map[uint64]*payloadPath{}, leads: map[uint64]bool{}, shapes: map[uint64][]linePrefixShape{},
		dull: map[uint64]int{}, lineKeys: lineKeys{weights: map[uint64]keyWeight{}}, templates: &templateSet{in: in, rules: currentRules()},
	}
}

// unwrap returns the payloads of a line. They are valid until the next call.
func (p *unwrapper) unwrap(line []byte) []payload {
	p.lines++
	p.reset()
	p.builder.start(line)
	if p.searchText(line); len(p.payloads) == 0 {
		p.addRest(line)
	}
	if t := p.builder.template; t != nil && len(p.payloads) == 1 && p.lines > linesBeforeTemplates {
		p.templates.add(t)
	}
	return p.payloads
}

// reset removes the payloads and keys of the last line.
func (p *unwrapper) reset() {
	p.wrappers, p.keys, p.slots, p.members, p.payloads = p.wrappers[:0], p.keys[:0], p.slots[:0], p.members[:0], p.payloads[:0]
	p.first, p.scope, p.within, p.stamp, p.builder.texts = 0, 0, 0, timestamp{}, p.builder.texts[:0]
}

func (p *unwrapper) hash() uint64 {
	if n := len(p.wrappers); n > 0 {
		return p.wrappers[n-1].hash
	}
	return hashSeed
}

// push enters a wrapper.
func (p *unwrapper) push(name string, key, before, after []byte) {
	h := hashOf(hashOf(p.hash()*31, []byte(name)), key)
	p.wrappers = append(p.wrappers, wrapper{name, key, h, before, after})
}

func (p *unwrapper) pop(to int) { p.wrappers = p.wrappers[:to] }

// unwrapPosition is the state of an unwrapper before it enters a wrapper.
type unwrapPosition struct {
	wrappers, keys int
	stamp          timestamp
}

func (p *unwrapper) currentPosition() unwrapPosition {
	return unwrapPosition{len(p.wrappers), len(p.keys), p.stamp}
}

// leaveTo restores a position and returns found. The time of a wrapper with payloads is kept.
func (p *unwrapper) leaveTo(to unwrapPosition, found bool) bool {
	p.pop(to.wrappers)
	if p.keys = p.keys[:to.keys]; !found {
		p.stamp = to.stamp
	}
	return found
}

// addPayload adds a payload that was found at the current place. It always returns true.
func (p *unwrapper) addPayload(f payload) bool {
	h := p.hash()
	f.on = p.paths[h]
	if f.on == nil {
		t := &payloadPath{hash: h}
		p.templates.all = p.templates.all[:0] // a new place may have payloads that the templates would miss
		for _, l := range p.wrappers {
			p.leads[l.hash] = true
			name := l.name
			if l.key != nil {
				name = "." + string(json.AppendUnquoted(nil, l.key))
			}
			if name != "" && (len(t.names) == 0 || t.names[len(t.names)-1] != name) {
				t.names = append(t.names, name)
			}
		}
		p.paths[h] = t
		f.on = t
	}
	f.scope = p.scope
	f.keys = append([]correlationKey(nil), p.keys...)
	f.stamp = p.stamp
	f.before, f.after = p.wrapLine(f.before, f.after)
	p.payloads = append(p.payloads, f)
	p.builder.build(&f, p.slots)
	return true
}

// wrapLine returns the text of the line before and after a payload, including all wrappers.
func (p *unwrapper) wrapLine(before, after []byte) (all, rest []byte) {
	if len(p.wrappers) == 0 {
		return before, after
	}
	for _, l := range p.wrappers {
		all = append(all, l.before...)
	}
	all = append(all, before...)
	rest = append(rest, after...)
	for i := len(p.wrappers) - 1; i >= 0; i-- {
		rest = append(rest, p.wrappers[i].after...)
	}
	return all, rest
}

// searchText searches text for payloads, and reports whether there are any.
func (p *unwrapper) searchText(t []byte) bool {
	if len(p.wrappers) >= maxWrappers {
		return false
	}
	body := bytes.TrimRight(t, "\r\n")
	if bytes.IndexByte(body, esc) >= 0 {
		if plain := withoutColours(body); len(plain) < len(body) {
			return p.inWrapper("ANSI colours", nil, nil, func() bool { return p.searchText(plain) || p.addRest(plain) })
		}
	}
	if bytes.IndexByte(body, '\n') >= 0 || bytes.IndexByte(body, '\r') >= 0 {
		return p.searchLines(t)
	}
	if len(body) == 0 {
		return false
	}
	tries := 0
	for i := 0; i < min(len(body), maxPrefixBytes) && tries < maxPlaces; i++ {
		if i > 0 && !isEdge(body[i-1]) {
			continue
		}
		n, found := p.searchAt(body, i)
		if found {
			return p.searchResponse(body, i)
		}
		if n > 0 {
			tries++
			i += n - 1
		}
	}
	return false
}

// searchResponse searches the quoted response after the quoted request at i. Web servers log both in one line.
func (p *unwrapper) searchResponse(t []byte, i int) bool {
	if n := quoteEnd(t[i:]); n > 0 && t[i] == '"' && p.payloads[len(p.payloads)-1].is == aRequest {
		for i += n; i < len(t); i++ {
			if t[i] == '"' {
				p.searchQuoteAt(t, i)
				break
			}
		}
	}
	return true
}

// inWrapper enters a wrapper, calls the function look, and returns its result.
func (p *unwrapper) inWrapper(name string, before, after []byte, look func() bool) bool {
	was := p.currentPosition()
	p.push(name, nil, before, after)
	return p.leaveTo(was, look())
}

// isEdge reports whether a payload may begin after the byte c.
func isEdge(c byte) bool {
	switch c {
	case ' ', '\t', '|', ']', ')', '>', ':', '=', '(', '"', '\'', ',', ';', '`':
		return true
	}
	return false
}

// searchAt searches for a payload that begins at i. The result n is the number of bytes that can't contain
// another payload.
func (p *unwrapper) searchAt(t []byte, i int) (n int, found bool) {
	rest := t[i:]
	switch rest[0] {
	case 'd':
		if data, is := bytes.CutPrefix(rest, []byte("data:")); is {
			return 1, p.searchData(t, i, data)
		}
	case 'e':
		if name, is := bytes.CutPrefix(rest, []byte("event:")); is && isEventName(name) {
			return 1, p.searchAfterPrefix(t[:i], nil, func() bool {
				return p.addPayload(payload{chunkInfo: chunkInfo{is: anEvent, kind: bytes.TrimSpace(name)}, text: rest, field: true})
			})
		}
	case '{':
		if len(rest) > 1 && rest[1] == '\'' {
			return p.searchRepr(t, i)
		}
		return p.searchJSON(t, i)
	case 'C', 'G', 'M', 'R':
		return p.searchRepr(t, i)
	case '[':
		if p.rules.isTerminator(bytes.Equal, bytes.TrimSpace(rest)) {
			return 1, p.searchAfterPrefix(t[:i], nil, func() bool { return p.addPayload(payload{chunkInfo: chunkInfo{is: aMark}, text: rest}) })
		}
		if first := json.FirstElement(rest); opensObject(first) || isArray(first) {
			return p.searchJSON(t, i)
		}
	case 'b', '"', '\'':
		return p.searchQuoteAt(t, i)
	}
	return 0, false
}

// isEventName reports whether p, the text after "event:", is only a name. A CR would end the line of the event, so
// text with a CR is more than a name.
func isEventName(p []byte) bool {
	p = bytes.Trim(p, " \t")
	for _, c := range p {
		if (c|0x20 < 'a' || c|0x20 > 'z') && c != '_' && c != '.' && c != '-' && c != '/' && !isDigit(c) {
			return false
		}
	}
	return len(p) > 0 && len(p) <= 64
}

// searchAfterPrefix calls the function look after a prefix and before a suffix, and returns its result.
func (p *unwrapper) searchAfterPrefix(prefix, suffix []byte, look func() bool) bool {
	if len(bytes.TrimSpace(prefix)) == 0 {
		p.wrappers = append(p.wrappers, wrapper{"", nil, p.hash(), prefix, suffix})
		defer p.pop(len(p.wrappers) - 1)
		return look()
	}
	was, around := p.currentPosition(), p.hash()
	rest, from := prefix, len(p.wrappers)
	for {
		k, n := prefixOf(rest)
		if n == 0 {
			break
		}
		p.push(k, nil, rest[:n:n], nil)
		p.readPrefix(p.hash(), rest[:n], ofPlace)
		rest = rest[n:]
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		p.push(nameOfPrefix(rest), nil, rest, nil)
		p.readPrefix(p.hash(), rest, plainKey)
	} else if len(p.wrappers) > from {
		p.wrappers[len(p.wrappers)-1].before = prefix[len(prefix)-len(rest)-len(p.wrappers[len(p.wrappers)-1].before):]
	}
	if len(p.wrappers) > from {
		p.wrappers[from].after = suffix
	}
	if len(suffix) > 0 {
		p.readPrefix(p.hash(), suffix, plainKey)
	}
	found := p.leaveTo(was, look())
	if found {
		p.keepPrefix(around, prefix)
	}
	return found
}

// timestamp is the text of a line's time, in the line's own spelling.
type timestamp struct {
	text []byte
	fine bool // the time has fractions of a second
}

// searchJSON searches the JSON value that begins at i in a text. The result n is the number of bytes that can't
// contain another payload.
func (p *unwrapper) searchJSON(t []byte, i int) (n int, found bool) {
	n, whole := json.ValueLen(t[i:])
	end := i + n
	if !whole && len(t)-i < 24 {
		return 1, false
	}
	if !whole && endsInContent(t[i:], 0) {
		return n, false
	}
	p.noteFirstValue(end, whole)
	found = p.searchAfterPrefix(t[:i], t[end:], func() bool { return p.searchValue(t[i:end:end], whole) })
	if !whole {
		n = 1
	}
	return n, found
}

// noteFirstValue records the end of a JSON value if the value is the first of the line and not inside a wrapper.
func (p *unwrapper) noteFirstValue(end int, whole bool) {
	if p.first == 0 && whole && len(p.wrappers) == 0 {
		p.first = end
	}
}

// endsInContent reports whether a JSON value is cut off inside a part of a conversation or session. Data in such a
// part is content, not a payload.
func endsInContent(v []byte, depth int) bool {
	switch {
	case depth > maxWrappers:
		return false
	case opensObject(v):
		all, n, whole := json.AppendFields(nil, v)
		if whole || n < len(v) || len(all) == 0 {
			return false
		}
		return currentRules().isOwnText(all) || endsInContent(all[len(all)-1].Value, depth+1)
	case isArray(v):
		for at := 1; at < len(v); at++ { // after a comma
			at += json.SpaceLen(v[at:])
			n, closed := json.ValueLen(v[at:])
			if n == 0 || !closed {
				return n > 0 && endsInContent(v[at:], depth+1)
			}
			at += n + json.SpaceLen(v[at+n:])
		}
	}
	return false
}

// searchValue searches a JSON value for payloads, and reports whether it found any. The other search functions
// do the same.
func (p *unwrapper) searchValue(v []byte, whole bool) bool {
	switch {
	case len(p.wrappers) >= maxWrappers || len(v) == 0:
		return false
	case v[0] == '{':
		return p.searchObject(v, whole)
	case v[0] == '[':
		return whole && p.searchArray(v)
	case v[0] == '"' && whole:
		return p.searchString(v)
	}
	return false
}

func (p *unwrapper) searchObject(v []byte, whole bool) bool {
	from := len(p.members)
	defer func() { p.members = p.members[:from] }()
	all, n, closed := json.AppendFields(p.members, v)
	p.members = all
	all = all[from:]
	if s := p.rules.readInfo(all); s.is != noPayload && (!s.weak || p.paths[p.hash()] != nil) {
		if whole && !(closed && n == len(v)) {
			return false // not JSON
		}
		return (whole || s.is == aChunk) && p.addPayload(payload{chunkInfo: s, text: v, cut: !whole})
	}
	if !whole || !closed || p.rules.isOwnText(all) {
		return false
	}
	if s, is := p.askProtocols(v); is {
		return p.addPayload(payload{chunkInfo: s, text: v})
	}
	return p.searchMembers(all, v)
}

// askProtocols asks the protocols what an object is. In a place where no object has been a payload for a while, it
// rarely asks them.
func (p *unwrapper) askProtocols(v []byte) (s chunkInfo, is bool) {
	const enough, rarely = 8, 64
	h := p.hash()
	if p.dull[h] >= enough && p.dull[h]%rarely != 0 {
		p.dull[h]++
		return s, false
	}
	s.block, s.number = -1, -1
	switch p.in.GuessPayload(v) {
	case capture.Chunk:
		s.is = aChunk
	case capture.Body:
		s.is = aBody
	case capture.Ask:
		s.is = aRequest
	default:
		p.dull[h]++
		return s, false
	}
	p.dull[h] = 0
	return s, true
}

// searchMembers searches the fields of an object for payloads. It begins with the fields that had payloads
// before. If these fields have payloads again, it skips the others, except in the first lines of a log.
func (p *unwrapper) searchMembers(all []json.FoundField, v []byte) (found bool) {
	const learning = 64
	was := p.currentPosition()
	named := slices.ContainsFunc(p.wrappers, func(w wrapper) bool { return w.name != "" || w.key != nil })
	if name := objectName(all, named); name != "" {
		p.push(name, nil, nil, nil)
	}
	p.readKeys(p.hash(), all, p.leadsTo)
	for pass := range 2 {
		if pass == 1 && found && p.lines > learning {
			break
		}
		for _, m := range all {
			if !mayHold(m.Value) || p.leadsTo(m.Key) != (pass == 0) {
				continue
			}
			depth := len(p.wrappers)
			p.push("", m.Key, v[:m.At:m.At], v[m.At+len(m.Value):])
			found = p.searchValue(m.Value, true) || found
			p.pop(depth)
		}
	}
	return p.leaveTo(was, found)
}

// mayHold reports whether a value can contain a payload.
func mayHold(value []byte) bool {
	switch {
	case len(value) == 0:
		return false
	case value[0] == '{' || value[0] == '[':
		return len(value) > len(`{"a":{}}`)
	}
	return value[0] == '"'
}

func (p *unwrapper) leadsTo(key []byte) bool { return p.leads[hashOf(hashOf(p.hash()*31, nil), key)] }

// searchArray searches an array, which may be a list of chunks.
func (p *unwrapper) searchArray(v []byte) bool {
	first := json.FirstElement(v)
	if len(first) > 0 && isDigit(first[0]) {
		text, is := decodeByteList(v)
		return is && p.searchEncoded("bytes", text)
	}
	if s, is := p.chunkOf(first); is {
		s.is, s.ends, s.last = aList, true, true
		return p.addPayload(payload{chunkInfo: s, text: v})
	}
	if opensObject(first) {
		from := len(p.members)
		all, _, _ := json.AppendFields(p.members, first)
		content := p.rules.isContent(all[from:])
		p.members = p.members[:from]
		if content {
			return false
		}
	}
	found, scope := false, p.scope
	for at := 1; ; {
		at += json.SpaceLen(v[at:])
		n, closed := json.ValueLen(v[at:])
		if n == 0 || !closed {
			break
		}
		was := p.currentPosition()
		p.scope = scope<<10 + len(p.payloads) + 1
		p.push("[]", nil, v[:at:at], v[at+n:])
		found = p.searchValue(v[at:at+n:at+n], true) || found
		p.leaveTo(was, false)
		if at += n + json.SpaceLen(v[at+n:]); at >= len(v) || v[at] != ',' {
			break
		}
		at++
	}
	p.scope = scope
	return found
}

// chunkOf returns the chunkInfo for the first element of a list. The bool result reports whether the list is a list
// of chunks.
func (p *unwrapper) chunkOf(first []byte) (s chunkInfo, is bool) {
	if !opensObject(first) {
		if isArray(first) {
			return chunkInfo{block: -1, number: -1}, p.in.GuessPayload(first) == capture.Chunk
		}
		return s, false
	}
	from := len(p.members)
	all, _, whole := json.AppendFields(p.members, first)
	s = p.rules.readInfo(all[from:])
	p.members = p.members[:from]
	return s, whole && s.is == aChunk && !s.weak
}

// searchString searches a string, which may be a line of a log or a text with several lines.
func (p *unwrapper) searchString(v []byte) bool {
	inside, is := stringInside(v)
	knownBase64 := p.leads[hashOf(hashOf(p.hash()*31, []byte("base64")), nil)]
	if text, coded := decodeBase64(inside, knownBase64); is && coded {
		return p.searchEncoded("base64", text)
	}
	known := p.paths[p.hash()]
	if !is || known == nil && len(p.shapes[p.hash()]) == 0 && !p.rules.mayBeText(inside) {
		return false
	}
	t := json.AppendUnquoted(make([]byte, 0, len(inside)), inside)
	depth, texts := len(p.wrappers), len(p.builder.texts)
	p.wrappers = append(p.wrappers, wrapper{"", nil, p.hash(), v[:1], v[len(v)-1:]})
	if texts > 0 {
		p.builder.texts = append(p.builder.texts, builderText{t, v, known})
	}
	found := p.searchInQuotes(known, t)
	p.builder.texts = p.builder.texts[:texts]
	p.pop(depth)
	return found
}

// searchInQuotes searches text that is quoted in the log.
func (p *unwrapper) searchInQuotes(known *payloadPath, t []byte) bool {
	p.within++
	defer func() { p.within-- }()
	if known != nil && (known.pieces || known.begun && !known.fields) && p.isWholeChunk(t) {
		from, found := len(p.payloads), p.searchText(t)
		for i := range p.payloads[from:] {
			p.payloads[from+i].unsure = true
		}
		return found
	}
	if known != nil && known.pieces {
		if s, is := p.readEvents(t); is {
			return p.addPayload(payload{chunkInfo: s, text: t, quoted: true})
		}
		if s, is := p.readObjects(t); is {
			return p.addPayload(payload{chunkInfo: s, text: t, quoted: true, unsure: true})
		}
		if isBegun(t) {
			return p.addPayload(payload{chunkInfo: chunkInfo{is: aChunk, weak: true, block: -1, number: -1}, text: t, quoted: true, cut: true, unsure: true})
		}
		return p.addRestOf(known, t)
	}
	if known != nil && known.begun && !known.fields {
		if isBegun(t) {
			return p.addPayload(payload{chunkInfo: chunkInfo{is: aChunk, weak: true, block: -1, number: -1}, text: t, quoted: true, cut: true, unsure: true})
		}
		return p.addRestOf(known, t)
	}
	if (known == nil || !known.fields) && isBegun(t) {
		if s, is := p.readEvents(t); is {
			return p.addPayload(payload{chunkInfo: s, text: t, quoted: true})
		}
		return p.addPayload(payload{chunkInfo: chunkInfo{is: aChunk, weak: true, block: -1, number: -1}, text: t, quoted: true, cut: true})
	}
	return p.searchText(t) || p.addRest(t) || known != nil && p.addRestOf(known, t)
}

// isWholeChunk reports whether text is a complete chunk and nothing else.
func (p *unwrapper) isWholeChunk(t []byte) bool {
	if !opensObject(t) {
		return false
	}
	from := len(p.members)
	all, n, closed := json.AppendFields(p.members, t)
	s := p.rules.readInfo(all[from:])
	p.members = all[:from]
	return closed && n == len(t) && s.is == aChunk && !s.weak
}

// isBegun reports whether text can be the first piece of an event stream, or of several objects, and was cut inside a
// payload.
func isBegun(t []byte) bool {
	line := t[bytes.LastIndexByte(t, '\n')+1:]
	value, isData := bytes.CutPrefix(line, []byte("data:"))
	if value = bytes.TrimLeft(value, " "); len(value) < 8 || value[0] != '{' || !isData && len(line) < len(t) {
		return false
	}
	if _, closed := json.ValueLen(value); closed || !couldBeObject(value) {
		return false
	}
	return isField(t) || t[0] == '{' || t[0] == ':'
}

// mayBeText reports whether the inside of a string can contain a payload.
func (t *payloadRules) mayBeText(inside []byte) bool {
	return len(inside) >= 6 && (bytes.IndexByte(inside, '{') >= 0 || bytes.Contains(inside, []byte("data:")) ||
		bytes.HasPrefix(inside, []byte("event:")) || bytes.Contains(inside, []byte("event: ")) || t.isTerminator(bytes.Contains, inside))
}
