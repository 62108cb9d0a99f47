package diff

import (
	"toolscope/stream"
	"toolscope/stream/jsonbytes"
)

// node is a value of arguments, as far as it has come.
type node struct {
	name     string           // the key whose value it is; "" in an array
	nth      int              // how many members of that name its object had before; in an array its index
	kind     stream.TokenKind // of its first token; none while nothing of it has come
	key      int              // where its key begins, or else it itself
	start    int
	end      int  // so far
	closed   bool // all of it has come
	ends     bool // nothing more of it comes: it is closed, or was cut
	children []int32
}

// none is the kind of a value of which nothing has come.
const none = stream.Space

// tree is the values of arguments. The first is that which holds the others; without any token
// there is none.
type tree struct {
	text    []byte
	nodes   []node
	unknown bool // its bytes are not kept
}

// maxTokens is how many tokens arguments may have whose values are compared one by one. What has
// more is compared as a whole.
const maxTokens = 200_000

// Args are the arguments of a call, as far as they have come.
type Args struct {
	Text     []byte
	Freeform bool          // not JSON by design
	Over     bool          // nothing more comes
	Unknown  bool          // the bytes are not kept
	lexer    *stream.Lexer // has read them; nil where they are to be read anew
}

// ArgsOf are those of a call, nil for none.
func ArgsOf(c *stream.Call) *Args {
	if c == nil {
		return nil
	}
	return &Args{Text: c.Args(), Freeform: c.Freeform(), Over: !c.MayGrow(), Unknown: c.ArgsLen() != len(c.Args()), lexer: c.Lexer()}
}

// Snapshot are the arguments as they are now, whatever becomes of the call: for who reads them beside
// the screen. The bytes themselves do not change.
func (a *Args) Snapshot() *Args {
	if a == nil {
		return nil
	}
	apart := *a
	apart.lexer = nil
	return &apart
}

// parseTree reads the arguments. Free text, and what is too much to be read, is one value.
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

// treeBuilder makes a tree of tokens.
type treeBuilder struct {
	*tree
	toks    stream.TokenList
	growing bool             // the last token may grow
	open    []int32          // containers, the innermost last
	names   []map[string]int // of each, how often a name came
	pending int32            // the member whose value comes, -1 if none
	over    bool             // the first value has ended
}

// buildTree reads the first value of the text. What follows it, or cannot be JSON, is no part of it.
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

// addKey is a key whose value has not come.
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

// addValue is one that begins, and if it is no container, all there is of it.
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

// add puts a value into the innermost container.
func (b *treeBuilder) add(n node) int32 {
	at := int32(len(b.nodes))
	b.nodes = append(b.nodes, n)
	if len(b.open) > 0 {
		in := &b.nodes[b.open[len(b.open)-1]]
		in.children = append(in.children, at)
	}
	return at
}
