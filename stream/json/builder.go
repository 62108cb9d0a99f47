package json

import (
	"errors"
	"fmt"
	"strconv"

	"toolscope/stream/count"
)

// A Builder builds one JSON text from patches. A patch sets the value at one path, or appends to the string at
// that path. Until Close, the text ends where more text can follow: the containers of the last value are still
// open. So a patch that continues the previous one only appends to the text. A patch to an earlier place
// changes earlier text. The zero value is ready to use.
type Builder struct {
	root  node
	text  []byte
	open  []*node // containers that are not closed in text, the outermost first
	str   *node   // string that is not closed in text, or nil
	path  []byte  // path of the last patch
	last  *node   // the value that the last patch set
	steps []step
	buf   []byte

	rewritten int  // number of bytes rebuilt so far; Flush resets it
	stale     bool // the tree has changed, but text has not
}

// PatchResult describes the effect of a patch on the text.
type PatchResult struct {
	Added       []byte // appended text; valid until the next call
	Rewritten   bool   // earlier text has changed; see Text
	Overwritten bool   // the patch replaced an earlier value with another
}

// node is one value of the tree.
type node struct {
	kind  byte    // { [ " or v for a number or word; 0 if not set yet, which counts as null
	text  []byte  // content of a string, escaped; a complete number or word
	more  bool    // more deltas of the string are expected
	kids  []*node // nil for an element that is not set yet, which counts as null
	names []string
	index map[string]int // index of names, if the object has many
}

// step is one segment of a path: a name, or an index if name is nil.
type step struct {
	name  []byte
	index int
}

// containerKind returns the kind of container that the step leads into.
func (s step) containerKind() byte {
	if s.name != nil {
		return '{'
	}
	return '['
}

const (
	maxSkippedElements = 100     // maximum number of array elements that one patch may skip
	maxRebuiltBytes    = 1 << 20 // maximum number of bytes of rebuilt text; beyond it, only Flush rebuilds the text
	manyNames          = 16
)

// Text returns the text so far. It lacks the latest patches if it needs a Flush.
func (b *Builder) Text() []byte { return b.text }

// AwaitsString reports whether more deltas of the last string are expected.
func (b *Builder) AwaitsString() bool {
	n := &b.root
	for kid := n; kid != nil; kid = kid.lastElement() {
		n = kid
	}
	return n.more
}

// Apply applies one patch: a path to one place, in the notation of RFC 9535, and a value. If more is true, the value
// is a delta of a string, and more deltas follow. If the path can't be followed, Apply returns an error and changes
// nothing.
func (b *Builder) Apply(path []byte, value Value, more bool) (PatchResult, error) {
	more = more && value.IsString()
	if !value.IsPresent() {
		value = Value("null")
	}
	if b.last != nil && b.last.more && value.IsString() && string(path) == string(b.path) {
		return b.extendString(b.last, value, more), nil // the common case
	}
	steps, err := parsePath(path, b.steps[:0])
	if err != nil {
		return PatchResult{}, err
	}
	n, depth := &b.root, 0
	for depth < len(steps) {
		kid := n.elementAt(steps[depth])
		if kid == nil {
			break
		}
		n, depth = kid, depth+1
	}
	if err := n.checkPath(depth, steps); err != nil {
		return PatchResult{}, err
	}
	b.path, b.last, b.steps = append(b.path[:0], path...), n, steps
	switch {
	case depth < len(steps):
		return b.addValue(n, depth, value, more), nil
	case n.more && value.IsString():
		return b.extendString(n, value, more), nil
	}
	return b.replaceValue(n, value, more), nil
}

// checkPath checks that the steps in steps[depth:] can be created below n.
func (n *node) checkPath(depth int, steps []step) error {
	if len(steps) > MaxDepth {
		return fmt.Errorf("more than %d levels of nesting", MaxDepth)
	}
	have := len(n.kids)
	for _, s := range steps[depth:] {
		if s.name == nil && s.index > have+maxSkippedElements {
			return fmt.Errorf("index %d in an array of %s", s.index, count.Of(have, "element"))
		}
		have = 0
	}
	return nil
}

// extendString appends to a string for which more deltas are expected.
func (b *Builder) extendString(n *node, piece Value, more bool) PatchResult {
	from, before := len(b.text), len(n.text)
	b.buf = piece.Append(b.buf[:0])
	n.text = appendEscaped(n.text, b.buf)
	n.more = more
	switch {
	case b.stale:
		return PatchResult{}
	case n != b.str && len(n.text) == before:
		return PatchResult{} // another patch has closed the string in the text
	case n != b.str:
		return b.rebuildText()
	}
	b.text = append(b.text, n.text[before:]...)
	if !more {
		b.text, b.str = append(b.text, '"'), nil
	}
	return PatchResult{Added: b.text[from:]}
}

