package schema

import (
	"fmt"
	"slices"

	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/jsonbytes"
)

// maxFindings is how many findings the early look makes, and how many the late one.
const maxFindings = 5

// A CallChecker follows one call. Its work grows with the call's new tokens and with new bytes of strings
// that the schema limits, and with nothing else.
type CallChecker struct {
	set   *Set
	call  *stream.Call
	named bool            // the name has come and was judged
	check *compiledSchema // nil when there is none, or no more
	done  bool            // nothing more can be said before the seal

	rewrites int
	next     int             // token to look at
	inside   bool            // it has begun, and was not whole
	start    int             // of that token
	stack    []openContainer // containers, the innermost last
	active   []*schemaNode
	want     []*schemaNode // what the value to come must fulfil
	text     stringProgress
	workLeft int // units of work left for patterns on keys and for lists of numbers

	reported []reportedKey
	found    []stream.Finding
	waiting  bool // sealed without arguments: whether that is all, only the finish reason says
}

// openContainer is a container that has not closed.
type openContainer struct {
	from     int // first of its schemas in active
	start    int // byte
	count    int // elements, or different keys
	maxItems int
	array    bool
	keys     map[string]bool // when they are counted
}

// reportedKey is what a finding was about: each is reported once.
type reportedKey struct {
	of *stream.Diagnosis
	at int // first byte of the value or key
}

// SetCall says where the call that is followed is now: a session may put a copy in its place.
func (w *CallChecker) SetCall(c *stream.Call) { w.call = c }

// Extend looks at what has come of the call since it was last called, and returns what is found by
// it. The result is valid until the next call.
func (w *CallChecker) Extend() []stream.Finding {
	w.found = w.found[:0]
	if !w.named && w.call.Name != "" {
		w.findTool()
	}
	if w.check == nil {
		return w.found
	}
	if w.rewrites != w.call.Rewrites {
		w.restart()
	}
	toks := w.call.Lexer().Tokens()
	for w.next < toks.Len() && !w.done {
		if !w.checkToken(toks, w.isGrowing(toks)) {
			break
		}
		w.inside = false
		w.next++
	}
	return w.found
}

