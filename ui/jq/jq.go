// Package jq runs a jq expression on JSON texts. The expression can read only the text, no files and no
// environment variables, and its time and memory are limited.
package jq

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strings"
	"time"

	"github.com/itchyny/gojq"
)

// Timeout is the time limit of a run.
const Timeout = 2 * time.Second

// ErrTimeout says that a run exceeded Timeout.
var ErrTimeout = errors.New("it took longer than " + Timeout.String())

// A NotJSONError says why a text is not JSON.
type NotJSONError struct{ Why string }

func (e NotJSONError) Error() string { return "not JSON: " + e.Why }

// IsNotJSON reports whether an error is a NotJSONError.
func IsNotJSON(err error) bool { return errors.As(err, new(NotJSONError)) }

// Expr is a compiled expression.
type Expr struct {
	code      *gojq.Code
	maxMemory int
}

// Parse compiles an expression. An error contains the expression and the position of the fault.
func Parse(expr string) (*Expr, error) {
	q, err := gojq.Parse(expr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", errorPlace(expr, err), err)
	}
	e := &Expr{maxMemory: maxMemory}
	limitSteps(reflect.ValueOf(q))
	if e.code, err = gojq.Compile(q, e.stepChecks()...); err != nil {
		return nil, fmt.Errorf("%s: %w", expr, err)
	}
	return e, nil
}

// errorPlace returns an expression and the byte, counted from 1, that an error is about.
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

// Run yields the results for one JSON text until ctx ends; an error is the last item. Numbers stay as
// they are written.
func (e *Expr) Run(ctx context.Context, text []byte) iter.Seq2[[]byte, error] {
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

// explainError rewords an error; nil if the expression only halted.
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

// decode reads one JSON text and keeps numbers as they are written.
func decode(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err = d.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, NotJSONError{"it ends too early"}
		}
		return nil, NotJSONError{err.Error()}
	}
	if d.More() {
		return nil, NotJSONError{"there is more after it"}
	}
	return v, nil
}
