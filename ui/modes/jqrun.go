package modes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/itchyny/gojq"

	"toolscope/stream"
)

// Asked is a call whose arguments are asked.
type Asked struct {
	Of   stream.Ref
	Name string
	Args []byte
	Gone bool // they were let go of
}

// answer is what came of one call: a value, or why there is none.
type answer struct {
	of    stream.Ref
	name  string
	value []byte
	why   string
}

// answers are what came of all.
type answers struct {
	list     []answer
	unparsed int    // calls whose arguments are no JSON
	gone     int    // or are not there
	asked    int    // calls, so far
	stopped  string // why not all were
}

// Limits of what is asked: of the time it takes, of what comes of it, and of one value.
const (
	jqTime    = 2 * time.Second
	jqAnswers = 5000
	jqValue   = 4 << 10
)

// program is an expression that can be asked. It sees the arguments alone: no files, no variables of
// the system.
func program(expr string) (*gojq.Code, error) {
	q, err := gojq.Parse(expr)
	if err != nil {
		return nil, err
	}
	return gojq.Compile(q)
}

// ask asks each call.
func ask(code *gojq.Code, calls []Asked, limit time.Duration) (all answers) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for _, c := range calls {
		switch {
		case ctx.Err() != nil:
			all.stopped = "it took longer than " + limit.String()
			return all
		case len(all.list) >= jqAnswers:
			all.stopped = "there are too many answers"
			return all
		}
		all.asked++
		all.askOne(ctx, code, c)
	}
	return all
}

func (all *answers) askOne(ctx context.Context, code *gojq.Code, c Asked) {
	if c.Gone {
		all.gone++
		return
	}
	in, err := decode(c.Args)
	if err != nil {
		all.unparsed++
		all.list = append(all.list, answer{of: c.Of, name: c.Name, why: "no JSON: " + err.Error()})
		return
	}
	for values := code.RunWithContext(ctx, in); len(all.list) < jqAnswers; {
		v, more := values.Next()
		if !more {
			return
		}
		a := answer{of: c.Of, name: c.Name}
		if err, failed := v.(error); failed {
			var halt *gojq.HaltError
			if errors.As(err, &halt) && halt.Value() == nil {
				return
			}
			if a.why = err.Error(); ctx.Err() != nil {
				a.why = "it took too long"
			}
			all.list = append(all.list, a)
			return
		}
		if a.value, err = gojq.Marshal(v); err != nil {
			a.why = err.Error()
		}
		a.value = a.value[:min(len(a.value), jqValue)]
		all.list = append(all.list, a)
	}
}

// decode reads one JSON text, numbers as they are written.
func decode(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err = d.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("it ends too early")
		}
		return nil, err
	}
	if d.More() {
		return nil, errors.New("something stands behind it")
	}
	return v, nil
}
