package schema

import (
	stdjson "encoding/json"
	"slices"
	"strings"

	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// maxFindings is the maximum number of findings in the early check. It also limits the findings in the final
// validation.
const maxFindings = 5

// A CallChecker follows one call. Its work grows only with the call's new tokens, and with new bytes in strings that
// the schema restricts.
type CallChecker struct {
	set    *Set
	call   *stream.Call
	named  bool            // the name was checked
	tool   *tool           // nil if the tool is unknown
	check  *compiledSchema // nil if there is no schema, or if checking has ended
	sealed *compiledSchema // last value of check, which Unseal restores
	done   bool            // no more findings before the arguments are final

	rewrites int
	next     int             // index of the next token to check
	inside   bool            // the next token was still incomplete at the last check
	start    int             // offset of that token's first byte
	stack    []openContainer // open containers, the innermost last
	active   []*schemaNode   // schemas of the open containers
	want     []*schemaNode   // schemas for the next value
	text     stringProgress
	workLeft int // units of work left for the early check, which matches key patterns and compares listed values

	reported []reportedKey
	found    []stream.Finding
	waiting  bool // the arguments are final and empty; the finish reason decides whether they were cut off
}

// openContainer is a container that is not closed.
type openContainer struct {
	from     int // index of the container's first schema in active
	start    int // offset of the container's first byte
	count    int // number of elements, or of different keys
	maxItems int
	array    bool
	keys     map[string]bool // the keys, if they are counted
}

// reportedKey identifies a finding. Each finding is reported once.
type reportedKey struct {
	of *stream.Diagnosis
	at int // offset of the first byte of the value or key
}

// SetCall replaces the call that the checker follows, because a session may replace a call with a copy.
func (w *CallChecker) SetCall(c *stream.Call) { w.call = c }

// Extend checks the new part of the call and returns the new findings. The result is valid until the next
// method call.
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

// isGrowing reports whether the next token is incomplete, either because more of it may arrive, or because bytes that
// are not JSON cut it off.
func (w *CallChecker) isGrowing(toks json.TokenList) bool {
	if w.next == toks.Len()-1 {
		return w.call.Lexer().Open()
	}
	if toks.At(w.next+1).Kind != json.Junk {
		return false
	}
	t := toks.At(w.next)
	switch text := w.call.Args()[toks.Start(w.next):t.End]; t.Kind {
	case json.Key, json.String:
		_, closed := json.StringEnd(text)
		return !closed
	case json.True, json.Null:
		return len(text) < len("true")
	case json.False:
		return len(text) < len("false")
	case json.Number:
		return true
	}
	return false
}

// findTool finds the tool when its name is known, and begins checking the arguments.
func (w *CallChecker) findTool() {
	w.named = true
	t := w.set.find(w.call.Namespace, w.call.Name)
	switch {
	case t == nil && (w.set.foldedName(w.call.Name) != nil || stream.HasMarkup(w.call.Name)):
		w.checkFolded()
	case t == nil && !w.set.open && w.set.firstOfGlued(w.call.Name) != "": // see Seal
	case t == nil && !w.set.open:
		w.found = append(w.found, w.set.missingTool(w.call.Name))
	case t != nil && t.schema.IsPresent() && !w.call.Freeform():
		if t.check == nil {
			t.check = compileSchema(t.schema)
		}
		w.check = t.check
	}
	if w.tool = t; t != nil {
		name := clipText(w.call.Name)
		switch {
		case t.kind == "custom" && w.call.Kind == "function":
			w.found = append(w.found, KindChanged.Finding(
				"the tool %q was declared as custom (free text), but the call is a function call: Codex answers \"tool %s invoked with incompatible payload\"", stream.Fact(name), name))
		case t.kind == "function" && w.call.Kind == "custom":
			w.found = append(w.found, KindChanged.Finding(
				"the tool %q was declared as a function, but the call is a custom call (free text): Codex answers \"tool %s invoked with incompatible payload\"", stream.Fact(name), name))
		}
	}
	switch {
	case w.check == nil:
	case w.check.note.Text != "":
		w.stopChecking(stream.Messagef("this tool's schema can't be used: %s", w.check.note))
	default:
		w.workLeft = maxWork / 4
		w.restart()
	}
}

// checkFolded reports a name that contains the namespace of a declared tool, or a number that the model added. A name
// with markup has a finding of its own.
func (w *CallChecker) checkFolded() {
	name := w.call.Name
	switch t := w.set.foldedName(name); {
	case t == nil:
	case t.Namespace == "":
		w.found = append(w.found, stream.NameMarkup.Finding(
			"the name %q is the model's own form of %q: the server's parser should have converted it", stream.Fact(clipText(name)), stream.Fact(clipText(t.Name))))
	default:
		w.found = append(w.found, NamespaceMissing.Finding(
			"the namespace %q is part of the name %q: Codex answers \"unsupported call: %s\"", stream.Fact(clipText(t.Namespace)), stream.Fact(clipText(name)), clipText(name)))
	}
}

// stopChecking ends the checks of the call, and reports the reason.
func (w *CallChecker) stopChecking(why stream.Message) {
	w.check = nil
	w.found = append(w.found, Unchecked.Finding("%s", why))
}

// restart starts checking at the first token, either for the first time or because the arguments were replaced.
func (w *CallChecker) restart() {
	w.rewrites = w.call.Rewrites
	w.done = len(w.reported) >= maxFindings || w.workLeft < 0
	w.next, w.inside, w.stack, w.active = 0, false, w.stack[:0], w.active[:0]
	w.want = append(w.want[:0], w.check.root)
}

var kindOfToken = map[json.TokenKind]kinds{
	json.ObjectOpen: anObject, json.ArrayOpen: anArray, json.String: aString, json.Number: aNumber,
	json.True: aBool, json.False: aBool, json.Null: aNull,
}

// checkToken checks the next token, and reports whether its check is complete.
func (w *CallChecker) checkToken(toks json.TokenList, growing bool) bool {
	kind, end := toks.At(w.next).Kind, int(toks.At(w.next).End)
	if !w.inside {
		w.start = toks.Start(w.next)
	}
	switch kind {
	case json.ObjectOpen, json.ArrayOpen:
		w.beginValue(kindOfToken[kind])
		w.enterContainer(kindOfToken[kind])
	case json.ObjectClose, json.ArrayClose:
		n := len(w.stack) - 1
		w.active = w.active[:w.stack[n].from]
		w.stack = w.stack[:n]
		w.endValue()
	case json.Key:
		return w.checkKey(end, growing)
	case json.String:
		return w.checkString(end, growing)
	case json.Number, json.True, json.False, json.Null:
		if !w.inside {
			w.beginValue(kindOfToken[kind])
		}
		if w.inside = true; growing {
			return false
		}
		w.checkScalar(kind, end)
	case json.Junk:
		w.done = true
	}
	return true
}

// beginValue begins a value of the given kind. It reports the schemas in the field want that don't allow the kind,
// and removes them from the field.
func (w *CallChecker) beginValue(k kinds) {
	if n := len(w.stack); n > 0 && w.stack[n-1].array {
		w.beginElement(&w.stack[n-1])
	}
	can := w.want[:0]
	for _, n := range w.want {
		switch {
		case n.types&k == 0:
			w.report(WrongType, w.start, w.start, stream.Messagef("%s, but the schema allows %s", stream.Own(withArticle(k)), n.types), "want "+n.types.String())
		case n.kinds&k == 0:
			w.report(NotListed, w.start, w.start, stream.Messagef("%s, but the schema allows %s", stream.Own(withArticle(k)), n.listedText()), n.notListedText())
		default:
			can = append(can, n)
		}
	}
	w.want = can
}

// enterContainer opens a container and makes its schemas active.
func (w *CallChecker) enterContainer(k kinds) {
	o := openContainer{from: len(w.active), start: w.start, array: k == anArray, maxItems: unbounded}
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

// expandNode adds all schemas that apply to a value of the given kind to active. It adds an alternative only
// if no other alternative allows the kind.
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

// endValue ends a value. Bytes after the outermost value are not checked.
func (w *CallChecker) endValue() {
	w.want = w.want[:0]
	if len(w.stack) == 0 {
		w.done = true
	}
}

// beginElement finds the schemas for the next element of an array, and reports an element beyond the maximum.
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
		w.report(TooMany, o.start, w.start, stream.Messagef("element %d starts, but the schema allows only %s", o.count, stream.Own(count.Of(o.maxItems, "element"))), "more than "+count.Of(o.maxItems, "element"))
	}
}

