package schema

import (
	stdjson "encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// Seal validates the arguments, which are now final, and returns the new findings. It skips arguments that are not a
// complete JSON text, because they get other findings. It leaves empty arguments to Finish, because a limit may have
// cut them off.
func (w *CallChecker) Seal() []stream.Finding {
	w.Extend()
	// Only now is it sure that the namespace is missing, because the last event of the call may contain it.
	if t := w.tool; t != nil && t.space != "" && w.call.Namespace == "" && w.call.Kind == t.kind {
		name := clipText(w.call.Name)
		w.found = append(w.found, NamespaceMissing.Finding(
			"the tool %q is in the namespace %q, but the call has no namespace: Codex answers \"unsupported call: %s\"", stream.Fact(name), stream.Fact(clipText(t.space)), name))
	}
	// The decoder may have found merged names without the tools.
	if w.tool == nil && w.named && !w.set.open && !slices.ContainsFunc(w.call.Findings, func(f stream.Finding) bool { return f.Code == protocol.NameGlued.Code }) {
		if first := w.set.firstOfGlued(w.call.Name); first != "" {
			w.found = append(w.found, protocol.NameGlued.Finding(
				"%q consists of the names of several declared tools, the first of them %q: calls were merged", stream.Fact(clipText(w.call.Name)), stream.Fact(clipText(first))))
		}
	}
	if w.check == nil {
		return w.found
	}
	switch w.call.Syntax() {
	case json.SyntaxObject, json.SyntaxOther, json.SyntaxDouble:
		w.validateArgs(w.call.Args(), w.call.Lexer().Tokens())
	case json.SyntaxEmpty:
		w.waiting = true
		return w.found
	}
	w.findEncoded()
	w.check, w.sealed = nil, w.check
	return w.found
}

// findEncoded reports double-encoded values: strings that contain the list or object that the schema requires.
func (w *CallChecker) findEncoded() {
	args := w.call.Args()
	for _, r := range w.reported {
		if r.of != WrongType || r.at == 0 || r.at >= len(args) || args[r.at] != '"' {
			continue
		}
		n, closed := json.StringEnd(args[r.at:])
		if !closed {
			continue
		}
		inner, _ := json.Text(args[r.at : r.at+n])
		if kind := json.Value(inner).Kind(); (kind == '[' || kind == '{') && json.Valid(inner) {
			f := stream.ArgsDouble.Finding("double-encoded: the string that begins at byte %d is %s written as JSON", r.at, stream.OwnFact(map[byte]string{'[': "a list", '{': "an object"}[kind]))
			f.Offset = r.at
			w.found = append(w.found, f)
		}
	}
}

// Unseal resumes the checks of a call whose arguments were not final after all.
func (w *CallChecker) Unseal() {
	if w.check == nil {
		w.check = w.sealed
	}
	w.waiting = false
}

// Finish validates {} for a call without arguments. It is called when the finish reason is known.
func (w *CallChecker) Finish() []stream.Finding {
	w.found = w.found[:0]
	if w.waiting && w.check != nil && w.call.Phase() == stream.PhaseSealed {
		w.validateArgs([]byte("{}"), json.TokenList{})
		w.check, w.sealed = nil, w.check
	}
	return w.found
}

// Waiting reports whether the final arguments are empty. In that case, Finish may return findings.
func (w *CallChecker) Waiting() bool { return w.waiting && w.check != nil }

// Call returns the call that the checker follows.
func (w *CallChecker) Call() *stream.Call { return w.call }

// validateArgs validates complete arguments and reports the errors that the early check did not report.
func (w *CallChecker) validateArgs(args []byte, toks json.TokenList) {
	all, why := w.check.validate(args, toks)
	if why.Text != "" {
		w.stopChecking(why)
		return
	}
	where := newSpans(args, toks, all)
	var left []violation
	for _, e := range all {
		for _, c := range complaintsOf(e, where) {
			if !w.isReportedEarly(c) {
				left = append(left, c)
			}
		}
	}
	slices.SortFunc(left, func(a, b violation) int {
		if a.off != b.off {
			return a.off - b.off
		}
		return strings.Compare(a.message().Text, b.message().Text)
	})
	left = slices.CompactFunc(left, func(a, b violation) bool { return a.off == b.off && a.message().Text == b.message().Text })
	for i, c := range left[:min(len(left), maxFindings)] {
		f := Invalid.Finding("%s", c.message())
		f.Offset, f.Hint = c.off, shortProblem(c.err)
		if more := len(left) - maxFindings; i == maxFindings-1 && more > 0 {
			f.AppendMessage("; and %d more", more)
		}
		if toks.Len() == 0 {
			f.Offset = stream.NoOffset
		}
		w.found = append(w.found, f)
	}
}

// isReportedEarly reports whether the early check already reported an error. If a value has a finding about its type
// or about the listed values, it gets no second finding.
func (w *CallChecker) isReportedEarly(c violation) bool {
	return c.early != nil && w.isReported(c.early, c.off) || w.isReported(WrongType, c.off) || w.isReported(NotListed, c.off)
}

// validate checks arguments against the schema. If they can't be validated, it returns the reason.
func (c *compiledSchema) validate(args []byte, toks json.TokenList) (all []*jsonschema.ValidationError, why stream.Message) {
	m := measureCost(args, toks)
	switch {
	case len(args) > maxArgs || m.steps > maxSteps:
		return nil, stream.Message{Text: "the arguments are too large to be validated"}
	case m.depth > maxDepth:
		return nil, stream.Message{Text: "the arguments are nested too deeply to be validated"}
	case m.number:
		return nil, stream.Message{Text: "a number is too large to be validated"}
	}
	defer func() {
		switch p := recover(); p.(type) {
		case nil:
		case budgetExceeded:
			all, why = nil, stream.Message{Text: "validation takes too long: there are too many ways to match the schema"}
		default:
			all, why = nil, stream.Messagef("the validator failed: %v", p)
		}
	}()
	s := json.Scan(args)
	v := valueOf(&s)
	if s.End() != nil {
		return nil, why // the lexer reports this error
	}
	c.meter.left = maxWork - m.long*longNumberCost
	err := c.schema.Validate(v)
	if err == nil {
		return nil, why
	}
	return flattenErrors(err.(*jsonschema.ValidationError)), why
}

// A ValueSchema is the schema of a value that is not the arguments of a call.
type ValueSchema struct{ compiled *compiledSchema }

// CompileValue compiles the text of a schema. If the text can't be used as a schema, every value is allowed.
func CompileValue(text json.Value) *ValueSchema {
	c := compileSchema(text)
	if c.note.Text != "" {
		c = nil
	}
	return &ValueSchema{c}
}

// FindProblem returns the first place in a value that the schema doesn't allow, with the reason. The result is empty
// if the schema allows the value, or if the value can't be checked. The parameter name is the name of the value.
func (s *ValueSchema) FindProblem(value json.Value, name string) (problem stream.Message) {
	if s.compiled == nil {
		return problem
	}
	var lex json.Lexer
	lex.Write(value)
	lex.Close()
	all, _ := s.compiled.validate(value, lex.Tokens())
	where, first := newSpans(value, lex.Tokens(), all), len(value)+1
	for _, e := range all {
		for _, v := range complaintsOf(e, where) {
			if text := v.messageIn(name, name); v.off < first || v.off == first && text.Text < problem.Text {
				problem, first = text, v.off
			}
		}
	}
	return problem
}

// valueOf reads the next value in the form that the validator wants. It does the same as jsonschema.UnmarshalJSON, which
// copies the text first and allocates much more memory.
func valueOf(s *json.Scanner) any {
	switch s.Kind() {
	case '{':
		fields := map[string]any{}
		for ok := s.Object(); ok; ok = s.Member() {
			key := string(json.ReplaceInvalid(s.Key()))
			fields[key] = valueOf(s)
		}
		return fields
	case '[':
		elements := []any{}
		for ok := s.Array(); ok; ok = s.Element() {
			elements = append(elements, valueOf(s))
		}
		return elements
	case '"':
		return textOf(s.Value())
	case 't', 'f':
		return s.Value().IsTrue()
	case 'n':
		s.Value()
		return nil
	}
	return stdjson.Number(s.Value())
}

// textOf returns the content of a string, without invalid Unicode.
func textOf(v json.Value) string {
	if text := v.Text(); utf8.ValidString(text) {
		return text
	}
	return string(json.ReplaceInvalid(v.Append(nil)))
}

// flattenErrors returns the errors that can be understood without their context.
func flattenErrors(e *jsonschema.ValidationError) (all []*jsonschema.ValidationError) {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		if meant := meantOf(e); meant != nil {
			return flattenErrors(meant)
		}
		return append(all, e)
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		for _, c := range e.Causes {
			all = append(all, flattenErrors(c)...)
		}
		return all
	}
	return append(all, e)
}

