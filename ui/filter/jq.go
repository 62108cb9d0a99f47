package filter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/itchyny/gojq"
)

// JQTimeout is the time limit for a run.
const JQTimeout = 2 * time.Second

// ErrTimeout is the error for a run that exceeded JQTimeout.
var ErrTimeout = errors.New("jq took longer than " + JQTimeout.String())

// NotJSONError is the error for text that is not JSON, with the reason.
type NotJSONError struct{ Why string }

func (e NotJSONError) Error() string { return "not JSON: " + e.Why }

// IsNotJSON reports whether an error is a NotJSONError.
func IsNotJSON(err error) bool { return errors.As(err, new(NotJSONError)) }

// JQExpr is a compiled jq expression, which runs on JSON texts. It can read only the text, not files or environment
// variables. Its time and memory are limited.
type JQExpr struct {
	code      *gojq.Code
	maxMemory int
}

// ParseJQ compiles an expression. An error contains the expression and, for a syntax error, the position.
func ParseJQ(expr string) (*JQExpr, error) {
	q, err := gojq.Parse(expr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", errorPlace(expr, err), err)
	}
	e := &JQExpr{maxMemory: maxMemory}
	limitSteps(reflect.ValueOf(q))
	if e.code, err = gojq.Compile(q, e.stepChecks()...); err != nil {
		return nil, fmt.Errorf("%s: %w", expr, err)
	}
	return e, nil
}

// errorPlace returns the expression, and the position that an error is about. The position is a byte offset,
// counted from 1.
func errorPlace(expr string, err error) string {
	var at *gojq.ParseError
	if !errors.As(err, &at) {
		return expr
	}
	from := min(at.Offset, len(expr)) - len(at.Token)
	if at.Token == "" || from < 0 || !strings.HasPrefix(expr[from:], at.Token) {
		from = min(at.Offset, len(expr))
	}
	return fmt.Sprintf("%s: at byte %d", expr, from+1)
}

// Run yields the results for one JSON text until ctx ends. If there is an error, it is the last item. Numbers
// keep their spelling.
func (e *JQExpr) Run(ctx context.Context, text []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in, err := decode(text)
		if err != nil {
			yield(nil, err)
			return
		}
		ctx, stop := limitMemory(ctx, uint64(e.maxMemory))
		defer stop()
		for values := e.code.RunWithContext(ctx, in); ; {
			v, more := values.Next()
			if !more {
				return
			}
			if err, failed := v.(error); failed {
				if err = explainError(ctx, err); err != nil {
					yield(nil, err)
				}
				return
			}
			if room := e.maxMemory; !isSmallerThan(v, &room) {
				yield(nil, ErrMemory)
				return
			}
			value, err := gojq.Marshal(v)
			if !yield(value, err) || err != nil {
				return
			}
		}
	}
}

// explainError rewords an error. It returns nil if the expression halted without an error.
func explainError(ctx context.Context, err error) error {
	var halt *gojq.HaltError
	switch {
	case errors.As(err, &halt) && halt.Value() == nil:
		return nil
	case context.Cause(ctx) == ErrMemory, errors.Is(err, ErrMemory):
		return ErrMemory
	case ctx.Err() != nil:
		return ErrTimeout
	}
	return err
}

// decode decodes one JSON text. Numbers keep their spelling.
func decode(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err = d.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, NotJSONError{"the text ends too early"}
		}
		return nil, NotJSONError{err.Error()}
	}
	if d.More() {
		return nil, NotJSONError{"more text follows the value"}
	}
	return v, nil
}

// maxMemory is the maximum growth of the program's memory during a run, and the maximum length of a result.
const maxMemory = 256 << 20

// ErrMemory is the error for a run that exceeded maxMemory.
var ErrMemory = errors.New("jq needed more than " + fmt.Sprint(maxMemory>>20) + " MiB of memory")

// memoryCheckTime is the time between two memory checks. Most runs end before the first check.
const memoryCheckTime = 10 * time.Millisecond

// limitMemory returns a context that ends with ErrMemory when the program's memory has grown by limit. The
// caller must call stop.
//
// gojq doesn't count the memory that it uses, so the heap is checked. Garbage doesn't count as growth. The
// size of the heap at the first check, including garbage, is compared with the live heap after later
// collections.
func limitMemory(ctx context.Context, limit uint64) (limited context.Context, stop func()) {
	limited, cancel := context.WithCancelCause(ctx)
	go func() {
		clock := time.NewTicker(memoryCheckTime)
		defer clock.Stop()
		heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
		for first := uint64(0); ; {
			select {
			case <-clock.C:
			case <-limited.Done():
				return
			}
			metrics.Read(heap)
			if first == 0 {
				first = heap[0].Value.Uint64()
			}
			if heap[1].Value.Uint64() > first+limit {
				cancel(ErrMemory)
			}
		}
	}()
	return limited, func() { cancel(nil) }
}

// valueBytes is the size of a value in an array, without the data that it refers to.
const valueBytes = 16

// isSmallerThan reports whether the text form of a value is smaller than a limit. It subtracts the size of the text
// from the limit. A value that contains the same part many times may use little memory but have a very large text
// form.
func isSmallerThan(v any, limit *int) bool {
	switch v := v.(type) {
	case string:
		*limit -= len(v)
	case []any:
		for _, element := range v {
			if !isSmallerThan(element, limit) {
				return false
			}
		}
	case map[string]any:
		for name, value := range v {
			if *limit -= len(name) + len(`"":`); !isSmallerThan(value, limit) {
				return false
			}
		}
	}
	*limit -= valueBytes
	return *limit > 0
}

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
