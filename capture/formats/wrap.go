package formats

import (
	"bytes"

	"toolscope/capture"
	"toolscope/stream/json"
)

// A unwrapper takes what a log wrote around a payload off a line of it, layer by layer, until what is
// left is something that a provider sends or is sent. It finds the payload by its shape; what
// stands before and behind it is asked for a time and for what may tell streams apart.
//
// What a line gave is lent: it is valid until the next line.
type unwrapper struct {
	looks func([]byte) capture.PayloadGuess

	wrappers []wrapper
	keys     []correlationKey
	members  []json.FoundField
	payloads []payload
	scope    int
	stamp    timestamp

	within int                          // texts that are quoted, and that we are in
	lines  int                          // looked at
	paths  map[uint64]*payloadPath      // where payloads have stood
	leads  map[uint64]bool              // hashes of the layers that led there
	shapes map[uint64][]linePrefixShape // of what stood before a payload in a text, by the layers around it
	dull   map[uint64]int               // how often objects there were nothing, since they were something
	ranks  map[uint64]keyWeight         // of names of clues

	templates []*lineTemplate // of lines that came, the last one first
	served    int             // lines that were peeled by one
	builder   templateBuilder
	quotes    [maxTemplateLevels][]byte // strings of a line, as what they stand for
	room      []byte                    // for what stands around payloads
}

// wrapper is what is around what is looked at.
type wrapper struct {
	name          string // "" for a member of an object
	key           []byte // of a member
	hash          uint64 // of this layer and those around it
	before, after []byte // what stands in this layer before and behind the next one
}

// payloadPath is a place where payloads stand: the names of the layers around it.
type payloadPath struct {
	hash   uint64
	names  []string
	pieces bool // they are pieces of a text, cut anywhere
	fields bool // they are fields of events, each for itself
	begun  bool // what stands there may be the next piece of one that is held
}

// payload is a payload that was found in a line.
type payload struct {
	chunkInfo
	text   []byte
	field  bool   // it is a field of an event stream: its line
	cut    bool   // its end is missing
	quoted bool   // it is all of a text that a log quotes
	unsure bool   // it may also be the middle of a text that was cut anywhere
	room   []byte // where the text may be kept with what ends it; then only the text is lent, and its kind
	on     *payloadPath
	keys   []correlationKey
	stamp  timestamp
	scope  int // finds of one scope stand in one object
	before []byte
	after  []byte
	held   bool              // it was kept until it was clear which stream it is of
	event  *pendingEventName // its name, of one that was held
	spot   capture.LineSpan  // of one that is held
}

const (
	maxWrappers     = 12      // layers around a payload
	maxPrefixBytes  = 4 << 10 // bytes before a payload in a text
	maxPlaces       = 32      // places in a text at which a payload is looked for
	maxPrefixShapes = 8       // shapes of what stands before payloads
)

func newUnwrapper(looks func([]byte) capture.PayloadGuess) *unwrapper {
	return &unwrapper{
		looks: looks, paths: map[uint64]*payloadPath{}, leads: map[uint64]bool{}, shapes: map[uint64][]linePrefixShape{},
		dull: map[uint64]int{}, ranks: map[uint64]keyWeight{},
	}
}

// unwrap looks for payloads in a line of a log. What it returns is lent.
func (p *unwrapper) unwrap(line []byte) []payload {
	p.lines++
	p.reset()
	p.builder.start(line)
	if p.searchText(line); len(p.payloads) == 0 {
		p.addRest(line)
	}
	p.keepTemplate()
	return p.payloads
}

// resetIfUsed forgets the last line, if something of it may be left.
func (p *unwrapper) resetIfUsed() {
	if p.scope != 0 || p.within != 0 || len(p.wrappers) > 0 {
		p.reset()
	}
}

// reset forgets the last line.
func (p *unwrapper) reset() {
	p.wrappers, p.keys, p.members, p.payloads = p.wrappers[:0], p.keys[:0], p.members[:0], p.payloads[:0]
	p.scope, p.within, p.stamp, p.builder.texts = 0, 0, timestamp{}, p.builder.texts[:0]
}