// report reports a finding about the value or key at start, but only once. The byte at off proves the finding. The
// parameter hint is a short form of the message.
func (w *CallChecker) report(of *stream.Diagnosis, start, off int, message stream.Message, hint string) {
	if w.done || w.isReported(of, start) {
		return
	}
	w.reported = append(w.reported, reportedKey{of, start})
	path := pointerAt(w.call.Args(), w.call.Lexer().Tokens(), start)
	f := of.Finding("%s: %s", path, message)
	f.Offset, f.Hint = off, hint
	w.found = append(w.found, f)
	if len(w.reported) == maxFindings {
		w.done = true
	}
}

// isReported reports whether there is already a finding with this diagnosis at start.
func (w *CallChecker) isReported(of *stream.Diagnosis, start int) bool {
	return slices.Contains(w.reported, reportedKey{of, start})
}

// combineRules combines the rules of a schema with the rules of its inner schemas that apply to the same
// value.
func (n *schemaNode) combineRules() {
	if n.settled {
		return
	}
	n.settled = true
	s := n.of // first the rules of the schema itself
	n.all = []*schemaNode{n}
	n.types, n.maxLength = any7, limitOr(s.MaxLength)
	if s.Bool != nil && !*s.Bool {
		n.types = 0
	}
	if s.Types != nil && !s.Types.IsEmpty() {
		n.types = 0
		for _, t := range s.Types.ToStrings() {
			n.types |= kindOf[t]
		}
	}
	n.kinds = n.types
	if s.Enum != nil {
		n.keepListed(s.Enum.Values)
	}
	if s.Const != nil {
		n.keepListed([]any{*s.Const})
	}
	for _, m := range n.same {
		m.combineRules()
		for _, a := range m.all {
			if !slices.Contains(n.all, a) {
				n.all = append(n.all, a)
			}
		}
		n.choices = append(n.choices, m.choices...)
		n.types &= m.types
		n.kinds &= m.kinds
		n.maxLength = min(n.maxLength, m.maxLength)
		if m.listed {
			n.keepOnly(m.words)
		}
	}
	for _, group := range n.any {
		n.allowAny(group)
	}
	if n.listed && len(n.words) == 0 {
		n.kinds &^= aString
	}
}

