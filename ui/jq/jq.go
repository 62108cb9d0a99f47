// Package jq asks JSON texts with a jq expression. That sees the text alone, no files and no
// variables of the system, and takes no longer than it may.
package jq

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/itchyny/gojq"
)

// Timeout is how long asking may take.
const Timeout = 2 * time.Second

// ErrTimeout says that it took longer.
var ErrTimeout = errors.New("it took longer than " + Timeout.String())

// A NotJSONError says why a text cannot be asked.
type NotJSONError struct{ Why string }

func (e NotJSONError) Error() string { return "not JSON: " + e.Why }

// IsNotJSON reports whether an error is that a text is none.
func IsNotJSON(err error) bool { return errors.As(err, new(NotJSONError)) }

// Expr is an expression that can be asked.
type Expr struct{ code *gojq.Code }

// Parse reads an expression. An error names it, and where in it what is wrong begins.
func Parse(expr string) (*Expr, error) {
	q, err := gojq.Parse(expr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", errorPlace(expr, err), err)
	}
	code, err := gojq.Compile(q)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", expr, err)
	}
	return &Expr{code}, nil
}

// errorPlace is an expression, and the byte of it that an error is about, counted from 1.
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

// Run is the answers to one JSON text, until ctx ends; an error is the last. Numbers stay as they are
// written.
func (e *Expr) Run(ctx context.Context, text []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in, err := decode(text)
		if err != nil {
			yield(nil, err)
			return
		}
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
			value, err := gojq.Marshal(v)
			if !yield(value, err) || err != nil {
				return
			}
		}
	}
}

// explainError is an error in the words of here, nil where the expression only ended.
func explainError(ctx context.Context, err error) error {
	var halt *gojq.HaltError
	switch {
	case errors.As(err, &halt) && halt.Value() == nil:
		return nil
	case ctx.Err() != nil:
		return ErrTimeout
	}
	return err
}

// decode reads one JSON text, numbers as they are written.
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
