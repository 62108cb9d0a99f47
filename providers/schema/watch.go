package schema

import (
	"fmt"
	"slices"

	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/jsonbytes"
)

// most is how many findings the early look makes, and how many the late one.
const most = 5

// A Watch follows one call. Its work grows with the call's new tokens and with new bytes of strings
// that the schema limits, and with nothing else.
type Watch struct {
	set   *Set
	call  *stream.Call
	named bool     // the name has come and was judged
	check *checker // nil when there is none, or no more
	over  bool     // nothing more can be said before the seal

	rewrites int
	next     int    // token to look at
	inside   bool   // it has begun, and was not whole
	start    int    // of that token
	stack    []open // containers, the innermost last
	active   []*node
	want     []*node // what the value to come must fulfil
	text     reading
	patience int // units of work left for patterns on keys and for lists of numbers

	said    []said
	found   []stream.Finding
	waiting bool // sealed without arguments: whether that is all, only the finish reason says
}

// open is a container that has not closed.
type open struct {
	from  int // first of its schemas in active
	start int // byte
	count int // elements, or different keys
	most  int
	array bool
	keys  map[string]bool // when they are counted
}

// said is what a finding was about: each is reported once.
type said struct {
	of *stream.Diagnosis
	at int // first byte of the value or key
}

// Hold says where the call that is followed is now: a session may put a copy in its place.
func (w *Watch) Hold(c *stream.Call) { w.call = c }

// Extend looks at what has come of the call since it was last called, and returns what is found by
// it. The result is valid until the next call.
func (w *Watch) Extend() []stream.Finding {
	w.found = w.found[:0]
	if !w.named && w.call.Name != "" {
		w.name()
	}
	if w.check == nil {
		return w.found
	}
	if w.rewrites != w.call.Rewrites {
		w.restart()
	}
	toks := w.call.Lexer().Tokens()
	for w.next < toks.Len() && !w.over {
		if !w.token(toks, w.growing(toks)) {
			break
		}
		w.inside = false
		w.next++
	}
	return w.found
}

// growing reports whether the next token is not whole: more of it may come, or bytes that are no
// JSON have cut it.
func (w *Watch) growing(toks stream.TokenList) bool {
	if w.next == toks.Len()-1 {
		return w.call.Lexer().Open()
	}
	if toks.At(w.next+1).Kind != stream.Junk {
		return false
	}
	t := toks.At(w.next)
	switch text := w.call.Args()[toks.Start(w.next):t.End]; t.Kind {
	case stream.Key, stream.String:
		_, closed := jsonbytes.StringEnd(text)
		return !closed
	case stream.True, stream.Null:
		return len(text) < len("true")
	case stream.False:
		return len(text) < len("false")
	case stream.Number:
		return true
	}
	return false
}

// name finds the tool, now that its name is known.
func (w *Watch) name() {
	w.named = true
	t := w.set.find(w.call.Namespace, w.call.Name)
	switch {
	case t == nil && !w.set.open:
		w.found = append(w.found, w.set.missing(w.call.Name))
	case t != nil && t.schema.IsPresent() && !w.call.Freeform():
		if t.check == nil {
			t.check = compile(t.schema)
		}
		w.check = t.check
	}
	switch {
	case w.check == nil:
	case w.check.note != "":
		w.unchecked("the schema of this tool cannot be used: " + w.check.note)
	default:
		w.patience = budget / 4
		w.restart()
	}
}

// unchecked says why nothing will be said.
func (w *Watch) unchecked(why string) {
	w.check = nil
	w.found = append(w.found, Unchecked.Finding("%s", why))
}

// restart looks at everything again: the arguments were replaced.
func (w *Watch) restart() {
	w.rewrites = w.call.Rewrites
	w.over = len(w.said) >= most || w.patience < 0
	w.next, w.inside, w.stack, w.active = 0, false, w.stack[:0], w.active[:0]
	w.want = append(w.want[:0], w.check.root)
}

var kindOfToken = map[stream.TokenKind]kinds{
	stream.ObjectOpen: anObject, stream.ArrayOpen: anArray, stream.String: aString, stream.Number: aNumber,
	stream.True: aBool, stream.False: aBool, stream.Null: aNull,
}