// keepListed restricts the allowed values to the listed values.
func (n *schemaNode) keepListed(values []any) {
	var left kinds
	var words []string
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			left |= aNull
		case bool:
			left |= aBool
		case stdjson.Number:
			left |= aNumber
		case string:
			left |= aString
			words = append(words, v)
		case []any:
			left |= anArray
		case map[string]any:
			left |= anObject
		}
	}
	n.kinds &= left
	slices.Sort(words)
	n.keepOnly(slices.Compact(words))
}

// keepOnly restricts the allowed strings to strings that are also in words.
func (n *schemaNode) keepOnly(words []string) {
	if !n.listed {
		n.listed, n.words = true, words
		return
	}
	n.words = slices.DeleteFunc(slices.Clone(n.words), func(w string) bool {
		_, found := slices.BinarySearch(words, w)
		return !found
	})
}

// allowAny restricts the allowed values to values that at least one of the alternatives allows.
func (n *schemaNode) allowAny(group []*schemaNode) {
	var types, left kinds
	var words []string
	listed := true
	for _, m := range group {
		m.combineRules()
		types |= m.types
		left |= m.kinds
		if m.kinds&aString != 0 {
			listed = listed && m.listed
			words = append(words, m.words...)
		}
	}
	n.choices = append(n.choices, group)
	n.types &= types
	n.kinds &= left
	if listed {
		slices.Sort(words)
		n.keepOnly(slices.Compact(words))
	}
}

// String returns the names of the kinds, joined with "or".
func (k kinds) String() string {
	var words []string
	if k == any7 {
		return "anything"
	}
	if k&aNumber == aNumber {
		words = append(words, "number")
		k &^= aNumber
	}
	for _, w := range [...]struct {
		kind kinds
		word string
	}{
		{anInteger, "integer"}, {aFraction, "number that is not an integer"}, {aString, "string"}, {aBool, "boolean"},
		{anArray, "array"}, {anObject, "object"}, {aNull, "null"},
	} {
		if k&w.kind != 0 {
			words = append(words, w.word)
		}
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, " or ")
}
