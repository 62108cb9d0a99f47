package schema

import (
	"bytes"
	"encoding/json"
	"math/big"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/jsonbytes"
)

// checkKey checks a key as it grows, and when it is complete, finds the rules of its value.
func (w *CallChecker) checkKey(end int, growing bool) bool {
	o := &w.stack[len(w.stack)-1]
	if !w.inside {
		w.inside = true
		w.text.startLiteral(w.start, unbounded)
		for _, n := range w.active[o.from:] {
			if n.shut && len(n.patterns) == 0 {
				w.text.lists = append(w.text.lists, wordRange{of: n, left: n.names})
			}
		}
	}
	w.readString(end, growing, UnknownKey)
	if growing {
		return false
	}
	w.want = w.want[:0]
	if o.from == len(w.active) {
		return true // this object has no rules
	}
	name := literalContent(w.call.Args()[w.start:end])
	for _, n := range w.active[o.from:] {
		w.addProperty(n, name)
	}
	if o.maxItems < unbounded && !o.keys[name] {
		if o.keys == nil {
			o.keys = map[string]bool{}
		}
		o.keys[name] = true
		if o.count++; o.count > o.maxItems {
			w.report(TooMany, o.start, w.start, stream.Messagef("key %d starts, but the schema allows %s", o.count, stream.Own(count.Of(o.maxItems, "key"))), "more than "+count.Of(o.maxItems, "key"))
		}
	}
	return true
}

// addProperty adds the rules that a schema has for the value of a key.
func (w *CallChecker) addProperty(n *schemaNode, name string) {
	known := false
	if p := n.props[name]; p != nil {
		known = true
		w.want = append(w.want, p)
	}
	for _, p := range n.patterns {
		if w.workLeft -= p.matchCost(name); w.workLeft < 0 {
			w.done = true
			return
		}
		if p.re == nil || p.re.MatchString(name) {
			known = true
			w.want = append(w.want, p.node)
		}
	}
	switch {
	case known:
	case n.rest != nil:
		w.want = append(w.want, n.rest)
	case n.shut:
		w.report(UnknownKey, w.start, w.start, stream.Messagef("the key %q is not allowed; the schema allows %s", stream.Fact(clipText(name)), n.keyList()), "")
	}
}

// checkString checks a string as it grows.
func (w *CallChecker) checkString(end int, growing bool) bool {
	if !w.inside {
		w.beginValue(aString)
		w.inside = true
		w.text.startLiteral(w.start, unbounded)
		for _, n := range w.want {
			if n.listed {
				w.text.lists = append(w.text.lists, wordRange{of: n, left: n.words})
			}
			w.text.maxRunes = min(w.text.maxRunes, n.maxLength)
		}
	}
	w.readString(end, growing, NotListed)
	if !growing {
		w.endValue()
	}
	return !growing
}

// readString reads the new bytes of a key or string, and reports the first that no allowed one has.
func (w *CallChecker) readString(end int, growing bool, of *stream.Diagnosis) {
	r := &w.text
	if !growing {
		end-- // the quote
	}
	args := w.call.Args()
	what := "value"
	if of == UnknownKey {
		what = "key"
	}
	text := func(end int) string { return clipText(string(jsonbytes.AppendUnquoted(nil, args[w.start+1:end]))) }
	fail := func(l *wordRange) {
		w.report(of, w.start, r.at, stream.Messagef("no allowed %s begins with %q; the schema allows %s", stream.Own(what), text(r.at+r.size), l.of.allowedText(of)), l.of.shortReason(of))
	}
	long := func() {
		w.report(TooMany, w.start, r.at, stream.Messagef("the string goes on, but the schema allows %s", stream.Own(count.Of(r.maxRunes, "character"))), "more than "+count.Of(r.maxRunes, "character"))
	}
	for !r.isIdle() && !w.done && r.next(args, end, growing, fail, long) {
	}
	for i := range r.lists {
		if l := &r.lists[i]; !growing && !l.is() {
			w.report(of, w.start, end, stream.Messagef("%q is not an allowed %s; the schema allows %s", text(end), stream.Own(what), l.of.allowedText(of)), l.of.shortReason(of))
		}
	}
}

// checkScalar checks a complete number or literal.
func (w *CallChecker) checkScalar(kind stream.TokenKind, end int) {
	text := w.call.Args()[w.start:end]
	if kind == stream.Number {
		if isHugeNumber(text) {
			w.endValue()
			return
		}
		k := numberKind(text)
		for _, n := range w.want {
			if n.types&k == 0 {
				w.report(WrongType, w.start, w.start, stream.Messagef("%s is %s, but the schema wants %s", clipText(string(text)), stream.Own(withArticle(k)), n.types), "want "+n.types.String())
			}
		}
	}
	for _, n := range w.want {
		for _, m := range n.all {
			if m.of.Enum == nil && m.of.Const == nil {
				continue
			}
			if w.workLeft -= m.leafCost(); w.workLeft < 0 {
				w.done = true
				return
			}
			if !m.listsScalar(kind, text) {
				w.report(NotListed, w.start, w.start, stream.Messagef("%s is not an allowed value; the schema allows %s", clipText(string(text)), m.listedText()), m.notListedText())
			}
		}
	}
	w.endValue()
}

// numberKind returns the kind of a number: an integer or a fraction.
func numberKind(text []byte) kinds {
	if bytes.ContainsAny(text, ".eE") {
		if n, ok := new(big.Rat).SetString(string(text)); !ok || !n.IsInt() {
			return aFraction
		}
	}
	return anInteger
}

// listsScalar reports whether the schema lists a scalar that is not a string.
func (n *schemaNode) listsScalar(kind stream.TokenKind, text []byte) bool {
	var v any
	switch kind {
	case stream.Number:
		v = json.Number(text)
	case stream.True, stream.False:
		v = kind == stream.True
	}
	only := jsonschema.Schema{DraftVersion: n.of.DraftVersion, Enum: n.of.Enum, Const: n.of.Const}
	return only.Validate(v) == nil
}
