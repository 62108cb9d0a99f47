package protocol

import (
	"fmt"

	"toolscope/stream"
	"toolscope/stream/count"
)

// A Builder makes one JSON text of patches. A patch sets the value at one path, or adds a piece to
// the string there.
//
// The text so far always ends where more can follow: the containers of the last value are still
// open. So a patch that goes on from the one before only appends. One that goes back changes text
// that is there already. The zero value is ready.
type Builder struct {
	root  node
	text  []byte
	open  []*node // containers that are not closed in text, the outer one first
	str   *node   // the string that is not closed in text, nil if none
	path  []byte  // of the last patch
	last  *node   // what it set
	steps []step
	buf   []byte

	rewritten int  // bytes of text made anew, in all
	stale     bool // the tree has changed and text has not yet
}

// PatchResult is what a patch did to the text.
type PatchResult struct {
	Added       []byte // the text it appended; valid until the next call
	Rewritten   bool   // text that was there has changed: see Text
	Overwritten bool   // it replaced a complete value
}

// node is one value of the tree.
type node struct {
	kind  byte    // { [ " or v for a number or word; 0 for a place not set yet, which is null
	text  []byte  // a string's inside; all of a number or word
	more  bool    // further pieces of the string are announced
	kids  []*node // nil for an element not set yet, which is null
	names []string
	index map[string]int // of names, once there are many
}

// step is one segment of a path: a name, or an index when name is nil.
type step struct {
	name  []byte
	index int
}

// containerKind is the kind of container that the step leads into.
func (s step) containerKind() byte {
	if s.name != nil {
		return '{'
	}
	return '['
}

const (
	maxSkippedElements = 100     // elements of an array that one patch may skip
	maxRebuiltBytes    = 1 << 20 // bytes of text made anew; beyond that only Flush makes it
	manyNames          = 16
)

// Text is the text so far.
func (b *Builder) Text() []byte { return b.text }

// AwaitsString reports whether the last string's next piece is announced.
func (b *Builder) AwaitsString() bool {
	n := &b.root
	for kid := n; kid != nil; kid = kid.lastElement() {
		n = kid
	}
	return n.more
}

// Apply takes one patch: its path as RFC 9535 writes the path of one place, and a value; more says
// that this is a piece of a string and not the last. If there is an error the path cannot be
// followed, and nothing has changed.
func (b *Builder) Apply(path []byte, value Raw, more bool) (PatchResult, error) {
	more = more && value.IsString()
	if !value.IsPresent() {
		value = Raw("null")
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

// checkPath checks that what is left of a path after depth steps can be made below n.
func (n *node) checkPath(depth int, steps []step) error {
	if len(steps) > stream.MaxDepth {
		return fmt.Errorf("at most %d levels of nesting", stream.MaxDepth)
	}
	have := len(n.kids)
	for _, s := range steps[depth:] {
		if s.name == nil && s.index > have+maxSkippedElements {
			return fmt.Errorf("index %d of an array that has %s", s.index, count.Of(have, "element"))
		}
		have = 0
	}
	return nil
}

// extendString adds a piece to a string that waits for it.
func (b *Builder) extendString(n *node, piece Raw, more bool) PatchResult {
	from, before := len(b.text), len(n.text)
	b.buf = piece.Append(b.buf[:0])
	n.text = appendEscaped(n.text, b.buf)
	n.more = more
	switch {
	case b.stale:
		return PatchResult{}
	case n != b.str && len(n.text) == before:
		return PatchResult{} // another patch has closed it in the text
	case n != b.str:
		return b.rebuildText()
	}
	b.text = append(b.text, n.text[before:]...)
	if !more {
		b.text, b.str = append(b.text, '"'), nil
	}
	return PatchResult{Added: b.text[from:]}
}

// addValue makes the place that steps[depth:] name below n, and sets it.
func (b *Builder) addValue(n *node, depth int, value Raw, more bool) PatchResult {
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

// openElement writes what stands before the new element of n that s names. before is how many elements n
// had.
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

// replaceValue sets a place that exists.
func (b *Builder) replaceValue(n *node, value Raw, more bool) PatchResult {
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
		return PatchResult{} // the same again
	default:
		p.Rewritten = b.rebuildText().Rewritten
	}
	return p
}

func (b *Builder) setValue(n *node, value Raw, more bool) {
	if value.IsString() {
		b.buf = value.Append(b.buf[:0])
		n.kind, n.text, n.more = '"', appendEscaped(nil, b.buf), more
		return
	}
	n.kind, n.text = 'v', append([]byte(nil), value...)
}

// closeTo closes what is open in the text, but not the outer keep containers.
func (b *Builder) closeTo(keep int) {
	if b.str != nil {
		b.text, b.str = append(b.text, '"'), nil
	}
	for i := len(b.open) - 1; i >= keep; i-- {
		b.text = append(b.text, b.open[i].kind+2) // in ASCII } is 2 after {, and ] after [
		b.open = b.open[:i]
	}
}

// rebuildText writes the text anew from the tree, but at most maxRemade bytes in all.
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

// Flush brings the text up to date if that was put off.
func (b *Builder) Flush() PatchResult {
	if !b.stale {
		return PatchResult{}
	}
	b.rewritten = 0
	return b.rebuildText()
}

// Close closes all that is open: no more patches come.
func (b *Builder) Close() PatchResult {
	p := b.Flush()
	from := len(b.text)
	b.closeTo(0)
	p.Added = b.text[from:]
	return p
}