// addValue creates the element at steps[depth:] below n, and sets its value.
func (b *Builder) addValue(n *node, depth int, value Value, more bool) PatchResult {
	rest := b.steps[depth:]
	over := n.kind != 0 && n.kind != rest[0].containerKind()
	hole := rest[0].name == nil && rest[0].index < len(n.kids)
	appends := !over && !hole && !b.stale && (depth < len(b.open) && b.open[depth] == n || n == &b.root && n.kind == 0)
	if over {
		*n = node{}
	}
	from := len(b.text)
	if appends {
		b.closeTo(depth + 1)
	}
	for _, s := range rest {
		before := len(n.kids)
		n.kind = s.containerKind()
		kid := n.addElement(s)
		if appends {
			b.openElement(n, before, s)
		}
		n = kid
	}
	b.setValue(n, value, more)
	b.last = n
	switch {
	case b.stale:
		return PatchResult{Overwritten: over}
	case !appends:
		p := b.rebuildText()
		p.Overwritten = over
		return p
	}
	b.text = n.appendTo(b.text, true)
	if n.more {
		b.str = n
	}
	return PatchResult{Added: b.text[from:]}
}

// openElement writes the text that precedes a new element of n. The step s names the element. The parameter before is
// the number of elements that n already had.
func (b *Builder) openElement(n *node, before int, s step) {
	if before == 0 {
		b.text = append(b.text, n.kind)
		b.open = append(b.open, n)
	} else {
		b.text = append(b.text, ',')
	}
	for range len(n.kids) - 1 - before {
		b.text = append(b.text, "null,"...)
	}
	if s.name != nil {
		b.text = appendKey(b.text, n.names[len(n.kids)-1])
	}
}

// replaceValue sets the value at an existing place.
func (b *Builder) replaceValue(n *node, value Value, more bool) PatchResult {
	fresh := n == &b.root && n.kind == 0
	p := PatchResult{Overwritten: n.kind != 0}
	was := *n
	*n = node{}
	b.setValue(n, value, more)
	switch {
	case b.stale:
	case fresh:
		b.text = n.appendTo(b.text, true)
		p.Added = b.text
		if n.more {
			b.str = n
		}
	case n.kind == was.kind && !was.more && !n.more && string(n.text) == string(was.text) && was.kids == nil:
		return PatchResult{} // the value is the same as before
	default:
		p.Rewritten = b.rebuildText().Rewritten
	}
	return p
}

func (b *Builder) setValue(n *node, value Value, more bool) {
	if value.IsString() {
		b.buf = value.Append(b.buf[:0])
		n.kind, n.text, n.more = '"', appendEscaped(nil, b.buf), more
		return
	}
	n.kind, n.text = 'v', append([]byte(nil), value...)
}

// closeTo closes everything that is open in the text, except for the given number of outermost containers.
func (b *Builder) closeTo(keep int) {
	if b.str != nil {
		b.text, b.str = append(b.text, '"'), nil
	}
	for i := len(b.open) - 1; i >= keep; i-- {
		b.text = append(b.text, b.open[i].kind+2) // in ASCII, } is 2 more than {, and ] is 2 more than [
		b.open = b.open[:i]
	}
}

// rebuildText rebuilds the text from the tree. Once it has rebuilt maxRebuiltBytes bytes in total, it only
// marks the text stale.
func (b *Builder) rebuildText() PatchResult {
	if b.rewritten > maxRebuiltBytes {
		b.stale = true
		return PatchResult{}
	}
	b.text = b.root.appendTo(b.text[:0], true)
	b.rewritten += len(b.text)
	b.open, b.str, b.stale = b.open[:0], nil, false
	for n := &b.root; n != nil; n = n.lastElement() {
		switch {
		case n.kids != nil:
			b.open = append(b.open, n)
		case n.more:
			b.str = n
		}
	}
	return PatchResult{Rewritten: true}
}

// Flush rebuilds the text if it is stale.
func (b *Builder) Flush() PatchResult {
	if !b.stale {
		return PatchResult{}
	}
	b.rewritten = 0
	return b.rebuildText()
}

// Close closes everything that is open. No patches can follow.
func (b *Builder) Close() PatchResult {
	p := b.Flush()
	from := len(b.text)
	b.closeTo(0)
	p.Added = b.text[from:]
	return p
}

// elementAt returns the element that s names, or nil.
func (n *node) elementAt(s step) *node {
	switch {
	case n.kind != s.containerKind():
	case s.name == nil:
		if s.index < len(n.kids) {
			return n.kids[s.index]
		}
	case n.index != nil:
		if i, ok := n.index[string(s.name)]; ok {
			return n.kids[i]
		}
	default:
		for i, name := range n.names {
			if name == string(s.name) {
				return n.kids[i]
			}
		}
	}
	return nil
}

