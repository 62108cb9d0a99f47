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
	"strings"
	"time"

	"github.com/itchyny/gojq"
)

// A JQExpr runs a jq expression on JSON texts. The expression can read only the text, no files and no
// environment variables, and its time and memory are limited.

// JQTimeout is the time limit of a run.
const JQTimeout = 2 * time.Second

// ErrTimeout says that a run exceeded Timeout.
var ErrTimeout = errors.New("jq took longer than " + JQTimeout.String())

// A NotJSONError says why a text is not JSON.
type NotJSONError struct{ Why string }

func (e NotJSONError) Error() string { return "not JSON: " + e.Why }

// IsNotJSON reports whether an error is a NotJSONError.
func IsNotJSON(err error) bool { return errors.As(err, new(NotJSONError)) }

// JQExpr is a compiled expression.
type JQExpr struct {
	code      *gojq.Code
	maxMemory int
}

// ParseJQ compiles an expression. An error contains the expression and the position of the fault.
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

// ErrMemory says that a run exceeded maxMemory.
var ErrMemory = errors.New("jq needed more than " + fmt.Sprint(maxMemory>>20) + " MiB of memory")

// memoryCheckTime is the time between two checks of the memory. Most runs end before the first check.
const memoryCheckTime = 10 * time.Millisecond

// limitMemory returns a context that ends with ErrMemory when the program's memory has grown by limit.
// The caller must call stop.
//
// gojq doesn't count its memory, so the heap is watched. Garbage doesn't count as growth: the size of the
// heap at the first check, with its garbage, is compared with the live heap after later collections.
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

// valueBytes is the size of a value in an array, without what it refers to.
const valueBytes = 16

// isSmallerThan reports whether a value, written out, is smaller than a limit, and subtracts its size
// from the limit. A value can be very large when it is written out, and still take little memory, if it
// contains the same part often.
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
