package formats

import (
	"bytes"

	"toolscope/capture"
	"toolscope/stream/jsonbytes"
)

// A peeler takes what a log wrote around a payload off a line of it, layer by layer, until what is
// left is something that a provider sends or is sent. It finds the payload by its shape; what
// stands before and behind it is asked for a time and for what may tell streams apart.
//
// What a line gave is lent: it is valid until the next line.
type peeler struct {
	looks func([]byte) capture.PayloadGuess

	layers  []layer
	clues   []clue
	members []foundMember
	finds   []find
	scope   int
	stamp   lineStamp

	within int                      // texts that are quoted, and that we are in
	lines  int                      // looked at
	paths  map[uint64]*trail        // where payloads have stood
	leads  map[uint64]bool          // hashes of the layers that led there
	shapes map[uint64][]prefixShape // of what stood before a payload in a text, by the layers around it
	dull   map[uint64]int           // how often objects there were nothing, since they were something
	ranks  map[uint64]clueRank      // of names of clues

	moulds []*mould // of lines that came, the last one first
	served int      // lines that were peeled by one
	cast   casting
	quotes [mouldLevels][]byte // strings of a line, as what they stand for
	room   []byte              // for what stands around payloads
}

// layer is what is around what is looked at.
type layer struct {
	name          string // "" for a member of an object
	key           []byte // of a member
	hash          uint64 // of this layer and those around it
	before, after []byte // what stands in this layer before and behind the next one
}

// trail is a place where payloads stand: the names of the layers around it.
type trail struct {
	hash   uint64
	names  []string
	pieces bool // they are pieces of a text, cut anywhere
	fields bool // they are fields of events, each for itself
	begun  bool // what stands there may be the next piece of one that is held
}

// find is a payload that was found in a line.
type find struct {
	saying
	text   []byte
	field  bool   // it is a field of an event stream: its line
	cut    bool   // its end is missing
	quoted bool   // it is all of a text that a log quotes
	unsure bool   // it may also be the middle of a text that was cut anywhere
	room   []byte // where the text may be kept with what ends it; then only the text is lent, and its kind
	on     *trail
	clues  []clue
	stamp  lineStamp
	scope  int // finds of one scope stand in one object
	before []byte
	after  []byte
	held   bool             // it was kept until it was clear which stream it is of
	event  *heldEvent       // its name, of one that was held
	spot   capture.LineSpan // of one that is held
}

const (
	peelLimit   = 12      // layers around a payload
	prefixLimit = 4 << 10 // bytes before a payload in a text
	tryLimit    = 32      // places in a text at which a payload is looked for
	shapeLimit  = 8       // shapes of what stands before payloads
)

func newPeeler(looks func([]byte) capture.PayloadGuess) *peeler {
	return &peeler{
		looks: looks, paths: map[uint64]*trail{}, leads: map[uint64]bool{}, shapes: map[uint64][]prefixShape{},
		dull: map[uint64]int{}, ranks: map[uint64]clueRank{},
	}
}

// peel looks for payloads in a line of a log. What it returns is lent.
func (p *peeler) peel(line []byte) []find {
	p.lines++
	p.begin()
	p.cast.begin(line)
	if p.text(line); len(p.finds) == 0 {
		p.rest(line)
	}
	p.keepMould()
	return p.finds
}

// ready forgets the last line, if something of it may be left.
func (p *peeler) ready() {
	if p.scope != 0 || p.within != 0 || len(p.layers) > 0 {
		p.begin()
	}
}

// begin forgets the last line.
func (p *peeler) begin() {
	p.layers, p.clues, p.members, p.finds = p.layers[:0], p.clues[:0], p.members[:0], p.finds[:0]
	p.scope, p.within, p.stamp, p.cast.texts = 0, 0, lineStamp{}, p.cast.texts[:0]
}

func (p *peeler) hash() uint64 {
	if n := len(p.layers); n > 0 {
		return p.layers[n-1].hash
	}
	return hashSeed
}

// push enters a layer; after it comes what is in it.
func (p *peeler) push(name string, key, before, after []byte) {
	h := hashOf(hashOf(p.hash()*31, []byte(name)), key)
	p.layers = append(p.layers, layer{name, key, h, before, after})
}

func (p *peeler) pop(to int) { p.layers = p.layers[:to] }

// give says that a payload stands here.
func (p *peeler) give(f find) bool {
	h := p.hash()
	f.on = p.paths[h]
	if f.on == nil {
		f.on = p.learn(h)
	}
	f.scope = p.scope
	f.clues = append([]clue(nil), p.clues...)
	f.stamp = p.stamp
	f.before, f.after = p.around(f.before, f.after)
	p.finds = append(p.finds, f)
	p.cast.cast(&f)
	return true
}

