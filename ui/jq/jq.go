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

// Limit is how long asking may take.
const Limit = 2 * time.Second

// ErrLimit says that it took longer.
var ErrLimit = errors.New("it took longer than " + Limit.String())

// A NoJSON says why a text cannot be asked.
type NoJSON struct{ Why string }

func (e NoJSON) Error() string { return "no JSON: " + e.Why }

// IsNoJSON reports whether an error is that a text is none.
func IsNoJSON(err error) bool { return errors.As(err, new(NoJSON)) }

// Expr is an expression that can be asked.
type Expr struct{ code *gojq.Code }

// Parse reads an expression. An error names it, and where in it what is wrong begins.
func Parse(expr string) (*Expr, error) {
	q, err := gojq.Parse(expr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place(expr, err), err)
	}
	code, err := gojq.Compile(q)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", expr, err)
	}
	return &Expr{code}, nil
}

// place is an expression, and the byte of it that an error is about, counted from 1.
func place(expr string, err error) string {
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

// Ask is the answers to one JSON text, until ctx ends; an error is the last. Numbers stay as they are
// written.
func (e *Expr) Ask(ctx context.Context, text []byte) iter.Seq2[[]byte, error] {
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
				if err = why(ctx, err); err != nil {
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

// why is an error in the words of here, nil where the expression only ended.
func why(ctx context.Context, err error) error {
	var halt *gojq.HaltError
	switch {
	case errors.As(err, &halt) && halt.Value() == nil:
		return nil
	case ctx.Err() != nil:
		return ErrLimit
	}
	return err
}

// decode reads one JSON text, numbers as they are written.
func decode(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err = d.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, NoJSON{"it ends too early"}
		}
		return nil, NoJSON{err.Error()}
	}
	if d.More() {
		return nil, NoJSON{"something stands behind it"}
	}
	return v, nil
}