// token looks at the next token; it reports whether that needs no second look.
func (w *Watch) token(toks stream.TokenList, growing bool) bool {
	kind, end := toks.At(w.next).Kind, int(toks.At(w.next).End)
	if !w.inside {
		w.start = toks.Start(w.next)
	}
	switch kind {
	case stream.ObjectOpen, stream.ArrayOpen:
		w.value(kindOfToken[kind])
		w.enter(kindOfToken[kind])
	case stream.ObjectClose, stream.ArrayClose:
		w.leave()
	case stream.Key:
		return w.key(end, growing)
	case stream.String:
		return w.str(end, growing)
	case stream.Number, stream.True, stream.False, stream.Null:
		if !w.inside {
			w.value(kindOfToken[kind])
		}
		if w.inside = true; growing {
			return false
		}
		w.scalar(kind, end)
	case stream.Junk:
		w.over = true
	}
	return true
}

// value begins a value of that kind. Schemas it cannot fulfil are reported and leave want.
func (w *Watch) value(k kinds) {
	if n := len(w.stack); n > 0 && w.stack[n-1].array {
		w.element(&w.stack[n-1])
	}
	can := w.want[:0]
	for _, n := range w.want {
		switch {
		case n.types&k == 0:
			w.report(WrongType, w.start, w.start, fmt.Sprintf("%s begins, the schema wants %s", article(k), n.types), "want "+n.types.String())
		case n.kinds&k == 0:
			w.report(NotListed, w.start, w.start, fmt.Sprintf("%s begins, the schema lists %s", article(k), n.listing()), n.unlisted())
		default:
			can = append(can, n)
		}
	}
	w.want = can
}

// enter opens a container: the schemas of its value are now active.
func (w *Watch) enter(k kinds) {
	o := open{from: len(w.active), start: w.start, array: k == anArray, most: noLimit}
	for _, n := range w.want {
		w.expand(n, k, o.from)
	}
	for _, n := range w.active[o.from:] {
		if o.array {
			o.most = min(o.most, n.maxItems)
		} else {
			o.most = min(o.most, n.maxKeys)
		}
	}
	w.stack = append(w.stack, o)
	w.want = w.want[:0]
}

// expand adds all schemas that apply to a value of that kind. Of alternatives it adds the only one
// that allows the kind, if there is just one.
func (w *Watch) expand(n *node, k kinds, from int) {
	for _, m := range n.all {
		if !slices.Contains(w.active[from:], m) {
			w.active = append(w.active, m)
		}
	}
	for _, group := range n.choices {
		var only *node
		count := 0
		for _, m := range group {
			if m.kinds&k != 0 {
				only = m
				count++
			}
		}
		if count == 1 {
			w.expand(only, k, from)
		}
	}
}

func (w *Watch) leave() {
	n := len(w.stack) - 1
	w.active = w.active[:w.stack[n].from]
	w.stack = w.stack[:n]
	w.ended()
}

// ended is called after a value. What follows the outermost is no part of it.
func (w *Watch) ended() {
	w.want = w.want[:0]
	if len(w.stack) == 0 {
		w.over = true
	}
}

// element finds what the next element of an array must fulfil.
func (w *Watch) element(o *open) {
	w.want = w.want[:0]
	for _, n := range w.active[o.from:] {
		switch {
		case o.count < len(n.prefix):
			w.want = append(w.want, n.prefix[o.count])
		case n.items != nil:
			w.want = append(w.want, n.items)
		}
	}
	if o.count++; o.count > o.most {
		w.report(TooMany, o.start, w.start, fmt.Sprintf("element %d begins, the schema allows %s", o.count, count.Of(o.most, "element")), "more than "+count.Of(o.most, "element"))
	}
}

// report makes a finding about the value or key at start, once; here is it in a few words. The byte
// at off is the one that made it certain.
func (w *Watch) report(of *stream.Diagnosis, start, off int, message, here string) {
	if w.over || w.spoken(of, start) {
		return
	}
	w.said = append(w.said, said{of, start})
	path := pointerAt(w.call.Args(), w.call.Lexer().Tokens(), start)
	f := of.Finding("%s: %s", path, message)
	f.Offset, f.Hint = off, here
	w.found = append(w.found, f)
	if len(w.said) == most {
		w.over = true
	}
}

func (w *Watch) spoken(of *stream.Diagnosis, start int) bool {
	return slices.Contains(w.said, said{of, start})
}