// meantOf returns the error of the alternative that the value most likely follows, or nil. This is the only
// alternative with the value's type, or the only one with the value's constants.
func meantOf(e *jsonschema.ValidationError) (meant *jsonschema.ValidationError) {
	depth := len(e.InstanceLocation)
	left := slices.DeleteFunc(slices.Clone(e.Causes), func(c *jsonschema.ValidationError) bool { return wrongKind(c, depth) })
	if len(left) > 1 {
		left = slices.DeleteFunc(left, func(c *jsonschema.ValidationError) bool { return wrongMark(c, depth+1) })
	}
	if len(left) != 1 {
		return nil
	}
	return left[0]
}

// wrongMark reports whether a field of the value differs from the constant that an alternative requires for
// it.
func wrongMark(e *jsonschema.ValidationError, depth int) bool {
	if _, ok := e.ErrorKind.(*kind.Const); ok && len(e.InstanceLocation) == depth {
		return true
	}
	return slices.ContainsFunc(e.Causes, func(c *jsonschema.ValidationError) bool { return wrongMark(c, depth) })
}

// wrongKind reports whether an alternative can't be the intended one. This is the case if the value itself, at the
// given depth, has the wrong type or is not listed.
func wrongKind(e *jsonschema.ValidationError, depth int) bool {
	if len(e.InstanceLocation) != depth {
		return false
	}
	switch e.ErrorKind.(type) {
	case *kind.Type, *kind.FalseSchema, *kind.Enum, *kind.Const:
		return true
	case *kind.AnyOf, *kind.OneOf:
		return len(e.Causes) > 0 && !slices.ContainsFunc(e.Causes, func(c *jsonschema.ValidationError) bool { return !wrongKind(c, depth) })
	case *kind.Group, *kind.AllOf, *kind.Reference:
		return slices.ContainsFunc(e.Causes, func(c *jsonschema.ValidationError) bool { return wrongKind(c, depth) })
	}
	return false
}

