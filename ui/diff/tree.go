package diff

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"unicode/utf8"

	"toolscope/stream"
	"toolscope/stream/json"
)

// node is a value in a call's arguments, as far as it has arrived.
type node struct {
	name     string         // key; "" in an array
	nth      int            // number of earlier fields with this name in the object; in an array, the index
	kind     json.TokenKind // kind of the first token; none before it arrives
	key      int            // start of the key, or of the value if it has no key
	start    int
	end      int  // end of the value so far
	closed   bool // the value is complete
	ends     bool // no more bytes will arrive: the value is closed or was cut off
	children []int32
}

// none is the kind of a value that has not arrived yet.
const none = json.Space

// tree contains the values in a call's arguments. The first node is the root. Before the first token, a tree has no
// nodes.
type tree struct {
	text    []byte
	nodes   []node
	unknown bool // the bytes are not in memory
}

// maxTokens is the maximum number of tokens in arguments whose values are compared one by one. Arguments with more
// tokens are compared as a single value.
const maxTokens = 200_000

// Args are the arguments of a call, as far as they have arrived.
type Args struct {
	Text     []byte
	Freeform bool        // the arguments are free text by design, not JSON
	Over     bool        // no more bytes will arrive
	Unknown  bool        // the bytes are not in memory
	lexer    *json.Lexer // a lexer that has read the bytes; nil if parseTree must read them again
}

// ArgsOf returns the arguments of a call, or nil if c is nil.
func ArgsOf(c *stream.Call) *Args {
	if c == nil {
		return nil
	}
	return &Args{Text: c.Args(), Freeform: c.Freeform(), Over: !c.MayGrow(), Unknown: c.ArgsLen() != len(c.Args()), lexer: c.Lexer()}
}

// Snapshot returns a copy for use in another goroutine. The copy does not share the lexer, and its bytes do not
// change.
func (a *Args) Snapshot() *Args {
	if a == nil {
		return nil
	}
	apart := *a
	apart.lexer = nil
	return &apart
}

// parseTree parses the arguments. Free text, text that is not JSON, and arguments with more than maxTokens tokens
// become a single value.
func (a *Args) parseTree() tree {
	t, lex := tree{text: a.Text, unknown: a.Unknown}, a.lexer
	if t.unknown || len(t.text) == 0 {
		return t
	}
	if lex == nil {
		if lex = new(json.Lexer); !a.Freeform {
			lex.Write(a.Text)
		}
		if a.Over {
			lex.Close()
		}
	}
	whole := node{kind: json.Junk, end: len(t.text), closed: a.Over, ends: a.Over}
	toks := lex.Tokens()
	if a.Freeform || toks.Len() > maxTokens || toks.At(0).Kind == json.Junk {
		t.nodes = []node{whole}
		return t
	}
	b := treeBuilder{tree: &t, toks: toks, growing: lex.Open()}
	if b.buildTree(); len(t.nodes) == 1 && lex.Err() != nil && t.nodes[0].kind != json.ObjectOpen {
		t.nodes[0] = whole
	}
	for i := range t.nodes {
		t.nodes[i].ends = t.nodes[i].closed || a.Over
	}
	return t
}

// treeBuilder builds a tree from tokens.
type treeBuilder struct {
	*tree
	toks    json.TokenList
	growing bool             // the last token may grow
	open    []int32          // open containers, the innermost last
	names   []map[string]int // number of fields with each name, for each open container
	pending int32            // the field whose value comes next, or -1
	over    bool             // the first value has ended
}

// buildTree builds the first value in the text. It ignores text after that value, or after bytes that are not
// JSON.
func (b *treeBuilder) buildTree() {
	b.pending = -1
	start := 0
	for n, t := range b.toks.All() {
		end, last := int(t.End), n == b.toks.Len()-1
		switch t.Kind {
		case json.Space, json.Colon, json.Comma:
		case json.Junk:
			return
		case json.Key:
			if !last || !b.growing {
				b.addKey(start, end)
			}
		case json.ObjectClose, json.ArrayClose:
			b.closeContainer(end)
		default:
			b.addValue(t.Kind, start, end, !last || !b.growing)
		}
		if start = end; b.over {
			return
		}
	}
	for _, n := range b.open {
		b.nodes[n].end = len(b.text)
	}
}

// addKey adds a key whose value has not arrived.
func (b *treeBuilder) addKey(start, end int) {
	name := string(json.AppendUnquoted(nil, b.text[start+1:end-1]))
	in := len(b.names) - 1
	if b.names[in] == nil {
		b.names[in] = map[string]int{}
	}
	names := b.names[in]
	b.pending = b.add(node{name: name, nth: names[name], kind: none, key: start, start: end, end: end})
	names[name]++
}

// addValue adds a value: the start of a container, or a scalar.
func (b *treeBuilder) addValue(kind json.TokenKind, start, end int, closed bool) {
	n := b.pending
	if b.pending = -1; n < 0 {
		index := 0
		if len(b.open) > 0 {
			index = len(b.nodes[b.open[len(b.open)-1]].children)
		}
		n = b.add(node{nth: index, key: start})
	}
	at := &b.nodes[n]
	at.kind, at.start, at.end = kind, start, end
	if kind == json.ObjectOpen || kind == json.ArrayOpen {
		b.open, b.names = append(b.open, n), append(b.names, nil)
		return
	}
	at.closed = closed
	b.over = len(b.open) == 0
}

func (b *treeBuilder) closeContainer(end int) {
	n := b.open[len(b.open)-1]
	b.open, b.names = b.open[:len(b.open)-1], b.names[:len(b.names)-1]
	b.nodes[n].end, b.nodes[n].closed = end, true
	b.over = len(b.open) == 0
}

