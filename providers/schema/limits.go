package schema

import (
	"bytes"
	stdjson "encoding/json"
	"math/big"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// The limits keep compilation and validation under 250 ms each, even on a slow machine. TestLimits measures
// the worst input within the limits.
//
// The library's compilation can't be stopped. Its work grows with the number of schemas, with their nesting,
// and with references to places where no schema is expected, so toolscope counts these first. Validation can
// take exponential time, because alternatives can contain alternatives. So toolscope charges each evaluation
// of a schema to a budget, together with the inner evaluations that fail at once. It also charges each match
// of a regular expression. When the budget is spent, a panic unwinds the validation.
const (
	maxBytes          = 256 << 10 // maximum size of a schema, in bytes
	maxSchemas        = 2_000     // maximum number of objects in a schema
	maxNesting        = 64        // maximum nesting depth of objects and arrays in a schema
	maxRefs           = 100       // maximum number of references to places where no schema is expected
	maxSchemasAtValue = 48        // maximum number of nested schemas that apply to one value
	maxProgram        = 2_000     // maximum number of instructions in a regular expression
	maxDepth          = 200       // maximum nesting depth of arguments
	maxNumber         = 400       // maximum length of a number in bytes, and also its maximum exponent
	maxSteps          = 2_000_000 // maximum sum of the depths of all tokens of arguments
	maxArgs           = 8 << 20   // maximum size of arguments, in bytes

	maxWork        = 4_000_000 // maximum number of units of work in one validation, about 10 ns each
	evaluationCost = 30        // units for each evaluation, whatever its result
	longNumberCost = 1_000     // units for a calculation with a long number
)

// jsonCost contains the counts that determine how long it takes to check a JSON text.
type jsonCost struct {
	objects, depth int
	steps          int  // sum of the depths of all tokens
	long           int  // number of numbers that make calculations slow
	number         bool // the text contains a number that is too large for calculations
}

// measureCost counts the tokens of a JSON text.
func measureCost(text []byte, toks json.TokenList) (m jsonCost) {
	depth, start := 0, uint32(0)
	for _, t := range toks.All() {
		m.steps += depth + 1
		switch t.Kind {
		case json.ObjectOpen, json.ArrayOpen:
			depth++
			m.depth = max(m.depth, depth)
			if t.Kind == json.ObjectOpen {
				m.objects++
			}
		case json.ObjectClose, json.ArrayClose:
			depth--
		case json.Number:
			number := text[start:t.End]
			m.number = m.number || isHugeNumber(number)
			if isLong(number) {
				m.long++
			}
		}
		start = t.End
	}
	return m
}

// isHugeNumber reports whether a number is too large for calculations.
func isHugeNumber(number []byte) bool {
	if len(number) > maxNumber {
		return true
	}
	i := strings.IndexAny(string(number), "eE")
	if i < 0 {
		return false
	}
	n, err := strconv.Atoi(string(number[i+1:]))
	return err != nil || n > maxNumber || n < -maxNumber
}

// isLong reports whether a number makes calculations slow.
func isLong[text ~string | ~[]byte](number text) bool {
	return len(number) > 20 || strings.ContainsAny(string(number), "eE")
}

// refusalReason returns the reason why a schema can't be compiled, or "".
func refusalReason(text json.Value) string {
	if len(text) > maxBytes {
		return "the schema is larger than 256 KiB"
	}
	var lex json.Lexer
	lex.Write(text)
	lex.Close()
	switch m := measureCost(text, lex.Tokens()); {
	case m.objects > maxSchemas:
		return "the schema has more than 2,000 objects"
	case m.depth > maxNesting:
		return "the schema is nested more than 64 levels deep"
	case m.number:
		return "the schema has a number that is too large to calculate with"
	case oddRefs(text, lex.Tokens()) > maxRefs:
		return "the schema refers to more than 100 places outside $defs and definitions"
	}
	return ""
}

// oddRefs counts the strings that may be references to places where no schema is expected. The library copies its
// complete state for each such reference.
func oddRefs(text []byte, toks json.TokenList) (n int) {
	start := uint32(0)
	for _, t := range toks.All() {
		if t.Kind == json.String && t.End-start > 3 && text[start+1] == '#' {
			parts := strings.Split(string(text[start+1:t.End-1]), "/")
			if len(parts) != 3 || parts[1] != "$defs" && parts[1] != "definitions" {
				n++
			}
		}
		start = t.End
	}
	return n
}

// workBudget is the budget of the current validation.
type workBudget struct{ left int }

// budgetExceeded is the panic that unwinds a validation.
type budgetExceeded struct{}

// spend charges units to the budget. It panics if the budget is exceeded.
func (m *workBudget) spend(units int) {
	if m.left -= units; m.left < 0 {
		panic(budgetExceeded{})
	}
}

// costedSchema charges the evaluation of a schema, and of its inner schemas, to the budget. It takes the place of the
// schema's format, because the library checks the format right after the type, before any other rule.
type costedSchema struct {
	meter  *workBudget
	format *jsonschema.Format // the schema's own format, or nil
	once   int                // units for any value
	each   int                // units for each key or element of the value
	unique bool               // elements are compared with each other
}

// chargeValue charges the evaluation of a value, then checks the schema's own format.
func (t *costedSchema) chargeValue(v any) error {
	units := t.once
	switch v := v.(type) {
	case map[string]any:
		units += len(v) * t.each
	case []any:
		units += len(v) * t.each
		if t.unique {
			units += 20 * compareCost(v) // the library compares up to 20 elements pairwise, and larger numbers of elements by their hashes
		}
	case string:
		units += len(v) / 16
	case stdjson.Number:
		if isLong(v) {
			units += longNumberCost
		}
	}
	t.meter.spend(units)
	if t.format == nil {
		return nil
	}
	return t.format.Validate(v)
}

// compareCost returns the units for a comparison with a value.
func compareCost(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			n += 1 + compareCost(e)
		}
	case []any:
		for _, e := range v {
			n += compareCost(e)
		}
	case string:
		n += len(v) / 64
	case bool, nil:
	default:
		n = evaluationCost // numbers are compared as fractions of big integers
	}
	return n
}