// isGrowing reports whether the next token is not whole: more of it may come, or bytes that are no
// JSON have cut it.
func (w *CallChecker) isGrowing(toks stream.TokenList) bool {
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

// findTool finds the tool, now that its name is known.
func (w *CallChecker) findTool() {
	w.named = true
	t := w.set.find(w.call.Namespace, w.call.Name)
	switch {
	case t == nil && !w.set.open:
		w.found = append(w.found, w.set.missingTool(w.call.Name))
	case t != nil && t.schema.IsPresent() && !w.call.Freeform():
		if t.check == nil {
			t.check = compileSchema(t.schema)
		}
		w.check = t.check
	}
	switch {
	case w.check == nil:
	case w.check.note != "":
		w.stopChecking("the schema of this tool cannot be used: " + w.check.note)
	default:
		w.workLeft = maxWork / 4
		w.restart()
	}
}

// stopChecking says why nothing will be said.
func (w *CallChecker) stopChecking(why string) {
	w.check = nil
	w.found = append(w.found, Unchecked.Finding("%s", why))
}

// restart looks at everything again: the arguments were replaced.
func (w *CallChecker) restart() {
	w.rewrites = w.call.Rewrites
	w.done = len(w.reported) >= maxFindings || w.workLeft < 0
	w.next, w.inside, w.stack, w.active = 0, false, w.stack[:0], w.active[:0]
	w.want = append(w.want[:0], w.check.root)
}

var kindOfToken = map[stream.TokenKind]kinds{
	stream.ObjectOpen: anObject, stream.ArrayOpen: anArray, stream.String: aString, stream.Number: aNumber,
	stream.True: aBool, stream.False: aBool, stream.Null: aNull,
}

// checkToken looks at the next token; it reports whether that needs no second look.
func (w *CallChecker) checkToken(toks stream.TokenList, growing bool) bool {
	kind, end := toks.At(w.next).Kind, int(toks.At(w.next).End)
	if !w.inside {
		w.start = toks.Start(w.next)
	}
	switch kind {
	case stream.ObjectOpen, stream.ArrayOpen:
		w.beginValue(kindOfToken[kind])
		w.enterContainer(kindOfToken[kind])
	case stream.ObjectClose, stream.ArrayClose:
		w.leaveContainer()
	case stream.Key:
		return w.checkKey(end, growing)
	case stream.String:
		return w.checkString(end, growing)
	case stream.Number, stream.True, stream.False, stream.Null:
		if !w.inside {
			w.beginValue(kindOfToken[kind])
		}
		if w.inside = true; growing {
			return false
		}
		w.checkScalar(kind, end)
	case stream.Junk:
		w.done = true
	}
	return true
}

// beginValue begins a value of that kind. Schemas it cannot fulfil are reported and leave want.
func (w *CallChecker) beginValue(k kinds) {
	if n := len(w.stack); n > 0 && w.stack[n-1].array {
		w.beginElement(&w.stack[n-1])
	}
	can := w.want[:0]
	for _, n := range w.want {
		switch {
		case n.types&k == 0:
			w.report(WrongType, w.start, w.start, fmt.Sprintf("%s begins, the schema wants %s", withArticle(k), n.types), "want "+n.types.String())
		case n.kinds&k == 0:
			w.report(NotListed, w.start, w.start, fmt.Sprintf("%s begins, the schema lists %s", withArticle(k), n.listedText()), n.notListedText())
		default:
			can = append(can, n)
		}
	}
	w.want = can
}

// enterContainer opens a container: the schemas of its value are now active.
func (w *CallChecker) enterContainer(k kinds) {
	o := openContainer{from: len(w.active), start: w.start, array: k == anArray, maxItems: noLimit}
	for _, n := range w.want {
		w.expandNode(n, k, o.from)
	}
	for _, n := range w.active[o.from:] {
		if o.array {
			o.maxItems = min(o.maxItems, n.maxItems)
		} else {
			o.maxItems = min(o.maxItems, n.maxKeys)
		}
	}
	w.stack = append(w.stack, o)
	w.want = w.want[:0]
}

// expandNode adds all schemas that apply to a value of that kind. Of alternatives it adds the only one
// that allows the kind, if there is just one.
func (w *CallChecker) expandNode(n *schemaNode, k kinds, from int) {
	for _, m := range n.all {
		if !slices.Contains(w.active[from:], m) {
			w.active = append(w.active, m)
		}
	}
	for _, group := range n.choices {
		var only *schemaNode
		count := 0
		for _, m := range group {
			if m.kinds&k != 0 {
				only = m
				count++
			}
		}
		if count == 1 {
			w.expandNode(only, k, from)
		}
	}
}

func (w *CallChecker) leaveContainer() {
	n := len(w.stack) - 1
	w.active = w.active[:w.stack[n].from]
	w.stack = w.stack[:n]
	w.endValue()
}

// endValue is called after a value. What follows the outermost is no part of it.
func (w *CallChecker) endValue() {
	w.want = w.want[:0]
	if len(w.stack) == 0 {
		w.done = true
	}
}

// beginElement finds what the next element of an array must fulfil.
func (w *CallChecker) beginElement(o *openContainer) {
	w.want = w.want[:0]
	for _, n := range w.active[o.from:] {
		switch {
		case o.count < len(n.prefix):
			w.want = append(w.want, n.prefix[o.count])
		case n.items != nil:
			w.want = append(w.want, n.items)
		}
	}
	if o.count++; o.count > o.maxItems {
		w.report(TooMany, o.start, w.start, fmt.Sprintf("element %d begins, the schema allows %s", o.count, count.Of(o.maxItems, "element")), "more than "+count.Of(o.maxItems, "element"))
	}
}

// report makes a finding about the value or key at start, once; here is it in a few words. The byte
// at off is the one that made it certain.
func (w *CallChecker) report(of *stream.Diagnosis, start, off int, message, here string) {
	if w.done || w.isReported(of, start) {
		return
	}
	w.reported = append(w.reported, reportedKey{of, start})
	path := pointerAt(w.call.Args(), w.call.Lexer().Tokens(), start)
	f := of.Finding("%s: %s", path, message)
	f.Offset, f.Hint = off, here
	w.found = append(w.found, f)
	if len(w.reported) == maxFindings {
		w.done = true
	}
}

func (w *CallChecker) isReported(of *stream.Diagnosis, start int) bool {
	return slices.Contains(w.reported, reportedKey{of, start})
}