// add appends a node to the innermost container.
func (b *treeBuilder) add(n node) int32 {
	at := int32(len(b.nodes))
	b.nodes = append(b.nodes, n)
	if len(b.open) > 0 {
		in := &b.nodes[b.open[len(b.open)-1]]
		in.children = append(in.children, at)
	}
	return at
}

// compareScalars compares two scalars. The result at is the offset in y's value at which they begin to
// differ.
func compareScalars(a *tree, x *node, b *tree, y *node) (m Relation, at int) {
	switch {
	case x.kind == none || y.kind == none:
		return Open, 0
	case x.kind != y.kind:
		return Differs, 0
	case x.kind == json.String:
		return compareStrings(a, x, b, y)
	}
	one, other := a.text[x.start:x.end], b.text[y.start:y.end]
	switch {
	case x.kind == json.Junk:
		return compareRaw(one, x.ends, other, y.ends)
	case !x.ends || !y.ends:
		return Open, 0
	case bytes.Equal(one, other):
		return Same, 0
	case x.kind == json.Number && json.ParseDecimal(one) == json.ParseDecimal(other):
		return Alike, 0
	}
	return Differs, 0
}

// compareRaw compares texts that are not JSON, as far as they have arrived.
func compareRaw(a []byte, aEnds bool, b []byte, bEnds bool) (m Relation, at int) {
	n := commonPrefixLen(a, b)
	switch {
	case n < len(a) && n < len(b), n == len(a) && aEnds && n < len(b), n == len(b) && bEnds && n < len(a):
		return Differs, n
	case !aEnds || !bEnds:
		return Open, n
	}
	return Same, n
}

// compareStrings compares the unescaped texts of two strings, as far as they have arrived.
func compareStrings(a *tree, x *node, b *tree, y *node) (m Relation, at int) {
	lit, held := a.text[x.start:x.end], b.text[y.start:y.end]
	if x.closed && y.closed && bytes.Equal(lit, held) {
		return Same, 0
	}
	one, _ := json.Content(lit)
	other, _ := json.Content(held)
	n := commonPrefixLen(one, other)
	n = min(json.CompleteEscapes(one[:n]), json.CompleteEscapes(other[:n]))
	n = wholeRune(other, n)
	for i := n; ; {
		at = n + 1
		r, size := nextChar(one[i:])
		q, length := nextChar(other[n:])
		ok, also := size > 0, length > 0
		switch i, n = i+size, n+length; {
		case !ok && !also && x.ends && y.ends && x.closed == y.closed:
			return Alike, 0
		case !ok && x.ends && also, !also && y.ends && ok, ok && also && r != q, !ok && !also && x.ends && y.ends:
			return Differs, at
		case !ok || !also:
			return Open, 0
		}
	}
}

// nextChar returns the first character of a literal's content, and its length. For a byte that belongs to a
// cut character or to invalid UTF-8, it returns a value above utf8.MaxRune.
func nextChar(lit []byte) (c rune, n int) {
	c, n = json.NextChar(lit, false)
	if c == utf8.RuneError && n == 1 {
		c = utf8.MaxRune + 1 + rune(lit[0])
	}
	return c, n
}

// commonPrefixLen returns the length of the common prefix of two texts, in bytes.
func commonPrefixLen(a, b []byte) (n int) {
	size := min(len(a), len(b))
	for n+64 <= size && bytes.Equal(a[n:n+64], b[n:n+64]) {
		n += 64
	}
	for n < size && a[n] == b[n] {
		n++
	}
	return n
}

// wholeRune returns n or, if a cut at n would split a character, the start of that character.
func wholeRune(text []byte, n int) int {
	for at := n; at > 0 && n-at < utf8.UTFMax; at-- {
		if at < len(text) && utf8.RuneStart(text[at]) || at == len(text) {
			return at
		}
	}
	return n
}

// valueHash returns a hash of a value. Equal values have equal hashes.
func (t *tree) valueHash(n int32) uint64 {
	at := &t.nodes[n]
	h := fnv.New64a()
	_, _ = h.Write([]byte{byte(at.kind)})
	switch text := t.text[at.start:at.end]; at.kind {
	case json.ObjectOpen:
		all := uint64(0) // independent of the order of fields
		for _, k := range at.children {
			all += hashField(t.nodes[k].name, t.nodes[k].nth, t.valueHash(k))
		}
		_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, all))
	case json.ArrayOpen:
		for _, k := range at.children {
			_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, t.valueHash(k)))
		}
	case json.String:
		content, _ := json.Content(text)
		_, _ = h.Write(json.AppendUnquoted(nil, content))
	case json.Number:
		_, _ = h.Write(json.ParseDecimal(text).Append(nil))
	default:
		_, _ = h.Write(text)
	}
	return h.Sum64()
}

// hashField returns a hash of a field: its name, the number of earlier fields with that name, and its value's hash.
func hashField(name string, nth int, value uint64) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, value))
	_, _ = h.Write(binary.LittleEndian.AppendUint32(nil, uint32(nth)))
	_, _ = h.Write([]byte(name))
	return h.Sum64()
}

// ArgsHash returns a hash of a call's arguments. Equal arguments have equal hashes. The hash is 0 until the
// arguments are final, and if they are not in memory.
func ArgsHash(c *stream.Call) uint64 {
	if c.MayGrow() {
		return 0
	}
	a := ArgsOf(c)
	t := a.parseTree()
	return t.argsHash(a)
}

func (t *tree) argsHash(a *Args) uint64 {
	switch {
	case !a.Over || t.unknown:
		return 0
	case len(t.nodes) == 0:
		return 1
	}
	return max(t.valueHash(0), 2)
}
