package diff

import (
	"toolscope/stream"
	"toolscope/stream/jsonbytes"
)

// node is a value in arguments, as far as it has arrived.
type node struct {
	name     string           // its key; "" in an array
	nth      int              // number of earlier fields with this name in the object; in an array, its index
	kind     stream.TokenKind // of its first token; none before it arrives
	key      int              // start of its key, or of the value if it has no key
	start    int
	end      int  // so far
	closed   bool // it is complete
	ends     bool // it gets no more bytes: it is closed, or was cut off
	children []int32
}

// none is the kind of a value that has not arrived.
const none = stream.Space

// tree has the values of arguments. The first node is the root; there is none before the first token.
type tree struct {
	text    []byte
	nodes   []node
	unknown bool // its bytes are not in memory
}

// maxTokens is the maximum number of tokens in arguments whose values are compared one by one. Larger
// arguments are compared as one value.
const maxTokens = 200_000

// Args are the arguments of a call, as far as they have arrived.
type Args struct {
	Text     []byte
	Freeform bool          // not JSON by design
	Over     bool          // no more bytes arrive
	Unknown  bool          // the bytes are not in memory
	lexer    *stream.Lexer // has read the bytes; nil if parseTree must read them again
}

// ArgsOf returns the arguments of a call, nil if c is nil.
func ArgsOf(c *stream.Call) *Args {
	if c == nil {
		return nil
	}
	return &Args{Text: c.Args(), Freeform: c.Freeform(), Over: !c.MayGrow(), Unknown: c.ArgsLen() != len(c.Args()), lexer: c.Lexer()}
}

// Snapshot returns a copy for use in another goroutine. It does not share the lexer, and the bytes do not
// change.
func (a *Args) Snapshot() *Args {
	if a == nil {
		return nil
	}
	apart := *a
	apart.lexer = nil
	return &apart
}

// parseTree parses the arguments. Free text, and arguments with more than maxTokens tokens, become one
// value.
func (a *Args) parseTree() tree {
	t, lex := tree{text: a.Text, unknown: a.Unknown}, a.lexer
	if t.unknown || len(t.text) == 0 {
		return t
	}
	if lex == nil {
		if lex = new(stream.Lexer); !a.Freeform {
			lex.Write(a.Text)
		}
		if a.Over {
			lex.Close()
		}
	}
	whole := node{kind: stream.Junk, end: len(t.text), closed: a.Over, ends: a.Over}
	toks := lex.Tokens()
	if a.Freeform || toks.Len() > maxTokens || toks.At(0).Kind == stream.Junk {
		t.nodes = []node{whole}
		return t
	}
	b := treeBuilder{tree: &t, toks: toks, growing: lex.Open()}
	if b.buildTree(); len(t.nodes) == 1 && lex.Err() != nil && t.nodes[0].kind != stream.ObjectOpen {
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
	toks    stream.TokenList
	growing bool             // the last token may grow
	open    []int32          // containers, the innermost last
	names   []map[string]int // of each container, the number of fields per name
	pending int32            // the field whose value is next, -1 for none
	over    bool             // the first value has ended
}

// buildTree builds the first value of the text. It ignores text after that value, or after bytes that are
// not JSON.
func (b *treeBuilder) buildTree() {
	b.pending = -1
	start := 0
	for n, t := range b.toks.All() {
		end, last := int(t.End), n == b.toks.Len()-1
		switch t.Kind {
		case stream.Space, stream.Colon, stream.Comma:
		case stream.Junk:
			return
		case stream.Key:
			if !last || !b.growing {
				b.addKey(start, end)
			}
		case stream.ObjectClose, stream.ArrayClose:
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
	name := string(jsonbytes.AppendUnquoted(nil, b.text[start+1:end-1]))
	in := len(b.names) - 1
	if b.names[in] == nil {
		b.names[in] = map[string]int{}
	}
	names := b.names[in]
	b.pending = b.add(node{name: name, nth: names[name], kind: none, key: start, start: end, end: end})
	names[name]++
}

// addValue adds a value: the start of a container, or a scalar.
func (b *treeBuilder) addValue(kind stream.TokenKind, start, end int, closed bool) {
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
	if kind == stream.ObjectOpen || kind == stream.ArrayOpen {
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