// spans maps the places of errors to the byte offsets of their keys and values.
type spans map[string]span

type span struct{ key, value int }

// placeKey returns the key in spans for a place. Each name is preceded by its length, because names may contain a
// NUL.
func placeKey(way []string) string {
	var path []byte
	for _, name := range way {
		path = oneMore(path, name)
	}
	return string(path)
}

// oneMore appends a name to a path.
func oneMore(path []byte, name string) []byte {
	path = append(strconv.AppendInt(path, int64(len(name)), 10), 0)
	return append(path, name...)
}

// newSpans reads the tokens once and finds the places of the errors. If a key is duplicated, it uses the last value,
// as the validator does.
func newSpans(args []byte, toks json.TokenList, all []*jsonschema.ValidationError) spans {
	wanted := spans{}
	for _, e := range all {
		wanted[placeKey(e.InstanceLocation)] = span{}
		if p, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
			for _, name := range p.Properties {
				wanted[placeKey(append(slices.Clone(e.InstanceLocation), name))] = span{}
			}
		}
	}
	if len(wanted) == 0 {
		return wanted
	}
	f := finder{wanted: wanted}
	start := 0
	for _, t := range toks.All() {
		f.visitToken(t.Kind, args[start:t.End], start)
		start = int(t.End)
	}
	return wanted
}

// finder finds the byte offsets of places while it reads tokens.
type finder struct {
	wanted spans
	way    []step
	path   []byte
	ends   []int // length of path before each open container
	key    int
}

func (f *finder) visitToken(k json.TokenKind, text []byte, start int) {
	switch k {
	case json.Space, json.Colon, json.Comma:
	case json.ObjectClose, json.ArrayClose:
		f.path = f.path[:f.ends[len(f.ends)-1]]
		f.ends = f.ends[:len(f.ends)-1]
	case json.Key:
		f.key = start
	default:
		mark := len(f.path)
		if n := len(f.way); n > 0 {
			name := ""
			if s := f.way[n-1]; s.array {
				name = strconv.Itoa(s.index)
			} else {
				name = literalContent(s.key)
			}
			f.path = oneMore(f.path, name)
		}
		if _, ok := f.wanted[string(f.path)]; ok {
			f.wanted[string(f.path)] = span{f.key, start}
		}
		if k == json.ObjectOpen || k == json.ArrayOpen {
			f.ends = append(f.ends, mark)
		} else {
			f.path = f.path[:mark]
		}
	}
	f.way = followToken(f.way, k, text)
}

// violation is one error in final arguments.
type violation struct {
	err   *jsonschema.ValidationError
	name  string            // name of the key that is not allowed
	early *stream.Diagnosis // the early check's diagnosis for the error, or nil
	off   int
}

// complaintsOf splits an error of the validator into violations. If the error is about keys that are not allowed,
// each key becomes a violation of its own.
func complaintsOf(e *jsonschema.ValidationError, where spans) (all []violation) {
	k, ok := e.ErrorKind.(*kind.AdditionalProperties)
	if !ok {
		return []violation{{err: e, early: earlyOf(e), off: where[placeKey(e.InstanceLocation)].value}}
	}
	for _, name := range k.Properties {
		key := where[placeKey(append(slices.Clone(e.InstanceLocation), name))].key
		all = append(all, violation{err: e, name: name, early: UnknownKey, off: key})
	}
	return all
}

// earlyOf returns the early check's diagnosis for an error, or nil.
func earlyOf(e *jsonschema.ValidationError) *stream.Diagnosis {
	switch e.ErrorKind.(type) {
	case *kind.Type, *kind.FalseSchema:
		return WrongType
	case *kind.Enum, *kind.Const:
		return NotListed
	case *kind.MaxLength, *kind.MaxItems, *kind.MaxProperties, *kind.AdditionalItems:
		return TooMany
	}
	return nil
}

// message returns the place and the error.
func (c violation) message() stream.Message { return c.messageIn("", top) }

// messageIn returns the place and the error. The parameter before is the beginning of each place, and outermost is
// the name for the outermost value.
func (c violation) messageIn(before, outermost string) stream.Message {
	path := pointerText(before, c.err.InstanceLocation, outermost)
	if c.early == UnknownKey {
		return stream.Messagef("%s: the key %q is not allowed", path, stream.Fact(clipText(c.name)))
	}
	return stream.Messagef("%s: %s", path, problemText(c.err))
}
