package schema

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"toolscope/stream"
)

// Seal validates the arguments, which are final now, and returns what was not found before.
// Arguments that are no whole JSON text have findings of their own. Empty ones may have been cut by
// a limit, so Finish judges them.
func (w *CallChecker) Seal() []stream.Finding {
	w.Extend()
	if w.check == nil {
		return w.found
	}
	switch w.call.Syntax() {
	case stream.SyntaxObject, stream.SyntaxOther, stream.SyntaxDouble:
		w.validateArgs(w.call.Args(), w.call.Lexer().Tokens())
	case stream.SyntaxEmpty:
		w.waiting = true
		return w.found
	}
	w.check = nil
	return w.found
}

// Finish is called when the provider has said why the response ended: of a call sealed without
// arguments it says whether {} would do.
func (w *CallChecker) Finish() []stream.Finding {
	w.found = w.found[:0]
	if w.waiting && w.check != nil && w.call.Phase() == stream.PhaseSealed {
		w.validateArgs([]byte("{}"), stream.TokenList{})
		w.check = nil
	}
	return w.found
}

// Waiting reports whether the call was sealed without arguments, and Finish may have something to
// say of that.
func (w *CallChecker) Waiting() bool { return w.waiting && w.check != nil }

// Call is the call that is followed.
func (w *CallChecker) Call() *stream.Call { return w.call }

func (w *CallChecker) validateArgs(args []byte, toks stream.TokenList) {
	all, why := w.check.validate(args, toks)
	if why != "" {
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
		return cmp.Or(a.off-b.off, strings.Compare(a.messageText(), b.messageText()))
	})
	left = slices.CompactFunc(left, func(a, b violation) bool { return a.off == b.off && a.messageText() == b.messageText() })
	for i, c := range left[:min(len(left), maxFindings)] {
		f := Invalid.Finding("%s", c.messageText())
		f.Offset, f.Hint = c.off, shortProblem(c.err)
		if more := len(left) - maxFindings; i == maxFindings-1 && more > 0 {
			f.Message += fmt.Sprintf("; and %d more", more)
		}
		if toks.Len() == 0 {
			f.Offset = stream.NoOffset
		}
		w.found = append(w.found, f)
	}
}

// isReportedEarly reports whether the early look has told of the same. A value of the wrong type, or not
// listed, needs no second complaint.
func (w *CallChecker) isReportedEarly(c violation) bool {
	return c.early != nil && w.isReported(c.early, c.off) || w.isReported(WrongType, c.off) || w.isReported(NotListed, c.off)
}

// validate holds arguments against the schema.
func (c *compiledSchema) validate(args []byte, toks stream.TokenList) (all []*jsonschema.ValidationError, why string) {
	m := measureCost(args, toks)
	switch {
	case len(args) > maxArgs || m.steps > maxSteps:
		return nil, "the arguments are too large to be validated"
	case m.depth > maxDepth:
		return nil, "the arguments are nested too deep to be validated"
	case m.number:
		return nil, "a number is too large to be validated"
	}
	defer func() {
		switch p := recover(); p.(type) {
		case nil:
		case budgetExceeded:
			all, why = nil, "validating takes too long: the schema has too many ways to hold"
		default:
			all, why = nil, fmt.Sprintf("the validator failed: %v", p)
		}
	}()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(args))
	if err != nil {
		return nil, "" // the lexer has its own word on it
	}
	c.meter.left = maxWork - m.long*longNumberCost
	if err = c.schema.Validate(v); err == nil {
		return nil, ""
	}
	return flattenErrors(err.(*jsonschema.ValidationError)), ""
}

// flattenErrors lists the errors that stand for themselves.
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

// meantOf is the alternative that the value was meant to be: the only one for its type, or the only
// one whose constants it has.
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

// wrongMark reports whether a key of the value has not the one value that an alternative wants
// there.
func wrongMark(e *jsonschema.ValidationError, depth int) bool {
	if _, ok := e.ErrorKind.(*kind.Const); ok && len(e.InstanceLocation) == depth {
		return true
	}
	return slices.ContainsFunc(e.Causes, func(c *jsonschema.ValidationError) bool { return wrongMark(c, depth) })
}

// wrongKind reports whether an alternative was not even meant: the value itself, at that depth, has
// the wrong type or is not listed.
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
