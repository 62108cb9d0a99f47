package filter

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/itchyny/gojq"
)

// This file limits single steps. A run can be stopped only between two steps, and some steps can make a value of any
// size. Before each of these steps, an added step ends the run with ErrMemory if the value would be too large.

// expanding are functions whose result is about as large as the text form of their input. In memory, the
// input may be small, because it can contain the same array or string many times.
var expanding = []string{"tojson", "tostring", "join", "add", "flatten", "transpose", "format", "implode"}

// Parts that are added to an expression. _fits returns its input, _index returns an index or path, and _pair
// returns the operands of a product, in an array.
const (
	fitsFirst   = "_fits | ."
	indexFirst  = ". | _index"
	product     = "_pair(.; .) | .[0] * .[1]"
	multiplying = ". as $__by | . |= (_pair(.; $__by) | .[0] * .[1])"
)

// limitSteps adds the steps that check sizes to a parsed expression, or to a part of an expression.
func limitSteps(part reflect.Value) {
	switch part.Kind() {
	case reflect.Pointer:
		if !part.IsNil() {
			limitSteps(part.Elem())
			limitStep(part.Interface())
		}
	case reflect.Slice:
		for i := range part.Len() {
			limitSteps(part.Index(i))
		}
	case reflect.Struct:
		for i := range part.NumField() {
			limitSteps(part.Field(i))
		}
	}
}

// limitStep adds the steps for one node, after the steps for the node's parts.
func limitStep(node any) {
	switch n := node.(type) {
	case *gojq.Query:
		switch n.Op {
		case gojq.OpMul:
			made := mustParse(product)
			made.Left.Term.Func.Args = []*gojq.Query{n.Left, n.Right}
			n.Left, n.Op, n.Right = made.Left, made.Op, made.Right
		case gojq.OpUpdateMul:
			made := mustParse(multiplying)
			made.Left, made.Right.Left = n.Right, n.Left
			n.Left, n.Op, n.Patterns, n.Right = made.Left, made.Op, made.Patterns, made.Right
		}
	case *gojq.Term:
		format := n.Type == gojq.TermTypeFormat && n.Str == nil
		if format || n.Type == gojq.TermTypeFunc && slices.Contains(expanding, n.Func.Name) {
			made, step := mustParse(fitsFirst), *n
			step.SuffixList = nil
			made.Right.Term = &step
			*n = gojq.Term{Type: gojq.TermTypeQuery, Query: made, SuffixList: n.SuffixList}
		}
	case *gojq.Func:
		if n.Name == "setpath" && len(n.Args) == 2 {
			n.Args[0] = checkedIndex(n.Args[0])
		}
	case *gojq.Index:
		if n.Start != nil && !n.IsSlice {
			n.Start = checkedIndex(n.Start)
		}
	case *gojq.String:
		for i, q := range n.Queries {
			if q.Term != nil && q.Term.Str == nil { // not a literal text between the expressions
				made := mustParse(fitsFirst)
				made.Left, made.Right = q, made.Left
				n.Queries[i] = &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: made}}
			}
		}
	}
}

// checkedIndex adds a check to an index or path. It leaves a short number unchanged, because gojq assigns to constant
// paths faster.
func checkedIndex(index *gojq.Query) *gojq.Query {
	if index.Term != nil && index.Term.Type == gojq.TermTypeNumber {
		if _, err := strconv.ParseUint(index.Term.Number, 10, 16); err == nil {
			return index
		}
	}
	made := mustParse(indexFirst)
	made.Left = index
	return made
}

// mustParse parses one of the constants above.
func mustParse(expr string) *gojq.Query {
	q, err := gojq.Parse(expr)
	if err != nil {
		panic(err)
	}
	return q
}

// stepChecks returns the functions that the steps of limitSteps call.
func (e *JQExpr) stepChecks() []gojq.CompilerOption {
	return []gojq.CompilerOption{
		gojq.WithFunction("_fits", 0, 0, func(v any, _ []any) any {
			if room := e.maxMemory; !isSmallerThan(v, &room) {
				return ErrMemory
			}
			return v
		}),
		gojq.WithFunction("_index", 0, 0, func(v any, _ []any) any {
			path, is := v.([]any)
			if !is {
				path = []any{v}
			}
			for _, index := range path {
				if n, is := gojq.ToFloat64(index); is && n > float64(e.maxMemory/valueBytes) {
					return ErrMemory
				}
			}
			return v
		}),
		gojq.WithFunction("_pair", 2, 2, func(_ any, args []any) any {
			for i, arg := range args {
				text, isText := arg.(string)
				if n, is := gojq.ToFloat64(args[1-i]); is && isText && float64(len(text))*n > float64(e.maxMemory) {
					return ErrMemory
				}
			}
			return slices.Clone(args)
		}),
	}
}
