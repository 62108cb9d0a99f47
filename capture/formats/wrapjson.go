package formats

import (
	"bytes"

	"toolscope/capture"
	"toolscope/stream/json"
)

// searchJSON looks at the JSON value that begins at i of a text.
func (p *unwrapper) searchJSON(t []byte, i int) (n int, found bool) {
	n, whole := json.ValueLen(t[i:])
	end := i + n
	if !whole && len(t)-i < 24 {
		return 1, false
	}
	if !whole && endsInContent(t[i:], 0) {
		return n, false
	}
	found = p.searchAfterPrefix(t[:i], t[end:], func() bool { return p.searchValue(t[i:end:end], whole) })
	if !whole {
		n = 1
	}
	return n, found
}

// endsInContent reports whether a JSON value is cut inside a piece of a conversation, or of a session:
// what looks like a payload there is text.
func endsInContent(v []byte, depth int) bool {
	switch {
	case depth > maxWrappers:
		return false
	case opensObject(v):
		all, n, whole := json.AppendFields(nil, v)
		if whole || n < len(v) || len(all) == 0 {
			return false
		}
		return isContent(all) || isSession(all) || endsInContent(all[len(all)-1].Value, depth+1)
	case isArray(v):
		for at := 1; at < len(v); at++ { // behind a comma
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

// searchValue looks for payloads in a JSON value.
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
	if s := readChunkInfo(all); s.is != noPayload && (!s.weak || p.paths[p.hash()] != nil) {
		if whole && !(closed && n == len(v)) {
			return false // it is no JSON
		}
		return (whole || s.is == aChunk) && p.addPayload(payload{chunkInfo: s, text: v, cut: !whole})
	}
	if !whole || !closed || isContent(all) || isSession(all) {
		return false
	}
	if s, is := p.askProtocols(v); is {
		return p.addPayload(payload{chunkInfo: s, text: v})
	}
	return p.searchMembers(all, v)
}

// askProtocols asks those who know providers what an object is. Objects that have been nothing for a while
// are rarely asked about.
func (p *unwrapper) askProtocols(v []byte) (s chunkInfo, is bool) {
	const enough, rarely = 8, 64
	h := p.hash()
	if p.looks == nil || p.dull[h] >= enough && p.dull[h]%rarely != 0 {
		p.dull[h]++
		return s, false
	}
	s.block, s.number = -1, -1
	switch p.looks(v) {
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

// searchMembers looks for payloads in the members of an object, first where there have been some. Where
// those have some again, the others are not looked at any more.
func (p *unwrapper) searchMembers(all []json.FoundField, v []byte) (found bool) {
	const learning = 64
	depth, clues, was := len(p.wrappers), len(p.keys), p.stamp
	if name := objectName(all, p.hasNamedWrapper()); name != "" {
		p.push(name, nil, nil, nil)
	}
	p.readKeys(all)
	for pass := range 2 {
		if pass == 1 && found && p.lines > learning {
			break
		}
		for _, m := range all {
			if mayHold(m.Value) && p.leadsTo(m.Key) == (pass == 0) && p.searchMember(m, v) {
				found = true
			}
		}
	}
	p.pop(depth)
	if p.keys = p.keys[:clues]; !found {
		p.stamp = was
	}
	return found
}

// hasNamedWrapper reports whether some layer has a name.
func (p *unwrapper) hasNamedWrapper() bool {
	for _, l := range p.wrappers {
		if l.name != "" || l.key != nil {
			return true
		}
	}
	return false
}

// mayHold reports whether there can be a payload in a value, or in the text that it is.
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

// searchMember looks for payloads in a member of object.
func (p *unwrapper) searchMember(m json.FoundField, object []byte) bool {
	depth, end := len(p.wrappers), m.At+len(m.Value)
	p.push("", m.Key, object[:m.At:m.At], object[end:])
	found := p.searchValue(m.Value, true)
	p.pop(depth)
	return found
}

// searchArray looks for payloads in an array: it may be a list of chunks, or hold anything.
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
		content := isContent(all[from:])
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
		clues, depth, was := len(p.keys), len(p.wrappers), p.stamp
		p.scope = scope<<10 + len(p.payloads) + 1
		p.push("[]", nil, v[:at:at], v[at+n:])
		found = p.searchValue(v[at:at+n:at+n], true) || found
		p.pop(depth)
		p.keys, p.stamp = p.keys[:clues], was
		if at += n + json.SpaceLen(v[at+n:]); at >= len(v) || v[at] != ',' {
			break
		}
		at++
	}
	p.scope = scope
	return found
}

// chunkOf is what the first element of a list says, and whether that makes it a list of chunks.
func (p *unwrapper) chunkOf(first []byte) (s chunkInfo, is bool) {
	if !opensObject(first) {
		if isArray(first) && p.looks != nil {
			return chunkInfo{block: -1, number: -1}, p.looks(first) == capture.Chunk
		}
		return s, false
	}
	from := len(p.members)
	all, _, whole := json.AppendFields(p.members, first)
	s = readChunkInfo(all[from:])
	p.members = p.members[:from]
	return s, whole && s.is == aChunk && !s.weak
}

// searchString looks for payloads in a string: it may be a line of a log, or a text of several.
func (p *unwrapper) searchString(v []byte) bool {
	inside, is := stringInside(v)
	if text, coded := p.decodeBase64(inside); is && coded {
		return p.searchEncoded("base64", text)
	}
	known := p.paths[p.hash()]
	if !is || known == nil && len(p.shapes[p.hash()]) == 0 && !mayBeText(inside) {
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

// searchInQuotes looks at a text that stands in the log in quotes.
func (p *unwrapper) searchInQuotes(known *payloadPath, t []byte) bool {
	p.within++
	defer func() { p.within-- }()
	if known != nil && known.pieces {
		if s, is := p.readEvents(t); is {
			return p.addPayload(payload{chunkInfo: s, text: t, quoted: true})
		}
		if s, is := p.readObjects(t); is {
			return p.addPayload(payload{chunkInfo: s, text: t, quoted: true, unsure: true})
		}
		if p.isBegun(t) {
			return p.addPayload(payload{chunkInfo: chunkInfo{is: aChunk, weak: true, block: -1, number: -1}, text: t, quoted: true, cut: true, unsure: true})
		}
		return p.addRestOf(known, t)
	}
	if known != nil && known.begun && !known.fields {
		if p.isBegun(t) {
			return p.addPayload(payload{chunkInfo: chunkInfo{is: aChunk, weak: true, block: -1, number: -1}, text: t, quoted: true, cut: true, unsure: true})
		}
		return p.addRestOf(known, t)
	}
	if (known == nil || !known.fields) && p.isBegun(t) {
		if s, is := p.readEvents(t); is {
			return p.addPayload(payload{chunkInfo: s, text: t, quoted: true})
		}
		return p.addPayload(payload{chunkInfo: chunkInfo{is: aChunk, weak: true, block: -1, number: -1}, text: t, quoted: true, cut: true})
	}
	return p.searchText(t) || p.addRest(t) || known != nil && p.addRestOf(known, t)
}

// isBegun reports whether a text can be the first piece of an event stream, or of objects, that was
// cut inside a payload.
func (p *unwrapper) isBegun(t []byte) bool {
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

// mayBeText reports whether the inside of a string can be, or hold, a payload.
func mayBeText(inside []byte) bool {
	return len(inside) >= 6 && (bytes.IndexByte(inside, '{') >= 0 || bytes.Contains(inside, []byte("data:")) ||
		bytes.HasPrefix(inside, []byte("event:")) || bytes.Contains(inside, []byte("event: ")) || bytes.Contains(inside, []byte("[DONE]")))
}