func (p *unwrapper) hash() uint64 {
	if n := len(p.wrappers); n > 0 {
		return p.wrappers[n-1].hash
	}
	return hashSeed
}

// push enters a layer; after it comes what is in it.
func (p *unwrapper) push(name string, key, before, after []byte) {
	h := hashOf(hashOf(p.hash()*31, []byte(name)), key)
	p.wrappers = append(p.wrappers, wrapper{name, key, h, before, after})
}

func (p *unwrapper) pop(to int) { p.wrappers = p.wrappers[:to] }

// addPayload says that a payload stands here.
func (p *unwrapper) addPayload(f payload) bool {
	h := p.hash()
	f.on = p.paths[h]
	if f.on == nil {
		f.on = p.rememberPath(h)
	}
	f.scope = p.scope
	f.keys = append([]correlationKey(nil), p.keys...)
	f.stamp = p.stamp
	f.before, f.after = p.surround(f.before, f.after)
	p.payloads = append(p.payloads, f)
	p.builder.build(&f)
	return true
}

// rememberPath remembers where a payload stood, and what led there.
func (p *unwrapper) rememberPath(h uint64) *payloadPath {
	t := &payloadPath{hash: h}
	p.templates = p.templates[:0] // payloads stand elsewhere too
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
	return t
}

// surround is what stands in the line before a payload and behind it, through all layers.
func (p *unwrapper) surround(before, after []byte) (all, rest []byte) {
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

// searchText looks for payloads in a text, and reports whether it found some.
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
		n, found := p.searchAt(body, i, len(t) > len(body))
		if found {
			return true
		}
		if n > 0 {
			tries++
			i += n - 1
		}
	}
	return false
}

// inWrapper looks for payloads in a layer that is entered for that.
func (p *unwrapper) inWrapper(name string, before, after []byte, look func() bool) bool {
	depth, clues, was := len(p.wrappers), len(p.keys), p.stamp
	p.push(name, nil, before, after)
	found := look()
	p.pop(depth)
	if p.keys = p.keys[:clues]; !found {
		p.stamp = was
	}
	return found
}

// isEdge reports whether a payload may begin behind c.
func isEdge(c byte) bool {
	switch c {
	case ' ', '\t', '|', ']', ')', '>', ':', '=', '(', '"', '\'', ',', ';', '`':
		return true
	}
	return false
}

// searchAt looks for a payload that begins at i. n is how many bytes were looked at in vain.
func (p *unwrapper) searchAt(t []byte, i int, ended bool) (n int, found bool) {
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
		return p.searchJSON(t, i)
	case '[':
		if string(bytes.TrimSpace(rest)) == "[DONE]" {
			return 1, p.searchAfterPrefix(t[:i], nil, func() bool { return p.addPayload(payload{chunkInfo: chunkInfo{is: aMark, of: ofAny}, text: rest}) })
		}
		if first := json.FirstElement(rest); opensObject(first) || isArray(first) {
			return p.searchJSON(t, i)
		}
	case 'b', '"', '\'':
		return p.searchQuoteAt(t, i)
	}
	return 0, false
}

// isEventName reports whether what follows event: names one, and nothing else follows.
func isEventName(p []byte) bool {
	p = bytes.TrimSpace(p)
	for _, c := range p {
		if c != '_' && c != '.' && c != '-' && c != '/' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return len(p) > 0 && len(p) <= 64
}

// searchAfterPrefix looks for a payload behind a prefix, as what wrote that prefix has it.
func (p *unwrapper) searchAfterPrefix(prefix, suffix []byte, look func() bool) bool {
	if len(bytes.TrimSpace(prefix)) == 0 {
		p.wrappers = append(p.wrappers, wrapper{"", nil, p.hash(), prefix, suffix})
		defer p.pop(len(p.wrappers) - 1)
		return look()
	}
	depth, clues, was, around := len(p.wrappers), len(p.keys), p.stamp, p.hash()
	p.enterPrefix(prefix, suffix)
	found := look()
	p.pop(depth)
	if p.keys = p.keys[:clues]; !found {
		p.stamp = was
	} else {
		p.keepPrefix(around, prefix)
	}
	return found
}

// timestamp is a time as a line has it.
type timestamp struct {
	text []byte
	fine bool // it has parts of a second
}