// addElement adds the element that s names, and empty elements before it if needed.
func (n *node) addElement(s step) *node {
	kid := new(node)
	if s.name == nil {
		for len(n.kids) <= s.index {
			n.kids = append(n.kids, nil)
		}
		n.kids[s.index] = kid
		return kid
	}
	n.names, n.kids = append(n.names, string(s.name)), append(n.kids, kid)
	switch {
	case n.index != nil:
		n.index[string(s.name)] = len(n.kids) - 1
	case len(n.names) > manyNames:
		n.index = map[string]int{}
		for i, name := range n.names {
			n.index[name] = i
		}
	}
	return kid
}

// lastElement returns the last element, or nil.
func (n *node) lastElement() *node {
	if len(n.kids) == 0 {
		return nil
	}
	return n.kids[len(n.kids)-1]
}

// appendTo appends the JSON text of n. If open is set, the last value and the containers around it stay open.
func (n *node) appendTo(dst []byte, open bool) []byte {
	if n == nil {
		return append(dst, "null"...)
	}
	switch n.kind {
	case '"':
		dst = append(append(dst, '"'), n.text...)
		if !open || !n.more {
			dst = append(dst, '"')
		}
		return dst
	case '{', '[':
	default:
		return append(dst, n.text...)
	}
	dst = append(dst, n.kind)
	for i, kid := range n.kids {
		if i > 0 {
			dst = append(dst, ',')
		}
		if n.kind == '{' {
			dst = appendKey(dst, n.names[i])
		}
		dst = kid.appendTo(dst, open && i == len(n.kids)-1)
	}
	if !open {
		dst = append(dst, n.kind+2)
	}
	return dst
}

func appendKey(dst []byte, name string) []byte {
	return append(AppendQuoted(dst, []byte(name)), ':')
}

var errNoPlace = errors.New("the path doesn't name exactly one place")

// parsePath reads a path to one place: $ and then .name, [index], ['name'] or ["name"]. The $ may be missing.
// The names may share memory with path.
func parsePath(path []byte, steps []step) ([]step, error) {
	rest := path
	switch {
	case len(rest) == 0:
		return steps, errNoPlace
	case rest[0] == '$':
		rest = rest[1:]
	case rest[0] != '.' && rest[0] != '[':
		rest = append([]byte{'.'}, rest...)
	}
	for len(rest) > 0 {
		var s step
		var n int
		switch {
		case rest[0] == '.':
			s.name, n = dotName(rest)
		case rest[0] == '[' && len(rest) > 1 && (rest[1] == '\'' || rest[1] == '"'):
			s.name, n = quotedName(rest)
		case rest[0] == '[':
			s.index, n = arrayIndex(rest)
		}
		if n == 0 {
			return steps, fmt.Errorf("%w: can't read %q in %q", errNoPlace, rest, path)
		}
		steps, rest = append(steps, s), rest[n:]
	}
	return steps, nil
}

// dotName reads ".name". It returns the length of that text, or 0 if there is none.
func dotName(p []byte) (name []byte, n int) {
	for n = 1; n < len(p) && p[n] != '.' && p[n] != '['; n++ {
	}
	if n == 1 || string(p[1:n]) == "*" {
		return nil, 0
	}
	return p[1:n], n
}

// arrayIndex reads "[12]". It returns the length of that text, or 0 if there is none.
func arrayIndex(p []byte) (index, n int) {
	for n = 1; n < len(p) && '0' <= p[n] && p[n] <= '9'; n++ {
	}
	index, err := strconv.Atoi(string(p[1:n]))
	if err != nil || n == len(p) || p[n] != ']' {
		return 0, 0
	}
	return index, n + 1
}

// quotedName reads "['name']", or the same with double quotes. It returns the length of that text, or 0 if
// there is none.
func quotedName(p []byte) (name []byte, n int) {
	quote, escaped := p[1], false
	for n = 2; n < len(p) && p[n] != quote; n++ {
		if p[n] == '\\' {
			escaped = true
			n++
		}
	}
	if n+1 >= len(p) || p[n+1] != ']' {
		return nil, 0
	}
	name = p[2:n:n]
	if !escaped {
		return name, n + 2
	}
	lit := make([]byte, 0, len(name))
	for i := 0; i < len(name); i++ { // convert the escapes to JSON's
		switch {
		case name[i] == '\\':
			if i++; name[i] != '\'' {
				lit = append(lit, '\\')
			}
		case name[i] == '"':
			lit = append(lit, '\\')
		}
		lit = append(lit, name[i])
	}
	s := Scan(append(append([]byte{'"'}, lit...), '"'))
	if s.scanString(); s.End() != nil {
		return nil, 0
	}
	return AppendUnquoted([]byte{}, lit), n + 2
}
