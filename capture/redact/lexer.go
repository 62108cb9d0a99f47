package redact

import "bytes"

const depthLimit = 128 // of containers that are told apart

// lexer finds the JSON strings in a text that is JSON, an event stream of JSON, lines of JSON, or no JSON at all, and
// hands out their characters unescaped, each string to the channel of its place. What is in no string is a text of its
// own. It holds nothing back but escapes and, after a line break inside a secret, the beginning of an event stream's
// line.
type lexer struct {
	s      *stream
	stack  []container
	beyond int // depth beyond the stack

	inString bool
	isKey    bool
	noted    bool   // its hash is wanted
	joined   bool   // the string goes on in the next document
	escape   int    // characters of an escape that have come
	escAt    int64  // where it begins
	code     uint16 // of \uXXXX
	digits   [4]byte
	before   byte // the latest byte outside strings
	bol      bool // a line begins here
	prefix   int  // so many characters of an event stream's "data: " have come, inside a secret

	hash uint64 // of the string, or the number, if somebody wants to know
	tail uint64 // the latest eight bytes of a key
}

// container is an object or an array that is not closed.
type container struct {
	array   bool
	wantKey bool
	n       uint64 // element of an array
	key     uint64 // hash of the current key
	place   uint64 // hash of the keys and numbers that lead here
	index   uint64 // hash of the indexes seen so far: which of several parallel texts this is
	isIndex bool   // the current value is one
	secret  string // the current value is a credential: its key
}

const (
	hashSeed  = 14695981039346656037
	hashPrime = 1099511628211
)

func hashed(h uint64, p []byte) uint64 {
	for _, c := range p {
		h = (h ^ uint64(c)) * hashPrime
	}
	return h
}

var fieldNames = func() map[uint64]string {
	names := map[uint64]string{}
	for _, f := range secretFields {
		names[hashed(hashSeed, []byte(f))] = f
	}
	return names
}()

var fieldBits = func() (bits uint64) {
	for h := range fieldNames {
		bits |= 1 << (h % 64)
	}
	return bits
}()

// structure tells which bytes outside of strings mean something.
var structure = func() (s [256]bool) {
	for _, c := range []byte("{}[],:\"\n") {
		s[c] = true
	}
	return s
}()

func (l *lexer) start(s *stream) { l.s, l.bol = s, true }

// held is the place of what the lexer has not handed out.
func (l *lexer) held(pos int64) int64 {
	switch {
	case l.escape > 0:
		return l.escAt
	case l.prefix > 0:
		return pos - int64(l.prefix)
	}
	return pos
}

func (l *lexer) read(p []byte, at int64) {
	for i := 0; i < len(p); {
		if l.inString {
			i += l.string(p[i:], at+int64(i))
		} else {
			i += l.outside(p[i:], at+int64(i))
		}
	}
}

func (l *lexer) finish() {
	l.escape = 0
	l.unprefix(l.s.pos)
}

// outside reads up to the next string, or the next line.
func (l *lexer) outside(p []byte, at int64) int {
	out := l.s.outside
	if l.bol {
		if l.prefix > 0 || !out.idle() {
			return l.lineStart(p[0], at)
		}
		l.bol = false
		if bytes.IndexByte([]byte("deir:"), p[0]) >= 0 { // a line of an event stream: whatever was before has ended
			l.stack, l.beyond = l.stack[:0], 0
		}
	}
	n := 0
	for n < len(p) && !l.inString && !l.bol {
		c := p[n]
		if !structure[c] {
			n += l.loose(p[n:], at+int64(n))
			continue
		}
		switch {
		case c == '\n':
			l.bol = true
			if !out.idle() {
				l.s.feed(out, c, passed)
			}
			out.prev = c
		case out.idle() && (!l.s.r.scan.first[c] || n+1 < len(p) && !l.s.r.scan.pairs[pair(c, p[n+1])]):
			out.prev = c
		default:
			l.s.scan(out, p[n:n+1], at+int64(n))
		}
		l.take(c)
		l.before = c
		n++
	}
	return n
}

// loose reads what stands between the structure: numbers, and all of a text that is no JSON.
func (l *lexer) loose(p []byte, at int64) int {
	n := 1
	for n < len(p) && !structure[p[n]] {
		n++
	}
	if top := l.top(); top != nil && top.isIndex {
		top.index = hashed(top.index, p[:n])
	}
	l.s.scan(l.s.outside, p[:n], at)
	l.before = p[n-1]
	return n
}

// lineStart passes over the field name of an event stream's line, so that a secret may have line breaks there.
func (l *lexer) lineStart(c byte, at int64) int {
	const prefix = "data: "
	if l.prefix < len(prefix) && c == prefix[l.prefix] {
		if l.prefix++; l.prefix == len(prefix) {
			l.prefix, l.bol = 0, false
		}
		return 1
	}
	if l.prefix == len("data:") {
		l.prefix = 0
	}
	l.unprefix(at)
	l.bol = false
	return 0
}

// unprefix takes what looked like the beginning of a line, and ends before at, as text.
func (l *lexer) unprefix(at int64) {
	n := l.prefix
	l.prefix = 0
	l.s.scan(l.s.outside, []byte("data: ")[:n], at-int64(n))
}

func (l *lexer) top() *container {
	if len(l.stack) == 0 || l.beyond > 0 {
		return nil
	}
	return &l.stack[len(l.stack)-1]
}

// take follows the structure.
func (l *lexer) take(c byte) {
	top := l.top()
	switch c {
	case '{', '[':
		l.push(c == '[')
	case '}', ']':
		switch {
		case l.beyond > 0:
			l.beyond--
		case top != nil:
			l.stack = l.stack[:len(l.stack)-1]
		}
	case ',':
		if top != nil {
			top.n++
			top.wantKey, top.isIndex, top.secret = !top.array, false, ""
		}
	case '"':
		l.open()
	}
}

func (l *lexer) push(array bool) {
	if len(l.stack) == depthLimit {
		l.beyond++
		return
	}
	c := container{array: array, wantKey: !array}
	if top := l.top(); top != nil {
		c.place, c.index = l.place(top), top.index
		if top.array && len(l.stack) == 1 {
			c.place = 1 // each element of the outermost array is a document of its own
		}
	}
	l.stack = append(l.stack, c)
}

// place is the hash of the way to the current value.
func (l *lexer) place(c *container) uint64 {
	step := c.key
	if c.array {
		step = c.n
	}
	return (c.place*hashPrime ^ step) * hashPrime
}

// open begins a string.
func (l *lexer) open() {
	l.inString, l.isKey, l.joined = true, false, false
	l.hash, l.tail = hashSeed, 0
	top := l.top()
	switch {
	case top == nil:
		l.joined = l.beyond == 0 && l.before == ':' // 0:"text": a line of the AI SDK's first stream
	case top.wantKey:
		l.isKey = true
	default:
		l.joined = !top.array || len(l.stack) > 1
	}
	l.noted = l.isKey || top != nil && top.isIndex
	m := l.s.inside
	if l.joined {
		var channel uint64
		if top != nil {
			channel = l.place(top) ^ top.index*hashPrime
		}
		m = l.s.resume(channel)
	}
	if top != nil && top.secret != "" && !l.isKey && m.idle() {
		m.lead, m.where = fieldRule, top.secret
		l.joined = false
	}
}