// costedPattern is a regular expression that charges each match to the budget. Go's regular expressions take linear
// time, but have no lookahead or lookbehind. A pattern that uses either, or that is too large, matches everything.
type costedPattern struct {
	text    string
	re      *regexp.Regexp // nil if the pattern can't be used for matching
	program int            // number of instructions
	meter   *workBudget
}

// newPattern returns a pattern. If the pattern is too large or can't be compiled, it matches everything.
func newPattern(text string, m *workBudget) *costedPattern {
	p := &costedPattern{text: text, meter: m}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return p
	}
	if p.program = countInstructions(tree); p.program > maxProgram {
		return p
	}
	p.re, _ = regexp.Compile(text)
	return p
}

// countInstructions returns the approximate size of a compiled regular expression.
func countInstructions(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n += countInstructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	return min(n, 1<<30)
}

func (p *costedPattern) String() string { return p.text }

func (p *costedPattern) matchCost(s string) int { return (len(s) + 16) * (p.program + 4) / 4 }

// MatchString reports whether the pattern matches s. It first charges the match to the budget.
func (p *costedPattern) MatchString(s string) bool {
	p.meter.spend(p.matchCost(s))
	return p.re == nil || p.re.MatchString(s)
}

// checkKey checks a key as it grows. When the key is complete, checkKey finds the rules for the key's value and
// returns true.
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
		return true // there are no rules for this object
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
			w.report(TooMany, o.start, w.start, stream.Messagef("key %d starts, but the schema allows only %s", o.count, stream.Own(count.Of(o.maxItems, "key"))), "more than "+count.Of(o.maxItems, "key"))
		}
	}
	return true
}

// addProperty adds a schema's rules for the value of a key, or reports that the schema doesn't allow the key.
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

// checkString checks a string as it grows. It reports whether the string is complete.
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

// readString reads the new bytes of a key or string. It reports the first byte that can't continue any allowed key or
// string.
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
	text := func(end int) string { return clipText(string(json.AppendUnquoted(nil, args[w.start+1:end]))) }
	fail := func(l *wordRange) {
		w.report(of, w.start, r.at, stream.Messagef("no allowed %s begins with %q; the schema allows %s", stream.Own(what), text(r.at+r.size), l.of.allowedText(of)), l.of.shortReason(of))
	}
	long := func() {
		w.report(TooMany, w.start, r.at, stream.Messagef("the string continues, but the schema allows only %s", stream.Own(count.Of(r.maxRunes, "character"))), "more than "+count.Of(r.maxRunes, "character"))
	}
	for !r.isIdle() && !w.done && r.next(args, end, growing, fail, long) {
	}
	for i := range r.lists {
		l := &r.lists[i]
		if isWord := len(l.left) > 0 && len(l.left[0]) == l.read; !growing && !isWord {
			w.report(of, w.start, end, stream.Messagef("%q is not an allowed %s; the schema allows %s", text(end), stream.Own(what), l.of.allowedText(of)), l.of.shortReason(of))
		}
	}
}

// checkScalar checks a complete number or literal.
func (w *CallChecker) checkScalar(kind json.TokenKind, end int) {
	text := w.call.Args()[w.start:end]
	if kind == json.Number {
		if isHugeNumber(text) {
			w.endValue()
			return
		}
		k := numberKind(text)
		for _, n := range w.want {
			if n.types&k == 0 {
				w.report(WrongType, w.start, w.start, stream.Messagef("%s is %s, but the schema allows %s", clipText(string(text)), stream.Own(withArticle(k)), n.types), "want "+n.types.String())
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

// numberKind returns the kind of a number: integer or fraction.
func numberKind(text []byte) kinds {
	if bytes.ContainsAny(text, ".eE") {
		if n, ok := new(big.Rat).SetString(string(text)); !ok || !n.IsInt() {
			return aFraction
		}
	}
	return anInteger
}

// listsScalar reports whether a scalar is one of the values that the schema lists. The scalar is not a string.
func (n *schemaNode) listsScalar(kind json.TokenKind, text []byte) bool {
	var v any
	switch kind {
	case json.Number:
		v = stdjson.Number(text)
	case json.True, json.False:
		v = kind == json.True
	}
	only := jsonschema.Schema{DraftVersion: n.of.DraftVersion, Enum: n.of.Enum, Const: n.of.Const}
	return only.Validate(v) == nil
}