// learn remembers where a payload stood, and what led there.
func (p *peeler) learn(h uint64) *trail {
	t := &trail{hash: h}
	p.moulds = p.moulds[:0] // payloads stand elsewhere too
	for _, l := range p.layers {
		p.leads[l.hash] = true
		name := l.name
		if l.key != nil {
			name = "." + string(jsonbytes.AppendUnquoted(nil, l.key))
		}
		if name != "" && (len(t.names) == 0 || t.names[len(t.names)-1] != name) {
			t.names = append(t.names, name)
		}
	}
	p.paths[h] = t
	return t
}

// around is what stands in the line before a payload and behind it, through all layers.
func (p *peeler) around(before, after []byte) (all, rest []byte) {
	if len(p.layers) == 0 {
		return before, after
	}
	for _, l := range p.layers {
		all = append(all, l.before...)
	}
	all = append(all, before...)
	rest = append(rest, after...)
	for i := len(p.layers) - 1; i >= 0; i-- {
		rest = append(rest, p.layers[i].after...)
	}
	return all, rest
}

// text looks for payloads in a text, and reports whether it found some.
func (p *peeler) text(t []byte) bool {
	if len(p.layers) >= peelLimit {
		return false
	}
	body := bytes.TrimRight(t, "\r\n")
	if bytes.IndexByte(body, esc) >= 0 {
		if plain := withoutColours(body); len(plain) < len(body) {
			return p.inLayer("ANSI colours", nil, nil, func() bool { return p.text(plain) || p.rest(plain) })
		}
	}
	if bytes.IndexByte(body, '\n') >= 0 || bytes.IndexByte(body, '\r') >= 0 {
		return p.block(t)
	}
	if len(body) == 0 {
		return false
	}
	tries := 0
	for i := 0; i < min(len(body), prefixLimit) && tries < tryLimit; i++ {
		if i > 0 && !isEdge(body[i-1]) {
			continue
		}
		n, found := p.at(body, i, len(t) > len(body))
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

// inLayer looks for payloads in a layer that is entered for that.
func (p *peeler) inLayer(name string, before, after []byte, look func() bool) bool {
	depth, clues, was := len(p.layers), len(p.clues), p.stamp
	p.push(name, nil, before, after)
	found := look()
	p.pop(depth)
	if p.clues = p.clues[:clues]; !found {
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

// at looks for a payload that begins at i. n is how many bytes were looked at in vain.
func (p *peeler) at(t []byte, i int, ended bool) (n int, found bool) {
	rest := t[i:]
	switch rest[0] {
	case 'd':
		if data, is := bytes.CutPrefix(rest, []byte("data:")); is {
			return 1, p.data(t, i, data)
		}
	case 'e':
		if name, is := bytes.CutPrefix(rest, []byte("event:")); is && isEventName(name) {
			return 1, p.wrapped(t[:i], nil, func() bool {
				return p.give(find{saying: saying{is: anEvent, kind: bytes.TrimSpace(name)}, text: rest, field: true})
			})
		}
	case '{':
		return p.json(t, i)
	case '[':
		if string(bytes.TrimSpace(rest)) == "[DONE]" {
			return 1, p.wrapped(t[:i], nil, func() bool { return p.give(find{saying: saying{is: aMark, of: ofAny}, text: rest}) })
		}
		if first := firstElement(rest); opensObject(first) || isArray(first) {
			return p.json(t, i)
		}
	case 'b', '"', '\'':
		return p.quoted(t, i)
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

// wrapped looks for a payload behind a prefix, as what wrote that prefix has it.
func (p *peeler) wrapped(prefix, suffix []byte, look func() bool) bool {
	if len(bytes.TrimSpace(prefix)) == 0 {
		p.layers = append(p.layers, layer{"", nil, p.hash(), prefix, suffix})
		defer p.pop(len(p.layers) - 1)
		return look()
	}
	depth, clues, was, around := len(p.layers), len(p.clues), p.stamp, p.hash()
	p.prefix(prefix, suffix)
	found := look()
	p.pop(depth)
	if p.clues = p.clues[:clues]; !found {
		p.stamp = was
	} else {
		p.keepShape(around, prefix)
	}
	return found
}

// lineStamp is a time as a line has it.
type lineStamp struct {
	text []byte
	fine bool // it has parts of a second
}
